//! Error rates of the verdicts, on simulated samples whose true values are known.

use compare::{
    CompareOptions, Comparison, FailOn, GateAnswer, NeededSamples, RatioMethod, Relation, SelfTest, SessionRecord,
    compare, self_test,
};

use crate::common;
use crate::common::{from_values, rate, refs, run, time};
use model::{BenchmarkResult, Class, Direction, Estimate, EstimateMethod, Outcome, Run, Verdict};
use rand_chacha::ChaCha8Rng;
use stats::simulate::{Noise, generator, standard_normal};

const CLASSES: [Class; 5] = [Class::Compute, Class::Bandwidth, Class::Ipc, Class::MemoryLatency, Class::FileMetadata];

/// A run of `results` results with 10 to 40 samples each. With `moved` each class has a normal shift of the session,
/// with the session noise as its standard deviation.
fn simulated(id: &str, session: &str, results: usize, moved: bool, rng: &mut ChaCha8Rng) -> Run {
    let shifts: Vec<f64> =
        CLASSES.iter().map(|c| if moved { c.session_noise() * standard_normal(rng) } else { 0.0 }).collect();
    let made = (0..results).map(|i| {
        let class = i % CLASSES.len();
        let noise = Noise { centre: (1.0 + i as f64) * 1e-6 * shifts[class].exp(), ..Noise::stable(1.0) };
        let values = noise.samples([10, 14, 20, 28, 40][i % 5], rng);
        // Values that split into modes by chance are drawn again; modes have tests of their own.
        let values = if stats::modes(&values).len() > 1 { noise.samples(20, rng) } else { values };
        from_values(&format!("sim.f{i}"), "", time("call"), CLASSES[class], &values)
    });
    run(id, "one machine", session, made.collect())
}

/// Pairs of equal runs of one session, or of two, which differ by the session noise of each class.
#[allow(clippy::unwrap_used, reason = "a helper of tests")]
pub(crate) fn equals(pairs: usize, sessions: usize) -> SelfTest {
    let mut rng = generator(sessions as u64);
    let session = |i: usize| if sessions == 1 { "now".to_owned() } else { format!("day {i}") };
    let runs: Vec<Run> =
        (0..2 * pairs).map(|i| simulated(&format!("r{i}"), &session(i), 60, sessions > 1, &mut rng)).collect();
    let pairs: Vec<(&Run, &Run)> = runs.chunks(2).map(|pair| (&pair[0], &pair[1])).collect();
    self_test(&pairs, &CompareOptions::default()).unwrap()
}

#[test]
fn equals_in_one_session_are_not_called_different() {
    let most = testing::trials(20, 60);
    let found = equals(most, 1);
    assert!(found.results >= most * 55, "{found:?}");
    assert!(found.share() <= 0.05, "{found:?}");
    assert!(found.pairs_with_claims as f64 / found.pairs as f64 <= if most < 60 { 0.1 } else { 0.05 }, "{found:?}");
    assert!(found.no_change > found.results / 2, "{found:?}");
}

#[test]
fn equals_across_sessions_are_not_called_different() {
    let mut rng = generator(2);
    let most = testing::trials(20, 60);
    let runs: Vec<Run> =
        (0..2 * most).map(|i| simulated(&format!("r{i}"), &format!("day {i}"), 60, true, &mut rng)).collect();
    let pairs: Vec<(&Run, &Run)> = runs.chunks(2).map(|pair| (&pair[0], &pair[1])).collect();
    let found = self_test(&pairs, &CompareOptions::default()).unwrap();
    assert!(found.share() <= 0.05, "{found:?}");
    assert!(found.pairs_with_claims as f64 / found.pairs as f64 <= if most < 60 { 0.1 } else { 0.05 }, "{found:?}");
    let without_history = compare(&[&runs[0], &runs[1]], &CompareOptions::default()).unwrap();
    assert_eq!(without_history.machines[1].relation, Relation::AnotherSession);
    assert!(without_history.rows.iter().all(|row| row.ratios[1].floor.unwrap().sessions.is_none()));
    let history: Vec<SessionRecord> = runs[2..9].iter().flat_map(SessionRecord::of).collect();
    let options = CompareOptions { history: &history, ..CompareOptions::default() };
    let with_history = compare(&[&runs[0], &runs[1]], &options).unwrap();
    assert!(
        with_history
            .rows
            .iter()
            .all(|row| row.ratios[1].floor.is_none_or(|floor| floor.sessions.is_some_and(|n| n <= 7)))
    );
    assert_eq!(with_history.machines[1].tally.different(), 0);
}

#[test]
fn sessions_without_their_floor_would_be_called_different() {
    // The same runs, declared one session: without the session noise, equal machines are called different.
    let mut rng = generator(2);
    let runs: Vec<Run> = (0..20).map(|i| simulated(&format!("r{i}"), "now", 60, true, &mut rng)).collect();
    let pairs: Vec<(&Run, &Run)> = runs.chunks(2).map(|pair| (&pair[0], &pair[1])).collect();
    assert!(self_test(&pairs, &CompareOptions::default()).unwrap().share() > 0.10);
}

/// Two runs of one session: 30 equal results and one whose second value is `factor` times the first.
pub(crate) fn planted(factor: f64, samples: usize, metric: model::Metric, rng: &mut ChaCha8Rng) -> Vec<Run> {
    let results = |factor: f64, rng: &mut ChaCha8Rng| -> Vec<BenchmarkResult> {
        (0..31)
            .map(|i| {
                let centre = if i == 0 { factor } else { 1.0 };
                let noise = Noise { disturbed: 0.0, ..Noise::stable(centre) };
                from_values(&format!("sim.f{i}"), "", metric.clone(), Class::Compute, &noise.samples(samples, rng))
            })
            .collect()
    };
    let first = run("a", "m", "now", results(1.0, rng));
    let second = run("b", "m", "now", results(factor, rng));
    vec![first, second]
}

#[test]
fn planted_differences_are_found_and_named() {
    let mut rng = generator(3);
    for (factor, metric, direction) in [
        (1.05, time("call"), Direction::Slower),
        (0.95, time("call"), Direction::Faster),
        (1.05, rate("calls"), Direction::Faster),
        (0.90, rate("calls"), Direction::Slower),
    ] {
        let mut found = 0;
        for _ in 0..20 {
            let runs = planted(factor, 20, metric.clone(), &mut rng);
            let comparison = compare(&refs(&runs), &CompareOptions::default()).unwrap();
            let row = comparison.rows.iter().find(|row| row.benchmark == "sim.f0").unwrap();
            let first = &row.ratios[1];
            if first.differs() {
                assert_eq!(first.direction(), Some(direction));
                assert_eq!(first.method, RatioMethod::Samples);
                assert!(first.low.unwrap() <= first.value.unwrap() && first.value.unwrap() <= first.high.unwrap());
                found += 1;
            }
            assert_eq!(comparison.tests, 31);
        }
        assert!(found >= 18, "{factor} was found {found} times of 20");
    }
}

#[test]
fn equals_with_enough_samples_are_called_same() {
    let mut rng = generator(4);
    let runs = planted(1.0, 40, time("call"), &mut rng);
    let found = compare(&refs(&runs), &CompareOptions::default()).unwrap();
    assert_eq!(found.machines[1].tally.no_change, 31, "{:?}", found.machines[1].tally);
    let mean = found.geometric_means.iter().find(|mean| mean.machine == "b" && mean.family.is_none()).unwrap();
    let (low, high) = (mean.low.unwrap(), mean.high.unwrap());
    assert!(low <= mean.value && mean.value <= high && high / low < 1.01);
    assert_eq!(mean.results, 31);
}

#[test]
fn undecided_says_what_would_decide() {
    let mut rng = generator(5);
    let noise = Noise { between: 0.04, disturbed: 0.0, ..Noise::stable(1.0) };
    let made = |id: &str, rng: &mut ChaCha8Rng| {
        run(id, "m", "now", vec![from_values("sim.wide", "", time("call"), Class::Compute, &noise.samples(10, rng))])
    };
    let runs = [made("a", &mut rng), made("b", &mut rng)];
    let found = compare(&refs(&runs), &CompareOptions::default()).unwrap();
    let ratio = &found.rows[0].ratios[1];
    assert_eq!(ratio.verdict, Some(Verdict::Inconclusive));
    assert!(matches!(ratio.need, Some(NeededSamples::Samples(1..) | NeededSamples::TooClose)), "{ratio:?}");
}

#[test]
fn the_mean_of_a_class_carries_its_shared_floor() {
    // Sixteen results with a session noise of 5% each: averaging does not reduce a shift that the session has in
    // common.
    let mut rng = generator(6);
    let noise = Noise { disturbed: 0.0, ..Noise::stable(1.0) };
    let made = |id: &str, rng: &mut ChaCha8Rng| {
        let results = (0..16)
            .map(|i| from_values(&format!("sim.f{i}"), "", time("call"), Class::Process, &noise.samples(20, rng)))
            .collect();
        run(id, "m", id, results)
    };
    let runs = [made("a", &mut rng), made("b", &mut rng)];
    let found = compare(&refs(&runs), &CompareOptions::default()).unwrap();
    let mean = found.geometric_means.iter().find(|mean| mean.machine == "b").unwrap();
    let half = (mean.high.unwrap() / mean.low.unwrap()).ln() / 2.0;
    assert!((half - 1.96 * 2.0_f64.sqrt() * 0.05).abs() < 0.01, "{half}");
}

/// Samples alternate between 6.5 and 70; `slow` of ten are slow.
fn bimodal(slow: usize, factor: f64, samples: usize, rng: &mut ChaCha8Rng) -> BenchmarkResult {
    let values: Vec<f64> = (0..samples)
        .map(|i| if i * 3 % 10 < slow { 70.0 * factor } else { 6.5 } * (0.003 * standard_normal(rng)).exp())
        .collect();
    from_values("ipc.pipe_latency", "placement=free", time("round trip"), Class::Ipc, &values)
}

#[test]
fn modes_are_compared_mode_by_mode() {
    let mut rng = generator(7);
    let mut judge = |a: (usize, f64), b: (usize, f64)| -> Comparison {
        let first = run("a", "m", "now", vec![bimodal(a.0, a.1, 40, &mut rng)]);
        let second = run("b", "m", "now", vec![bimodal(b.0, b.1, 40, &mut rng)]);
        assert!(matches!(first.results[0].outcome, Outcome::Modes(_)));
        compare(&[&first, &second], &CompareOptions::default()).unwrap()
    };
    let same = judge((5, 1.0), (5, 1.0));
    let ratio = &same.rows[0].ratios[1];
    assert_eq!((ratio.verdict, ratio.value, ratio.modes.len()), (Some(Verdict::NoChange), None, 2), "{ratio:?}");
    assert!(same.geometric_means.iter().all(|mean| mean.machine == same.reference));
    let slower = judge((5, 1.0), (5, 1.2));
    let ratio = &slower.rows[0].ratios[1];
    assert_eq!(ratio.verdict, Some(Verdict::Different(Some(Direction::Slower))));
    assert_eq!(ratio.modes.iter().filter(|mode| mode.verdict.is_some_and(Verdict::differs)).count(), 1);
    let shares = judge((2, 1.0), (8, 1.0));
    let ratio = &shares.rows[0].ratios[1];
    assert!(ratio.differs());
    assert!(ratio.modes.iter().any(|mode| mode.shares_differ) && ratio.direction().is_none());
}

#[test]
fn a_mode_without_counterpart_is_not_the_same() {
    let mut rng = generator(8);
    let one = Noise { disturbed: 0.0, ..Noise::stable(6.5) }.samples(20, &mut rng);
    let first = run(
        "a",
        "m",
        "day 1",
        vec![from_values("ipc.pipe_latency", "placement=free", time("round trip"), Class::Ipc, &one)],
    );
    let second = run("b", "m", "day 2", vec![bimodal(5, 1.0, 20, &mut rng)]);
    let found = compare(&[&first, &second], &CompareOptions::default()).unwrap();
    let ratio = &found.rows[0].ratios[1];
    assert_eq!(ratio.verdict, Some(Verdict::Inconclusive), "{ratio:?}");
    assert!(ratio.reason.as_ref().unwrap().contains("no counterpart"));
}

#[test]
fn what_has_no_value_says_why() {
    let good = from_values("os.a", "", time("call"), Class::Compute, &[1.0; 10]);
    let with =
        |benchmark: &str, outcome: Outcome| common::result(benchmark, "", time("call"), Class::Compute, &[], outcome);
    let measured = |benchmark: &str| BenchmarkResult { benchmark: benchmark.to_owned(), ..good.clone() };
    let mut other_unit = measured("os.unit");
    other_unit.metric = rate("calls");
    let a = run(
        "a",
        "m",
        "1",
        ["os.below", "os.not_measured", "os.failed", "os.unit", "os.zero", "os.a"].map(measured).to_vec(),
    );
    let zero = Estimate { method: EstimateMethod::Stated, ..Estimate::of_samples(0.0, (-1.0, 1.0), 0.95, 10) };
    let b = run(
        "b",
        "n",
        "2",
        vec![
            with("os.below", Outcome::Below { bound: 0.5 }),
            with("os.not_measured", Outcome::NotMeasured("no shell".into())),
            with("os.failed", Outcome::Failed("it hung".into())),
            other_unit,
            with("os.zero", Outcome::Measured(zero)),
            with("os.only_here", Outcome::Below { bound: 1.0 }),
        ],
    );
    let found = compare(&[&a, &b], &CompareOptions::default()).unwrap();
    for (benchmark, reason) in [
        ("os.below", "at least 2.00x faster"),
        ("os.not_measured", "no shell"),
        ("os.failed", "it hung"),
        ("os.unit", "different units"),
        ("os.zero", "not positive"),
    ] {
        let ratio = found.rows.iter().find(|row| row.benchmark == benchmark).unwrap().ratios[1].clone();
        assert!(ratio.reason.as_ref().unwrap().contains(reason), "{benchmark}: {ratio:?}");
        assert_eq!((ratio.value, ratio.verdict), (None, None));
    }
    assert_eq!(found.machines[1].tally.not_comparable, 5);
    let alone: Vec<String> = found.unmatched.iter().map(|u| format!("{} {}", u.machine, u.result)).collect();
    assert_eq!(alone, ["a os.a", "b os.only_here"]);
    // No value in it is NaN or infinite, so that it can be stored as JSON.
    let text = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<Comparison>(&text).unwrap(), found);
}

#[test]
fn stated_spread_decides_and_no_spread_never_does() {
    let stated = |value: f64, half: f64| {
        let estimate = Estimate {
            method: EstimateMethod::Stated,
            ..Estimate::of_samples(value, (value - half, value + half), 0.95, 5)
        };
        vec![common::result("x.y", "", time("call"), Class::Compute, &[], Outcome::Measured(estimate))]
    };
    let a = run("a", "m", "1", stated(1.0, 0.01));
    let b = run("b", "n", "2", stated(1.5, 0.01));
    let none = run("c", "o", "3", vec![common::plain("x.y", "", time("call"), 9.0)]);
    let found = compare(&[&a, &b, &none], &CompareOptions::default()).unwrap();
    let verdicts: Vec<_> = found.rows[0].ratios.iter().map(|ratio| (ratio.verdict, ratio.method)).collect();
    assert_eq!(verdicts[1], (Some(Verdict::Different(Some(Direction::Slower))), RatioMethod::Propagated));
    assert_eq!(verdicts[2], (Some(Verdict::Inconclusive), RatioMethod::None));
    assert_eq!(found.rows[0].ratios[2].reason.as_deref(), Some("it has no error bars"));
}

#[test]
fn only_established_changes_for_the_worse_fail() {
    let mut rng = generator(9);
    let slower = planted(1.10, 20, time("call"), &mut rng);
    let found = compare(&refs(&slower), &CompareOptions::default()).unwrap();
    let answer = |text: &str, found: &Comparison| text.parse::<FailOn>().unwrap().gate(found).answer;
    assert_eq!(answer("slower", &found), GateAnswer::Fail);
    assert_eq!(answer("slower:5", &found), GateAnswer::Fail);
    assert_eq!(answer("slower:15", &found), GateAnswer::Pass);
    assert_eq!(found.machines[1].tally.different(), 1);
    let gate = "slower:5".parse::<FailOn>().unwrap().gate(&found);
    assert_eq!((gate.tested, gate.failing.len(), gate.failing[0].result.as_str()), (31, 1, "sim.f0"), "{gate:?}");
    let faster = planted(0.90, 20, time("call"), &mut rng);
    let found = compare(&refs(&faster), &CompareOptions::default()).unwrap();
    assert_eq!(answer("slower", &found), GateAnswer::Pass);
    assert_eq!(answer("different", &found), GateAnswer::Fail);
    assert_eq!(answer("different:30", &found), GateAnswer::Pass);
}

#[test]
fn what_is_undecided_is_inconclusive_and_never_passes() {
    let mut rng = generator(10);
    let noise = Noise { between: 0.04, disturbed: 0.0, ..Noise::stable(1.0) };
    let made = |id: &str, rng: &mut ChaCha8Rng| {
        run(id, "m", "now", vec![from_values("sim.wide", "", time("call"), Class::Compute, &noise.samples(10, rng))])
    };
    let answer = |a: &Run, b: &Run, text: &str| {
        text.parse::<FailOn>().unwrap().gate(&compare(&[a, b], &CompareOptions::default()).unwrap())
    };
    let wide = answer(&made("a", &mut rng), &made("b", &mut rng), "slower:1");
    assert_eq!((wide.answer, wide.tested, wide.open.len()), (GateAnswer::Inconclusive, 1, 1), "{wide:?}");
    // Nothing to test: no spread, nothing measured, the same run twice.
    let plain = |id: &str, value: f64| run(id, "m", id, vec![common::plain("x.y", "", time("call"), value)]);
    let not_measured = Outcome::NotMeasured("no shell".into());
    let none = |id: &str| {
        let not_measured = common::result("x.y", "", time("call"), Class::Compute, &[], not_measured.clone());
        run(id, "m", id, vec![not_measured])
    };
    let itself = made("a", &mut rng);
    for (a, b) in [(plain("a", 1.0), plain("b", 1.0)), (none("a"), none("b")), (itself.clone(), itself)] {
        for text in ["slower", "different", "slower:50"] {
            let gate = answer(&a, &b, text);
            assert_eq!((gate.answer, gate.tested), (GateAnswer::Inconclusive, 0), "{text}: {gate:?}");
        }
    }
    // A result that fails or is missing where the baseline has a value must not be ignored, whatever else passes.
    let with_steady = |mut run: Run, rng: &mut ChaCha8Rng| {
        let values = Noise::stable(1.0).samples(20, rng);
        run.results.push(from_values("sim.steady", "", time("call"), Class::Compute, &values));
        run
    };
    let before = with_steady(made("a", &mut rng), &mut rng);
    let mut after = with_steady(made("b", &mut rng), &mut rng);
    assert_eq!(answer(&before, &after, "slower:50").answer, GateAnswer::Pass);
    for (outcome, says) in [
        (Outcome::Failed("it hung".into()), "it failed: it hung"),
        (Outcome::NotMeasured("no shell".into()), "it was not measured: no shell"),
    ] {
        after.results[0].outcome = outcome;
        let gate = answer(&before, &after, "slower:50");
        let open: Vec<_> = gate.open.iter().map(|one| (one.result.as_str(), one.reason.as_deref())).collect();
        assert_eq!((gate.answer, gate.tested), (GateAnswer::Inconclusive, 1), "{gate:?}");
        assert_eq!(open, [("sim.wide", Some(says))]);
        // A result that the baseline lacks too is no evidence.
        let (before, after) = (Run { id: "c".into(), ..after.clone() }, before.clone());
        assert_eq!(answer(&before, &after, "slower:50").answer, GateAnswer::Pass);
    }
}
