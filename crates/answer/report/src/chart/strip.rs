//! Strip plot: every sample as a dot, so that groups are visible.

use super::scale::{AxisScale, position};
use super::sheet::{Size, draw as sheet, series, shortened};
use crate::{Chart, Error, PrintedQuantity, Strip};
use model::percent;

/// Heights over which the dots of a row are distributed, so that equal values do not hide each other.
const LANES: usize = 5;

pub(super) fn draw(chart: &Chart, strip: &Strip) -> Result<Option<String>, Error> {
    let values = strip.rows.iter().flat_map(|row| &row.values).copied();
    let Some(x) = AxisScale::over(&strip.x, values) else { return Ok(None) };
    let names: Vec<String> = strip.rows.iter().map(|row| shortened(&row.label)).collect();
    #[expect(clippy::cast_possible_truncation, reason = "rows of one page")]
    let height = 70 + 52 * strip.rows.len() as u32;
    let size = Size { width: 860, height, left: 384, right: 64 };
    sheet(chart, size, (x, AxisScale::rows(&names)), (&strip.x.title, ""), |sheet| {
        for (index, row) in strip.rows.iter().enumerate() {
            let middle = -(index as f64);
            for (place, value) in row.values.iter().enumerate() {
                let Some(at) = position(strip.x.division, *value) else { continue };
                let lane = (place % LANES) as f64 / (LANES - 1) as f64 - 0.5;
                sheet.dot((at, middle + lane * 0.4), 3, series(index), true)?;
            }
            for (centre, share) in &row.centres {
                let Some(at) = position(strip.x.division, *centre) else { continue };
                sheet.line(&[(at, middle - 0.32), (at, middle + 0.32)], series(index), 2)?;
                let value = PrintedQuantity::bare(*centre, strip.x.unit).short();
                let words = if *share < 1.0 { format!("{value}, {}", percent(*share)) } else { value };
                sheet.words((at, middle + 0.36), (5, 4), "start", &words);
            }
            let words = format!("{}: {} samples", row.label, row.values.len());
            sheet.hover_row(middle, size, &words);
        }
        Ok(())
    })
}
