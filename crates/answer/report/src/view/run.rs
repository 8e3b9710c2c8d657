//! One run: tables by family in the order of the catalogue, and the outcome of every result.

use compare::quality::{Quality, QualityLevel, quality, target};
use model::{BenchmarkResult, Catalogue, Flag, Outcome, Run, TIDY_COLUMNS, percent, tidy_rows};
use serde::Serialize;

use super::machine::{heading, notes, warnings};
use super::quality::{badge, counted, details};
use super::tails::tails;
use super::{matrices, scaling};
use crate::words::{
    Told, duration, family_title, grouped, modes, plural, remarks, result_label, resume_command, unconfirmed,
    unknown_clock,
};
use crate::{
    Block, Cell, Column, Document, DocumentSection, EmbeddedJson, PrintedQuantity, Records, RowGroup, Table, TableRow,
    Tone,
};

/// Options of the view that are not part of the run document.
#[derive(Debug, Clone, Default)]
pub struct RunContext {
    /// What is known of the benchmarks.
    pub catalogue: &'static Catalogue,
    /// Number, label or path that selects the run on the command line.
    pub handle: Option<String>,
    /// The same for an earlier run on this machine.
    pub previous: Option<String>,
    /// Whether it has just been stored, which the summary then mentions.
    pub stored: bool,
    /// Whether to leave out of the rows what is no warning: variants, notes, observed values.
    pub brief: bool,
}

/// The report of one run: the quality of its data, all its results, and its notes.
#[must_use]
pub fn run(run: &Run, context: &RunContext) -> Document {
    let mut document = Document::new(heading(run, context.handle.as_deref()));
    document.notes = warnings(run);
    // The table may fill many screens: what it comes to stands before it.
    let first = badge(run).into_iter().chain([Block::Text(summary(run, context))]).collect();
    document.sections.push(DocumentSection { title: String::new(), blocks: first });
    if run.results.is_empty() {
        document.add("", Block::Text("No result was measured.".to_owned()));
    } else {
        let drawn = matrices::keys(run);
        let mut rest = run.clone();
        rest.results.retain(|result| !drawn.contains(&result.key()));
        if !rest.results.is_empty() {
            document.add("", Block::Table(table(&rest, context.brief)));
        }
    }
    let name = [run.name().to_owned()];
    document.sections.extend(matrices::sections(&[run], &name));
    document.sections.extend(scaling::section(run));
    // The table after measuring shows values only; the view of a stored run shows tails as well.
    document.sections.extend((!context.stored).then(|| tails(run)).flatten());
    let notes: Vec<String> = notes(run).into_iter().chain(details(run)).collect();
    if !notes.is_empty() {
        document.add("notes", Block::list(notes));
    }
    document.next = next(run, context);
    document.data = EmbeddedJson::compact(&RunData::of(run)).ok();
    document.records = Some(run_records(run));
    document
}

/// A run for programs, with the quality of its data.
#[derive(Serialize)]
struct RunData<'a> {
    #[serde(flatten)]
    run: &'a Run,
    /// Absent of a run that another tool measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    quality: Option<Quality>,
}

impl<'a> RunData<'a> {
    fn of(run: &'a Run) -> Self {
        Self { run, quality: Some(quality(run)).filter(|quality| quality.level != QualityLevel::Unknown) }
    }
}

/// The results by family; `brief` leaves what is no warning out of the rows.
pub(super) fn table(run: &Run, brief: bool) -> Table {
    let mut columns = vec![
        Column::label(""),
        Column::number("value"),
        Column::number(format!("{} interval", percent(run.plan.level))),
        Column::number("samples"),
        Column::remark("remarks"),
    ];
    let measured: Vec<_> = run.results.iter().filter_map(|result| result.outcome.estimate()).collect();
    if !measured.is_empty()
        && measured.iter().all(|estimate| !PrintedQuantity::of(estimate, model::Unit::Count).has_interval())
    {
        columns[2].title = "spread".to_owned();
    }
    Table { columns, groups: groups(run, brief) }
}

/// Families in the order of their first result.
fn groups(run: &Run, brief: bool) -> Vec<RowGroup> {
    let flags = counted(run);
    grouped(run.results.iter().map(|result| (result.family(), result)))
        .into_iter()
        .map(|(family, members)| {
            let shared = shared_notes(&members);
            let told = Told { notes: shared, flags: flags.clone(), brief };
            let row = |result: &&BenchmarkResult| {
                TableRow::of(cells(result, result_label(result), target(run, result), &told))
            };
            let rows = members.iter().map(row).collect();
            RowGroup { title: family_title(family), note: told.notes.join(", "), rows }
        })
        .collect()
}

/// Notes of all results of a family, which are printed once, in its heading.
fn shared_notes(members: &[&BenchmarkResult]) -> Vec<String> {
    let [first, others @ ..] = members else { return Vec::new() };
    let told = first.notes.iter().filter(|note| !note.starts_with(model::RECORD));
    let shared = told.filter(|note| others.iter().all(|result| result.notes.contains(note)));
    if others.is_empty() { Vec::new() } else { shared.cloned().collect() }
}

/// Label, value, interval, samples and remarks of a result; what it is instead of a value, across the last four.
pub(super) fn cells(result: &BenchmarkResult, label: String, target: f64, told: &Told) -> Vec<Cell> {
    let unit = result.metric.unit;
    let label = Cell::text(label);
    let remarks = remarks(result, target, told);
    let with = |text: String| if remarks.is_empty() { text } else { format!("{text}; {}", remarks.join(", ")) };
    let samples = result.counted().len();
    if let Some(reason) = unknown_clock(result) {
        return vec![label, Cell::Across(format!("not known: {reason}"), Tone::Caution)];
    }
    match &result.outcome {
        Outcome::Measured(estimate) => {
            let quantity = PrintedQuantity::of(estimate, unit).in_metric(&result.metric);
            let warns = result.flags.iter().any(|flag| !told.flags.contains(flag));
            let tone = if warns { Tone::Caution } else { Tone::Muted };
            let samples = if result.samples.is_empty() { estimate.samples as usize } else { samples };
            let count = if quantity.has_interval() { Cell::Count(samples as u64) } else { Cell::Empty };
            vec![label, Cell::Value(quantity), Cell::Interval(quantity), count, Cell::Text(remarks.join(", "), tone)]
        }
        Outcome::Below { bound } => vec![
            label,
            Cell::Below(PrintedQuantity::bare(*bound, unit).in_metric(&result.metric)),
            Cell::Text("upper bound".to_owned(), Tone::Muted),
            if samples > 0 { Cell::Count(samples as u64) } else { Cell::Empty },
            Cell::Text(remarks.join(", "), Tone::Muted),
        ],
        Outcome::Modes(groups) => vec![label, Cell::Across(with(modes(groups, &result.metric)), Tone::Caution)],
        Outcome::NotMeasured(reason) => vec![label, Cell::Across(with(format!("not measured: {reason}")), Tone::Muted)],
        Outcome::Failed(reason) => vec![label, Cell::Across(with(format!("failed: {reason}")), Tone::Bad)],
    }
}

/// `68 results in 1:47: 61 within ±2%, 5 wider, 1 multimodal, 1 not measured. Stored as run 3 ("2026-11-21 vm").`
pub(super) fn summary(run: &Run, context: &RunContext) -> String {
    let mut within = 0;
    let mut counts = [0; 7];
    for result in run.results.iter().filter(|result| !result.is_condition()) {
        match &result.outcome {
            Outcome::Measured(estimate) if !PrintedQuantity::of(estimate, result.metric.unit).has_interval() => {
                counts[0] += 1;
            }
            Outcome::Measured(_) if result.is_within(target(run, result), run.plan.level) => within += 1,
            Outcome::Measured(_) if unconfirmed(result, target(run, result)) => counts[6] += 1,
            Outcome::Measured(_) => counts[1] += 1,
            Outcome::Below { .. } => counts[2] += 1,
            Outcome::Modes(_) => counts[3] += 1,
            Outcome::NotMeasured(_) => counts[4] += 1,
            Outcome::Failed(_) => counts[5] += 1,
        }
    }
    let same_target = run.results.iter().all(|result| target(run, result).total_cmp(&run.plan.target).is_eq());
    let goal = if same_target { format!("±{}", percent(run.plan.target)) } else { "their targets".to_owned() };
    let mut parts: Vec<String> = Vec::new();
    if within > 0 || counts[1] > 0 || counts[6] > 0 {
        parts.push(format!("{within} within {goal}"));
    }
    let words =
        ["without error bars", "wider", "below resolution", "multimodal", "not measured", "failed", "unconfirmed"];
    for index in [6, 1, 2, 3, 0, 4, 5] {
        if counts[index] > 0 {
            parts.push(format!("{} {}", counts[index], words[index]));
        }
    }
    let time = if run.session.seconds > 0.0 { format!(" in {}", duration(run.session.seconds)) } else { String::new() };
    let counted = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    // The parts add up to it: what the machine did meanwhile is no result that was asked for.
    let asked = run.results.iter().filter(|result| !result.is_condition()).count();
    format!("{}{time}{counted}.{}", plural(asked, "result"), stored(run, context))
}

fn stored(run: &Run, context: &RunContext) -> String {
    if !context.stored {
        return String::new();
    }
    let handle = context.handle.as_deref().unwrap_or(&run.id);
    let label = run.label.as_ref().map(|label| format!(" (\"{label}\")")).unwrap_or_default();
    format!(" Stored as run {handle}{label}.")
}

pub(super) fn next(run: &Run, context: &RunContext) -> Vec<String> {
    let Some(handle) = &context.handle else { return Vec::new() };
    let mut next = Vec::new();
    if let Some(previous) = &context.previous {
        next.push(format!("prony compare {previous} {handle}"));
    }
    next.extend(resume_command(run, handle));
    next.push(format!("prony report {handle}"));
    let odd = |result: &&BenchmarkResult| {
        result.has(Flag::CannotConverge) || matches!(result.outcome, Outcome::Modes(_) | Outcome::Failed(_))
    };
    // Results of other commands have no benchmark to show.
    let catalogue = !["app", "rating", "int-1", "fp-1", "sessions", "farm"].contains(&run.plan.suite.as_str())
        && !run.plan.suite.starts_with("net ");
    if let Some(result) = run.results.iter().find(odd).filter(|_| run.origin.is_none() && catalogue) {
        next.push(format!("prony benchmarks {}", result.benchmark));
    }
    next
}

/// Several runs for programs: their documents, and the results of all of them as tidy records.
#[must_use]
pub fn several(runs: &[Run]) -> Document {
    let mut document = Document::new(plural(runs.len(), "run"));
    document.data = EmbeddedJson::compact(&runs.iter().map(RunData::of).collect::<Vec<_>>()).ok();
    document.records = Some(Records { header: TIDY_COLUMNS.to_vec(), rows: runs.iter().flat_map(tidy_rows).collect() });
    document
}

/// The results of a run as tidy records in base units, one row for each result.
#[must_use]
pub fn run_records(run: &Run) -> Records {
    Records { header: TIDY_COLUMNS.to_vec(), rows: tidy_rows(run) }
}
