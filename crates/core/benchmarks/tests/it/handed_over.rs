//! A kernel that offers the CPU knows when others took it.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test that cannot go on fails; what was not conclusive is said"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use benchmarks::{BenchmarkContext, Kernel, SampleSetting, Trial};
use model::Parameters;

/// Calls of a batch: a millisecond or two on a free CPU, minutes next to a busy thread.
const CALLS: u64 = 10_000;

/// Calls that one batch did, and whether it was handed over.
fn batch(kernel: &mut dyn Kernel) -> (u64, bool) {
    let before = kernel.handed_over();
    kernel.ready(CALLS).unwrap();
    let done = kernel.batch(CALLS).unwrap();
    kernel.check(&done).unwrap();
    (done.ops, kernel.handed_over() > before)
}

#[test]
fn a_yield_to_a_busy_thread_is_no_yield_without_one() {
    let cpu = kernels::affinity::allowed().unwrap()[0];
    kernels::affinity::pin(&[cpu]).unwrap();
    let mut context = BenchmarkContext::new(SampleSetting {
        seed: 1,
        cpus: vec![cpu],
        allowed: vec![cpu],
        cache: 0,
        directory: ".".into(),
        variant: None,
        calibrating: false,
    });
    let benchmark = benchmarks::find("os.yield").unwrap();
    let Trial::One(mut kernel) = (benchmark.prepare)(&Parameters::default(), &mut context).unwrap() else {
        panic!("one kernel")
    };
    let over = Arc::new(AtomicBool::new(false));
    let busy = {
        let over = Arc::clone(&over);
        // On the same CPU, which it has from the thread that starts it.
        std::thread::spawn(move || while !over.load(Ordering::Relaxed) {})
    };
    for _ in 0..3 {
        let (calls, handed_over) = batch(kernel.as_mut());
        assert!(handed_over && calls < CALLS, "{calls} of {CALLS} calls beside a busy thread");
    }
    over.store(true, Ordering::Relaxed);
    busy.join().unwrap();
    // Alone it is not, where other programs leave it the CPU.
    for _ in 0..20 {
        let (calls, handed_over) = batch(kernel.as_mut());
        if !handed_over {
            assert_eq!(calls, CALLS);
            return;
        }
    }
    eprintln!("INCONCLUSIVE: other programs wanted the CPU in each of 20 batches");
}
