//! Correlated samples: false alarms of equal things, and sensitivity with independent ones.
#![expect(clippy::unwrap_used, reason = "simulated samples always compare")]

use rand_chacha::ChaCha8Rng;
use stats::order_statistic::{sample_median_interval, sample_median_range};
use stats::simulate::{Noise, generator, standard_normal};
use stats::{BAND, EquivalenceVerdict, Floor, compare, verdict};

/// Standard deviation of samples, as a logarithm: far above the margin, which would hide smaller false alarms.
const SPREAD: f64 = 0.1;

/// Logarithms of samples whose neighbours correlate by so much.
fn correlated(samples: usize, correlation: f64, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let noise = Noise { between: SPREAD, correlation, disturbed: 0.0, ..Noise::stable(1.0) };
    noise.samples(samples, rng).iter().map(|value| value.ln()).collect()
}

/// Logarithms of samples at one of two levels, between which a tenth of them changes.
fn stepping(samples: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let mut level = standard_normal(rng).signum();
    let mut one = |_| {
        if standard_normal(rng) < -1.2816 {
            level = -level;
        }
        SPREAD * (level + 0.5 * standard_normal(rng))
    };
    (0..samples).map(&mut one).collect()
}

/// Shares of pairs of equal things that are significant at 5%, and that are called different.
fn called(trials: usize, mut side: impl FnMut() -> Vec<f64>) -> (f64, f64) {
    let (mut significant, mut different) = (0, 0);
    for _ in 0..trials {
        let found = compare(&side(), &side(), Floor::NONE, 0.95).unwrap();
        significant += usize::from(found.p_value <= 0.05);
        different += usize::from(verdict(&found, found.p_value, BAND) == EquivalenceVerdict::Different);
    }
    (significant as f64 / trials as f64, different as f64 / trials as f64)
}

#[test]
fn equals_whose_samples_resemble_their_neighbours_are_rarely_called_different() {
    let trials = testing::trials(300, 4000);
    let mut rng = generator(31);
    for correlation in [0.0, 0.3, 0.6, 0.7, 0.8] {
        let (mut sum, mut cells) = (0.0, 0.0);
        for samples in [6, 8, 10, 14, 20, 28, 40, 60] {
            let (significant, different) = called(trials, || correlated(samples, correlation, &mut rng));
            println!(
                "TABLE equals, neighbours correlate by {correlation}, {samples} samples: significant {significant:.3}, different {different:.3}"
            );
            if samples >= 14 {
                (sum, cells) = (sum + significant, cells + 1.0);
            }
        }
        let mean = sum / cells;
        // With the factor on the standard error alone 8.2% at 0.7, and 11.4% at 0.8.
        let most = if correlation > 0.7 { 0.07 } else { 0.06 };
        let of = trials * 5;
        assert!(mean <= testing::at_most(most, of), "{mean} of {of} at a correlation of {correlation}");
    }
    for samples in [10, 20, 40] {
        let (significant, _) = called(trials, || stepping(samples, &mut rng));
        println!("TABLE equals at two levels, {samples} samples: significant {significant:.3}");
    }
}

/// A few samples that look correlated by chance must not hide a large difference.
#[test]
fn what_lies_far_apart_is_found() {
    let trials = testing::trials(400, 4000);
    let mut rng = generator(34);
    for samples in [8, 10, 14, 20] {
        let found = (0..trials).filter(|_| {
            let (a, mut b) = (correlated(samples, 0.0, &mut rng), correlated(samples, 0.0, &mut rng));
            b.iter_mut().for_each(|value| *value += 10.0 * SPREAD);
            compare(&a, &b, Floor::NONE, 0.95).unwrap().interval.low > 0.0
        });
        let share = found.count() as f64 / trials as f64;
        println!("TABLE ten deviations apart, {samples} samples: found {share:.4}");
        assert!(share > 0.99, "{samples} samples: {share}");
    }
}

#[test]
fn independent_samples_find_what_they_found() {
    let trials = testing::trials(400, 4000);
    let mut rng = generator(32);
    // The shift that a test finds in about seven, eight and nine of ten cases, and the share that it finds if
    // correlation costs no degrees of freedom.
    for (samples, before) in [(10, 0.70), (14, 0.77), (20, 0.82), (40, 0.86)] {
        let shift = 3.4 * (2.0 / samples as f64).sqrt() * SPREAD;
        let found = (0..trials).filter(|_| {
            let (a, mut b) = (correlated(samples, 0.0, &mut rng), correlated(samples, 0.0, &mut rng));
            b.iter_mut().for_each(|value| *value += shift);
            compare(&a, &b, Floor::NONE, 0.95).unwrap().p_value <= 0.05
        });
        let share = found.count() as f64 / trials as f64;
        println!("TABLE independent, {samples} samples: found {share:.3}, before {before}");
        let error = 3.0 * (before * (1.0 - before) / trials as f64).sqrt();
        assert!(share >= before - 0.04 - error, "{samples} samples: {share}, {before} before");
    }
}

/// A printed interval at 95%, or a min-max range with its own level, misses no more often than stated.
#[test]
fn intervals_of_one_run_keep_what_they_say() {
    let trials = testing::trials(400, 4000);
    let mut rng = generator(33);
    for correlation in [0.0, 0.3, 0.6, 0.7, 0.8] {
        for samples in [6, 8, 10, 14, 20, 28, 40, 60] {
            let (mut said, mut covered, mut full, mut full_covered) = (0.0, 0.0, 0.0, 0.0);
            for _ in 0..trials {
                let values = correlated(samples, correlation, &mut rng);
                let at_level = sample_median_interval(&values, 0.95);
                let found = at_level.or_else(|| sample_median_range(&values)).unwrap();
                let covers = f64::from(found.interval.contains(0.0));
                said += found.interval.level;
                covered += covers;
                if at_level.is_some() {
                    (full, full_covered) = (full + 1.0, full_covered + covers);
                }
            }
            let of = trials as f64;
            let (said, covered) = (said / of, covered / of);
            println!(
                "TABLE one run, correlation {correlation}, {samples} samples: says {said:.3}, covers {covered:.3}; at 95% {:.3}, of which {:.3} cover",
                full / of,
                full_covered / full
            );
            let short = 3.0 * (said * (1.0 - said) / of).sqrt();
            assert!(correlation > 0.7 || covered >= said - short, "{samples} samples, {correlation}: {covered}");
        }
    }
}
