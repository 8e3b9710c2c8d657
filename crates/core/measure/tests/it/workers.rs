//! Workers that misbehave, as real processes: the harness always ends them with their whole group and reports the
//! reason.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails, and says what it skips")]

use std::time::{Duration, Instant};

use measure::{Purpose, Reply, SampleError, Stopper, Subject, WorkerStep, Workers};

fn step(patience: Duration) -> WorkerStep {
    WorkerStep {
        purpose: Purpose::Measure,
        round: 0,
        seed: 1,
        batch_nanos: 1_000_000,
        directory: ".".into(),
        allowed: vec![0],
        sensors: None,
        tasks: Vec::new(),
        patience,
    }
}

fn shell(script: &str) -> Workers {
    Workers::new("/bin/sh", ["-c", script])
}

fn sample(script: &str, patience: Duration) -> Result<Vec<Reply>, SampleError> {
    shell(script).launch(&step(patience), &Stopper::default())
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_correct_worker_is_read() {
    let replies =
        sample(r#"cat >/dev/null; echo '{"not_measured":{"result":0,"reason":"no"}}'; echo '"done"'"#, LONG).unwrap();
    assert_eq!(replies, [Reply::NotMeasured { result: 0, reason: "no".to_owned() }, Reply::Done]);
}

/// Cargo sets the variable for its tests.
#[test]
fn programs_of_benchmarks_do_not_search_where_the_caller_s_linker_does() {
    let script = r#"cat >/dev/null; echo "{\"not_measured\":{\"result\":0,\"reason\":\"${LD_LIBRARY_PATH-unset}\"}}"; echo '"done"'"#;
    assert_eq!(sample(script, LONG).unwrap()[0], Reply::NotMeasured { result: 0, reason: "unset".to_owned() });
}

#[test]
fn a_crash_is_reported_with_the_last_output() {
    let error = sample("echo out of cheese >&2; exit 3", LONG).unwrap_err();
    assert_eq!(error, SampleError::Crashed("exit code 3; its output: out of cheese".to_owned()));
    let error = sample("kill -SEGV $$", LONG).unwrap_err();
    assert_eq!(error, SampleError::Crashed("killed by signal 11".to_owned()));
}

#[test]
fn a_hanging_worker_is_killed_with_everything_that_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let script = format!("sleep 1000 & echo $! > {}; sleep 1000", file.display());
    let error = sample(&script, Duration::from_secs(2)).unwrap_err();
    assert_eq!(error, SampleError::Hung(2));
    let pid: i32 = std::fs::read_to_string(&file).unwrap().trim().parse().unwrap();
    let gone = || match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat.contains(") Z "),
        Err(_) => true,
    };
    let deadline = Instant::now() + Duration::from_secs(20);
    while !gone() {
        assert!(Instant::now() < deadline, "the grandchild {pid} lives on");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Starts a process that leaves the group of the worker and holds its output and errors open, and writes its number to
/// a file.
fn escaping(file: &std::path::Path, then: &str) -> String {
    format!("cat >/dev/null; setsid sleep 1000 & echo $! > {}; {then}", file.display())
}

fn kill(file: &std::path::Path) {
    let pid: i32 = std::fs::read_to_string(file).unwrap().trim().parse().unwrap();
    os::process::send(pid, Some(kernels::signal::Signal::Kill)).unwrap();
}

#[test]
fn a_process_that_leaves_the_group_and_holds_the_pipes_delays_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let began = Instant::now();
    let launched = |then: &str, patience| {
        let answer = sample(&escaping(&file, then), patience);
        kill(&file);
        answer
    };
    assert_eq!(launched(r#"echo '"done"'"#, LONG), Ok(vec![Reply::Done]));
    assert_eq!(
        launched("echo cheese >&2; exit 3", LONG),
        Err(SampleError::Crashed("exit code 3; its output: cheese".into()))
    );
    assert_eq!(launched("exec sleep 1000", Duration::from_secs(2)), Err(SampleError::Hung(2)));
    assert!(began.elapsed() < LONG, "each of the three came back within its patience");
}

#[test]
fn a_worker_that_does_not_read_its_step_is_killed() {
    let mut large = step(Duration::from_secs(2));
    large.directory = "x".repeat(1 << 21).into();
    let error = shell("exec sleep 1000").launch(&large, &Stopper::default()).unwrap_err();
    assert_eq!(error, SampleError::Hung(2));
}

#[test]
fn a_flood_is_stopped_and_invalid_replies_are_named() {
    let error = sample("yes", LONG).unwrap_err();
    assert!(matches!(&error, SampleError::InvalidReply(why) if why.contains('y')), "{error}");
    let endless = r#"while :; do echo '{"not_measured":{"result":0,"reason":"no"}}'; done"#;
    let error = sample(endless, LONG).unwrap_err();
    assert!(matches!(error, SampleError::InvalidReply(_) | SampleError::Crashed(_)), "{error}");
    let error = sample("head -c 20000000 /dev/zero", LONG).unwrap_err();
    assert!(matches!(error, SampleError::InvalidReply(_)), "{error}");
}

#[test]
fn a_missing_program_is_named() {
    let error = Workers::new("/nowhere/prony", ["worker"]).launch(&step(LONG), &Stopper::default()).unwrap_err();
    assert!(matches!(&error, SampleError::NotStarted(why) if why.contains("/nowhere/prony")), "{error}");
}

#[test]
fn a_request_to_stop_is_followed_immediately() {
    let stopper = Stopper::default();
    let asked = stopper.clone();
    let other = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        asked.stop();
    });
    let error = shell("sleep 1000").launch(&step(LONG), &stopper).unwrap_err();
    assert_eq!(error, SampleError::Stopped);
    other.join().unwrap();
}

/// The worker's side of the pipe, without a process: its replies to invalid steps.
#[test]
fn a_worker_refuses_invalid_steps_and_names_unknown_benchmarks() {
    let mut said = Vec::new();
    assert!(measure::serve(&b"{"[..], &mut said).is_err());
    assert!(measure::serve(&b""[..], &mut said).is_err());
    assert!(said.is_empty());
    let mut unknown = step(LONG);
    unknown.tasks.push(measure::Task {
        result: 4,
        benchmark: "no.such".to_owned(),
        parameters: model::Parameters::none(),
        ops: 1,
        batches: 1,
        enough: 0,
        full: true,
        warmup: 1,
        variant: None,
        cpus: Vec::new(),
        cache: 0,
        directory: None,
    });
    measure::serve(serde_json::to_vec(&unknown).unwrap().as_slice(), &mut said).unwrap();
    let said = String::from_utf8(said).unwrap();
    assert!(said.contains("not_measured") && said.contains("no.such") && said.ends_with("\"done\"\n"), "{said}");
}
