//! Charts drawn as SVG with the crate `plotters`; hover texts and words for screen readers are laid over them.

mod curves;
mod forest;
mod scale;
mod scatter;
mod sheet;
mod strip;

use crate::{Chart, ChartPlot, Error};

/// A chart as an `svg` element, or nothing when it has no point that can be drawn.
///
/// # Errors
/// When the drawing library refuses.
pub(crate) fn svg(chart: &Chart) -> Result<Option<String>, Error> {
    match &chart.plot {
        ChartPlot::Curves(curves) => curves::draw(chart, curves),
        ChartPlot::Forest(forest) => forest::draw(chart, forest),
        ChartPlot::Strip(strip) => strip::draw(chart, strip),
        ChartPlot::Scatter(scatter) => scatter::draw(chart, scatter),
    }
}
