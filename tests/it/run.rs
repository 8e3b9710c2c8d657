//! `prony run` through the program: its results, storage and output.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails or says why")]

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use crate::common;
use crate::common::{Answer, Place, requested};
use serde_json::Value;
use store::{Claim, MachineLock};

/// Three results that every machine has.
pub(crate) const SMALL: &[&str] =
    &["run", "--benchmark", "os.syscall_write", "--benchmark", "os.clock_read", "--benchmark", "os.syscall_getppid"];

/// Results that take long: the target is infeasible, so that every checkpoint is made.
pub(crate) const SLOW: &[&str] = &[
    "run",
    "--benchmark",
    "os.syscall_write",
    "--benchmark",
    "os.fork_exit",
    "--benchmark",
    "os.fork_shell",
    "--target",
    "0.001",
    "--max-samples",
    "80",
];

fn with<'a>(base: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [base, more].concat()
}

#[test]
fn a_run_measures_stores_and_reports() {
    let place = Place::new();
    let said = place.ask(&with(SMALL, &["--label", "first", "--seed", "5", "--target", "20"])).fine();
    assert!(said.out.contains("Stored as run 1"), "{}", said.out);
    assert!(said.out.contains("95% interval") && said.out.contains("Quality: "), "{}", said.out);
    assert!(!said.out.contains('\u{1b}'), "no colours when piped");
    assert!(said.err.is_empty(), "no progress without a terminal: {}", said.err);

    let run = place.ask(&["show", "first", "--format=json"]).fine().json();
    assert_eq!(run["schema"], 1);
    assert_eq!(run["plan"]["seed"], 5);
    let results = requested(&run);
    let benchmarks: Vec<&str> = results.iter().map(|result| result["benchmark"].as_str().unwrap()).collect();
    assert_eq!(benchmarks, ["os.syscall_write", "os.clock_read", "os.syscall_getppid"]);
    for result in results {
        let measured = common::estimate(result).unwrap();
        let whole = result["outcome"].get("measured").is_some();
        let number = |name: &str| measured[name].as_f64().unwrap();
        assert!(number("low") <= number("value") && number("value") <= number("high"), "{measured}");
        assert!(!whole || number("level") >= 0.95 && number("samples") >= 8.0, "{measured}");
        assert!(number("batches") >= 3.0, "{measured}");
        // Results in cycles may end early, with the extremes of few samples widened.
        assert!(measured["method"] == "order_statistic" || measured["method"] == "widened_extremes", "{measured}");
        assert_eq!(result["metric"]["better"], "lower");
        let samples = result["samples"].as_array().unwrap();
        assert!(samples.len() >= 8 && samples.iter().all(|sample| !sample["nanos"].as_array().unwrap().is_empty()));
        let began: Vec<f64> = samples.iter().map(|sample| sample["began"].as_f64().unwrap()).collect();
        assert!(began.windows(2).all(|pair| pair[0] < pair[1]), "in time order");
        assert!(result["footprint"]["operations"].as_u64().unwrap() > 0);
    }
    let facts = run["machine"]["facts"].as_array().unwrap();
    assert!(facts.len() > 30 && facts.iter().all(|fact| !fact["source"].as_str().unwrap().is_empty()));
    assert_eq!(run["session"]["began_on"], run["session"]["ended_on"], "identity at start and end");
    assert!(run["session"]["complete"].as_bool().unwrap() && run["session"]["ended"].is_string());
}

#[test]
fn a_document_in_a_file_is_the_same_run() {
    let place = Place::new();
    place.ask(&with(SMALL, &["--output", "out.json", "--no-store", "--max-samples", "10"])).fine();
    let document: Value = serde_json::from_str(&std::fs::read_to_string(place.file("out.json")).unwrap()).unwrap();
    let mut shown = place.ask(&["show", "./out.json", "--format=json"]).fine().json();
    assert!(shown.as_object_mut().unwrap().remove("quality").is_some());
    assert_eq!(document, shown);
    assert!(!place.file("runs.sqlite").exists(), "--no-store keeps nothing else");
    let text = std::fs::read_to_string(place.file("out.json")).unwrap();
    assert!(text.starts_with("{\"schema\":1,"), "schema comes first");
}

#[test]
fn unknown_names_get_the_nearest_and_bad_values_a_reason() {
    let place = Place::new();
    let said = place.ask(&["run", "--benchmark", "memory.copi"]).refused();
    assert_eq!(said, "prony: no benchmark is named memory.copi; similar: memory.copy (prony benchmarks lists all)\n");
    let said = place.ask(&["run", "--suite", "quik"]).refused();
    assert!(said.contains("quick"), "{said}");
    let said = place.ask(&["run", "--benchmark", "memory.copy:threads=several"]).refused();
    assert!(said.contains("threads is one of"), "{said}");
    let said = place.ask(&["run", "--benchmark", "os.syscall_write:x=1"]).refused();
    assert!(said.contains("no parameters"), "{said}");
    let said = place.ask(&["run", "--directory", "nowhere"]).refused();
    assert!(said.contains("nowhere") && said.contains("--directory"), "{said}");
    let said = place.ask(&["run", "--resume", "7"]).refused();
    assert!(said.contains('7'), "{said}");
    assert!(!place.file("runs.sqlite").exists(), "nothing is made for a refusal");
}

/// The UTF-8 part of the name was another directory, which was created and measured.
#[test]
fn a_directory_whose_name_no_document_can_hold_is_refused() {
    let (place, odd) = (Place::new(), std::ffi::OsStr::from_bytes(b"n\xff"));
    if std::fs::create_dir(place.path().join(odd)).is_err() {
        testing::lacks("names of files that are not UTF-8");
        return;
    }
    let mut run = place.prony();
    run.args(["run", "--benchmark", "file.create", "--directory"]).arg(odd);
    let said = Answer::of(run.output().unwrap()).refused();
    assert!(said.contains("is not UTF-8"), "{said}");
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1, "nothing is made for a refusal");
}

#[test]
fn files_are_measured_in_every_directory_that_is_named() {
    let place = Place::new();
    for name in ["one", "two"] {
        std::fs::create_dir(place.file(name)).unwrap();
    }
    let benchmark = ["--benchmark", "file.create:size=0B,durability=none,place=target", "--benchmark", "os.clock_read"];
    let arguments =
        ["run", "--directory", "one", "--directory", "two", "--target", "90", "--max-samples", "8", "--label", "both"];
    place.ask(&with(&arguments, &benchmark)).fine();
    let run = place.ask(&["show", "both", "--format=json"]).fine().json();
    let places: Vec<&str> =
        requested(&run).into_iter().filter_map(|result| result["parameters"]["place"].as_str()).collect();
    assert_eq!(places, ["target", "target2"]);
    let notes = |index: usize| requested(&run)[index]["notes"].to_string();
    assert!(notes(0).contains("/one:") && notes(1).contains("/two:"), "{} {}", notes(0), notes(1));
    let facts = run["machine"]["facts"].as_array().unwrap();
    assert!(facts.iter().any(|fact| fact["name"] == "filesystem.target2.type"));
    let shown = place.ask(&["show", "both", "--as", "babar", "--format=json"]).fine().json();
    let rows = shown["tables"][8]["rows"].as_array().unwrap();
    let made = |row: &&Value| row[3]["result"].is_string();
    let results: Vec<&str> = rows.iter().filter(made).map(|row| row[3]["result"].as_str().unwrap()).collect();
    assert_eq!(results.iter().filter(|result| result.contains("place=target2")).count(), 2, "with sync and without");
    assert_eq!(results.len(), 4, "{results:?}");
    assert!(rows.iter().filter(made).all(|row| row[3]["definition"]["near"].is_string()), "in every directory");
    let twice = place.ask(&["run", "--directory", "one", "--directory", "one"]).refused();
    assert!(twice.contains("named twice"), "{twice}");
    for name in ["one", "two"] {
        assert_eq!(std::fs::read_dir(place.file(name)).unwrap().count(), 0, "nothing is left in {name}");
    }
}

#[test]
fn results_that_cannot_be_measured_are_reported_and_the_rest_is_measured() {
    let place = Place::new();
    // No user, not even root, can create files there.
    let wished = ["run", "--benchmark", "os.clock_read", "--benchmark", "file.create", "--directory", "/proc"];
    let answer = place.ask(&with(&wished, &["--max-samples", "10"]));
    let said = answer.fine().out;
    assert!(said.contains("not measured"), "{said}");
}

#[test]
fn two_runs_at_once_are_warned_of_each_other() {
    let place = Place::new();
    let mut lock = None;
    // Other tests measure at the same time, one run after the other, with short gaps.
    let began = Instant::now();
    while lock.is_none() {
        assert!(began.elapsed() < Duration::from_secs(1500), "other runs never end");
        let claimed = MachineLock::claim(&store::machine_lock_path(), "prony run of another").unwrap();
        lock = if let Claim::Alone(lock) = claimed { Some(lock) } else { None };
        std::thread::sleep(Duration::from_micros(500));
    }
    let output = place.prony().args(with(SMALL, &["--max-samples", "10"])).output().unwrap();
    drop(lock);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "it is for the person to decide: {said}");
    assert!(said.contains("another run measures here") && said.contains("prony run of another"), "{said}");
}

#[test]
fn an_unusable_store_is_refused_before_measuring() {
    let place = Place::new();
    std::fs::write(place.file("text"), "this is no store, and it is long enough to be read as one header").unwrap();
    let said = Answer::of(place.prony().args(with(SMALL, &["--store", "text"])).output().unwrap()).refused();
    assert!(said.contains("text"), "{said}");
    let said =
        Answer::of(place.prony().args(with(SMALL, &["--store", "/proc/none/x.sqlite"])).output().unwrap()).refused();
    assert!(said.contains("/proc/none"), "{said}");
    assert_eq!(std::fs::read_to_string(place.file("text")).unwrap().len(), 64);
}

#[test]
fn a_time_limit_and_a_target_are_observed() {
    // A machine that hardly lets it run has nothing measured after the first of them.
    let mut limits = ["3s", "20s", "1m"].into_iter();
    let mut run = Value::Null;
    testing::attempts(3, || {
        let answer = Place::new().ask(&with(SLOW, &["--time-limit", limits.next().unwrap(), "--format=json"]));
        testing::hold!(answer.code == Some(0), "{answer:?}");
        run = answer.json();
        Ok(())
    });
    assert_eq!(run["session"]["complete"], false);
    assert_eq!(run["plan"]["target"], 0.00001);
    for result in requested(&run) {
        assert!(result["flags"].as_array().unwrap().iter().any(|flag| flag == "unfinished"), "{result}");
    }
}

/// Scripts use the exit code: min-max ranges of a few samples are not comparable.
#[test]
fn a_run_without_any_interval_is_inconclusive() {
    let place = Place::new();
    let few = ["run", "--benchmark", "os.clock_read", "--spacing", "2s", "--time-limit", "5s", "--quiet"];
    let answer = place.ask(&few);
    let nothing = answer.code == Some(2) && answer.err.contains("nothing could be measured");
    assert!(answer.code == Some(3) || nothing, "{answer:?}");
    assert!(nothing || answer.err.contains("nothing useful was measured"), "{answer:?}");
}

/// Every suite ends by itself, in less than five minutes.
#[test]
fn every_suite_has_a_limit_under_five_minutes_and_an_asked_one_wins() {
    let place = Place::new();
    let suites = place.ask(&["benchmarks", "--suite", "--format=json"]).fine().json();
    let suites = suites.as_array().unwrap();
    assert!(suites.len() > 10, "{suites:?}");
    for suite in suites {
        assert!(suite["seconds"].as_f64().unwrap() <= 240.0, "{suite}");
    }
    let limit = |words: &[&str]| {
        let run = place.ask(&[&["run", "--suite", "cores", "--format=json", "--quiet"], words].concat()).json();
        (run["plan"]["time_limit"].clone(), run["plan"]["checkpoints"].as_array().unwrap().last().unwrap().clone())
    };
    assert_eq!(limit(&["--max-samples", "8", "--target", "90"]), (240.0.into(), 8.into()));
    assert_eq!(limit(&["--time-limit", "1s"]), (1.0.into(), 320.into()));
}

/// The program started by another one, such as `taskset` or `runuser`; `None` if that one is missing.
fn under(place: &Place, rule: &[&str], arguments: &[&str]) -> Option<Answer> {
    let mut command = std::process::Command::new(rule[0]);
    command.args(&rule[1..]).arg(env!("CARGO_BIN_EXE_prony")).args(arguments);
    command.current_dir(place.path()).env("PRONY_STORE", place.file("runs.sqlite"));
    match command.output() {
        Ok(output) => Some(Answer::of(output)),
        Err(why) => {
            testing::skip!("{} cannot be started: {why}", rule[0]);
            None
        }
    }
}

#[test]
fn on_one_cpu_results_of_two_are_reported_and_the_rest_is_measured() {
    let place = Place::new();
    let wished =
        ["run", "--format=json", "--benchmark", "os.clock_read", "--benchmark", "ipc.pipe_latency:placement=cross_cpu"];
    let wished = with(&wished, &["--max-samples", "10"]);
    let Some(answer) = under(&place, &["taskset", "-c", "0"], &wished) else { return };
    let run = answer.fine().json();
    let result = |benchmark: &str| {
        let results = run["results"].as_array().unwrap();
        results.iter().find(|result| result["benchmark"] == benchmark).unwrap().clone()
    };
    assert!(common::estimate(&result("os.clock_read")).is_some(), "{run}");
    assert!(result("ipc.pipe_latency")["outcome"]["not_measured"].as_str().unwrap().contains("CPU"), "{run}");
}

#[test]
fn it_measures_without_privileges() {
    let place = Place::new();
    std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let (program, reachable) = (std::path::Path::new(env!("CARGO_BIN_EXE_prony")), place.file("prony"));
    std::fs::copy(program, &reachable).unwrap();
    let mut command = std::process::Command::new("runuser");
    command.args(["-u", "nobody", "--"]).arg(&reachable).args([
        "run",
        "--format=json",
        "--max-samples",
        "10",
        "--benchmark",
        "os.syscall_getppid",
    ]);
    command.current_dir(place.path()).env("PRONY_STORE", place.file("runs.sqlite"));
    let output = command.output();
    let Ok(output) = output.map(Answer::of) else { return testing::skip!("runuser cannot be started") };
    if output.code == Some(1) && output.err.contains("runuser") {
        return testing::skip!("{}", output.err);
    }
    let run = output.fine().json();
    assert!(common::estimate(&run["results"][0]).is_some(), "{run}");
}

/// Variables that change the dynamic linker and the C library apply to the measured programs. A run records which were
/// set, and a comparison which of its runs had them.
#[test]
fn what_the_environment_changes_is_told() {
    let place = Place::new();
    let measure = |label: &str, variables: &[(&str, &str)]| {
        let mut command = place.prony();
        let asked =
            ["run", "--benchmark", "os.syscall_getppid", "--no-rulers", "--max-samples", "8", "--quiet", "--label"];
        command.args(asked).arg(label);
        for name in ["LD_PRELOAD", "LD_AUDIT", "GLIBC_TUNABLES", "MALLOC_ARENA_MAX"] {
            command.env_remove(name);
        }
        Answer::of(command.envs(variables.iter().copied()).output().unwrap()).fine();
        place.ask(&["show", label, "--format=json"]).fine().json()
    };
    let fact = |run: &Value, name: &str| {
        let facts = run["machine"]["facts"].as_array().unwrap();
        facts.iter().find(|fact| fact["name"] == name).map(|fact| fact["value"]["text"].as_str().unwrap().to_owned())
    };
    let told = |run: &Value| {
        run["session"]["notes"]
            .as_array()
            .unwrap()
            .iter()
            .any(|note| note.as_str().unwrap().contains("the environment sets MALLOC_ARENA_MAX=1, which applies"))
    };
    let (plain, set) = (measure("plain", &[]), measure("set", &[("MALLOC_ARENA_MAX", "1")]));
    assert_eq!(fact(&set, "environment.MALLOC_ARENA_MAX").as_deref(), Some("1"));
    assert_eq!(fact(&plain, "environment.MALLOC_ARENA_MAX"), None);
    assert!(told(&set) && !told(&plain), "{}", set["session"]["notes"]);
    let differs = "set ran with MALLOC_ARENA_MAX=1 set";
    assert!(place.ask(&["compare", "plain", "set"]).out.contains(differs));
    assert!(!place.ask(&["compare", "set", "set"]).out.contains(differs), "both had it");
}
