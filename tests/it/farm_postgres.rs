//! Farms of several coordinators that share a ledger in a real PostgreSQL server: killed, frozen, and with the server
//! failing. The expected result is that of one undisturbed process.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test says so when it cannot go on")]

use std::process::Child;
use std::time::{Duration, Instant};

use crate::common::farm::{holds, signal, spawn, undisturbed};
use crate::common::postgres::PostgresLab;
use crate::common::{Answer, Place};
use ::farm::{Incident, Ledger, PostgresLedger};

/// Time limit of every step: far above the time that it takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// A run in a database, and its coordinators.
struct Shared<'a> {
    place: &'a Place,
    address: String,
    arguments: Vec<String>,
}

impl<'a> Shared<'a> {
    fn new(place: &'a Place, address: &str, events: u64, seed: u64) -> Self {
        // Addresses may contain a password, which no output may repeat.
        let address = address.replace("prony@", "prony:secret@");
        let words = format!(
            "farm run builtin:reconstruct --events {events} --chunk 4 --seed {seed} --pace 0.2 --nodes 2 --slots 1 --lease 2 \
             --speculate 0 --json --ledger {address}"
        );
        Self { place, address, arguments: words.split_whitespace().map(str::to_owned).collect() }
    }

    fn coordinator(&self) -> Child {
        let mut command = self.place.prony();
        command.args(&self.arguments);
        spawn(command)
    }

    fn story(&self) -> Vec<Incident> {
        PostgresLedger::read(&self.address, None).and_then(|ledger| ledger.incidents()).unwrap_or_default()
    }

    fn count(&self, what: &str) -> usize {
        self.story().iter().filter(|one| one.what == what).count()
    }

    /// Chunks finished by pilots of a coordinator, by the names that it gave them.
    fn done_by(&self, coordinator: &str) -> u64 {
        let nodes = PostgresLedger::read(&self.address, None).and_then(|ledger| ledger.nodes()).unwrap_or_default();
        nodes.iter().filter(|one| one.node.starts_with(coordinator)).map(|one| one.totals.commits).sum()
    }

    fn wait_for(&self, what: &str, running: &mut [&mut Child], holds: impl Fn(&Self) -> bool) {
        let began = Instant::now();
        while !holds(self) {
            assert!(began.elapsed() < PATIENCE, "waited in vain for {what}: {:?}", self.story());
            for child in &mut *running {
                assert!(child.try_wait().unwrap().is_none(), "the farm ended before {what}: {:?}", self.story());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn finish(child: Child) -> serde_json::Value {
    let answer = Answer::of(child.wait_with_output().unwrap()).fine();
    for line in answer.out.lines().chain(answer.err.lines()) {
        assert!(!line.contains("secret"), "{line}");
    }
    answer.json()
}

/// Two coordinators, one of them killed: the other finishes the rest, with the pilots of both.
#[test]
fn one_of_two_coordinators_is_killed_and_the_other_finishes() {
    let Some(lab) = PostgresLab::start() else { return };
    let place = Place::new();
    let digest = undisturbed(&place, 400, 21);
    let shared = Shared::new(&place, &lab.database("farm"), 400, 21);
    let mut one = shared.coordinator();
    shared.wait_for("the first", &mut [&mut one], |farm| farm.count("started") == 1);
    let mut two = shared.coordinator();
    // Pilots know the other coordinator two seconds after it started.
    shared.wait_for("both to count", &mut [&mut one, &mut two], |farm| {
        farm.done_by("c1-") >= 30 && farm.done_by("c2-") >= 10
    });
    one.kill().unwrap();
    one.wait().unwrap();
    let answer = finish(two);
    holds(&answer, 100, 400, &digest);
    let story = answer["incidents"].as_array().unwrap();
    let count = |what: &str| story.iter().filter(|one| one["what"] == what).count();
    assert_eq!((count("started"), count("shared"), count("lost"), count("resumed")), (1, 1, 1, 0), "{story:?}");
    let at = |what: &str| story.iter().position(|one| one["what"] == what).unwrap();
    assert!(at("lost") > at("shared"));
    // The pilots of the killed coordinator connected to the other.
    let orphans =
        story.iter().filter(|one| one["what"] == "joined" && one["node"].as_str().unwrap().starts_with("c1-"));
    assert!(orphans.count() >= 4, "{story:?}");
    // Every reader sees the same, and a finished run is not resumed.
    let status = place.ask(&["farm", "status", &shared.address, "--json"]).fine().json();
    assert_eq!((&status["digest"], &status["totals"]), (&answer["digest"], &answer["totals"]));
    let name = answer["farm"].as_str().unwrap();
    let again = place.ask(&["farm", "resume", &shared.address, "--farm", name, "--expect-digest", &digest, "--json"]);
    holds(&again.fine().json(), 100, 400, &digest);
    let kept = place.ask(&["show", "latest", "--json"]).fine().out;
    assert!(kept.contains("postgres://prony@") && !kept.contains("secret"));
}

/// A coordinator is stopped until it counts as dead, and continues: results of its pilots are refused or accepted like
/// any other, and both coordinators report the same at the end. Meanwhile the server of the ledger is killed and
/// restarted.
#[test]
fn a_coordinator_that_continues_and_a_server_that_dies_count_nothing_twice() {
    let Some(lab) = PostgresLab::start() else { return };
    let place = Place::new();
    let digest = undisturbed(&place, 320, 22);
    let shared = Shared::new(&place, &lab.database("farm"), 320, 22);
    let mut one = shared.coordinator();
    shared.wait_for("the first", &mut [&mut one], |farm| farm.count("started") == 1);
    let mut two = shared.coordinator();
    shared.wait_for("both to count", &mut [&mut one, &mut two], |farm| {
        farm.done_by("c1-") >= 4 && farm.done_by("c2-") >= 4
    });
    signal(i32::try_from(one.id()).unwrap(), sys::signal::Signal::Stop);
    shared.wait_for("the sleeper to be taken for dead", &mut [&mut two], |farm| farm.count("lost") == 1);
    signal(i32::try_from(one.id()).unwrap(), sys::signal::Signal::Continue);
    shared.wait_for("it to find out", &mut [&mut one, &mut two], |farm| farm.count("fenced") == 1);
    lab.tell(&["kill"]);
    std::thread::sleep(Duration::from_millis(500));
    lab.tell(&["again"]);
    let answers = [finish(one), finish(two)];
    for answer in &answers {
        holds(answer, 80, 320, &digest);
    }
    assert_eq!(answers[0]["digest"], answers[1]["digest"]);
}

/// All coordinators die; one resumes at the address of the last one, where its pilots find it.
#[test]
fn a_shared_run_is_resumed_after_all_coordinators_died() {
    let Some(lab) = PostgresLab::start() else { return };
    let place = Place::new();
    let digest = undisturbed(&place, 160, 23);
    let shared = Shared::new(&place, &lab.database("farm"), 160, 23);
    let mut one = shared.coordinator();
    shared.wait_for("some chunks", &mut [&mut one], |farm| farm.done_by("c1-") >= 6);
    one.kill().unwrap();
    one.wait().unwrap();
    let answer = place.ask(&["farm", "resume", &shared.address, "--json", "--expect-digest", &digest]).fine().json();
    holds(&answer, 40, 160, &digest);
    let story = answer["incidents"].as_array().unwrap();
    let count = |what: &str| story.iter().filter(|one| one["what"] == what).count();
    assert_eq!((count("started"), count("resumed")), (1, 1));
    let back = story.iter().filter(|one| one["what"] == "joined" && one["node"].as_str().unwrap().starts_with("c1-"));
    assert!(back.count() >= 4, "no pilot came back: {story:?}");
}

#[test]
fn a_ledger_that_cannot_be_used_is_refused_in_a_line() {
    let place = Place::new();
    let refused = |address: &str| {
        let run = ["farm", "run", "builtin:simulate", "--events", "4", "--chunk", "2", "--ledger", address];
        let said = place.ask(&run).refused();
        assert!(!said.contains("secret"), "{said}");
        for verb in ["resume", "status"] {
            let said = place.ask(&["farm", verb, address]).refused();
            assert!(!said.contains("secret"), "{said}");
        }
        said
    };
    let said = refused("postgres://me:secret@127.0.0.1:1/base");
    assert!(said.contains("could not open the ledger postgres://me@127.0.0.1:1/base"), "{said}");
    refused("postgres://me:secret@host:no/base");
    assert!(place.ask(&["farm", "status", "file", "--farm", "x"]).refused().contains("--farm"));
    let Some(lab) = PostgresLab::start() else { return };
    let address = lab.database("odd");
    lab.sql("odd", "CREATE SCHEMA prony_farm; CREATE TABLE prony_farm.ledger (form bigint); INSERT INTO prony_farm.ledger VALUES (7);");
    assert!(
        refused(&address.replace("prony@", "prony:secret@")).contains("schema version 7; this program knows version 1")
    );
}
