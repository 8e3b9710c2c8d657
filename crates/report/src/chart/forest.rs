//! Forest plot: ratios with their intervals, one below the other (Lewis and Clarke, BMJ 2001).

use super::scale::{AxisScale, position};
use super::sheet::{AXIS, BAND, Size, draw as sheet, tone};
use crate::{Chart, Division, Error, Forest};

/// Letters of a label that fit beside the plot.
const LETTERS: usize = 58;

pub(super) fn draw(chart: &Chart, forest: &Forest) -> Result<Option<String>, Error> {
    let finite = |x: f64| x.is_finite() && x > 0.0;
    let rows: Vec<_> = forest.rows.iter().filter(|row| finite(row.ratio.value)).collect();
    if rows.is_empty() {
        return Ok(None);
    }
    let values = rows.iter().flat_map(|row| [row.ratio.low, row.ratio.value, row.ratio.high]);
    let Some(x) = AxisScale::ratios(values, forest.band) else { return Ok(None) };
    let names: Vec<String> = rows.iter().map(|row| shortened(&row.label)).collect();
    let y = AxisScale::rows(&names);
    #[expect(clippy::cast_possible_truncation, reason = "rows of one page")]
    let height = 64 + 20 * rows.len() as u32;
    let size = Size { width: 860, height, left: 384, right: 96 };
    let at = |value: f64| position(Division::Decades, value);
    sheet(chart, size, (x, y), (&forest.title, ""), |sheet| {
        let ((_, bottom), (_, top)) = sheet.corners();
        if let (Some(low), Some(high)) = (at(1.0 - forest.band), at(1.0 + forest.band)) {
            sheet.area((low, bottom), (high, top), BAND)?;
        }
        sheet.line(&[(0.0, bottom), (0.0, top)], AXIS, 1)?;
        for (index, row) in rows.iter().enumerate() {
            let (y, colour) = (-(index as f64), tone(row.tone));
            let Some(value) = at(row.ratio.value) else { continue };
            if row.ratio.has_interval()
                && let (Some(low), Some(high)) = (at(row.ratio.low), at(row.ratio.high))
            {
                sheet.line(&[(low, y), (high, y)], colour, 2)?;
            }
            sheet.dot((value, y), 4, colour, !row.ratio.has_interval())?;
            sheet.words_at_edge(y, size, row.words.split(" (").next().unwrap_or_default());
            sheet.hover_row(y, size, &format!("{}: {}, {}", row.label, row.words, row.verdict));
        }
        Ok(())
    })
}

/// A label short enough for the margin; the whole label appears as hover text of the row.
pub(super) fn shortened(label: &str) -> String {
    if label.chars().count() <= LETTERS {
        return label.to_owned();
    }
    label.chars().take(LETTERS - 1).chain(['…']).collect()
}
