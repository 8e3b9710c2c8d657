//! Farms over a real ssh.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test says so when it cannot go on")]

use crate::common::Place;
use crate::common::sshd::Sshd;
use ::farm::{Ledger, SqliteLedger};

#[test]
fn a_farm_over_ssh_gives_the_result_of_a_local_one() {
    let Some(sshd) = Sshd::start() else { return };
    let place = Place::new();
    let arguments = ["farm", "run", "builtin:simulate", "--events", "40", "--chunk", "4", "--seed", "6", "--json"];
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
