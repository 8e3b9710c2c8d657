//! What the formats draw, word for word, for a run whose numbers were checked by hand.

mod fixture;

use report::view::{self, RunContext};
use report::{Document, Format};

fn drawn(format: &dyn Format, document: &Document) -> String {
    let mut out = Vec::new();
    format.render(document, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn show() {
    let context = RunContext { handle: Some("3".into()), previous: Some("2".into()), stored: true };
    let document = view::run(&fixture::fixed_run(), &context);
    println!("{}", drawn(&report::Terminal::default(), &document));
    println!("{}", drawn(&report::Terminal { width: 60, colour: false }, &document));
    println!("{}", drawn(&report::Terminal { width: 30, colour: false }, &document));
    println!("{}", drawn(&report::Markdown, &document));
    println!("{}", drawn(&report::Csv, &document));
    let document = view::run(&fixture::sample_run(5, 1.0, false), &context);
    println!("{}", drawn(&report::Terminal::default(), &document));
    let document = view::run(&fixture::published_run(), &RunContext::default());
    println!("{}", drawn(&report::Terminal::default(), &document));
}

#[test]
fn show_compare() {
    let (mut a, mut b, mut c) = (fixture::sample_run(5, 1.0, false), fixture::sample_run(6, 1.01, false), fixture::sample_run(9, 1.3, false));
    b.machine = a.machine.clone();
    a.label = None;
    b.label = None;
    c.label = None;
    let options = analyse::Options::default();
    let found = analyse::compare(&[&a, &b], &options).unwrap();
    let document = view::compare(&found, &view::CompareContext { handles: vec!["2".into(), "3".into()] });
    println!("{}", drawn(&report::Terminal::default(), &document));
    let found = analyse::compare(&[&a, &b, &c, &fixture::published_run()], &options).unwrap();
    let document = view::compare(&found, &view::CompareContext { handles: vec!["2".into(), "3".into(), "4".into(), "published:x/ultra".into()] });
    println!("{}", drawn(&report::Terminal::default(), &document));
}
