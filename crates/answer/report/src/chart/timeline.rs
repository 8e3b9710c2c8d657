//! Quantities over the same time, each in its own lane.

use model::Unit;

use super::scale::AxisScale;
use super::sheet::{Size, draw as sheet, series, shortened};
use crate::{Chart, ChartAxis, Division, Error, Timeline};

/// Height of a lane relative to the distance of two lanes.
const LANE: f64 = 0.8;

pub(super) fn draw(chart: &Chart, timeline: &Timeline) -> Result<Option<String>, Error> {
    let axis = ChartAxis::new("time", Unit::Seconds, Division::Linear);
    let known = timeline.rows.iter().flat_map(|row| &row.heights).any(Option::is_some);
    let Some(x) = AxisScale::over(&axis, [timeline.seconds].into_iter()).filter(|_| known) else { return Ok(None) };
    let names: Vec<String> = timeline.rows.iter().map(|row| shortened(&row.label)).collect();
    #[expect(clippy::cast_possible_truncation, reason = "rows of one page")]
    let height = 70 + 44 * timeline.rows.len() as u32;
    let size = Size { width: 860, height, left: 200, right: 120 };
    sheet(chart, size, (x, AxisScale::rows(&names)), (&axis.title, ""), |sheet| {
        for (index, row) in timeline.rows.iter().enumerate() {
            let floor = -(index as f64) - LANE / 2.0;
            let width = timeline.seconds / row.heights.len().max(1) as f64;
            for (at, height) in row.heights.iter().enumerate() {
                let Some(height) = height.filter(|height| *height > 0.0) else { continue };
                let (from, to) = (at as f64 * width, (at + 1) as f64 * width);
                sheet.area((from, floor), (to, floor + LANE * height.min(1.0)), series(row.colour))?;
            }
            sheet.line(&[(0.0, floor), (timeline.seconds, floor)], series(row.colour), 1)?;
            sheet.words_at_edge(-(index as f64), size, &row.range);
            sheet.hover_row(-(index as f64), size, &format!("{}: {}", row.label, row.range));
        }
        Ok(())
    })
}
