//! The same work is provable: digests depend on seed and events alone.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use physics::{Digest, Workload};

fn digest(workload: Workload, first: u64, count: u64) -> Digest {
    workload.prepare(1, first, count).run().unwrap().digest
}

#[test]
fn the_union_does_not_depend_on_who_did_what() {
    for workload in [Workload::Simulate, Workload::Reconstruct] {
        let whole = digest(workload, 0, 30);
        let parts = [(17, 13), (0, 5), (5, 12)].map(|(first, count)| digest(workload, first, count));
        assert_eq!(parts.into_iter().fold(Digest::default(), Digest::plus), whole);
        assert_ne!(digest(workload, 0, 29), whole);
        assert_ne!(workload.prepare(2, 0, 30).run().unwrap().digest, whole);
    }
}

/// Bits that every machine, compiler and level of optimisation must find.
#[test]
fn the_bits_are_frozen() {
    let found = [Workload::Simulate, Workload::Reconstruct, Workload::Analyse].map(|w| digest(w, 0, 20).to_string());
    assert_eq!(found, ["1c94c6f4663e84cb", "758b03abe3d439f4", "4f05b8fd9a84e5ea"]);
}
