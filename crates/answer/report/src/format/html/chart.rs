//! Charts with their legends, and their numbers as a table.

use std::collections::BTreeMap;

use maud::{Markup, PreEscaped, html};

use crate::chart::{small_svg, svg};
use crate::{Chart, ChartPlot, Curves, Division, Error, PrintedQuantity};

/// Number of colours of series; see the style sheet.
const COLOURS: usize = 7;
/// Colours of a forest plot and their meaning; see `chart::sheet::tone`.
const FOREST: [(&str, &str); 4] =
    [("c2", "better"), ("c1", "worse"), ("c0", "no change"), ("c6", "inconclusive or not tested")];

pub(super) fn draw(chart: &Chart) -> Result<Markup, Error> {
    Ok(drawn(chart, svg(chart)?, false))
}

/// One of many small charts: its title, drawing and legend.
pub(super) fn draw_small(chart: &Chart) -> Result<Markup, Error> {
    Ok(drawn(chart, small_svg(chart)?, true))
}

fn drawn(chart: &Chart, drawing: Option<String>, small: bool) -> Markup {
    html! {
        figure.small[small] {
            figcaption { h3 { (chart.title) } @if !small { p.muted { (chart.about) } } (legend(&chart.plot)) }
            @match drawing {
                Some(drawing) => div.scroll tabindex="0" { (PreEscaped(drawing)) },
                None => p.muted { "No value of this chart can be drawn." },
            }
            (numbers(&chart.plot))
        }
    }
}

fn legend(plot: &ChartPlot) -> Markup {
    let curves = match plot {
        ChartPlot::Curves(curves) => curves,
        ChartPlot::Forest(_) => return forest_legend(),
        ChartPlot::Scatter(_) | ChartPlot::Strip(_) | ChartPlot::Timeline(_) => return html! {},
    };
    html! {
        ul.legend {
            // Several curves can share a name, such as single values.
            @for (_, series) in curves.series.iter().enumerate().filter(|(at, series)| {
                !curves.series[..*at].iter().any(|known| known.name == series.name)
            }) {
                @let hollow = series.variant > 0 || series.colour >= COLOURS;
                li { span class={ "swatch c" (series.colour % COLOURS) @if hollow { " hollow" } } {} (series.name) }
            }
        }
    }
}

/// The legend of a forest plot's colours and marks.
fn forest_legend() -> Markup {
    html! {
        ul.legend {
            @for (tone, label) in FOREST { li { span class={ "swatch " (tone) } {} (label) } }
            li { span class="swatch hollow c6" {} "no error bars" }
            li { "An arrow marks an interval that goes on." }
        }
    }
}

/// The numbers as a table, for readers who cannot see the chart or want to copy them.
fn numbers(plot: &ChartPlot) -> Markup {
    let table = match plot {
        ChartPlot::Curves(curves) => curve_numbers(curves),
        ChartPlot::Forest(_) | ChartPlot::Strip(_) | ChartPlot::Timeline(_) => return html! {},
        ChartPlot::Scatter(scatter) => html! {
            table {
                thead { tr { th scope="col" {} th.n scope="col" { (scatter.x.title) } th.n scope="col" { (scatter.y.title) } } }
                tbody { @for (name, x, y) in &scatter.points {
                    tr { th scope="row" { (name) } td.n { (x.text_with_interval()) } td.n { (y.text_with_interval()) } }
                } }
            }
        },
    };
    html! { details.numbers { summary { "Table" } div.scroll tabindex="0" { (table) } } }
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
    let place = |bits: u64| match curves.x.division {
        Division::Nines if f64::from_bits(bits) >= 1.0 => "maximum".to_owned(),
        Division::Nines => format!("{}%", f64::from_bits(bits) * 100.0),
        _ => PrintedQuantity::bare(f64::from_bits(bits), curves.x.unit).text(),
    };
    html! {
        table {
            thead { tr { th scope="col" { (curves.x.title) } @for series in &curves.series { th.n scope="col" { (series.name) } } } }
            tbody { @for (bits, row) in places {
                tr { th scope="row" { (place(bits)) } @for quantity in row { td.n { @if let Some(q) = quantity { (q.text()) } } } }
            } }
        }
    }
}
