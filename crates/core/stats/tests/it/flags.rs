//! Flags of a result that are statements about its samples: how often they are raised where nothing of the kind is
//! there, and how often where it is. `validation/statistics.md` states the rates.

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use stats::drift::drifts;
use stats::order_statistic::{sample_median_interval, sample_median_range};
use stats::simulate::{Noise, generator, standard_normal};
use stats::steady_state::is_steady;
use stats::stop::TARGET;
use stats::{BAND, CALLING_LEVEL, FastBatches, decide_at_checkpoint, modes, modes_of_samples};

use crate::session::{consecutive, logs, resample, sessions};

/// Trials of a rate where tests that take long are to run.
const ALL: usize = 2000;
/// Numbers of samples that are tried.
const SAMPLES: [usize; 5] = [8, 20, 40, 100, 320];

/// Samples without a flag.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Normal,
    Lognormal,
    /// Student's distribution with three degrees of freedom.
    Student,
    /// Neighbours correlate by 0.3.
    Alike,
    /// Steps of a clock, two deviations wide.
    Ticks,
}

const KINDS: [Kind; 5] = [Kind::Normal, Kind::Lognormal, Kind::Student, Kind::Alike, Kind::Ticks];

/// Samples of a kind about 1 with a deviation between them, as a logarithm.
fn samples(kind: Kind, scale: f64, count: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let mut effect = standard_normal(rng);
    let of = |_| {
        let z = standard_normal(rng);
        effect = 0.3 * effect + (1.0_f64 - 0.3 * 0.3).sqrt() * z;
        match kind {
            Kind::Normal => (1.0 + scale * z).max(0.01),
            Kind::Lognormal => 1.0 + scale * z.exp(),
            Kind::Student => {
                let squares: f64 = (0..3).map(|_| standard_normal(rng).powi(2)).sum();
                (scale * z / (squares / 3.0).sqrt()).exp()
            }
            Kind::Alike => (scale * effect).exp(),
            Kind::Ticks => ((scale * z).exp() / (2.0 * scale)).round().max(1.0) * 2.0 * scale,
        }
    };
    (0..count).map(of).collect()
}

/// Times of samples a second apart, give or take, seconds.
fn times(count: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    (0..count).map(|at| at as f64 + 0.2 * rng.random::<f64>()).collect()
}

/// Number of trials for this sample count: long series are slow.
fn trials_of(all: usize, count: usize) -> usize {
    if count > 40 && all < ALL { all / 5 } else { all }
}

/// Share of trials in which something holds.
fn share(trials: usize, mut of: impl FnMut() -> bool) -> f64 {
    (0..trials).filter(|_| of()).count() as f64 / trials as f64
}

/// Half the interval at 95% of samples of a normal distribution, in their deviations.
fn half_width(count: usize) -> f64 {
    let mut rng = generator(90);
    let half = |_| {
        let values = samples(Kind::Normal, 0.001, count, &mut rng);
        let found = sample_median_interval(&values, 0.95).or_else(|| sample_median_range(&values));
        found.map_or(0.0, |found| found.interval.half_width() / 0.001)
    };
    (0..100).map(half).sum::<f64>() / 100.0
}

#[test]
fn no_drift_is_seldom_called_one() {
    let mut rng = generator(91);
    let all = testing::trials(150, ALL);
    for count in SAMPLES {
        let trials = trials_of(all, count);
        for kind in KINDS {
            let mut raised = |scale: f64, trials: usize| {
                share(trials, || drifts(&times(count, &mut rng), &logs(&samples(kind, scale, count, &mut rng)), BAND))
            };
            let (noisy, quiet) = (raised(0.1, trials), raised(0.003, trials / 10));
            println!("TABLE drift of {count} samples, {kind:?}: raised {noisy:.4} of {trials}, quiet {quiet:.3}");
            let promised = if kind == Kind::Alike { 0.02 } else { 0.01 };
            assert!(noisy <= testing::at_most(promised, trials), "{count} {kind:?}: {noisy}");
            // A movement below the margin is no drift.
            assert!(quiet == 0.0, "{count} {kind:?}: {quiet}");
        }
    }
}

#[test]
fn a_drift_is_found_the_oftener_the_larger_it_is() {
    let mut rng = generator(92);
    let all = testing::trials(150, ALL);
    for (count, two, four) in
        [(8, 0.04, 0.25), (20, 0.08, 0.55), (40, 0.08, 0.50), (100, 0.05, 0.40), (320, 0.05, 0.40)]
    {
        let (trials, half) = (trials_of(all, count), half_width(count));
        for (half_widths, promised) in [(2.0, two), (4.0, four)] {
            let mut found = |kind: Kind| {
                let change = 0.1 * half_widths * half;
                share(trials, || {
                    let still = logs(&samples(kind, 0.1, count, &mut rng));
                    let moved = |at: usize| still[at] + change * at as f64 / (count - 1) as f64;
                    drifts(&times(count, &mut rng), &(0..count).map(moved).collect::<Vec<f64>>(), BAND)
                })
            };
            let of: Vec<f64> = KINDS.into_iter().filter(|kind| *kind != Kind::Ticks).map(&mut found).collect();
            println!("TABLE drift of {count} samples by {half_widths} half-widths: found {of:.3?} of {trials}");
            let least = promised - (testing::at_most(promised, trials) - promised);
            assert!(of[0] >= least, "{count} samples, {half_widths} half-widths: {}", of[0]);
        }
    }
}

/// Samples of recorded sessions in random order, in which nothing drifts, and as recorded, in which some may.
#[test]
fn recorded_samples_seldom_drift() {
    let mut rng = generator(93);
    for count in SAMPLES {
        let each = if count > 40 { 4 } else { 20 };
        let (mut raised, mut all, mut in_order, mut starts) = (0, 0, 0, 0);
        for values in sessions().iter().flat_map(|session| session.results.values()) {
            let mut moves = |values: &[f64]| usize::from(drifts(&times(count, &mut rng), &logs(values), BAND));
            in_order += (0..(values.len() + 1).saturating_sub(count))
                .map(|start| moves(&consecutive(values, count, start)))
                .sum::<usize>();
            starts += (values.len() + 1).saturating_sub(count);
            for _ in 0..each {
                let drawn = resample(values, count, &mut rng);
                raised += usize::from(drifts(&times(count, &mut rng), &logs(&drawn), BAND));
            }
            all += each;
        }
        println!(
            "TABLE drift of {count} recorded samples: {raised} of {all} drawn, {in_order} of {starts} as recorded"
        );
        assert!(all == 0 || raised as f64 / all as f64 <= testing::at_most(0.01, all), "{count}: {raised} of {all}");
        assert!(in_order as f64 <= 0.1 * starts as f64, "{count}: {in_order} of {starts}");
    }
}

#[test]
fn one_level_is_seldom_two_modes() {
    let mut rng = generator(94);
    let all = testing::trials(150, ALL);
    for count in SAMPLES {
        let trials = trials_of(all, count);
        for kind in KINDS {
            let found = [0.003, 0.02, 0.1]
                .map(|scale| share(trials, || modes(&samples(kind, scale, count, &mut rng)).len() > 1));
            println!("TABLE modes of {count} samples, {kind:?}: {found:.4?} of {trials}");
            // Steps of a clock are levels, and of wide ones there are few.
            let most = if kind == Kind::Ticks { 1.0 } else { testing::at_most(0.05, trials) };
            assert!(found.iter().all(|one| *one <= most), "{count} {kind:?}: {found:?}");
        }
    }
}

/// Three samples in ten are slower by a ratio. Two levels that hardly differ are one result, whose interval is that of
/// the median of both.
#[test]
fn two_levels_are_modes_unless_they_hardly_differ() {
    let mut rng = generator(95);
    let all = testing::trials(150, ALL);
    for (count, promised) in [(8, 0.28), (20, 0.70), (40, 0.90), (100, 0.96), (320, 0.96)] {
        let trials = trials_of(all, count);
        for ratio in [1.03, 1.1, 2.5] {
            let noise =
                Noise { between: 0.003, disturbed: 0.0, second_share: 0.3, second_ratio: ratio, ..Noise::stable(1.0) };
            // With seven in ten at the lower level, the median of all is its quantile at 5/7.
            let median = (0.003 * 0.5659_f64).exp();
            let (mut several, mut missed) = (0, 0);
            for _ in 0..trials {
                let values = noise.samples(count, &mut rng);
                let slow = |value: &f64| Some(FastBatches { edge: *value, larger_is_slower: true });
                let batches: Vec<Option<FastBatches>> = values.iter().map(slow).collect();
                several += usize::from(modes_of_samples(&values, &batches).len() > 1);
                let found = decide_at_checkpoint(&values, &[], TARGET, 0.95).interval;
                missed += usize::from(found.is_some_and(|found| !found.interval.contains(median)));
            }
            let (several, missed) = (several as f64 / trials as f64, missed as f64 / trials as f64);
            println!("TABLE {count} samples at two levels x{ratio}: modes {several:.3}, median missed {missed:.4}");
            let least = promised - (testing::at_most(promised, trials) - promised);
            assert!(if ratio < 1.05 { several == 0.0 } else { several >= least }, "{count} x{ratio}: {several}");
            assert!(missed <= testing::at_most(0.05, trials), "{count} x{ratio}: {missed}");
        }
    }
}

/// Unconfirmed intervals cover as often as stated. A result twice as uncertain as its target is hardly ever called
/// converged.
#[test]
fn what_is_not_confirmed_holds_all_the_same() {
    let mut rng = generator(97);
    let all = testing::trials(150, ALL);
    for count in SAMPLES {
        let (trials, half) = (trials_of(all, count), half_width(count));
        for kind in KINDS.into_iter().filter(|kind| *kind != Kind::Ticks) {
            let (mut narrow, mut held) = (0, 0);
            for targets in [0.5, 0.8, 1.0, 1.25, 2.0] {
                let scale = targets * TARGET / half;
                let truth = if kind == Kind::Lognormal { 1.0 + scale } else { 1.0 };
                let (mut raised, mut called) = (0, 0);
                for _ in 0..trials {
                    let checkpoint = decide_at_checkpoint(&samples(kind, scale, count, &mut rng), &[], TARGET, 0.95);
                    let Some(found) = checkpoint.interval.map(|found| found.interval) else { continue };
                    called += usize::from(checkpoint.converged);
                    let unconfirmed = found.relative_half_width() <= TARGET && found.level < CALLING_LEVEL;
                    raised += usize::from(unconfirmed);
                    held += usize::from(unconfirmed && found.contains(truth));
                }
                narrow += raised;
                println!(
                    "TABLE {count} samples, {kind:?}, {targets} targets wide: {raised} not confirmed, {called} called \
                     of {trials}"
                );
                let most = testing::at_most(0.05, trials);
                assert!(
                    targets < 2.0 || (raised + called) as f64 <= most * trials as f64,
                    "{count} {kind:?}: {raised}"
                );
            }
            println!("TABLE {count} samples, {kind:?}: {held} of {narrow} not confirmed hold");
            let missed = (narrow - held) as f64 / narrow.max(1) as f64;
            assert!(missed <= testing::at_most(0.05, narrow.max(1)), "{count} {kind:?}: {held} of {narrow}");
        }
    }
}

/// Whether a warm-up ends at its cap of 40 batches, with batches that grow by `growth` and scatter.
fn is_capped(kind: Kind, scatter: f64, growth: f64, rng: &mut ChaCha8Rng) -> bool {
    let still = samples(kind, scatter, 40, rng);
    let batches: Vec<f64> = still.iter().enumerate().map(|(at, one)| one * (-growth * at as f64).exp()).collect();
    !(8..=40).any(|done| is_steady(&batches[..done]))
}

#[test]
fn a_warm_up_ends_at_its_cap_where_batches_go_on_changing() {
    let mut rng = generator(98);
    let trials = testing::trials(300, ALL);
    let mut capped = |kind, scatter, growth| share(trials, || is_capped(kind, scatter, growth, &mut rng));
    for kind in KINDS {
        let of = [0.01, 0.05, 0.1, 0.2, 0.5].map(|scatter| capped(kind, scatter, 0.0));
        println!("TABLE warm-up capped, batches scatter by 1, 5, 10, 20, 50%, {kind:?}: {of:.4?}");
        assert!(of[..3].iter().all(|one| *one <= testing::at_most(0.005, trials)), "{kind:?}: {of:?}");
        // A result is flagged where most of its samples were.
        assert!(of[4] < 0.45, "{kind:?}: {of:?}");
    }
    for growth in [0.004, 0.006, 0.008, 0.01, 0.02, 0.04] {
        let of = [0.002, 0.01, 0.05].map(|scatter| capped(Kind::Normal, scatter, growth));
        println!("TABLE warm-up capped, {growth} a batch, batches scatter by 0.2, 1, 5%: {of:.3?}");
        assert!(growth < 0.02 || of[1] > 0.98, "{growth}: {of:?}");
        assert!(growth > 0.004 || of.iter().all(|one| *one < 0.01), "{growth}: {of:?}");
    }
}
