//! Reads the references every 2 ms: `references [SECONDS] [CPU]`; one line per reading with the clock (GHz), the
//! cycles per add and the instructions issued per cycle.
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
        let read = references.read_all().unwrap();
        let ratio = lengths.ratio(read.clock, read.contention);
        let issued = lengths.issued(read.clock, read.issue).unwrap_or(f64::NAN);
        println!("{:.4} {ratio:.5} {issued:.3}", lengths.hertz(read.clock) * 1e-9);
        std::thread::sleep(Duration::from_millis(2));
    }
}
