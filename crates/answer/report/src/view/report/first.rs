//! The top of a report: the conclusion.

use ::compare::Comparison;
use model::{BenchmarkResult, ResultKey, Run, Unit};

use super::{ReportInput, detail, forest};
use crate::view::compare::{self, brief, clock, heat};
use crate::view::{key_results, quality, run};
use crate::words::{capital, duration, label, parameter_value, result_label};
use crate::{
    Block, Chart, ChartAxis, ChartPlot, Division, DocumentSection, Ladder, LadderRow, MachineCard, PrintedQuantity,
    RowLink, Tone, VerdictCard,
};

/// One run: the machine and the quality of its data, what was measured, its key results or the `answer` of its command.
pub(super) fn one(run_: &Run, input: &ReportInput, names: &[String]) -> DocumentSection {
    let context = crate::view::RunContext { catalogue: input.catalogue, ..Default::default() };
    let mut blocks = vec![machines(input.runs, names), Block::Text(run::summary(run_, &context))];
    match input.answer {
        [] if run_.results.is_empty() => {}
        [] => {
            let mut table = crate::view::answer::key_table(run_, &context);
            let results = key_results(run_, input.catalogue).into_iter().map(|(_, result)| result);
            let (short, shared) = short_names(run_, input.catalogue);
            for (row, name) in table.groups.iter_mut().flat_map(|group| &mut group.rows).zip(short) {
                row.cells[0] = crate::Cell::text(name);
            }
            blocks.extend(shared.map(Block::Text));
            for (row, result) in table.groups.iter_mut().flat_map(|group| &mut group.rows).zip(results) {
                row.detail = detail::of(&[(0, names[0].as_str(), run_, result)], false).map(Box::new);
            }
            blocks.push(Block::Tiles(table));
        }
        answer => blocks.extend_from_slice(answer),
    }
    DocumentSection { title: "Answer".to_owned(), blocks }
}

/// Names of the key results, without the parameters that all of them share, which stand in a sentence before them.
fn short_names(run: &Run, catalogue: &model::Catalogue) -> (Vec<String>, Option<String>) {
    let keys = key_results(run, catalogue);
    let all = |name: &str, value: &str| keys.iter().all(|(_, result)| result.parameters.get(name) == Some(value));
    let Some((_, first)) = keys.first().filter(|_| keys.len() > 1) else {
        return (keys.into_iter().map(|(title, _)| title).collect(), None);
    };
    let of_first: Vec<(&str, &str)> = first.parameters.iter().collect();
    let shared: Vec<(&str, &str)> = of_first.into_iter().filter(|(name, value)| all(name, value)).collect();
    let words: Vec<String> = shared.iter().map(|(name, value)| parameter_value(name, value)).collect();
    let name = |(title, result): &(String, &BenchmarkResult)| {
        if *title != result_label(result) {
            return title.clone();
        }
        let own = shared.iter().fold(result.parameters.clone(), |own, (name, _)| own.without(name));
        label(&result.title, &result.metric, &own)
    };
    let sentence = (!words.is_empty()).then(|| format!("All: {}.", words.join(", ")));
    (keys.iter().map(name).collect(), sentence)
}

/// A card for each run: its machine, when and how it was measured, and how good the data are.
pub(super) fn machines(runs: &[&Run], names: &[String]) -> Block {
    let card = |(colour, (run, name)): (usize, (&&Run, &String))| {
        let machine = &run.machine;
        let when = crate::words::day(&run.session.started);
        let by = match &run.origin {
            Some(origin) => origin.tool.clone(),
            None if run.plan.suite.is_empty() => String::new(),
            None => format!("suite {}", run.plan.suite),
        };
        let took = if run.session.seconds > 0.0 { duration(run.session.seconds) } else { String::new() };
        let told: Vec<String> = [when, by, took].into_iter().filter(|words| !words.is_empty()).collect();
        let summary = if machine.summary.is_empty() { &machine.name } else { &machine.summary };
        let lines = [summary.clone(), told.join(", ")].into_iter().filter(|line| !line.is_empty()).collect();
        let badge = match quality::badge(run) {
            Some(Block::Badge(badge)) => Some(badge),
            _ => None,
        };
        let number = runs.len() == 1 && name.bytes().all(|byte| byte.is_ascii_digit());
        let unlabelled = if number { format!("Run {name}") } else { name.clone() };
        let label = run.label.clone().filter(|_| runs.len() == 1);
        MachineCard { name: label.unwrap_or(unlabelled), colour, lines, badge }
    };
    Block::Machines(runs.iter().zip(names).enumerate().map(card).collect())
}

/// Two runs: their machines, the verdicts, the means, and the ratios by the size of the effect.
pub(super) fn two(
    (comparison, rest): (&Comparison, &Comparison),
    other: usize,
    title: String,
    (runs, names): (&[&Run], &[String]),
) -> DocumentSection {
    let tally = comparison.machines[other].tally;
    let card =
        |count: usize, label: &str, tone: Tone| VerdictCard { value: count.to_string(), label: label.to_owned(), tone };
    let mut cards = vec![
        card(tally.slower, "slower", Tone::Bad),
        card(tally.faster, "faster", Tone::Good),
        card(tally.no_change, "no change", Tone::Muted),
        card(tally.inconclusive, "inconclusive", Tone::Caution),
    ];
    let more = [
        (tally.changed, "changed", Tone::Caution),
        (tally.probable, brief::PROBABLE, Tone::Caution),
        (tally.not_comparable, "not comparable", Tone::Plain),
    ];
    cards.extend(more.into_iter().filter(|(count, ..)| *count > 0).map(|(n, label, tone)| card(n, label, tone)));
    let mut blocks = vec![machines(runs, names), Block::Cards(cards)];
    blocks.extend(brief::sentences(comparison, other).into_iter().map(Block::Text));
    let reference = compare::places_of(comparison).0;
    blocks.extend(clock::notes(comparison, reference, &[other], false).into_iter().map(Block::Text));
    blocks.extend(forest::charts(rest, &[other]));
    blocks.extend(forest::conditions(comparison, reference, other));
    DocumentSection { title, blocks }
}

/// Cards of at most so many machines; the facts of more are in a table.
const CARDS: usize = 12;

/// Many runs: the machines by family, and how many results of each are slower or faster.
pub(super) fn many(
    comparison: &Comparison,
    others: &[usize],
    title: String,
    (runs, names): (&[&Run], &[String]),
) -> Vec<DocumentSection> {
    let mut sections: Vec<DocumentSection> = heat::section(comparison).into_iter().collect();
    if let Some(first) = sections.first_mut() {
        first.title = capital(&first.title);
    }
    let reference = compare::places_of(comparison).0;
    let clocks = clock::notes(comparison, reference, others, false).into_iter().map(Block::Text);
    let mut blocks: Vec<Block> = heat::ranking(comparison).map(Block::Chart).into_iter().collect();
    blocks.extend(heat::prices(comparison).map(Block::Chart));
    blocks.extend(clocks);
    let counts = brief::counts_table(comparison, others);
    // Of published values without error bars nothing is counted.
    blocks.extend((counts.columns.len() > 1).then_some(Block::Table(counts)));
    blocks.extend(forest::verdict_list(comparison, others));
    sections.push(DocumentSection { title, blocks });
    if runs.len() <= CARDS {
        sections.push(DocumentSection::of("Runs", machines(runs, names)));
    }
    sections
}

/// Sets of parameters of one benchmark that are rungs; more are a curve.
const ONE_BENCHMARK: usize = 5;

/// Rungs of one chart.
const MOST: usize = 40;

/// Fewest rungs of a chart.
const LEAST: usize = 3;

/// Latencies of the usual benchmarks of primitives on one axis, from a cache to a disk: a row for each result, and a dot
/// for each of at most two runs.
pub(super) fn ladder(input: &ReportInput, names: &[String]) -> Option<DocumentSection> {
    let runs = input.runs;
    let usual =
        |result: &BenchmarkResult| input.catalogue.get(&result.benchmark).is_some_and(|benchmark| benchmark.usual);
    if runs.len() > 2 {
        return None;
    }
    let few = |run: &Run, result: &BenchmarkResult| {
        run.results.iter().filter(|other| other.benchmark == result.benchmark).count() <= ONE_BENCHMARK
    };
    let value = |run: &Run, key: &ResultKey| {
        let result = run.result(key)?;
        Some(PrintedQuantity::of(result.outcome.estimate()?, result.metric.unit).in_metric(&result.metric))
    };
    let rung = |run: &Run, result: &BenchmarkResult| {
        let latency = result.metric.unit == Unit::Seconds && usual(result) && result.outcome.estimate().is_some();
        latency && few(run, result)
    };
    let all = runs.iter().flat_map(|run| run.results.iter().filter(|result| rung(run, result)));
    let mut keys: Vec<(ResultKey, String)> = Vec::new();
    for result in all {
        if !keys.iter().any(|(known, _)| *known == result.key()) {
            keys.push((result.key(), result_label(result)));
        }
    }
    let row = |(key, label): (ResultKey, String)| LadderRow {
        label,
        link: RowLink::of(&key),
        values: runs.iter().map(|run| value(run, &key)).collect(),
    };
    let mut rows: Vec<LadderRow> = keys.into_iter().map(row).collect();
    let first = |row: &LadderRow| row.values.iter().flatten().next().map_or(0.0, |quantity| quantity.value);
    rows.sort_by(|a, b| first(a).total_cmp(&first(b)));
    let left = rows.len().saturating_sub(MOST);
    rows.truncate(MOST);
    if rows.len() < LEAST {
        return None;
    }
    let mut about = "Time of one operation, log scale. Dots: results; bars: intervals.".to_owned();
    if left > 0 {
        about.push_str(&format!(" The {left} slowest are in the tables alone."));
    }
    let x = ChartAxis::new("time", Unit::Seconds, Division::Decades);
    let plot = ChartPlot::Ladder(Ladder { x, runs: names.to_vec(), rows });
    let chart = Chart { title: String::new(), about, plot };
    Some(DocumentSection::of("Latencies", Block::Chart(chart)))
}
