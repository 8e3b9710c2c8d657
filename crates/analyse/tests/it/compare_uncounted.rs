//! What no verdict is counted of, and launches that determine no interval.
#![allow(clippy::unwrap_used, reason = "helpers of tests, which Clippy does not recognise as such")]

use analyse::compare::{CompareOptions, CompareVerdict, FailOn, GateAnswer};
use analyse::{Comparison, compare};
use model::{Better, Class, Estimate, EstimateMethod, Figure, Metric, Outcome, Unit};

use crate::common::{figure, run, time};

fn stated(probe: &str, metric: Metric, value: f64) -> Figure {
    let (low, high) = (value * 0.999, value * 1.001);
    let method = EstimateMethod::Stated;
    let estimate = Estimate { value, low, high, level: 0.95, launches: 10, batches: 1, method };
    figure(probe, "", metric, Class::Compute, &[], Outcome::Measured(estimate))
}

/// Five launches that rose from one to the next: their extremes cover nothing.
fn drifting(probe: &str, value: f64) -> Figure {
    let (low, high) = (value * 0.98, value * 1.02);
    let method = EstimateMethod::Range;
    let estimate = Estimate { value, low, high, level: 1e-9, launches: 5, batches: 1, method };
    figure(probe, "", time("call"), Class::Compute, &[], Outcome::Measured(estimate))
}

fn shared() -> Metric {
    Metric { unit: Unit::Ratio, per: "time".into(), better: Better::Lower }
}

fn set(a: Vec<Figure>, b: Vec<Figure>) -> Comparison {
    compare(&[&run("a", "m", "1", a), &run("b", "m", "1", b)], &CompareOptions::default()).unwrap()
}

#[test]
fn neighbours_on_a_core_are_no_regression() {
    let of = |busy: f64| vec![stated("os.a", time("call"), 1.0), stated(model::CORE_SHARED, shared(), busy)];
    let found = set(of(0.01), of(0.6));
    let row = found.rows.iter().find(|row| row.probe == model::CORE_SHARED).unwrap();
    assert!(row.is_condition() && row.ratios[1].verdict == Some(CompareVerdict::Different), "{row:?}");
    let tally = found.machines[1].tally;
    assert_eq!((tally.different, tally.same, tally.undecided), (0, 1, 0), "one figure was asked for: {tally:?}");
    let gate = "slower:5".parse::<FailOn>().unwrap().gate(&found, false);
    assert_eq!((gate.answer, gate.tested), (GateAnswer::Pass, 1), "{gate:?}");
    let alone = set(vec![stated(model::CORE_SHARED, shared(), 0.01)], vec![stated(model::CORE_SHARED, shared(), 0.6)]);
    assert_eq!("slower:5".parse::<FailOn>().unwrap().gate(&alone, false).answer, GateAnswer::Inconclusive);
}

#[test]
fn launches_that_determine_no_interval_say_so_and_leave_the_mean() {
    let of = |factor: f64| vec![stated("os.a", time("call"), factor), drifting("os.b", factor)];
    let found = set(of(1.0), of(1.1));
    let ratio = &found.rows.iter().find(|row| row.probe == "os.b").unwrap().ratios[1];
    assert!((ratio.value.unwrap() * 1.1 - 1.0).abs() < 1e-9, "{ratio:?}");
    assert_eq!((ratio.low, ratio.high, ratio.need), (None, None, None), "{ratio:?}");
    assert_eq!(ratio.verdict, Some(CompareVerdict::Undecided));
    assert!(ratio.reason.as_ref().unwrap().contains("too few for an interval"), "{ratio:?}");
    let mean = found.geometric_means.iter().find(|mean| mean.machine == "b" && mean.family.is_none()).unwrap();
    assert!((mean.value * 1.1 - 1.0).abs() < 1e-9 && mean.level == 0.0, "a mean without an interval: {mean:?}");
    let gate = "slower:5".parse::<FailOn>().unwrap().gate(&found, false);
    assert_eq!(gate.answer, GateAnswer::Fail);
    let open = &gate.open[0];
    assert!(open.figure == "os.b" && open.low.is_none() && open.reason.is_some(), "{gate:?}");
}
