//! Which of the commands of a run is faster.

use model::{Figure, Run};
use serde::Serialize;
use stats::equivalence::{EquivalenceVerdict, Floor, RatioEstimate};

use super::{AXIS, TIME};

/// Two commands of one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimedPair {
    /// The one with the smaller median.
    pub faster: String,
    /// The other one.
    pub slower: String,
    /// How many times faster: value, and its interval.
    pub factor: (f64, f64, f64),
    /// Confidence level of the interval.
    pub level: f64,
    /// p-value of "no difference", adjusted for all pairs of the run (Holm).
    pub adjusted_p: f64,
    /// The verdict.
    pub verdict: TimedVerdict,
}

/// Verdict on two commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TimedVerdict {
    /// By more than the band.
    Different,
    /// By less than the band.
    Same,
    /// Neither can be shown.
    Undecided,
}

/// Compares every two commands of a run. They took turns in one session, so nothing but the scatter of their launches
/// stands between them: no floor is added. `band` is the difference that counts as none, as a logarithm's half-width.
#[must_use]
pub fn timed_pairs(run: &Run, band: f64) -> Vec<TimedPair> {
    let times: Vec<&Figure> = run.figures.iter().filter(|figure| figure.probe == TIME).collect();
    let logs = |figure: &Figure| figure.values().iter().map(|value| value.ln()).collect::<Vec<f64>>();
    let mut found: Vec<(&Figure, &Figure, RatioEstimate)> = Vec::new();
    for (at, first) in times.iter().enumerate() {
        for second in &times[at + 1..] {
            let (a, b) = (logs(first), logs(second));
            let Some(shift) = stats::equivalence::compare(&a, &b, Floor::known(0.0), run.plan.level) else { continue };
            found.push((first, second, shift));
        }
    }
    let adjusted = stats::holm(&found.iter().map(|(_, _, shift)| shift.p_value).collect::<Vec<f64>>());
    let pair = |((first, second, shift), p): ((&Figure, &Figure, RatioEstimate), f64)| {
        let name = |figure: &Figure| figure.point.get(AXIS).unwrap_or_default().to_owned();
        let (low, high) = (shift.interval.low, shift.interval.high);
        // The shift is the logarithm of second over first.
        let first_is_faster = shift.shift >= 0.0;
        let factor = if first_is_faster { (shift.shift, low, high) } else { (-shift.shift, -high, -low) };
        let (faster, slower) = if first_is_faster { (first, second) } else { (second, first) };
        TimedPair {
            faster: name(faster),
            slower: name(slower),
            factor: (factor.0.exp(), factor.1.exp(), factor.2.exp()),
            level: shift.interval.level,
            adjusted_p: p,
            verdict: match stats::equivalence::verdict(&shift, p, band) {
                EquivalenceVerdict::Different => TimedVerdict::Different,
                EquivalenceVerdict::Same => TimedVerdict::Same,
                EquivalenceVerdict::Undecided => TimedVerdict::Undecided,
            },
        }
    };
    found.into_iter().zip(adjusted).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Launch, Metric, Point, Unit};

    /// A run of commands whose times scatter by 3% around their centres.
    fn run(centres: &[f64], launches: usize, seed: u64) -> Run {
        let mut run = crate::document("time", 1, 0.02, None, std::env::temp_dir());
        let mut rng = stats::simulate::generator(seed);
        for (at, centre) in centres.iter().enumerate() {
            let point = Point::origin().with(AXIS, at.to_string());
            let metric = Metric::lower(Unit::Seconds, "execution");
            let mut figure = crate::campaign::figure(TIME.to_owned(), point, "time".to_owned(), metric);
            let value = |_| centre * (0.03 * stats::simulate::standard_normal(&mut rng)).exp();
            let launch = |value: f64| Launch { value, steady: true, ..Launch::default() };
            figure.launches = (0..launches).map(value).map(launch).collect();
            run.figures.push(figure);
        }
        run
    }

    #[test]
    fn equal_commands_are_rarely_different_and_a_tenth_is_found() {
        let trials = 300;
        let (mut false_alarms, mut found) = (0, 0);
        for seed in 0..trials {
            let pairs = timed_pairs(&run(&[1.0, 1.0, 1.1], 20, seed), 0.02_f64.ln_1p());
            assert_eq!(pairs.len(), 3);
            let different = |a: &str, b: &str| {
                let of = |pair: &&TimedPair| {
                    [pair.faster.as_str(), pair.slower.as_str()].iter().all(|name| [a, b].contains(name))
                };
                pairs.iter().find(of).is_some_and(|pair| pair.verdict == TimedVerdict::Different)
            };
            false_alarms += u32::from(different("0", "1"));
            found += u32::from(different("0", "2"));
        }
        // 5% is the promise for a difference of exactly 2%; between equals it is far rarer.
        assert!(false_alarms <= 6, "{false_alarms} of {trials}");
        assert!(found >= 285, "{found} of {trials}");
    }

    #[test]
    fn the_factor_is_above_one_and_of_the_faster_command() {
        for centres in [[1.0, 2.0], [2.0, 1.0]] {
            let pair = timed_pairs(&run(&centres, 20, 7), 0.02).remove(0);
            assert_eq!(pair.faster, if centres[0] < centres[1] { "0" } else { "1" });
            let (value, low, high) = pair.factor;
            assert!(low < value && value < high && (value - 2.0).abs() < 0.1, "{:?}", pair.factor);
        }
    }
}
