//! THIRD-PARTY.md names every crate of others that the program is built from, with its licence.
//! `PRONY_BLESS=1 cargo test --test it third_party` writes it anew.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

const HEAD: &str = "# Third-party crates\n\nThe program contains these crates, each under the licence that it states. \
                    `PRONY_BLESS=1 cargo test --test it third_party` writes this page.\n\n\
                    | crate | version | licence | source |\n|---|---|---|---|\n";

/// The page, from the normal dependencies of the program with all features on Linux.
fn page(root: &Path) -> String {
    let arguments = "tree --locked --package prony --edges normal --all-features --prefix none --no-dedupe";
    let output = Command::new(env!("CARGO"))
        .args(arguments.split(' '))
        .args(["--target", "x86_64-unknown-linux-gnu", "--format", "{p}\t{l}\t{r}"])
        .current_dir(root)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    // Packages of this tree have a path.
    let lines: BTreeSet<&str> = text.lines().filter(|line| !line.contains(" (/")).collect();
    let mut page = HEAD.to_owned();
    for line in &lines {
        let fields: Vec<&str> = line.split('\t').collect();
        let [package, licence, source] = fields[..] else { panic!("{line}") };
        let (name, version) = package.split_once(" v").unwrap();
        // Macros are marked.
        let version = version.split(' ').next().unwrap();
        assert!(!licence.is_empty(), "{name} states no licence");
        writeln!(page, "| {name} | {version} | {licence} | {source} |").unwrap();
    }
    assert!(lines.len() > 50, "{text}");
    page
}

#[test]
fn every_crate_of_others_is_named_with_its_licence() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (path, page) = (root.join("THIRD-PARTY.md"), page(root));
    if std::env::var_os("PRONY_BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    let missing: Vec<&str> = page.lines().filter(|line| !kept.lines().any(|known| known == *line)).collect();
    assert!(missing.is_empty() && kept.lines().count() == page.lines().count(), "not as the crates are: {missing:?}");
}
