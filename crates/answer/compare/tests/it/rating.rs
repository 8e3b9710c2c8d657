//! Ratings: what their intervals cover where a clock or a neighbour moves all components of a round together, and how
//! often equal machines differ.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests and their helpers, and measured numbers are printed"
)]

use compare::{CompareOptions, CompareRow, GeometricMean, compare};
use model::{BenchmarkResult, Better, Class, Estimate, EstimateMethod, Metric, Outcome, Run, Sample, Unit};
use rand_chacha::ChaCha8Rng;
use stats::simulate::{generator, standard_normal};

use crate::common::{result, run};

const COMPONENTS: usize = 9;

/// Noise of a rating's samples, as standard deviations of logarithms.
#[derive(Debug, Clone, Copy)]
struct Moved {
    /// All components of a round alike.
    common: f64,
    /// Correlation of that between rounds.
    persistent: f64,
    /// Separate noise of each component: the first one, and three times as much for the last.
    own: f64,
    /// All components of a session alike.
    session: f64,
}

/// A component, or the mean of all, with the outcome that a run states for it.
fn rated(name: &str, values: &[f64]) -> BenchmarkResult {
    let metric = Metric { unit: Unit::Ratio, per: "reference machine".into(), better: Better::Higher };
    let found = stats::sample_median_interval(values, 0.95).or_else(|| stats::sample_median_range(values)).unwrap();
    let (interval, samples) = (found.interval, u32::try_from(values.len()).unwrap());
    let method = EstimateMethod::OrderStatistic;
    let (low, high, level) = (interval.low, interval.high, interval.level);
    let outcome = Outcome::Measured(Estimate { value: found.median, low, high, level, samples, batches: 1, method });
    let mut made = result(name, "copies=1", metric, Class::Application, &[], outcome);
    let sample = |(round, &value): (usize, &f64)| Sample { round: round as u32, value, ..Sample::default() };
    made.samples = values.iter().enumerate().map(sample).collect();
    made
}

/// The run of a rating of true value 1: the mean of its components, and the components.
fn rating(id: &str, session: &str, rounds: usize, moved: Moved, rng: &mut ChaCha8Rng) -> Run {
    let shift = moved.session * standard_normal(rng);
    let mut state = standard_normal(rng);
    let mut components = vec![Vec::new(); COMPONENTS];
    let mut means = Vec::new();
    for _ in 0..rounds {
        state = moved.persistent * state + (1.0 - moved.persistent * moved.persistent).sqrt() * standard_normal(rng);
        let mut sum = 0.0;
        for (at, values) in components.iter_mut().enumerate() {
            let own = moved.own * (1.0 + 2.0 * at as f64 / (COMPONENTS - 1) as f64);
            let log = shift + moved.common * state + own * standard_normal(rng);
            sum += log;
            values.push(log.exp());
        }
        means.push((sum / COMPONENTS as f64).exp());
    }
    let mut results = vec![rated("rating.int_1_speed", &means)];
    let component = |(at, values): (usize, &Vec<f64>)| rated(&format!("rating.int_1_c{at}_speed"), values);
    results.extend(components.iter().enumerate().map(component));
    run(id, "one machine", session, results)
}

/// Number of pairs of equal ratings whose printed values hold.
#[derive(Debug, Default)]
struct Held {
    /// The interval of a rating.
    rating: usize,
    /// The ratio of two ratings.
    ratio: usize,
    /// The geometric mean of all results.
    mean: usize,
    /// Pairs in which any result is called different.
    different: usize,
    /// Half the interval of the mean, summed over the pairs, as a logarithm.
    half: f64,
}

/// Pairs of ratings of `rounds` rounds; `change` alters the second run of each.
fn held(
    trials: usize,
    rounds: (usize, usize),
    sessions: [&str; 2],
    moved: Moved,
    change: impl Fn(&mut Run),
    rng: &mut ChaCha8Rng,
) -> Held {
    let mut held = Held::default();
    for _ in 0..trials {
        let first = rating("a", sessions[0], rounds.0, moved, rng);
        let mut second = rating("b", sessions[1], rounds.1, moved, rng);
        change(&mut second);
        let found = compare(&[&first, &second], &CompareOptions::default()).unwrap();
        let stated = first.results[0].outcome.estimate().unwrap();
        held.rating += usize::from((stated.low..=stated.high).contains(&1.0));
        let ratio = &found.rows[0].ratios[1];
        held.ratio += usize::from(ratio.low.zip(ratio.high).is_some_and(|(low, high)| (low..=high).contains(&1.0)));
        let all = |mean: &&GeometricMean| mean.family.is_none() && mean.value != 1.0;
        let mean = found.geometric_means.iter().find(all).unwrap();
        held.mean += usize::from((mean.low.unwrap()..=mean.high.unwrap()).contains(&1.0));
        held.half += (mean.high.unwrap() / mean.low.unwrap()).ln() / 2.0;
        let different = |row: &CompareRow| row.ratios[1].differs();
        held.different += usize::from(found.rows.iter().any(different));
    }
    held
}

const STILL: Moved = Moved { common: 0.0, persistent: 0.0, own: 0.01, session: 0.0 };

#[test]
fn means_of_components_that_move_together_cover_what_they_say() {
    let mut rng = generator(41);
    let trials = testing::trials(60, 400);
    let least = |promised: f64| (promised - (testing::at_most(promised, trials) - promised)) * trials as f64;
    // Noise that lasts for rounds leaves fewer effective ones.
    for (common, persistent, own, promised, alarms) in [
        (0.0, 0.0, 0.01, 0.93, 0.02),
        (0.01, 0.0, 0.01, 0.93, 0.02),
        (0.03, 0.0, 0.005, 0.93, 0.02),
        (0.03, 0.5, 0.005, 0.90, 0.05),
        (0.03, 0.5, 0.03, 0.90, 0.05),
        (0.03, 0.8, 0.005, 0.70, 0.14),
    ] {
        for rounds in [(10, 10), (14, 14), (20, 20), (40, 40), (8, 40)] {
            // The session noise of applications on bare metal is 1%.
            for (sessions, session) in [(["now", "now"], 0.0), (["now", "later"], 0.01)] {
                let moved = Moved { common, persistent, own, session };
                let found = held(trials, rounds, sessions, moved, |_| (), &mut rng);
                println!("TABLE {rounds:?} rounds, {sessions:?}, {moved:?}: {found:?} of {trials}");
                assert!(found.mean as f64 >= least(promised), "{rounds:?} {moved:?}: {found:?}");
                assert!(found.ratio as f64 >= least(promised), "{rounds:?} {moved:?}: {found:?}");
                assert!(session > 0.0 || found.rating as f64 >= least(promised), "{rounds:?} {moved:?}: {found:?}");
                assert!(
                    found.different as f64 <= testing::at_most(alarms, trials) * trials as f64,
                    "{moved:?}: {found:?}"
                );
            }
        }
    }
}

#[test]
fn independent_components_average_out() {
    let mut rng = generator(42);
    let found = held(20, (20, 20), ["now", "now"], STILL, |_| (), &mut rng);
    let alone = rating("a", "now", 20, STILL, &mut rng);
    let widest = alone.results[COMPONENTS].outcome.estimate().unwrap();
    assert!(found.half / 20.0 < 0.5 * widest.relative_half_width(), "{found:?}");
}

/// A component that is missing or failed on one machine is in no mean, and makes no other result different.
#[test]
fn what_one_machine_lacks_is_in_no_mean() {
    let mut rng = generator(43);
    let moved = Moved { common: 0.03, ..STILL };
    let trials = 40;
    let failed = |run: &mut Run| {
        for place in [0, 4] {
            run.results[place].outcome = Outcome::Failed("came to the checksum 0 where 1 is right".into());
            run.results[place].samples.clear();
        }
    };
    let missing = |run: &mut Run| drop(run.results.remove(4));
    let lacks: [&dyn Fn(&mut Run); 2] = [&failed, &missing];
    for lacks in lacks {
        let found = held(trials, (14, 20), ["now", "now"], moved, lacks, &mut rng);
        assert!(found.mean >= trials - 6 && found.different <= 4, "{found:?}");
    }
    let (first, mut second) = (rating("a", "now", 14, moved, &mut rng), rating("b", "now", 20, moved, &mut rng));
    failed(&mut second);
    let found = compare(&[&first, &second], &CompareOptions::default()).unwrap();
    let all = found.geometric_means.iter().find(|mean| mean.family.is_none() && mean.value != 1.0).unwrap();
    assert_eq!((all.results, all.left_out), (COMPONENTS - 1, 0), "{all:?}");
    assert_eq!((found.rows[0].ratios[1].verdict, found.rows[0].ratios[1].value), (None, None));
}
