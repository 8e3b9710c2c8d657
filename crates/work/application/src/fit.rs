//! Fits an application against a rating over machines: lines through the origin and free lines, for all machines and
//! for each family, as in BaBar's results 2 and 3.

use model::{BenchmarkResult, Better, Estimate, Run, percent};
use serde::Serialize;
use stats::distribution::chi_squared_quantile;
use stats::fit::line::{FitLine, weighted_line, weighted_line_through_origin};

use crate::Error;

/// One machine with both values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    /// Its name.
    pub machine: String,
    /// Family; the machines of one family should lie on one line.
    pub family: String,
    /// Its rating as a speed: higher is better.
    pub rating: Estimate,
    /// Speed of the application on it.
    pub application: Estimate,
}

/// A parameter with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FitParameter {
    /// Value.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Residual of one machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FitResidual {
    /// The machine.
    pub machine: String,
    /// Measured over fitted, minus 1.
    pub relative: f64,
}

/// The lines of one group of machines.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupFit {
    /// The family; `None` for all machines.
    pub family: Option<String>,
    /// Number of machines.
    pub machines: usize,
    /// Slope of the line through the origin: application speed per rating.
    pub through_origin: FitParameter,
    /// Residuals from that line.
    pub residuals: Vec<FitResidual>,
    /// Slope and intercept of the free line; needs at least three machines.
    pub free: Option<(FitParameter, FitParameter)>,
}

/// How far machines lie from their lines through the origin: the error of a prediction from the rating.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FitScatter {
    /// Root mean square of the relative residuals over the degrees of freedom, with its interval.
    pub spread: FitParameter,
    /// Degrees of freedom: machines minus lines.
    pub degrees: usize,
}

/// All fits of an application against a rating.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Against {
    /// The application.
    pub application: String,
    /// The rating.
    pub rating: String,
    /// Confidence level of the intervals.
    pub level: f64,
    /// The machines.
    pub pairs: Vec<Pair>,
    /// All machines first, then every family of two or more.
    pub fits: Vec<GroupFit>,
    /// Scatter about the single line of all machines.
    pub across: Option<FitScatter>,
    /// Scatter about the lines of all families with at least two machines.
    pub within: Option<FitScatter>,
}

impl Against {
    /// The predictions of the rating, in sentences.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let told = |scatter: &FitScatter| {
            let FitParameter { value, low, high } = scatter.spread;
            format!("{} ({} to {})", percent(value), percent(low), percent(high))
        };
        let families = self.fits.iter().filter(|fit| fit.family.is_some()).count();
        let mut said = Vec::new();
        if let Some(within) = self.within.as_ref().filter(|_| families > 0) {
            let of = if families == 1 { "the only family with several machines" } else { "a family" };
            said.push(format!("Within {of}, the rating predicts the application with an error of {}.", told(within)));
        }
        if let Some(across) = &self.across {
            let which = if families > 0 { "Across families" } else { "Over these machines" };
            said.push(format!("{which}, one line for all has an error of {}.", told(across)));
        }
        said
    }
}

/// The machines that have both results, each once with the newest run of either: several runs of a machine tell no more
/// of how machines differ. A result is named by its id, which selects its best parameters, or by id and parameters. The
/// family is the named fact, else the first word of the machine's CPU, else of its name.
#[must_use]
pub fn pairs(runs: &[Run], application: &str, rating: &str, family: Option<&str>) -> Vec<Pair> {
    let mut machines: Vec<(String, Vec<&Run>)> = Vec::new();
    for run in runs {
        let identity = identity(run);
        match machines.iter_mut().find(|(known, _)| *known == identity) {
            Some((_, of)) => of.push(run),
            None => machines.push((identity, vec![run])),
        }
    }
    let mut found: Vec<(&Run, Pair)> = Vec::new();
    for (_, mut of) in machines {
        of.sort_by(|a, b| b.session.started.cmp(&a.session.started));
        let newest = |name: &str| of.iter().find_map(|run| Some((*run, speed(run, name)?)));
        let Some(((run, application), (_, rating))) = newest(application).zip(newest(rating)) else { continue };
        let machine = if run.machine.name.is_empty() { run.name().to_owned() } else { run.machine.name.clone() };
        found.push((run, Pair { machine, family: family_of(run, family), rating, application }));
    }
    // The run distinguishes different machines of one name.
    let twice = |name: &str| found.iter().filter(|(_, pair)| pair.machine == name).count() > 1;
    let named = |(run, pair): &(&Run, Pair)| {
        let machine = &pair.machine;
        let machine = if twice(machine) { format!("{machine} ({})", run.name()) } else { machine.clone() };
        Pair { machine, ..pair.clone() }
    };
    found.iter().map(named).collect()
}

/// Identity of a machine: the fingerprint, else the name if a document gives one, else each run is one. Classes of
/// cores of one chip are machines of their own.
fn identity(run: &Run) -> String {
    let marks = [&run.machine.fingerprint, &run.machine.name];
    let mark = marks.into_iter().find(|mark| !mark.is_empty()).unwrap_or(&run.id);
    let class = run.machine.text("cpu.class").unwrap_or_default();
    format!("{mark} {class}")
}

fn family_of(run: &Run, fact: Option<&str>) -> String {
    let machine = &run.machine;
    let told = fact.and_then(|name| machine.text(name));
    let word = || {
        let text = machine.text("cpu.model").unwrap_or_else(|| machine.name.clone());
        text.split_whitespace().next().unwrap_or("unknown").to_owned()
    };
    told.unwrap_or_else(word)
}

/// The best speed of a result in a run.
fn speed(run: &Run, name: &str) -> Option<Estimate> {
    let matches = |result: &&BenchmarkResult| result.benchmark == name || result.key().to_string() == name;
    let speeds = run.results.iter().filter(matches).filter_map(|result| {
        let estimate = result.outcome.estimate().filter(|estimate| estimate.low > 0.0)?;
        Some(match result.metric.better {
            Better::Higher => *estimate,
            Better::Lower => Estimate {
                value: 1.0 / estimate.value,
                low: 1.0 / estimate.high,
                high: 1.0 / estimate.low,
                ..*estimate
            },
        })
    });
    speeds.max_by(|a, b| a.value.total_cmp(&b.value))
}

/// Fits all machines, and every family.
///
/// # Errors
/// With fewer than two machines, or if all ratings are equal.
pub fn fit(application: &str, rating: &str, pairs: Vec<Pair>, level: f64) -> Result<Against, Error> {
    let fail = |reason: &str| Error::Fit {
        application: application.to_owned(),
        rating: rating.to_owned(),
        reason: reason.to_owned(),
    };
    if pairs.len() < 2 {
        return Err(fail("fewer than two machines have both; name more runs"));
    }
    let mut families: Vec<&str> = pairs.iter().map(|pair| pair.family.as_str()).collect();
    families.sort_unstable();
    families.dedup();
    let all: Vec<&Pair> = pairs.iter().collect();
    let mut fits = vec![fitted(None, &all, level).ok_or_else(|| fail("the ratings are all equal"))?];
    if families.len() > 1 {
        for family in families {
            let members: Vec<&Pair> = pairs.iter().filter(|pair| pair.family == family).collect();
            fits.extend(fitted(Some(family), &members, level));
        }
    }
    let (across, within) = (scatter(&fits[..1], level), scatter(&fits[1..], level));
    Ok(Against { application: application.to_owned(), rating: rating.to_owned(), level, fits, across, within, pairs })
}

/// Scatter of the residuals of several lines; the interval is that of a variance of normal residuals (chi-squared).
fn scatter(fits: &[GroupFit], level: f64) -> Option<FitScatter> {
    let residuals = fits.iter().flat_map(|fit| &fit.residuals);
    let sum: f64 = residuals.clone().map(|residual| residual.relative * residual.relative).sum();
    let degrees = residuals.count().checked_sub(fits.len()).filter(|degrees| *degrees > 0)?;
    let end = |p: f64| (sum / chi_squared_quantile(p, degrees as f64)).sqrt();
    let tail = (1.0 - level) / 2.0;
    let spread = FitParameter { value: (sum / degrees as f64).sqrt(), low: end(1.0 - tail), high: end(tail) };
    Some(FitScatter { spread, degrees })
}

fn fitted(family: Option<&str>, pairs: &[&Pair], level: f64) -> Option<GroupFit> {
    let x: Vec<f64> = pairs.iter().map(|pair| pair.rating.value).collect();
    let y: Vec<f64> = pairs.iter().map(|pair| pair.application.value).collect();
    // A machine lies off its line by a share of its speed. With equal weights the fastest would be nearly all of the
    // line, and the interval of its slope would cover 72 to 92% over ratings that differ by a factor of 4 to 20.
    let weights: Vec<f64> = x.iter().map(|rating| rating.powi(-2)).collect();
    let origin = weighted_line_through_origin(&x, &y, &weights)?;
    let residual = |pair: &&Pair| FitResidual {
        machine: pair.machine.clone(),
        relative: pair.application.value / (origin.slope * pair.rating.value) - 1.0,
    };
    let free = |line: FitLine| {
        let intercept = line.intercept_interval(level);
        let intercept = FitParameter { value: line.intercept, low: intercept.low, high: intercept.high };
        (slope(&line, level), intercept)
    };
    Some(GroupFit {
        family: family.map(str::to_owned),
        machines: pairs.len(),
        through_origin: slope(&origin, level),
        residuals: pairs.iter().map(residual).collect(),
        free: weighted_line(&x, &y, &weights).map(free),
    })
}

fn slope(line: &FitLine, level: f64) -> FitParameter {
    let interval = line.slope_interval(level);
    FitParameter { value: line.slope, low: interval.low, high: interval.high }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(machine: &str, family: &str, rating: f64, application: f64) -> Pair {
        let estimate = Estimate::without_spread;
        let (machine, family) = (machine.to_owned(), family.to_owned());
        Pair { machine, family, rating: estimate(rating), application: estimate(application) }
    }

    #[test]
    fn families_on_different_lines_are_fitted_separately() {
        let pairs = vec![
            pair("a", "x", 1.0, 2.0),
            pair("b", "x", 2.0, 4.0),
            pair("c", "x", 3.0, 6.0),
            pair("d", "y", 1.0, 1.0),
            pair("e", "y", 2.0, 2.0),
        ];
        let found = fit("application.reco", "rating.int-1", pairs, 0.95).unwrap();
        assert_eq!(found.fits.len(), 3);
        assert!(found.fits[0].residuals.iter().any(|residual| residual.relative.abs() > 0.2));
        for (fit, slope) in found.fits[1..].iter().zip([2.0, 1.0]) {
            assert!((fit.through_origin.value - slope).abs() < 1e-12);
            assert!(fit.residuals.iter().all(|residual| residual.relative.abs() < 1e-12));
        }
        assert!(found.fits[1].free.is_some() && found.fits[2].free.is_none());
    }

    /// Data like those of Pavel (CHEP 98): the lines of families lie a quarter apart, machines a tenth from their line.
    #[test]
    fn scatter_within_and_across_families_is_recovered() {
        let mut pairs = Vec::new();
        for (family, slope) in [("alpha", 1.25), ("ppc", 1.0), ("sparc", 0.75)] {
            for (n, off) in [0.1, -0.1, 0.1, -0.1, 0.1, -0.1].into_iter().enumerate() {
                let rating = 8.0 + n as f64;
                pairs.push(pair(&format!("{family}{n}"), family, rating, slope * rating * (1.0 + off)));
            }
        }
        let found = fit("application.reco", "rating", pairs, 0.95).unwrap();
        let (within, across) = (found.within.unwrap(), found.across.unwrap());
        assert_eq!((within.degrees, across.degrees), (15, 17));
        assert!((within.spread.value - 0.11).abs() < 0.01, "{within:?}");
        assert!((0.20..0.30).contains(&across.spread.value), "{across:?}");
        assert!(within.spread.low < 0.1 && within.spread.high > 0.11 && across.spread.low > within.spread.value);
        let said = found.sentences().join(" ");
        assert!(said.contains("Within a family, the rating predicts the application with an error of 11%"), "{said}");
        assert!(said.contains("Across families"), "{said}");
    }

    /// Percent of sets of machines whose slope and scatter are within their intervals at 95%. The machines lie 10%
    /// about a line through the origin, with ratings over a factor of `range`.
    fn covered(machines: usize, range: f64) -> (f64, f64) {
        let (sets, mut random) = (1_000, stats::simulate::generator(3));
        let (mut slopes, mut scatters) = (0, 0);
        for _ in 0..sets {
            let one = |at: usize| {
                let place = stats::simulate::standard_normal(&mut random).tanh().mul_add(0.5, 0.5);
                let rating = range.powf(place);
                let off = 1.0 + 0.1 * stats::simulate::standard_normal(&mut random);
                pair(&format!("m{at}"), "x", rating, 2.0 * rating * off)
            };
            let found = fit("a", "r", (0..machines).map(one).collect(), 0.95).unwrap();
            let holds = |found: FitParameter, truth: f64| i32::from(found.low <= truth && truth <= found.high);
            slopes += holds(found.fits[0].through_origin, 2.0);
            scatters += holds(found.across.unwrap().spread, 0.1);
        }
        let percent = |count: i32| 100.0 * f64::from(count) / f64::from(sets);
        (percent(slopes), percent(scatters))
    }

    #[test]
    fn slopes_and_scatter_are_covered_however_far_ratings_reach() {
        for (machines, range) in [(3, 20.0), (6, 4.0), (10, 20.0)] {
            let (slope, scatter) = covered(machines, range);
            println!("{machines} machines over a factor of {range}: slope {slope}%, scatter {scatter}%");
            assert!(slope >= 92.5 && scatter >= 92.5, "{machines}, {range}: {slope}%, {scatter}%");
        }
    }

    /// A run of a machine, with those of the two results that are given.
    fn run(id: &str, (fingerprint, name): (&str, &str), started: &str, values: [Option<f64>; 2]) -> Run {
        let [id, fingerprint, name, started] = [id, fingerprint, name, started].map(str::to_owned);
        let machine = model::Machine { fingerprint, name, ..model::Machine::default() };
        let session = model::Session { started, ..model::Session::default() };
        let (plan, results) = (model::Plan::default(), Vec::new());
        let rules = std::collections::BTreeMap::new();
        let mut run =
            Run { schema: model::SCHEMA, id, label: None, origin: None, machine, session, plan, rules, results };
        let result = |(benchmark, value): (&str, Option<f64>)| {
            let metric = model::Metric::higher(model::Unit::PerSecond, "events");
            let key = model::ResultKey::new(benchmark, model::Parameters::none());
            let result = BenchmarkResult::unmeasured(key, benchmark, metric, model::Class::Application);
            Some(BenchmarkResult { outcome: model::Outcome::Measured(Estimate::without_spread(value?)), ..result })
        };
        run.results = ["a", "r"].into_iter().zip(values).filter_map(result).collect();
        run
    }

    #[test]
    fn several_runs_of_a_machine_are_one_machine_with_its_newest_values() {
        let both = |value: f64| [Some(value), Some(value + 100.0)];
        let runs = [
            run("1", ("f1", "one"), "2026-01-02T00:00:00Z", both(2.0)),
            run("2", ("f1", "one"), "2026-01-01T00:00:00Z", both(1.0)),
            // Rating and application were measured on different days.
            run("3", ("f2", "two"), "2026-01-01T00:00:00Z", [Some(5.0), None]),
            run("4", ("f2", "two"), "2026-01-03T00:00:00Z", [None, Some(6.0)]),
            // Machines with only a name, or with nothing.
            run("5", ("", "three"), "", both(3.0)),
            run("6", ("", "three"), "", both(3.0)),
            run("7", ("", ""), "", both(7.0)),
            run("8", ("", ""), "", both(8.0)),
            run("9", ("f9", "nine"), "", [None, Some(1.0)]),
            // Another machine of the first one's name.
            run("10", ("f10", "one"), "", both(10.0)),
        ];
        let found = pairs(&runs, "a", "r", None);
        let values = found.iter().map(|pair| (pair.machine.as_str(), pair.application.value, pair.rating.value));
        let wanted = [
            ("one (1)", 2.0, 102.0),
            ("two", 5.0, 6.0),
            ("three", 3.0, 103.0),
            ("7", 7.0, 107.0),
            ("8", 8.0, 108.0),
            ("one (10)", 10.0, 110.0),
        ];
        assert_eq!(values.collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn one_machine_gives_no_fit() {
        let error = fit("a", "b", vec![pair("a", "x", 1.0, 2.0)], 0.95).unwrap_err().to_string();
        assert!(error.contains("name more runs"), "{error}");
    }
}
