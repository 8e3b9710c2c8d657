//! Results in modes whose samples move from one mode to the other.

use compare::{CompareOptions, FailOn, GateAnswer, ModeRatio, Ratio, compare};
use model::{BenchmarkResult, Class, Estimate, EstimateMethod, Mode, Outcome, Run, Verdict};
use rand_chacha::ChaCha8Rng;
use stats::simulate::{generator, standard_normal};

use crate::common::{from_values, run, time};

/// Samples at 6.5 and 70; `slow` of ten are slow.
fn bimodal(slow: usize, samples: usize, rng: &mut ChaCha8Rng) -> BenchmarkResult {
    let values: Vec<f64> = (0..samples)
        .map(|i| if i * 3 % 10 < slow { 70.0 } else { 6.5 } * (0.003 * standard_normal(rng)).exp())
        .collect();
    from_values("os.wake", "placement=free", time("wake-up"), Class::Compute, &values)
}

fn pair(sessions: [&str; 2], slow: [usize; 2], samples: usize, rng: &mut ChaCha8Rng) -> [Run; 2] {
    let of =
        |id: &str, at: usize, rng: &mut ChaCha8Rng| run(id, "m", sessions[at], vec![bimodal(slow[at], samples, rng)]);
    let pair = [of("a", 0, rng), of("b", 1, rng)];
    assert!(pair.iter().all(|run| matches!(run.results[0].outcome, Outcome::Modes(_))), "{slow:?}");
    pair
}

#[allow(clippy::unwrap_used, reason = "a helper of tests")]
fn judged([a, b]: &[Run; 2]) -> (Ratio, GateAnswer) {
    let found = compare(&[a, b], &CompareOptions::default()).unwrap();
    let gate = FailOn { worse_only: true, percent: 5.0 }.gate(&found);
    (found.rows[0].ratios[1].clone(), gate.answer)
}

fn mode(values: &[f64], of: usize) -> Mode {
    let ends = |from: f64, pick: fn(f64, f64) -> f64| values.iter().copied().fold(from, pick);
    let estimate = Estimate {
        value: stats::median(values).unwrap_or_default(),
        low: ends(f64::INFINITY, f64::min),
        high: ends(0.0, f64::max),
        level: 0.5,
        samples: values.len() as u32,
        batches: 20,
        method: EstimateMethod::Range,
    };
    Mode { share: values.len() as f64 / of as f64, estimate }
}

#[test]
fn samples_that_moved_to_the_slow_mode_between_sessions_are_not_the_same() {
    let mut rng = generator(31);
    let (moved, gate) = judged(&pair(["day 1", "day 2"], [2, 8], 40, &mut rng));
    assert_eq!((moved.verdict, gate), (Some(Verdict::Inconclusive), GateAnswer::Inconclusive), "{moved:?}");
    assert!(moved.modes.iter().all(|mode| mode.share_p.is_none() && !mode.shares_differ), "{moved:?}");
    assert!(moved.reason.unwrap().contains("their shares may have"));
    let (alike, gate) = judged(&pair(["day 1", "day 2"], [5, 5], 40, &mut rng));
    assert_eq!((alike.verdict, gate), (Some(Verdict::NoChange), GateAnswer::Pass), "{alike:?}");
}

#[test]
fn shares_that_a_large_report_cannot_tell_apart_are_not_the_same() {
    let mut rng = generator(32);
    let [mut a, mut b] = pair(["now", "now"], [3, 6], 40, &mut rng);
    for at in 0..30 {
        let other = |rng: &mut ChaCha8Rng| {
            let values: Vec<f64> = (0..20).map(|_| (0.003 * standard_normal(rng)).exp()).collect();
            from_values(&format!("sim.f{at}"), "", time("call"), Class::Compute, &values)
        };
        a.results.push(other(&mut rng));
        b.results.push(other(&mut rng));
    }
    let found = compare(&[&a, &b], &CompareOptions::default()).unwrap();
    let ratio = &found.rows.iter().find(|row| row.benchmark == "os.wake").unwrap().ratios[1];
    assert!(ratio.modes.iter().all(|mode| !mode.shares_differ), "{ratio:?}");
    assert_eq!(ratio.verdict, Some(Verdict::Inconclusive), "{ratio:?}");
}

#[test]
fn a_better_mode_excuses_no_other() {
    let mut rng = generator(34);
    // The fast mode is a third faster; the slow one scatters, or is a little faster too.
    let mut gate = |slow: f64, scatter: f64| {
        let mut side = |id: &str, [fast, slow]: [f64; 2], scatter: f64| {
            let value = |at: usize, rng: &mut ChaCha8Rng| {
                if at.is_multiple_of(2) {
                    fast * (0.003 * standard_normal(rng)).exp()
                } else {
                    slow * (scatter * standard_normal(rng)).exp()
                }
            };
            // Modes change about as often as chance would have it.
            let order = [0, 1, 1, 0, 1, 0, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 0, 1, 0];
            let values: Vec<f64> = (0..40).map(|at| value(order[at % 20], &mut rng)).collect();
            let made = run(id, "m", "now", vec![from_values("os.wake", "", time("wake-up"), Class::Compute, &values)]);
            assert!(matches!(made.results[0].outcome, Outcome::Modes(_)), "{slow} {scatter}");
            made
        };
        let pair = [side("a", [6.5, 70.0], 0.003), side("b", [4.9, slow], scatter)];
        judged(&pair)
    };
    let (ratio, answer) = gate(69.0, 0.003);
    assert_eq!((ratio.differs(), answer), (true, GateAnswer::Pass), "{ratio:?}");
    let (ratio, answer) = gate(73.0, 0.08);
    assert_eq!((ratio.differs(), answer), (true, GateAnswer::Inconclusive), "{ratio:?}");
}

#[test]
fn a_faster_mode_lets_no_samples_move_to_the_slow_one() {
    // Ten of sixty samples are slow, then fifty: each takes less time in its mode, and all together far more.
    let order = |slow: usize| (0..60).map(move |at| (at * 7) % 60 < slow);
    let side = |id: &str, slow: usize, fast: f64, rng: &mut ChaCha8Rng| {
        let value = |is_slow: bool| if is_slow { 70.0 } else { fast } * (0.003 * standard_normal(rng)).exp();
        let values: Vec<f64> = order(slow).map(value).collect();
        let mut made = from_values("os.wake", "", time("wake-up"), Class::Compute, &values);
        let of = |is_slow: bool| -> Vec<f64> {
            order(slow).zip(&values).filter(|(one, _)| *one == is_slow).map(|(_, value)| *value).collect()
        };
        made.outcome = Outcome::Modes([of(false), of(true)].map(|members| mode(&members, 60)).to_vec());
        run(id, "m", id, vec![made])
    };
    let mut rng = generator(35);
    let moved = [side("day 1", 10, 6.5, &mut rng), side("day 2", 50, 4.9, &mut rng)];
    let (ratio, answer) = judged(&moved);
    assert!(ratio.differs(), "{ratio:?}");
    assert!(ratio.modes.iter().all(|mode| mode.shares_apart && mode.share_p.is_none()), "{ratio:?}");
    assert_eq!(answer, GateAnswer::Inconclusive, "{ratio:?}");
    let stayed = [side("day 1", 27, 6.5, &mut rng), side("day 2", 29, 4.9, &mut rng)];
    assert_eq!(judged(&stayed).1, GateAnswer::Pass);
}

#[test]
fn modes_that_lie_before_the_limit_pass_though_they_may_be_the_same_or_differ() {
    let side = |id: &str, scatter: f64, rng: &mut ChaCha8Rng| {
        let values: Vec<f64> = (0..40)
            .map(|at| if at * 3 % 10 < 5 { 70.0 } else { 6.5 } * (scatter * standard_normal(rng)).exp())
            .collect();
        run(id, "m", "now", vec![from_values("os.wake", "", time("wake-up"), Class::Compute, &values)])
    };
    let mut rng = generator(36);
    let (ratio, answer) = judged(&[side("a", 0.025, &mut rng), side("b", 0.025, &mut rng)]);
    let ends = |mode: &ModeRatio| mode.low.unwrap() > 1.0 / 1.05 && mode.high.unwrap() < 1.05;
    assert!(ratio.modes.len() == 2 && ratio.modes.iter().all(ends), "{ratio:?}");
    assert_eq!((ratio.verdict, answer), (Some(Verdict::Inconclusive), GateAnswer::Pass), "{ratio:?}");
    let (ratio, answer) = judged(&[side("a", 0.08, &mut rng), side("b", 0.08, &mut rng)]);
    assert_eq!((ratio.verdict, answer), (Some(Verdict::Inconclusive), GateAnswer::Inconclusive), "{ratio:?}");
}

#[test]
fn a_document_may_state_any_number_of_samples() {
    let mut rng = generator(33);
    let mut runs = pair(["now", "now"], [5, 5], 40, &mut rng);
    for run in &mut runs {
        let Outcome::Modes(modes) = &mut run.results[0].outcome else { panic!("in modes") };
        modes.iter_mut().for_each(|mode| mode.estimate.samples = u32::MAX);
    }
    let (ratio, _) = judged(&runs);
    assert!(ratio.modes.iter().all(|mode| mode.share_p.is_none()), "{ratio:?}");
}
