//! Charts as elements of a page, from data alone.
//!
//! A chart is an `svg` whose horizontal places are percentages and whose vertical places are pixels, so it is as wide
//! as its column and its texts keep their size on every screen. Lines lie in an inner `svg` that is stretched. Charts
//! whose rows are results are tables with a drawing in each row: a reader of the screen reads them, and what filters
//! and sorts tables does so with them. Each mark says its value in `data-t`, which the script of the page shows.

mod curves;
mod frame;
mod labels;
mod rows;
mod samples;
mod scale;
mod scatter;
mod timeline;

use maud::Markup;

pub(crate) use curves::place_words;
pub(crate) use rows::{glyph, sample_strip};
pub(crate) use samples::{legend as sample_legend, samples_plot};

use crate::{Chart, ChartPlot};

/// Colours of series and runs; see the style sheet.
pub(crate) const COLOURS: usize = 7;

/// A chart; `None` if it has no point that can be drawn. Of several side by side each is `small`.
pub(crate) fn draw(chart: &Chart, small: bool) -> Option<Markup> {
    let height = if small { frame::SMALL } else { frame::HEIGHT };
    match &chart.plot {
        ChartPlot::Curves(curves) => curves::draw(&chart.title, curves, height),
        ChartPlot::Forest(forest) => rows::forest(forest),
        ChartPlot::Ladder(ladder) => rows::ladder(ladder),
        ChartPlot::Samples(samples) => samples::draw(&chart.title, samples, height),
        ChartPlot::Scatter(scatter) => scatter::draw(&chart.title, scatter),
        ChartPlot::Timeline(timeline) => timeline::draw(timeline),
    }
}

/// Class of a run's or series' colour.
pub(crate) fn colour(index: usize) -> String {
    format!("c{}", index % COLOURS)
}
