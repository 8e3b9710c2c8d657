//! What `prony time` prints: a row for each command, and which is faster.

use application::{AXIS, COLD, FEWEST_SAMPLES, MEMORY, TIME, TimedPair};

use model::{BenchmarkResult, Outcome, Run, Unit, percent};
use report::view::RunContext;
use report::words::modes;
use report::{Block, Cell, Column, Document, DocumentSection, PrintedQuantity, TableRow, Tone};

use crate::cmd::duet::sentence;

/// The report of a run of timed commands.
pub(super) fn document(run: &Run, pairs: &[TimedPair], context: &RunContext) -> Document {
    let mut document = report::view::run(run, context);
    let times: Vec<&BenchmarkResult> = run.results.iter().filter(|result| result.benchmark == TIME).collect();
    let rows = times.iter().map(|result| row(run, result)).collect();
    document.sections = vec![DocumentSection::of("", Block::table(columns(run), rows))];
    document.sections.extend(crate::cmd::app::view::failures(run, |result| result.benchmark == TIME));
    document.summary = sentences(&times, pairs);
    // The catalogue does not describe the user's commands.
    document.next.retain(|command| !command.starts_with("prony benchmarks"));
    document
}

fn columns(run: &Run) -> Vec<Column> {
    let of_bursts = has_bursts(run);
    let number = |title: &str| Column::number(title);
    let mut columns = vec![Column::label(""), number("time")];
    columns.push(Column::number(format!("{} interval", percent(run.plan.level))));
    columns.extend(of_bursts.then(|| number("cold")));
    columns.extend(["user", "system", "peak memory"].map(number));
    columns.extend(of_bursts.then(|| number("bursts")));
    columns.extend([number("executions"), Column::remark("remarks")]);
    columns
}

/// Whether any sample of the run is a burst of executions.
fn has_bursts(run: &Run) -> bool {
    run.results.iter().any(|result| result.benchmark == COLD)
}

fn row(run: &Run, time: &BenchmarkResult) -> TableRow {
    let label = Cell::text(time.parameters.get(AXIS).unwrap_or_default());
    let whole = |text: String, tone| TableRow::of(vec![label.clone(), Cell::Across(text, tone)]);
    let estimate = match &time.outcome {
        Outcome::Measured(estimate) => estimate,
        Outcome::Modes(groups) => return whole(modes(groups, &time.metric), Tone::Caution),
        Outcome::Below { bound } => return whole(format!("below {bound:.2e} s"), Tone::Muted),
        Outcome::NotMeasured(reason) => return whole(format!("not measured: {reason}"), Tone::Muted),
        Outcome::Failed(reason) => return whole(reason.clone(), Tone::Bad),
    };
    let quantity = PrintedQuantity::of(estimate, Unit::Seconds);
    // A number of executions that was asked for has no target to miss.
    let counted = run.plan.target <= f64::MIN_POSITIVE;
    let mut remarks = report::words::remarks(time, run.plan.target, &report::words::Told::default());
    let misses = |remark: &String| remark.starts_with("did not reach") || remark.ends_with("not confirmed");
    remarks.retain(|remark| !(counted && misses(remark)));
    let bursts = has_bursts(run);
    let samples = time.counted();
    let mut cells = vec![label, Cell::Value(quantity), Cell::Interval(quantity)];
    cells.extend(bursts.then(|| cold(run, time)));
    cells.extend([
        seconds(time, |footprint| footprint.user_seconds),
        seconds(time, |footprint| footprint.system_seconds),
        memory(run, time),
    ]);
    cells.extend(bursts.then_some(Cell::Count(samples.len() as u64)));
    cells.extend([
        Cell::Count(samples.iter().map(|sample| sample.nanos.len() as u64).sum()),
        Cell::Text(remarks.join(", "), Tone::Muted),
    ]);
    TableRow::of(cells)
}

/// The median CPU time of an execution.
fn seconds(time: &BenchmarkResult, of: impl Fn(&model::Footprint) -> Option<f64>) -> Cell {
    // A sample of a duet is two executions.
    let of = |footprint: &model::Footprint| Some(of(footprint)? / footprint.operations.max(1) as f64);
    let values: Vec<f64> = time.counted().into_iter().filter_map(|sample| of(&sample.footprint)).collect();
    stats::median(&values)
        .map_or(Cell::Empty, |median| Cell::text(PrintedQuantity::bare(median, Unit::Seconds).short()))
}

/// The result of another benchmark for the same command.
fn of_benchmark<'a>(run: &'a Run, time: &BenchmarkResult, benchmark: &str) -> Option<&'a BenchmarkResult> {
    run.results.iter().find(|result| result.benchmark == benchmark && result.parameters == time.parameters)
}

/// The first execution after a pause.
fn cold(run: &Run, time: &BenchmarkResult) -> Cell {
    let estimate = of_benchmark(run, time, COLD).and_then(|result| result.outcome.estimate());
    estimate.map_or(Cell::Empty, |one| Cell::text(PrintedQuantity::bare(one.value, Unit::Seconds).short()))
}

fn memory(run: &Run, time: &BenchmarkResult) -> Cell {
    match of_benchmark(run, time, MEMORY).map(|result| &result.outcome) {
        Some(Outcome::Measured(estimate)) => Cell::text(short(estimate.value)),
        Some(Outcome::Below { bound }) => Cell::text(format!("< {}", short(*bound))),
        _ => Cell::Empty,
    }
}

fn short(bytes: f64) -> String {
    PrintedQuantity::bare(bytes, Unit::Bytes).short()
}

/// The fastest command against every other one, also where there are too few samples for a verdict.
fn sentences(times: &[&BenchmarkResult], pairs: &[TimedPair]) -> Vec<String> {
    let value = |result: &&&BenchmarkResult| result.outcome.estimate().map(|estimate| estimate.value);
    let measured = || times.iter().filter(|result| value(result).is_some());
    let fastest = measured().min_by(|a, b| value(a).partial_cmp(&value(b)).unwrap_or(std::cmp::Ordering::Equal));
    let Some(fastest) = fastest.and_then(|result| result.parameters.get(AXIS)) else { return Vec::new() };
    let of_fastest = || pairs.iter().filter(|pair| pair.faster == fastest || pair.slower == fastest);
    let judged =
        |name: &&str| *name == fastest || of_fastest().any(|pair| pair.faster == *name || pair.slower == *name);
    let left = measured().filter_map(|result| result.parameters.get(AXIS)).filter(|name| !judged(name));
    let too_few =
        |name: &str| format!("UNDECIDED: {name} against {fastest}: a verdict needs {FEWEST_SAMPLES} samples of each.");
    of_fastest().map(sentence).chain(left.map(too_few)).collect()
}
