//! What a prediction found, as plain data.

use model::Metric;
use serde::{Deserialize, Serialize};

use super::interval::IntervalMethod;
use super::method::PredictMethod;

/// An application on machines where it never ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// Name of the application's figure.
    pub application: String,
    /// Unit and direction.
    pub metric: Metric,
    /// Machines on which it was measured.
    pub measured_on: Vec<String>,
    /// How many models of CPU those are.
    pub models: usize,
    /// What it behaves like, largest share first.
    pub behaves_like: Vec<BehaviourShare>,
    /// Whether its measured footprint was used as a prior.
    pub footprint_used: bool,
    /// One a machine asked for.
    pub forecasts: Vec<Forecast>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// A share of what the application behaves like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BehaviourShare {
    /// What people call the probe.
    pub label: String,
    /// Share, 0 to 1.
    pub share: f64,
}

/// Whether a forecast may be leant on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForecastStanding {
    /// Inside what the probes saw.
    Sound,
    /// Outside in some way; the interval was widened.
    Widened,
    /// So far outside that there is no answer.
    Refused,
}

/// The application on one machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// Name of the machine.
    pub machine: String,
    /// Its model of CPU.
    pub model: String,
    /// Value in the application's unit; absent where refused.
    pub value: Option<f64>,
    /// Lower end of the interval for one measurement there.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Confidence of the interval.
    pub level: f64,
    /// Where the interval comes from.
    pub interval: Option<IntervalMethod>,
    /// How it was predicted: the methods that weigh at least 1%, heaviest first, with their weights.
    pub methods: Vec<(PredictMethod, f64)>,
    /// Errors of that method on models that it never saw.
    pub error: Option<LeftOutError>,
    /// Columns that were used.
    pub columns: usize,
    /// Whether it may be leant on.
    pub standing: ForecastStanding,
    /// Why it was widened or refused.
    pub reasons: Vec<String>,
}

/// Relative errors on models of CPU that the fit never saw.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LeftOutError {
    /// Median, 0.08 is 8%.
    pub median: f64,
    /// 90th percentile.
    pub worst_tenth: f64,
    /// The same median for scaling by the best single probe.
    pub rating_median: Option<f64>,
}
