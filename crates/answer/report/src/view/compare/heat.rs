//! Machines by family: the mean gain of each, the best machine first.

use compare::{CompareRow, Comparison, GeometricMean, Normalise, PerPrice, Ratio, Relation};

use super::means;
use crate::words::{distinct, factor, family_title, grouped};
use crate::{
    Block, Cell, Chart, ChartPlot, Column, DocumentSection, Forest, ForestRow, PrintedQuantity, Table, TableRow, Tone,
};

/// A machine with its means.
struct Line<'a> {
    name: &'a str,
    reference: bool,
    /// The mean over all results, with its ends.
    all: (f64, f64, f64),
    /// The mean of each family, in words and as a gain.
    families: Vec<Option<(String, f64)>>,
}

/// The machines by their mean over all results, the best first, with intervals; `None` where they are not ranked.
pub(crate) fn ranking(comparison: &Comparison) -> Option<Chart> {
    let (lines, _, ranked) = lines(comparison)?;
    if !ranked {
        return None;
    }
    let row = |line: &Line| {
        let (value, low, high) = line.all;
        let ratio = PrintedQuantity::ratio_with(value, (low < high).then_some((low, high)));
        let tone = if line.reference { Tone::Muted } else { tone(ratio, comparison.band) };
        let words =
            if line.reference { "baseline".to_owned() } else { factor(ratio, model::Unit::Seconds).text_in_map() };
        let verdict = format!("rank {}", place(line.all, &lines));
        ForestRow { label: line.name.to_owned(), link: None, values: Vec::new(), ratio, words, verdict, tone }
    };
    let forest = Forest {
        band: comparison.band,
        title: format!("mean speed-up over {}: right is better", comparison.reference),
        heads: vec!["machine".to_owned()],
        rows: lines.iter().map(row).collect(),
    };
    Some(Chart { title: "Ranking".to_owned(), about: places(comparison).to_owned(), plot: ChartPlot::Forest(forest) })
}

/// The performance per price of each machine, the best first; `None` without prices.
pub(crate) fn prices(comparison: &Comparison) -> Option<Chart> {
    let mut all: Vec<&PerPrice> = comparison.per_price.iter().collect();
    all.sort_by(|a, b| b.value.total_cmp(&a.value));
    let row = |one: &&PerPrice| {
        let ratio = PrintedQuantity::ratio_with(one.value, one.low.zip(one.high));
        let price = PrintedQuantity::bare(one.price, model::Unit::Ratio).short();
        ForestRow {
            label: one.machine.clone(),
            link: None,
            values: vec![format!("{price}x")],
            ratio,
            words: factor(ratio, model::Unit::Ratio).text_with_interval(),
            verdict: String::new(),
            tone: tone(ratio, comparison.band),
        }
    };
    let forest = Forest {
        band: comparison.band,
        title: format!("performance per price over {}: right is better", comparison.reference),
        heads: vec!["machine".to_owned(), "price".to_owned()],
        rows: all.iter().map(row).collect(),
    };
    let about = "Mean speed-up over the ratio of the prices.".to_owned();
    let chart = Chart { title: "Performance per price".to_owned(), about, plot: ChartPlot::Forest(forest) };
    (!all.is_empty()).then_some(chart)
}

/// What an interval says of a ratio: better, worse, no change, or neither.
fn tone(ratio: PrintedQuantity, band: f64) -> Tone {
    match (ratio.low, ratio.high) {
        _ if !ratio.has_interval() => Tone::Plain,
        (low, _) if low > 1.0 + band => Tone::Good,
        (_, high) if high < 1.0 - band => Tone::Bad,
        (low, high) if low > 1.0 - band && high < 1.0 + band => Tone::Muted,
        _ => Tone::Caution,
    }
}

/// A row for each machine with its means by family, and its place where all machines have the same results; `None` if
/// there is nothing to average.
pub(crate) fn section(comparison: &Comparison) -> Option<DocumentSection> {
    let (lines, families, ranked) = lines(comparison)?;
    let about = match ranked {
        false => {
            "Means use only results that both machines have. Machines with different gaps are not ranked.".to_owned()
        }
        true => format!("{} {}", places(comparison), means::about(comparison)),
    };
    let mut blocks = vec![Block::Table(table(&lines, &families, ranked)), Block::Text(about)];
    let listed = |name: &str| lines.iter().any(|line| line.name == name);
    let absent = comparison.machines.iter().map(|machine| machine.name.clone()).filter(|name| !listed(name));
    let absent: Vec<String> = absent.collect();
    if !absent.is_empty() {
        blocks.push(Block::Text(format!("Nothing to average: {}.", absent.join(", "))));
    }
    Some(DocumentSection {
        title: format!("speed-up over baseline {}, mean of each family", comparison.reference),
        blocks,
    })
}

/// The machines, the best first, the families of their means, and whether they are ranked.
fn lines(comparison: &Comparison) -> Option<(Vec<Line<'_>>, Vec<Option<String>>, bool)> {
    if comparison.normalise != Normalise::Gain {
        return None;
    }
    let ranked = comparison.geometric_means.iter().any(|mean| mean.family.is_none());
    let families = families(comparison);
    let mut lines: Vec<Line> = comparison
        .machines
        .iter()
        .enumerate()
        .filter_map(|(index, machine)| {
            let reference = machine.relation == Relation::Reference;
            if reference {
                return Some(Line { name: &machine.name, reference, all: (1.0, 1.0, 1.0), families: Vec::new() });
            }
            let (all, families) = if ranked {
                let ends = |mean: &GeometricMean| {
                    (mean.value, mean.low.unwrap_or(mean.value), mean.high.unwrap_or(mean.value))
                };
                let all = means::find(comparison, None, &machine.name).map(ends);
                let of = |family: &Option<String>| means::find(comparison, family.as_deref(), &machine.name);
                let words = |mean: &GeometricMean| (means::factor_words(comparison, mean), mean.value);
                (all?, families.iter().map(|family| of(family).map(words)).collect())
            } else {
                let own = |family: &Option<String>| shared(comparison, index, family.as_deref());
                let all = own(&None)?;
                ((all.1, all.1, all.1), families.iter().map(own).collect())
            };
            Some(Line { name: &machine.name, reference, all, families })
        })
        .collect();
    if lines.len() < 2 {
        return None;
    }
    lines.sort_by(|a, b| b.all.0.total_cmp(&a.all.0));
    Some((lines, families, ranked))
}

fn places(comparison: &Comparison) -> &'static str {
    if comparison.geometric_means.iter().any(|mean| mean.low.is_some()) {
        "Machines with overlapping intervals share a rank."
    } else {
        "Results have no error bars, so machines are ranked by value."
    }
}

/// All results, then the families in the order of the results.
fn families(comparison: &Comparison) -> Vec<Option<String>> {
    let own = comparison.rows.iter().map(|row| row.benchmark.split('.').next().map(str::to_owned));
    distinct(std::iter::once(None).chain(own))
}

/// The geometric mean of a machine's gains over the results that it shares with the reference, each benchmark counting
/// once; in words and as a number.
fn shared(comparison: &Comparison, machine: usize, family: Option<&str>) -> Option<(String, f64)> {
    let mut gains: Vec<(&str, f64)> = Vec::new();
    let mut unit = model::Unit::Seconds;
    let belongs = |row: &&CompareRow| family.is_none_or(|family| row.benchmark.split('.').next() == Some(family));
    for row in comparison.rows.iter().filter(belongs) {
        let known = |ratio: &&Ratio| ratio.low.is_some() || ratio.assumed.is_some();
        let gain = row.ratios.get(machine).filter(known).and_then(|ratio| ratio.value);
        let gain = gain.filter(|gain| gain.is_finite() && *gain > 0.0);
        let Some(gain) = gain else { continue };
        if row.metric.unit != model::Unit::Seconds && !row.metric.unit.is_rate() {
            unit = model::Unit::Ratio;
        }
        gains.push((&row.benchmark, gain.ln()));
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let means: Vec<f64> = grouped(gains).iter().map(|(_, gains)| mean(gains)).collect();
    let gain = (!means.is_empty()).then(|| mean(&means).exp())?;
    Some((factor(PrintedQuantity::bare(gain, model::Unit::Ratio), unit).text_in_map(), gain))
}

fn table(lines: &[Line], families: &[Option<String>], ranked: bool) -> Table {
    let titles = families.iter().map(|family| family.as_deref().map_or_else(|| "all results".to_owned(), family_title));
    let mut columns = vec![Column::label("")];
    columns.extend(ranked.then(|| Column::words("rank")));
    columns.extend(titles.map(Column::words));
    let row = |line: &Line| {
        let mut cells = vec![Cell::text(line.name)];
        cells.extend(ranked.then(|| Cell::text(place(line.all, lines))));
        if line.reference {
            cells.extend(families.iter().map(|_| Cell::Heat { text: "baseline".to_owned(), gain: 1.0 }));
        }
        cells.extend(line.families.iter().map(|mean| match mean {
            Some((text, gain)) => Cell::Heat { text: text.clone(), gain: *gain },
            None => Cell::Empty,
        }));
        TableRow::of(cells)
    };
    Table::plain(columns, lines.iter().map(row).collect())
}

/// `3`, or `2–4` where intervals overlap.
fn place(own: (f64, f64, f64), lines: &[Line]) -> String {
    let better = lines.iter().filter(|line| line.all.1 > own.2).count();
    let worse = lines.iter().filter(|line| line.all.2 < own.1).count();
    let (best, last) = (better + 1, lines.len() - worse);
    if best == last { best.to_string() } else { format!("{best}–{last}") }
}
