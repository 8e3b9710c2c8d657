//! How good predictions were where the value is known.

use predict::{AtSize, AtSplit, PredictionRecord, TriedSummary};

use crate::words::plural;
use crate::{Block, Cell, Column, ColumnKind, Document, DocumentSection, EmbeddedJson, Records, Table, TableRow, Tone};
use model::percent;

/// Probability below which so few intervals held are no chance.
const SIGNIFICANT: f64 = 0.05;

/// The report of `prony predict --evaluate`; its JSON is the [`PredictionRecord`].
#[must_use]
pub fn evaluation(evaluation: &PredictionRecord) -> Document {
    let what = match evaluation.applications.as_slice() {
        [one] => one.clone(),
        many => plural(many.len(), "figure"),
    };
    let models = plural(evaluation.models, "model of CPU").replace("model of CPUs", "models of CPU");
    let mut document = Document::new(format!("Predicting {what}: errors on {models}"));
    let mut section = |title: &str, table: Table| {
        document.sections.push(DocumentSection::of(title, Block::Table(table)));
    };
    section("other models of CPU", sizes(evaluation));
    section("single methods, median error", members(evaluation));
    if !evaluation.splits.is_empty() {
        section("a family or a maker left out", splits(evaluation));
    }
    let items: Vec<String> =
        evaluation.suspects.iter().map(|suspect| format!("{}; it was left out.", suspect.words())).collect();
    if !items.is_empty() {
        document.sections.push(DocumentSection::of("", Block::List { numbered: false, items }));
    }
    document.summary = vec![format!(
        "Each machine was predicted by machines of other models of CPU alone; {} of the intervals should hold. \
         In brackets: where a refusal counts as a miss.",
        percent(evaluation.level)
    )];
    document.data = EmbeddedJson::of(evaluation).ok();
    document.records = Some(records(evaluation));
    document
}

fn headed(titles: &[&str]) -> Vec<Column> {
    let kind = |place: usize| if place == 0 { ColumnKind::Label } else { ColumnKind::Number };
    titles.iter().enumerate().map(|(place, title)| Column::new(*title, kind(place))).collect()
}

fn percentage(share: f64) -> Cell {
    Cell::Printed(percent(share))
}

fn shown(share: Option<f64>) -> Cell {
    share.map_or(Cell::Empty, percentage)
}

/// Share of intervals that held, marked where it is too small for chance.
fn held(summary: &TriedSummary) -> Cell {
    let Some(coverage) = summary.coverage else { return Cell::Empty };
    let with = summary.coverage_with_refusals.filter(|_| summary.refused > 0.0);
    let text = percent(coverage) + &with.map_or_else(String::new, |with| format!(" ({})", percent(with)));
    match summary.too_few_held {
        Some(chance) if chance < SIGNIFICANT => Cell::Text(format!("{text} too few"), Tone::Caution),
        _ => Cell::Printed(text),
    }
}

fn sizes(evaluation: &PredictionRecord) -> Table {
    let columns = headed(&[
        "machines",
        "median error",
        "worst tenth",
        "best single method",
        "chosen in hindsight",
        "held",
        "half-width",
        "sound",
    ]);
    let row = |size: &AtSize| TableRow {
        cells: vec![
            Cell::Count(size.machines as u64),
            percentage(size.summary.median_error),
            percentage(size.summary.worst_tenth),
            shown(size.best_member().map(|best| best.median)),
            shown(size.oracle),
            held(&size.summary),
            shown(size.summary.half_width),
            percentage(size.summary.sound),
        ],
    };
    Table::plain(columns, evaluation.sizes.iter().map(row).collect())
}

fn members(evaluation: &PredictionRecord) -> Table {
    let Some(first) = evaluation.sizes.iter().max_by_key(|size| size.members.len()) else {
        return Table::plain(Vec::new(), Vec::new());
    };
    let methods: Vec<_> = first.members.iter().map(|member| member.method).collect();
    let mut titles = vec!["machines".to_owned(), "blend".to_owned()];
    titles.extend(methods.iter().map(|method| method.short().to_owned()));
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let row = |size: &AtSize| {
        let mut cells = vec![Cell::Count(size.machines as u64), percentage(size.summary.median_error)];
        let of = |method| size.members.iter().find(|member| member.method == method).map(|member| member.median);
        cells.extend(methods.iter().map(|&method| shown(of(method))));
        TableRow { cells }
    };
    Table::plain(headed(&titles), evaluation.sizes.iter().map(row).collect())
}

fn splits(evaluation: &PredictionRecord) -> Table {
    let columns = headed(&[
        "split",
        "learnt from",
        "predictions",
        "median error",
        "worst tenth",
        "held",
        "half-width",
        "refused",
    ]);
    let row = |name: String, machines: String, summary: &TriedSummary| TableRow {
        cells: vec![
            Cell::text(name),
            Cell::Printed(machines),
            Cell::Count(summary.predictions as u64),
            percentage(summary.median_error),
            percentage(summary.worst_tenth),
            held(summary),
            shown(summary.half_width),
            percentage(summary.refused),
        ],
    };
    let of = |split: &AtSplit| row(split.words(), split.machines.to_string(), &split.summary);
    let all = evaluation.families_left_out.iter().map(|all| row("all together".to_owned(), String::new(), all));
    Table::plain(columns, evaluation.splits.iter().map(of).chain(all).collect())
}

/// One record for each number of training machines and for each split.
fn records(evaluation: &PredictionRecord) -> Records {
    let text = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let row = |split: String, machines: usize, best: Option<f64>, oracle: Option<f64>, summary: &TriedSummary| {
        vec![
            split,
            machines.to_string(),
            summary.predictions.to_string(),
            summary.refused.to_string(),
            summary.median_error.to_string(),
            summary.worst_tenth.to_string(),
            text(best),
            text(oracle),
            text(summary.coverage),
            text(summary.coverage_with_refusals),
            text(summary.too_few_held),
            text(summary.half_width),
        ]
    };
    let sizes = evaluation.sizes.iter().map(|size| {
        row("models".to_owned(), size.machines, size.best_member().map(|best| best.median), size.oracle, &size.summary)
    });
    let splits = evaluation.splits.iter().map(|split| row(split.words(), split.machines, None, None, &split.summary));
    Records {
        header: vec![
            "split",
            "machines",
            "predictions",
            "refused",
            "median_error",
            "worst_tenth",
            "best_single_median",
            "hindsight_median",
            "coverage",
            "coverage_with_refusals",
            "too_few_held_p",
            "half_width",
        ],
        rows: sizes.chain(splits).collect(),
    }
}
