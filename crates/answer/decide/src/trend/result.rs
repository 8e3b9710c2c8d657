//! The result of a trend, as plain data. Times are decimal years; values are in the unit of the data.

use model::{Metric, Unit};
use serde::{Deserialize, Serialize};

/// A value at a date.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dated {
    /// Decimal year.
    pub time: f64,
    /// Value, positive.
    pub value: f64,
    /// Its name, if stated.
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
    /// Confidence level of every interval.
    pub level: f64,
    /// Unit and direction of the values; absent where they are numbers of a file, which states none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
    /// The fits: of all values, and of the frontier if it has enough records.
    pub fits: Vec<FittedTrend>,
    /// Points outside the window of the fit, compared with the fit to all values.
    pub later: Option<Checked>,
    /// Requested dates at which the line leaves the range of numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beyond: Vec<f64>,
    /// The values of the fit.
    pub data: Vec<Dated>,
    /// Values outside the window.
    pub outside: Vec<Dated>,
}

impl GrowthTrend {
    /// Unit of the values; bare numbers are counts.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.metric.as_ref().map_or(Unit::Count, |metric| metric.unit)
    }
}

/// Values of a fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrendCurve {
    /// The median of all values of a time.
    Median,
    /// The best of each time.
    Frontier,
}

/// One fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FittedTrend {
    /// The fitted values.
    pub curve: TrendCurve,
    /// Number of points.
    pub points: usize,
    /// First and last date of its points: of a frontier, of the records.
    #[serde(default)]
    pub span: (f64, f64),
    /// Date of the last record of a frontier whose growth has ended since: four later values or more, none within the
    /// interval of the line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<f64>,
    /// Growth a year: 0.5 is 50% more each year.
    pub growth: f64,
    /// Years to double, negative for halving; absent when growth is not significant.
    pub doubling: Option<Projection>,
    /// Spread of single values about the line: 1.3 is a factor of 1.3 (one standard deviation).
    pub spread: f64,
    /// A break at an unknown date.
    pub broken: Option<Broken>,
    /// Projections to the requested dates.
    pub projections: Vec<Projection>,
    /// The line with its fan, from the first date to the farthest requested one.
    pub fan: Vec<FanPoint>,
}

/// A value with the interval for one new value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Projection {
    /// Decimal year; of a doubling time, the last date of the fit.
    pub time: f64,
    /// Value of the line.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The same ends if the growth rate may continue to change as it did within the data; absent for a doubling time,
    /// and where too few values show how it changed.
    pub wide: Option<(f64, f64)>,
    /// Distance of the date from the data, in multiples of their span; 0 inside.
    pub extrapolation: f64,
    /// Whether that is more than a third: the growth need not continue so far, which the interval assumes.
    pub out_of_reach: bool,
    /// Actual values within half a year of that time, if the data have some: least and greatest.
    pub came: Option<(f64, f64)>,
}

impl Projection {
    /// Whether the data scatter at all. Values that lie exactly on the line do not show how far one value may lie from
    /// it.
    #[must_use]
    pub fn scatter_is_known(&self) -> bool {
        self.high > self.low * (1.0 + 1e-9)
    }
}

/// One point of the fan.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FanPoint {
    /// Decimal year.
    pub time: f64,
    /// Value of the line.
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
    /// The two dates between which it is.
    pub between: (f64, f64),
    /// p-value of "the growth did not change".
    pub p_value: f64,
    /// Years to double before it, negative for halving; absent without growth.
    pub doubling_before: Option<f64>,
    /// The same after it.
    pub doubling_after: Option<f64>,
    /// Whether the p-value is below 0.05.
    pub significant: bool,
}

/// Later values compared with the fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checked {
    /// Values outside the window of the fit.
    pub points: usize,
    /// Share of them inside the prediction interval.
    pub inside: f64,
    /// The date from which most are outside; absent if there is none.
    pub lost_from: Option<f64>,
    /// Factor by which the fit was too high at the median of the last tenth; below 1, too low.
    pub too_high_at_the_end: f64,
    /// The date of that median.
    pub end: f64,
}
