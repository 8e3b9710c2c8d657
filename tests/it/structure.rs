//! The drawing of the crates in ARCHITECTURE.md is that of the manifests, and no crate uses one above it.
//! `PRONY_BLESS=1 cargo test --test it structure` draws it anew.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The crates by layer, from the lowest; `prony` is the program.
const FLOORS: [&[&str]; 11] = [
    &["model"],
    &["gpu", "kernels", "physics", "stats"],
    &["os"],
    &["channel", "plan_network", "benchmarks", "rating"],
    &["measure", "predict", "store"],
    &["application", "compare", "decide", "launcher"],
    &["experiment", "explain", "farm", "lab"],
    &["check", "history", "network"],
    &["export", "import", "report"],
    &["serve"],
    &["prony"],
];

const HEAD: &str = "```text crates\n";

/// The folders of all crates but the program.
fn folders(root: &Path) -> Vec<PathBuf> {
    let inside = |folder: PathBuf| folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    inside(root.join("crates")).flat_map(inside).collect()
}

/// The text of a crate's manifest.
fn manifest(root: &Path, name: &str) -> String {
    let of_crate = || folders(root).into_iter().find(|folder| folder.ends_with(name)).unwrap();
    let folder = if name == "prony" { root.to_owned() } else { of_crate() };
    std::fs::read_to_string(folder.join("Cargo.toml")).unwrap()
}

/// The house's own crates that a crate depends on, tests apart.
fn dependencies(manifest: &str) -> Vec<&str> {
    let section = manifest.split("\n[dependencies]\n").nth(1).unwrap_or_default();
    let section = section.split("\n[").next().unwrap();
    let names = section.lines().filter_map(|line| line.split(['.', ' ', '=']).next());
    names.filter(|name| FLOORS.iter().any(|floor| floor.contains(name))).collect()
}

/// Every crate with its layer and its description, the highest first.
fn drawing(root: &Path) -> String {
    let mut text = String::new();
    for (height, floor) in FLOORS.iter().enumerate().rev() {
        for name in *floor {
            let manifest = manifest(root, name);
            for used in dependencies(&manifest) {
                let below = FLOORS[..height].iter().any(|floor| floor.contains(&used));
                assert!(below, "{name} depends on {used}, which does not stand below it");
            }
            let about = manifest.split("\ndescription = \"").nth(1).unwrap().split('"').next().unwrap();
            writeln!(text, "{height}  {name:12}  {about}").unwrap();
        }
    }
    text
}

#[test]
fn every_crate_has_its_floor() {
    for folder in folders(Path::new(env!("CARGO_MANIFEST_DIR"))) {
        let name = folder.file_name().unwrap().to_str().unwrap();
        assert!(FLOORS.iter().any(|floor| floor.contains(&name)) || name == "testing", "{name} has no floor");
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
