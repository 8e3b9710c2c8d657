//! A drawing surface: axes, grid, lines and marks from `plotters`, and on top of them texts that it does not support.

use maud::{Markup, PreEscaped, html};
use plotters::chart::{ChartBuilder, ChartContext};
use plotters::prelude::{
    BLACK, Cartesian2d, Circle, Color, IntoDrawingArea, PathElement, RGBColor, Rectangle, SVGBackend, ShapeStyle,
};
use plotters::style::{IntoFont, TextStyle};

use super::scale::AxisScale;
use crate::{Chart, Error, Tone};

/// Drawn pixels for each pixel of the page, since `plotters` uses whole pixels only.
pub(super) const FINE: u32 = 2;

/// Charts higher than this have a row for each value, and are printed as high as a page rather than shrunk.
const TALL: u32 = 430;

/// Around the plot, in pixels of the page: left and above it, right of it, and below it with its axis.
const MARGIN: u32 = 6;
const RIGHT: u32 = 14;
const BELOW: u32 = 48;
/// Width of a letter of an axis, in pixels of the page.
const LETTER: u32 = 7;
/// Letters of a label that fit next to the plot.
const LETTERS: usize = 58;

/// Colours have meanings; the style sheet of the page replaces them in light and dark mode.
pub(super) const AXIS: RGBColor = RGBColor(0x80, 0x80, 0x80);
pub(super) const GRID: RGBColor = RGBColor(0xe0, 0xe0, 0xe0);
pub(super) const BAND: RGBColor = RGBColor(0xe1, 0xef, 0xe1);
/// The colours of Okabe and Ito (2008), which are distinguishable with colour blindness.
const SERIES: [RGBColor; 7] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0x75, 0x75, 0x75),
];

/// Colour of a series.
pub(super) fn series(index: usize) -> RGBColor {
    SERIES[index % SERIES.len()]
}

/// Colour of a verdict.
pub(super) const fn tone(tone: Tone) -> RGBColor {
    match tone {
        Tone::Good => SERIES[2],
        Tone::Bad => SERIES[1],
        Tone::Muted => SERIES[0],
        _ => SERIES[6],
    }
}

/// Size and margins in pixels of the page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) width: u32,
    pub(super) height: u32,
    /// Width for names left of the plot.
    pub(super) left: u32,
    /// Width right of the plot.
    pub(super) right: u32,
}

impl Size {
    /// Width and height in drawn pixels.
    #[expect(clippy::cast_possible_wrap, reason = "the size of a page")]
    pub(super) const fn drawn(self) -> (i32, i32) {
        ((self.width * FINE) as i32, (self.height * FINE) as i32)
    }

    /// Letters that the titles of the two axes, centred on the plot, have room for within the drawing.
    fn letters(self) -> (usize, usize) {
        let across = self.width - (self.left + MARGIN).abs_diff(self.right + RIGHT);
        let up = self.height.saturating_sub(BELOW);
        ((across / LETTER) as usize, (up / LETTER) as usize)
    }
}

/// A label short enough for the margin; the whole label appears as hover text of the row.
pub(super) fn shortened(label: &str) -> String {
    within(label, LETTERS)
}

fn within(text: &str, letters: usize) -> String {
    if text.chars().count() <= letters {
        return text.to_owned();
    }
    text.chars().take(letters.saturating_sub(1)).chain(['…']).collect()
}

type SheetContext<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<AxisScale, AxisScale>>;

/// The drawing; `over` collects elements for the top layer.
pub(super) struct ChartSheet<'a> {
    context: SheetContext<'a>,
    over: Vec<Markup>,
}

fn refuse(error: impl std::fmt::Display) -> Error {
    Error::Chart(error.to_string())
}

/// Draws a chart: axes and grid first, then the content that `fill` adds.
pub(super) fn draw(
    chart: &Chart,
    size: Size,
    (x, y): (AxisScale, AxisScale),
    titles: (&str, &str),
    fill: impl FnOnce(&mut ChartSheet) -> Result<(), Error>,
) -> Result<Option<String>, Error> {
    let mut text = String::new();
    let mut over = Vec::new();
    let (width, height) = (size.width * FINE, size.height * FINE);
    let (across, up) = size.letters();
    {
        let root = SVGBackend::with_string(&mut text, (width, height)).into_drawing_area();
        let mut context = ChartBuilder::on(&root)
            .margin(MARGIN * FINE)
            .margin_right((size.right + RIGHT) * FINE)
            .x_label_area_size(BELOW * FINE)
            .y_label_area_size(size.left * FINE)
            .build_cartesian_2d(x, y)
            .map_err(refuse)?;
        let style = |size: u32| TextStyle::from(("sans-serif", size * FINE).into_font()).color(&BLACK);
        context
            .configure_mesh()
            .bold_line_style(GRID.stroke_width(FINE))
            .light_line_style(GRID.mix(0.0))
            .axis_style(AXIS.stroke_width(FINE))
            .label_style(style(13))
            .axis_desc_style(style(13))
            .x_desc(within(titles.0, across))
            .y_desc(within(titles.1, up))
            .set_all_tick_mark_size(5 * FINE)
            .draw()
            .map_err(refuse)?;
        let mut sheet = ChartSheet { context, over: Vec::new() };
        fill(&mut sheet)?;
        over.append(&mut sheet.over);
        root.present().map_err(refuse)?;
    }
    Ok(Some(finish(&text, chart, (width, height), &over)))
}

/// Adds descriptions for screen readers at the beginning and hover texts at the end of the drawing.
fn finish(text: &str, chart: &Chart, (width, height): (u32, u32), over: &[Markup]) -> String {
    let body = text.split_once('>').map_or("", |(_, body)| body);
    let body = body.rsplit_once("</svg>").map_or(body, |(body, _)| body);
    let view = format!("0 0 {width} {height}");
    html! {
        svg.tall[height > TALL * FINE] viewBox=(view) width=(width / FINE) height=(height / FINE) role="img" aria-label=(chart.title) {
            title { (chart.title) }
            desc { (chart.about) }
            (PreEscaped(body))
            @for element in over { (element) }
        }
    }
    .into_string()
}

impl ChartSheet<'_> {
    /// A line through points.
    pub(super) fn line(&mut self, points: &[(f64, f64)], colour: RGBColor, width: u32) -> Result<(), Error> {
        let style = colour.stroke_width(width * FINE);
        self.context.draw_series([PathElement::new(points.to_vec(), style)]).map_err(refuse)?;
        Ok(())
    }

    /// A filled area between two corners.
    pub(super) fn area(&mut self, from: (f64, f64), to: (f64, f64), colour: RGBColor) -> Result<(), Error> {
        self.context.draw_series([Rectangle::new([from, to], colour.filled())]).map_err(refuse)?;
        Ok(())
    }

    /// A dot; hollow dots distinguish a second set of series with the same colours.
    pub(super) fn dot(&mut self, at: (f64, f64), radius: u32, colour: RGBColor, hollow: bool) -> Result<(), Error> {
        let style: ShapeStyle = if hollow { colour.stroke_width(FINE) } else { colour.filled() };
        self.context.draw_series([Circle::new(at, radius * FINE, style)]).map_err(refuse)?;
        Ok(())
    }

    /// Pixel of a point.
    pub(super) fn pixel(&self, at: (f64, f64)) -> (i32, i32) {
        self.context.backend_coord(&at)
    }

    /// Hover text of a point.
    pub(super) fn hover(&mut self, at: (f64, f64), words: &str) {
        let (x, y) = self.context.backend_coord(&at);
        self.over.push(html! { circle.hit cx=(x) cy=(y) r=(7 * FINE) { title { (words) } } });
    }

    /// Hover text of a row, over its whole width.
    pub(super) fn hover_row(&mut self, y: f64, page: Size, words: &str) {
        let top = self.context.backend_coord(&(0.0, y + 0.5)).1;
        let bottom = self.context.backend_coord(&(0.0, y - 0.5)).1;
        let width = page.width * FINE;
        self.over.push(html! { rect.hit x="0" y=(top) width=(width) height=(bottom - top) { title { (words) } } });
    }

    /// Text beside a point.
    pub(super) fn words(&mut self, at: (f64, f64), shift: (i32, i32), anchor: &str, words: &str) {
        let (x, y) = self.context.backend_coord(&at);
        let fine = 2;
        self.over.push(html! {
            text.small x=(x + shift.0 * fine) y=(y + shift.1 * fine) text-anchor=(anchor) { (words) }
        });
    }

    /// Text at the right edge of the page.
    pub(super) fn words_at_edge(&mut self, y: f64, page: Size, words: &str) {
        let y = self.context.backend_coord(&(0.0, y)).1 + 8;
        let x = (page.width - 6) * FINE;
        self.over.push(html! { text.small x=(x) y=(y) text-anchor="end" { (words) } });
    }

    /// Corners of the plot in the transformed coordinates.
    pub(super) fn corners(&self) -> ((f64, f64), (f64, f64)) {
        let (x, y) = (self.context.x_range(), self.context.y_range());
        ((x.start, y.start), (x.end, y.end))
    }
}
