//! Charts with their legends, and their numbers as a table.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::chart::{self, COLOURS, colour, place_words, sample_legend};
use crate::{Chart, ChartPlot, Curves, PrintedQuantity};

/// Marks of a forest plot and their meaning.
const FOREST: [(&str, &str, &str); 4] = [
    ("good", "▲", "better"),
    ("bad", "▼", "worse"),
    ("same", "■", "no change"),
    ("open", "◆", "inconclusive or not tested"),
];

/// A chart; one of several side by side is `small` and leaves its explanation to the text above it.
pub(super) fn draw(chart: &Chart, small: bool) -> Markup {
    html! {
        figure.small[small] {
            figcaption { @if !chart.title.is_empty() { h3 { (chart.title) } } @if !small { p.muted { (chart.about) } } (legend(&chart.plot)) }
            @match chart::draw(chart, small) {
                Some(drawing) => (drawing),
                None => p.muted { "No value of this chart can be drawn." },
            }
            (numbers(&chart.plot))
        }
    }
}

fn legend(plot: &ChartPlot) -> Markup {
    match plot {
        ChartPlot::Curves(curves) => curve_legend(curves),
        ChartPlot::Forest(_) => forest_legend(),
        ChartPlot::Samples(samples) => sample_legend(samples),
        ChartPlot::Ladder(_) | ChartPlot::Scatter(_) | ChartPlot::Timeline(_) => html! {},
    }
}

fn curve_legend(curves: &Curves) -> Markup {
    html! {
        ul.legend {
            // Several curves can share a name, such as single values.
            @for (_, series) in curves.series.iter().enumerate().filter(|(at, series)| {
                !curves.series[..*at].iter().any(|known| known.name == series.name)
            }) {
                @let hollow = series.variant > 0 || series.colour >= COLOURS;
                li { span class={ "key " (colour(series.colour)) @if hollow { " hollow" } } {} (series.name) }
            }
        }
    }
}

/// The legend of a forest plot's marks.
fn forest_legend() -> Markup {
    html! {
        ul.legend {
            @for (class, glyph, label) in FOREST { li { span class=(class) { (glyph) " " } (label) } }
            li { "hollow: no error bars" }
            li { "An arrow marks an interval that goes on." }
        }
    }
}

/// The numbers as a table, for readers who cannot see the chart or want to copy them.
fn numbers(plot: &ChartPlot) -> Markup {
    let table = match plot {
        ChartPlot::Curves(curves) => curve_numbers(curves),
        ChartPlot::Scatter(scatter) => html! {
            table {
                thead { tr { th scope="col" { "name" } th.n scope="col" { (scatter.x.title) } th.n scope="col" { (scatter.y.title) } } }
                tbody { @for (name, x, y) in &scatter.points {
                    tr { th scope="row" { (name) } td.n { (x.text_with_interval()) } td.n { (y.text_with_interval()) } }
                } }
            }
        },
        _ => return html! {},
    };
    html! { details.numbers { summary { "Table" } div.scroll tabindex="0" role="group" aria-label="numbers of the chart" { (table) } } }
}

fn curve_numbers(curves: &Curves) -> Markup {
    let mut places: BTreeMap<u64, Vec<Option<&PrintedQuantity>>> = BTreeMap::new();
    for (index, series) in curves.series.iter().enumerate() {
        for (x, quantity) in &series.points {
            // Bits of positive floats sort like their values.
            let row = places.entry(x.max(0.0).to_bits()).or_insert_with(|| vec![None; curves.series.len()]);
            row[index] = Some(quantity);
        }
    }
    html! {
        table {
            thead { tr { th scope="col" { (curves.x.title) } @for series in &curves.series { th.n scope="col" { (series.name) } } } }
            tbody { @for (bits, row) in places {
                tr { th scope="row" { (place_words(&curves.x, f64::from_bits(bits))) } @for quantity in row { td.n { @if let Some(q) = quantity { (q.text()) } } } }
            } }
        }
    }
}
