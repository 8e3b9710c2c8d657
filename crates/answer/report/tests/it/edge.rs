//! What is the same although its printed interval goes beyond the band.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::fixture;

use compare::{CompareOptions, Comparison, RatioBasis, compare};
use model::{Run, Verdict};
use report::view::{self, CompareContext, ReportInput};
use report::{Html, Markdown, ReportFormat, Terminal};

/// Line below a table.
const LINE: &str = "No change is judged at 90%: the 95% interval of 1 result exceeds the margin.";

fn drawn(format: &dyn ReportFormat, document: &report::Document) -> String {
    let mut out = Vec::new();
    format.render(document, &mut out).unwrap();
    String::from_utf8(out).unwrap().replace('\u{a0}', " ")
}

/// Runs of as many machines, of which the last has a first result with this interval of its ratio; all other results
/// are inconclusive.
fn compared(runs: &[Run], verdict: Verdict, ends: (f64, f64)) -> Comparison {
    let runs: Vec<&Run> = runs.iter().collect();
    let mut comparison = compare(&runs, &CompareOptions::default()).unwrap();
    for ratio in comparison.rows.iter_mut().flat_map(|row| &mut row.ratios) {
        ratio.verdict = ratio.verdict.and(Some(Verdict::Inconclusive));
        ratio.modes.clear();
    }
    let ratio = comparison.rows[0].ratios.last_mut().unwrap();
    (ratio.verdict, ratio.value, ratio.low, ratio.high) = (Some(verdict), Some(1.0), Some(ends.0), Some(ends.1));
    comparison
}

fn runs(count: u64) -> Vec<Run> {
    (1..=count).map(|seed| fixture::sample_run(seed, 1.0, false)).collect()
}

/// Whether the whole comparison says so, on a screen of 80 columns.
fn is_told(comparison: &Comparison) -> bool {
    let screen = Terminal { width: 80, colour: false };
    let text = drawn(&screen, &view::compare(comparison, &CompareContext::default()));
    assert_eq!(text.contains(LINE), text.contains("No change is judged at"), "on one line: {text}");
    text.contains(LINE)
}

#[test]
fn an_interval_beyond_the_band_is_told_where_the_verdict_is_same() {
    for count in [2, 3, 6] {
        let runs = runs(count);
        let at = |verdict, ends| is_told(&compared(&runs, verdict, ends));
        assert!(at(Verdict::NoChange, (0.995, 1.022)), "{count} runs");
        assert!(at(Verdict::NoChange, (0.978, 1.005)), "{count} runs");
        assert!(!at(Verdict::NoChange, (0.985, 1.015)), "inside: {count} runs");
        assert!(!at(Verdict::Inconclusive, (0.9, 1.1)), "not the same: {count} runs");
    }
}

#[test]
fn what_is_judged_in_cycles_is_the_same_by_those() {
    let mut comparison = compared(&runs(2), Verdict::NoChange, (0.995, 1.035));
    assert!(is_told(&comparison));
    comparison.rows[0].ratios[1].basis = RatioBasis::Cycles;
    assert!(!is_told(&comparison), "the table prints them beside the time");
}

#[test]
fn what_prints_no_such_row_does_not_explain_it() {
    let runs = runs(2);
    let brief = CompareContext { brief: true, ..CompareContext::default() };
    let beyond = compared(&runs, Verdict::NoChange, (0.995, 1.022));
    assert!(!drawn(&Terminal::default(), &view::compare(&beyond, &brief)).contains("No change is judged"));
    let inside = compared(&runs, Verdict::NoChange, (0.995, 1.012));
    let runs: Vec<&Run> = runs.iter().collect();
    let page = |comparison: &Comparison| {
        let input = ReportInput { runs: &runs, comparison: Some(comparison), ..ReportInput::default() };
        view::report(&input)
    };
    for format in [&Html as &dyn ReportFormat, &Markdown] {
        assert!(drawn(format, &page(&beyond)).contains(LINE));
        assert!(!drawn(format, &page(&inside)).contains("No change is judged"));
    }
}
