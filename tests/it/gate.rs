//! Gates: commands of known slowness, the self-test, JUnit, and the templates for CI systems.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

use std::path::Path;
use std::process::Command;

use crate::common::{Answer, Place};

fn gate(place: &Place, words: &[&str]) -> Answer {
    place.ask(&[&["time", "--quiet", "--runs", "12"], words].concat())
}

/// The words of an output, whose lines may break anywhere.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn code(answer: &Answer) -> i32 {
    answer.code.unwrap_or(-1)
}

#[test]
fn a_slow_head_fails_twice_and_a_fast_one_passes() {
    let place = Place::new();
    let said = gate(&place, &["sleep 0.05", "sleep 0.1", "--gate=10", "--junit", "slow.xml"]);
    assert_eq!(code(&said), 1, "{}{}", said.out, said.err);
    assert!(
        words(&said.out).contains("Gate: FAIL.") && words(&said.out).contains("new samples confirm it"),
        "{}",
        said.out
    );
    assert!(words(&said.out).contains("would have been found"), "{}", said.out);
    let junit = std::fs::read_to_string(place.file("slow.xml")).unwrap();
    assert!(junit.contains("failures=\"1\"") && junit.contains("<failure message="), "{junit}");
    // The samples that confirm it are a run of their own.
    assert_eq!(place.ask(&["runs", "--format", "json"]).fine().json().as_array().unwrap().len(), 2);
    let said = gate(&place, &["sleep 0.1", "sleep 0.05", "--gate=10", "--junit", "fast.xml"]);
    assert_eq!(code(&said), 0, "{}{}", said.out, said.err);
    assert!(said.out.contains("Gate: PASS."), "{}", said.out);
    assert!(std::fs::read_to_string(place.file("fast.xml")).unwrap().contains("failures=\"0\""));
}

#[test]
fn a_self_test_plants_a_slowdown_that_fails() {
    let place = Place::new();
    testing::attempts(3, || {
        let said = gate(&place, &["sleep 0.1", "sleep 0.1", "--gate=50", "--self-test", "--junit", "self.xml"]);
        testing::hold!(
            words(&said.out).contains("a planted slowdown of") && words(&said.out).contains("fails, as it should"),
            "{}",
            said.out
        );
        testing::hold!(code(&said) == 0, "{}{}", said.out, said.err);
        let junit = std::fs::read_to_string(place.file("self.xml")).unwrap();
        assert!(junit.contains("name=\"self-test\""), "{junit}");
        Ok(())
    });
}

#[test]
fn too_few_samples_and_other_than_two_commands_have_no_verdict() {
    let place = Place::new();
    let said = place.ask(&["time", "--quiet", "--runs", "4", "--spacing", "0s", "sleep 0.01", "sleep 0.05", "--gate"]);
    assert_eq!(code(&said), 3, "{}{}", said.out, said.err);
    assert!(words(&said.out).contains("a verdict needs 8 samples"), "{}", said.out);
    let said = place.ask(&["time", "--quiet", "true", "--gate"]);
    assert_eq!(code(&said), 2);
    assert!(said.err.contains("--gate compares two commands, base and head, and 1 were given"), "{}", said.err);
}

#[test]
fn compare_says_what_its_gate_could_have_seen() {
    let place = Place::with_two_runs();
    let said = place.ask(&["compare", "1", "2", "--fail-on", "slower:300", "--junit", "compare.xml"]);
    assert!(words(&said.out).contains("would have been found"), "{}{}", said.out, said.err);
    let junit = std::fs::read_to_string(place.file("compare.xml")).unwrap();
    assert!(junit.contains("classname=\"prony.compare\" name=\"gate\""), "{junit}");
}

/// The script of a template: the lines of its block, indented deeper than its key.
fn script(text: &str, key: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().position(|line| line.trim_start() == key).unwrap_or_else(|| panic!("no {key}"));
    let indent = |line: &str| line.len() - line.trim_start().len();
    let block = lines[at + 1..].iter().take_while(|line| line.trim().is_empty() || indent(line) > indent(lines[at]));
    let block: Vec<&str> = block.copied().collect();
    let least = block.iter().filter(|line| !line.trim().is_empty()).map(|line| indent(line)).min().unwrap();
    block.iter().map(|line| line.get(least..).unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_templates_for_github_and_gitlab_run() {
    let ci = Path::new(env!("CARGO_MANIFEST_DIR")).join("ci");
    for (file, key, shell) in [("action.yml", "run: |", "bash"), ("gitlab.yml", "- |", "sh")] {
        let text = std::fs::read_to_string(ci.join(file)).unwrap();
        assert!(!text.contains('\t'), "{file}: YAML has no tabs");
        let script = script(&text, key);
        let run = |head: &str| {
            let place = Place::new();
            let summary = place.file("summary.md");
            let output = Command::new(shell)
                .args(["-c", &script])
                .current_dir(place.path())
                .env("PRONY", env!("CARGO_BIN_EXE_prony"))
                .env("PRONY_STORE", place.file("runs.sqlite"))
                .env("PRONY_SPACING", "0")
                .env("GITHUB_STEP_SUMMARY", &summary)
                .envs([("BASE", "sleep 0.05"), ("HEAD", head), ("PERCENT", "20"), ("TIME_LIMIT", "4s")])
                .output()
                .unwrap();
            let said = format!(
                "{file} {head}: {}{}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
            assert!(said.contains("Gate") && place.file("prony-gate.xml").exists(), "{said}");
            assert_eq!(summary.exists(), file == "action.yml", "{said}");
            (output.status.code(), said)
        };
        testing::attempts(3, || {
            let (code, said) = run("sleep 0.15");
            testing::hold!(code == Some(1) && said.contains("FAIL"), "{said}");
            Ok(())
        });
        testing::attempts(3, || {
            let (code, said) = run("sleep 0.03");
            testing::hold!(code == Some(0) && said.contains("PASS"), "{said}");
            Ok(())
        });
    }
}
