//! Farms over a real ssh, and over one that hangs.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test says so when it cannot go on")]

use crate::common::Place;
use crate::common::sshd::Sshd;
use ::farm::{Ledger, SqliteLedger};

#[test]
fn a_farm_over_ssh_gives_the_result_of_a_local_one() {
    let Some(sshd) = Sshd::start() else { return };
    let place = Place::new();
    let arguments =
        ["farm", "run", "builtin:simulate", "--events", "40", "--chunk", "4", "--seed", "6", "--format=json"];
    let here = place.ask(&arguments).fine().json();
    let ssh = sshd.client();
    let by =
        ["--launcher", "ssh", "--hosts", "127.0.0.1,localhost", "--jobs", "1", "--ssh", &ssh, "--ledger", "ledger"];
    let there = place.ask(&[&arguments[..], &by].concat()).fine().json();
    assert_eq!(there["totals"]["commits"], 10);
    assert_eq!(here["digest"], there["digest"]);
    let joined = |node: &str| {
        there["incidents"].as_array().unwrap().iter().any(|one| one["what"] == "joined" && one["node"] == node)
    };
    assert!(joined("127.0.0.1") || joined("localhost"), "{}", there["incidents"]);
    // The token passed through the standard input of ssh: no readable file or command line contains it.
    let token = SqliteLedger::read(&place.file("ledger")).unwrap().farm().unwrap().token;
    assert!(!there.to_string().contains(&token));
}

/// A login that hangs, such as at a missing home directory, ends in its time and is reported; others do its work.
#[test]
fn a_pilot_whose_ssh_hangs_is_ended_and_told() {
    let place = Place::new();
    let script = "#!/bin/sh\nfor word; do last=$word; done\ncase \" $* \" in *' 127.0.0.2 '*)\n\
                  echo 'waiting for the home directory' >&2; echo $$ >> hung; exec sleep 1000;; esac\n\
                  exec sh -c \"$last\"\n";
    let ssh = place.file("ssh");
    std::fs::write(&ssh, script).unwrap();
    std::fs::set_permissions(&ssh, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let work = ["farm", "run", "builtin:simulate", "--events", "48", "--chunk", "4", "--pace", "1", "--jobs", "1"];
    let by = ["--launcher", "ssh", "--hosts", "127.0.0.1,127.0.0.2", "--ssh", ssh.to_str().unwrap()];
    let run = place.ask(&[&work[..], &by, &["--connect-wait", "4s", "--ledger", "ledger", "--format=json"]].concat());
    let run = run.fine().json();
    assert_eq!(run["totals"]["commits"], 12);
    let incidents = run["incidents"].as_array().unwrap();
    let told = |one: &&serde_json::Value| one["what"] == "ended" && one["node"] == "127.0.0.2";
    let ended = incidents.iter().find(told).unwrap_or_else(|| panic!("{incidents:?}"))["detail"].as_str().unwrap();
    assert!(ended.contains("within 4 s") && ended.ends_with("waiting for the home directory"), "{ended}");
    // Nothing of it is left.
    for process in std::fs::read_to_string(place.file("hung")).unwrap().lines() {
        let words = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        assert!(!words.starts_with(b"sleep\x001000"), "{process} still sleeps");
    }
}

/// A node on which everything fails comes first; the others still wait, as jobs in a queue do.
#[test]
fn a_broken_node_that_comes_first_does_not_end_the_run() {
    let place = Place::new();
    let script = "#!/bin/sh\nfor word; do last=$word; done\n\
                  case \" $* \" in *' 127.0.0.1 '*) export BROKEN=1;; *) sleep 7;; esac\nexec sh -c \"$last\"\n";
    let ssh = place.file("ssh");
    std::fs::write(&ssh, script).unwrap();
    std::fs::set_permissions(&ssh, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::write(
        place.file("mine.toml"),
        "[application.mine]\nrun = [\"sh\", \"-c\", 'test -z \"$BROKEN\" && echo digest=1', \"chunk\", \"{chunk}\"]\n\
         work = { events = 1, unit = \"event\" }\nverify = { digest = \"digest=([0-9a-f]+)\" }\n",
    )
    .unwrap();
    let work = ["farm", "run", "mine.toml", "--events", "6", "--chunk", "1", "--jobs", "1", "--format=json"];
    let by = ["--launcher", "ssh", "--hosts", "127.0.0.1,127.0.0.2", "--ssh", ssh.to_str().unwrap()];
    let run = place.ask(&[&work[..], &by].concat()).fine();
    let nodes = run.json()["nodes"].clone();
    let of = |name: &str| nodes.as_array().unwrap().iter().find(|node| node["node"] == name).unwrap()["totals"].clone();
    assert!(of("127.0.0.1")["failed"].as_u64().unwrap() >= 5 && of("127.0.0.2")["commits"] == 6, "{nodes}");
    // Beyond the patience of the run nobody is waited for.
    let failed = place.ask(&[&work[..], &by, &["--patience", "1s"]].concat());
    assert_eq!(failed.code, Some(2), "{failed:?}");
    let said = "fails on every node: 127.0.0.1 (1 more did not connect within 1 s)";
    assert!(failed.err.contains(said) && failed.err.contains("127.0.0.1 failed"), "{failed:?}");
}
