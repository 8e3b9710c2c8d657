//! Performance per price.

use serde::{Deserialize, Serialize};

/// The mean gain of a machine per price, against the reference's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PerPrice {
    /// Name of the machine.
    pub machine: String,
    /// Its price over the reference's.
    pub price: f64,
    /// Gain over all results divided by the prices; above 1 is more for the money.
    pub value: f64,
    /// Lower end of its interval: that of the mean, since prices are exact; absent where that has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}
