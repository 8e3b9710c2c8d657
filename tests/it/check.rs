//! `prony check` through the program: a screen, data, exit codes, and a real fleet with one slowed node.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::common::{Answer, Place};
use crate::outside::HalfCpu;
use serde_json::Value;

/// A stored run.
fn document(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/docs/{name}.json.zst")).display().to_string()
}

fn rows(found: &Value) -> Vec<Value> {
    found["nodes"][0]["rows"].as_array().unwrap().clone()
}

/// Nothing is low in a run of a machine that was quiet, whatever machine runs the test.
#[test]
fn a_stored_run_fits_one_screen_and_says_what_is_expected() {
    let place = Place::new();
    let mut asked = place.prony();
    asked.args(["check", "--run", &document("alone")]).env("COLUMNS", "80");
    let answer = Answer::of(asked.output().unwrap());
    assert!([Some(0), Some(3)].contains(&answer.code), "{answer:?}");
    assert!(answer.out.lines().count() <= 24, "{}", answer.out);
    assert!(answer.out.lines().all(|line| line.chars().count() <= 80), "{}", answer.out);
    assert!(answer.out.contains("no expectation") && answer.out.contains("clock under load"), "{}", answer.out);
    let data = place.ask(&["check", "--run", &document("alone"), "--format=json"]).json();
    let clock = rows(&data).into_iter().find(|row| row["title"] == "clock under load").unwrap();
    assert_eq!(clock["expected"]["basis"], "parts");
    let unexpected: Vec<Value> = rows(&data).into_iter().filter(|row| row["verdict"] == "no_expectation").collect();
    assert!(unexpected.iter().all(|row| row.get("expected").is_none()), "{unexpected:?}");
}

/// Runs of one guest: three as it was, one with half a CPU, one with a limit on its disk beside another program, and one
/// in a nearly full file system.
#[test]
fn real_findings_have_their_causes() {
    let place = Place::new();
    let earlier = ["first", "second", "third"].map(|name| document(&format!("check-{name}")));
    place.ask(&["import", &earlier[0], &earlier[1], &earlier[2]]).fine();
    let ask = |name: &str| place.ask(&["check", "--run", &document(name), "--format=json"]);
    let found = |answer: &Answer, id: &str| rows(&answer.json()).into_iter().find(|row| row["id"] == id).unwrap();
    let half = ask("check-half-cpu");
    let cpus = found(&half, "cpu.online");
    assert_eq!((half.code, &cpus["verdict"]), (Some(1), &"low".into()));
    assert_eq!(cpus["causes"][0]["because"], "a control group allows 0.50 CPUs");
    let busy = ask("check-busy-disk");
    let disk = found(&busy, "file.fsync");
    assert_eq!(
        (busy.code, &disk["verdict"], &disk["expected"]["basis"]),
        (Some(0), &"busy".into(), &"own_past".into())
    );
    assert!(disk["p"].as_f64().unwrap() < 0.05, "{disk}");
    let full = ask("check-full").json();
    assert_eq!(full["nodes"][0]["look"][0]["because"], "the file system is 96% full");
}

#[test]
fn a_reference_run_and_one_of_another_machine_tell_what_is_expected() {
    let place = Place::new();
    let mut run = place.ask(&["show", &document("alone"), "--format=json"]).fine().json();
    run.as_object_mut().unwrap().remove("quality");
    (run["id"], run["machine"]["fingerprint"]) = ("another".into(), "another".into());
    let file = place.file("another.json");
    std::fs::write(&file, run.to_string()).unwrap();
    place.ask(&["import", &file.display().to_string()]).fine();
    let data = place.ask(&["check", "--run", &document("alone"), "--format=json"]).json();
    let clock = rows(&data).into_iter().find(|row| row["id"] == "os.clock_read").unwrap();
    assert_eq!(clock["expected"]["basis"], "same_model", "{clock}");
    assert!(clock["expected"]["says"].as_str().unwrap().starts_with("2 machines"), "{clock}");
}

#[test]
fn what_cannot_be_checked_is_refused_in_one_line() {
    let place = Place::new();
    assert!(place.ask(&["check", "--run", "7"]).refused().contains('7'));
    assert!(place.ask(&["check", "a", "--hosts", "b"]).refused().contains("name the hosts once"));
    assert!(place.ask(&["check", "--directory", "/no/such"]).refused().contains("/no/such"));
}

/// Three nodes on this host, one of them in a control group that grants half a CPU.
#[test]
fn a_node_slowed_by_a_quota_is_named_with_its_cause() {
    if !testing::slow("three nodes measure one after the other") {
        return;
    }
    let group = match HalfCpu::make() {
        Ok(group) => group,
        Err(why) => {
            testing::skip!("no control group can be made here: {why}");
            return;
        }
    };
    let place = Place::new();
    let ssh = place.file("ssh");
    let script = format!(
        "#!/bin/bash\nwhile [ $# -gt 2 ]; do shift; done\nhost=$1; shift\n\
         [ $host = c ] && echo $$ > {}/cgroup.procs\nexport SSH_CONNECTION='127.0.0.1 1 127.0.0.1 22'\nexec sh -c \"$*\"\n",
        group.0.display()
    );
    std::fs::write(&ssh, script).unwrap();
    std::fs::set_permissions(&ssh, std::fs::Permissions::from_mode(0o755)).unwrap();
    let ssh = ssh.display().to_string();
    testing::attempts(5, || {
        let asked = ["check", "a", "b", "c", "--ssh", &ssh, "--parallel=1", "--time-limit=8s", "--format=json"];
        let answer = place.ask(&asked);
        let found = answer.json();
        let of_c = found["findings"].as_array().unwrap().iter().find(|finding| finding["node"] == "c");
        let says = of_c.map(|finding| finding["says"].to_string()).unwrap_or_default();
        testing::hold!(says.contains("a control group allows 0.50 CPUs"), "{found}");
        // Other tests may slow a healthy node as well, for as long as it measures.
        let drain = found["drain"].as_array().unwrap();
        testing::hold!(drain.iter().any(|node| node == "c") && drain.len() < 3, "{}", found["findings"]);
        assert_eq!(answer.code, Some(1));
        println!(
            "| 3 nodes of one host | 1 of 1 with a CPU quota found | {} of 2 healthy ones named |",
            drain.len() - 1
        );
        Ok(())
    });
}
