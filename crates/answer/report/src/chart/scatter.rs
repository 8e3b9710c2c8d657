//! Scatter plot: one dot for each member, with its name.

use maud::{Markup, html};

use super::frame::{ChartFrame, FrameContent, HEIGHT, percent};
use super::labels::{LabelEdges, place_labels};
use super::scale::AxisScale;
use crate::{ChartAxis, PrintedQuantity, ScatterPlot};

/// Width of the drawing for which names are placed. A wider one moves points apart, a narrower one shows no names.
const WIDTH: i32 = 560;

/// Height of the drawing: names need room.
const TALL: i32 = HEIGHT + 80;

pub(super) fn draw(title: &str, scatter: &ScatterPlot) -> Option<Markup> {
    let name = |axis: &ChartAxis| {
        let unit = axis.unit;
        move |value| PrintedQuantity::bare(value, unit).short()
    };
    let xs = scatter.points.iter().map(|(_, x, _)| x.value);
    let ys = scatter.points.iter().map(|(_, _, y)| y.value);
    let x = AxisScale::over(scatter.x.division, xs.clone(), &name(&scatter.x))?;
    let y = AxisScale::over(scatter.y.division, ys, &name(&scatter.y))?;
    let frame = ChartFrame::new(x, y, TALL);
    let mut content = FrameContent::default();
    if let Some(slope) = scatter.slope {
        let (low, high) = xs.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), x| (low.min(x), high.max(x)));
        let line = frame.path([low.min(high * 1e-3).max(0.0), high].map(|x| (x, slope * x)).into_iter());
        content.lines.push(html! { path.fit d=(line) {} });
    }
    let drawn: Vec<(usize, f64, f64)> = scatter
        .points
        .iter()
        .enumerate()
        .filter_map(|(index, (_, x, y))| Some((index, frame.across(x.value)?, frame.down(y.value)?)))
        .collect();
    for (index, at, down) in &drawn {
        let (name, x, y) = &scatter.points[*index];
        let marked = scatter.marked == Some(*index);
        let words = format!("{name}: {} and {}", x.text_with_interval(), y.text_with_interval());
        content.marks.push(html! {
            circle.c0.chosen[marked] cx=(percent(*at)) cy=(format!("{down:.1}")) r=(if marked { 6 } else { 4 }) data-t=(words) {}
        });
    }
    content.marks.extend(names(scatter, &frame, &drawn));
    Some(frame.draw(title, (&scatter.x.title, &scatter.y.title), &content))
}

fn names(scatter: &ScatterPlot, frame: &ChartFrame, drawn: &[(usize, f64, f64)]) -> Vec<Markup> {
    #[expect(clippy::cast_possible_truncation, reason = "pixels of a drawing")]
    let pixel = |at: f64, down: f64| ((at / 100.0 * f64::from(WIDTH)) as i32, down as i32);
    let points: Vec<((i32, i32), &str)> =
        drawn.iter().map(|(index, at, down)| (pixel(*at, *down), scatter.points[*index].0.as_str())).collect();
    let (top, bottom) = frame.edges();
    let area = LabelEdges { left: 0, top, right: WIDTH, bottom };
    let first = drawn.iter().position(|(index, ..)| scatter.marked == Some(*index));
    let placed = place_labels(&points, first, area);
    let named = drawn.iter().zip(points).zip(placed);
    named
        .filter_map(|(((_, at, down), (_, name)), place)| {
            let (right, lower, anchor) = place?;
            Some(html! {
                text.note.fine x=(percent(*at)) dx=(right) y=(format!("{:.1}", down + f64::from(lower))) text-anchor=(anchor.word()) { (name) }
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use model::Unit;

    use super::*;
    use crate::Division;

    #[test]
    fn names_at_the_right_edge_stand_left_of_their_points_and_the_marked_one_differs_in_shape() {
        let bare = |value: f64| PrintedQuantity::bare(value, Unit::Count);
        let axis = |title: &str| ChartAxis::new(title, Unit::Count, Division::Linear);
        let points = [("in the middle", 5.0, 5.0), ("a plan of several kinds at the right edge", 10.0, 9.0)];
        let points = points.map(|(name, x, y)| (name.to_owned(), bare(x), bare(y))).to_vec();
        let scatter = ScatterPlot { x: axis("x"), y: axis("y"), points, slope: None, marked: Some(1) };
        let svg = draw("t", &scatter).unwrap().into_string();
        let anchor = |name: &str| {
            let start = svg[..svg.find(&format!(">{name}<")).unwrap()].rfind("text-anchor=\"").unwrap() + 13;
            svg[start..].split('"').next().unwrap().to_owned()
        };
        assert_eq!(anchor("in the middle"), "start");
        assert_eq!(anchor("a plan of several kinds at the right edge"), "end");
        assert_eq!(svg.matches("chosen").count(), 1, "{svg}");
        let unmarked = ScatterPlot { marked: None, ..scatter };
        assert!(!draw("t", &unmarked).unwrap().into_string().contains("chosen"));
    }
}
