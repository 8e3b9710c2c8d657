//! Reads the references every 2 ms: `references [SECONDS] [CPU]`; one line per reading with the clock (GHz) and the
//! cycles per add.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr, reason = "a program for people")]

use std::time::Duration;

use sys::kernel::core_reference::CoreReferences;

fn main() {
    let number = |at: usize| std::env::args().nth(at).and_then(|text| text.parse::<u64>().ok());
    if let Some(cpu) = number(2) {
        sys::affinity::pin(&[cpu as usize]).unwrap();
    }
    let references = CoreReferences::calibrate().unwrap();
    let lengths = references.lengths();
    eprintln!("{lengths:?}");
    let until = sys::clock::now() + number(1).unwrap_or(2) * 1_000_000_000;
    while sys::clock::now() < until {
        let read = references.read().unwrap();
        let ratio = lengths.ratio(read.clock_nanos, read.contention_nanos);
        println!("{:.4} {ratio:.5}", lengths.hertz(read.clock_nanos) * 1e-9);
        std::thread::sleep(Duration::from_millis(2));
    }
}
