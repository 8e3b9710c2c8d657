//! The top of a report: the conclusion.

use ::compare::Comparison;
use model::{BenchmarkResult, Outcome, Run, Unit};

use super::{ReportInput, forest};
use crate::view::compare::{self, brief, clock, heat};
use crate::view::{quality, run};
use crate::words::{capital, result_label};
use crate::{Block, Chart, ChartAxis, ChartPlot, Division, DocumentSection, Strip, StripRow, Tone, VerdictCard};

/// One run: the quality of its data, what was measured, its key results or the `answer` of its command.
pub(super) fn one(run_: &Run, input: &ReportInput) -> DocumentSection {
    let context = crate::view::RunContext { catalogue: input.catalogue, ..Default::default() };
    let mut blocks: Vec<Block> = quality::badge(run_).into_iter().collect();
    blocks.push(Block::Text(run::summary(run_, &context)));
    match input.answer {
        [] if run_.results.is_empty() => {}
        [] => blocks.push(Block::Table(crate::view::answer::key_table(run_, &context))),
        answer => blocks.extend_from_slice(answer),
    }
    DocumentSection { title: "Answer".to_owned(), blocks }
}

/// Two runs: the verdicts, the means, and the ratios by the size of the effect.
pub(super) fn two(comparison: &Comparison, rest: &Comparison, other: usize, title: String) -> DocumentSection {
    let tally = comparison.machines[other].tally;
    let card =
        |count: usize, label: &str, tone: Tone| VerdictCard { value: count.to_string(), label: label.to_owned(), tone };
    let mut cards = vec![
        card(tally.slower, "slower", Tone::Bad),
        card(tally.faster, "faster", Tone::Good),
        card(tally.no_change, "no change", Tone::Plain),
        card(tally.inconclusive, "inconclusive", Tone::Muted),
    ];
    let more = [
        (tally.changed, "changed", Tone::Caution),
        (tally.probable, brief::PROBABLE, Tone::Caution),
        (tally.not_comparable, "not comparable", Tone::Muted),
    ];
    cards.extend(more.into_iter().filter(|(count, ..)| *count > 0).map(|(n, label, tone)| card(n, label, tone)));
    let mut blocks = vec![Block::Cards(cards)];
    blocks.extend(brief::sentences(comparison, other).into_iter().map(Block::Text));
    let reference = compare::places_of(comparison).0;
    blocks.extend(clock::notes(comparison, reference, &[other], false).into_iter().map(Block::Text));
    blocks.extend(forest::charts(rest, &[other]));
    let listed = forest::verdict_list(rest, &[other]);
    if !listed.is_empty() {
        blocks
            .push(Block::Folded { title: "slower and faster results with their intervals".to_owned(), blocks: listed });
    }
    DocumentSection { title, blocks }
}

/// Many runs: the machines by family, and how many results of each are slower or faster.
pub(super) fn many(comparison: &Comparison, others: &[usize], title: String) -> Vec<DocumentSection> {
    let mut sections: Vec<DocumentSection> = heat::section(comparison).into_iter().collect();
    if let Some(first) = sections.first_mut() {
        first.title = capital(&first.title);
    }
    let reference = compare::places_of(comparison).0;
    let clocks = clock::notes(comparison, reference, others, false).into_iter().map(Block::Text);
    let mut blocks: Vec<Block> = clocks.collect();
    blocks.push(Block::Table(brief::counts_table(comparison, others)));
    blocks.extend(brief::per_price(comparison).into_iter().map(Block::Text));
    blocks.extend(forest::verdict_list(comparison, others));
    sections.push(DocumentSection { title, blocks });
    sections
}

/// Sets of parameters of one benchmark that are rungs; more are a curve.
const ONE_BENCHMARK: usize = 5;

/// Rungs of one chart.
const MOST: usize = 20;

/// Latencies of the usual benchmarks of primitives on one axis, from a cache to a disk; every sample is a dot.
pub(super) fn ladder(input: &ReportInput, names: &[String]) -> Option<DocumentSection> {
    let runs = input.runs;
    let usual =
        |result: &BenchmarkResult| input.catalogue.get(&result.benchmark).is_some_and(|benchmark| benchmark.usual);
    if runs.len() > 2 {
        return None;
    }
    let mut rows: Vec<(f64, StripRow)> = Vec::new();
    for (run, name) in runs.iter().zip(names) {
        for result in &run.results {
            let Outcome::Measured(estimate) = &result.outcome else { continue };
            let values = result.values();
            let few = run.results.iter().filter(|other| other.benchmark == result.benchmark).count() <= ONE_BENCHMARK;
            let rung = few && usual(result) && result.metric.unit == Unit::Seconds;
            if !rung || values.is_empty() {
                continue;
            }
            let label = result_label(result);
            let label = if runs.len() > 1 { format!("{name}: {label}") } else { label };
            rows.push((estimate.value, StripRow { label, values, centres: vec![(estimate.value, 1.0)] }));
        }
    }
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    rows.truncate(MOST);
    if rows.len() < 3 {
        return None;
    }
    let rows = rows.into_iter().map(|(_, row)| row).collect();
    let x = ChartAxis::new("time", Unit::Seconds, Division::Decades);
    let about = "Log scale. Dots: samples; line: result.".to_owned();
    let chart = Chart { title: "Time of one operation".to_owned(), about, plot: ChartPlot::Strip(Strip { x, rows }) };
    Some(DocumentSection::of("Latencies", Block::Chart(chart)))
}
