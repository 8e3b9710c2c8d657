//! Farms of real processes on this host: killed, frozen, resumed. Assertions read the ledger.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test says so when it cannot go on")]

use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use crate::common::farm::{Running, clean, holds, signal, spawn};
use crate::common::{Answer, Place};
use ::farm::Ledger;
use serde_json::Value;

#[test]
fn a_farm_gives_the_result_of_one_process() {
    let place = Place::new();
    let digest = clean(&place, 50, 3);
    let arguments = ["builtin:reconstruct", "--events", "50", "--chunk", "7", "--seed", "3", "--nodes", "2"];
    let answer = Running::start(&place, &arguments, |_| None).finish().fine();
    holds(&answer.json(), 8, 50, &digest);
    // The run is stored, and the report has its timeline.
    let run = place.ask(&["show", "latest", "--format=json"]).fine().json();
    assert_eq!(run["plan"]["suite"], "farm");
    let results: Vec<&str> =
        run["results"].as_array().unwrap().iter().map(|one| one["benchmark"].as_str().unwrap()).collect();
    assert!(results.contains(&"farm.events") && results.contains(&"farm.efficiency"), "{results:?}");
    place.ask(&["farm", "status", "ledger", "--output", "farm.html"]).fine();
    let page = std::fs::read_to_string(place.file("farm.html")).unwrap();
    assert!(page.contains("<html") && page.contains("medians over its groups of chunks"));
    // The report of the stored run has the ledger's data too.
    place.ask(&["report", "latest", "--output", "run.html"]).fine();
    let page = std::fs::read_to_string(place.file("run.html")).unwrap();
    assert!(page.contains("<h2>Nodes</h2>") && page.contains("<h2>Event log</h2>"));
    assert!(!run["session"]["farm"]["windows"].as_array().unwrap().is_empty());
    place.ask(&["farm", "status", "ledger", "--output", "farm.json", "--format=json"]).fine();
    let status: Value = serde_json::from_slice(&std::fs::read(place.file("farm.json")).unwrap()).unwrap();
    assert_eq!(status["totals"]["commits"], 8);
    place.ask(&["farm", "status", "ledger", "--output", "farm.md", "--format", "markdown"]).fine();
    assert!(std::fs::read_to_string(place.file("farm.md")).unwrap().starts_with("# Farm "));
    let titles = run["results"].as_array().unwrap().iter().map(|one| one["title"].as_str().unwrap());
    assert!(
        titles.clone().all(|title| title.starts_with(|c: char| c.is_lowercase())),
        "{:?}",
        titles.collect::<Vec<_>>()
    );
    // Everything is finished: resuming finds that. The run began when its ledger did, whenever its document is made.
    std::thread::sleep(Duration::from_millis(1_100));
    let again = place.ask(&["farm", "resume", "ledger", "--expect-digest", &digest, "--format=json"]).fine();
    holds(&again.json(), 8, 50, &digest);
    let later = place.ask(&["show", "latest", "--format=json"]).fine().json();
    assert_ne!(later["id"], run["id"]);
    assert_eq!(later["session"]["started"], run["session"]["started"]);
    assert!(later["session"]["ended"].as_str() > run["session"]["ended"].as_str(), "{later}");
    let said = place.ask(&["farm", "resume", "ledger", "--expect-digest", "1", "--format=json"]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.err.contains("could not verify"), "{said:?}");
}

/// Stops a pilot until its lease ends. One that is stopped between two chunks has no lease and is stopped again.
fn stop_until(pilot: i32, expired: impl Fn() -> bool) {
    testing::attempts(10, || {
        signal(pilot, kernels::signal::Signal::Continue);
        std::thread::sleep(Duration::from_millis(20));
        signal(pilot, kernels::signal::Signal::Stop);
        let stopped = Instant::now();
        while !expired() {
            testing::hold!(stopped.elapsed() < Duration::from_secs(4), "no lease of the sleeper ends");
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    });
}

/// One run: a pilot is killed. Another is stopped until its lease is over, and continues with a result that is not
/// accepted. The coordinator is killed and another one resumes.
#[test]
fn kills_and_stops_do_not_change_the_result() {
    let place = Place::new();
    let digest = clean(&place, 120, 5);
    let arguments = [
        "builtin:reconstruct",
        "--events",
        "120",
        "--chunk",
        "1",
        "--seed",
        "5",
        "--nodes",
        "3",
        "--jobs",
        "1",
        "--lease",
        "1",
        "--speculate",
        "0",
        // Chunks take time but not CPU time, so that the actions of this test are in time on a loaded machine too.
        "--pace",
        "0.25",
    ];
    let mut farm = Running::start(&place, &arguments, |_| None);
    farm.wait_for("all pilots", |farm| {
        farm.counted() >= 3 && farm.incidents().iter().filter(|one| one.what == "joined").count() >= 3
    });
    let (killed, sleeper) = (farm.pilot("n1"), farm.pilot("n2"));
    let token = farm.look().unwrap().farm().unwrap().token;
    assert!(!arguments_of_all().contains(&token), "other users can read the token");
    signal(killed, kernels::signal::Signal::Kill);
    let expired = |farm: &Running| farm.incidents().iter().any(|one| one.what == "expired" && one.node == "n2");
    stop_until(sleeper, || expired(&farm));
    farm.wait_for("its chunk to be counted", |farm| {
        let ledger = farm.look().unwrap();
        let counted = ledger.counted().unwrap();
        ledger
            .incidents()
            .unwrap()
            .iter()
            .filter(|one| one.what == "expired" && one.node == "n2")
            .all(|one| counted.contains(one.chunk.unwrap()))
    });
    signal(sleeper, kernels::signal::Signal::Continue);
    farm.wait_for("its result to be refused", |farm| {
        farm.incidents().iter().any(|one| one.what == "refused" && one.node == "n2")
    });
    farm.child.kill().unwrap();
    farm.child.wait().unwrap();
    let before = farm.counted();
    assert!((4..120).contains(&before), "the coordinator died too late to show anything: {before}");
    let answer = Running::resume(&place, farm.ledger, |_| None).finish().fine().json();
    holds(&answer, 120, 120, &digest);
    assert!(answer["totals"]["refused"].as_u64().unwrap() >= 1);
    assert!(answer["totals"]["wasted"].as_f64().unwrap() > 0.0);
    let story = |what: &str| answer["incidents"].as_array().unwrap().iter().filter(|one| one["what"] == what).count();
    assert_eq!((story("started"), story("resumed")), (1, 1));
    assert!(story("ended") >= 1, "the killed pilot was not noticed");
    // Pilots outlived their coordinator: more returned than were launched after it.
    assert!(story("joined") > story("launched"), "no pilot came back");
}

/// Coordinator and pilots die at the same moment, as in a power failure.
#[test]
fn a_farm_resumes_after_all_processes_died() {
    let place = Place::new();
    let digest = clean(&place, 80, 8);
    let arguments = [
        "builtin:reconstruct",
        "--events",
        "80",
        "--chunk",
        "2",
        "--seed",
        "8",
        "--nodes",
        "2",
        "--jobs",
        "1",
        "--lease",
        "1",
        "--pace",
        "0.2",
    ];
    let mut farm = Running::start(&place, &arguments, |_| None);
    farm.wait_for("some chunks", |farm| farm.counted() >= 4 && farm.count("joined") >= 2);
    let pilots = [farm.pilot("n1"), farm.pilot("n2")];
    farm.child.kill().unwrap();
    pilots.into_iter().for_each(|pid| signal(pid, kernels::signal::Signal::Kill));
    farm.child.wait().unwrap();
    assert!(farm.counted() < 40, "it died too late to show anything");
    let answer = Running::resume(&place, farm.ledger, |_| None).finish().fine().json();
    holds(&answer, 40, 80, &digest);
}

/// The coordinator is killed and its port is taken. The run goes on at another address, where a further coordinator
/// resumes it again. Running pilots keep waiting at the old address.
#[test]
fn a_farm_resumes_at_another_address() {
    let place = Place::new();
    let digest = clean(&place, 120, 9);
    let words =
        "builtin:reconstruct --events 120 --chunk 2 --seed 9 --nodes 2 --jobs 1 --lease 1 --pace 0.2 --patience 5";
    let mut farm = Running::start(&place, &words.split(' ').collect::<Vec<_>>(), |_| None);
    let address = |farm: &Running| farm.look().unwrap().farm().unwrap().address;
    farm.wait_for("some chunks", |farm| farm.counted() >= 4 && farm.count("joined") >= 2);
    let old = [farm.pilot("n1"), farm.pilot("n2")];
    let before = address(&farm);
    farm.child.kill().unwrap();
    farm.child.wait().unwrap();
    let counted = farm.counted();
    assert!(counted < 60, "it died too late to show anything");
    let mut moved = Running::resume_with(&place, farm.ledger, &["--listen", "127.0.0.2"], |_| None);
    moved.wait_for("pilots at the new address", |farm| farm.count("launched") >= 4 && farm.counted() >= counted + 4);
    let now = address(&moved);
    assert!(now.starts_with("127.0.0.2:") && now != before, "{now}");
    let new = [moved.pilot("n1"), moved.pilot("n2")];
    assert!(new.iter().all(|pid| !old.contains(pid)));
    moved.child.kill().unwrap();
    moved.child.wait().unwrap();
    let counted = moved.counted();
    assert!(counted < 60, "it died too late to show anything");
    // Without the option it is where it was last, and the pilots there return.
    let answer = Running::resume(&place, moved.ledger, |_| None).finish().fine();
    assert!(!answer.err.contains("moved from"), "{}", answer.err);
    let answer = answer.json();
    holds(&answer, 60, 120, &digest);
    let story = answer["incidents"].as_array().unwrap();
    let resumed = story.iter().filter(|one| one["what"] == "resumed").map(|one| one["detail"].as_str().unwrap());
    let at = format!("coordinator at {now}, ");
    assert_eq!(resumed.filter(|detail| detail.starts_with(&at)).count(), 2);
}

/// Command lines of all processes, which any user can read.
fn arguments_of_all() -> String {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.map(|line| String::from_utf8_lossy(&line).into_owned()).collect()
}

#[test]
fn commands_of_a_manifest_are_farmed_and_their_failures_reported() {
    let place = Place::new();
    let manifest = |run: &str| {
        let text = format!(
            "[application.mine]\nrun = {run}\nwork = {{ events = 1, unit = \"event\" }}\nparameters = {{ first = 0 }}\n\
             verify = {{ digest = \"digest=([0-9a-f]+)\" }}\n"
        );
        std::fs::write(place.file("mine.toml"), text).unwrap();
    };
    let arguments = ["farm", "run", "mine.toml", "--events", "10", "--chunk", "3", "--format=json", "--nodes", "2"];
    manifest(
        r#"["{prony}", "app", "work", "simulate", "--first", "{first}", "--events", "{events}", "--seed", "{seed}"]"#,
    );
    let one = place.ask(&arguments).fine().json();
    let other = place.ask(&[&arguments[..], &["--jobs", "3"]].concat()).fine().json();
    assert_eq!(one["totals"]["events"], 10);
    assert_eq!(one["digest"], other["digest"], "the digest depends on who did what");
    manifest(r#"["false", "{first}", "{events}"]"#);
    let failed = place.ask(&arguments);
    assert_eq!(failed.code, Some(2), "{failed:?}");
    // Nothing is given up when nothing works anywhere: the last line names the nodes and says why.
    assert!(failed.err.contains("every chunk fails on every node: n1, n2"), "{failed:?}");
    assert!(failed.err.contains("n1 failed") && failed.err.contains("ended with status 1"), "{failed:?}");
    assert!(failed.out.contains("ended with status 1"), "{failed:?}");
    manifest(r#"["true"]"#);
    assert!(place.ask(&arguments).refused().contains("{first}"));
}

/// Two processes compete for every chunk of a directory: neither accepts the other's claims.
#[test]
fn a_shared_directory_needs_no_coordinator() {
    let place = Place::new();
    let digest = clean(&place, 60, 9);
    let start = || {
        let mut command = place.prony();
        command.args([
            "farm",
            "run",
            "builtin:reconstruct",
            "--events",
            "60",
            "--chunk",
            "4",
            "--seed",
            "9",
            "--format=json",
        ]);
        command.args(["--shared-dir", "together", "--lease", "0.02", "--expect-digest", &digest]);
        spawn(command)
    };
    let racing: Vec<Child> = (0..2).map(|_| start()).collect();
    let answers: Vec<Value> =
        racing.into_iter().map(|child| Answer::of(child.wait_with_output().unwrap()).fine().json()).collect();
    let own = |what: &str| -> u64 { answers.iter().map(|answer| answer["own"][what].as_u64().unwrap()).sum() };
    assert_eq!(own("counted"), 15, "a chunk counted twice, or not at all: {answers:?}");
    for answer in &answers {
        assert_eq!((&answer["totals"]["distinct"], &answer["totals"]["events"]), (&15.into(), &60.into()));
        assert_eq!(answer["digest"], digest.as_str());
    }
    assert_eq!(files(&place.file("together/refused")) as u64, own("refused"));
}

fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[test]
fn input_is_read_from_files_and_its_file_system_reported() {
    let place = Place::new();
    place.ask(&["farm", "input", "data", "--events", "200", "--chunk", "50", "--seed", "2"]).fine();
    let arguments =
        ["farm", "run", "builtin:analyse", "--events", "200", "--chunk", "50", "--seed", "2", "--format=json"];
    let memory = place.ask(&arguments).fine().json();
    let files = place.ask(&[&arguments[..], &["--input", "data"]].concat()).fine().json();
    assert_eq!(memory["digest"], files["digest"]);
    let kind = os::file::filesystem(place.path()).unwrap().kind;
    assert!(files["inputs"][0].as_str().unwrap().contains(&kind), "{}", files["inputs"]);
    std::fs::remove_file(place.file("data/events-000000000050-50.ntuple")).unwrap();
    let failed = place.ask(&[&arguments[..], &["--input", "data"]].concat());
    assert_eq!(failed.code, Some(2), "{failed:?}");
}

/// A coordinator that is stopped for longer than a lease ends no lease, because it could not receive heartbeats.
#[test]
fn a_coordinator_that_stood_still_takes_no_work_away() {
    testing::attempts(3, || {
        let place = Place::new();
        let work = ["builtin:simulate", "--events", "8", "--chunk", "4", "--pace", "12", "--nodes", "2", "--jobs", "1"];
        let mut farm = Running::start(&place, &[&work[..], &["--lease", "4s", "--speculate", "0"]].concat(), |_| None);
        farm.wait_for("both pilots", |farm| farm.count("joined") == 2);
        std::thread::sleep(Duration::from_millis(500));
        let coordinator = farm.child.id().cast_signed();
        signal(coordinator, kernels::signal::Signal::Stop);
        std::thread::sleep(Duration::from_secs(6));
        signal(coordinator, kernels::signal::Signal::Continue);
        let run = farm.finish().fine().json();
        let count = |what: &str| run["incidents"].as_array().unwrap().iter().filter(|one| one["what"] == what).count();
        assert!(count("stalled") >= 1, "{}", run["incidents"]);
        // Pilots that had no CPU for 4 s lose their leases rightly.
        testing::hold!(count("expired") == 0, "{}", run["incidents"]);
        assert_eq!((&run["totals"]["commits"], &run["totals"]["refused"]), (&2.into(), &0.into()));
        Ok(())
    });
}
