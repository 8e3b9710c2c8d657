//! Prints the digests of a few events of each workload: what builds at every level must agree on.
#![allow(clippy::print_stdout, reason = "an example says what it found")]

use physics::{NAMES, Workload};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for workload in NAMES.iter().filter_map(|name| Workload::by_name(name)) {
        println!("{}", workload.prepare(1, 0, 20).run()?.digest);
    }
    Ok(())
}
