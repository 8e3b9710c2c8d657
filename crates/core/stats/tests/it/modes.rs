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

/// Largest share that chance allows for a promised share in this many trials.
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
            let some = rate(trials, seed, |r| disturbed(0.1, 0.3).samples(n, r));
            let many = rate(trials, seed, |r| disturbed(0.2, 0.5).samples(n, r));
            let alike =
                rate(trials, seed, |r| Noise { correlation: 0.7, disturbed: 0.0, ..disturbed(0.0, 0.0) }.samples(n, r));
            println!(
                "{n} samples, {name}: uniform {uniform:.4} normal {normal:.4} t3 {t:.4} exponential {exponential:.4} disturbed 10% {some:.4} disturbed 20% {many:.4} correlated {alike:.4}"
            );
            for share in [uniform, normal, t, exponential, some, many, alike] {
                worst = worst.max(share);
            }
        }
    }
    println!("largest share of false modes: {worst:.4}");
    // Uniform values are the worst of one mode. The worst of 105 shares of few trials lies above their mean.
    assert!(worst <= testing::at_most(0.05, trials / 2), "{worst}");
}

#[test]
fn two_placements_are_two_modes() {
    let trials = trials();
    for (n, promised) in [(10, 0.40), (14, 0.58), (20, 0.74), (40, 0.93), (80, 0.97)] {
        for share in [0.3, 0.5] {
            let noise = Noise { between: 0.02, second_share: share, second_ratio: 70.0 / 6.5, ..Noise::stable(6.5) };
            let found = rate(trials, 11, |r| noise.samples(n, r));
            println!("{n} samples, second mode {share}: found {found:.3}");
            assert!(found >= kept(promised, trials), "{n} samples, share {share}: {found}");
        }
    }
}

/// Three samples in ten lie a tenth higher.
#[test]
fn levels_a_tenth_apart_are_found() {
    let trials = trials();
    for (n, promised) in [(14, 0.45), (20, 0.60), (40, 0.85), (80, 0.95)] {
        let noise =
            Noise { between: 0.005, disturbed: 0.0, second_share: 0.3, second_ratio: 1.1, ..Noise::stable(1.0) };
        let found = rate(trials, 12, |r| noise.samples(n, r));
        println!("TABLE {n} samples, three in ten a tenth higher: found {found:.3}");
        assert!(found >= kept(promised, trials), "{n} samples: {found}");
    }
}

/// The limit of the dip is the 95% quantile for uniform values, which the rules state by its asymptotic form.
#[test]
fn the_limit_of_the_dip_holds_for_uniform_values() {
    let trials = testing::trials(600, 20_000);
    for n in [8, 14, 40, 80, 320] {
        let trials = if n > 80 { trials / 4 } else { trials };
        // Far apart and in random order, so that neither the ratio nor the order of time says no.
        let found = rate(trials, 14, |r| (0..n).map(|_| (8.0 * r.random::<f64>()).exp()).collect());
        println!("TABLE {n} uniform values: {found:.4} called modes");
        assert!(found <= testing::at_most(0.05, trials) && found > 0.015, "{n}: {found}");
    }
}

#[test]
fn members_of_modes_are_all_samples_once() {
    let noise = Noise { second_share: 0.4, second_ratio: 3.0, ..Noise::stable(1.0) };
    let values = noise.samples(40, &mut generator(3));
    let found = modes(&values);
    let mut members: Vec<usize> = found.iter().flat_map(|m| m.samples.clone()).collect();
    members.sort_unstable();
    assert_eq!(members, (0..40).collect::<Vec<_>>());
    assert!((found.iter().map(|m| m.share).sum::<f64>() - 1.0).abs() < 1e-12);
}
