//! The reference population: runs of current machines that come with the program, and a public table.

use std::sync::LazyLock;

use check::PublicTable;
use model::Run;

/// Runs of Prony on current machines, made shareable.
const RUNS: &[&[u8]] = include!(concat!(env!("OUT_DIR"), "/reference_runs.rs"));

/// Every reference run that this version can read.
pub(crate) fn runs() -> Vec<Run> {
    RUNS.iter().filter_map(|bytes| store::parse_document(bytes, "a reference run").ok()).collect()
}

/// The public table of Spare Cores, whose licence its first line states.
pub(crate) fn table() -> &'static PublicTable {
    static TABLE: LazyLock<PublicTable> =
        LazyLock::new(|| PublicTable::parse(include_str!("../published/reference/sparecores.csv")));
    &TABLE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_run_is_read_and_tells_nobody() {
        let read = runs();
        assert!(!read.is_empty() && read.len() == RUNS.len());
        // The program contains them.
        assert!(RUNS.iter().all(|bytes| bytes.len() < 128 << 10));
        for run in &read {
            assert!(run.machine.name.starts_with("machine-") && run.plan.directory.is_none(), "{}", run.machine.name);
        }
        assert!(table().machines.len() > 3000);
    }
}
