//! Units of printed tables.

use model::{Estimate, Unit};

use crate::PrintedQuantity;

/// A unit of a printed table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrintedUnit {
    /// As printed, such as `MB/s` or `lps`.
    pub name: &'static str,
    /// Its base unit.
    pub base: Unit,
    /// Its size in base units.
    pub factor: f64,
}

impl PrintedUnit {
    /// A unit.
    #[must_use]
    pub const fn new(name: &'static str, base: Unit, factor: f64) -> Self {
        Self { name, base, factor }
    }

    /// Converts a value of a base unit; a time for one operation becomes operations a second if the table counts those.
    /// `None` if the units are incompatible.
    #[must_use]
    pub fn of(self, value: f64, unit: Unit) -> Option<f64> {
        match (unit, self.base) {
            (from, to) if from == to => Some(value / self.factor),
            (Unit::Seconds, Unit::PerSecond) | (Unit::PerSecond, Unit::Seconds) => Some(1.0 / value / self.factor),
            _ => None,
        }
    }

    /// An estimate in this unit, as a number without a prefix: the unit is in the heading.
    pub(super) fn quantity(self, estimate: &Estimate, unit: Unit) -> Option<PrintedQuantity> {
        let [value, one, other] =
            [estimate.value, estimate.low, estimate.high].map(|end| self.of(end, unit).unwrap_or(f64::NAN));
        let known = self.of(estimate.value, unit).is_some();
        let plain = PrintedQuantity::of(estimate, unit);
        known.then(|| PrintedQuantity { value, low: one.min(other), high: one.max(other), unit: Unit::Count, ..plain })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_become_rates_and_their_ends_are_swapped() {
        let loops = PrintedUnit::new("lps", Unit::PerSecond, 1.0);
        let estimate = Estimate { low: 0.004, high: 0.008, ..Estimate::without_spread(0.005) };
        let quantity = loops.quantity(&estimate, Unit::Seconds).unwrap();
        assert_eq!((quantity.low, quantity.value, quantity.high), (125.0, 200.0, 250.0));
        let minutes = PrintedUnit::new("lpm", Unit::PerSecond, 1.0 / 60.0);
        assert!((minutes.of(2.0, Unit::PerSecond).unwrap() - 120.0).abs() < 1e-9);
        assert!(loops.of(1.0, Unit::Bytes).is_none());
    }
}
