//! Scatter plot of two values for each member, with the line through the origin.

use super::labels::{LabelEdges, place_labels};
use super::scale::{AxisScale, position};
use super::sheet::{AXIS, Size, draw as sheet, series, shortened};
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
        let points = scatter.points.iter().enumerate();
        let drawn: Vec<_> = points
            .filter_map(|(index, (name, x, y))| Some((index, shortened(name), place(x.value, y.value)?)))
            .collect();
        for &(index, _, at) in &drawn {
            let (name, x, y) = &scatter.points[index];
            let (colour, radius) = if scatter.marked == Some(index) { (series(1), 6) } else { (series(0), 4) };
            for (from, to) in
                [(place(x.low, y.value), place(x.high, y.value)), (place(x.value, y.low), place(x.value, y.high))]
            {
                if let (Some(from), Some(to)) = (from, to) {
                    sheet.line(&[from, to], colour, 1)?;
                }
            }
            sheet.dot(at, radius, colour, false)?;
            sheet.hover(at, &format!("{name}: {} and {}", x.text_with_interval(), y.text_with_interval()));
        }
        let names: Vec<_> = drawn.iter().map(|(_, name, at)| (sheet.pixel(*at), name.as_str())).collect();
        // Not over the numbers of the axes.
        let ((left, bottom), (width, _)) = (sheet.pixel(sheet.corners().0), SIZE.drawn());
        let area = LabelEdges { left, top: 0, right: width, bottom };
        let first = drawn.iter().position(|(index, ..)| scatter.marked == Some(*index));
        for ((_, name, at), place) in drawn.iter().zip(place_labels(&names, first, area)) {
            if let Some((right, down, anchor)) = place {
                sheet.words(*at, (right, down), anchor.word(), name);
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use model::Unit;

    use super::*;
    use crate::{ChartAxis, ChartPlot, PrintedQuantity};

    #[test]
    fn names_at_the_right_edge_stand_left_of_their_points_and_the_marked_one_has_a_colour_of_its_own() {
        let bare = |value: f64| PrintedQuantity::bare(value, Unit::Count);
        let axis = |title: &str| ChartAxis::new(title, Unit::Count, Division::Linear);
        let points = [("in the middle", 5.0, 5.0), ("a plan of several kinds at the right edge", 10.0, 9.0)];
        let points = points.map(|(name, x, y)| (name.to_owned(), bare(x), bare(y))).to_vec();
        let scatter = ScatterPlot { x: axis("x"), y: axis("y"), points, slope: None, marked: Some(1) };
        let chart = Chart { title: String::new(), about: String::new(), plot: ChartPlot::Scatter(scatter.clone()) };
        let svg = draw(&chart, &scatter).unwrap().unwrap();
        let anchor = |name: &str| {
            let start = svg[..svg.find(&format!(">{name}<")).unwrap()].rfind("text-anchor=\"").unwrap() + 13;
            svg[start..].split('"').next().unwrap().to_owned()
        };
        assert_eq!(anchor("in the middle"), "start");
        assert_eq!(anchor("a plan of several kinds at the right edge"), "end");
        assert!(svg.contains("#D55E00"), "{svg}");
        let unmarked = ScatterPlot { marked: None, ..scatter };
        assert!(!draw(&chart, &unmarked).unwrap().unwrap().contains("#D55E00"));
    }
}
