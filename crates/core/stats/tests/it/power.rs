//! Smallest detectable difference, and repeatability of results.

use stats::quantile::standard_deviation;
use stats::simulate::generator;
use stats::{BAND, Floor, compare, median, quantile};

use crate::session::{STABLE, Session, consecutive, logs, resample, sessions};

/// The shift between two samples of 20 samples of this result that is significant in 80% of trials.
fn smallest_difference(values: &[f64]) -> f64 {
    const TRIALS: usize = 300;
    let mut rng = generator(9);
    // Moving B by d moves the interval by d, so d is detected when it exceeds the distance of the interval's lower end
    // below 0.
    let needed: Vec<f64> = (0..TRIALS)
        .map(|_| {
            let mut draw = || logs(&resample(values, 20, &mut rng));
            -compare(&draw(), &draw(), Floor::NONE, 0.95).unwrap().interval.low
        })
        .collect();
    quantile(&needed, 0.8).unwrap()
}

/// Prints `number` of every stable result of every session, in percent, and returns the median of all.
fn table(title: &str, sessions: &[Session], number: impl Fn(&[f64]) -> f64) -> f64 {
    let mut all = Vec::new();
    for benchmark in STABLE {
        let row: Vec<f64> = sessions.iter().map(|s| 100.0 * number(&s.results[benchmark])).collect();
        let cells: Vec<String> = sessions.iter().zip(&row).map(|(s, v)| format!("{} {v:.2}%", s.name)).collect();
        println!("TABLE {title}: {benchmark} {}", cells.join(", "));
        all.extend(row);
    }
    median(&all).unwrap()
}

#[test]
fn smallest_difference_at_twenty_samples() {
    let sessions = sessions();
    if sessions.is_empty() {
        return;
    }
    let middle = table("smallest difference found with 80% power at 20 samples", &sessions, smallest_difference);
    println!("TABLE smallest difference: median {middle:.2}%, as different {:.2}%", middle + 100.0 * BAND);
    assert!(middle <= 2.0, "{middle}%");
}

#[test]
fn medians_of_runs_repeat() {
    let sessions = sessions();
    if sessions.is_empty() {
        return;
    }
    let middle = table("spread of medians of 20 consecutive samples", &sessions, |values| {
        let run = |start| median(&logs(&consecutive(values, 20, start))).unwrap();
        standard_deviation(&(0..values.len()).map(run).collect::<Vec<_>>()).unwrap()
    });
    println!("TABLE spread of medians of runs: median {middle:.2}%");
    assert!(middle <= 1.0, "{middle}%");
}
