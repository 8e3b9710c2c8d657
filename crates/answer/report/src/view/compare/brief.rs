//! A comparison that decides first: how many results are slower, faster and unchanged, then those that differ by the
//! size of the effect, then the means; all rows are in the whole view.

use std::collections::HashMap;

use compare::{CompareRow, Comparison, Help, NeededSamples, PerPrice, Ratio, VerdictCounts};
use model::{Direction, ResultKey, Unit, Verdict, percent};

use super::{clock, heat, means, rows};
use crate::words::{factor, plural};
use crate::{Block, Cell, Column, DocumentSection, PrintedQuantity, RowGroup, Table, TableRow};

/// Rows for each direction.
const ROWS: usize = 8;

/// What the results of a group have in common.
type Belongs = fn(Verdict) -> bool;

/// The groups of changed results, those for the worse first.
const GROUPS: [(&str, Belongs); 4] = [
    ("slower", |verdict| verdict.differs() && verdict.direction().is_some_and(Direction::is_worse)),
    ("faster", |verdict| verdict.differs() && verdict.direction().is_some_and(|direction| !direction.is_worse())),
    ("changed", |verdict| verdict == Verdict::Different(None)),
    (PROBABLE, |verdict| matches!(verdict, Verdict::Probable(_))),
];

/// Results without error bars that differ by a rule of thumb.
pub(crate) const PROBABLE: &str = "probably slower or faster";

/// Two runs. `seconds` is the time of one sample of each result, where it is known.
pub(super) fn pair(comparison: &Comparison, other: usize, seconds: &HashMap<ResultKey, f64>) -> Vec<DocumentSection> {
    let mut sections = vec![DocumentSection::of("", Block::Text(counts(comparison.machines[other].tally)))];
    let groups = groups(comparison, other);
    let mut blocks = Vec::new();
    if !groups.is_empty() {
        let mut columns = vec![Column::label("")];
        columns.extend(rows::change_columns(comparison.normalise, comparison.level));
        columns.extend(clock::is_told(comparison).then(|| Column::words("basis")));
        blocks.push(Block::Table(Table { columns, groups }));
    }
    let mut after: Vec<String> = means::sentence(comparison, other).into_iter().collect();
    after.extend(per_price(comparison));
    after.extend(inconclusive(comparison, other, seconds));
    blocks.extend(after.into_iter().map(Block::Text));
    if !blocks.is_empty() {
        sections.push(DocumentSection { title: String::new(), blocks });
    }
    sections
}

/// Several runs: the means of each by family, and how many of its results are slower and faster.
pub(super) fn several(comparison: &Comparison, others: &[usize]) -> Vec<DocumentSection> {
    let mut sections: Vec<DocumentSection> = heat::section(comparison).into_iter().collect();
    let mut counted = vec![Block::Table(counts_table(comparison, others))];
    counted.extend(per_price(comparison).into_iter().map(Block::Text));
    let title = format!("results vs baseline {}", comparison.reference);
    sections.push(DocumentSection { title, blocks: counted });
    sections
}

/// The means of a machine, the performance per price, what would decide more, and what the verdicts mean.
pub(crate) fn sentences(comparison: &Comparison, other: usize) -> Vec<String> {
    let mut sentences: Vec<String> = means::sentence(comparison, other).into_iter().collect();
    sentences.extend(per_price(comparison));
    sentences.extend(inconclusive(comparison, other, &HashMap::new()));
    sentences.extend(comparison.tests.gt(&0).then(|| meaning(comparison)));
    sentences
}

/// How many results of each machine have each verdict; verdicts that no result has are left out.
pub(crate) fn counts_table(comparison: &Comparison, others: &[usize]) -> Table {
    let row = |index: &usize| {
        let machine = &comparison.machines[*index];
        let numbers = numbers(machine.tally).map(|(count, _)| Cell::Count(count as u64));
        TableRow::of(std::iter::once(Cell::text(&machine.name)).chain(numbers).collect())
    };
    let titles = numbers(VerdictCounts::default()).map(|(_, word)| Column::number(word));
    let columns = std::iter::once(Column::label("")).chain(titles).collect();
    let mut table = Table::plain(columns, others.iter().map(row).collect());
    without_empty_columns(&mut table, 1);
    table
}

/// Columns from the given one on are left out if they count nothing.
fn without_empty_columns(table: &mut Table, from: usize) {
    for column in (from..table.columns.len()).rev() {
        if table.rows().all(|row| row.cells.get(column) == Some(&Cell::Count(0))) {
            table.columns.remove(column);
            table.groups.iter_mut().flat_map(|group| &mut group.rows).for_each(|row| {
                row.cells.remove(column);
            });
        }
    }
}

/// Every verdict with its count.
fn numbers(tally: VerdictCounts) -> [(usize, &'static str); 7] {
    [
        (tally.slower, "slower"),
        (tally.faster, "faster"),
        (tally.changed, "changed"),
        (tally.no_change, "no change"),
        (tally.inconclusive, "inconclusive"),
        (tally.probable, PROBABLE),
        (tally.not_comparable, "not comparable"),
    ]
}

/// `4 slower, 2 faster, 61 no change, 13 inconclusive (of 80)`.
pub(super) fn counts(tally: VerdictCounts) -> String {
    /// Verdicts that are counted even if no result has them.
    const ALWAYS: [&str; 4] = ["slower", "faster", "no change", "inconclusive"];
    let all = numbers(tally);
    let told = all.iter().filter(|(count, word)| *count > 0 || ALWAYS.contains(word));
    let words: Vec<String> = told.map(|(count, word)| format!("{count} {word}")).collect();
    format!("{} (of {})", words.join(", "), all.iter().map(|(count, _)| count).sum::<usize>())
}

/// What the verdicts mean, and what all tests together promise.
pub(super) fn meaning(comparison: &Comparison) -> String {
    let tests = match comparison.tests {
        1 => "a false alarm".to_owned(),
        tests => format!("any false alarm in {tests} tests"),
    };
    format!(
        "Slower or faster: the {} interval lies outside ±{}. No change: the {} interval lies inside. The chance of {tests} \
         is at most {}. Intervals include the usual variation between runs.",
        percent(comparison.level),
        rows::band(comparison),
        percent(stats::equivalence_level(comparison.level)),
        percent(1.0 - comparison.level)
    )
}

/// The results that count, with the ratios of a machine.
fn counted(comparison: &Comparison, other: usize) -> impl Iterator<Item = (&CompareRow, &Ratio)> {
    comparison.rows.iter().filter_map(move |row| Some((row, row.ratios.get(other)?)))
}

/// The results whose verdict belongs to a group, the largest change first.
fn changed(comparison: &Comparison, other: usize, belongs: Belongs) -> Vec<(&CompareRow, &Ratio)> {
    let mut found: Vec<(&CompareRow, &Ratio)> =
        counted(comparison, other).filter(|(_, ratio)| ratio.verdict.is_some_and(belongs)).collect();
    found.sort_by(|a, b| effect(b.1).total_cmp(&effect(a.1)));
    found
}

fn groups(comparison: &Comparison, other: usize) -> Vec<RowGroup> {
    let told = clock::is_told(comparison);
    let row = |(row, ratio): &(&CompareRow, &Ratio)| {
        let name = Cell::text(rows::name(row));
        if ratio.value.is_none() {
            return TableRow::of(vec![name, Cell::Across("in modes".to_owned(), rows::brief(ratio).1)]);
        }
        let [change, interval] = rows::change(row, ratio, comparison.normalise);
        let tone = rows::brief(ratio).1;
        let change = match change {
            Cell::Text(text, _) => Cell::Text(text, tone),
            other => other,
        };
        let mut cells = vec![name, change, interval];
        cells.extend(told.then(|| clock::basis(ratio)));
        TableRow::of(cells)
    };
    let group = |(title, belongs): (&str, Belongs)| {
        let all = changed(comparison, other, belongs);
        let more = all.len().saturating_sub(ROWS);
        let note = if more > 0 { format!("and {more} more: --all") } else { String::new() };
        let rows = all.iter().take(ROWS).map(row).collect();
        (!all.is_empty()).then(|| RowGroup { title: title.to_owned(), note, rows })
    };
    GROUPS.into_iter().filter_map(group).collect()
}

/// Size of a ratio's difference from 1; of one without a value, which differs in modes, beyond all.
fn effect(ratio: &Ratio) -> f64 {
    ratio.value.map_or(f64::INFINITY, |value| value.ln().abs())
}

/// `Performance per price: 1.88x worse (1.58 – 2.20); vm-b costs 1.9x as much as vm-a`, the best first.
pub(crate) fn per_price(comparison: &Comparison) -> Vec<String> {
    let mut all: Vec<&PerPrice> = comparison.per_price.iter().collect();
    all.sort_by(|a, b| b.value.total_cmp(&a.value));
    let say = |one: &&PerPrice| {
        let quantity = PrintedQuantity::ratio_with(one.value, one.low.zip(one.high));
        let price = PrintedQuantity::bare(one.price, Unit::Ratio).short();
        let gain = factor(quantity, Unit::Ratio).text_with_interval();
        format!("Performance per price: {gain}; {} costs {price}x as much as {}", one.machine, comparison.reference)
    };
    all.iter().map(say).collect()
}

/// What would decide the inconclusive results and how long that takes, then the smallest change that would have been
/// seen and what would help most.
fn inconclusive(comparison: &Comparison, other: usize, seconds: &HashMap<ResultKey, f64>) -> Vec<String> {
    let open: Vec<(&CompareRow, &Ratio)> =
        counted(comparison, other).filter(|(_, ratio)| ratio.verdict == Some(Verdict::Inconclusive)).collect();
    if open.is_empty() {
        return Vec::new();
    }
    let (mut samples, mut most, mut time, mut runs, mut close) = (0, 0, Some(0.0), Vec::new(), 0);
    for (row, ratio) in &open {
        match ratio.need {
            Some(NeededSamples::Samples(count)) => {
                samples += 1;
                most = most.max(count);
                let each = seconds.get(&row.key()).map(|each| each * count as f64);
                time = time.zip(each).map(|(sum, each)| sum + each);
            }
            Some(NeededSamples::Sessions(count)) => runs.push(count),
            Some(NeededSamples::TooClose) => close += 1,
            None => {}
        }
    }
    let verb = |count: usize, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    let mut parts = Vec::new();
    if samples > 0 {
        let spoken = |time: f64| PrintedQuantity::bare(time.max(1.0).round(), Unit::Seconds).short();
        let cost = time.map(|time| format!(", {}", spoken(time))).unwrap_or_default();
        let (need, up_to) = (verb(samples, "needs", "need"), if samples > 1 { "up to " } else { "" });
        parts.push(format!("{need} a longer run ({up_to}{}{cost})", plural(most, "more sample")));
    }
    if let (Some(least), Some(most)) = (runs.iter().min(), runs.iter().max()) {
        let range = if least == most { most.to_string() } else { format!("{least} to {most}") };
        parts.push(format!("{} more runs ({range} per machine)", verb(runs.len(), "needs", "need")));
    }
    if close > 0 {
        parts.push(format!("{} too noisy or too close to the margin", verb(close, "is", "are")));
    }
    let rest = open.len() - samples - runs.len() - close;
    if rest > 0 {
        let have = verb(rest, "has", "have");
        parts.push(format!("{have} no interval to test (fewer than 8 samples, or no error bars)"));
    }
    let ratios: Vec<&Ratio> = open.iter().map(|(_, ratio)| *ratio).collect();
    let mut said = vec![format!("Inconclusive: {}.", parts.join(", "))];
    said.extend(detectable(&ratios));
    said
}

/// `Smallest detectable change: 15% (median; 6.2% to 88%). What would help most: an idle machine.`
fn detectable(open: &[&Ratio]) -> Option<String> {
    let mut sizes: Vec<f64> = open.iter().filter_map(|ratio| ratio.detectable).collect();
    sizes.sort_by(f64::total_cmp);
    let [least, .., most] = sizes[..] else {
        let size = sizes.first()?;
        let help = most_help(open).map(|help| format!(" What would help: {help}.")).unwrap_or_default();
        return Some(format!("Smallest detectable change: {}.{help}", percent(*size)));
    };
    let help = most_help(open).map(|help| format!(" What would help most: {help}.")).unwrap_or_default();
    Some(format!(
        "Smallest detectable change: {} (median; {} to {}).{help}",
        percent(stats::median(&sizes)?),
        percent(least),
        percent(most)
    ))
}

/// What would help the most results.
fn most_help(open: &[&Ratio]) -> Option<&'static str> {
    let count = |help: &Help| open.iter().filter(|ratio| ratio.help == Some(*help)).count();
    let all = [Help::LongerRun, Help::MoreRuns, Help::IdleMachine];
    all.into_iter().filter(|help| count(help) > 0).max_by_key(count).map(rows::help)
}
