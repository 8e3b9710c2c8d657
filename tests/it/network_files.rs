//! Work on files of the local disk and of network file systems: a real NFS client of the kernel in a guest, and sshfs.
//! The file system of the input is taken from the reports themselves, so that a failed mount never passes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr, reason = "a test that cannot go on fails")]

use crate::common;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use crate::common::{Answer, Place};
use serde_json::Value;

const EVENTS: &str = "12000";
const CHUNK: &str = "1000";

/// One laboratory after the other: each needs all CPUs.
static ONE: Mutex<()> = Mutex::new(());

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/labs").join(name)
}

/// Whether a laboratory could not be built for a reason outside the program, which is printed.
fn excused(answer: &Answer) -> bool {
    let excuses = [
        "needs root",
        "could not install",
        "no apt-get",
        "knows Debian's kernel",
        "Operation not permitted",
        "could not mount",
    ];
    let excused = answer.code != Some(0) && excuses.iter().any(|excuse| answer.err.contains(excuse));
    if excused {
        testing::skip!("{}", answer.err.trim());
    }
    excused
}

fn write_input(place: &Place, folder: &Path) {
    let folder = folder.to_str().unwrap();
    place.ask(&["farm", "input", folder, "--events", EVENTS, "--chunk", CHUNK]).fine();
}

/// A farm's report about its input: file system, efficiency with its interval, digest.
fn told(report: &Value) -> (String, [f64; 3], String) {
    let notes = report["inputs"].as_array().unwrap().iter().map(|note| note.as_str().unwrap()).collect::<Vec<_>>();
    let results = report["run"]["results"].as_array().unwrap();
    let all = |result: &&Value| result["benchmark"] == "farm.efficiency" && result["parameters"]["node"] == "all";
    let measured = common::estimate(results.iter().find(all).unwrap()).unwrap();
    let efficiency = ["low", "value", "high"].map(|key| measured[key].as_f64().unwrap());
    // Twelve chunks have an interval, at whatever confidence is possible.
    assert!(efficiency[0] < efficiency[2], "{measured}");
    assert!(efficiency[0] <= efficiency[1] && efficiency[1] <= efficiency[2], "{measured}");
    assert_eq!(report["broken"].as_array().map(Vec::len), Some(0), "{report}");
    (notes.join("; "), efficiency, report["digest"].as_str().unwrap().to_owned())
}

#[test]
fn input_over_a_real_nfs_is_named_with_its_efficiency_and_reason() {
    if !testing::slow("a machine with a kernel of its own is emulated; sshfs stands for network file systems") {
        return;
    }
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let place = Place::new();
    let lab = place.file("lab");
    write_input(&place, &place.file("input"));
    let copied = Command::new("sh")
        .arg("-c")
        .arg("mkdir -p lab/export && cp -r input lab/export/")
        .current_dir(place.path())
        .status();
    assert!(copied.unwrap().success());
    let farm = format!("prony farm run builtin:analyse --events {EVENTS} --chunk {CHUNK} --format json --no-store");
    let body = format!(
        "set -e\nfor place in disk nfs3 nfs4; do\n echo 3 >/proc/sys/vm/drop_caches\n \
         {farm} --input /$place/input --ledger /tmp/$place.ledger --output /tmp/$place.json | tr -d '\\n'\n echo\ndone\n"
    );
    std::fs::write(place.file("script"), body).unwrap();
    let mut run = Command::new(script("nfs.sh"));
    run.arg("run").arg(place.file("script")).arg(place.file("input"));
    run.env("LAB", &lab).env("PROGRAM", env!("CARGO_BIN_EXE_prony"));
    let answer = Answer::of(run.output().unwrap());
    if excused(&answer) {
        return;
    }
    let reports: Vec<Value> = answer.fine().out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let found: Vec<_> = reports.iter().map(told).collect();
    let expected =
        ["input on ext4 (/dev/vda at /disk)", "input on nfs (10.0.2.2:", "input on nfs4 (10.0.2.2:/export at /nfs4)"];
    for ((notes, [low, value, high], digest), expected) in found.iter().zip(expected) {
        eprintln!("{expected}: efficiency {value:.3} ({low:.3} to {high:.3}); {notes}");
        assert!(notes.contains(expected), "{notes}");
        assert_eq!(*digest, found[0].2, "the same events wherever they lie");
    }
    assert_eq!(found.len(), 3);
    for (notes, _, _) in &found[1..] {
        assert!(notes.contains("rsize") && notes.contains("round trip") && notes.contains("sent again"), "{notes}");
    }
    assert!(!found[0].0.contains("NFS"));
    assert!(!lab.exists(), "nothing is left");
}

#[test]
fn products_on_a_real_nfs_are_those_that_count() {
    if !testing::slow("a machine with a kernel of its own is emulated; products are tested on the local disk") {
        return;
    }
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let place = Place::new();
    let lab = place.file("lab");
    std::fs::create_dir_all(lab.join("export")).unwrap();
    // Every attempt writes who it was, so that a file of another one than counts would show.
    let manifest = r#"[application.mine]
run = ["sh", "-ec", 'echo "$1 $2" > "$3/made"; sleep 0.2; echo digest=1', "chunk", "{chunk}", "{attempt}", "{out}"]
work = { events = 1, unit = "event" }
verify = { digest = "digest=([0-9a-f]+)" }
"#;
    std::fs::write(place.file("mine.toml"), manifest).unwrap();
    let farm = "prony farm run /disk/mine.toml --events 40 --chunk 4 --nodes 2 --verify 50 --format json --no-store";
    let body = format!(
        "set -e\nfor place in disk nfs3 nfs4; do\n \
         {farm} --products /$place/$place --ledger /tmp/$place.ledger --output /tmp/$place.json | tr -d '\\n'\n echo\n \
         prony farm status --check /tmp/$place.ledger --format json | tr -d '\\n'\n echo\ndone\n"
    );
    std::fs::write(place.file("script"), body).unwrap();
    let mut run = Command::new(script("nfs.sh"));
    run.arg("run").arg(place.file("script")).arg(place.file("mine.toml"));
    run.env("LAB", &lab).env("PROGRAM", env!("CARGO_BIN_EXE_prony"));
    let answer = Answer::of(run.output().unwrap());
    if excused(&answer) {
        return;
    }
    let read = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {answer:?}"));
    let said: Vec<Value> = answer.out.lines().map(read).collect();
    assert_eq!((answer.code, said.len()), (Some(0), 6), "{answer:?}");
    for told in said.chunks(2) {
        assert_eq!(told[0]["totals"]["commits"], 10, "{}", told[0]);
        assert_eq!((&told[0]["products"], &told[1]["faults"]), (&serde_json::json!([]), &serde_json::json!([])));
    }
}

#[test]
fn a_failed_mount_never_counts_as_a_network_file_system() {
    if !testing::slow("a machine with a kernel of its own is emulated") {
        return;
    }
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let place = Place::new();
    std::fs::write(place.file("script"), "echo this must not run\n").unwrap();
    let mut run = Command::new(script("nfs.sh"));
    run.arg("run").arg(place.file("script")).env("LAB", place.file("lab")).env("PROGRAM", env!("CARGO_BIN_EXE_prony"));
    let answer = Answer::of(run.env("NAME", "/absent").output().unwrap());
    if excused(&answer) {
        return;
    }
    assert_ne!(answer.code, Some(0), "{answer:?}");
    assert!(answer.err.contains("NFS 4 is not mounted") && !answer.out.contains("must not run"), "{answer:?}");
}

#[test]
fn input_over_sshfs_is_named() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let place = Place::new();
    let lab = place.file("lab");
    write_input(&place, &lab.join("export/input"));
    let farm = |input: &str, ledger: &str| {
        let mut run = Command::new(script("sshfs.sh"));
        run.arg("run").arg(env!("CARGO_BIN_EXE_prony")).args(["farm", "run", "builtin:analyse", "--events", EVENTS]);
        run.args(["--chunk", CHUNK, "--format=json", "--ledger", ledger, "--input"]).arg(lab.join(input));
        run.env("LAB", &lab).env("PRONY_STORE", place.file("runs.sqlite")).current_dir(place.path());
        Answer::of(run.output().unwrap())
    };
    let far = farm("mount/input", "far.ledger");
    if excused(&far) {
        return;
    }
    let (notes, [low, value, high], digest) = told(&far.fine().json());
    let (near, [near_low, near_value, near_high], near_digest) =
        told(&farm("export/input", "near.ledger").fine().json());
    eprintln!(
        "sshfs: efficiency {value:.3} ({low:.3} to {high:.3}); local: {near_value:.3} ({near_low:.3} to {near_high:.3})"
    );
    assert!(notes.contains("input on fuse.sshfs ("), "{notes}");
    assert!(!near.contains("fuse"), "{near}");
    assert_eq!(digest, near_digest);
}
