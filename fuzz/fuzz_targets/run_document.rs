//! Any bytes are a run document of this schema, or refused. An accepted one is written, read back unchanged, printed,
//! and compared with itself.
#![no_main]

use explain::{ExplainOptions, explain};
use compare::{CompareOptions, compare};
use libfuzzer_sys::fuzz_target;
use report::by_name;
use report::view::RunContext;

fuzz_target!(|bytes: &[u8]| {
    let Ok(run) = store::parse_document(bytes, "input") else { return };
    let text = store::render_document(&run).expect("what was read can be written");
    assert_eq!(store::parse_document(text.as_bytes(), "again").ok().as_ref(), Some(&run));
    for format in ["terminal", "csv", "html"] {
        let document = report::view::run(&run, &RunContext::default());
        let mut page = Vec::new();
        by_name(format, 100, false).and_then(|format| format.render(&document, &mut page)).expect("a page");
    }
    let _ = compare(&[&run, &run], &CompareOptions::default());
    let _ = explain(&run, &run, &ExplainOptions::default());
});
