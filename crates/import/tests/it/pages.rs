//! Outputs in saved web pages, and pages that show several.

use crate::common;

use common::{import, import_fixture, refused_as, unread};
use model::Catalogue;

/// A page that shows an output as its author wrote it: with signs of HTML in other words, and colours.
fn page(output: &str) -> String {
    let escaped = output.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    let lines: Vec<String> = escaped.lines().map(|line| format!("<span class=\"l\">{line}</span>")).collect();
    format!(
        "<!DOCTYPE html>\n<html><head><title>Results: 5 runs</title>\n<style>pre {{ color: red }}</style></head>\n<body>\n\
         <p>All <i>12</i> runs:\n<pre><code>{}</code></pre>\n<p>Page 1 of 2</body></html>\n",
        lines.join("\n")
    )
}

#[test]
fn an_output_in_a_web_page_is_read_as_the_output_alone() {
    for common::Fixture { file, bytes, .. } in common::fixtures() {
        let output = String::from_utf8(bytes).unwrap();
        let alone = import(&file, output.as_bytes(), None, &Catalogue::default()).unwrap();
        let shown = import(&file, page(&output).as_bytes(), None, &Catalogue::default())
            .unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(alone.len(), shown.len(), "{file}");
        for (alone, shown) in alone.iter().zip(&shown) {
            assert_eq!(alone.figures, shown.figures, "{file}");
        }
    }
    let shown =
        &import("stream.txt", page(&common::text("stream.txt")).as_bytes(), None, &Catalogue::default()).unwrap()[0];
    assert!(common::noted(shown, "web page"));
    assert!(!common::noted(&import_fixture("stream.txt")[0], "web page"));
}

#[test]
fn lines_of_a_page_are_counted_in_the_page() {
    let output = common::text("criterion.txt");
    let wrong = page(&output.replace("2.1000 ms", "2.1000 mx"));
    let line = 1 + wrong.lines().position(|line| line.contains("2.1000 mx")).unwrap();
    let said = refused_as("criterion", &wrong);
    assert!(said.ends_with(&format!("at line {line}")), "{said}: {line}");
    // Prose of the page is no part of the output.
    assert_eq!(unread("criterion", &page(&output)), unread("criterion", &output));
}

#[test]
fn a_page_without_an_output_is_refused_as_that() {
    for (page, says) in [
        ("<html><body><table><tr><td>1.5</td></tr></table></body></html>", "without any preformatted text"),
        ("<!doctype html><pre>\n</pre>", "without any preformatted text"),
        ("<!doctype html><pre>nothing known</pre>", "no importer recognises"),
    ] {
        let said = import("x.html", page.as_bytes(), None, &Catalogue::default()).unwrap_err().to_string();
        assert!(said.contains(says), "{said}");
    }
}
