//! How many results a limited run of the default suite settles, with simulated samples.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails, and says what it found")]

use measure::{MeasureSession, MockResult, MockSubject, NullObserver, RunRequest, Stopper, select};
use model::{Flag, Identity, Machine, Plan};
use stats::simulate::{Noise, generator};

use crate::session::Forgets;

/// Results that are settled, of how many, where samples take 20 ms to 0.8 s and scatter by 0.3% to 10%.
fn settled(seed: u64, limit: f64) -> (usize, usize) {
    use rand::Rng;
    let mut rng = generator(seed);
    let entries = select(Some("default"), &[], 0.02).unwrap();
    let checkpoints = model::checkpoints(320);
    let plan = Plan { seed, entries, checkpoints, time_limit: Some(limit), ..Plan::default() };
    let order = RunRequest::new(plan, Machine::default(), Identity::default(), vec![0, 1]).unwrap();
    let mut subject = MockSubject::new(seed, MockResult::stable(1e-7));
    for result in &order.run().results {
        let spread =
            |rng: &mut rand_chacha::ChaCha8Rng, low: f64, high: f64| low * (high / low).powf(rng.random::<f64>());
        let seconds = if rng.random_bool(0.8) { spread(&mut rng, 0.02, 0.1) } else { spread(&mut rng, 0.1, 0.8) };
        let noise = Noise { between: spread(&mut rng, 0.003, 0.1), ..Noise::stable(1e-7) };
        subject = subject
            .with(result.key(), MockResult { seconds, calibration: 2.0 * seconds, noise, ..MockResult::stable(1e-7) });
    }
    let ended =
        MeasureSession::measure(order, &mut subject, &mut NullObserver, &mut Forgets, Stopper::default()).unwrap();
    let done = |result: &&model::BenchmarkResult| !result.has(Flag::Unfinished) && result.is_within(0.02, 0.95);
    (ended.run.results.iter().filter(done).count(), ended.run.results.len())
}

#[test]
fn a_limited_run_settles_most_of_what_can_be_settled() {
    for (limit, fewest) in [(60.0, 3.0), (170.0, 34.0)] {
        let found: Vec<_> = (0..testing::trials(4, 20) as u64).map(|seed| settled(seed, limit)).collect();
        let mean = found.iter().map(|(settled, _)| *settled as f64).sum::<f64>() / found.len() as f64;
        println!("TABLE {limit} s: {mean:.1} of {} results are settled: {found:?}", found[0].1);
        assert!(mean >= fewest, "{limit} s: {mean}");
    }
}
