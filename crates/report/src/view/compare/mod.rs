//! Runs side by side: verdicts, ratios with intervals, geometric means.

pub(super) mod means;
mod records;
pub(super) mod rows;
mod self_test;

pub use self_test::self_test;

use analyse::Comparison;
use analyse::compare::{Compared, Relation, Tally};

use crate::words::{day, family_title, percent};
use crate::{Block, Column, Data, Document, Group, Kind, Section, Table};

/// Machines beside the reference in one table; more get a table more.
const BESIDE: usize = 4;

/// The same for geometric means, which carry their intervals.
const MEANS_BESIDE: usize = 3;

/// What a comparison does not know: what people type to name its runs.
#[derive(Debug, Clone, Default)]
pub struct CompareContext {
    /// One a machine, in the order of the comparison; empty when unknown.
    pub handles: Vec<String>,
}

/// The report of `prony compare`; its JSON is the [`Comparison`].
#[must_use]
pub fn compare(comparison: &Comparison, context: &CompareContext) -> Document {
    let reference = comparison.machines.iter().position(|m| m.relation == Relation::Reference).unwrap_or(0);
    let others: Vec<usize> = (0..comparison.machines.len()).filter(|index| *index != reference).collect();
    let mut document = Document::new(title(comparison, context, reference, &others));
    document.notes = notes(comparison, &others);
    document.sections.push(tallies(comparison, context, &others));
    match others.as_slice() {
        [] => document.sections.push(Section::of("", Block::Table(side_by_side(comparison, context, reference, &[])))),
        [other] => document.sections.push(Section::of("", Block::Table(pair(comparison, context, reference, *other)))),
        many => {
            for part in many.chunks(BESIDE) {
                let table = side_by_side(comparison, context, reference, part);
                document.sections.push(Section::of("", Block::Table(table)));
            }
        }
    }
    document.sections.extend(still_open(comparison, &others));
    document.sections.extend(means::section(comparison, &others, MEANS_BESIDE));
    if let [other] = others.as_slice() {
        let handles = (handle(comparison, context, reference), handle(comparison, context, *other));
        document.next = vec![format!("prony explain {} {}", handles.0, handles.1)];
    }
    document.data = Data::of(comparison).ok();
    document.records = Some(records::records(comparison));
    document
}

/// What people call a machine of the comparison.
fn handle<'a>(comparison: &'a Comparison, context: &'a CompareContext, index: usize) -> &'a str {
    context.handles.get(index).map_or(comparison.machines[index].name.as_str(), String::as_str)
}

fn run_name(comparison: &Comparison, context: &CompareContext, index: usize) -> String {
    match context.handles.get(index) {
        Some(handle) if handle.bytes().all(|b| b.is_ascii_digit()) => format!("run {handle}"),
        Some(handle) => handle.clone(),
        None => comparison.machines[index].name.clone(),
    }
}

fn title(comparison: &Comparison, context: &CompareContext, reference: usize, others: &[usize]) -> String {
    let same = format!("±{} counts as the same", percent(comparison.band));
    let base = if comparison.machines.is_empty() { String::new() } else { run_name(comparison, context, reference) };
    match others {
        [] => base,
        [other] => {
            let how = relation_words(comparison.machines[*other].relation);
            let mut name = run_name(comparison, context, *other);
            if let Some(rest) = name.strip_prefix("run ") {
                name = format!("Run {rest}");
            }
            format!("{name} against {base} ({how}; {same})")
        }
        many => format!("{} runs against {base} ({same})", many.len()),
    }
}

const fn relation_words(relation: Relation) -> &'static str {
    match relation {
        Relation::Reference => "the reference",
        Relation::SameSession => "same session",
        Relation::AnotherSession => "same machine, another session",
        Relation::AnotherMachine => "another machine",
    }
}

fn notes(comparison: &Comparison, others: &[usize]) -> Vec<String> {
    let mut notes = Vec::new();
    if others.len() > 1 {
        let line =
            |m: &Compared| format!("{}: {}, {} ({})", m.name, m.summary, day(&m.started), relation_words(m.relation));
        notes.extend(comparison.machines.iter().map(line));
    }
    if !others.is_empty() {
        notes.push(format!(
            "DIFFERENT: surely, and by more than {0}; SAME: surely by less; UNDECIDED: neither can be said. All {1} tests \
             together claim a false difference with a chance of at most {2}",
            percent(comparison.band),
            comparison.tests,
            percent(1.0 - comparison.level)
        ));
    }
    for attribution in comparison.machines.iter().filter_map(|machine| machine.attribution.as_ref()) {
        if !notes.contains(attribution) {
            notes.push(attribution.clone());
        }
    }
    notes
}

fn tallies(comparison: &Comparison, context: &CompareContext, others: &[usize]) -> Section {
    let line = |tally: &Tally| {
        let of = tally.different + tally.same + tally.undecided;
        let without = match tally.without {
            0 => String::new(),
            n => format!("   not comparable {n}"),
        };
        format!("DIFFERENT {} of {of}   SAME {}   UNDECIDED {}{without}", tally.different, tally.same, tally.undecided)
    };
    let mut lines: Vec<String> = others
        .iter()
        .map(|index| {
            let name =
                if others.len() > 1 { format!("{}: ", handle(comparison, context, *index)) } else { String::new() };
            name + &line(&comparison.machines[*index].tally)
        })
        .collect();
    let lonely = comparison.unmatched.len();
    if lonely > 0 {
        lines.push(format!(
            "{} only one of the runs has",
            if lonely == 1 { "1 figure".to_owned() } else { format!("{lonely} figures") }
        ));
    }
    Section { title: String::new(), blocks: lines.into_iter().map(Block::Text).collect() }
}

/// What is not decided and what would decide it, figures with the same answer together.
pub(super) fn still_open(comparison: &Comparison, others: &[usize]) -> Option<Section> {
    let mut answers: Vec<(String, Vec<String>)> = Vec::new();
    for row in &comparison.rows {
        for other in others {
            let Some(ratio) = row.ratios.get(*other) else { continue };
            let Some(why) = rows::open(ratio) else { continue };
            let whose =
                if others.len() > 1 { format!("{}: ", comparison.machines[*other].name) } else { String::new() };
            let why = whose + &why;
            let name = rows::name(row);
            match answers.iter_mut().find(|(known, _)| *known == why) {
                Some((_, names)) => names.push(name),
                None => answers.push((why, vec![name])),
            }
        }
    }
    if answers.is_empty() {
        return None;
    }
    let items = answers.into_iter().map(|(why, names)| format!("{}: {why}", names.join("; "))).collect();
    Some(Section::of("not decided, and why", Block::List { numbered: false, items }))
}

fn pair(comparison: &Comparison, context: &CompareContext, reference: usize, other: usize) -> Table {
    let columns = vec![
        Column::new("", Kind::Label),
        Column::new(short_name(&run_name(comparison, context, reference)), Kind::Number),
        Column::new(short_name(&run_name(comparison, context, other)), Kind::Number),
        Column::new(rows::ratio_title(comparison.normalise), Kind::Number),
        Column::new(format!("{} interval", percent(comparison.level)), Kind::Number),
        Column::new("verdict", Kind::Words),
    ];
    Table { columns, groups: groups(comparison, |row| rows::pair(row, reference, other)) }
}

pub(super) fn side_by_side(
    comparison: &Comparison,
    context: &CompareContext,
    reference: usize,
    others: &[usize],
) -> Table {
    let mut columns = vec![
        Column::new("", Kind::Label),
        Column::new(short_name(&run_name(comparison, context, reference)), Kind::Number),
    ];
    for other in others {
        columns.push(Column::new(short_name(&run_name(comparison, context, *other)), Kind::Words));
    }
    Table { columns, groups: groups(comparison, |row| rows::side_by_side(row, reference, others)) }
}

/// A heading that leaves room for the others.
fn short_name(name: &str) -> String {
    if name.chars().count() <= 16 {
        return name.to_owned();
    }
    name.chars().take(15).chain(['…']).collect()
}

/// Rows by family while these keep together; one group when they were sorted otherwise.
fn groups(comparison: &Comparison, draw: impl Fn(&analyse::compare::Row) -> crate::Row) -> Vec<Group> {
    let family = |row: &analyse::compare::Row| row.probe.split('.').next().unwrap_or_default().to_owned();
    let mut groups: Vec<(String, Group)> = Vec::new();
    for row in &comparison.rows {
        if groups.last().is_none_or(|(last, _)| *last != family(row)) {
            let name = family(row);
            groups.push((name.clone(), Group { title: family_title(&name), ..Group::default() }));
        }
        if let Some((_, group)) = groups.last_mut() {
            group.rows.push(draw(row));
        }
    }
    let mut names: Vec<&String> = groups.iter().map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    if names.len() == groups.len() {
        return groups.into_iter().map(|(_, group)| group).collect();
    }
    vec![Group { rows: groups.into_iter().flat_map(|(_, group)| group.rows).collect(), ..Group::default() }]
}
