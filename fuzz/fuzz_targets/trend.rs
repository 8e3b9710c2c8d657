//! Any text is dated values or refused. Their fit can be drawn, and holds only finite numbers.
#![no_main]

use decide::trend::{TrendOptions, families, parse, trend};
use libfuzzer_sys::fuzz_target;
use report::by_name;

/// Values to which a growth is fitted: its test for a break takes time in proportion to their square.
const FITTED: usize = 60;

fn drawn(document: &report::Document, text: &str) {
    for format in ["terminal", "html", "json"] {
        let mut page = Vec::new();
        by_name(format, 100, false).and_then(|format| format.render(document, &mut page)).expect("a page");
        let page = String::from_utf8_lossy(&page);
        // A page has a script, which asks for such numbers.
        assert!(format == "html" || text.to_lowercase().contains("nan") || !page.contains("NaN"), "{page}");
    }
}

fuzz_target!(|text: &str| {
    for column in [None, Some("score")] {
        let Ok(data) = parse(text, column) else { continue };
        if data.len() > FITTED {
            continue;
        }
        let options = TrendOptions { project: vec![1900.0, 2030.5, 2199.9], ..TrendOptions::default() };
        if let Ok(found) = trend(&data, &options) {
            drawn(&report::view::trend(&found, "score"), text);
        }
        if let Ok(found) = families(&data, &options) {
            drawn(&report::view::family_trends(&found, "score"), text);
        }
    }
});
