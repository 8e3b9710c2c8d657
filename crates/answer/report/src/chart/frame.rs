//! The frame of a chart with two axes: grid, marks, and the places of points.

use maud::{Markup, html};

use super::scale::AxisScale;

/// Heights of the area of a chart, in pixels.
pub(super) const HEIGHT: i32 = 260;
pub(super) const SMALL: i32 = 180;

/// Room above the area, for its uppermost mark, and below it, for the marks and the title of its axis.
const ABOVE: i32 = 8;
const BELOW: i32 = 40;

/// Width of the inner drawing of lines, which is stretched to that of the chart.
const STRETCHED: f64 = 1000.0;

/// Marks of the horizontal axis that even a narrow chart has room for.
const FEW: usize = 4;

/// Two axes over an area.
pub(super) struct ChartFrame {
    x: AxisScale,
    y: AxisScale,
    height: i32,
}

/// What lies in a frame.
#[derive(Default)]
pub(super) struct FrameContent {
    /// Elements of the stretched drawing.
    pub(super) lines: Vec<Markup>,
    /// Elements over it, whose horizontal places are percentages.
    pub(super) marks: Vec<Markup>,
}

impl ChartFrame {
    pub(super) const fn new(x: AxisScale, y: AxisScale, height: i32) -> Self {
        Self { x, y, height }
    }

    /// Horizontal place in percent of a value within the axis.
    pub(super) fn across(&self, value: f64) -> Option<f64> {
        self.x.at(value).filter(|at| (-0.01..=100.01).contains(at))
    }

    /// Vertical place of a value in pixels from the top; of one beyond the axis at its end.
    pub(super) fn down(&self, value: f64) -> Option<f64> {
        let at = self.y.at(value)?.clamp(0.0, 100.0);
        Some(f64::from(ABOVE) + (1.0 - at / 100.0) * f64::from(self.height))
    }

    /// Top and bottom of the area.
    pub(super) const fn edges(&self) -> (i32, i32) {
        (ABOVE, ABOVE + self.height)
    }

    /// The place of a point in the stretched drawing.
    pub(super) fn place(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        Some((self.x.at(x)? / 100.0 * STRETCHED, self.down(y)?))
    }

    /// A line through values, as a path of the stretched drawing.
    pub(super) fn path(&self, points: impl Iterator<Item = (f64, f64)>) -> String {
        let mut path = String::new();
        for (x, y) in points.filter_map(|(x, y)| self.place(x, y)) {
            let step = if path.is_empty() { 'M' } else { 'L' };
            path.push_str(&format!("{step}{x:.0} {y:.1}"));
        }
        path
    }

    /// The lines of the marks of both axes.
    fn grid(&self) -> String {
        let (top, bottom) = self.edges();
        let down = |at: f64| f64::from(top) + (1.0 - at / 100.0) * f64::from(self.height);
        let level = self.y.marks().map(|(at, _)| format!("M0 {:.1}H{STRETCHED}", down(at)));
        let upright = self.x.marks().map(|(at, _)| format!("M{:.0} {top}V{bottom}", at / 100.0 * STRETCHED));
        level.chain(upright).collect()
    }

    /// The chart. Its vertical axis has the title `up`, which stands above it.
    pub(super) fn draw(&self, title: &str, (across, up): (&str, &str), content: &FrameContent) -> Markup {
        let (top, bottom) = self.edges();
        let whole = bottom + BELOW;
        let marks: Vec<(f64, &str)> = self.x.marks().collect();
        let every = marks.len().div_ceil(FEW);
        html! {
            p.axis { "↑ " (up) }
            div.xy {
                svg.up width="70" height=(whole) aria-hidden="true" {
                    @for (at, name) in self.y.marks() {
                        text x="64" y=(format!("{:.1}", f64::from(top) + (1.0 - at / 100.0) * f64::from(self.height) + 4.0)) { (name) }
                    }
                }
                svg.area height=(whole) role="img" aria-label=(title) {
                    @for (index, (at, name)) in marks.iter().enumerate() {
                        text class=[(index % every > 0).then_some("fine")] style=[anchor(*at)] x=(percent(*at)) y=(bottom + 16) { (name) }
                    }
                    text x="50%" y=(bottom + 34) { (across) }
                    svg viewBox={ "0 0 " (STRETCHED) " " (whole) } preserveAspectRatio="none" width="100%" height=(whole) {
                        path.g d=(self.grid()) {}
                        @for line in &content.lines { (line) }
                    }
                    @for mark in &content.marks { (mark) }
                }
            }
        }
    }
}

/// A place along an axis.
pub(super) fn percent(at: f64) -> String {
    format!("{at:.2}%")
}

/// The part of a text that stands at a place near an edge, so that the text stays in the drawing; elsewhere its middle.
pub(super) fn anchor(at: f64) -> Option<&'static str> {
    match at {
        at if at < 6.0 => Some("text-anchor: start"),
        at if at > 94.0 => Some("text-anchor: end"),
        _ => None,
    }
}
