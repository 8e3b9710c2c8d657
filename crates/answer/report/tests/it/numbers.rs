//! The numbers of charts, tiles and tables of a page are those of the terminal, and a page is small and complete.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;

use model::Run;
use report::view::{self, CompareContext, ReportInput, RunContext};
use report::{Block, Cell, ChartPlot, Document, PageFrame, PrintedQuantity};

use crate::fixture;
use crate::page::{single, two};

fn runs() -> [Run; 2] {
    let mut second = fixture::sample_run(6, 1.12, true);
    second.id.push('2');
    [fixture::sample_run(5, 1.0, true), second]
}

/// Every block of a document, those in folds too.
fn blocks(document: &Document) -> Vec<&Block> {
    fn within(block: &Block) -> Vec<&Block> {
        match block {
            Block::Folded { blocks, .. } => blocks.iter().flat_map(within).collect(),
            other => vec![other],
        }
    }
    document.sections.iter().flat_map(|section| &section.blocks).flat_map(within).collect()
}

/// The text of a cell as the terminal prints its number.
fn printed(cell: &Cell) -> String {
    match cell {
        Cell::Value(quantity) => quantity.text(),
        Cell::Text(text, _) => text.clone(),
        Cell::Interval(quantity) => quantity.text_with_interval(),
        _ => String::new(),
    }
}

#[test]
fn the_rows_of_a_forest_plot_are_those_of_the_compared_table() {
    let [a, b] = runs();
    let both = [&a, &b];
    let comparison = compare::compare(&both, &compare::CompareOptions::default()).unwrap();
    let table = view::compare(&comparison, &CompareContext::default());
    let rows: BTreeMap<String, Vec<String>> = table
        .tables()
        .flat_map(|table| table.rows())
        .filter(|row| row.cells.len() > 4)
        .map(|row| (printed(&row.cells[0]), row.cells[1..5].iter().map(printed).collect()))
        .collect();
    let input = ReportInput { runs: &both, comparison: Some(&comparison), ..ReportInput::default() };
    let document = view::report(&input);
    let mut seen = 0;
    for block in blocks(&document) {
        let Block::Chart(chart) = block else { continue };
        let ChartPlot::Forest(forest) = &chart.plot else { continue };
        for row in &forest.rows {
            let cells = &rows[&row.label];
            let factor = row.words.split(" (").next().unwrap();
            assert_eq!([&row.values[0], &row.values[1], factor], [&cells[0], &cells[1], &cells[2]], "{}", row.label);
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn tiles_ladders_curves_and_tables_of_a_run_have_the_numbers_of_its_results() {
    let [run, _] = runs();
    let names = [run.name().to_owned()];
    let input =
        ReportInput { catalogue: benchmarks::catalogue(), runs: &[&run], handles: &names, ..ReportInput::default() };
    let document = view::report(&input);
    let known: Vec<String> = run
        .results
        .iter()
        .filter_map(|result| {
            let quantity = PrintedQuantity::of(result.outcome.estimate()?, result.metric.unit);
            Some(quantity.in_metric(&result.metric).text_with_interval())
        })
        .collect();
    let shown = view::run(&run, &RunContext::default());
    let table: Vec<String> =
        shown.tables().flat_map(|table| table.rows()).flat_map(|row| &row.cells).map(printed).collect();
    let mut counts = [0; 3];
    for block in blocks(&document) {
        match block {
            Block::Tiles(tiles) => {
                for quantity in tiles.rows().flat_map(|row| &row.cells).filter_map(Cell::quantity) {
                    assert!(known.contains(&quantity.text_with_interval()), "{quantity:?}");
                    counts[0] += 1;
                }
            }
            Block::Chart(chart) => match &chart.plot {
                ChartPlot::Ladder(ladder) => {
                    for quantity in ladder.rows.iter().flat_map(|row| &row.values).flatten() {
                        assert!(known.contains(&quantity.text_with_interval()) && table.contains(&quantity.text()));
                        counts[1] += 1;
                    }
                }
                ChartPlot::Curves(curves) if chart.title != "quantile" => {
                    let points = curves.series.iter().flat_map(|series| &series.points);
                    counts[2] += points.filter(|(_, quantity)| known.contains(&quantity.text_with_interval())).count();
                }
                _ => {}
            },
            _ => {}
        }
    }
    assert!(counts.iter().all(|count| *count > 2), "{counts:?}");
    // Every row of the terminal's table is a row of the page, with its samples.
    let results = document.sections.iter().find(|section| section.title == "Results").unwrap();
    let Block::Table(results) = &results.blocks[0] else { panic!("a table") };
    assert_eq!(results.rows().count(), run.results.len());
    let sampled = results.rows().filter(|row| row.detail.as_ref().is_some_and(|detail| detail.samples.is_some()));
    assert!(sampled.count() > run.results.len() / 2);
}

#[test]
fn pages_of_one_and_two_runs_are_small_and_have_an_anchor_for_every_result() {
    let (one, two) = (single(), two());
    // A page of two runs of the suite `default`, which has 80 results, has less than 900 kB.
    let most = 900_000 * fixture::sample_run(5, 1.0, true).results.len() / 80;
    assert!(one.len() < two.len() && two.len() < most, "{} and {} of {most} bytes", one.len(), two.len());
    for page in [one, two] {
        let mut ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert!(ids.len() == all && all > 50, "{all} anchors, {} of them different", ids.len());
        for link in page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(ids.contains(&link), "{link} is linked, and is nowhere");
        }
        assert!(page.contains("Reproduce"), "no command");
    }
}

#[test]
fn a_frame_adds_links_and_may_leave_out_the_data() {
    let [run, _] = runs();
    let document = view::report(&ReportInput { runs: &[&run], ..ReportInput::default() });
    let links = vec![("all <runs>".to_owned(), "/runs?a=1&b=2".to_owned())];
    let page = report::page(&document, &PageFrame { links, without_data: true }).unwrap();
    assert!(page.contains("<a href=\"/runs?a=1&amp;b=2\">all &lt;runs&gt;</a>"), "{}", &page[..4000]);
    assert!(!page.contains("data-json"), "the data");
    let policy = report::content_security_policy();
    assert!(page.contains(&policy.replace('\'', "&#39;")) || page.contains(&policy), "{policy}");
}
