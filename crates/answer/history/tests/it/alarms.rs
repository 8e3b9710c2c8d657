//! Nights without a change: how often an event is found that is none.

use rand::Rng;
use stats::simulate::{generator, standard_normal};

use crate::nights::{KINDS, METRICS, NOISE, logs, of, runs};

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

/// Recordings of real samples: one result a line, its values in the order of time.
const RECORDED: [&str; 4] = [
    include_str!("../../../../core/stats/tests/noise/quiet_guest.txt"),
    include_str!("../../../../core/stats/tests/noise/beside_builds_1.txt"),
    include_str!("../../../../core/stats/tests/noise/clean_guest_1.txt"),
    include_str!("../../../../core/stats/tests/noise/clean_guest_2.txt"),
];

fn recorded() -> Vec<Vec<f64>> {
    let values = |line: &str| line.split(' ').skip(1).map(|value| value.parse::<f64>().unwrap().ln()).collect();
    RECORDED.iter().flat_map(|text| text.lines().map(values)).collect()
}

/// A night of a recorded result is the median of ten of its samples, drawn anew, and moves with a session noise of 1%.
#[test]
fn nights_of_recorded_samples_have_at_most_one_false_alarm_a_year() {
    let years = testing::trials(1, 6);
    let recorded = recorded();
    let night = |samples: &[f64], rng: &mut rand_chacha::ChaCha8Rng| {
        let drawn: Vec<f64> = (0..10).map(|_| samples[rng.random_range(0..samples.len())]).collect();
        stats::median(&drawn).unwrap() + NOISE * standard_normal(rng)
    };
    let year = |seed: u64| -> usize {
        let mut rng = generator(seed + 900);
        let metric = |metric: usize, rng: &mut rand_chacha::ChaCha8Rng| {
            let samples = &recorded[metric % recorded.len()];
            (0..YEAR).map(|_| night(samples, rng)).collect::<Vec<f64>>()
        };
        let logs: Vec<Vec<f64>> = (0..METRICS).map(|at| metric(at, &mut rng)).collect();
        of(&runs(&logs)).events.len()
    };
    let alarms: usize = (0..years as u64).map(year).sum();
    println!("recorded: {alarms} false alarms in {years} years of {METRICS} metrics");
    assert!((alarms as f64) <= most(years as f64), "{alarms} in {years} years");
}

/// What was found after a night is still found after later ones.
#[test]
fn looking_every_night_finds_the_same() {
    let mut logs = logs(KINDS[0], 12, 140, 5);
    for log in &mut logs[2][80..] {
        *log += 6.0 * NOISE;
    }
    let runs = runs(&logs);
    let first = (84..=140).find(|nights| !of(&runs[..*nights]).events.is_empty()).unwrap();
    for nights in first..=140 {
        let events = of(&runs[..nights]).events;
        assert!(events.iter().any(|event| event.run.abs_diff(80) <= 1), "{nights}: {events:?}");
    }
}
