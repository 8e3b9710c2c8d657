//! Whether the second of two commands passes as not slower than the first: pass, fail, or inconclusive.

use model::{GateAnswer, Outcome, Run};
use serde::Serialize;
use stats::equivalence::{EquivalenceVerdict, RatioEstimate, detectable, verdict};

use super::pairs::{FEWEST_SAMPLES, estimate};
use super::{AXIS, TIME};

/// The second command of a run against the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimedGate {
    /// Name of the first.
    pub base: String,
    /// Name of the second.
    pub head: String,
    /// Largest slowdown that passes: 0.02 is 2%.
    pub limit: f64,
    /// The answer.
    pub answer: GateAnswer,
    /// How many times slower the second is, with the ends of its interval at 95%.
    pub slower: Option<(f64, f64, f64)>,
    /// The smallest slowdown that would have failed with a probability of [`FOUND`]: 0.03 is 3%.
    pub visible: Option<f64>,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Probability with which the smallest visible slowdown fails.
pub const FOUND: f64 = 0.95;

/// The gate on a run whose first two commands are base and head. `limit` is the largest slowdown that passes.
///
/// # Errors
/// When there are not two commands.
pub fn timed_gate(run: &Run, limit: f64) -> Result<TimedGate, String> {
    let mut times = run.results.iter().filter(|result| result.benchmark == TIME);
    let (Some(base), Some(head)) = (times.next(), times.next()) else {
        return Err("a gate needs two commands, base and head".to_owned());
    };
    let name = |result: &model::BenchmarkResult| result.parameters.get(AXIS).unwrap_or_default().to_owned();
    let open = |reason: String| TimedGate {
        base: name(base),
        head: name(head),
        limit,
        answer: GateAnswer::Inconclusive,
        slower: None,
        visible: None,
        reason: Some(reason),
    };
    let failed = [base, head].into_iter().find_map(|result| match &result.outcome {
        Outcome::Failed(why) => Some(format!("'{}' failed: {why}", name(result))),
        _ => None,
    });
    if let Some(reason) = failed {
        return Ok(open(reason));
    }
    if base.values().len().min(head.values().len()) < FEWEST_SAMPLES {
        return Ok(open(format!("a verdict needs {FEWEST_SAMPLES} samples of each command")));
    }
    let Some(shift) = estimate(run, base, head) else {
        return Ok(open("the samples have no interval".to_owned()));
    };
    let (answer, visible) = judged(&shift, limit.ln_1p());
    let ends = shift.interval;
    let slower = Some((shift.shift.exp(), ends.low.exp(), ends.high.exp()));
    Ok(TimedGate { answer, slower, visible: Some(visible), reason: None, ..open(String::new()) })
}

/// The answer to new samples of what failed. They need not show once more that it is slower by more than the limit:
/// that it is slower, and by that much as far as they can tell, is what chance seldom does twice.
#[must_use]
pub fn confirmed(again: &TimedGate) -> GateAnswer {
    let slower = again.slower.is_some_and(|(value, low, _)| low > 1.0 && value > 1.0 + again.limit);
    if slower && again.reason.is_none() { GateAnswer::Fail } else { again.answer }
}

/// The answer to an estimate and the smallest slowdown that would have failed; `band` is the limit as a logarithm.
fn judged(shift: &RatioEstimate, band: f64) -> (GateAnswer, f64) {
    let slower = shift.shift > 0.0 && verdict(shift, shift.p_value, band) == EquivalenceVerdict::Different;
    let answer = match () {
        // An interval below its level supports no verdict.
        () if shift.interval.level + 1e-9 < shift.level => GateAnswer::Inconclusive,
        () if slower => GateAnswer::Fail,
        () if shift.equivalence.high <= band => GateAnswer::Pass,
        () => GateAnswer::Inconclusive,
    };
    // It must fail twice: first, and in the confirmation.
    (answer, detectable(shift, band, FOUND.sqrt(), 1).exp_m1())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Metric, Parameters, Sample, Unit};
    use rand::Rng;
    use stats::simulate::{generator, standard_normal};

    /// Samples of each command, and the deviation of one.
    const SAMPLES: usize = 20;

    /// Base and head on a busy machine: load that lasts some rounds slows both down by up to 30%, one sample in ten is
    /// disturbed alone, and the rest scatters by `scatter`.
    fn run(slower: f64, scatter: f64, seed: u64) -> Run {
        let mut run = crate::document("time", 1, 0.02, None, std::env::temp_dir());
        let mut rng = generator(seed);
        let mut load = 0.0;
        let mut sides = [Vec::new(), Vec::new()];
        for round in 0..SAMPLES as u32 {
            if rng.random::<f64>() < 0.2 {
                load = 0.3 * rng.random::<f64>();
            }
            for (side, samples) in sides.iter_mut().enumerate() {
                let disturbed = if rng.random::<f64>() < 0.1 { -0.1 * rng.random::<f64>().ln() } else { 0.0 };
                let log = load + disturbed + scatter * standard_normal(&mut rng);
                let value = 0.05 * log.exp() * if side == 1 { 1.0 + slower } else { 1.0 };
                samples.push(Sample { round, value, steady: true, ..Sample::default() });
            }
        }
        for (name, samples) in ["base", "head"].into_iter().zip(sides) {
            let parameters = Parameters::none().with(AXIS, name);
            let metric = Metric::lower(Unit::Seconds, "execution");
            let mut result = crate::campaign::result(TIME.to_owned(), parameters, "time".to_owned(), metric);
            result.samples = samples;
            run.results.push(result);
        }
        run
    }

    /// Whether a gate with its confirmation fails, and what it could have seen.
    fn gated(slower: f64, scatter: f64, seed: u64) -> (GateAnswer, f64) {
        let first = timed_gate(&run(slower, scatter, 2 * seed), 0.02).unwrap();
        let answer = match first.answer {
            GateAnswer::Fail => confirmed(&timed_gate(&run(slower, scatter, 2 * seed + 1), 0.02).unwrap()),
            other => other,
        };
        (answer, first.visible.unwrap())
    }

    #[test]
    #[allow(clippy::print_stdout, reason = "numbers for the page of validation")]
    fn equal_commands_fail_at_most_once_in_200_and_five_percent_is_found_where_it_can_be() {
        let trials = testing::trials(500, 5_000) as u64;
        let (mut red, mut found, mut sighted) = (0, 0, 0);
        for seed in 0..trials {
            // From quiet to very busy.
            let scatter = [0.003, 0.006, 0.01, 0.03][(seed % 4) as usize];
            red += u32::from(gated(0.0, scatter, seed).0 == GateAnswer::Fail);
            let (answer, visible) = gated(0.05, scatter, seed);
            if visible < 0.03 {
                sighted += 1;
                found += u32::from(answer == GateAnswer::Fail);
            }
        }
        println!("{red} false failures of {trials}; 5% found in {found} of {sighted} that could see 3%");
        assert!(f64::from(red) <= testing::at_most(0.005, trials as usize) * trials as f64, "{red} of {trials}");
        assert!(sighted > trials / 10 && f64::from(found) >= 0.95 * sighted as f64, "{found} of {sighted}");
    }

    #[test]
    fn eight_samples_are_needed() {
        let mut few = run(0.5, 0.01, 1);
        few.results[1].samples.truncate(7);
        let gate = timed_gate(&few, 0.02).unwrap();
        assert_eq!((gate.answer, gate.visible), (GateAnswer::Inconclusive, None));
        few.results.pop();
        assert!(timed_gate(&few, 0.02).is_err());
    }
}
