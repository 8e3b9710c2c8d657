//! A result as it is compared: as stated, as time at a clock, or raw.

use std::borrow::Cow;

use model::{BenchmarkResult, Estimate, EstimateMethod, Metric, Outcome, ValueBasis};

/// A result on one basis.
#[derive(Debug, Clone)]
pub(crate) struct ResultView<'a> {
    pub(crate) metric: &'a Metric,
    pub(crate) outcome: Cow<'a, Outcome>,
    /// Values of its samples, in time order.
    pub(crate) values: Vec<f64>,
    /// Possible error of its source's last digit, as a logarithm; 0 for measured values. Samples printed with few
    /// digits agree with each other although all have the same error.
    pub(crate) rounding: f64,
}

/// Half a unit in the last digit of a result's value, as a logarithm.
fn rounding(result: &BenchmarkResult) -> f64 {
    result.rounding.map_or(0.0, |relative| -(1.0 - relative.clamp(0.0, 0.999)).ln())
}

impl<'a> ResultView<'a> {
    /// As the document states it.
    pub(crate) fn stated(result: &'a BenchmarkResult) -> Self {
        let outcome = Cow::Borrowed(&result.outcome);
        Self { metric: &result.metric, outcome, values: result.values(), rounding: rounding(result) }
    }

    /// A core result as time at a clock; any other as it is stated.
    pub(crate) fn at(result: &'a BenchmarkResult, hertz: f64) -> Self {
        let factor = factor_at(result, hertz);
        Self::stated(result).scaled(factor)
    }

    /// Every value times a factor above 0.
    pub(crate) fn scaled(mut self, factor: f64) -> Self {
        if factor != 1.0 {
            self.outcome.to_mut().scale(factor);
            self.values.iter_mut().for_each(|value| *value *= factor);
        }
        self
    }

    /// All batches of all raw samples.
    pub(crate) fn raw(result: &'a BenchmarkResult) -> Self {
        let (ValueBasis::Cycles | ValueBasis::Clean, Outcome::Measured(stated)) = (result.basis(), &result.outcome)
        else {
            return Self::stated(result);
        };
        let values: Vec<f64> = result.raw_samples().into_iter().map(|sample| sample.value).collect();
        let recorded = result.sensors.as_ref().and_then(|sensors| sensors.raw);
        let estimate = recorded.unwrap_or_else(|| median_of(&values, stated));
        let outcome = Cow::Owned(Outcome::Measured(estimate));
        Self { metric: &result.metric, outcome, values, rounding: rounding(result) }
    }
}

/// Factor from the clock of a core result to another one; 1 for other results.
pub(crate) fn factor_at(result: &BenchmarkResult, hertz: f64) -> f64 {
    let stated = result.sensors.as_ref().and_then(|sensors| sensors.clock);
    match stated.filter(|_| *result.basis() == ValueBasis::Cycles) {
        Some(stated) => result.metric.at_clock(1.0, hertz) / result.metric.at_clock(1.0, stated),
        None => 1.0,
    }
}

fn median_of(values: &[f64], stated: &Estimate) -> Estimate {
    let Some(value) = stats::median(values) else { return Estimate::without_spread(stated.value) };
    match stats::serial_median_interval(values, 0.95) {
        Some(found) => found.estimate(values.len(), stated.batches, EstimateMethod::OrderStatistic),
        None => Estimate::without_spread(value),
    }
}
