//! Coverage of the interval of a result's median after stopping at fixed checkpoints.

use stats::order_statistic::sample_median_range;
use stats::simulate::generator;
use stats::stop::{TARGET, decide_at_checkpoint};
use stats::{Interval, median};

use crate::CHECKPOINTS;
use crate::session::{PINNED, consecutive, resample, sessions};

const LEVEL: f64 = 0.95;
const LAST: usize = CHECKPOINTS[CHECKPOINTS.len() - 1];

/// Stops as a run does: at the first checkpoint at which the result converged, else at the last.
fn stopped(values: &[f64]) -> (usize, Interval) {
    for n in CHECKPOINTS {
        let seen = decide_at_checkpoint(&values[..n], &[], TARGET, LEVEL);
        if let (true, Some(found)) = (seen.converged, seen.interval) {
            return (n, found.interval);
        }
    }
    let all = &values[..LAST];
    let last = decide_at_checkpoint(all, &[], TARGET, LEVEL).interval.or_else(|| sample_median_range(all)).unwrap();
    (LAST, last.interval)
}

#[test]
fn independent_samples() {
    let resamples = testing::trials(100, 300);
    // The share that 300 resamples keep to.
    let least = 0.93 - (testing::at_most(0.05, resamples) - testing::at_most(0.05, 300));
    let (mut worst, mut sum, mut samples, mut runs) = (1.0_f64, 0.0, 0, 0);
    for session in sessions() {
        for (benchmark, values) in &session.results {
            let truth = median(values).unwrap();
            let mut rng = generator(1);
            let mut covered = 0;
            for _ in 0..resamples {
                let (used, interval) = stopped(&resample(values, LAST, &mut rng));
                covered += usize::from(interval.contains(truth));
                samples += used;
            }
            let share = covered as f64 / resamples as f64;
            println!("coverage, independent samples: {} {benchmark} {share:.3}", session.name);
            assert!(share >= least, "{} {benchmark}: {share}", session.name);
            worst = worst.min(share);
            sum += share;
            runs += 1;
        }
    }
    if runs > 0 {
        let mean_samples = samples as f64 / (runs * resamples) as f64;
        println!(
            "TABLE coverage after stopping: smallest {worst:.3}, mean {:.3}, {mean_samples:.1} samples",
            sum / runs as f64
        );
    }
}

#[test]
fn consecutive_samples() {
    let sessions = sessions();
    let Some(first) = sessions.first() else { return };
    let mut pooled = Vec::new();
    for benchmark in first.results.keys() {
        let (mut covered, mut windows) = (0, 0);
        let mut by_session = String::new();
        for session in &sessions {
            let values = &session.results[benchmark];
            let truth = median(values).unwrap();
            let here =
                (0..values.len()).filter(|&start| stopped(&consecutive(values, LAST, start)).1.contains(truth)).count();
            by_session += &format!(" {} {:.2}", session.name, here as f64 / values.len() as f64);
            covered += here;
            windows += values.len();
        }
        let share = covered as f64 / windows as f64;
        println!("coverage, consecutive samples: {benchmark} {share:.3} ({} )", by_session.trim_start());
        if PINNED.contains(&benchmark.as_str()) {
            assert!(share >= 0.93, "{benchmark}: {share}");
            pooled.push(share);
        }
    }
    let worst = pooled.iter().copied().fold(1.0, f64::min);
    println!(
        "TABLE coverage of consecutive samples, pinned: smallest {worst:.3}, mean {:.3}",
        pooled.iter().sum::<f64>() / pooled.len() as f64
    );
}
