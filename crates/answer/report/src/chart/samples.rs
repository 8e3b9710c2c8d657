//! Every sample of a result: by time at the left, how often each value was at the right, with the quartiles.

use maud::{Markup, html};
use model::Unit;

use super::colour;
use super::frame::{ChartFrame, FrameContent, SMALL};
use super::scale::AxisScale;
use crate::{Division, PrintedQuantity, SampleSet, SamplesPlot};

/// Ratio of the greatest to the least value from which the axis is logarithmic.
const WIDE: f64 = 4.0;
/// Values beyond this many interquartile ranges from the quartiles stand at the edge of the strip of a row.
const FAR: f64 = 4.0;
/// Pixels between the points of a density.
const STEP: usize = 6;
/// Widths of the density and of the quartiles of each set, in the units of their drawing.
const DENSITY: f64 = 100.0;
const BOX: f64 = 16.0;

/// The samples of an opened row.
pub(crate) fn samples_plot(plot: &SamplesPlot) -> Markup {
    html! { @if let Some(drawing) = draw("samples", plot, SMALL) { (legend(plot)) (drawing) } }
}

/// What stands for each set, with its result.
pub(crate) fn legend(plot: &SamplesPlot) -> Markup {
    html! {
        ul.legend {
            @for set in &plot.sets {
                li { span.key.(colour(set.colour)) {} (set.name)
                    @if let Some(estimate) = set.estimate { " " b { (estimate.text_with_interval()) } } }
            }
            @if plot.sets.iter().flat_map(|set| &set.points).any(|point| point.batches.is_some()) {
                li { "thin lines: 80% of the batches of a sample" }
            }
        }
    }
}

pub(super) fn draw(title: &str, plot: &SamplesPlot, height: i32) -> Option<Markup> {
    let values = || plot.sets.iter().flat_map(|set| &set.points).map(|point| point.value);
    let (low, high) = values().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    let printed = |value: f64| PrintedQuantity::bare(value, plot.y.unit).in_metric(&plot.metric).short();
    let between = |value: f64, step: f64| {
        let near = PrintedQuantity::interval(value, value - step, value + step, plot.y.unit);
        near.in_metric(&plot.metric).text()
    };
    let y = if low > 0.0 && high > WIDE * low {
        AxisScale::over(Division::Decades, values(), &printed)?
    } else {
        AxisScale::near(values(), &between)?
    };
    let began = plot.sets.iter().flat_map(|set| &set.points).map(|point| point.began);
    let x = AxisScale::near(began, &|value, _| PrintedQuantity::bare(value, Unit::Seconds).short())?;
    let frame = ChartFrame::new(x, y, height);
    let mut content = FrameContent::default();
    for set in &plot.sets {
        progression(&frame, set, &printed, &mut content);
    }
    Some(html! {
        div.duo {
            div { (frame.draw(title, ("since the start of the run", &plot.y.title), &content)) }
            (distribution(&frame, plot))
        }
    })
}

/// The samples by time, the ends of their batches, and the interval of the result.
fn progression(frame: &ChartFrame, set: &SampleSet, printed: &dyn Fn(f64) -> String, content: &mut FrameContent) {
    let class = colour(set.colour);
    let mut batches = String::new();
    let mut dots = String::new();
    for point in &set.points {
        let Some((x, y)) = frame.place(point.began, point.value) else { continue };
        dots.push_str(&format!("M{x:.0} {y:.0}h0"));
        if let Some((low, high)) = point.batches
            && let (Some(low), Some(high)) = (frame.down(low), frame.down(high))
        {
            batches.push_str(&format!("M{x:.0} {low:.0}V{high:.0}"));
        }
    }
    if let Some(estimate) = set.estimate.filter(PrintedQuantity::has_interval)
        && let (Some(low), Some(high)) = (frame.down(estimate.low), frame.down(estimate.high))
    {
        let height = format!("{:.1}", (low - high).max(1.0));
        content.lines.push(html! { rect.band.(class) x="0" width="1000" y=(format!("{high:.1}")) height=(height) {} });
    }
    let least = set.points.iter().map(|point| point.value).fold(f64::INFINITY, f64::min);
    let most = set.points.iter().map(|point| point.value).fold(f64::NEG_INFINITY, f64::max);
    let result = set.estimate.map_or_else(String::new, |estimate| format!("{}, ", estimate.text_with_interval()));
    let words =
        format!("{}: {result}{} samples from {} to {}", set.name, set.points.len(), printed(least), printed(most));
    if !batches.is_empty() {
        content.lines.push(html! { path.batches.(class) d=(batches) {} });
    }
    content.lines.push(html! { path.dots.(class) d=(dots) data-t=(words) {} });
}

/// The density of each set, and its quartiles beside it: a line from the least to the greatest value, a box over the
/// middle half, a mark at the median.
fn distribution(frame: &ChartFrame, plot: &SamplesPlot) -> Markup {
    let (top, bottom) = frame.edges();
    let width = DENSITY + BOX * plot.sets.len() as f64;
    html! {
        svg.density viewBox={ "0 0 " (width) " " (bottom) } preserveAspectRatio="none" height=(bottom) aria-hidden="true" {
            @for (index, set) in plot.sets.iter().enumerate() {
                @let places: Vec<f64> = set.points.iter().filter_map(|point| frame.down(point.value)).collect();
                path.fill.(colour(set.colour)) d=(density(&places, (top, bottom))) {}
                @if let Some([least, low, middle, high, most]) = quartiles(&places) {
                    @let at = DENSITY + BOX * (index as f64 + 0.5);
                    path.whisker.(colour(set.colour)) d={ "M" (at) " " (round(least)) "V" (round(most)) } {}
                    path.box.(colour(set.colour)) d={ "M" (at) " " (round(low)) "V" (round(high)) } {}
                    path.median d={ "M" (at - 5.0) " " (round(middle)) "h10" } {}
                }
            }
        }
    }
}

fn round(place: f64) -> String {
    format!("{place:.1}")
}

/// Least, quartiles and greatest.
fn quartiles(values: &[f64]) -> Option<[f64; 5]> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    Some([0.0, 0.25, 0.5, 0.75, 1.0].map(|share| sorted[(share * last as f64).round() as usize]))
}

/// A Gaussian density of places, as a filled path whose greatest width is [`DENSITY`]. Its bandwidth is half of that of
/// Silverman (1986, 3.31), which would join two groups.
fn density(places: &[f64], (top, bottom): (i32, i32)) -> String {
    let Some([_, low, _, high, _]) = quartiles(places) else { return String::new() };
    let count = places.len() as f64;
    let mean = places.iter().sum::<f64>() / count;
    let deviation = (places.iter().map(|place| (place - mean).powi(2)).sum::<f64>() / count).sqrt();
    let spread = match (high - low) / 1.34 {
        quarter if quarter > 0.0 => quarter.min(deviation),
        _ => deviation,
    };
    let bins = usize::try_from(bottom - top).unwrap_or(0) / STEP;
    let step = STEP as f64;
    let width = (0.45 * spread * count.powf(-0.2)).max(step);
    let at = |bin: usize| f64::from(top) + step * bin as f64;
    let weight = |from: f64| places.iter().map(|place| (-0.5 * ((from - place) / width).powi(2)).exp()).sum::<f64>();
    let weights: Vec<f64> = (0..=bins).map(|bin| weight(at(bin))).collect();
    let most = weights.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let points =
        weights.iter().enumerate().map(|(bin, weight)| format!("L{:.0} {:.0}", DENSITY * weight / most, at(bin)));
    format!("M0 {top}{}L0 {bottom}z", points.collect::<String>())
}

/// The range of the strip of a row: that of the values that are not far from the quartiles.
pub(super) fn usual_range(plot: &SamplesPlot) -> Option<(f64, f64)> {
    let mut ends: Option<(f64, f64)> = None;
    for set in &plot.sets {
        let values: Vec<f64> = set.points.iter().map(|point| point.value).filter(|value| value.is_finite()).collect();
        let Some([least, low, _, high, most]) = quartiles(&values) else { continue };
        let far = FAR * (high - low);
        let (from, to) = (least.max(low - far), most.min(high + far));
        ends = Some(ends.map_or((from, to), |(a, b): (f64, f64)| (a.min(from), b.max(to))));
    }
    let (low, high) = ends?;
    Some(if high > low {
        (low, high)
    } else {
        (low - 1e-3 * low.abs() - f64::MIN_POSITIVE, high + 1e-3 * high.abs() + f64::MIN_POSITIVE)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Local maxima of the widths of a density.
    fn peaks(places: &[f64]) -> usize {
        let path = density(places, (0, 200));
        let widths: Vec<f64> =
            path.split('L').skip(1).filter_map(|point| point.split(' ').next()?.parse().ok()).collect();
        let inner = widths[..widths.len() - 1].windows(3);
        inner.filter(|three| three[1] > three[0] && three[1] >= three[2] && three[1] > 5.0).count()
    }

    #[test]
    fn two_groups_of_samples_are_two_peaks_and_one_group_is_one() {
        let group = |middle: f64| (0..20).map(move |at| middle + f64::from(at % 5) - 2.0);
        assert_eq!(peaks(&group(40.0).chain(group(160.0)).collect::<Vec<_>>()), 2);
        assert_eq!(peaks(&group(40.0).chain(group(80.0)).collect::<Vec<_>>()), 2);
        assert_eq!(peaks(&group(100.0).collect::<Vec<_>>()), 1);
        assert_eq!(density(&[], (0, 200)), "");
    }
}
