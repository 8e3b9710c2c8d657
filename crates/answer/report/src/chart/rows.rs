//! Charts with a row for each result: tables with a drawing in every row.

use maud::{Markup, html};

use super::frame::{anchor, percent};
use super::scale::AxisScale;
use super::{colour, samples};
use crate::{Forest, ForestRow, Ladder, LadderRow, PrintedQuantity, RowLink, SamplesPlot, Tone};

/// Height of the drawing of a row, and the place of its marks.
const HEIGHT: i32 = 22;
const MIDDLE: i32 = 11;

/// Size of the strip of samples in a row of a table.
const STRIP: (f64, f64) = (120.0, 12.0);
/// Rows over which the dots of a strip are distributed, so that equal values do not hide each other.
const LANES: usize = 3;

/// How much farther than the farthest usual end the plot goes, on its logarithmic scale.
const FAR: f64 = 1.5;

/// Forest plot: ratios with their intervals, one below the other (Lewis and Clarke, BMJ 2001), beside both values.
pub(super) fn forest(forest: &Forest) -> Option<Markup> {
    let finite = |x: f64| x.is_finite() && x > 0.0;
    let rows: Vec<&ForestRow> = forest.rows.iter().filter(|row| finite(row.ratio.value)).collect();
    if rows.is_empty() {
        return None;
    }
    let reach = reach(&rows);
    let shown = |value: f64| value.clamp(1.0 / reach, reach);
    let values = rows.iter().flat_map(|row| [shown(row.ratio.low), row.ratio.value, shown(row.ratio.high)]);
    let scale = AxisScale::ratios(values, forest.band)?;
    let valued = forest.heads.len() > 1;
    let judged = rows.iter().any(|row| !row.verdict.is_empty());
    Some(html! {
        table.rows.forest {
            thead { tr {
                th scope="col" { (forest.heads.first().map_or("", String::as_str)) }
                @for name in forest.heads.iter().skip(1) { th.n scope="col" { (name) } }
                th.plot scope="col" { span.head { (forest.title) } (axis(&scale)) }
                th scope="col" { "change" }
                @if judged { th scope="col" { "verdict" } }
            } }
            tbody { @for row in &rows {
                tr.changed[changed(row)] data-f=[row.link.as_ref().map(|link| &link.family)] {
                    th scope="row" { (linked(&row.label, row.link.as_ref())) }
                    @if valued { @for value in &row.values { td.n { (value) } } }
                    td.plot { (ratio(&scale, forest.band, row, reach)) }
                    td.words data-v=(row.ratio.value) { (row.words.split(" (").next().unwrap_or_default()) }
                    @if judged { td.verdict.(tone(row.tone)) { (glyph(row.tone)) " " (row.verdict) } }
                }
            } }
        }
    })
}

fn changed(row: &ForestRow) -> bool {
    matches!(row.tone, Tone::Good | Tone::Bad)
}

/// A label, linked to the row of its result.
fn linked(label: &str, link: Option<&RowLink>) -> Markup {
    html! {
        @match link {
            Some(link) => a href={ "#" (link.id) } { (label) },
            None => (label),
        }
    }
}

/// The marks of an axis over the drawings of the rows.
fn axis(scale: &AxisScale) -> Markup {
    let marks: Vec<(f64, &str)> = scale.marks().collect();
    let every = marks.len().div_ceil(4);
    html! {
        div.marks {
            svg.bar width="100%" height="16" aria-hidden="true" {
                @for (index, (at, name)) in marks.iter().enumerate() {
                    text class=[(index % every > 0).then_some("fine")] style=[anchor(*at)] x=(percent(*at)) y="12" { (name) }
                }
            }
        }
    }
}

fn ratio(scale: &AxisScale, band: f64, row: &ForestRow, reach: f64) -> Markup {
    let at = |value: f64| scale.at(value).map(percent).unwrap_or_default();
    let width =
        |from: f64, to: f64| percent(scale.at(to).zip(scale.at(from)).map_or(0.0, |(to, from)| (to - from).max(0.0)));
    let (low, high) = (row.ratio.low.max(1.0 / reach), row.ratio.high.min(reach));
    let (from, to) = (1.0 - band, 1.0 + band);
    let class = tone(row.tone);
    html! {
        svg.bar width="100%" height=(HEIGHT) aria-hidden="true" data-t={ (row.label) ": " (row.words) ", " (row.verdict) } {
            rect.band x=(at(from)) width=(width(from, to)) y="0" height=(HEIGHT) {}
            line.one x1=(at(1.0)) x2=(at(1.0)) y1="0" y2=(HEIGHT) {}
            @if row.ratio.has_interval() {
                line class=(class) x1=(at(low)) x2=(at(high)) y1=(MIDDLE) y2=(MIDDLE) {}
                // An arrow says that the interval goes on.
                @if row.ratio.low < 1.0 / reach { svg x=(at(low)) y=(MIDDLE) { path class=(class) d="M6-4L0 0L6 4" {} } }
                @if row.ratio.high > reach { svg x=(at(high)) y=(MIDDLE) { path class=(class) d="M-6-4L0 0L-6 4" {} } }
            }
            svg x=(at(row.ratio.value)) y=(MIDDLE) { (mark(row)) }
        }
    }
}

/// The mark of a value: its shape says the verdict without colour. Without error bars it is hollow.
fn mark(row: &ForestRow) -> Markup {
    let shape = match row.tone {
        Tone::Good => "M-5 4H5L0-6z",
        Tone::Bad => "M-5-4H5L0 6z",
        Tone::Muted => "M-4-4H4V4H-4z",
        _ => "M0-5L5 0L0 5L-5 0z",
    };
    html! { path class={ "mark " (tone(row.tone)) @if !row.ratio.has_interval() { " hollow" } } d=(shape) {} }
}

/// The sign of a verdict in text.
pub(crate) const fn glyph(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "▲",
        Tone::Bad => "▼",
        Tone::Muted => "■",
        _ => "◆",
    }
}

/// Class of a verdict.
const fn tone(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Bad => "bad",
        Tone::Muted => "same",
        _ => "open",
    }
}

/// The ratio up to which intervals are drawn: that of all values and of nine tenths of the interval's ends. One very
/// uncertain result must not press all others into a point.
fn reach(rows: &[&ForestRow]) -> f64 {
    let away = |ratio: f64| if ratio > 0.0 { ratio.ln().abs() } else { f64::INFINITY };
    let values = rows.iter().map(|row| away(row.ratio.value)).fold(0.0, f64::max);
    let with_interval = rows.iter().filter(|row| row.ratio.has_interval());
    let mut ends: Vec<f64> = with_interval.flat_map(|row| [away(row.ratio.low), away(row.ratio.high)]).collect();
    ends.sort_by(f64::total_cmp);
    let usual = ends.get((ends.len() * 9).div_ceil(10).saturating_sub(1)).copied().filter(|end| end.is_finite());
    let usual = usual.unwrap_or(0.0);
    let longest = ends.last().copied().unwrap_or(0.0);
    let reach = FAR * values.max(usual);
    // A slightly longer interval is drawn to its end.
    let end = if longest <= FAR * reach { longest.max(values) } else { reach };
    // Rounding beyond the end does not cut it.
    end.exp() * (1.0 + 1e-9)
}

/// Results of one unit on a common axis: a dot and an interval for each run, and a line that joins the runs.
pub(super) fn ladder(ladder: &Ladder) -> Option<Markup> {
    let quantities = || ladder.rows.iter().flat_map(|row| &row.values).flatten();
    let ends = |q: &PrintedQuantity| [q.low, q.value, q.high];
    let unit = ladder.x.unit;
    let scale = AxisScale::over(ladder.x.division, quantities().flat_map(ends), &|value| {
        PrintedQuantity::bare(value, unit).short()
    })?;
    let names: Vec<&str> = match ladder.runs.as_slice() {
        [_] => vec!["value"],
        several => several.iter().map(String::as_str).collect(),
    };
    Some(html! {
        table.rows.ladder {
            thead { tr {
                th scope="col" { "result" }
                @for (index, name) in names.iter().enumerate() {
                    th.n scope="col" { @if names.len() > 1 { span class={ "key " (colour(index)) } {} } (name) }
                }
                th.plot scope="col" { span.head { (ladder.x.title) } (axis(&scale)) }
            } }
            tbody { @for row in &ladder.rows {
                tr data-f=(row.link.family) {
                    th scope="row" { (linked(&row.label, Some(&row.link))) }
                    @for value in &row.values {
                        @match value {
                            Some(quantity) => td.n data-v=(quantity.value) { (quantity.text()) },
                            None => td.n { "–" },
                        }
                    }
                    td.plot { (rung(&scale, ladder, row)) }
                }
            } }
        }
    })
}

fn rung(scale: &AxisScale, ladder: &Ladder, row: &LadderRow) -> Markup {
    let at = |value: f64| scale.at(value.max(f64::MIN_POSITIVE)).map(|at| percent(at.clamp(0.0, 100.0)));
    let known = || row.values.iter().flatten().filter_map(|quantity| at(quantity.value));
    let told: Vec<String> = row
        .values
        .iter()
        .zip(&ladder.runs)
        .filter_map(|(value, run)| {
            let value = value.as_ref()?.text_with_interval();
            Some(if ladder.runs.len() > 1 { format!("{run} {value}") } else { value })
        })
        .collect();
    html! {
        svg.bar width="100%" height=(HEIGHT) aria-hidden="true" data-t={ (row.label) ": " (told.join(", ")) } {
            line.one x1="0" x2="100%" y1=(MIDDLE) y2=(MIDDLE) {}
            @if let (Some(first), Some(last)) = (known().next(), known().next_back()) {
                line.join x1=(first) x2=(last) y1=(MIDDLE) y2=(MIDDLE) {}
            }
            @for (index, quantity) in row.values.iter().enumerate() {
                @if let Some(quantity) = quantity {
                    @if let (true, Some(low), Some(high)) = (quantity.has_interval(), at(quantity.low), at(quantity.high)) {
                        line class=(colour(index)) x1=(low) x2=(high) y1=(MIDDLE) y2=(MIDDLE) {}
                    }
                    @if let Some(value) = at(quantity.value) { circle class=(colour(index)) cx=(value) cy=(MIDDLE) r="4.5" {} }
                }
            }
        }
    }
}

/// All samples of a result on a line, the interval behind them, and a line of its own for each run.
pub(crate) fn sample_strip(plot: &SamplesPlot) -> Markup {
    let Some((low, high)) = samples::usual_range(plot) else { return html! {} };
    let (width, each) = STRIP;
    let room = width - 8.0;
    let across = |value: f64| 4.0 + room * ((value - low) / (high - low)).clamp(0.0, 1.0);
    let height = each * plot.sets.len() as f64 + 4.0;
    html! {
        svg.strip width=(width) height=(height) aria-hidden="true" {
            @for (index, set) in plot.sets.iter().enumerate() {
                @let top = 2.0 + each * index as f64;
                @if let Some(quantity) = set.estimate.filter(PrintedQuantity::has_interval) {
                    @let (from, to) = (across(quantity.low), across(quantity.high));
                    rect.band x=(format!("{from:.1}")) width=(format!("{:.1}", (to - from).max(1.0))) y=(top) height=(each) {}
                }
                path.dots.(colour(set.colour)) d=(dots(set, top, &across)) {}
            }
        }
    }
}

fn dots(set: &crate::SampleSet, top: f64, across: &dyn Fn(f64) -> f64) -> String {
    let place = |(index, point): (usize, &crate::SamplePoint)| {
        format!("M{:.0} {}h0", across(point.value), top + 2.0 + 4.0 * (index % LANES) as f64)
    };
    set.points.iter().enumerate().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(value: f64, low: f64, high: f64) -> ForestRow {
        let [label, words, verdict] = ["", "", ""].map(str::to_owned);
        let ratio = PrintedQuantity::ratio(value, low, high);
        ForestRow { label, link: None, values: Vec::new(), ratio, words, verdict, tone: Tone::Plain }
    }

    #[test]
    fn one_result_of_which_nothing_is_known_does_not_press_the_others_into_a_point() {
        let of = |last: ForestRow| {
            let rows: Vec<ForestRow> = (0..19).map(|_| row(1.0, 0.9, 1.1)).chain([last]).collect();
            reach(&rows.iter().collect::<Vec<_>>())
        };
        assert!(of(row(1.1, 1e-5, 1e5)) < 1.2, "it is cut");
        assert!(of(row(1.1, 0.0, f64::INFINITY)) < 1.2, "so is one without an end");
        assert!((of(row(1.05, 0.87, 1.15)) - 1.15).abs() < 1e-6, "what would be cut by little is not cut");
        assert!(of(row(20.0, 15.0, 25.0)) > 24.9, "a value is shown wherever it is");
    }

    #[test]
    fn a_plot_of_intervals_without_ends_is_drawn_and_every_verdict_has_a_shape() {
        let rows = vec![row(1.0, 0.0, f64::INFINITY), row(2.0, 1.5, 2.5)];
        let plot = Forest { band: 0.02, title: String::new(), heads: Vec::new(), rows };
        let drawn = forest(&plot).unwrap().into_string();
        assert!(drawn.contains("M6-4L0 0L6 4") && drawn.contains("M-6-4L0 0L-6 4"), "{drawn}");
        let shapes = [Tone::Good, Tone::Bad, Tone::Muted, Tone::Caution]
            .map(|tone| mark(&ForestRow { tone, ..row(1.0, 1.0, 1.0) }).into_string());
        assert!(shapes.iter().enumerate().all(|(at, shape)| !shapes[..at].contains(shape)));
    }
}
