//! Values with a unit and a prefix, for readers.

use model::{Metric, UnitScale, number, significant};

/// A value in words with four digits and the prefix that leaves one to three digits before the point: `16.50 GB/s`,
/// `128.0 ns`; shares of a whole are percentages. MB means 10^6 bytes, MiB 2^20.
#[must_use]
pub fn quantity(value: f64, metric: &Metric) -> String {
    if metric.is_share() {
        return format!("{}%", number(value * 100.0, significant(value * 100.0, 4), false));
    }
    let scale = UnitScale::of(metric.unit, value.abs());
    let value = value / scale.factor;
    format!("{} {}", number(value, significant(value, 4), false), scale.unit).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Unit;

    #[test]
    fn shares_are_percentages() {
        assert_eq!(quantity(0.66284, &Metric::lower(Unit::Ratio, "time")), "66.28%");
        assert_eq!(quantity(0.66284, &Metric::lower(Unit::Ratio, "loads at once")), "0.6628");
    }

    #[test]
    fn prefixes_leave_one_to_three_digits() {
        for (value, unit, words) in [
            (16.5e9, Unit::BytesPerSecond, "16.50 GB/s"),
            (128e-9, Unit::Seconds, "128.0 ns"),
            (0.5e-12, Unit::Seconds, "0.0005000 ns"),
            (90.0, Unit::Seconds, "90.00 s"),
            (0.0, Unit::Seconds, "0.000 s"),
            (178e6, Unit::PerSecond, "178.0 M/s"),
            (0.65, Unit::Ratio, "0.6500"),
            (340.0, Unit::Watts, "340.0 W"),
            (1e20, Unit::Count, "1.00e20"),
        ] {
            assert_eq!(quantity(value, &Metric::lower(unit, "call")), words);
        }
    }
}
