//! What `prony time` prints: a row for each command, and which is faster.

use application::{AXIS, COLD, FEWEST_SAMPLES, MEMORY, TIME, TimedPair};
use model::{BenchmarkResult, Flag, Outcome, Run, Unit, Verdict, percent};
use report::view::RunContext;
use report::words::{factor, modes};
use report::{Block, Cell, Column, Document, DocumentSection, PrintedQuantity, TableRow, Tone, VerdictCard};

use crate::cmd::duet::sentence;

/// The report of a run of timed commands.
pub(super) fn document(run: &Run, pairs: &[TimedPair], context: &RunContext) -> Document {
    let mut document = report::view::run(run, context);
    let times: Vec<&BenchmarkResult> = run.results.iter().filter(|result| result.benchmark == TIME).collect();
    let rows = times.iter().map(|result| row(run, result)).collect();
    document.sections = vec![DocumentSection::of("", Block::table(columns(run), rows))];
    let remarks: Vec<(String, String)> = times.iter().filter_map(|result| remark(run, result)).collect();
    document.sections.extend((!remarks.is_empty()).then(|| DocumentSection::of("", Block::Facts(remarks))));
    document.sections.extend(crate::cmd::app::view::failures(run, |result| result.benchmark == TIME));
    document.summary = sentences(&times, pairs);
    document.summary.extend(advice(run, &times, pairs));
    // The catalogue does not describe the user's commands.
    document.next.retain(|command| !command.starts_with("prony benchmarks"));
    document
}

fn columns(run: &Run) -> Vec<Column> {
    let number = |title: &str| Column::number(title);
    let mut columns = vec![Column::label(""), number("time")];
    columns.push(Column::number(format!("{} interval", percent(run.plan.level))));
    columns.push(Column::words("min … max"));
    columns.extend(has_bursts(run).then(|| number("cold")));
    columns.extend(["user", "system"].map(number));
    columns.extend(has_memory(run).then(|| number("peak memory")));
    columns.push(number("runs"));
    columns
}

/// Whether any sample of the run is a burst of executions.
fn has_bursts(run: &Run) -> bool {
    run.results.iter().any(|result| result.benchmark == COLD)
}

/// Whether the peak memory of any command is known: an upper bound is the size of the program that starts them.
fn has_memory(run: &Run) -> bool {
    run.results.iter().any(|result| result.benchmark == MEMORY && result.outcome.estimate().is_some())
}

fn row(run: &Run, time: &BenchmarkResult) -> TableRow {
    let label = Cell::text(name(time));
    let whole = |text: String, tone| TableRow::of(vec![label.clone(), Cell::Across(text, tone)]);
    let estimate = match &time.outcome {
        Outcome::Measured(estimate) => estimate,
        Outcome::Modes(groups) => return whole(modes(groups, &time.metric), Tone::Caution),
        Outcome::Below { bound } => return whole(format!("below {bound:.2e} s"), Tone::Muted),
        Outcome::NotMeasured(reason) => return whole(format!("not measured: {reason}"), Tone::Muted),
        Outcome::Failed(reason) => return whole(reason.clone(), Tone::Bad),
    };
    let quantity = PrintedQuantity::of(estimate, Unit::Seconds);
    let executions = executions(time);
    let mut cells = vec![label, Cell::Value(quantity), Cell::Interval(quantity)];
    cells.push(Cell::Text(extremes(&executions), Tone::Plain));
    cells.extend(has_bursts(run).then(|| cold(run, time)));
    cells.extend([
        seconds(time, |footprint| footprint.user_seconds),
        seconds(time, |footprint| footprint.system_seconds),
    ]);
    cells.extend(has_memory(run).then(|| memory(run, time)));
    cells.push(Cell::Count(executions.len() as u64));
    TableRow::of(cells)
}

pub(super) fn name(time: &BenchmarkResult) -> &str {
    time.parameters.get(AXIS).unwrap_or_default()
}

/// Seconds of every execution that counts.
fn executions(time: &BenchmarkResult) -> Vec<f64> {
    let nanos = time.counted().into_iter().flat_map(|sample| &sample.nanos);
    nanos.map(|nanos| *nanos as f64 * 1e-9).collect()
}

/// `11.1 ▂█▅▁▁  ▁ 15.2 ms`: the fastest and the slowest execution, and how often each time between them was.
fn extremes(executions: &[f64]) -> String {
    let low = executions.iter().copied().fold(f64::INFINITY, f64::min);
    let high = executions.iter().copied().fold(0.0, f64::max);
    if low > high {
        return String::new();
    }
    let digits = PrintedQuantity::interval(low, low, high, Unit::Seconds).digits();
    format!("{}\u{a0}{}\u{a0}{}\u{a0}{}", digits.low, histogram(executions, low, high), digits.high, digits.unit)
}

/// The distribution in eight characters, a blank where no execution was.
fn histogram(executions: &[f64], low: f64, high: f64) -> String {
    const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let mut counts = [0_usize; LEVELS.len()];
    for seconds in executions {
        let place = (seconds - low) / (high - low).max(f64::MIN_POSITIVE) * counts.len() as f64;
        counts[(place as usize).min(counts.len() - 1)] += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let bar = |count: usize| if count == 0 { '\u{a0}' } else { LEVELS[(count * 7).div_ceil(most).min(7)] };
    counts.into_iter().map(bar).collect()
}

/// Whether the interval of a command missed the target. A number of runs that was asked for has none to miss.
fn misses(run: &Run, time: &BenchmarkResult) -> bool {
    !is_counted(run) && !time.is_within(run.plan.target, run.plan.level) && time.outcome.estimate().is_some()
}

fn is_counted(run: &Run) -> bool {
    run.plan.target <= f64::MIN_POSITIVE
}

/// A command with the remarks on its time.
fn remark(run: &Run, time: &BenchmarkResult) -> Option<(String, String)> {
    // A number of runs that was asked for has no target to miss.
    let flags = is_counted(run).then_some(Flag::CannotConverge).into_iter().collect();
    let told = report::words::Told { flags, ..report::words::Told::default() };
    let remarks = report::words::remarks(time, run.plan.target, &told);
    (!remarks.is_empty()).then(|| (name(time).to_owned(), remarks.join(", ")))
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
    let estimate = of_benchmark(run, time, MEMORY).and_then(|result| result.outcome.estimate());
    estimate.map_or(Cell::Empty, |one| Cell::text(PrintedQuantity::bare(one.value, Unit::Bytes).short()))
}

/// The fastest command against every other one, also where there are too few samples for a verdict.
fn sentences(times: &[&BenchmarkResult], pairs: &[TimedPair]) -> Vec<String> {
    let value = |result: &&&BenchmarkResult| result.outcome.estimate().map(|estimate| estimate.value);
    let measured = || times.iter().filter(|result| value(result).is_some());
    let fastest = measured().min_by(|a, b| value(a).partial_cmp(&value(b)).unwrap_or(std::cmp::Ordering::Equal));
    let Some(fastest) = fastest.map(|result| name(result)) else { return Vec::new() };
    let of_fastest = || pairs.iter().filter(|pair| pair.faster == fastest || pair.slower == fastest);
    let judged =
        |name: &&str| *name == fastest || of_fastest().any(|pair| pair.faster == *name || pair.slower == *name);
    let left = measured().map(|result| name(result)).filter(|name| !judged(name));
    let too_few =
        |name: &str| format!("Inconclusive: '{fastest}' vs '{name}': a verdict needs {FEWEST_SAMPLES} runs of each.");
    of_fastest().map(sentence).chain(left.map(too_few)).collect()
}

/// A card for the verdict of each pair.
pub(super) fn verdicts(pairs: &[TimedPair]) -> Option<Block> {
    let card = |pair: &TimedPair| {
        let (value, low, high) = pair.factor;
        let factor = factor(PrintedQuantity::ratio(value, low, high), Unit::Seconds);
        let (value, tone) = match pair.verdict {
            Verdict::Different(_) | Verdict::Probable(_) => (factor.text(), Tone::Good),
            Verdict::NoChange => ("no change".to_owned(), Tone::Muted),
            Verdict::Inconclusive => ("inconclusive".to_owned(), Tone::Caution),
        };
        VerdictCard { value, label: format!("'{}' vs '{}'", pair.faster, pair.slower), tone }
    };
    (!pairs.is_empty()).then(|| Block::Cards(pairs.iter().map(card).collect()))
}

/// CPU time of others from which they are the first thing to change.
const BUSY: f64 = 0.05;

/// The one thing to do where a comparison is inconclusive or an interval is wide.
fn advice(run: &Run, times: &[&BenchmarkResult], pairs: &[TimedPair]) -> Option<String> {
    let open = pairs.iter().any(|pair| pair.verdict == Verdict::Inconclusive);
    if !open && !times.iter().any(|time| misses(run, time)) {
        return None;
    }
    let others = run.session.conditions.others.and_then(|others| others.share()).map_or(0.0, |share| share.get());
    let more = match run.plan.time_limit {
        _ if is_counted(run) => "more --runs".to_owned(),
        Some(limit) => format!("--time-limit {}s", (4.0 * limit).ceil()),
        None => "--time-limit 2m".to_owned(),
    };
    let aim = if open { "To decide it" } else { "For narrower intervals" };
    Some(match others > BUSY {
        true => format!("{aim}, stop other processes, which used {} of the CPUs, or add {more}.", percent(others)),
        false => format!("{aim}, add {more}."),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distribution_stands_between_the_extremes() {
        let mut executions = vec![0.011; 9];
        executions.extend([0.012, 0.0152]);
        assert_eq!(extremes(&executions).replace('\u{a0}', " "), "11.0 █▂     ▂ 15.2 ms");
        assert_eq!(extremes(&[]), "");
        assert!(extremes(&[0.5]).ends_with("ms"));
    }
}
