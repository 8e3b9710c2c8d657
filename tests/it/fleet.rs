//! Fleets through the program: launchers, agents, and a real Slurm of four nodes.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::common::slurm::SlurmLab;
use crate::common::sshd::Sshd;
use crate::common::{Answer, Place};
use serde_json::Value;

/// Two results that converge with few samples: the test is about the fleet.
const FLEET: &[&str] = &["fleet", "run", "--target=90", "--benchmark=os.syscall_getppid", "--benchmark=os.clock_read"];

/// One of them, where nodes are all that counts.
const BRIEF: &[&str] = &["fleet", "run", "--target=90", "--benchmark=os.clock_read"];

/// Results that never reach their target, so that there are many rounds.
const SLOW: &[&str] = &[
    "--target",
    "0.001",
    "--benchmark",
    "os.syscall_getppid",
    "--benchmark",
    "os.syscall_write",
    "--benchmark",
    "os.clock_read",
    "--benchmark",
    "os.signal_install",
    "--benchmark",
    "os.select",
    "--benchmark",
    "os.yield",
];

fn with<'a>(base: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [base, more].concat()
}

fn states(report: &Value) -> Vec<(String, String)> {
    let word = |node: &Value, key: &str| node[key].as_str().unwrap_or_default().to_owned();
    report["nodes"].as_array().unwrap().iter().map(|node| (word(node, "node"), word(node, "state"))).collect()
}

/// A program in place of ssh: it ignores its options and runs the command here.
fn fake_ssh(place: &Place, body: &str) -> String {
    // A path and an option with blanks, quoted as in a shell.
    let path = place.file("my ssh");
    let text = format!(
        "#!/bin/bash\nwhile [ $# -gt 2 ]; do shift; done\nhost=$1; shift\nexport SSH_CONNECTION='127.0.0.1 1 127.0.0.1 22'\n{body}\nexec sh -c \"$*\"\n"
    );
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("'{}' -o 'ProxyCommand=ssh -W %h:%p jump'", path.display())
}

/// The document of a run with a limit of 170 s that ended after `seconds`.
fn limited(place: &Place, name: &str, seconds: f64) -> String {
    let mut run = place.ask(&["show", name, "--format=json"]).fine().json();
    run["plan"]["time_limit"] = 170.0.into();
    (run["session"]["complete"], run["session"]["seconds"]) = (false.into(), seconds.into());
    let file = format!("limited-{name}.json");
    std::fs::write(place.file(&file), run.to_string()).unwrap();
    file
}

#[test]
fn a_local_fleet_keeps_every_run_and_shows_the_spread() {
    testing::attempts(3, || {
        let place = Place::new();
        let report = place.ask(&with(FLEET, &["--nodes", "3", "--label", "three", "--format=json"])).fine().json();
        assert!(states(&report).iter().all(|(_, state)| state == "measured"), "{report}");
        let results = report["spread"]["results"].as_array().unwrap();
        // A result that splits into modes on one of the nodes because of other load has no spread.
        testing::hold!(results.len() == 2, "{report}");
        for result in results {
            assert_eq!(result["values"].as_array().unwrap().len(), 3);
            let [least, most] = ["least", "most"].map(|end| result[end]["value"].as_f64().unwrap());
            assert!((least..=most).contains(&result["median"].as_f64().unwrap()));
        }
        let run = place.ask(&["show", "three node 1", "--format=json"]).fine().json();
        let notes = run["session"]["notes"].to_string();
        assert!(notes.contains("node 1 of a fleet of 3 by local, 1 at once"), "{notes}");
        // The same result from the stored runs.
        let again = place.ask(&["fleet", "spread", "1", "2", "3", "--format=json"]).fine().json();
        // With other names, which appear for an outlier.
        let values = |report: &Value| -> Vec<Value> {
            report["spread"]["results"].as_array().unwrap().iter().map(|result| result["values"].clone()).collect()
        };
        assert_eq!(values(&again), values(&report));
        assert!(place.ask(&["fleet", "spread", "1"]).refused().contains("at least two"));
        // Runs that ended by their limit count as measured, as nodes of a fleet with a limit do; stopped ones do not.
        for (seconds, state) in [(170.5, "measured"), (20.0, "stopped")] {
            let files: Vec<String> = ["1", "2"].iter().map(|name| limited(&place, name, seconds)).collect();
            let limited = place.ask(&["fleet", "spread", &files[0], &files[1], "--format=json"]).fine().json();
            assert!(states(&limited).iter().all(|(_, found)| found == state), "{limited}");
        }
        Ok(())
    });
}

#[test]
fn hosts_that_ssh_cannot_reach_are_missing_by_name_and_reason() {
    let place = Place::new();
    let ssh =
        fake_ssh(&place, "[ $host = b ] && { echo 'ssh: connect to host b port 22: No route to host' >&2; exit 255; }");
    let options = ["--launcher", "ssh", "--hosts", "a,b,c", "--ssh", &ssh, "--format=json"];
    let answer = place.ask(&with(BRIEF, &options));
    assert_eq!(answer.code, Some(2), "{answer:?}");
    let report = answer.json();
    let expected = [("a", "measured"), ("b", "missing"), ("c", "measured")];
    assert_eq!(states(&report), expected.map(|(node, state)| (node.to_owned(), state.to_owned())));
    assert_eq!(report["nodes"][1]["reason"], "ssh: connect to host b port 22: No route to host");
    assert!(answer.err.contains("1 of 3 nodes did not measure"), "{}", answer.err);
    // Received documents are stored.
    assert_eq!(place.ask(&["runs", "--format=json"]).fine().json().as_array().map(Vec::len), Some(2));
}

#[test]
fn a_program_with_invalid_messages_or_another_version_is_not_a_node() {
    let place = Place::new();
    let body = "case $host in
        babbles) echo 'Welcome to babbles!'; exec sleep 5;;
        silent) exit 3;;
        old) echo '{\"version\":\"0.0.1\",\"host\":\"old\",\"process\":1,\"clock\":1,\"cpus\":1,\"address\":\"127.0.0.1\",\"can\":[\"measure\"]}'; exec sleep 5;;
        absent) set -- '/nowhere/prony agent';;
        good) printf 'Universit\\351\\nWelcome {to} good!\\n';;
        esac";
    let ssh = fake_ssh(&place, body);
    let hosts = "babbles,silent,old,absent,good";
    let answer = place.ask(&with(BRIEF, &["--launcher", "ssh", "--hosts", hosts, "--ssh", &ssh, "--format=json"]));
    let report = answer.json();
    let reasons: Vec<&str> =
        report["nodes"].as_array().unwrap().iter().filter_map(|node| node["reason"].as_str()).collect();
    assert_eq!(reasons.len(), 4, "{report}");
    for (reason, expected) in
        reasons.iter().zip(["printed 'Welcome to babbles!'", "ended before", "version 0.0.1", "not found"])
    {
        assert!(reason.contains(expected), "{reason} lacks {expected}");
    }
    assert_eq!(states(&report)[4], ("good".to_owned(), "measured".to_owned()));
}

#[test]
fn invalid_requests_are_refused_in_one_line() {
    let place = Place::new();
    let refused = |arguments: &[&str]| place.ask(arguments).refused();
    assert!(refused(&["fleet", "run", "--launcher", "ssh"]).contains("--hosts"));
    assert!(
        refused(&with(FLEET, &["--launcher", "ssh", "--hosts=-oProxyCommand=id"])).contains("not a valid host name")
    );
    assert!(refused(&with(FLEET, &["--launcher", "ssh", "--hosts", "a", "--nodes", "2"])).contains("--hosts names 1"));
    // Both would measure at once, and the document of one would take the place of the other's.
    assert!(refused(&with(FLEET, &["--launcher", "ssh", "--hosts", "a,b,me@a"])).contains("a as two nodes"));
    assert!(refused(&["fleet", "run", "--suite", "quik"]).contains("quick"));
    let mut bare = place.prony();
    let none = Answer::of(bare.args(with(FLEET, &["--launcher", "slurm"])).env("PATH", place.path()).output().unwrap());
    assert!(none.refused().contains("the program sinfo is missing"));
    let mut bare = place.prony();
    let none = Answer::of(
        bare.args(with(FLEET, &["--launcher", "ssh", "--hosts", "a", "--ssh", "/nowhere/ssh"])).output().unwrap(),
    );
    assert!(none.out.contains("the program /nowhere/ssh is missing"), "{none:?}");
}

/// System calls of one node pass through a filter of 2000 instructions. It is an outlier in these and in nothing else,
/// and the explanation names the entry into the kernel.
#[test]
fn a_node_with_slow_system_calls_is_an_outlier_and_explained() {
    if !testing::slow(
        "a node that is really an outlier takes half a minute; simulated ones stand for it beside the spread",
    ) {
        return;
    }
    if Command::new("python3").args(["-c", "import ctypes"]).output().is_err() {
        testing::skip!("there is no python3 here, which sets up the filter");
        return;
    }
    let filter = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/labs/filtered.py");
    let benchmarks = ["os.syscall_getppid", "cpu.add", "cpu.multiply"];
    // Under changing load the nodes, measured one after the other, may differ so much that none is an outlier. Each
    // attempt has its own store: the nodes are one machine, and stored runs of the slow one would widen its session
    // noise.
    testing::attempts(9, || {
        let place = Place::new();
        let ssh = fake_ssh(&place, &format!("[ $host = c ] && exec sh -c \"exec python3 {filter} ${{1#exec }}\""));
        let mut arguments =
            vec!["fleet", "run", "--launcher", "ssh", "--hosts", "a,b,c", "--parallel", "1", "--target", "20"];
        arguments.extend(["--format=json", "--fail-on", "outlier", "--time-limit", "15s", "--ssh", &ssh]);
        arguments.extend(benchmarks.iter().flat_map(|benchmark| ["--benchmark", benchmark]));
        let answer = place.ask(&arguments);
        let report = answer.json();
        let node = |list: &str| {
            let all = if list == "outliers" { &report["spread"]["outliers"] } else { &report["explanations"] };
            all.as_array().and_then(|all| all.iter().find(|one| one["node"] == "c")).cloned()
        };
        let Some(slow) = node("outliers") else { return Err(format!("c is no outlier: {report}")) };
        assert_eq!(answer.code, Some(1), "{answer:?}");
        let results = slow["results"].as_array().unwrap();
        let Some(calls) = results.iter().find(|one| one["title"] == "getppid system call") else {
            return Err(format!("not in its system calls: {slow}"));
        };
        testing::hold!(calls["gain"].as_f64().unwrap() < 1.0 / 1.5 && calls["worse"] == true, "{slow}");
        let why = node("explanations").map(|why| why["explanation"]["causes"].to_string()).unwrap_or_default();
        testing::hold!(why.contains("syscall"), "explained as {why}");
        Ok(())
    });
}

#[test]
fn a_stopped_fleet_stores_received_documents() {
    let place = Place::new();
    let ssh = fake_ssh(&place, "");
    let mut command = place.prony();
    command.args(["fleet", "run", "--launcher", "ssh", "--hosts", "a,b", "--format=json", "--ssh", &ssh]).args(SLOW);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(120);
    // The first documents arrive after the first round, and there are many.
    while place.ask(&["runs", "--format=json"]).json().as_array().is_none_or(|runs| runs.len() < 2) {
        if Instant::now() > deadline {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    os::process::send(child.id().cast_signed(), Some(kernels::signal::Signal::Interrupt)).unwrap();
    let answer = Answer::of(child.wait_with_output().unwrap());
    assert_eq!(answer.code, Some(130), "{answer:?}");
    let report = answer.json();
    assert!(states(&report).iter().all(|(_, state)| state == "stopped"), "{report}");
    assert_eq!(place.ask(&["runs", "--format=json"]).fine().json().as_array().map(Vec::len), Some(2));
}

#[test]
fn a_real_sshd_gives_agents_and_builds_events() {
    let Some(sshd) = Sshd::start() else { return };
    let place = Place::new();
    let command = sshd.client();
    let options = ["--launcher", "ssh", "--hosts", "127.0.0.1,localhost", "--ssh", &command, "--format=json"];
    let report = place.ask(&with(BRIEF, &options)).fine().json();
    assert_eq!(states(&report).len(), 2);
    let build = ["net", "build", "--launcher", "ssh", "--hosts", "127.0.0.1,localhost", "--ssh", &command];
    let more = [
        "--senders",
        "1",
        "--receivers",
        "1",
        "--events",
        "100",
        "--max-samples",
        "8",
        "--max-skew",
        "5000",
        "--format=json",
    ];
    let run = place.ask(&with(&build, &more)).fine().json();
    let notes = run["results"][0]["notes"].to_string();
    // Under other load an answer may be so late that it is requested again, so that more is sent than needed.
    let all = notes.contains("3200000 B received; no pair lost any");
    assert!(notes.contains("127.0.0.1 (lo)") && (all || notes.contains("repeated requests")), "{notes}");
}

/// The small version of the next test.
#[test]
fn a_real_slurm_of_two_nodes_measures_both() {
    let Some(lab) = SlurmLab::start(2) else { return };
    let place = Place::new();
    let slurm = with(BRIEF, &["--launcher", "slurm", "--nodes", "2", "--patience", "60s", "--format=json"]);
    let report = Answer::of(lab.at_head(place.prony().args(slurm)).output().unwrap()).fine().json();
    let expected = ["n1", "n2"].map(|node| (node.to_owned(), "measured".to_owned()));
    assert_eq!(states(&report), expected);
}

#[test]
fn a_real_slurm_with_a_node_down_names_it_with_slurms_reason() {
    if !testing::slow("a node that is lost is waited for; two nodes stand for Slurm") {
        return;
    }
    let Some(lab) = SlurmLab::start(4) else { return };
    let place = Place::new();
    let head = |arguments: &[&str]| Answer::of(lab.at_head(place.prony().args(arguments)).output().unwrap());
    a_node_is_lost_in_the_middle(&lab, &place);
    let slurm = with(FLEET, &["--launcher", "slurm", "--nodes", "4", "--patience", "20s", "--format=json"]);
    lab.wait_for("n3", "down");
    let answer = head(&slurm);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    let report = answer.json();
    let measured = states(&report).iter().filter(|(_, state)| state == "measured").count();
    assert_eq!(measured, 3, "{report}");
    let lost = report["nodes"].as_array().unwrap().iter().find(|node| node["state"] == "missing").unwrap();
    assert_eq!((lost["node"].as_str(), lost["reason"].as_str()), (Some("n3"), Some("down*: Not responding")));
    let hosts: Vec<&str> =
        report["nodes"].as_array().unwrap().iter().filter_map(|node| node["host"].as_str()).collect();
    assert_eq!(hosts, ["n1", "n2", "n4"], "each measured itself");
    // With four required nodes and one missing, nothing is started.
    let refused = head(&["net", "build", "--launcher", "slurm", "--senders", "2", "--receivers", "2"]).refused();
    assert!(refused.contains("n3 is missing, down*: Not responding"), "{refused}");

    lab.tell(&["start-node", "3"]);
    lab.wait_for("n3", "idle");
    events_are_built_between_four_nodes(&head);
    let queue = Answer::of(lab.at_head(Command::new("squeue").arg("--noheader")).output().unwrap());
    assert!(queue.out.trim().is_empty(), "jobs are left behind: {}", queue.out);
}

/// Node 3 loses power after its first document: its measurements are stored, and the others continue.
fn a_node_is_lost_in_the_middle(lab: &SlurmLab, place: &Place) {
    let mut command = place.prony();
    command.args([
        "fleet",
        "run",
        "--launcher",
        "slurm",
        "--nodes",
        "4",
        "--format=json",
        "--time-limit",
        "15s",
        "--label",
        "cut",
    ]);
    command.args(SLOW);
    let mut head = lab.at_head(&command);
    let child = head.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(100);
    while place.ask(&["show", "cut n3", "--format=json"]).code != Some(0) {
        assert!(Instant::now() < deadline, "no document of n3 comes");
        std::thread::sleep(Duration::from_millis(200));
    }
    lab.tell(&["kill-node", "3"]);
    let answer = Answer::of(child.wait_with_output().unwrap());
    assert_eq!(answer.code, Some(2), "{answer:?}");
    let report = answer.json();
    let lost = report["nodes"].as_array().unwrap().iter().find(|node| node["node"] == "n3").unwrap();
    assert_eq!(lost["state"], "lost", "{lost}");
    assert!(lost["number"].is_u64() && !lost["reason"].as_str().unwrap().is_empty(), "{lost}");
    assert_eq!(states(&report).iter().filter(|(_, state)| state == "measured").count(), 3, "{lost}");
}

fn events_are_built_between_four_nodes(head: &dyn Fn(&[&str]) -> Answer) {
    for (pattern, transport) in [("pull", "credits"), ("barrel_shift", "tcp")] {
        let build = ["net", "build", "--launcher", "slurm", "--senders", "2", "--receivers", "2", "--events", "300"];
        let more = [
            "--pattern",
            pattern,
            "--transport",
            transport,
            "--max-samples",
            "8",
            "--max-skew",
            "5000",
            "--format=json",
        ];
        let run = head(&with(&build, &more)).fine().json();
        let notes = run["results"][0]["notes"].to_string();
        for node in ["n1 10.77.0.11 (eth0)", "n2 10.77.0.12 (eth0)", "n3 10.77.0.13 (eth0)", "n4 10.77.0.14 (eth0)"] {
            assert!(notes.contains(node), "{notes}");
        }
        assert!(notes.contains("nodes started within") && notes.contains("B received;"), "{notes}");
        if transport == "tcp" {
            let all = notes.contains("9600000 B sent, 9600000 B received; no pair lost any");
            assert!(all || notes.contains("repeated requests") && notes.contains("9600000 B received"), "{notes}");
        }
    }
}

/// A limit that ends every node before any result: no node counts as measured.
#[test]
fn nodes_without_a_result_are_not_measured() {
    let place = Place::new();
    let answer = place.ask(&with(BRIEF, &["--nodes=2", "--time-limit=0.000001s", "--format=json"]));
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert!(answer.err.contains("2 of 2 nodes did not measure to the end"), "{answer:?}");
    let report = answer.json();
    assert!(states(&report).iter().all(|(_, state)| state == "nothing"), "{report}");
    assert!(report["spread"].is_null(), "{report}");
    let notes = place.ask(&["show", "1", "--format=json"]).fine().json()["session"]["notes"].to_string();
    assert!(notes.contains("\"node 0 of a fleet of 2"), "{notes}");
}
