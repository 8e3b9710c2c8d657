//! Rules of the source tree: the name of a type is clear without its module, and threads are started so that a failure
//! to start is an error.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Names that mean the same in every crate.
const SHARED: [&str; 3] = ["Arguments", "Error", "Result"];

/// `max_width` of rustfmt.toml.
const WIDTH: usize = 120;

/// Most lines of a source file, those of tests included.
const LINES: usize = 400;

/// The lines of every source file of the program, without tests and comments.
#[expect(clippy::unwrap_used, reason = "a tree that cannot be read fails the test")]
pub(crate) fn sources() -> Vec<(PathBuf, Vec<String>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("src")];
    for entry in fs::read_dir(root.join("crates")).unwrap() {
        folders.push(entry.unwrap().path().join("src"));
    }
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs")
                && !path.to_string_lossy().ends_with("tests.rs")
            {
                let text = fs::read_to_string(&path).unwrap();
                let code = text.split("\nmod tests {").next().unwrap_or_default();
                let lines = code.lines().filter(|line| !line.trim_start().starts_with("//")).map(str::to_owned);
                files.push((path.strip_prefix(root).unwrap().to_owned(), lines.collect()));
            }
        }
    }
    files
}

/// The type that a line defines.
fn defined(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = line.strip_prefix("pub").map_or(line, |rest| match rest.strip_prefix('(') {
        Some(rest) => rest.split_once(')').map_or(rest, |(_, rest)| rest),
        None => rest,
    });
    let line = line.trim_start().trim_start_matches("unsafe ");
    let rest = ["struct ", "enum ", "trait ", "union "].iter().find_map(|word| line.strip_prefix(word))?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    Some(&rest[..end]).filter(|name| name.starts_with(char::is_uppercase))
}

#[test]
fn no_two_types_have_one_name() {
    assert_eq!(defined("pub(crate) struct Line<'a> {"), Some("Line"));
    assert_eq!(defined("pub unsafe trait Fixed {"), Some("Fixed"));
    assert_eq!(defined("let structure = 1;"), None);
    let mut places: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for (path, lines) in sources() {
        for name in lines.iter().filter_map(|line| defined(line)).filter(|name| !SHARED.contains(name)) {
            places.entry(name.to_owned()).or_default().push(path.clone());
        }
    }
    // Variants of a type for different operating systems, in neighbouring files, count as one type.
    let by_system = |paths: &[PathBuf]| {
        paths.iter().any(|path| path.ends_with("other.rs"))
            && paths.iter().all(|path| path.parent() == paths[0].parent())
    };
    let twice: Vec<_> = places.iter().filter(|(_, paths)| paths.len() > 1 && !by_system(paths)).collect();
    assert!(twice.is_empty(), "names that stand for several types: {twice:#?}");
    assert!(places.len() > 500, "{} types were found", places.len());
}

#[test]
fn threads_are_started_by_builders() {
    let bare: Vec<_> = sources()
        .into_iter()
        .filter(|(_, lines)| lines.iter().any(|line| line.contains("thread::spawn(") || line.contains("scope.spawn(")))
        .map(|(path, _)| path)
        .collect();
    assert!(bare.is_empty(), "a thread that cannot be had is a panic in {bare:?}; use thread::Builder");
}

/// Two laboratories that install packages at once fail at the lock of apt's lists, on a machine where nothing was left
/// behind: one place does it, one after the other.
#[test]
fn laboratories_install_their_packages_in_one_place() {
    let labs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/labs");
    let mut installing = Vec::new();
    for entry in fs::read_dir(labs).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let code = text.lines().filter(|line| !line.trim_start().starts_with('#'));
        if code.into_iter().any(|line| line.contains("apt-get ")) {
            installing.push(path.file_name().unwrap().to_string_lossy().into_owned());
            assert!(text.contains("flock "), "{}", path.display());
        }
    }
    assert_eq!(installing, ["packages.sh"]);
}

/// A comment names the part of the program that it means: pronouns of people leave it open who does what.
#[test]
fn comments_and_pages_name_the_part_that_they_mean() {
    let mut vague = Vec::new();
    for path in texts(Path::new(env!("CARGO_MANIFEST_DIR"))) {
        let page = path.extension().is_some_and(|ending| ending == "md");
        let text = fs::read_to_string(&path).unwrap_or_default().to_lowercase();
        for (number, line) in text.lines().enumerate() {
            let comment = line.split_once("//").map(|(_, comment)| comment);
            let said = if page { Some(line) } else { comment };
            let mut words = said.into_iter().flat_map(|said| said.split(|c: char| !c.is_alphanumeric()));
            if words.any(|word| word == concat!("no", "body") || word == concat!("some", "body")) {
                vague.push(format!("{}:{}", path.display(), number + 1));
            }
        }
    }
    assert!(vague.is_empty(), "{vague:#?}");
}

/// rustfmt wraps code at this width, and leaves comments as they are.
#[test]
fn comments_are_as_wide_as_code_at_most() {
    let mut wide = Vec::new();
    for path in texts(Path::new(env!("CARGO_MANIFEST_DIR")))
        .into_iter()
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
    {
        let text = fs::read_to_string(&path).unwrap_or_default();
        for (number, line) in text.lines().enumerate() {
            if line.trim_start().starts_with("//") && line.chars().count() > WIDTH {
                wide.push(format!("{}:{}", path.display(), number + 1));
            }
        }
    }
    assert!(wide.is_empty(), "{wide:#?}");
}

#[test]
fn no_source_file_is_longer_than_is_read_at_once() {
    let lines = |path: &PathBuf| fs::read_to_string(path).unwrap_or_default().lines().count();
    let long: Vec<_> = texts(Path::new(env!("CARGO_MANIFEST_DIR")))
        .into_iter()
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs") && lines(path) > LINES)
        .collect();
    assert!(long.is_empty(), "longer than {LINES} lines, split them by subject: {long:#?}");
}

/// The pages and the sources of the tree, tests included.
#[expect(clippy::unwrap_used, reason = "a tree that cannot be read fails the test")]
fn texts(root: &Path) -> Vec<PathBuf> {
    let mut folders = vec![root.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                folders.push(path);
            } else if name.ends_with(".rs") || name.ends_with(".md") {
                found.push(path);
            }
        }
    }
    found
}
