//! Requests to a farm: refusals, and its state on a terminal and for programs.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test says so when it cannot go on")]

use crate::common::Place;

#[test]
fn invalid_requests_are_refused_in_one_line() {
    let place = Place::new();
    let refused = |arguments: &[&str]| place.ask(&[&["farm"], arguments].concat()).refused();
    let run = ["run", "builtin:reconstruct", "--events", "10", "--chunk", "5"];
    assert!(refused(&["run", "builtin:nothing", "--events", "1", "--chunk", "1"]).contains("builtin:reconstruct"));
    assert!(refused(&["run", "builtin:simulate", "--events", "0", "--chunk", "1"]).contains("at least one"));
    assert!(refused(&[&run[..], &["--listen", "0.0.0.0"]].concat()).contains("name the one address"));
    assert!(refused(&[&run[..], &["--launcher", "slurm"]].concat()).contains("--listen"));
    assert!(refused(&[&run[..], &["--launcher", "ssh", "--listen", "192.0.2.1"]].concat()).contains("--hosts"));
    let host = ["--launcher", "ssh", "--listen", "192.0.2.1", "--hosts=-oProxyCommand=x"];
    assert!(refused(&[&run[..], &host].concat()).contains("not a valid host name"));
    let host = ["--launcher", "ssh", "--listen", "192.0.2.1", "--hosts=a,me@A"];
    assert!(refused(&[&run[..], &host].concat()).contains("use a as two nodes: --hosts names it twice"));
    assert!(refused(&[&run[..], &["--expect-digest", "xyz"]].concat()).contains("digest"));
    assert!(refused(&["resume", "nothing"]).contains("nothing"));
    let said = refused(&[&run[..], &["--ledger", "postgres://me@host/base"]].concat());
    assert!(said.contains("postgres://me@host/base") && said.contains("a ledger is a file"), "{said}");
    // A password on the command line is refused before anything is done with it, and not repeated.
    let said = refused(&["status", "postgres://me:secret@host/base"]);
    assert!(said.contains("PGPASSWORD") && !said.contains("secret"), "{said}");
    // An address that cannot be listened on leaves no ledger behind.
    let said = refused(&[&run[..], &["--listen", "192.0.2.1", "--ledger", "none"]].concat());
    assert!(said.contains("192.0.2.1") && !place.file("none").exists(), "{said}");
    assert!(refused(&[&run[..], &["--products", "p"]].concat()).contains("{out}"));
    assert!(refused(&[&run[..], &["--verify", "10"]].concat()).contains("one node"));
    assert!(refused(&[&run[..], &["--verify", "101", "--nodes", "2"]].concat()).contains("0 to 100"));
    std::fs::write(place.file("text"), "not a ledger").unwrap();
    assert!(refused(&["status", "text"]).contains("ledger"));
}

/// Output on a terminal while a farm runs: only redrawn lines, which disappear at the end.
#[test]
fn a_terminal_shows_the_state_of_the_farm() {
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_prony");
    let run = format!(
        "stty cols 200 rows 40; exec {program} farm run builtin:simulate --events 60 --chunk 2 --nodes 2 --jobs 1 --pace 0.2"
    );
    let mut terminal = std::process::Command::new("script");
    terminal.args(["--quiet", "--return", "--flush", "--command", &run, "/dev/null"]).current_dir(place.path());
    let Ok(output) = terminal.env("PRONY_STORE", place.file("runs.sqlite")).env("TERM", "xterm").output() else {
        testing::skip!("no terminal here: script(1) is not installed");
        return;
    };
    let seen = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{seen}");
    for words in
        ["/30 chunks", " events/s now, ", " on average, CPU efficiency ", " left, 0 duplicates (0.0 s of CPU time)"]
    {
        assert!(seen.contains(words), "{words}: {seen}");
    }
    for node in ["  n1: ", "  n2: "] {
        let line = seen.split(['\r', '\n']).rfind(|line| line.contains(node)).unwrap();
        assert!(line.contains(" events/s, ") && line.contains("1 slots") && line.contains("0 duplicates"), "{line}");
    }
    // The report comes after the lines are removed.
    let last = seen.rfind(" events/s now, ").unwrap();
    assert!(seen[last..].contains("Integrity checks"), "{seen}");
}

/// Text that would become a command of the batch script is refused in one line.
#[test]
fn options_of_several_lines_reach_no_batch_script() {
    let place = Place::new();
    let fleet = ["fleet", "run", "--launcher", "slurm", "--nodes", "2"];
    for option in ["--slurm-option", "--partition", "--hosts"] {
        let said = place.ask(&[&fleet[..], &[option, "x\ntouch here"]].concat()).refused();
        assert!(said.contains("control character"), "{said}");
    }
}
