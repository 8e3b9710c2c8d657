//! Recorded round trips of two placements, mixed sample by sample, must be separated.

use rand::Rng;
use stats::modes;
use stats::simulate::generator;

use crate::session::{PINNED, consecutive, sessions};

#[test]
fn mixed_placements_are_modes() {
    const TRIALS: usize = 200;
    let sessions = sessions();
    let mut rng = generator(13);
    for benchmark in ["tcp_rr", "pipe_unp"] {
        for samples in [10, 20, 40] {
            let (mut found, mut trials) = (0, 0);
            for near in sessions.iter().filter(|s| !s.name.starts_with('F')) {
                for far in sessions.iter().filter(|s| s.name.starts_with('F')) {
                    for _ in 0..TRIALS {
                        let values: Vec<f64> = (0..samples)
                            .map(|_| {
                                let of = if rng.random() { near } else { far };
                                let values = &of.results[benchmark];
                                values[rng.random_range(0..values.len())]
                            })
                            .collect();
                        found += usize::from(modes(&values).len() > 1);
                    }
                    trials += TRIALS;
                }
            }
            if trials > 0 {
                let share = found as f64 / trials as f64;
                println!("TABLE modes of two placements, {benchmark}, {samples} samples: found {share:.3}");
                assert!(samples < 20 || share >= 0.80, "{benchmark}: {share}");
            }
        }
    }
}

#[test]
fn pinned_results_seldom_have_modes() {
    for samples in [10, 20, 40] {
        let (mut found, mut all) = (0, 0);
        for session in sessions() {
            for benchmark in PINNED {
                let values = &session.results[benchmark];
                let several = |start: &usize| modes(&consecutive(values, samples, *start)).len() > 1;
                let here = (0..values.len()).filter(several).count();
                println!("modes in {samples} samples of {} {benchmark}: {here} of {}", session.name, values.len());
                found += here;
                all += values.len();
            }
        }
        println!("TABLE modes in {samples} consecutive samples of pinned results: {found} of {all}");
        assert!(found as f64 <= 0.05 * all as f64, "{samples} samples: {found} of {all}");
    }
}
