//! Performance per price: a mean gain over the prices.

use serde::{Deserialize, Serialize};

use super::{Comparison, GeometricMean, Normalise};

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

impl Comparison {
    /// Sets the performance per price of every machine with a mean gain over all figures. `prices` are those of
    /// `machines`, all in one currency for one span of time.
    pub fn set_prices(&mut self, prices: &[f64]) {
        let reference = self.machines.iter().position(|machine| machine.name == self.reference);
        let Some(base) = reference.and_then(|index| prices.get(index)).copied() else { return };
        let mean = |name: &str| -> Option<&GeometricMean> {
            self.geometric_means
                .iter()
                .find(|mean| mean.family.is_none() && mean.machine == name && mean.of == Normalise::Gain)
        };
        let of = |(machine, price): (&super::Compared, &f64)| {
            let mean = mean(&machine.name).filter(|_| machine.name != self.reference)?;
            let price = price / base;
            let (value, low, high) = (mean.value / price, mean.low / price, mean.high / price);
            Some(PerPrice { machine: machine.name.clone(), price, value, low, high, level: mean.level })
        };
        self.per_price = self.machines.iter().zip(prices).filter_map(of).collect();
    }
}
