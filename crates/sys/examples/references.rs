//! Reads the references every 2 ms: `references [SECONDS] [CPU]`; one line per reading with the clock (GHz), the
//! cycles per add, the instructions issued per cycle and, on x86-64, the branches taken per cycle.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr, reason = "a program for people")]

use std::time::Duration;

use sys::kernel::core_reference::CoreReferences;

/// Turns of the loop of one branch.
const TURNS: u64 = 20_000;

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
        let began = sys::clock::now();
        let left = turns(TURNS);
        let nanos = (sys::clock::now() - began) as f64;
        let ratio = lengths.ratio(read.clock, read.contention);
        let issued = lengths.issued(read.clock, read.issue).unwrap_or(f64::NAN);
        let gigahertz = lengths.hertz(read.clock) * 1e-9;
        let taken = (TURNS - left) as f64 / (nanos * gigahertz);
        println!("{gigahertz:.4} {ratio:.5} {issued:.3} {taken:.3}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A loop of nothing but its branch, which cores take once a cycle. Returns the turns that are left, none.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn turns(turns: u64) -> u64 {
    let mut left = turns;
    // SAFETY: the assembly touches the one declared register and no memory.
    unsafe {
        std::arch::asm!(".p2align 6", "2:", "dec {left}", "jnz 2b", left = inout(reg) left, options(nomem, nostack));
    }
    left
}

#[cfg(not(target_arch = "x86_64"))]
fn turns(turns: u64) -> u64 {
    turns
}
