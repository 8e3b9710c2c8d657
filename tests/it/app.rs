//! `prony app` through the program: builds, runs, verification, and every kind of failure.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

use crate::common;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::Place;
use serde_json::Value;

const SIEVE: &str = include_str!("../../examples/manifests/sieve/sieve.c");

fn write(place: &Place, name: &str, text: &str) -> String {
    std::fs::write(place.file(name), text).unwrap();
    name.to_owned()
}

fn results<'a>(run: &'a Value, benchmark: &str) -> Vec<&'a Value> {
    run["results"].as_array().unwrap().iter().filter(|result| result["benchmark"] == benchmark).collect()
}

fn value(result: &Value) -> f64 {
    common::estimate(result).and_then(|found| found["value"].as_f64()).unwrap_or_else(|| panic!("{result:#}"))
}

fn failed(result: &Value) -> &str {
    result["outcome"]["failed"].as_str().unwrap_or_else(|| panic!("{result:#}"))
}

/// Runs a manifest with a wide target: the tests do not depend on the width of intervals.
fn run(place: &Place, text: &str, more: &[&str]) -> common::Answer {
    let manifest = write(place, "application.toml", text);
    place
        .ask(&[&["app", "run", &manifest, "--max-samples", "10", "--time-limit", "2m", "--format=json"], more].concat())
}

fn compilers() -> Vec<&'static str> {
    let there = |name: &&&str| Command::new(name).arg("--version").stdout(Stdio::null()).status().is_ok();
    let found: Vec<&str> = ["gcc", "clang"].iter().filter(there).copied().collect();
    if found.len() < 2 {
        testing::skip!("in part: of gcc and clang only {found:?} is here");
    }
    found
}

#[test]
fn a_c_program_under_every_compiler_and_level() {
    let found = compilers();
    if found.is_empty() {
        return;
    }
    let place = Place::new();
    std::fs::create_dir(place.file("src")).unwrap();
    std::fs::write(place.file("src/sieve.c"), SIEVE).unwrap();
    let text = format!(
        "[application.sieve]\nsources = \"src\"\ndirectory = \"src\"\n\
         builds = {{ compiler = {found:?}, level = [\"-O0\", \"-O2 -funroll-loops\"] }}\n\
         build = [\"{{compiler}}\", \"{{level...}}\", \"-o\", \"{{out}}/sieve\", \"sieve.c\"]\n\
         run = [\"{{out}}/sieve\", \"{{numbers}}\"]\nwork = {{ numbers = 300000, unit = \"number\" }}\n\
         verify = {{ stdout = \"primes=25997\", digest = \"digest=([0-9a-f]+)\", digest_scope = \"application\" }}\n\
         environment = {{ GREETING = \"hello\" }}\ncopies = [1, 2]\n"
    );
    let answer = run(&place, &text, &[]).fine();
    let run = answer.json();
    let rates = results(&run, "application.sieve");
    assert_eq!(rates.len(), 2 * 2 * found.len());
    assert!(rates.iter().all(|rate| value(rate) > 0.0));
    let notes = rates[0]["notes"].to_string();
    for recorded in ["version: ", "sources: SHA-256 ", "program: SHA-256 ", "built by: gcc -O0", "GREETING=hello"] {
        let recorded = recorded.replace("gcc", found[0]);
        assert!(notes.contains(&recorded), "{recorded} is missing from {notes}");
    }
    assert!(
        notes.contains("directory: ") && notes.contains("run by: ") && notes.contains("first run discarded by rule")
    );
    let builds = results(&run, "application.sieve_build_time");
    assert!(builds.len() == 2 * found.len() && value(builds[0]) > 0.0);
    assert!(results(&run, "application.sieve_text_size").iter().all(|size| value(size) > 500.0));
    for memory in results(&run, "application.sieve_memory") {
        // A program smaller than the one that starts it is reported as such.
        let bound = memory["outcome"]["below"]["bound"].as_f64();
        assert!(bound.unwrap_or_else(|| value(memory)) > 1e5, "{memory}");
    }
    let efficiency = results(&run, "application.sieve_efficiency");
    // Under other load a build may get too few samples for one.
    assert!(!efficiency.is_empty() && efficiency.len() <= 2 * found.len(), "{efficiency:?}");
    assert!(efficiency.iter().all(|each| value(each) > 0.0 && each["parameters"]["copies"] == "2"), "{efficiency:?}");
}

/// Nine applications; seven fail in different ways, and the others are measured.
#[test]
fn failures_are_results_with_reason_and_output_and_the_rest_is_measured() {
    let place = Place::new();
    let head = |name: &str, argv: &str, more: &str| {
        format!("[application.{name}]\nrun = {argv}\nwork = {{ runs = 1, unit = \"run\" }}\ncopies = [1]\n{more}\n")
    };
    let digest = "verify = { digest = \"digest=([0-9]+)\", expect = \"42\" }";
    let text = [
        head("good", "[\"true\"]", ""),
        head("hangs", "[\"sh\", \"-c\", \"echo begun; exec sleep 60\"]", "timeout = \"1s\""),
        head("crashes", "[\"sh\", \"-c\", \"echo about to >&2; kill -SEGV $$\"]", ""),
        head("rateless", "[\"echo\", \"no number\"]", "rate = \"rate=([0-9.]+)\""),
        head("other_work", "[\"echo\", \"digest=43\"]", digest),
        head("digestless", "[\"echo\", \"nothing\"]", digest),
        head("unbuilt", "[\"{out}/x\"]", "build = [\"sh\", \"-c\", \"echo syntax error at line 7 >&2; exit 1\"]"),
        head("absent", "[\"/not/there/at/all\"]", ""),
        head("also_good", "[\"echo\", \"digest=42\"]", digest),
    ]
    .concat();
    let run = run(&place, &text, &["--label", "mixed"]).fine().json();
    let one = |name: &str| results(&run, &format!("application.{name}"))[0];
    assert!(value(one("good")) > 0.0 && value(one("also_good")) > 0.0);
    for (name, reason, kept) in [
        ("hangs", "still running after 1 s", "begun"),
        ("crashes", "signal 11", "about to"),
        ("rateless", "printed no rate", "no number"),
        ("other_work", "the digest 43 where 42", "digest=43"),
        ("digestless", "printed no digest", "nothing"),
        ("unbuilt", "the build ended with status 1", "syntax error at line 7"),
        ("absent", "could not be started", ""),
    ] {
        assert!(failed(one(name)).contains(reason), "{:#}", one(name));
        assert!(one(name)["notes"].to_string().contains(kept), "{:#}", one(name));
    }
    let said = place.ask(&["show", "mixed"]).fine().out;
    assert!(said.contains("failed: ") && said.contains("still running"), "{said}");
}

/// The kernel counts processes that were waited for: the CPU time of a program's orphaned children still counts.
/// Processes that outlive it do not count, and a note says so.
#[test]
fn children_that_a_program_does_not_wait_for_are_counted_or_told() {
    let place = Place::new();
    let work = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
    let head = |name: &str, script: &str| {
        let run = serde_json::json!(["sh", "-c", script]);
        format!("[application.{name}]\nrun = {run}\nwork = {{ runs = 1, unit = \"run\" }}\ncopies = [1]\n")
    };
    let orphan = format!(
        "( ( {work}; echo > {{copy}}.done ) & ); while [ ! -e {{copy}}.done ]; do sleep 0.02; done; rm {{copy}}.done; sleep 0.3"
    );
    let goes_on = "sleep 1000 >/dev/null 2>&1 & exit 0";
    let text = [head("child", &format!("({work}); true")), head("orphan", &orphan), head("leaves", goes_on)].concat();
    let run = run(&place, &text, &[]).fine().json();
    let cpu = |name: &str| results(&run, &format!("application.{name}_cpu_time"))[0];
    let told = |name: &str| cpu(name)["notes"].to_string().contains("processes that it started outlived it");
    assert!(value(cpu("orphan")) > 0.5 * value(cpu("child")), "{:#} {:#}", cpu("orphan"), cpu("child"));
    assert!(told("leaves") && !told("orphan") && !told("child"), "{:#}", cpu("leaves"));
    let rate = results(&run, "application.leaves")[0];
    assert!(rate["notes"].to_string().contains("is not counted"), "{rate:#}");
    let timed = place.ask(&["time", "-r", "8", goes_on, "--format=json"]).fine().out;
    assert!(timed.contains("processes that it started outlived it"), "{timed}");
}

#[test]
fn a_digest_that_changes_from_run_to_run_is_caught() {
    let place = Place::new();
    let text = "[application.x]\nrun = [\"sh\", \"-c\", \"echo digest=$$\"]\nwork = { runs = 1, unit = \"run\" }\n\
                verify = { digest = \"digest=([0-9]+)\" }\ncopies = [1]\n";
    let answer = run(&place, text, &[]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert!(failed(results(&answer.json(), "application.x")[0]).contains("was expected"));
}

#[test]
fn start_up_is_separated_from_work_and_no_shell_is_used() {
    let place = Place::new();
    let text = "[application.x]\nrun = [\"sh\", \"-c\", \"echo start=0.05; echo \\\"$1\\\"; sleep 0.1\", \"x\", \"{phrase}\"]\n\
                work = { events = 100, unit = \"event\" }\nstartup = \"start=([0-9.]+)\"\ncopies = [1]\n\
                parameters = { phrase = \"a b; exit 9 $HOME `false`\" }\nverify = { stdout = \"a b; exit 9 .HOME `false`\" }\n";
    let run = run(&place, text, &[]).fine().json();
    let startup = results(&run, "application.x_startup")[0];
    assert!((value(startup) - 0.05).abs() < 1e-9);
    let rate = results(&run, "application.x")[0];
    for sample in rate["samples"].as_array().unwrap() {
        let (wall, found) = (sample["wall"].as_f64().unwrap(), sample["value"].as_f64().unwrap());
        assert!((found - 100.0 / (wall - 0.05)).abs() < 1e-6 * found, "{sample}");
    }
}

/// The first run of a build is made before the samples, tells how long they take, and is made once.
#[test]
fn a_run_says_before_it_starts_how_long_it_takes() {
    let place = Place::new();
    let log = place.file("log").display().to_string();
    let text = format!(
        "[application.x]\nrun = [\"sh\", \"-c\", \"echo run >> {log}; echo done\"]\n\
         work = {{ events = 1, unit = \"event\" }}\ncopies = [1]\nverify = {{ stdout = \"done\" }}\n"
    );
    let answer = run(&place, &text, &[]).fine();
    assert!(answer.err.contains("measuring 1 rate takes about"), "{}", answer.err);
    let samples = results(&answer.json(), "application.x")[0]["samples"].as_array().unwrap().len();
    assert_eq!(std::fs::read_to_string(&log).unwrap().lines().count(), samples + 1);
    assert!(!run(&place, &text, &["--quiet"]).fine().err.contains("takes about"));
}

#[test]
fn the_commented_manifest_is_written_once_and_runs() {
    let place = Place::new();
    place.ask(&["app", "init"]).fine();
    let said = place.ask(&["app", "init"]).refused();
    assert!(said.contains("not written over"), "{said}");
    let text = std::fs::read_to_string(place.file("application.toml")).unwrap();
    assert!(text.lines().filter(|line| line.starts_with('#')).count() > 20);
    let less = text.replace("numbers = 3000000", "numbers = 20000");
    let run = run(&place, &less, &["--copies", "1"]).fine().json();
    assert!(value(results(&run, "application.hello")[0]) > 0.0);
}

#[test]
fn built_in_reconstruction_works_out_of_the_box() {
    let place = Place::new();
    let few = ["--copies", "1", "--target", "60", "--max-samples", "8", "--time-limit", "1m", "--format=json"];
    let mut named = "builtin:reconstruct";
    if !testing::slow("the built-in work in its own size; a fiftieth of it stands for it") {
        // Fewer events have another digest.
        let text = application::BUILTIN;
        let expected = ", digest_scope = \"application\", expect = \"98b4ea8f2b028026\"";
        let less = text.replace("events = 100,", "events = 2,").replace(expected, "");
        assert!(less.len() + expected.len() < text.len(), "{text}");
        std::fs::write(place.file("less.toml"), less).unwrap();
        named = "less.toml";
    }
    let arguments = ["app", "run", named, "reconstruct"];
    let arguments = if named == "less.toml" { &arguments[..] } else { &arguments[..3] };
    let run = place.ask(&[arguments, &few].concat()).fine().json();
    assert!(value(results(&run, "application.reconstruct")[0]) > 0.0);
    assert!(value(results(&run, "application.reconstruct_startup")[0]) > 0.0);
    let said = place.ask(&["app", "run", "builtin:reconstrukt"]).refused();
    assert!(said.contains("reconstruct, simulate, analyse"), "{said}");
}

#[test]
fn a_bad_manifest_is_refused_by_line() {
    let place = Place::new();
    let base = "[application.x]\nrun = [\"true\"]\nwork = { runs = 1, unit = \"run\" }\n";
    for (more, line, reason) in [
        ("compilers = 1", 4, "compilers"),
        ("build = [\"{nowhere}\"]", 4, "{nowhere}"),
        ("rate = \"(\"", 4, "regular expression"),
        ("run = [\"true\"]", 4, "duplicate"),
        ("timeout = \"soon\"", 4, "not a duration"),
        ("builds = { level = [] }", 4, "no values"),
        ("verify = {", 5, ""),
    ] {
        let manifest = write(&place, "bad.toml", &format!("{base}{more}\n"));
        let said = place.ask(&["app", "run", &manifest]).refused();
        let near = (line - 1..=line).any(|line| said.contains(&format!("line {line}:")));
        assert!(said.contains("bad.toml") && near && said.contains(reason), "{more}: {said}");
    }
    assert!(place.ask(&["app", "run", "absent.toml"]).refused().contains("absent.toml"));
    std::fs::write(place.file("binary.toml"), [0_u8, 159, 146, 150]).unwrap();
    assert!(place.ask(&["app", "run", "binary.toml"]).refused().contains("binary.toml"));
    assert!(!place.file("runs.sqlite").exists(), "a refusal makes no store");
}

#[test]
fn two_runs_are_compared_explained_and_reported() {
    let place = Place::new();
    let text = "[application.idle]\nrun = [\"sleep\", \"{time}\"]\nwork = { naps = 1, unit = \"nap\" }\n\
                parameters = { time = \"0.02\" }\ncopies = [1]\n";
    run(&place, text, &["--label", "before"]).fine();
    run(&place, &text.replace("0.02", "0.3"), &["--label", "after"]).fine();
    let compared = place.ask(&["compare", "before", "after", "--format=json"]).fine().json();
    let rows = compared["rows"].as_array().unwrap();
    let of = |id: &str| rows.iter().find(|row| row.to_string().contains(id)).unwrap();
    assert!(of("application.idle").to_string().contains("\"verdict\":\"slower\""), "{:#}", of("application.idle"));
    place.ask(&["explain", "before", "after"]).fine();
    place.ask(&["report", "before", "after", "--output", "both.html"]).fine();
    assert!(std::fs::read_to_string(place.file("both.html")).unwrap().contains("idle"));
}

#[test]
fn an_interrupted_campaign_is_stored_and_leaves_no_process() {
    let place = Place::new();
    // A time that no other process on this machine sleeps.
    let time = format!("0.3{:07}", std::process::id());
    let text = format!(
        "[application.nap]\nrun = [\"sleep\", \"{time}\"]\nwork = {{ naps = 1, unit = \"nap\" }}\ncopies = [1]\n"
    );
    let manifest = write(&place, "application.toml", &text);
    let mut child = place
        .prony()
        .args(["app", "run", &manifest, "--target", "0.001", "--max-samples", "80", "--output", "kept.json"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let began = Instant::now();
    let measured = || {
        let text = std::fs::read_to_string(place.file("kept.json")).unwrap_or_default();
        let kept: Value = serde_json::from_str(&text).unwrap_or_default();
        kept["results"].as_array().is_some_and(|all| all.iter().any(|one| one["samples"] != serde_json::json!([])))
    };
    while !measured() && began.elapsed() < Duration::from_secs(180) {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    let kept = place.ask(&["show", "./kept.json", "--format=json"]).fine().json();
    assert!(!results(&kept, "application.nap")[0]["samples"].as_array().unwrap().is_empty());
    let left = Command::new("ps").args(["-eo", "args"]).output().unwrap();
    assert!(!String::from_utf8_lossy(&left.stdout).contains(&format!("sleep {time}")), "a copy outlived its campaign");
}
