//! Charts as data: what is drawn, not how.

use model::Unit;
use serde::Serialize;

use super::{PrintedQuantity, Tone};

/// A chart with its heading and what it shows, in words for who cannot see it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chart {
    /// Heading.
    pub title: String,
    /// How to read it.
    pub about: String,
    /// What is drawn.
    pub plot: ChartPlot,
}

/// What is drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChartPlot {
    /// Values over an axis, a curve a series.
    Curves(Curves),
    /// Ratios with their intervals under each other, and the band that counts as the same.
    Forest(Forest),
    /// Every single value on a line, rows under each other.
    Strip(Strip),
    /// Two values of every member, and a line through the origin.
    Scatter(ScatterPlot),
}

/// How an axis is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Division {
    /// Equal steps, from 0.
    Linear,
    /// Equal factors, marked at powers of ten.
    Decades,
    /// Equal factors, marked at powers of two.
    Octaves,
    /// Quantiles, equal steps for every further nine; 1 is the maximum.
    Nines,
}

/// An axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChartAxis {
    /// What it shows.
    pub title: String,
    /// Unit of its values.
    pub unit: Unit,
    /// How it is divided.
    pub division: Division,
}

/// Values over an axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curves {
    /// The axis from left to right.
    pub x: ChartAxis,
    /// The axis from below.
    pub y: ChartAxis,
    /// The curves.
    pub series: Vec<Series>,
    /// Places on the horizontal axis that mean something.
    pub marks: Vec<Mark>,
}

/// One curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// What it is of.
    pub name: String,
    /// Series of one thing share a colour, counted from 0.
    pub colour: usize,
    /// Tells series of one colour apart: 0 has full dots, the next ones hollow dots.
    pub variant: usize,
    /// Place on the horizontal axis, and the quantity there, from left to right.
    pub points: Vec<(f64, PrintedQuantity)>,
}

/// A place on the horizontal axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mark {
    /// Where.
    pub x: f64,
    /// What it means.
    pub text: String,
}

/// Ratios with their intervals.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Forest {
    /// Half-width of the band that counts as the same.
    pub band: f64,
    /// What the axis shows.
    pub title: String,
    /// From the top.
    pub rows: Vec<ForestRow>,
}

/// One ratio.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ForestRow {
    /// What it is of.
    pub label: String,
    /// The gain: above 1 is better.
    pub ratio: PrintedQuantity,
    /// The same in words.
    pub words: String,
    /// The verdict in a word.
    pub verdict: String,
    /// How the verdict is meant.
    pub tone: Tone,
}

/// Every single value on a line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Strip {
    /// The axis.
    pub x: ChartAxis,
    /// From the top.
    pub rows: Vec<StripRow>,
}

/// One line of values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StripRow {
    /// What they are of.
    pub label: String,
    /// The values, in time order.
    pub values: Vec<f64>,
    /// Centres of the modes, each with its share.
    pub centres: Vec<(f64, f64)>,
}

/// Two values of every member.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScatterPlot {
    /// The axis from left to right.
    pub x: ChartAxis,
    /// The axis from below.
    pub y: ChartAxis,
    /// The members: name, horizontal, vertical.
    pub points: Vec<(String, PrintedQuantity, PrintedQuantity)>,
    /// Slope of the line through the origin.
    pub slope: Option<f64>,
}
