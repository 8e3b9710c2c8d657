//! Charts as data, without their rendering.

use model::Unit;
use serde::Serialize;

use super::{PrintedQuantity, Tone};

/// A chart with a title and a description for readers who cannot see it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chart {
    /// Heading.
    pub title: String,
    /// How to read it.
    pub about: String,
    /// Its content.
    pub plot: ChartPlot,
}

/// Content of a chart.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChartPlot {
    /// Values over an axis, with one curve for each series.
    Curves(Curves),
    /// Ratios with their intervals, one below the other, and the margin that counts as no change.
    Forest(Forest),
    /// Single values on a line, in rows.
    Strip(Strip),
    /// Two values for each member, and a line through the origin.
    Scatter(ScatterPlot),
    /// Quantities over the same time, one below the other; formats without charts print it in block characters.
    Timeline(Timeline),
}

/// Division of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Division {
    /// Equal steps, from 0.
    Linear,
    /// Equal factors, marked at powers of ten.
    Decades,
    /// Equal factors, marked at powers of two.
    Octaves,
    /// Quantiles, with equal steps for each further nine; 1 is the maximum.
    Nines,
}

/// An axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChartAxis {
    /// Its title.
    pub title: String,
    /// Unit of its values.
    pub unit: Unit,
    /// Its division.
    pub division: Division,
}

impl ChartAxis {
    /// An axis.
    pub fn new(title: impl Into<String>, unit: Unit, division: Division) -> Self {
        Self { title: title.into(), unit, division }
    }
}

/// Values over an axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curves {
    /// The horizontal axis.
    pub x: ChartAxis,
    /// The vertical axis.
    pub y: ChartAxis,
    /// The curves.
    pub series: Vec<Series>,
    /// Marked positions on the horizontal axis.
    pub marks: Vec<Mark>,
}

/// One curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Number of the colour, from 0; related series share one.
    pub colour: usize,
    /// Distinguishes series of one colour: 0 has full dots, others have hollow ones.
    pub variant: usize,
    /// Horizontal position and quantity, from left to right.
    pub points: Vec<(f64, PrintedQuantity)>,
}

/// A marked position on the horizontal axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mark {
    /// The position.
    pub x: f64,
    /// Its meaning.
    pub text: String,
}

/// Ratios with their intervals.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Forest {
    /// Half-width of the margin that counts as no change.
    pub band: f64,
    /// Title of the axis.
    pub title: String,
    /// Rows from the top.
    pub rows: Vec<ForestRow>,
}

/// One ratio.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ForestRow {
    /// Its label.
    pub label: String,
    /// The gain: above 1 is better.
    pub ratio: PrintedQuantity,
    /// The gain in words.
    pub words: String,
    /// The verdict in one word.
    pub verdict: String,
    /// Tone of the verdict.
    pub tone: Tone,
}

/// Single values on a line, in rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Strip {
    /// The horizontal axis.
    pub x: ChartAxis,
    /// Rows from the top.
    pub rows: Vec<StripRow>,
}

/// One row of values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StripRow {
    /// Its label.
    pub label: String,
    /// The values, in the order of time.
    pub values: Vec<f64>,
    /// Centres of the modes, each with its share.
    pub centres: Vec<(f64, f64)>,
}

/// Two values for each member.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScatterPlot {
    /// The horizontal axis.
    pub x: ChartAxis,
    /// The vertical axis.
    pub y: ChartAxis,
    /// The members: name, horizontal and vertical value.
    pub points: Vec<(String, PrintedQuantity, PrintedQuantity)>,
    /// Slope of the line through the origin.
    pub slope: Option<f64>,
    /// Index of the highlighted member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marked: Option<usize>,
}

/// Quantities over the same time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Timeline {
    /// The whole time, seconds.
    pub seconds: f64,
    /// Rows from the top.
    pub rows: Vec<TimelineRow>,
}

/// One quantity over time, in equal parts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimelineRow {
    /// Its label.
    pub label: String,
    /// What its lowest and highest value mean.
    pub range: String,
    /// Heights, 0 to 1; `None` where nothing is known.
    pub heights: Vec<Option<f64>>,
    /// Number of its colour, from 0.
    pub colour: usize,
}

impl TimelineRow {
    /// The row in `columns` block characters, a dot for unknown values.
    fn blocks(&self, columns: usize) -> String {
        const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let block = |height: &Option<f64>| match height {
            None => '·',
            // Any part of a cell is seen: only nothing at all is empty.
            Some(height) if *height > 0.0 => BLOCKS[((height * 8.0).round() as usize).clamp(1, 8)],
            Some(_) => BLOCKS[0],
        };
        let columns = columns.clamp(1, self.heights.len().max(1));
        (0..columns).map(|at| block(&self.mean(at, columns))).collect()
    }

    /// Mean of the known heights in one column.
    fn mean(&self, at: usize, columns: usize) -> Option<f64> {
        let count = self.heights.len();
        let known: Vec<f64> =
            self.heights[at * count / columns..(at + 1) * count / columns].iter().copied().flatten().collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    }
}

impl Timeline {
    /// The rows as lines of text, at most `room` wide where that leaves ten columns for the picture: label, picture,
    /// range.
    #[must_use]
    pub(crate) fn lines(&self, room: usize) -> Vec<String> {
        let longest =
            |of: fn(&TimelineRow) -> &str| self.rows.iter().map(|row| of(row).chars().count()).max().unwrap_or(0);
        let (width, range) = (longest(|row| &row.label), longest(|row| &row.range));
        let columns = room.saturating_sub(width + range + 5).max(10);
        let line = |row: &TimelineRow| format!("{:width$}  ▕{}▏ {}", row.label, row.blocks(columns), row.range);
        self.rows.iter().map(line).collect()
    }
}
