//! Histories of values, and ratings in reports: drawn, and never a number that is none.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use decide::trend::{TrendOptions, parse, trend};
use report::view::{ReportInput, report, trend as trend_view};
use report::{Block, Document, FORMATS, by_name};

use crate::fixture;

fn in_all_formats(document: &Document) -> Vec<(String, String)> {
    let one = |name: &str| {
        let mut bytes = Vec::new();
        by_name(name, 100, false).unwrap().render(document, &mut bytes).unwrap();
        (name.to_owned(), String::from_utf8(bytes).unwrap())
    };
    FORMATS.iter().map(|(name, _)| one(name)).collect()
}

/// No infinity and no NaN, as words of their own.
fn numbers_only(document: &Document, what: &str) {
    for (format, text) in in_all_formats(document) {
        // Styles and scripts of the page are words of its makers.
        let text = text.split("<script").next().unwrap_or_default().split("</style>").last().unwrap_or_default();
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '.' && c != '+' && c != '-');
        let bad: Vec<&str> = words
            .filter(|word| matches!(word.trim_start_matches(['-', '+']), "inf" | "NaN" | "nan" | "Infinity"))
            .collect();
        assert!(bad.is_empty(), "{what} as {format}: {bad:?}");
    }
}

#[test]
fn no_history_prints_a_number_that_is_none() {
    for (what, text) in [
        ("no growth", "1990 5\n1991 5\n1992 5\n1993 5\n1994 5\n"),
        ("a fall", "1990 5\n1991 4\n1992 3\n1993 2\n1994 1\n"),
        ("the range of numbers", "1990 1e-300\n1991 1\n1992 1e100\n1993 1e200\n1994 1e300\n"),
        ("one moment", "1990 1\n1990.0000001 1e9\n1990.0000002 1e18\n1990.0000003 1e27\n"),
        ("two levels", "1990 1\n1991 1\n1992 1e6\n1993 1e6\n1994 1e6\n1995 1e6\n"),
    ] {
        let data = parse(text, None).unwrap();
        for project in [vec![], vec![1995.0, 2199.0]] {
            let options = TrendOptions { project, ..TrendOptions::default() };
            if let Ok(found) = trend(&data, &options) {
                numbers_only(&trend_view(&found, "value"), what);
            }
        }
    }
}

#[test]
fn a_rating_has_rows_in_the_report() {
    let mut run = fixture::fixed_run();
    for (benchmark, title, value) in [
        ("rating.int_1_speed", "int-1 speed, geometric mean", 1.31),
        ("rating.int_1_sort_speed", "int-1 speed, sort", 0.97),
    ] {
        let metric =
            model::Metric { unit: model::Unit::Ratio, per: "reference machine".into(), better: model::Better::Higher };
        let outcome = model::Outcome::Measured(fixture::estimate(value, 0.99 * value, 1.01 * value, 20));
        run.results.push(fixture::result(benchmark, title, "copies=1", metric, outcome));
    }
    let document = report(&ReportInput { runs: &[&run], ..ReportInput::default() });
    let section = document.sections.iter().find(|section| section.title.starts_with("Rating")).unwrap();
    let Some(Block::Table(table)) = section.blocks.first() else { panic!("a table first") };
    assert_eq!(table.rows().count(), 1, "the mean; its components are folded");
    numbers_only(&document, "a rating");
}
