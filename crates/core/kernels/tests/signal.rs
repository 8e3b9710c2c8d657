//! Signals arrive and are counted, and previous actions are restored. One function, because actions belong to the whole
//! process.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "all of this is a test")]

use kernels::signal::{ProtectionFault, Signal, SignalCounter};

#[test]
fn signals() {
    handlers_count_and_exclude_each_other();
    protection_faults_are_exact();
}

fn wait_for(counted: &SignalCounter, count: u64) {
    let start = kernels::clock::now();
    while counted.count() < count && kernels::clock::now() - start < 5_000_000_000 {
        std::thread::yield_now();
    }
    assert_eq!(counted.count(), count);
}

fn handlers_count_and_exclude_each_other() {
    let counted = SignalCounter::install(Signal::User1).unwrap();
    assert!(SignalCounter::install(Signal::User1).is_err());
    let other = SignalCounter::install(Signal::User2).unwrap();
    for round in 1..=10 {
        counted.send().unwrap();
        counted.send_nothing().unwrap();
        counted.reinstall().unwrap();
        wait_for(&counted, round);
    }
    assert_eq!(other.count(), 0);
    drop(counted);
    assert_eq!(SignalCounter::install(Signal::User1).unwrap().count(), 0);
    assert!(SignalCounter::install(Signal::Kill).is_err());
    assert!(SignalCounter::install(Signal::Stop).is_err());
}

fn protection_faults_are_exact() {
    let mut faults = ProtectionFault::prepare().unwrap();
    assert!(ProtectionFault::prepare().is_err());
    for count in [1, 2, 1000, 0] {
        assert_eq!(faults.raise(count).unwrap(), count.max(1));
    }
    drop(faults);
    let mut again = ProtectionFault::prepare().unwrap();
    assert_eq!(again.raise(3).unwrap(), 3);
}
