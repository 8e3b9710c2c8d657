//! Rates of false and of missed modes.

use rand::Rng;
use stats::distribution::student_t_quantile;
use stats::modes;
use stats::simulate::{Noise, generator, standard_normal};

/// Samples that a share is of.
fn trials() -> usize {
    testing::trials(250, 4000)
}

/// Share of `trials` samples in which more than one mode is found.
fn rate(trials: usize, seed: u64, mut sample: impl FnMut(&mut rand_chacha::ChaCha8Rng) -> Vec<f64>) -> f64 {
    let mut rng = generator(seed);
    (0..trials).filter(|_| modes(&sample(&mut rng)).len() > 1).count() as f64 / trials as f64
}

/// Share that a promised one keeps to in so many trials: it is a promise of 4000.
fn kept(promised: f64, trials: usize) -> f64 {
    promised - (testing::at_most(promised, trials) - testing::at_most(promised, 4000))
}

#[test]
fn unimodal_noise_has_no_modes() {
    let trials = trials();
    // t quantiles are slow to invert: one table serves all draws.
    let t3: Vec<f64> = (0..2000).map(|i| student_t_quantile((f64::from(i) + 0.5) / 2000.0, 3.0)).collect();
    let mut worst = 0.0_f64;
    for n in [10, 14, 20, 28, 40] {
        for (name, seed, scale) in [("narrow", 1, 0.01), ("wide", 2, 0.15), ("very wide", 3, 0.5)] {
            let uniform = rate(trials, seed, |r| (0..n).map(|_| (3.0 * scale * r.random::<f64>()).exp()).collect());
            let normal = rate(trials, seed, |r| (0..n).map(|_| (scale * standard_normal(r)).exp()).collect());
            let t = rate(trials, seed, |r| (0..n).map(|_| (scale * t3[r.random_range(0..t3.len())]).exp()).collect());
            let exponential =
                rate(trials, seed, |r| (0..n).map(|_| (-2.0 * scale * (1.0 - r.random::<f64>()).ln()).exp()).collect());
            let disturbed = |share: f64, size: f64| Noise {
                between: scale,
                disturbed: share,
                disturbance: size,
                ..Noise::stable(1.0)
            };
            let some = rate(trials, seed, |r| disturbed(0.1, 0.3).launches(n, r));
            let many = rate(trials, seed, |r| disturbed(0.2, 0.5).launches(n, r));
            let alike = rate(trials, seed, |r| {
                Noise { correlation: 0.7, disturbed: 0.0, ..disturbed(0.0, 0.0) }.launches(n, r)
            });
            println!(
                "{n} launches, {name}: uniform {uniform:.4} normal {normal:.4} t3 {t:.4} exponential {exponential:.4} disturbed 10% {some:.4} disturbed 20% {many:.4} correlated {alike:.4}"
            );
            for share in [uniform, normal, t, exponential, some, many, alike] {
                worst = worst.max(share);
            }
        }
    }
    println!("largest share of false modes: {worst:.4}");
    let most = 0.01 + testing::at_most(0.01, trials) - testing::at_most(0.01, 4000);
    assert!(worst < most, "{worst}");
}

#[test]
fn two_placements_are_two_modes() {
    let trials = trials();
    for (n, promised) in [(10, 0.60), (14, 0.85), (20, 0.94), (40, 0.98)] {
        for share in [0.3, 0.5] {
            let noise = Noise { between: 0.02, second_share: share, second_ratio: 70.0 / 6.5, ..Noise::stable(6.5) };
            let found = rate(trials, 11, |r| noise.launches(n, r));
            println!("{n} launches, second mode {share}: found {found:.3}");
            assert!(found >= kept(promised, trials), "{n} launches, share {share}: {found}");
        }
    }
}

#[test]
fn a_mode_of_one_launch_in_ten_is_found_by_the_last_look() {
    let trials = trials();
    let noise = Noise { between: 0.02, second_share: 0.1, second_ratio: 10.0, ..Noise::stable(6.5) };
    for (n, promised) in [(20, 0.30), (28, 0.40), (40, 0.65)] {
        let found = rate(trials, 12, |r| noise.launches(n, r));
        println!("{n} launches, one in ten a decade higher: found {found:.3}");
        assert!(found >= kept(promised, trials), "{n} launches: {found}");
    }
}

#[test]
fn members_of_modes_are_all_launches_once() {
    let noise = Noise { second_share: 0.4, second_ratio: 3.0, ..Noise::stable(1.0) };
    let values = noise.launches(40, &mut generator(3));
    let found = modes(&values);
    let mut members: Vec<usize> = found.iter().flat_map(|m| m.launches.clone()).collect();
    members.sort_unstable();
    assert_eq!(members, (0..40).collect::<Vec<_>>());
    assert!((found.iter().map(|m| m.share).sum::<f64>() - 1.0).abs() < 1e-12);
}
