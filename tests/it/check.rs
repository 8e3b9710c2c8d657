//! `prony check` through the program: a screen, data, exit codes, and a real fleet with one slowed node.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::common::{Answer, Place};
use crate::outside::HalfCpu;
use serde_json::Value;

/// A stored run of a guest that had its machine to itself.
fn alone() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/docs/alone.json.zst").display().to_string()
}

fn rows(found: &Value) -> Vec<Value> {
    found["nodes"][0]["rows"].as_array().unwrap().clone()
}

/// Nothing is low in a run of a machine that was quiet, whatever machine runs the test.
#[test]
fn a_stored_run_fits_one_screen_and_says_what_is_expected() {
    let place = Place::new();
    let mut asked = place.prony();
    asked.args(["check", "--run", &alone()]).env("COLUMNS", "80");
    let answer = Answer::of(asked.output().unwrap());
    assert!([Some(0), Some(3)].contains(&answer.code), "{answer:?}");
    assert!(answer.out.lines().count() <= 24, "{}", answer.out);
    assert!(answer.out.lines().all(|line| line.chars().count() <= 80), "{}", answer.out);
    assert!(answer.out.contains("no expectation") && answer.out.contains("clock under load"), "{}", answer.out);
    let data = place.ask(&["check", "--run", &alone(), "--format=json"]).json();
    let clock = rows(&data).into_iter().find(|row| row["title"] == "clock under load").unwrap();
    assert_eq!(clock["expected"]["basis"], "parts");
    let unexpected: Vec<Value> = rows(&data).into_iter().filter(|row| row["verdict"] == "no_expectation").collect();
    assert!(unexpected.iter().all(|row| row.get("expected").is_none()), "{unexpected:?}");
}

#[test]
fn a_slower_copy_of_a_run_is_low_against_its_own_past() {
    let place = Place::new();
    place.ask(&["import", &alone()]).fine();
    let run = place.ask(&["show", "1", "--format=json"]).fine().json();
    let copy = |name: &str, factor: f64| {
        let mut run = run.clone();
        run.as_object_mut().unwrap().remove("quality");
        run["id"] = name.into();
        run["session"].as_object_mut().unwrap().remove("conditions");
        for result in run["results"].as_array_mut().unwrap() {
            result["flags"] = Value::Array(Vec::new());
            if result["benchmark"] == "os.syscall_write" {
                for sample in result["samples"].as_array_mut().unwrap() {
                    sample["value"] = (factor * sample["value"].as_f64().unwrap()).into();
                    for part in ["value", "cycles"] {
                        if let Some(value) = sample["clean"][part].as_f64() {
                            sample["clean"][part] = (factor * value).into();
                        }
                    }
                }
                for end in ["value", "low", "high"] {
                    let value = result["outcome"]["measured"][end].as_f64().unwrap();
                    result["outcome"]["measured"][end] = (factor * value).into();
                }
            }
        }
        let file = place.file(&format!("{name}.json"));
        std::fs::write(&file, run.to_string()).unwrap();
        file.display().to_string()
    };
    let earlier: Vec<String> =
        (0..4).map(|number| copy(&format!("early{number}"), 1.0 + 0.01 * f64::from(number))).collect();
    let words: Vec<&str> = std::iter::once("import").chain(earlier.iter().map(String::as_str)).collect();
    place.ask(&words).fine();
    let slow = copy("slow", 5.0);
    let answer = place.ask(&["check", "--run", &slow, "--format=json"]);
    let row = rows(&answer.json())
        .into_iter()
        .find(|row| row["id"].as_str().unwrap().starts_with("os.syscall_write"))
        .unwrap();
    assert_eq!((answer.code, row["verdict"].as_str()), (Some(1), Some("low")), "{row}");
    assert_eq!(row["expected"]["basis"], "own_past");
    assert!(row["p"].as_f64().unwrap() < 0.05);
    // Against healthy copies a fleet names it.
    let found = place.ask(&["check", "--run", &earlier[0], "--run", &earlier[1], "--run", &slow, "--format=json"]);
    assert_eq!(found.code, Some(1));
    let drain = found.json()["drain"].clone();
    assert!(drain.as_array().unwrap().len() == 1 && drain[0].as_str().unwrap().contains("slow"), "{drain}");
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
        Ok(())
    });
}
