//! A skip is visible though the test passes, is named in the requested file, and fails if skips are forbidden.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::process::{Command, Output};

const ASKED: &str = "PRONY_TEST_OF_SKIPS";

/// Skips if the parent process of this test asks for it.
#[test]
fn skips_when_asked() {
    if std::env::var_os(ASKED).is_some() {
        testing::skip!("no {}\nhere", "moon");
        if testing::slow("it takes a month") {
            std::fs::write(std::env::var_os(ASKED).unwrap(), "slow").unwrap();
        }
    }
}

#[test]
fn one_successful_attempt_is_enough_and_none_is_a_failure() {
    let mut tried = 0;
    testing::attempts(3, || {
        tried += 1;
        testing::hold!(tried == 2, "tried {tried} times");
        Ok(())
    });
    assert_eq!(tried, 2);
    let never = std::panic::catch_unwind(|| testing::attempts(2, || Err("a fault".to_owned())));
    let said = never.unwrap_err();
    assert_eq!(said.downcast_ref::<String>().unwrap(), "in none of 2 attempts: a fault");
}

fn run(more: &[(&str, &str)], folder: &std::path::Path) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["skips_when_asked", "--exact"]).env(ASKED, folder.join("ran"));
    command.env_remove(testing::FORBID).env_remove(testing::SLOW).env(testing::FILE, folder.join("skips"));
    command.envs(more.iter().copied()).output().unwrap()
}

#[test]
fn a_skip_is_visible_named_and_can_be_forbidden() {
    let folder = tempfile::tempdir().unwrap();
    let skips = || std::fs::read_to_string(folder.path().join("skips")).unwrap();
    let passed = run(&[], folder.path());
    let said = String::from_utf8(passed.stderr).unwrap();
    assert!(passed.status.success() && !folder.path().join("ran").exists(), "{said}");
    let lines: Vec<String> = skips().lines().map(str::to_owned).collect();
    assert_eq!(lines, said.lines().collect::<Vec<_>>(), "shown as it is recorded");
    assert!(
        lines[0].starts_with("SKIPPED skips_when_asked (") && lines[0].ends_with("skips.rs:12): no moon here"),
        "{said}"
    );
    assert!(
        lines[1].starts_with("LEFT OUT skips_when_asked (") && lines[1].contains("a month; PRONY_TEST_SLOW=1"),
        "{said}"
    );

    let failed = run(&[(testing::FORBID, "1")], folder.path());
    assert!(!failed.status.success());
    assert_eq!(skips().matches("SKIPPED").count(), 2, "the one that fails is recorded too");
    assert!(run(&[(testing::FORBID, "0"), (testing::SLOW, "1")], folder.path()).status.success());
    assert!(folder.path().join("ran").exists());
}

#[test]
fn fewer_trials_have_wider_bounds() {
    // 250 trials of a true 5% stay below 9.4%, 1500 below 6.8%.
    assert!(
        (testing::at_most(0.05, 250) - 0.0926).abs() < 1e-4 && (testing::at_most(0.05, 1500) - 0.0674).abs() < 1e-4
    );
    let whole = testing::wants_slow();
    assert_eq!(testing::trials(40, 400), if whole { 400 } else { 40 });
}
