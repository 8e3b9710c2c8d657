//! Performance per price.

use serde::{Deserialize, Serialize};

/// The mean gain of a machine per price, against the reference's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PerPrice {
    /// Name of the machine.
    pub machine: String,
    /// Its price over the reference's.
    pub price: f64,
    /// Gain over all figures divided by the prices; above 1 is more for the money.
    pub value: f64,
    /// Lower end of its interval: that of the mean, since prices are exact.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Confidence level of the interval; 0 when the spread of a figure is unknown.
    pub level: f64,
}
