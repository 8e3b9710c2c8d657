//! Time per operation of every counted loop that this CPU can run: for tuning them, not for reports.
//!
//! `counted [part of a name]` prints nanoseconds per operation, and operations and floating-point operations per second
//! in 10^9, of the best of several runs.

#![expect(clippy::print_stdout, reason = "a program for people")]

use sys::kernel::counted;

fn main() -> sys::Result<()> {
    let part = std::env::args().nth(1).unwrap_or_default();
    sys::affinity::pin(&sys::affinity::allowed()?[..1])?;
    for one in counted::all().filter(|one| one.name.contains(&part) && one.check().is_ok()) {
        let mut turns = 1_000;
        let mut nanos = time(one, turns)?;
        while nanos < 2_000_000 {
            turns *= 2;
            nanos = time(one, turns)?;
        }
        for _ in 0..20 {
            nanos = nanos.min(time(one, turns)?);
        }
        let (ops, flops) = ((turns * one.turn.ops) as f64, (turns * one.turn.flops) as f64);
        let nanos = nanos as f64;
        println!("{:24} {:9} {:9.4} {:9.3} {:9.3}", one.name, one.isa, nanos / ops, ops / nanos, flops / nanos);
    }
    Ok(())
}

fn time(one: &counted::CountedLoop, turns: u64) -> sys::Result<u64> {
    let start = sys::clock::now();
    std::hint::black_box(one.run(turns)?);
    Ok(sys::clock::now() - start)
}
