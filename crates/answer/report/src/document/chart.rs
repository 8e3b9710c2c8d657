//! Charts as data, without their rendering.

use model::{Metric, ResultKey, Unit};
use serde::Serialize;

use super::{PrintedQuantity, Tone};
use crate::words::family_title;

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
    /// Values of one unit on one axis, a row for each result and a dot for each run.
    Ladder(Ladder),
    /// Every sample of a result: by time, as a density, and with its quartiles.
    Samples(SamplesPlot),
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

/// The result that a row of a chart or of a table is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RowLink {
    /// Anchor of the result in the page.
    pub id: String,
    /// Its family, in words.
    pub family: String,
}

impl RowLink {
    /// The link of a result.
    #[must_use]
    pub fn of(key: &ResultKey) -> Self {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' || c == '_' { c } else { '-' };
        Self { id: format!("r-{key}").chars().map(plain).collect(), family: family_title(key.family()) }
    }
}

/// Ratios with their intervals.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Forest {
    /// Half-width of the margin that counts as no change.
    pub band: f64,
    /// Title of the axis.
    pub title: String,
    /// What the rows are, and the names of the two runs whose values the rows have; the latter may be left out.
    pub heads: Vec<String>,
    /// Rows from the top.
    pub rows: Vec<ForestRow>,
}

/// One ratio.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ForestRow {
    /// Its label.
    pub label: String,
    /// The result that it is about, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<RowLink>,
    /// The values of both runs as tables print them; empty if the row has none.
    pub values: Vec<String>,
    /// The gain: above 1 is better.
    pub ratio: PrintedQuantity,
    /// The gain in words.
    pub words: String,
    /// The verdict in one word.
    pub verdict: String,
    /// Tone of the verdict.
    pub tone: Tone,
}

/// Values of one unit on one axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ladder {
    /// The horizontal axis.
    pub x: ChartAxis,
    /// Names of the runs, in the order of the values of each row.
    pub runs: Vec<String>,
    /// Rows from the top.
    pub rows: Vec<LadderRow>,
}

/// One result of a ladder.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LadderRow {
    /// Its label.
    pub label: String,
    /// The result that it is about.
    pub link: RowLink,
    /// Its value in each run.
    pub values: Vec<Option<PrintedQuantity>>,
}

/// Every sample of a result, in one run or several.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SamplesPlot {
    /// The axis of the values.
    pub y: ChartAxis,
    /// Amount and counted noun of the values, as the result prints them.
    #[serde(skip)]
    pub metric: Metric,
    /// The samples of each run or command.
    pub sets: Vec<SampleSet>,
}

/// The samples of one run or command.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SampleSet {
    /// Name of the run or command.
    pub name: String,
    /// Number of its colour, from 0.
    pub colour: usize,
    /// The samples in the order of time.
    pub points: Vec<SamplePoint>,
    /// The result, as tables print it.
    pub estimate: Option<PrintedQuantity>,
    /// Centres of the modes, each with its share.
    pub centres: Vec<(f64, f64)>,
}

/// One sample.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SamplePoint {
    /// When it began, seconds since the run did.
    pub began: f64,
    /// Its value, in the base unit of the axis.
    pub value: f64,
    /// The 10% and 90% quantiles of its batches, if they are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batches: Option<(f64, f64)>,
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
