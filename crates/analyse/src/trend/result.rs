//! What a trend found, as plain data. Times are decimal years; values are in the unit of the data.

use serde::{Deserialize, Serialize};

/// A value at a date.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dated {
    /// Decimal year.
    pub time: f64,
    /// Value, positive.
    pub value: f64,
    /// What had it, where that is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Growth of dated values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GrowthTrend {
    /// First and last date of the fit.
    pub span: (f64, f64),
    /// Points of the fit.
    pub points: usize,
    /// Confidence of every interval.
    pub level: f64,
    /// The fits: of all values, and of the frontier where it has enough records.
    pub fits: Vec<FittedTrend>,
    /// Points outside the window of the fit, set against what the fit to all values says of their dates.
    pub later: Option<Checked>,
    /// The values of the fit.
    pub data: Vec<Dated>,
    /// Values outside the window.
    pub outside: Vec<Dated>,
}

/// Which values a fit is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrendCurve {
    /// The middle of all values of a time.
    Median,
    /// The best of each time.
    Frontier,
}

/// One fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FittedTrend {
    /// Of what.
    pub curve: TrendCurve,
    /// Points that it rests on.
    pub points: usize,
    /// Growth a year: 0.5 is 50% more each year.
    pub growth: f64,
    /// Years to double, negative where it halves; absent when growth cannot be told from none.
    pub doubling: Option<Projection>,
    /// Spread of single values about the line: 1.3 is a factor of 1.3 (one standard deviation).
    pub spread: f64,
    /// A break at an unknown date.
    pub broken: Option<Broken>,
    /// What it says of the dates that were asked for.
    pub projections: Vec<Projection>,
    /// The line with its fan, from the first date to the farthest asked for.
    pub fan: Vec<FanPoint>,
}

/// A value with the interval for one new value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Projection {
    /// Decimal year; of a doubling time, the last date of the fit.
    pub time: f64,
    /// Height of the line.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The same ends where the growth rate may also go on changing as it did within the data; absent for a doubling time.
    pub wide: Option<(f64, f64)>,
    /// How far the date lies outside the data, in lengths of their span; 0 inside.
    pub extrapolation: f64,
    /// Whether that is more than a third: the law need not hold there, and the interval supposes that it does.
    pub out_of_reach: bool,
    /// Values of that time within half a year, where the data have some: what came.
    pub came: Option<(f64, f64)>,
}

/// One point of the fan.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FanPoint {
    /// Decimal year.
    pub time: f64,
    /// Height of the line.
    pub value: f64,
    /// Interval of one new value.
    pub low: f64,
    /// Interval of one new value.
    pub high: f64,
    /// Interval that also allows the growth rate to change as it did within the data.
    pub wide_low: f64,
    /// Interval that also allows the growth rate to change as it did within the data.
    pub wide_high: f64,
}

/// A change of the growth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Broken {
    /// Between which two dates.
    pub between: (f64, f64),
    /// p-value of "the growth did not change".
    pub p_value: f64,
    /// Years to double before it.
    pub doubling_before: f64,
    /// Years to double after it.
    pub doubling_after: f64,
    /// Whether the p-value is below 0.05.
    pub significant: bool,
}

/// What came later, against what the fit said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checked {
    /// Values outside the window of the fit.
    pub points: usize,
    /// Share of them inside the prediction interval.
    pub inside: f64,
    /// The date from which on most are outside; absent when there is none.
    pub lost_from: Option<f64>,
    /// How many times too high the fit was at the median of the last tenth; below 1, too low.
    pub too_high_at_the_end: f64,
    /// The date of that.
    pub end: f64,
}
