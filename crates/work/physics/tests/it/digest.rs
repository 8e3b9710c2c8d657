//! Digests depend on seed and events alone.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use physics::{Digest, Workload};

fn digest(workload: Workload, first: u64, count: u64) -> Digest {
    workload.prepare(1, first, count).run().unwrap().digest
}

#[test]
fn the_union_does_not_depend_on_the_split() {
    for workload in [Workload::Simulate, Workload::Reconstruct] {
        let whole = digest(workload, 0, 9);
        let parts = [(5, 4), (0, 2), (2, 3)].map(|(first, count)| digest(workload, first, count));
        assert_eq!(parts.into_iter().fold(Digest::default(), Digest::plus), whole);
        assert_ne!(digest(workload, 0, 8), whole);
        assert_ne!(workload.prepare(2, 0, 9).run().unwrap().digest, whole);
    }
}

/// The digests of 20 events of each workload, equal on every machine, compiler and optimisation level.
const BITS: [&str; 3] = ["65472b8e01bd58bb", "e6b9fe2d121eb0d2", "4f05b8fd9a84e5ea"];

#[test]
fn the_bits_are_frozen() {
    let found = [Workload::Simulate, Workload::Reconstruct, Workload::Analyse].map(|w| digest(w, 0, 20).to_string());
    assert_eq!(found, BITS);
}

/// Builds the workloads again at another optimisation level, including `libm`, and compares the digests.
#[test]
fn the_optimisation_level_does_not_change_the_bits() {
    if !testing::slow("the workloads are built twice") {
        return;
    }
    let folder = concat!(env!("CARGO_TARGET_TMPDIR"), "/level");
    for level in ["0", "1"] {
        let mut cargo = std::process::Command::new(env!("CARGO"));
        cargo.args(["run", "--quiet", "--offline", "--locked", "--package", "prony-physics", "--example", "digests"]);
        for package in ["prony-physics", "libm"] {
            cargo.args(["--config", &format!("profile.dev.package.{package}.opt-level={level}")]);
        }
        cargo.args(["--target-dir", &format!("{folder}-{level}")]).current_dir(env!("CARGO_MANIFEST_DIR"));
        let output = cargo.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(said.lines().collect::<Vec<_>>(), BITS, "level {level}");
    }
}
