//! Runs side by side: verdicts, ratios with intervals, geometric means.

pub(super) mod assumed;
pub(super) mod brief;
pub(super) mod clock;
pub(super) mod definitions;
pub(super) mod edge;
mod gate;
pub(super) mod heat;
pub(super) mod many;
pub(super) mod means;
pub(super) mod open;
mod places;
mod records;
pub(super) mod rows;
mod self_test;
mod suggest;

pub use gate::sentence as gate_sentence;
pub use self_test::self_test;

use std::collections::HashMap;

use compare::Comparison;
use compare::naming::headings;
use compare::{Compared, OtherRule, Relation};
use model::ResultKey;

use crate::words::{day, distinct, list, plural, quoted};
use crate::{Block, Column, ColumnKind, Document, DocumentSection, EmbeddedJson, RowGroup, Table};

/// Machines that have columns beside the reference; more get one row each.
pub(super) const BESIDE: usize = 3;

/// Disturbed runs that are named beyond those with a sentence.
const DISTURBED: usize = 10;

/// Results in one table of many machines.
const RESULTS: usize = 5;

/// Options of the view that are not part of the comparison.
#[derive(Debug, Clone, Default)]
pub struct CompareContext {
    /// How the user names each run; empty when unknown.
    pub handles: Vec<String>,
    /// Whether to show what differs and the means, instead of every result.
    pub brief: bool,
    /// Time of one sample of each result, seconds, where it is known: what more samples would cost.
    pub seconds: HashMap<ResultKey, f64>,
}

/// The report of `prony compare`; its JSON is the [`Comparison`].
#[must_use]
pub fn compare(comparison: &Comparison, context: &CompareContext) -> Document {
    let (reference, others) = places_of(comparison);
    let mut document = Document::new(title(comparison, context, reference, &others));
    if let Some(gate) = &comparison.gate {
        document.add("", Block::Text(gate::sentence(comparison, gate)));
    }
    if context.brief && !others.is_empty() {
        document.sections.extend(match others.as_slice() {
            [other] => brief::pair(comparison, *other, &context.seconds),
            many => brief::several(comparison, many),
        });
    } else {
        document.sections.extend(whole(comparison, reference, &others));
    }
    let notes = notes(comparison, context, reference, &others);
    if !notes.is_empty() {
        document.add("", Block::list(notes));
    }
    if let [other] = others.as_slice() {
        let all = handles(comparison, context);
        let (base, other) = (all[reference], all[*other]);
        if base != other {
            document.next = vec![format!("prony explain {} {}", quoted(base), quoted(other))];
        }
    }
    if context.brief {
        document.next.push(suggest::every_result(comparison, &handles(comparison, context)));
    }
    document.data = EmbeddedJson::of(comparison).ok();
    document.records = Some(records::records(comparison));
    document
}

/// The places of the reference and of all other machines.
pub(super) fn places_of(comparison: &Comparison) -> (usize, Vec<usize>) {
    let reference = comparison.machines.iter().position(|m| m.relation == Relation::Reference).unwrap_or(0);
    (reference, (0..comparison.machines.len()).filter(|index| *index != reference).collect())
}

/// Every result of every machine.
fn whole(comparison: &Comparison, reference: usize, others: &[usize]) -> Vec<DocumentSection> {
    let mut sections = vec![tallies(comparison, others)];
    match others {
        [other] => sections.push(DocumentSection::of("", Block::Table(pair(comparison, reference, *other)))),
        few if few.len() <= BESIDE => {
            sections.push(DocumentSection::of("", Block::Table(side_by_side(comparison, reference, few))));
        }
        _ => sections.extend(many::sections(comparison, reference, RESULTS)),
    }
    if let Some(table) = sections.last_mut() {
        table.blocks.extend(edge::line(comparison, others, others.len() == 1));
    }
    if others.len() > 1 {
        sections.extend(heat::section(comparison).filter(|_| others.len() > BESIDE));
        sections.extend(many::places(comparison));
    }
    sections.extend(assumed::section(comparison, others));
    sections.extend(open::section(comparison, others));
    sections.extend(means::section(comparison, others, RESULTS).map(|mut means| {
        means.blocks.extend(brief::per_price(comparison).into_iter().map(Block::Text));
        means
    }));
    sections
}

/// The names of the machines that a user types.
fn handles<'a>(comparison: &'a Comparison, context: &'a CompareContext) -> Vec<&'a str> {
    let name = |(index, machine): (usize, &'a Compared)| {
        context.handles.get(index).map_or(machine.name.as_str(), String::as_str)
    };
    comparison.machines.iter().enumerate().map(name).collect()
}

/// `web-3 (run 12)`: the name, and the number unless the name contains it.
fn run_name(comparison: &Comparison, context: &CompareContext, index: usize) -> String {
    let name = &comparison.machines[index].name;
    match context.handles.get(index) {
        Some(handle) if handle.bytes().all(|b| b.is_ascii_digit()) => {
            let run = format!("run {handle}");
            if name.starts_with(&run) { name.clone() } else { format!("{name} ({run})") }
        }
        _ => name.clone(),
    }
}

fn title(comparison: &Comparison, context: &CompareContext, reference: usize, others: &[usize]) -> String {
    let base = if comparison.machines.is_empty() { String::new() } else { run_name(comparison, context, reference) };
    let margin = format!("margin ±{}", rows::band(comparison));
    match others {
        [] => base,
        [other] => {
            let how = relation_words(comparison.machines[*other].relation);
            let mut name = run_name(comparison, context, *other);
            if let Some(rest) = name.strip_prefix("run ") {
                name = format!("Run {rest}");
            }
            format!("{name} vs baseline {base}: {how}, {margin}")
        }
        many => format!("{} runs vs baseline {base}: {margin}", many.len()),
    }
}

const fn relation_words(relation: Relation) -> &'static str {
    match relation {
        Relation::Reference => "the baseline",
        Relation::SameRun => "the same run",
        Relation::SameSession => "same machine, same run",
        Relation::AnotherSession => "same machine",
        Relation::AnotherMachine => "another machine",
    }
}

/// What disturbed the runs: their names, with a sentence of each; a brief one has the first disturbance alone.
fn disturbances(comparison: &Comparison, brief: bool) -> Vec<(String, String)> {
    let sentence = |machine: &Compared| {
        let all = &machine.disturbances;
        let told = if brief { &all[..all.len().min(1)] } else { all };
        let more = all.len() - told.len();
        let more = if more > 0 { format!(" (and {more} more: --all)") } else { String::new() };
        Some((machine.name.clone(), compare::conditions::sentence(&machine.name, told)? + &more))
    };
    comparison.machines.iter().filter_map(sentence).collect()
}

/// The sentences on disturbed runs; of many runs the first few, so that the answer stands on the first screen.
pub(super) fn some_disturbed(disturbed: &[(String, String)], many: bool) -> Vec<String> {
    let mut notes = distinct(disturbed.iter().map(|(_, sentence)| sentence.clone()));
    let more = notes.len().saturating_sub(BESIDE);
    if many && more > 1 {
        notes.truncate(BESIDE);
        let names = disturbed.iter().filter(|(_, sentence)| !notes.contains(sentence));
        let mut names: Vec<&str> = names.map(|(name, _)| name.as_str()).collect();
        let unnamed = names.len().saturating_sub(DISTURBED);
        names.truncate(DISTURBED);
        let rest = if unnamed > 0 { format!(" and {unnamed} more") } else { String::new() };
        notes.push(format!("Also with interference: {}{rest}", names.join(", ")));
    }
    notes
}

/// What the environment of single runs set, where they differ in it.
fn environments(comparison: &Comparison) -> Vec<String> {
    let machines = &comparison.machines;
    let alike = machines.windows(2).all(|pair| pair[0].environment == pair[1].environment);
    let told = machines.iter().filter(|machine| !alike && !machine.environment.is_empty());
    told.map(|machine| format!("{} ran with {} set", machine.name, list(&machine.environment))).take(BESIDE).collect()
}

/// The rules with which a run was measured and the reference was not, in one line.
fn rules(machine: &Compared, reference: &str) -> Option<String> {
    /// Rules that are named.
    const NAMED: usize = 3;
    let number = |number: Option<f64>| number.map_or("none".to_owned(), |number| number.to_string());
    let named = |rule: &OtherRule| format!("{} {} instead of {}", rule.name, number(rule.own), number(rule.reference));
    let mut named: Vec<String> = machine.rules.iter().take(NAMED).map(named).collect();
    if machine.rules.len() > NAMED {
        named.push(format!("{} more", machine.rules.len() - NAMED));
    }
    let name = &machine.name;
    (!named.is_empty()).then(|| format!("{name} was measured with other rules than {reference}: {}", list(&named)))
}

fn notes(comparison: &Comparison, context: &CompareContext, reference: usize, others: &[usize]) -> Vec<String> {
    // What disturbed a run comes first: it is the first rival of everything below.
    let mut notes = some_disturbed(&disturbances(comparison, context.brief), others.len() > BESIDE);
    notes.extend(environments(comparison));
    notes.extend(comparison.machines.iter().filter_map(|machine| rules(machine, &comparison.reference)));
    notes.extend(clock::notes(comparison, reference, others, context.brief));
    notes.extend(others.iter().flat_map(|other| places::notes(comparison, reference, *other)));
    for machine in comparison.machines.iter().filter(|machine| machine.relation == Relation::SameRun) {
        let (name, reference) = (&machine.name, &comparison.reference);
        notes.push(format!("{name} and {reference} are the same run, so nothing is tested"));
    }
    if others.len() > 1 && !context.brief {
        notes.extend((0..comparison.machines.len()).map(|index| machine_note(comparison, context, index)));
    }
    if !others.is_empty() && !context.brief {
        let marked = others.len() > BESIDE && many::has_inconclusive(comparison);
        let mark = if marked { format!(" {} marks inconclusive results.", many::INCONCLUSIVE) } else { String::new() };
        match comparison.tests {
            0 if itself(comparison) => {}
            0 => notes.push(format!("Nothing could be tested: no result has error bars on both sides.{mark}")),
            _ => notes.push(format!("{}{mark}", brief::meaning(comparison))),
        }
    }
    notes.extend(assumed::note(comparison));
    notes.extend(definitions::notes(comparison));
    notes.extend(comparison.machines.iter().filter_map(|machine| machine.attribution.clone()));
    distinct(notes)
}

/// Whether all runs are the reference itself.
fn itself(comparison: &Comparison) -> bool {
    comparison.machines.iter().all(|machine| matches!(machine.relation, Relation::Reference | Relation::SameRun))
}

/// `old (run 12): AMD K6/200 MHz, FreeBSD 2.2.5, 1998-01-01 (another machine)`.
fn machine_note(comparison: &Comparison, context: &CompareContext, index: usize) -> String {
    let machine = &comparison.machines[index];
    let name = run_name(comparison, context, index);
    let facts = [machine.summary.clone(), day(&machine.started)];
    let facts: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
    format!("{name}: {} ({})", facts.join(", "), relation_words(machine.relation))
}

fn tallies(comparison: &Comparison, others: &[usize]) -> DocumentSection {
    let mut blocks = match others {
        [] => Vec::new(),
        [other] => vec![Block::Text(brief::counts(comparison.machines[*other].tally))],
        many => vec![Block::Table(brief::counts_table(comparison, many))],
    };
    let lonely = comparison.unmatched.len();
    if lonely > 0 {
        blocks.push(Block::Text(format!("{} in only one of the runs", plural(lonely, "result"))));
    }
    DocumentSection { title: String::new(), blocks }
}

pub(super) fn pair(comparison: &Comparison, reference: usize, other: usize) -> Table {
    let mut columns = vec![Column::label("")];
    columns.extend(heads(comparison, &[reference, other]).into_iter().map(Column::number));
    columns.extend(rows::change_columns(comparison.normalise, comparison.level));
    columns.push(Column::words("verdict"));
    let told = clock::is_told(comparison);
    columns.extend(told.then(|| Column::words("basis")));
    Table { columns, groups: groups(comparison, |row| rows::pair(row, (reference, other), comparison.normalise, told)) }
}

pub(super) fn side_by_side(comparison: &Comparison, reference: usize, others: &[usize]) -> Table {
    let mut columns = vec![Column::label("")];
    let runs: Vec<usize> = std::iter::once(reference).chain(others.iter().copied()).collect();
    let kinds = std::iter::once(ColumnKind::Number).chain(std::iter::repeat(ColumnKind::Words));
    columns.extend(heads(comparison, &runs).into_iter().zip(kinds).map(|(head, kind)| Column::new(head, kind)));
    Table {
        columns,
        groups: groups(comparison, |row| rows::side_by_side(row, reference, others, comparison.normalise)),
    }
}

/// Width of a heading that leaves space for the others.
const HEAD: usize = 20;

/// Headings that fit and differ between runs.
pub(super) fn heads(comparison: &Comparison, runs: &[usize]) -> Vec<String> {
    headings(&runs.iter().map(|run| comparison.machines[*run].name.clone()).collect::<Vec<_>>(), HEAD)
}

/// Rows by family while these are contiguous; one group if they are sorted otherwise.
fn groups(comparison: &Comparison, draw: impl Fn(&compare::CompareRow) -> crate::TableRow) -> Vec<RowGroup> {
    let groups = RowGroup::by_family(comparison.rows.iter().map(|row| (row.benchmark.as_str(), draw(row))));
    let again = |at: usize| groups[..at].iter().any(|known| known.title == groups[at].title);
    if (0..groups.len()).any(again) {
        let rows = groups.into_iter().flat_map(|group| group.rows).collect();
        return vec![RowGroup { rows, ..RowGroup::default() }];
    }
    groups
}
