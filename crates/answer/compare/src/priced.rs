//! Performance per price: a mean gain over the prices.

use super::options::Normalise;
use super::price::PerPrice;
use super::result::{Compared, Comparison, GeometricMean};

impl Comparison {
    /// Sets the performance per price of every machine with a mean gain over all results. `prices` are those of
    /// `machines`, all in one currency for one span of time.
    pub fn set_prices(&mut self, prices: &[f64]) {
        let reference = self.machines.iter().position(|machine| machine.name == self.reference);
        let Some(base) = reference.and_then(|index| prices.get(index)).copied() else { return };
        let mean = |name: &str| -> Option<&GeometricMean> {
            self.geometric_means
                .iter()
                .find(|mean| mean.family.is_none() && mean.machine == name && mean.of == Normalise::Gain)
        };
        let of = |(machine, price): (&Compared, &f64)| {
            let mean = mean(&machine.name).filter(|_| machine.name != self.reference)?;
            let price = price / base;
            let [low, high] = [mean.low, mean.high].map(|end| Some(end? / price));
            Some(PerPrice { machine: machine.name.clone(), price, value: mean.value / price, low, high })
        };
        self.per_price = self.machines.iter().zip(prices).filter_map(of).collect();
    }
}
