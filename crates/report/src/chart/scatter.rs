//! Scatter plot of two values for each member, with the line through the origin.

use super::scale::{AxisScale, position};
use super::sheet::{AXIS, Size, draw as sheet, series};
use crate::{Chart, Division, Error, ScatterPlot};

const SIZE: Size = Size { width: 760, height: 420, left: 84, right: 0 };

pub(super) fn draw(chart: &Chart, scatter: &ScatterPlot) -> Result<Option<String>, Error> {
    let x = AxisScale::over(&scatter.x, scatter.points.iter().flat_map(|(_, x, _)| [x.low, x.value, x.high]));
    let y = AxisScale::over(&scatter.y, scatter.points.iter().flat_map(|(_, _, y)| [y.low, y.value, y.high]));
    let (Some(x), Some(y)) = (x, y) else { return Ok(None) };
    let place = |x: f64, y: f64| Some((position(scatter.x.division, x)?, position(scatter.y.division, y)?));
    let linear = scatter.x.division == Division::Linear && scatter.y.division == Division::Linear;
    sheet(chart, SIZE, (x, y), (&scatter.x.title, &scatter.y.title), |sheet| {
        let (_, (right, top)) = sheet.corners();
        if let Some(slope) = scatter.slope.filter(|slope| linear && slope.is_finite() && *slope > 0.0) {
            let end = right.min(top / slope);
            sheet.line(&[(0.0, 0.0), (end, slope * end)], AXIS, 1)?;
        }
        for (name, x, y) in &scatter.points {
            let Some(at) = place(x.value, y.value) else { continue };
            for (from, to) in
                [(place(x.low, y.value), place(x.high, y.value)), (place(x.value, y.low), place(x.value, y.high))]
            {
                if let (Some(from), Some(to)) = (from, to) {
                    sheet.line(&[from, to], series(0), 1)?;
                }
            }
            sheet.dot(at, 4, series(0), false)?;
            sheet.words(at, (8, 4), "start", &super::forest::shortened(name));
            sheet.hover(at, &format!("{name}: {} and {}", x.text_with_interval(), y.text_with_interval()));
        }
        Ok(())
    })
}
