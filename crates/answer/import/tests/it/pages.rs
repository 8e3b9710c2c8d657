//! Web pages are refused.

use crate::common::import;

#[test]
fn a_web_page_is_refused_with_the_way_in() {
    for page in ["<!DOCTYPE html>\n<pre>STREAM version 5</pre>", " \n<HTML lang=en><body></body></HTML>"] {
        let said = import("x.html", page.as_bytes(), None, benchmarks::catalogue()).unwrap_err().to_string();
        assert_eq!(
            said,
            "could not import x.html: it is a web page; save the tool's own output to a file and import that"
        );
    }
}
