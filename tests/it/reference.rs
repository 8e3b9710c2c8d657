//! The reference pages are generated; a stale one fails. `PRONY_BLESS=1 cargo test --test it reference` rewrites them.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

use std::path::Path;

use crate::common::Place;

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
