//! The complete report of one run or several: machines, results, verdicts, explanation, charts, method.

pub(super) mod curves;
mod data;
mod detail;
mod first;
mod forest;
mod machines;
mod method;
mod rating;
mod spread;

pub use detail::samples_of;

use std::collections::HashSet;

use ::compare::Comparison;
use ::explain::Explanation;
use model::{Catalogue, ResultKey, Run};

use super::compare::{assumed, edge, many, means, open, side_by_side};
use super::{
    PrintedPlateau, compare, explain, machine, matrices, network, network_steps, network_tails, quality, run, scaling,
};
use crate::words::{capital, distinct, family_title, plural};
use crate::{Block, Cell, Document, DocumentSection, Records, Table};

/// Number of runs up to which each run's own tables are included, folded, below the comparison.
const OWN_TABLES: usize = 4;
/// Results in one table of many machines.
const RESULTS: usize = 8;
/// Curves that one chart can tell apart.
const CURVES: usize = 16;
/// Beginning of the heading of the verdicts.
const VERDICTS: &str = "Compared with";
/// Heading of the means.
const MEANS: &str = "Geometric means";

/// Content of a report.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReportInput<'a> {
    /// The benchmarks.
    pub catalogue: &'static Catalogue,
    /// The runs, the reference first.
    pub runs: &'a [&'a Run],
    /// How the user names each run; empty when unknown.
    pub handles: &'a [String],
    /// Their comparison, if there are several.
    pub comparison: Option<&'a Comparison>,
    /// Why two of them differ.
    pub explanation: Option<&'a Explanation>,
    /// Plateaus that others printed, which stand on the curve of streams.
    pub plateaus: &'a [PrintedPlateau],
    /// The answer of the command that made the only run, in place of its key results.
    pub answer: &'a [Block],
}

/// The report as designed for [`Html`](crate::Html); other formats render it without its charts.
#[must_use]
pub fn report(input: &ReportInput) -> Document {
    let names = names(input);
    let mut document = Document::new(title(input, &names));
    // Disturbances of runs come first, since they may explain any difference. For one run the answer has them.
    let disturbed = if input.runs.len() > 1 { disturbed(input.runs, &names) } else { Vec::new() };
    document.notes.extend(compare::some_disturbed(&disturbed, input.runs.len() > OWN_TABLES));
    document.notes.extend(input.comparison.and_then(assumed::note));
    document.notes.extend(input.runs.iter().filter_map(|run| run.origin.as_ref()?.attribution.clone()));
    document.notes = distinct(document.notes);
    match input.comparison {
        Some(comparison) if input.runs.len() > 1 => compared(&mut document, input, comparison, &names),
        _ => own(&mut document, input, &names),
    }
    network::add_plateaus(&mut document.sections, input.plateaus);
    if let Some(explanation) = input.explanation {
        let verdicts = document.sections.iter().position(|section| section.title.starts_with(VERDICTS));
        let place = verdicts.map_or(document.sections.len(), |place| place + 1);
        document.sections.insert(place, why(explanation));
        // The means stand beside the explanation.
        if let Some(means) = document.sections.iter().position(|section| section.title == MEANS) {
            let section = document.sections.remove(means);
            document.sections.insert(place + 1, section);
        }
    }
    if let [run] = input.runs {
        document.sections.extend(run.session.farm.iter().flat_map(super::farm::farm));
    }
    document.sections.extend(matrices::sections(input.runs, &names));
    document.sections.extend(input.runs.iter().flat_map(|run| network_steps::steps(run)));
    document.sections.extend(input.runs.iter().flat_map(|run| network_tails::tails(run)));
    document.sections.extend(input.runs.iter().flat_map(|run| network::bursts(run)));
    document
        .sections
        .extend(input.runs.iter().filter(|_| input.runs.len() == 1).filter_map(|run| scaling::section(run)));
    document.sections.extend(spread::sections(input.runs, &names));
    document.sections.extend(rating::rows(input.runs, &names));
    document.sections.extend(rating::section(input.runs, &names));
    if let [run] = input.runs {
        document.sections.extend(super::host::strip(run));
    }
    let folded = |title: &str, section: DocumentSection| DocumentSection {
        title: section.title,
        blocks: vec![Block::folded(title.to_owned(), section.blocks)],
    };
    let facts = if input.runs.len() > 1 { "differences and hardware" } else { "hardware and configuration" };
    document.sections.extend(machines::section(input.runs, &names).map(|section| folded(facts, section)));
    let disturbed = disturbed.into_iter().map(|(_, sentence)| sentence);
    document.sections.extend(notes(&document.notes, disturbed, input.runs));
    document.sections.push(folded("how Prony measured these results", method::section(input, &names)));
    document.sections.extend(method::reproduce(input));
    document.data = data::of(input);
    document.records = Some(records(input));
    document
}

/// The names of the runs that were disturbed, with a sentence of each.
fn disturbed(runs: &[&Run], names: &[String]) -> Vec<(String, String)> {
    let sentence = |(run, name): (&&Run, &String)| {
        let sentence = ::compare::conditions::sentence(name, &::compare::conditions::disturbances(run))?;
        Some((name.clone(), sentence))
    };
    runs.iter().zip(names).filter_map(sentence).collect()
}

/// Disturbances and notes of the runs that are not at the top.
fn notes(told: &[String], disturbed: impl Iterator<Item = String>, runs: &[&Run]) -> Option<DocumentSection> {
    let of_run =
        |run: &&Run| machine::warnings(run).into_iter().chain(machine::notes(run)).chain(quality::details(run));
    let notes = disturbed.chain(runs.iter().flat_map(of_run));
    let notes = distinct(notes.filter(|note| !told.contains(note)));
    let title = plural(notes.len(), "note");
    let blocks = vec![Block::list(notes.clone())];
    (!notes.is_empty()).then(|| DocumentSection::of("Notes", Block::folded(title, blocks)))
}

fn why(explanation: &Explanation) -> DocumentSection {
    let mut blocks = explain::sentences(explanation);
    let details = explain::details(explanation);
    blocks.extend(details.into_iter().map(|section| Block::folded(section.title, section.blocks)));
    DocumentSection { title: format!("Why {} differs from {}", explanation.b, explanation.a), blocks }
}

/// Names of the runs in the report, all different.
fn names(input: &ReportInput) -> Vec<String> {
    let compared = input.comparison.filter(|comparison| comparison.machines.len() == input.runs.len());
    input
        .runs
        .iter()
        .enumerate()
        .map(|(index, run)| {
            // The comparison of a report is not sorted: its machines are in the order of the runs.
            let listed = compared.map(|comparison| &comparison.machines[index]).filter(|machine| machine.run == run.id);
            match (listed, input.handles.get(index)) {
                (Some(machine), _) => machine.name.clone(),
                (None, Some(handle)) => handle.clone(),
                (None, None) => run.name().to_owned(),
            }
        })
        .collect()
}

fn title(input: &ReportInput, names: &[String]) -> String {
    match input.runs {
        [run] => machine::title(run, input.handles.first().map(String::as_str)),
        runs if runs.len() <= 3 => names.join(" · "),
        runs => format!("Comparison of {}", plural(runs.len(), "run")),
    }
}

/// One run, or several without a comparison.
fn own(document: &mut Document, input: &ReportInput, names: &[String]) {
    if let [run_] = input.runs {
        document.sections.push(first::one(run_, input, names));
    }
    document.sections.extend(curves::sections(input.runs, names));
    document.sections.extend(first::ladder(input, names));
    document.sections.extend(input.runs.iter().filter_map(|run| network::events(run)));
    for (run_, name) in input.runs.iter().zip(names) {
        let drawn: HashSet<ResultKey> = curves::keys(input.runs).into_iter().chain(matrices::keys(run_)).collect();
        if input.runs.len() == 1 {
            document.sections.extend(results(run_, name));
        } else {
            let title = format!("Results of {name}");
            document.sections.push(DocumentSection { title, blocks: tables(run_, &drawn) });
            document.summary.push(run::summary(run_, &super::RunContext::default()));
        }
    }
}

/// All results of a run that no matrix shows, in one table whose rows open.
fn results(run_: &Run, name: &str) -> Option<DocumentSection> {
    let mut rest = run_.clone();
    let matrices = matrices::keys(run_);
    rest.results.retain(|result| !matrices.contains(&result.key()));
    let mut table = run::table(&rest, false);
    detail::add_to_run(&mut table, &rest, name);
    (!rest.results.is_empty()).then(|| DocumentSection::of("Results", Block::Table(table)))
}

/// The families of a run, each a folded table; sets of parameters of curves are folded below them.
fn tables(run_: &Run, on_curves: &HashSet<ResultKey>) -> Vec<Block> {
    let (mut rest, mut points) = (run_.clone(), run_.clone());
    rest.results.retain(|result| !on_curves.contains(&result.key()));
    points.results.retain(|result| on_curves.contains(&result.key()));
    let mut blocks = Vec::new();
    if !rest.results.is_empty() {
        let Table { columns, groups } = run::table(&rest, false);
        blocks.extend(groups.into_iter().map(|group| Block::Folded {
            title: format!("{}: {}", group.title, plural(group.rows.len(), "result")),
            blocks: vec![Block::Table(Table { columns: columns.clone(), groups: vec![group] })],
        }));
    }
    if !points.results.is_empty() {
        let title = format!("{}, charted above", plural(points.results.len(), "result"));
        blocks.push(Block::folded(title, vec![Block::Table(run::table(&points, false))]));
    }
    blocks
}

fn compared(document: &mut Document, input: &ReportInput, comparison: &Comparison, names: &[String]) {
    let (reference, others) = compare::places_of(comparison);
    let on_curves = curves::keys(input.runs);
    let (mut rest, mut points) = (comparison.clone(), comparison.clone());
    rest.rows.retain(|row| !on_curves.contains(&row.key()));
    points.rows.retain(|row| on_curves.contains(&row.key()));
    let title = format!("{VERDICTS} {}", comparison.reference);
    match others.as_slice() {
        [other] => document.sections.push(first::two((comparison, &rest), *other, title, (input.runs, names))),
        many => document.sections.extend(first::many(comparison, many, title, (input.runs, names))),
    }
    document.sections.extend(curves::sections(input.runs, names));
    document.sections.extend(first::ladder(input, names));
    document.sections.extend(means::section(comparison, &others, RESULTS).map(|section| {
        let title = format!("baseline {}, with intervals", comparison.reference);
        let blocks = if others.len() > 1 { vec![Block::folded(title, section.blocks)] } else { section.blocks };
        DocumentSection { title: MEANS.to_owned(), blocks }
    }));
    let mut ratios = if others.len() > 1 { forest::charts(&rest, &others) } else { Vec::new() };
    if !points.rows.is_empty() {
        let title = format!("ratios of {} charted above", plural(points.rows.len(), "result"));
        let blocks = forest::charts(&points, &others);
        if !blocks.is_empty() {
            ratios.push(Block::folded(title, blocks));
        }
    }
    if !ratios.is_empty() {
        document.sections.push(DocumentSection { title: "Ratios".to_owned(), blocks: ratios });
    }
    if let Some(places) = many::places(comparison).filter(|_| others.len() > 1) {
        let title = "ranks by result".to_owned();
        document.add("Ranks", Block::folded(title, places.blocks));
    }
    let mut normalised = Vec::new();
    if let ([other], true) = (others.as_slice(), input.runs.len() == comparison.machines.len()) {
        let mut table = compare::pair(comparison, reference, *other);
        detail::add_to_pair(&mut table, comparison, input.runs, names);
        normalised.push(Block::Table(table));
        normalised.extend(edge::line(comparison, &others, true));
    } else {
        let title = format!("{} relative to the baseline", plural(rest.rows.len(), "result"));
        normalised.push(Block::Text(title));
        normalised.extend(self::normalised(&rest, reference, &others));
        if !points.rows.is_empty() {
            let title = format!("{}, charted above", plural(points.rows.len(), "result"));
            normalised.push(Block::folded(title, self::normalised(&points, reference, &others)));
        }
    }
    if let Some(assumed) = assumed::section(comparison, &others) {
        let title = "results without error bars".to_owned();
        normalised.push(Block::folded(title, assumed.blocks));
    }
    if let Some(open) = open::section(comparison, &others) {
        let title = "inconclusive or not comparable: reasons and what to do".to_owned();
        normalised.push(Block::folded(title, open.blocks));
    }
    document.sections.push(DocumentSection { title: "All results".to_owned(), blocks: normalised });
    if input.runs.len() <= OWN_TABLES {
        let tables = input.runs.iter().zip(&comparison.machines).map(|(run_, machine)| Block::Folded {
            title: format!("results of {} with intervals", machine.name),
            blocks: tables(run_, &on_curves),
        });
        document.sections.push(DocumentSection { title: "Individual runs".to_owned(), blocks: tables.collect() });
    }
}

/// The reference's values and the ratios of every other machine.
fn normalised(comparison: &Comparison, reference: usize, others: &[usize]) -> Vec<Block> {
    if others.len() <= compare::BESIDE {
        let table = Block::Table(side_by_side(comparison, reference, others));
        return std::iter::once(table).chain(edge::line(comparison, others, false)).collect();
    }
    let mark = format!("{} marks inconclusive results.", many::INCONCLUSIVE);
    let titled = |section: DocumentSection| std::iter::once(Block::Text(section.title)).chain(section.blocks);
    let mut blocks: Vec<Block> = many::sections(comparison, reference, RESULTS).into_iter().flat_map(titled).collect();
    if many::has_inconclusive(comparison) {
        blocks.insert(0, Block::Text(mark));
    }
    blocks.extend(edge::line(comparison, others, false));
    blocks
}

fn records(input: &ReportInput) -> Records {
    let mut all = Records::default();
    for run_ in input.runs {
        let records = run::run_records(run_);
        all.header = records.header;
        all.rows.extend(records.rows);
    }
    all
}

/// A table of texts whose first column is a name.
fn words_table(heads: Vec<crate::Column>, rows: Vec<Vec<String>>) -> Table {
    let row = |cells: Vec<String>| crate::TableRow::of(cells.into_iter().map(Cell::text).collect());
    Table::plain(heads, rows.into_iter().map(row).collect())
}

/// The family of a benchmark in words, capitalised.
fn heading(benchmark: &str) -> String {
    capital(&family_title(benchmark.split('.').next().unwrap_or_default()))
}
