//! One farm on a real Slurm of four nodes with all failures in one run: a node without power, a frozen daemon whose job
//! is restarted while the old one continues, a network partition that heals, a killed coordinator and a killed
//! controller. The expected result is that of one clean process.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test says so when it cannot go on; one run is one story"
)]

use std::time::Duration;

use crate::common::Place;
use crate::common::farm::{Running, clean, holds};
use crate::common::slurm::SlurmLab;

/// A coordinator that never gets its pilots must not wait forever; a pilot works for at most this time.
const JOB_TIME: &str = "10m";

#[test]
fn nothing_that_happens_to_nodes_changes_the_result() {
    if !testing::slow("a farm on Slurm takes most of a minute; one of fleet stands for Slurm") {
        return;
    }
    let Some(lab) = SlurmLab::start(4) else { return };
    let place = Place::new();
    let (events, chunk, seed) = (720, 4, 11);
    let digest = clean(&place, events, seed);
    let words = |number: u64| number.to_string();
    let (events_text, chunk_text, seed_text) = (words(events), words(chunk), words(seed));
    let arguments = [
        "builtin:reconstruct",
        "--events",
        &events_text,
        "--chunk",
        &chunk_text,
        "--seed",
        &seed_text,
        "--pace",
        "0.5",
        "--launcher",
        "slurm",
        "--nodes",
        "3",
        "--jobs",
        "1",
        "--listen",
        "10.77.0.1",
        "--lease",
        "2",
        "--job-time",
        JOB_TIME,
        "--speculate",
        "0",
    ];
    let at_head = |command: &std::process::Command| Some(lab.at_head(command));
    let mut farm = Running::start(&place, &arguments, at_head);
    let here = |farm: &Running, node: &str| farm.incidents().iter().any(|one| one.what == "joined" && one.node == node);
    farm.wait_for("three pilots", |farm| farm.count("joined") >= 3 && farm.counted() >= 6);
    let busy: Vec<&str> = ["n1", "n2", "n3", "n4"].into_iter().filter(|node| here(&farm, node)).collect();
    let spare = ["n1", "n2", "n3", "n4"].into_iter().find(|node| !busy.contains(node)).unwrap();
    let number = |node: &str| node[1..].to_owned();
    let (dead, frozen, cut) = (busy[0], busy[1], busy[2]);
    eprintln!("power cut: {dead}, frozen: {frozen}, cut off: {cut}, spare: {spare}");

    lab.tell(&["freeze", &number(frozen)]);
    lab.tell(&["kill-node", &number(dead)]);
    lab.tell(&["partition", &number(cut)]);
    let expired =
        |farm: &Running, node: &str| farm.incidents().iter().any(|one| one.what == "expired" && one.node == node);
    farm.wait_for("the leases of the node without power and of the one cut off to end", |farm| {
        expired(farm, dead) && expired(farm, cut)
    });
    // Another pilot finishes its chunk.
    let before = farm.counted();
    farm.wait_for("others to do its chunk", |farm| farm.counted() >= before + 4);
    lab.tell(&["heal", &number(cut)]);
    farm.wait_for("the result of the node that was cut off to be refused", |farm| {
        farm.incidents().iter().any(|one| one.what == "refused" && one.node == cut)
    });

    // The job of the frozen daemon restarts on the spare node, and its old pilot continues.
    farm.wait_for("a job to be begun again on the spare node", |farm| here(farm, spare));
    let of = |farm: &Running, node: &str| farm.counted_of(node);
    let old = of(&farm, frozen);
    farm.wait_for("the frozen node to go on beside it", |farm| of(farm, frozen) >= old + 2);

    farm.child.kill().unwrap();
    farm.child.wait().unwrap();
    lab.tell(&["kill-controller"]);
    let before = farm.counted();
    assert!(before < events / chunk, "the coordinator died too late to show anything: {before}");
    let mut farm = Running::resume(&place, farm.ledger, at_head);
    farm.wait_for("pilots to come back without any controller", |farm| farm.counted() >= before + 6);
    lab.tell(&["start-controller"]);
    lab.tell(&["start-node", &number(dead)]);
    lab.tell(&["thaw", &number(frozen)]);
    std::thread::sleep(Duration::from_millis(100));

    let answer = farm.finish().fine().json();
    holds(&answer, events / chunk, events, &digest);
    let story = |what: &str| answer["incidents"].as_array().unwrap().iter().filter(|one| one["what"] == what).count();
    assert_eq!((story("started"), story("resumed")), (1, 1));
    assert!(answer["totals"]["refused"].as_u64().unwrap() >= 1);
    eprintln!(
        "{} s, {} pilots joined, {} leases ended, {} duplicates refused",
        answer["seconds"],
        story("joined"),
        story("expired"),
        answer["totals"]["refused"]
    );
}

/// A site where jobs are not restarted: a pilot that is cancelled, and one whose node loses power, are submitted again.
#[test]
fn pilots_that_slurm_does_not_restart_are_submitted_again() {
    if !testing::slow("a farm on Slurm takes most of a minute; one of fleet stands for Slurm") {
        return;
    }
    let Some(lab) = SlurmLab::start(3) else { return };
    let place = Place::new();
    let digest = clean(&place, 240, 12);
    let words = "builtin:reconstruct --events 240 --chunk 4 --seed 12 --pace 0.5 --launcher slurm --nodes 2 --jobs 1 \
                 --listen 10.77.0.1 --lease 2 --job-time 10m --speculate 0 --slurm-option=--no-requeue";
    let arguments: Vec<&str> = words.split_whitespace().collect();
    let at_head = |command: &std::process::Command| Some(lab.at_head(command));
    let mut farm = Running::start(&place, &arguments, at_head);
    farm.wait_for("two pilots", |farm| farm.count("joined") >= 2 && farm.counted() >= 2);
    let joined: Vec<String> =
        farm.incidents().into_iter().filter(|one| one.what == "joined").map(|one| one.node).collect();
    let launched = farm.incidents().into_iter().find(|one| one.what == "launched").unwrap().detail;
    let job = launched.rsplit(' ').next().unwrap().to_owned();
    let mut cancel = std::process::Command::new("scancel");
    cancel.arg(&job);
    assert!(lab.at_head(&cancel).status().unwrap().success());
    farm.wait_for("the cancelled pilot to be handed in anew", |farm| farm.count("launched") >= 3);
    farm.wait_for("it to come", |farm| farm.count("joined") >= 3);
    // One of the two first pilots is still running: its node loses power.
    let ended = farm.incidents().into_iter().find(|one| one.what == "left").unwrap().node;
    let dead = joined.iter().find(|node| **node != ended).unwrap();
    lab.tell(&["kill-node", &dead[1..]]);
    farm.wait_for("the pilot of the dead node to be handed in anew", |farm| farm.count("launched") >= 4);
    farm.wait_for("it to come", |farm| farm.count("joined") >= 4);
    let answer = farm.finish().fine().json();
    holds(&answer, 60, 240, &digest);
    let story = answer["incidents"].as_array().unwrap();
    let ends: Vec<&str> =
        story.iter().filter(|one| one["what"] == "ended").map(|one| one["detail"].as_str().unwrap()).collect();
    assert!(
        ends.iter().any(|end| end.contains("CANCELLED")) && ends.iter().any(|end| end.contains("NODE_FAIL")),
        "{ends:?}"
    );
}

/// A coordinator that dies and resumes at another port. Jobs that look for it at the old one would hold their nodes
/// idle, so others replace them.
#[test]
fn jobs_of_the_old_address_are_cancelled_when_a_farm_moves() {
    if !testing::slow("a farm on Slurm takes most of a minute; one of fleet stands for Slurm") {
        return;
    }
    let Some(lab) = SlurmLab::start(2) else { return };
    let place = Place::new();
    let digest = clean(&place, 240, 14);
    let words = "builtin:reconstruct --events 240 --chunk 4 --seed 14 --pace 0.5 --launcher slurm --nodes 2 --jobs 1 \
                 --listen 10.77.0.1 --lease 2 --job-time 10m --speculate 0";
    let at_head = |command: &std::process::Command| Some(lab.at_head(command));
    let mut farm = Running::start(&place, &words.split_whitespace().collect::<Vec<_>>(), at_head);
    farm.wait_for("two pilots", |farm| farm.count("joined") >= 2 && farm.counted() >= 2);
    farm.child.kill().unwrap();
    farm.child.wait().unwrap();
    assert!(farm.counted() < 60, "it died too late to show anything");
    let job = |one: &::farm::Incident| one.detail.rsplit(' ').next().unwrap().to_owned();
    let old: Vec<String> = farm.incidents().iter().filter(|one| one.what == "launched").map(job).collect();
    // Both nodes are taken by the old jobs: without an end of these no pilot could come.
    let mut farm = Running::resume_with(&place, farm.ledger, &["--listen", "10.77.0.1:0"], at_head);
    farm.wait_for("pilots at the new port", |farm| farm.count("joined") >= 4);
    for job in old {
        let mut state = std::process::Command::new("scontrol");
        state.args(["--oneliner", "show", "job", &job]);
        let said = lab.at_head(&state).output().unwrap();
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        assert!(said.contains("JobState=CANCELLED") || said.contains("JobState=COMPLETING"), "{said}");
    }
    let answer = farm.finish().fine();
    assert!(answer.err.contains("moved from 10.77.0.1:"), "{}", answer.err);
    holds(&answer.json(), 60, 240, &digest);
}
