//! A comparison that decides first: how many results are slower, faster and the same, then those that differ by the
//! size of the effect, then the means; all rows are in the whole view.

use std::collections::HashMap;

use compare::{CompareRow, CompareVerdict, Comparison, GainDirection, NeededSamples, PerPrice, Ratio};
use model::{ResultKey, Unit, percent};

use super::{clock, heat, means, rows};
use crate::words::{duration, factor};
use crate::{Block, Cell, Column, DocumentSection, PrintedQuantity, RowGroup, Table, TableRow};

/// Rows for each direction.
const ROWS: usize = 8;

/// Directions with their words, those for the worse first.
const DIRECTIONS: [(GainDirection, &str); 4] = [
    (GainDirection::Slower, "SLOWER"),
    (GainDirection::Worse, "WORSE"),
    (GainDirection::Faster, "FASTER"),
    (GainDirection::Better, "BETTER"),
];

/// Two runs. `seconds` is the time of one sample of each result, where it is known.
pub(super) fn pair(comparison: &Comparison, other: usize, seconds: &HashMap<ResultKey, f64>) -> Vec<DocumentSection> {
    let mut first = vec![Block::Text(counts(comparison, other))];
    first.extend(comparison.tests.gt(&0).then(|| Block::Text(certain(comparison))));
    let mut sections = vec![DocumentSection { title: String::new(), blocks: first }];
    let groups = groups(comparison, other);
    let mut blocks = Vec::new();
    if !groups.is_empty() {
        let mut columns = vec![Column::label("")];
        columns.extend(rows::change_columns(comparison.normalise, comparison.level));
        columns.extend(clock::is_told(comparison).then(|| clock::basis_column(comparison)));
        blocks.push(Block::Table(Table { columns, groups }));
    }
    let mut after = vec![means::sentence(comparison, other)];
    after.extend(per_price(comparison).into_iter().map(Some));
    after.push(undecided(comparison, other, seconds));
    blocks.extend(after.into_iter().flatten().map(Block::Text));
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
    counted.extend(comparison.tests.gt(&0).then(|| Block::Text(certain(comparison))));
    let title = format!("results against {}", comparison.reference);
    sections.push(DocumentSection { title, blocks: counted });
    sections
}

/// The means of a machine, the performance per price, what would decide more, and what is certain.
pub(crate) fn sentences(comparison: &Comparison, other: usize) -> Vec<String> {
    let mut sentences: Vec<String> = means::sentence(comparison, other).into_iter().collect();
    sentences.extend(per_price(comparison));
    sentences.extend(undecided(comparison, other, &HashMap::new()));
    sentences.extend(comparison.tests.gt(&0).then(|| certain(comparison)));
    sentences
}

/// How many results of each machine are slower, faster, the same and open.
pub(crate) fn counts_table(comparison: &Comparison, others: &[usize]) -> Table {
    let tally = |index: &usize| {
        let of = |way: GainDirection| directed(comparison, *index, way).len() as u64;
        let tally = comparison.machines[*index].tally;
        let mut cells = vec![Cell::text(&comparison.machines[*index].name)];
        let worse = of(GainDirection::Slower) + of(GainDirection::Worse);
        let better = of(GainDirection::Faster) + of(GainDirection::Better);
        cells.extend([worse, better].map(Cell::Count));
        let rest = [tally.same, tally.undecided, tally.assumed, tally.without];
        cells.extend(rest.map(|count| Cell::Count(count as u64)));
        TableRow::of(cells)
    };
    let columns = Column::list("|#SLOWER|#FASTER|#SAME|#undecided|#spread assumed|#not comparable");
    let mut table = Table::plain(columns, others.iter().map(tally).collect());
    without_empty_columns(&mut table, 5);
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

/// `SLOWER 4   FASTER 2   SAME 61   undecided 13   (of 80)`.
fn counts(comparison: &Comparison, other: usize) -> String {
    let tally = comparison.machines[other].tally;
    let mut words = Vec::new();
    let mut told = 0;
    for (way, word) in DIRECTIONS {
        let count = directed(comparison, other, way).len();
        told += count;
        if count > 0 || matches!(way, GainDirection::Slower | GainDirection::Faster) {
            words.push(format!("{word} {count}"));
        }
    }
    let rest = [
        ("DIFFERENT in modes", tally.different.saturating_sub(told)),
        ("spread assumed", tally.assumed),
        ("not comparable", tally.without),
    ];
    words.extend([format!("SAME {}", tally.same), format!("undecided {}", tally.undecided)]);
    words.extend(rest.iter().filter(|(_, count)| *count > 0).map(|(word, count)| format!("{word} {count}")));
    let of = tally.different + tally.same + tally.undecided + tally.assumed + tally.without;
    format!("{}   (of {of})", words.join("   "))
}

/// What the counts mean.
fn certain(comparison: &Comparison) -> String {
    let (band, claim) = (rows::band(comparison), claim(comparison));
    format!("Slower and faster: surely, and by more than {band}; same: surely by less. {claim}.")
}

/// What all tests together promise.
pub(super) fn claim(comparison: &Comparison) -> String {
    let tests = match comparison.tests {
        1 => "The test claims".to_owned(),
        tests => format!("All {tests} tests together claim"),
    };
    format!("{tests} a false difference with a chance of at most {}", percent(1.0 - comparison.level))
}

/// The results that count, with the ratios of a machine.
fn counted(comparison: &Comparison, other: usize) -> impl Iterator<Item = (&CompareRow, &Ratio)> {
    comparison.rows.iter().filter_map(move |row| Some((row, row.ratios.get(other)?)))
}

/// The significant differences in one direction, the largest first.
fn directed(comparison: &Comparison, other: usize, way: GainDirection) -> Vec<(&CompareRow, &Ratio)> {
    let found = counted(comparison, other);
    let differs = |(_, ratio): &(&CompareRow, &Ratio)| {
        ratio.verdict == Some(CompareVerdict::Different) && ratio.direction == Some(way)
    };
    let mut found: Vec<(&CompareRow, &Ratio)> = found.filter(differs).collect();
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
        cells.extend(told.then(|| Cell::text(clock::basis(ratio, comparison.normalise))));
        TableRow::of(cells)
    };
    let group = |(title, all): (String, Vec<(&CompareRow, &Ratio)>)| {
        let more = all.len().saturating_sub(ROWS);
        let note = if more > 0 { format!("and {more} more, by less: --all") } else { String::new() };
        let rows = all.iter().take(ROWS).map(row).collect();
        (!all.is_empty()).then_some(RowGroup { title, note, rows })
    };
    let assumed = [("different, spread assumed".to_owned(), assumed(comparison, other))];
    let directed = DIRECTIONS.map(|(way, word)| (word.to_lowercase(), directed(comparison, other, way)));
    directed.into_iter().chain(assumed).filter_map(group).collect()
}

/// Results that differ only under the spread assumed for printed values, the largest change first.
fn assumed(comparison: &Comparison, other: usize) -> Vec<(&CompareRow, &Ratio)> {
    let mut found: Vec<(&CompareRow, &Ratio)> = counted(comparison, other)
        .filter(|(_, ratio)| ratio.verdict == Some(CompareVerdict::DifferentSpreadAssumed))
        .collect();
    found.sort_by(|a, b| effect(b.1).total_cmp(&effect(a.1)));
    found
}

/// Size of a ratio's difference from 1; of one without a value, which differs in modes, beyond all.
fn effect(ratio: &Ratio) -> f64 {
    ratio.value.map_or(f64::INFINITY, |value| value.ln().abs())
}

/// `vm-b costs 1.90x as much and gives 1.12x better (1.08 – 1.16) for the money`, the best first.
pub(crate) fn per_price(comparison: &Comparison) -> Vec<String> {
    let mut all: Vec<&PerPrice> = comparison.per_price.iter().collect();
    all.sort_by(|a, b| b.value.total_cmp(&a.value));
    let say = |one: &&PerPrice| {
        let quantity = PrintedQuantity::ratio_with(one.value, one.low.zip(one.high));
        let price = PrintedQuantity::bare(one.price, Unit::Ratio).short();
        let gain = factor(quantity, Unit::Ratio).text_with_interval();
        format!("Per price: {gain}, {} at {price}x the price of {}", one.machine, comparison.reference)
    };
    all.iter().map(say).collect()
}

/// What would decide the undecided results, and how long measuring it would take.
fn undecided(comparison: &Comparison, other: usize, seconds: &HashMap<ResultKey, f64>) -> Option<String> {
    let open: Vec<(&CompareRow, &Ratio)> =
        counted(comparison, other).filter(|(_, ratio)| ratio.verdict == Some(CompareVerdict::Undecided)).collect();
    if open.is_empty() {
        return None;
    }
    let (mut samples, mut most, mut time, mut sessions, mut close) = (0, 0, Some(0.0), 0, 0);
    for (row, ratio) in &open {
        match ratio.need {
            Some(NeededSamples::Samples(count)) => {
                samples += 1;
                most = most.max(count);
                let each = seconds.get(&row.key()).map(|each| each * count as f64);
                time = time.zip(each).map(|(sum, each)| sum + each);
            }
            Some(NeededSamples::Sessions(_)) => sessions += 1,
            Some(NeededSamples::TooClose) => close += 1,
            None => {}
        }
    }
    let mut parts = Vec::new();
    if samples > 0 {
        let cost = time.map(|time| format!(" ({} in each run)", duration(time.max(1.0)))).unwrap_or_default();
        let many = if most == 1 { "1 more sample".to_owned() } else { format!("up to {most} more samples") };
        parts.push(format!("{many} would probably decide {samples}{cost}"));
    }
    if sessions > 0 {
        parts.push(format!("more sessions would decide {sessions}"));
    }
    if close > 0 {
        let [scatter, lie] = if close == 1 { ["scatters", "lies"] } else { ["scatter", "lie"] };
        parts.push(format!("{close} {scatter} too much for either, or {lie} too close to the edge of the same"));
    }
    let rest = open.len() - samples - sessions - close;
    if rest > 0 {
        let have = if rest == 1 { "has" } else { "have" };
        parts.push(format!("{rest} {have} no interval to test (fewer than 8 samples in a run, or no spread)"));
    }
    Some(format!("Undecided: {}.", parts.join(", ")))
}
