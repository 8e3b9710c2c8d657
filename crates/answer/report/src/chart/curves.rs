//! Curves: memory hierarchy, bandwidth over block size, quantiles.

use maud::{Markup, html};

use super::frame::{ChartFrame, FrameContent, percent};
use super::scale::AxisScale;
use super::{COLOURS, colour};
use crate::{ChartAxis, Curves, Division, PrintedQuantity, Series};

/// Rows of the names of marks.
const ROWS: usize = 3;

pub(super) fn draw(title: &str, curves: &Curves, height: i32) -> Option<Markup> {
    let points = || curves.series.iter().flat_map(|series| &series.points);
    let ends = |q: &PrintedQuantity| if q.has_interval() { vec![q.low, q.value, q.high] } else { vec![q.value] };
    let name = |axis: &ChartAxis| {
        let unit = axis.unit;
        move |value| PrintedQuantity::bare(value, unit).short()
    };
    let x = AxisScale::over(curves.x.division, points().map(|(x, _)| *x), &name(&curves.x))?;
    let y = AxisScale::over(curves.y.division, points().flat_map(|(_, quantity)| ends(quantity)), &name(&curves.y))?;
    let frame = ChartFrame::new(x, y, height);
    let mut content = FrameContent::default();
    marks(&frame, curves, &mut content);
    for one in &curves.series {
        curve(&frame, &curves.x, one, &mut content);
    }
    Some(frame.draw(title, (&curves.x.title, &curves.y.title), &content))
}

/// Marked positions as lines, their names below each other where they would collide.
fn marks(frame: &ChartFrame, curves: &Curves, content: &mut FrameContent) {
    let (top, bottom) = frame.edges();
    let places = curves.marks.iter().filter_map(|mark| Some((frame.across(mark.x)?, &mark.text)));
    for (row, (at, text)) in places.enumerate() {
        let (shift, anchor) = if at > 70.0 { (-4, "end") } else { (4, "start") };
        content.marks.push(html! {
            line.mark x1=(percent(at)) x2=(percent(at)) y1=(top) y2=(bottom) {}
            text.note x=(percent(at)) dx=(shift) y=(top + 12 + 15 * i32::try_from(row % ROWS).unwrap_or(0)) text-anchor=(anchor) { (text) }
        });
    }
}

fn curve(frame: &ChartFrame, x_axis: &ChartAxis, one: &Series, content: &mut FrameContent) {
    let class = colour(one.colour);
    let hollow = one.variant > 0 || one.colour >= COLOURS;
    let path = frame.path(one.points.iter().map(|(x, quantity)| (*x, quantity.value)));
    content.lines.push(html! { path class={ (class) @if one.variant > 0 { " thin" } } d=(path) {} });
    let mut bars = String::new();
    for (x, quantity) in &one.points {
        let (Some(at), Some(down)) = (frame.across(*x), frame.down(quantity.value)) else { continue };
        if quantity.has_interval() && quantity.low < quantity.high {
            bars.push_str(&frame.path([(*x, quantity.low), (*x, quantity.high)].into_iter()));
        }
        let place = place_words(x_axis, *x);
        let words = format!("{}, {place}: {}", one.name, quantity.text_with_interval());
        content.marks.push(html! {
            circle class={ (class) @if hollow { " hollow" } } cx=(percent(at)) cy=(format!("{down:.1}")) r="3.5" data-t=(words) {}
        });
    }
    if !bars.is_empty() {
        content.lines.push(html! { path.thin.(class) d=(bars) {} });
    }
}

/// A place on the horizontal axis in words.
pub(crate) fn place_words(axis: &ChartAxis, x: f64) -> String {
    match axis.division {
        Division::Nines if x >= 1.0 => "maximum".to_owned(),
        Division::Nines => format!("{}%", x * 100.0),
        _ => PrintedQuantity::bare(x, axis.unit).text(),
    }
}
