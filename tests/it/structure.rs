//! The drawing of who depends on whom in ARCHITECTURE.md is that of the manifests, and no arrow points up.
//! `PRONY_BLESS=1 cargo test --test it structure` draws it anew.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fmt::Write;
use std::path::Path;

/// The crates by floor, from the lowest; `prony` is the program.
const FLOORS: [&[&str]; 10] = [
    &["model"],
    &["kernels", "stats"],
    &["os"],
    &["channel", "physics", "plan_network", "probes", "rating"],
    &["measure", "predict", "store"],
    &["application", "compare", "decide", "launcher"],
    &["explain", "farm", "lab"],
    &["network"],
    &["export", "import", "report"],
    &["prony"],
];

const HEAD: &str = "```text depends\n";

/// The house's own crates that a crate depends on, tests apart.
fn dependencies(root: &Path, name: &str) -> Vec<String> {
    let folder = if name == "prony" { root.to_owned() } else { root.join("crates").join(name) };
    let text = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let section = text.split("\n[dependencies]\n").nth(1).unwrap_or_default();
    let section = section.split("\n[").next().unwrap();
    let names = section.lines().filter_map(|line| line.split(['.', ' ', '=']).next()).map(str::to_owned);
    names.filter(|name| FLOORS.iter().any(|floor| floor.contains(&name.as_str()))).collect()
}

/// A triangle: a cross where the crate of the row depends on that of the column, which is a row further up.
fn drawing(root: &Path) -> String {
    let mut text = String::new();
    let mut above: Vec<&str> = Vec::new();
    for (height, floor) in FLOORS.iter().enumerate() {
        for name in *floor {
            let used = dependencies(root, name);
            for other in &used {
                assert!(above.contains(&other.as_str()), "{name} depends on {other}, which does not stand below it");
            }
            let marks: String =
                above.iter().map(|other| if used.iter().any(|one| one == other) { " x" } else { " ." }).collect();
            writeln!(text, "{height}  {name:12}{marks} {}", (b'a' + above.len() as u8) as char).unwrap();
            above.push(name);
        }
    }
    text
}

#[test]
fn every_crate_has_its_floor() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for entry in std::fs::read_dir(root.join("crates")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let known = FLOORS.iter().any(|floor| floor.contains(&name.as_str()));
        assert!(known || name == "testing", "{name} has no floor");
    }
}

#[test]
fn the_drawing_is_that_of_the_manifests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("ARCHITECTURE.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(HEAD).unwrap();
    let (drawn, after) = rest.split_once("```").unwrap();
    let drawing = drawing(root);
    if std::env::var_os("PRONY_BLESS").is_some() {
        std::fs::write(&path, format!("{before}{HEAD}{drawing}```{after}")).unwrap();
    } else {
        assert_eq!(drawn, drawing, "run PRONY_BLESS=1 cargo test --test it structure");
    }
}
