//! Tables of an evaluation: footnotes stand at their cells in every format, and charts below their table.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use model::{Definition, ResultKey, Run, Unit};
use report::by_name;
use report::view::{
    EvaluationChart, EvaluationColumn, EvaluationTable, EvaluationView, PrintedUnit, RunContext, Slot, in_tables,
};

use crate::fixture;

const TITLE: &str = "Table 1. Calls";
const DIFFERS: &str = "in Rust; the source's is C";

fn run() -> Run {
    fixture::sample_run(1, 1.0, true)
}

/// A table with one result that differs from its source and one that does not.
fn view(run: &Run) -> EvaluationView {
    let keys: Vec<ResultKey> = run
        .results
        .iter()
        .filter(|result| result.outcome.estimate().is_some())
        .map(model::BenchmarkResult::key)
        .collect();
    let (different, same) =
        (keys[0].clone(), keys.iter().find(|key| key.benchmark != keys[0].benchmark).unwrap().clone());
    let unit = |key: &ResultKey| {
        let base = run.result(key).unwrap().metric.unit;
        PrintedUnit::new(if base == Unit::Seconds { "s" } else { "per s" }, base, 1.0)
    };
    let slot = |key: &ResultKey| Slot::Result(key.clone(), unit(key));
    let column = |heading: &str, numbers: bool| EvaluationColumn { heading: heading.to_owned(), numbers };
    let curve = run.results.iter().find(|result| result.benchmark == "memory.load_latency").unwrap();
    EvaluationView {
        title: "An evaluation".to_owned(),
        attribution: "its authors".to_owned(),
        tables: vec![EvaluationTable {
            title: TITLE.to_owned(),
            note: String::new(),
            columns: vec![column("machine", false), column("other", true), column("same", true)],
            rows: vec![vec![
                Slot::Words("Box".to_owned()),
                Slot::Printed("1.5".to_owned()),
                Slot::Printed("2.5".to_owned()),
            ]],
            today: vec![vec![Slot::Machine, slot(&different), slot(&same)]],
            sort: None,
        }],
        charts: vec![EvaluationChart {
            title: "Result 16".to_owned(),
            benchmark: curve.benchmark.clone(),
            parameter: "working_set".to_owned(),
            below: TITLE.to_owned(),
        }],
        definitions: vec![(different, Definition::Near(DIFFERS.to_owned()))],
    }
}

fn rendered(format: &str) -> String {
    let run = run();
    let document = in_tables(&run, &view(&run), &RunContext::default());
    let mut bytes = Vec::new();
    by_name(format, 120, false).unwrap().render(&document, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_differing_definition_is_marked_at_its_cell_in_every_format() {
    let note = format!("† nearly the same definition: {DIFFERS}");
    for format in ["terminal", "markdown"] {
        let text = rendered(format);
        let row = text.lines().find(|line| line.contains('►')).unwrap();
        assert_eq!(row.matches('†').count(), 1, "{row}");
        assert!(text.contains(&note), "{text}");
    }
    let html = rendered("html");
    assert!(html.contains("<sup>†</sup>") && html.contains("† nearly the same definition"), "no mark in HTML");
    let csv = rendered("csv");
    assert_eq!(csv.lines().filter(|line| line.contains(DIFFERS)).count(), 1, "{csv}");
    let json: serde_json::Value = serde_json::from_str(&rendered("json")).unwrap();
    let cells = json["tables"][0]["rows"][1].as_array().unwrap();
    assert_eq!((cells[1]["definition"]["near"].as_str(), cells[2]["definition"].as_str()), (Some(DIFFERS), None));
}

#[test]
fn a_chart_stands_below_its_table_with_a_curve_for_each_other_parameters() {
    let html = rendered("html");
    let (table, chart) = (html.find(TITLE).unwrap(), html.find("Result 16").unwrap());
    assert!(table < chart && html[chart..].contains("<svg"));
    assert!(rendered("terminal").contains("Result 16"));
}
