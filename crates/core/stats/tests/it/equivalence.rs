//! Verdicts on simulated machines with known truth.
#![expect(clippy::unwrap_used, reason = "simulated samples always compare")]

use rand_chacha::ChaCha8Rng;
use stats::simulate::{Noise, generator, standard_normal};
use stats::{BAND, EquivalenceVerdict, Floor, RatioEstimate, compare, verdict};

/// Pairs of sessions that a share is of.
fn trials() -> usize {
    testing::trials(400, 1500)
}

/// Logarithms of 20 samples of a session whose level is off by `effect`, on a machine that is `shift` slower.
fn session(shift: f64, effect: f64, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let level = (shift + effect * standard_normal(rng)).exp();
    Noise::stable(level).samples(20, rng).iter().map(|v| v.ln()).collect()
}

/// Share of trials in which `claim` holds for two sessions `shift` apart, whose levels are off by `effect`.
fn share(
    trials: usize,
    shift: f64,
    effect: f64,
    mut floor: impl FnMut(&mut ChaCha8Rng) -> Floor,
    claim: fn(&RatioEstimate) -> bool,
) -> f64 {
    let mut rng = generator(77);
    let hits = (0..trials)
        .filter(|_| {
            let floor = floor(&mut rng);
            let (a, b) = (session(0.0, effect, &mut rng), session(shift, effect, &mut rng));
            claim(&compare(&a, &b, floor, 0.95).unwrap())
        })
        .count();
    hits as f64 / trials as f64
}

fn significant(c: &RatioEstimate) -> bool {
    c.p_value <= 0.05
}

fn different(c: &RatioEstimate) -> bool {
    verdict(c, c.p_value, BAND) == EquivalenceVerdict::Different
}

fn same(c: &RatioEstimate) -> bool {
    verdict(c, c.p_value, BAND) == EquivalenceVerdict::NoChange
}

#[test]
fn sessions_of_one_machine_are_rarely_significant() {
    let trials = trials();
    let five_percent = testing::at_most(0.05, trials);
    for effect in [0.002, 0.005, 0.02, 0.05] {
        let known = share(trials, 0.0, effect, |_| Floor::known(effect), significant);
        let none = share(trials, 0.0, effect, |_| Floor::NONE, significant);
        println!("sessions off by {effect}: significant {known:.3} with the floor, {none:.3} without");
        assert!(known <= five_percent, "{effect}: {known}");
        for sessions in [3, 5, 10] {
            let estimated = |rng: &mut ChaCha8Rng| {
                let past: Vec<(f64, f64)> =
                    (0..sessions).map(|_| effect * standard_normal(rng)).map(|log| (log, 0.0)).collect();
                Floor::from_sessions(&past).unwrap()
            };
            let rate = share(trials, 0.0, effect, estimated, significant);
            println!("  floor estimated from {sessions} sessions: {rate:.3}");
            assert!(rate <= five_percent, "{effect}, {sessions} sessions: {rate}");
        }
    }
}

#[test]
fn the_errors_of_earlier_sessions_are_not_counted_twice() {
    const APART: f64 = 0.006;
    let trials = trials();
    let five_percent = testing::at_most(0.05, trials);
    // The median of 20 samples of a session, and its standard error by order statistics, taken as an interval of 99.7%.
    // A median scatters more than the shift of two samples, and the correction must not be too large.
    let past = |effect: f64, rng: &mut ChaCha8Rng| {
        let mut logs = session(0.0, effect, rng);
        logs.sort_by(f64::total_cmp);
        (stats::median(&logs).unwrap(), (logs[15] - logs[4]) / 2.0 / 2.968)
    };
    for effect in [0.0, 0.0005, 0.001, 0.002, 0.01] {
        for sessions in [3, 5, 12] {
            let estimated = |rng: &mut ChaCha8Rng| {
                let past: Vec<(f64, f64)> = (0..sessions).map(|_| past(effect, rng)).collect();
                Floor::from_sessions(&past).unwrap()
            };
            let twice = |rng: &mut ChaCha8Rng| Floor { own: 0.0, ..estimated(rng) };
            let rates = [0.0, APART].map(|apart| {
                [share(trials, apart, effect, estimated, significant), share(trials, apart, effect, twice, significant)]
            });
            println!(
                "{effect}, {sessions} sessions: {rates:.3?} with the errors counted once and twice, equal and {APART} apart"
            );
            assert!(rates[0][0] <= five_percent, "{effect}, {sessions} sessions: {rates:?}");
            assert!(rates[1][0] >= rates[1][1], "{effect}, {sessions} sessions: {rates:?}");
        }
    }
}

#[test]
fn claims_are_rarely_false_and_often_made() {
    let trials = trials();
    let five_percent = testing::at_most(0.05, trials);
    let floor = |_: &mut ChaCha8Rng| Floor::known(0.003);
    // The worst case of a claim is the edge of the margin.
    let (false_same, false_different) =
        (share(trials, BAND, 0.003, floor, same), share(trials, BAND, 0.003, floor, different));
    let (true_same, true_different) =
        (share(trials, 0.0, 0.003, floor, same), share(trials, 0.05, 0.003, floor, different));
    println!("on the edge: no change {false_same:.3}, different {false_different:.3}");
    println!("equal: no change {true_same:.3}; 5% apart: different {true_different:.3}");
    assert!(false_same <= five_percent && false_different <= five_percent);
    assert!(true_same >= 0.8 && true_different >= 0.9);
}
