//! Prints the digests of a few events of each workload, which must be the same at every optimisation level.
#![allow(clippy::print_stdout, reason = "an example prints its result")]

use physics::{NAMES, Workload};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for workload in NAMES.iter().filter_map(|name| Workload::by_name(name)) {
        println!("{}", workload.prepare(1, 0, 20).run()?.digest);
    }
    Ok(())
}
