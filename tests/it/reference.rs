//! The reference pages are generated; the test fails for an outdated one. `PRONY_BLESS=1 cargo test --test it
//! reference` rewrites them.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

use std::path::Path;

use crate::common::Place;

#[test]
fn the_table_of_exit_codes_is_the_same_everywhere() {
    let help = Place::new().ask(&["--help"]).fine().out;
    let table = help.split("Exit codes:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let mut codes = Vec::new();
    for line in table.lines() {
        let (code, says) = line.trim().split_once("  ").unwrap();
        let row = format!("| {code} | {} |\n", says.trim());
        assert!(page.contains(&row), "ARCHITECTURE.md lacks {row}");
        codes.push(code.to_owned());
    }
    assert_eq!(codes, ["0", "1", "2", "3", "130"]);
    let rows = page.split("| code | says |\n|---|---|\n").nth(1).unwrap();
    assert_eq!(rows.lines().take_while(|line| line.starts_with('|')).count(), codes.len());
}

#[test]
fn the_reference_pages_are_what_the_program_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference");
    let mut stale = Vec::new();
    for page in ["catalogue", "commands"] {
        let path = folder.join(format!("{page}.md"));
        let text = Place::new().ask(&["reference", page]).fine().out;
        if std::env::var_os("PRONY_BLESS").is_some() {
            std::fs::write(&path, &text).unwrap();
        } else if std::fs::read_to_string(&path).unwrap_or_default() != text {
            stale.push(page);
        }
    }
    assert!(stale.is_empty(), "stale: {stale:?}; run PRONY_BLESS=1 cargo test --test it reference");
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    Place::new().ask(&["reference", "man", "--folder", path]).fine();
    let page = |name: &str| std::fs::read_to_string(folder.path().join(format!("{name}.1"))).unwrap();
    assert!(page("prony-compare").contains("fail\\-on"));
    let help = Place::new().ask(&["--help"]).fine().out;
    let commands = help.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let found = commands.filter(|word| !word.is_empty() && folder.path().join(format!("prony-{word}.1")).exists());
    assert!(found.count() >= 20, "{help}");
    assert!(!folder.path().join("prony-worker.1").exists(), "a hidden command has a page");
}
