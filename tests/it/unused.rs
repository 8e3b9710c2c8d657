//! A public item that is used only in its own lines and in tests should be deleted: the compiler does not warn about it
//! in a library. Found by name, so an item with the same name as a used one passes.

use std::collections::HashMap;
use std::path::Path;

use regex::Regex;

use crate::house::sources;

/// Items that only tests use, by file or by name, each with the reason for keeping it.
const FOR_TESTS: [(&str, &str); 2] = [
    ("crates/measure/src/engine/mock.rs", "the engine that sessions are tested with, in several crates"),
    ("port_drops", "the switch's own counters, to which tests hold the losses that an event builder reports"),
];

/// A public item: its name, whether it is a function, and its lines.
struct PublicItem<'a> {
    name: &'a str,
    is_function: bool,
    text: String,
}

/// The public items of a file; an item ends at the line that closes its indentation.
fn items<'a>(lines: &'a [String], definition: &Regex) -> Vec<PublicItem<'a>> {
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(parts) = definition.captures(line) else { continue };
        let (indent, kind, name) = parts.extract::<3>().1.into();
        let closed = |line: &&String| {
            let rest = line.strip_prefix(indent).unwrap_or_default();
            rest.starts_with(['}', ')', ']']) || (!rest.starts_with(' ') && rest.ends_with(';'))
        };
        let one_line = line.ends_with(';') || (line.ends_with('}') && line.contains('{'));
        let more =
            if one_line { 0 } else { lines[at + 1..].iter().position(|line| closed(&line)).map_or(0, |n| n + 1) };
        found.push(PublicItem { name, is_function: kind == "fn", text: lines[at..=at + more].join("\n") });
    }
    found
}

/// Number of uses of each word: definitions of functions, heads of implementations and public re-exports are no use,
/// and neither is a field for a function.
#[derive(Default)]
struct Mentions {
    any: HashMap<String, usize>,
    function: HashMap<String, usize>,
}

impl Mentions {
    fn add(&mut self, text: &str, word: &Regex) {
        for found in word.find_iter(text) {
            let (before, after) = (&text[..found.start()], &text[found.end()..]);
            *self.any.entry(found.as_str().to_owned()).or_default() += 1;
            let called = after.starts_with('(') || after.starts_with("::");
            let field = !called && (before.ends_with('.') || after.starts_with(':'));
            if !field && !before.ends_with("fn ") {
                *self.function.entry(found.as_str().to_owned()).or_default() += 1;
            }
        }
    }

    fn of(text: &str, word: &Regex) -> Self {
        let mut found = Self::default();
        found.add(text, word);
        found
    }

    fn count(&self, item: &PublicItem) -> usize {
        let counts = if item.is_function { &self.function } else { &self.any };
        counts.get(item.name).copied().unwrap_or(0)
    }
}

/// Public items that no other line of these files uses.
#[expect(clippy::unwrap_used, reason = "the expressions are constant")]
fn unused<P: AsRef<Path>>(files: &[(P, Vec<String>)]) -> Vec<(String, String)> {
    let definition = Regex::new(
        r#"^( *)pub (?:const |unsafe |async |extern "C" )*(fn|struct|enum|trait|const|static|type|union) (\w+)"#,
    )
    .unwrap();
    let word = Regex::new(r"\b[A-Za-z_]\w*").unwrap();
    let silent = Regex::new(r"(?m)\bpub(?:\([^)]*\))? use [^;]+;|^ *(?:unsafe )?impl\b[^{]*\{").unwrap();
    let mut mentions = Mentions::default();
    for (_, lines) in files {
        mentions.add(&silent.replace_all(&lines.join("\n"), ""), &word);
    }
    let mut found = Vec::new();
    for (path, lines) in files {
        for item in items(lines, &definition) {
            let own = silent.replace_all(&item.text, "").into_owned();
            if mentions.count(&item) <= Mentions::of(&own, &word).count(&item) {
                found.push((path.as_ref().display().to_string(), item.name.to_owned()));
            }
        }
    }
    found
}

#[test]
fn every_public_item_is_used() {
    let mut files = sources();
    files.retain(|(path, _)| !path.starts_with("crates/testing"));
    let found = unused(&files);
    let is = |known: &str, (path, name): &(String, String)| known == path || known == name;
    let left: Vec<_> = found.iter().filter(|item| !FOR_TESTS.iter().any(|(known, _)| is(known, item))).collect();
    assert!(left.is_empty(), "nothing uses these but tests; delete them: {left:#?}");
    for (known, reason) in FOR_TESTS {
        assert!(found.iter().any(|item| is(known, item)), "{known} ({reason}) is used or gone: it needs no excuse");
    }
}

#[test]
fn an_unused_item_is_found() {
    let file = |name: &'static str, text: &str| (Path::new(name), text.lines().map(str::to_owned).collect::<Vec<_>>());
    let library = "
pub use parts::{Forgotten, forgotten};
pub fn called(rest: u32) -> u32 {
    rest + LIMIT
}
pub fn forgotten(depth: u32) -> u32 {
    if depth > 0 { forgotten(depth - 1) } else { 0 }
}
pub fn length() -> usize {
    1
}
pub const LIMIT: u32 = 3;
pub struct Forgotten {
    pub length: usize,
}
impl Forgotten {
    pub fn new() -> Self {
        Self { length: 2 }
    }
}
pub trait Used {}";
    let user = "
fn main() {
    called(shape.length);
}
impl<T: Used> Other<T> {
    fn new() {}
}
fn other<T: Used>() {}";
    let found = unused(&[file("library.rs", library), file("user.rs", user)]);
    let names: Vec<&str> = found.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(names, ["forgotten", "length", "Forgotten", "new"]);
}
