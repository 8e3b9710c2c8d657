//! Charts rendered as SVG with the crate `plotters`, overlaid with hover texts and descriptions for screen readers.

mod curves;
mod forest;
mod labels;
mod scale;
mod scatter;
mod sheet;
mod strip;
mod timeline;

use crate::{Chart, ChartPlot, Error};

/// A chart as an `svg` element; `None` if it has no point that can be drawn.
///
/// # Errors
/// When the drawing library fails.
pub(crate) fn svg(chart: &Chart) -> Result<Option<String>, Error> {
    match &chart.plot {
        ChartPlot::Curves(curves) => curves::draw(chart, curves, curves::SIZE),
        ChartPlot::Forest(forest) => forest::draw(chart, forest),
        ChartPlot::Strip(strip) => strip::draw(chart, strip),
        ChartPlot::Scatter(scatter) => scatter::draw(chart, scatter),
        ChartPlot::Timeline(timeline) => timeline::draw(chart, timeline),
    }
}

/// A chart small enough for several in a row; only curves have a small form.
///
/// # Errors
/// As [`svg`].
pub(crate) fn small_svg(chart: &Chart) -> Result<Option<String>, Error> {
    match &chart.plot {
        ChartPlot::Curves(curves) => curves::draw(chart, curves, curves::SMALL),
        _ => svg(chart),
    }
}
