//! The result of a prediction, as plain data.

use model::Metric;
use serde::{Deserialize, Serialize};

use super::interval::IntervalMethod;
use super::method::PredictMethod;

/// An application on machines where it never ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// Name of the application's result.
    pub application: String,
    /// Unit and direction.
    pub metric: Metric,
    /// Machines on which it was measured.
    pub measured_on: Vec<String>,
    /// Number of their models of CPU.
    pub models: usize,
    /// Shares of its behaviour, largest first.
    pub behaves_like: Vec<BehaviourShare>,
    /// Whether its measured footprint was used as a prior.
    pub footprint_used: bool,
    /// One forecast for each requested machine.
    pub forecasts: Vec<Forecast>,
    /// Notes.
    pub notes: Vec<String>,
}

/// A share of the application's behaviour.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BehaviourShare {
    /// Title of the benchmark.
    pub label: String,
    /// Share, 0 to 1.
    pub share: f64,
}

/// Reliability of a forecast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForecastStanding {
    /// Within the range of the benchmarks.
    Sound,
    /// Outside in some respect; the interval was widened.
    Widened,
    /// So far outside that there is no forecast.
    Refused,
}

/// The application on one machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// Name of the machine.
    pub machine: String,
    /// Its model of CPU.
    pub model: String,
    /// Value in the application's unit; absent if refused.
    pub value: Option<f64>,
    /// Lower end of the interval for one measurement there.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Confidence level of the interval.
    pub level: f64,
    /// Method of the interval.
    pub interval: Option<IntervalMethod>,
    /// The methods with a weight of at least 1%, heaviest first.
    pub methods: Vec<(PredictMethod, f64)>,
    /// Errors of that method on models left out of the fit.
    pub error: Option<LeftOutError>,
    /// Columns that were used.
    pub columns: usize,
    /// Its reliability.
    pub standing: ForecastStanding,
    /// Why it was widened or refused.
    pub reasons: Vec<String>,
}

/// Relative errors on models of CPU left out of the fit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LeftOutError {
    /// Median, 0.08 is 8%.
    pub median: f64,
    /// 90th percentile.
    pub worst_tenth: f64,
    /// The same median for scaling by the best single benchmark.
    pub rating_median: Option<f64>,
}
