//! Compares the lowest build with the best build, as BaBar's result 3 does.

use model::{BenchmarkResult, Better, Estimate, Run, Unit};

/// Lowest and best build of one application with one number of copies.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Best {
    /// Id of the result, `application.NAME`.
    pub application: String,
    /// Copies started together.
    pub copies: String,
    /// The first measured build of the manifest.
    pub lowest: String,
    /// Its rate.
    pub lowest_rate: Estimate,
    /// The last build that was better than the best one before it.
    pub best: String,
    /// Its rate.
    pub best_rate: Estimate,
    /// Best over lowest: value, and the interval that both rates' intervals allow.
    pub gain: (f64, f64, f64),
}

/// Goes through the builds of every application in the order of the manifest. A build is better only if its whole
/// interval lies above that of the best one before it.
#[must_use]
pub fn best(run: &Run) -> Vec<Best> {
    let rates: Vec<(&BenchmarkResult, &Estimate)> = run
        .results
        .iter()
        .filter(|result| result.family() == "application" && result.parameters.get("build").is_some())
        .filter(|result| result.metric.unit == Unit::PerSecond && result.metric.better == Better::Higher)
        .filter_map(|result| Some((result, result.outcome.estimate()?)))
        .collect();
    let mut found: Vec<Best> = Vec::new();
    for (result, rate) in rates {
        let copies = result.parameters.get("copies").unwrap_or("1").to_owned();
        let build = result.parameters.get("build").unwrap_or_default().to_owned();
        match found.iter_mut().find(|known| known.application == result.benchmark && known.copies == copies) {
            None => found.push(Best {
                application: result.benchmark.clone(),
                copies,
                lowest: build.clone(),
                lowest_rate: *rate,
                best: build,
                best_rate: *rate,
                gain: (1.0, 1.0, 1.0),
            }),
            Some(known) if rate.low > known.best_rate.high => {
                known.best = build;
                known.best_rate = *rate;
                let low = &known.lowest_rate;
                known.gain = (rate.value / low.value, rate.low / low.high, rate.high / low.low);
            }
            Some(_) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Metric, Outcome, Parameters};

    #[test]
    fn a_gain_inside_the_interval_is_no_gain() {
        let mut run = crate::document("app", 1, 0.02, None, std::env::temp_dir());
        for (build, value) in [("-O0", 100.0), ("-O1", 200.0), ("-O2", 203.0), ("-O3", 190.0)] {
            let parameters = Parameters::none().with("build", build).with("copies", "1");
            let metric = Metric::higher(Unit::PerSecond, "events");
            let mut result = crate::campaign::result("application.x".to_owned(), parameters, "x".to_owned(), metric);
            let spread =
                Estimate { low: value * 0.98, high: value * 1.02, level: 0.97, ..Estimate::without_spread(value) };
            result.outcome = Outcome::Measured(spread);
            run.results.push(result);
        }
        let found = best(&run);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].lowest.as_str(), found[0].best.as_str()), ("-O0", "-O1"));
        assert!((found[0].gain.0 - 2.0).abs() < 1e-12 && found[0].gain.1 < 2.0 && found[0].gain.2 > 2.0);
    }
}
