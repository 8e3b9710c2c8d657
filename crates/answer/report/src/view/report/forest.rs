//! Verdicts as a list and as a forest plot.

use ::compare::{Comparison, Normalise};
use model::{Verdict, percent};

use crate::view::compare::{self, rows};
use crate::words::factor;
use crate::{Block, Cell, Chart, ChartPlot, Column, Forest, ForestRow, PrintedQuantity, RowLink, TableRow, Tone};

/// Machines whose forest plot has all results; with more machines, only changed ones are drawn.
const WHOLE: usize = 3;
/// Rows of one plot.
const ROWS: usize = 160;

/// The significant differences, the largest first.
pub(super) fn verdict_list(comparison: &Comparison, others: &[usize]) -> Vec<Block> {
    let mut found: Vec<(f64, TableRow)> = Vec::new();
    for row in &comparison.rows {
        for other in others {
            let Some(ratio) = row.ratios.get(*other).filter(|ratio| ratio.differs()) else {
                continue;
            };
            let tone = rows::brief(ratio).1;
            let quantity = rows::quantity(ratio);
            let size = quantity.map_or(f64::INFINITY, |q| q.value.ln().abs());
            let mut cells = vec![Cell::text(rows::name(row))];
            if others.len() > 1 {
                cells.push(Cell::text(&comparison.machines[*other].name));
            }
            match quantity {
                Some(_) => cells.extend(rows::change(row, ratio, comparison.normalise)),
                None => cells.extend([Cell::text("groups of samples"), Cell::Empty]),
            }
            cells.push(Cell::Text(ratio.verdict.map_or("", Verdict::word).to_owned(), tone));
            found.push((size, TableRow::of(cells)));
        }
    }
    if found.is_empty() {
        return Vec::new();
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut columns = vec![Column::label("result")];
    if others.len() > 1 {
        columns.push(Column::words("machine"));
    }
    columns.extend(rows::change_columns(comparison.normalise, comparison.level));
    columns.push(Column::words(""));
    let table = Block::table(columns, found.into_iter().map(|(_, row)| row).collect());
    if others.len() > 1 {
        return vec![Block::Folded {
            title: "slower and faster results, the largest change first".to_owned(),
            blocks: vec![table],
        }];
    }
    vec![table]
}

/// One plot for each machine.
pub(super) fn charts(comparison: &Comparison, others: &[usize]) -> Vec<Block> {
    let whole = others.len() <= WHOLE;
    let linked = others.len() == 1;
    let reference = compare::places_of(comparison).0;
    let mut blocks = Vec::new();
    for other in others {
        let machine = &comparison.machines[*other].name;
        let mut drawn: Vec<ForestRow> = Vec::new();
        for row in &comparison.rows {
            let Some(ratio) = row.ratios.get(*other) else { continue };
            let different = ratio.differs();
            let Some(quantity) = rows::quantity(ratio).filter(|_| whole || different) else { continue };
            let gain = |value: f64| comparison.normalise.rewritten(&row.metric, value, Normalise::Gain);
            let ends = comparison.normalise.rewritten_ends(&row.metric, (quantity.low, quantity.high), Normalise::Gain);
            let quantity = PrintedQuantity { value: gain(quantity.value), low: ends.0, high: ends.1, ..quantity };
            let (word, tone) = match rows::brief(ratio) {
                // An untested result has the colour of an inconclusive one.
                (word, _) if ratio.verdict.is_none() => (word, Tone::Plain),
                told => told,
            };
            let words = factor(quantity, row.metric.unit).text_with_interval();
            let link = linked.then(|| RowLink::of(&row.key()));
            let values = [reference, *other]
                .map(|index| row.ratios.get(index).map_or_else(String::new, |ratio| printed(&rows::value(row, ratio))));
            drawn.push(ForestRow {
                label: rows::name(row),
                link,
                values: values.to_vec(),
                ratio: quantity,
                words,
                verdict: word.to_owned(),
                tone,
            });
        }
        drawn.sort_by(|a, b| from_one(&b.ratio).total_cmp(&from_one(&a.ratio)));
        drawn.truncate(ROWS);
        if drawn.is_empty() {
            continue;
        }
        let title = format!("{machine} vs {} (baseline)", comparison.reference);
        let about = format!(
            "Speed-up of each {}result with its {}% interval, the largest change first. Shaded: ±{}, no change.",
            if whole { "" } else { "slower or faster " },
            (comparison.level * 100.0).round(),
            percent(comparison.band)
        );
        let forest = Forest {
            band: comparison.band,
            title: "speed-up: right of 1 is better".to_owned(),
            heads: std::iter::once("result".to_owned())
                .chain(compare::heads(comparison, &[reference, *other]))
                .collect(),
            rows: drawn,
        };
        let chart = Block::Chart(Chart { title: title.clone(), about, plot: ChartPlot::Forest(forest) });
        blocks.push(if whole { chart } else { Block::folded(title, vec![chart]) });
    }
    blocks
}

/// What the clock and the neighbours did, apart from the results: they measure no speed.
pub(super) fn conditions(comparison: &Comparison, reference: usize, other: usize) -> Option<Block> {
    let rows: Vec<TableRow> = comparison
        .conditions
        .iter()
        .map(|row| {
            let value = |index: usize| row.ratios.get(index).map_or(Cell::Empty, |ratio| rows::value(row, ratio));
            TableRow::of(vec![Cell::text(rows::name(row)), value(reference), value(other)])
        })
        .collect();
    let mut columns = vec![Column::label("condition")];
    columns.extend(compare::heads(comparison, &[reference, other]).into_iter().map(Column::number));
    (!rows.is_empty()).then(|| Block::table(columns, rows))
}

/// A value as tables print it.
fn printed(cell: &Cell) -> String {
    match cell {
        Cell::Value(quantity) => quantity.text(),
        Cell::Below(quantity) => format!("< {}", quantity.text()),
        Cell::Text(text, _) => text.clone(),
        _ => String::new(),
    }
}

fn from_one(ratio: &PrintedQuantity) -> f64 {
    ratio.value.ln().abs()
}
