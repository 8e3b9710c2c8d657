//! Nights without a change: how often an event is found that is none.

use crate::nights::{KINDS, METRICS, logs, of, runs};

const YEAR: usize = 365;

/// Events in that many years of nightly runs, each of 80 metrics.
#[test]
fn a_year_of_80_metrics_has_at_most_one_false_alarm() {
    let years = testing::trials(1, 6);
    for kind in KINDS {
        let alarms: usize =
            (0..years as u64).map(|seed| of(&runs(&logs(kind, METRICS, YEAR, seed))).events.len()).sum();
        println!("{kind:?}: {alarms} false alarms in {years} years of {METRICS} metrics");
        assert!((alarms as f64) <= most(years as f64), "{kind:?}: {alarms} in {years} years");
    }
}

/// Number of events that one a year exceeds with a probability of 0.1% at most.
fn most(years: f64) -> f64 {
    years + 3.09 * years.sqrt() + 1.0
}
