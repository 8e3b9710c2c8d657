//! Results that count in no verdict, and samples that determine no interval.
#![allow(clippy::unwrap_used, reason = "helpers of tests, which Clippy does not recognise as such")]

use compare::{CompareOptions, Comparison, FailOn, GateAnswer, compare};
use model::{BenchmarkResult, Better, Class, Estimate, EstimateMethod, Metric, Outcome, Unit, Verdict};

use crate::common::{result, run, time};

fn stated(benchmark: &str, metric: Metric, value: f64) -> BenchmarkResult {
    let (low, high) = (value * 0.999, value * 1.001);
    let method = EstimateMethod::Stated;
    let estimate = Estimate { value, low, high, level: 0.95, samples: 10, batches: 1, method };
    result(benchmark, "", metric, Class::Compute, &[], Outcome::Measured(estimate))
}

/// Five samples that rose from one to the next: their extremes cover nothing.
fn drifting(benchmark: &str, value: f64) -> BenchmarkResult {
    let (low, high) = (value * 0.98, value * 1.02);
    let method = EstimateMethod::Range;
    let estimate = Estimate { value, low, high, level: 1e-9, samples: 5, batches: 1, method };
    result(benchmark, "", time("call"), Class::Compute, &[], Outcome::Measured(estimate))
}

fn shared() -> Metric {
    Metric { unit: Unit::Ratio, per: "time".into(), better: Better::Lower }
}

fn set(a: Vec<BenchmarkResult>, b: Vec<BenchmarkResult>) -> Comparison {
    compare(&[&run("a", "m", "1", a), &run("b", "m", "1", b)], &CompareOptions::default()).unwrap()
}

#[test]
fn neighbours_on_a_core_are_no_regression() {
    let of = |busy: f64| vec![stated("os.a", time("call"), 1.0), stated(model::CORE_SHARED, shared(), busy)];
    let found = set(of(0.01), of(0.6));
    let row = found.conditions.iter().find(|row| row.benchmark == model::CORE_SHARED).unwrap();
    assert!(row.ratios[1].differs(), "{row:?}");
    assert!(found.rows.iter().all(|row| row.benchmark == "os.a"), "conditions are not among results");
    let tally = found.machines[1].tally;
    assert_eq!(
        (tally.different(), tally.no_change, tally.inconclusive),
        (0, 1, 0),
        "one result was asked for: {tally:?}"
    );
    let gate = "slower:5".parse::<FailOn>().unwrap().gate(&found);
    assert_eq!((gate.answer, gate.tested), (GateAnswer::Pass, 1), "{gate:?}");
    let only = |busy: f64| run("a", "m", "1", vec![stated(model::CORE_SHARED, shared(), busy)]);
    assert!(compare(&[&only(0.01), &only(0.6)], &CompareOptions::default()).is_err(), "no result in common");
    let zeros =
        || vec![stated("os.a", time("call"), 0.0), stated(model::CLOCK, Metric::higher(Unit::Hertz, "run"), 3e9)];
    let gate = "slower:5".parse::<FailOn>().unwrap().gate(&set(zeros(), zeros()));
    assert_eq!((gate.answer, gate.tested), (GateAnswer::Inconclusive, 0), "nothing could be tested");
}

#[test]
fn samples_that_determine_no_interval_say_so_and_leave_the_mean() {
    let of = |factor: f64| vec![stated("os.a", time("call"), factor), drifting("os.b", factor)];
    let found = set(of(1.0), of(1.1));
    let ratio = &found.rows.iter().find(|row| row.benchmark == "os.b").unwrap().ratios[1];
    assert!((ratio.value.unwrap() * 1.1 - 1.0).abs() < 1e-9, "{ratio:?}");
    assert_eq!((ratio.low, ratio.high, ratio.need), (None, None, None), "{ratio:?}");
    assert_eq!(ratio.verdict, Some(Verdict::Inconclusive));
    assert!(ratio.reason.as_ref().unwrap().contains("a verdict needs 8"), "{ratio:?}");
    let mean = found.geometric_means.iter().find(|mean| mean.machine == "b" && mean.family.is_none()).unwrap();
    assert!((mean.value * 1.1 - 1.0).abs() < 1e-9 && mean.results == 1 && mean.low.is_some(), "{mean:?}");
    let gate = "slower:5".parse::<FailOn>().unwrap().gate(&found);
    assert_eq!(gate.answer, GateAnswer::Fail);
    let open = &gate.open[0];
    assert!(open.result == "os.b" && open.low.is_none() && open.reason.is_some(), "{gate:?}");
}
