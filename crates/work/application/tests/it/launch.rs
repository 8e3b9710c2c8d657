//! Launches: programs that work, crash, hang, print too much, or do not exist.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;

use application::{LaunchSpec, ProcessEnd, perform};

fn order(commands: &[&[&str]], patience: f64) -> LaunchSpec {
    let commands = commands.iter().map(|argv| argv.iter().map(|word| (*word).to_owned()).collect()).collect();
    let environment = BTreeMap::from([("GREETING".to_owned(), "hello".to_owned())]);
    LaunchSpec { commands, directory: std::env::temp_dir(), environment, patience, ..LaunchSpec::default() }
}

#[test]
fn copies_run_concurrently_with_their_environment() {
    let report = perform(&order(&[&["sh", "-c", "echo $GREETING; pwd"], &["sleep", "0.2"], &["sleep", "0.2"]], 20.0));
    assert!(report.copies.iter().all(|copy| copy.how == ProcessEnd::Code(0)), "{report:?}");
    assert!(report.copies[0].stdout.starts_with("hello\n/"), "{report:?}");
    let overlap =
        report.copies[1].ended.min(report.copies[2].ended) - report.copies[1].started.max(report.copies[2].started);
    assert!(overlap > 0.0, "{report:?}");
    assert!(report.wall() >= 0.2 && report.peak_resident > 100_000);
}

#[test]
fn executions_follow_one_another_until_one_does_not_end_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let count = "echo >>log; test $(wc -l <log) -lt 3 || kill -TERM $$";
    let spec = |executions: u32, silent: bool| LaunchSpec {
        directory: folder.path().to_owned(),
        executions,
        silent,
        ..order(&[&["sh", "-c", count]], 20.0)
    };
    let report = perform(&spec(2, false));
    assert_eq!(report.copies.len(), 2);
    assert!(report.copies[0].ended <= report.copies[1].started, "one after the other: {report:?}");
    let report = perform(&spec(5, true));
    assert_eq!(report.copies.len(), 1, "the third in all is killed: {report:?}");
    assert_eq!(report.copies[0].how, ProcessEnd::Signal(15));
    let silent = LaunchSpec { silent: true, ..order(&[&["sh", "-c", "echo out; echo err >&2"]], 20.0) };
    let copy = perform(&silent).copies.remove(0);
    assert!(copy.stdout.is_empty() && copy.stderr.is_empty(), "{copy:?}");
}

#[test]
fn the_name_of_a_directory_need_not_be_text() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let odd = folder.path().join(std::ffi::OsStr::from_bytes(b"n\xff"));
    std::fs::create_dir(&odd).unwrap();
    std::fs::write(odd.join("here"), "").unwrap();
    let spec = LaunchSpec { directory: odd, ..order(&[&["test", "-e", "here"]], 20.0) };
    let mut report = Vec::new();
    application::serve(&serde_json::to_vec(&spec).unwrap()[..], &mut report).unwrap();
    let report: application::CopyReport = serde_json::from_slice(&report).unwrap();
    assert_eq!(report.copies[0].how, ProcessEnd::Code(0));
}

#[test]
fn every_failure_is_distinguished() {
    let ends = |argv: &[&str], patience| perform(&order(&[argv], patience)).copies.remove(0);
    let failed = ends(&["sh", "-c", "echo out; echo err >&2; exit 3"], 20.0);
    assert_eq!((failed.how, failed.stdout.trim(), failed.stderr.trim()), (ProcessEnd::Code(3), "out", "err"));
    assert_eq!(ends(&["sh", "-c", "kill -SEGV $$"], 20.0).how, ProcessEnd::Signal(11));
    let hung = ends(&["sh", "-c", "echo begun; exec sleep 60"], 0.5);
    assert_eq!((hung.how, hung.stdout.trim()), (ProcessEnd::TimedOut, "begun"));
    assert!(hung.ended < 20.0);
    assert!(matches!(ends(&["/not/there"], 5.0).how, ProcessEnd::NotStarted(reason) if reason.contains("/not/there")));
    assert!(matches!(ends(&[], 5.0).how, ProcessEnd::NotStarted(_)));
}

#[test]
fn long_output_is_kept_at_both_ends() {
    let copy = perform(&order(&[&["sh", "-c", "echo first; seq 400000; echo last"]], 60.0)).copies.remove(0);
    assert!(copy.stdout.starts_with("first\n1\n") && copy.stdout.ends_with("last\n"));
    assert!(copy.stdout.len() < 1 << 20 && copy.stdout.contains("bytes left out"));
}

/// A process in another session holds the output pipes open; only the test knows its number.
#[test]
fn a_child_that_holds_the_pipes_open_delays_nothing() {
    let began = std::time::Instant::now();
    let script = |then: &str| format!("setsid sleep 1000 & echo $!; {then}");
    let ended = |then: &str, patience: f64| {
        let script = script(then);
        let copy = perform(&order(&[&["sh", "-c", &script]], patience)).copies.remove(0);
        let pid = copy.stdout.lines().next().unwrap().parse().unwrap();
        os::process::send(pid, Some(kernels::signal::Signal::Kill)).unwrap();
        copy
    };
    let copy = ended("echo said; exit 3", 300.0);
    assert_eq!((copy.how, copy.stdout.lines().last()), (ProcessEnd::Code(3), Some("said")));
    assert_eq!(ended("exec sleep 1000", 1.0).how, ProcessEnd::TimedOut);
    assert!(began.elapsed().as_secs_f64() < 300.0, "each must return within its time limit");
}

/// The helper may misbehave as well: a shell takes its place here.
#[test]
fn a_helper_that_neither_reads_nor_ends_is_given_up() {
    let stopper = measure::Stopper::default();
    let launch = |script: &str| {
        let order = order(&[&["true"], &[&"x".repeat(1 << 21)]], 1.0);
        application::Starter::new("/bin/sh", ["-c", script]).launch(&order, &stopper).unwrap_err().to_string()
    };
    assert!(launch("exit 3").contains("ended early"));
    assert!(launch("setsid sleep 30 & exit 3").contains("ended early"));
    let other = stopper.clone();
    let stops = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(500));
        other.stop();
    });
    assert!(launch("exec sleep 1000").contains("stopped"), "although its specification does not fit into the pipe");
    stops.join().unwrap();
}
