//! A quantity formats itself: prefix, digits and interval are decided in one place, from the quantity alone, so that one
//! result looks the same wherever it is printed.
//!
//! The interval determines the digits, as in the Guide to the Expression of Uncertainty in Measurement (JCGM 100:2008,
//! 7.2.6). The half-width has one digit, or two if it begins with a 1, and the value ends at the same decimal.

use std::borrow::Cow;

use model::{Estimate, EstimateMethod, Metric, Unit, UnitScale, exponent, number, significant};
use serde::Serialize;

/// Meaning of a quantity's ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PrintedSpread {
    /// A confidence interval at the usual level of 95% or above.
    Interval,
    /// A confidence interval at a lower level, in whole percents, rounded down.
    IntervalAt {
        /// The level.
        percent: u8,
    },
    /// The least and the greatest of a few executions, or of too few samples for an interval.
    Range,
    /// The ends that another program stated.
    Stated,
    /// No spread is known.
    Unknown,
    /// It was rounded for print already: all of its digits are meant.
    Rounded,
}

/// A value with its ends and unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PrintedQuantity {
    /// Value in the base unit.
    pub value: f64,
    /// Lower end in the base unit.
    pub low: f64,
    /// Upper end in the base unit.
    pub high: f64,
    /// Base unit.
    pub unit: Unit,
    /// Meaning of the ends.
    pub spread: PrintedSpread,
    /// Whether it is a share of a whole, printed as a percentage.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub share: bool,
    /// What a rate counts a second of: `files`; empty if unknown.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub counted: &'static str,
}

/// The level in the headings of columns; a cell with a lower one shows its own.
const DEFAULT_LEVEL: f64 = 0.95;

impl PrintedQuantity {
    /// The quantity of an estimate.
    #[must_use]
    pub fn of(estimate: &Estimate, unit: Unit) -> Self {
        let spread = match estimate.method {
            _ if estimate.is_range() => PrintedSpread::Range,
            EstimateMethod::Stated if estimate.level <= 0.0 && estimate.low < estimate.high => PrintedSpread::Stated,
            _ if estimate.has_spread() && estimate.level < DEFAULT_LEVEL - 1e-9 => {
                PrintedSpread::IntervalAt { percent: (100.0 * estimate.level + 1e-9) as u8 }
            }
            EstimateMethod::Stated if estimate.level > 0.0 => PrintedSpread::Stated,
            _ if estimate.has_spread() => PrintedSpread::Interval,
            _ => PrintedSpread::Unknown,
        };
        Self::new(estimate.value, estimate.low, estimate.high, unit, spread)
    }

    const fn new(value: f64, low: f64, high: f64, unit: Unit, spread: PrintedSpread) -> Self {
        Self { value, low, high, unit, spread, share: false, counted: "" }
    }

    /// A value without a known spread.
    #[must_use]
    pub const fn bare(value: f64, unit: Unit) -> Self {
        Self::new(value, value, value, unit, PrintedSpread::Unknown)
    }

    /// A value of which every digit is printed.
    #[must_use]
    pub const fn rounded(value: f64, unit: Unit) -> Self {
        Self::new(value, value, value, unit, PrintedSpread::Rounded)
    }

    /// A value with its interval.
    #[must_use]
    pub const fn interval(value: f64, low: f64, high: f64, unit: Unit) -> Self {
        Self::new(value, low, high, unit, PrintedSpread::Interval)
    }

    /// A ratio with its interval.
    #[must_use]
    pub const fn ratio(value: f64, low: f64, high: f64) -> Self {
        Self::interval(value, low, high, Unit::Ratio)
    }

    /// A ratio with its interval, if it has one.
    #[must_use]
    pub fn ratio_with(value: f64, ends: Option<(f64, f64)>) -> Self {
        ends.map_or_else(|| Self::bare(value, Unit::Ratio), |(low, high)| Self::ratio(value, low, high))
    }

    /// The same as a value of a metric, whose shares are percentages and whose rates say what they count.
    #[must_use]
    pub fn in_metric(mut self, metric: &Metric) -> Self {
        self.share = metric.is_share();
        self.counted = metric.counted();
        self
    }

    /// The prefix that suits the value, or its ends where the value is zero.
    fn scale(&self) -> UnitScale {
        let ends = || [self.low, self.high].into_iter().map(f64::abs).filter(|x| x.is_finite()).fold(0.0, f64::max);
        let magnitude = if self.value == 0.0 || !self.value.is_finite() { ends() } else { self.value.abs() };
        match self.unit {
            _ if self.share => UnitScale { factor: 0.01, unit: Cow::Borrowed("%") },
            Unit::PerSecond => UnitScale::of_rate(self.counted, magnitude),
            unit => UnitScale::of(unit, magnitude),
        }
    }

    /// A remark on the ends: their own level, or that they are the smallest and the largest sample.
    #[must_use]
    pub fn ends_note(&self) -> Option<String> {
        match self.spread {
            PrintedSpread::IntervalAt { percent } => Some(format!("at\u{a0}{percent}%")),
            PrintedSpread::Range => Some("min–max".to_owned()),
            PrintedSpread::Interval | PrintedSpread::Stated | PrintedSpread::Unknown | PrintedSpread::Rounded => None,
        }
    }

    /// Whether the ends differ in meaning from the value alone.
    #[must_use]
    pub fn has_interval(&self) -> bool {
        !matches!(self.spread, PrintedSpread::Unknown | PrintedSpread::Rounded)
    }

    /// Digits of value and ends with the prefix that suits the value.
    #[must_use]
    pub fn digits(&self) -> Digits {
        let scale = self.scale();
        let at = |x: f64| x / scale.factor;
        let (value, low, high) = (at(self.value), at(self.low), at(self.high));
        let trim = !self.has_interval();
        // A quotient of values without spread gets no more digits than such values usually have.
        let bare = trim && self.unit == Unit::Ratio;
        // Of things that are counted there are no parts.
        let few = |number: &f64| number.fract() == 0.0 && number.abs() < 1e5;
        let whole = !trim && self.unit == Unit::Count && [value, low, high].iter().all(few);
        let fitted = if self.spread == PrintedSpread::Rounded {
            significant(value, 5).max(0)
        } else if bare {
            significant(value, LEAST_DIGITS)
        } else if whole {
            0
        } else {
            decimals(value, low, high)
        };
        // An end far beyond the value has no decimals that its size makes meaningless.
        let whole = exponent(value.abs().max(f64::MIN_POSITIVE)).saturating_add(1);
        let digits = fitted.saturating_add(whole).clamp(LEAST_DIGITS + 1, MOST_DIGITS);
        let end = |x: f64| number(x, fitted.min(significant(x, digits).max(fitted.min(0))), trim);
        Digits { value: number(value, fitted, trim), low: end(low), high: end(high), unit: scale.unit }
    }

    /// The value with a prefix of its own: `24.4 GB/s`, joined by a no-break space.
    #[must_use]
    pub fn text(&self) -> String {
        let digits = self.digits();
        with_unit(&digits.value, &digits.unit)
    }

    /// The value and its interval: `24.4 GB/s (24.1 – 24.6)`.
    #[must_use]
    pub fn text_with_interval(&self) -> String {
        if !self.has_interval() {
            return self.text();
        }
        let digits = self.digits();
        let note = self.ends_note().map(|note| format!(", {note}")).unwrap_or_default();
        format!("{} ({}\u{a0}–\u{a0}{}{note})", with_unit(&digits.value, &digits.unit), digits.low, digits.high)
    }

    /// The value alone with at most three digits, for sentences: `2.7 µs`.
    #[must_use]
    pub fn short(&self) -> String {
        let scale = self.scale();
        let value = self.value / scale.factor;
        with_unit(&number(value, significant(value, 3), true), &scale.unit)
    }
}

fn with_unit(number: &str, unit: &str) -> String {
    format!("{number}{}{unit}", unit_gap(unit))
}

/// The space between a number and its unit: none before a percent sign.
pub(crate) fn unit_gap(unit: &str) -> &'static str {
    if unit.is_empty() || unit.starts_with('%') { "" } else { "\u{a0}" }
}

/// The numbers of a quantity as text, with the same prefix and decimals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digits {
    /// The value.
    pub value: String,
    /// Lower end.
    pub low: String,
    /// Upper end.
    pub high: String,
    /// Unit with its prefix.
    pub unit: Cow<'static, str>,
}

const LEAST_DIGITS: i32 = 3;
const MOST_DIGITS: i32 = 6;

/// Decimals that an interval supports; negative numbers round to tens, hundreds, thousands.
fn decimals(value: f64, low: f64, high: f64) -> i32 {
    let half = (high - low) / 2.0;
    if !half.is_finite() || half <= 0.0 {
        return significant(value, 5);
    }
    let exponent = exponent(half);
    let leading = half / 10f64.powi(exponent);
    let wanted = -exponent + i32::from(leading < 1.95);
    wanted.clamp(significant(value, LEAST_DIGITS), significant(value, MOST_DIGITS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(value: f64, low: f64, high: f64, unit: Unit) -> String {
        PrintedQuantity::interval(value, low, high, unit).text_with_interval().replace('\u{a0}', " ")
    }

    #[test]
    fn the_interval_determines_the_digits() {
        assert_eq!(shown(24.42e9, 24.11e9, 24.61e9, Unit::BytesPerSecond), "24.4 GB/s (24.1 – 24.6)");
        assert_eq!(shown(131.2e-9, 129.1e-9, 133.2e-9, Unit::Seconds), "131 ns (129 – 133)");
        assert_eq!(shown(0.98e-6, 0.9701e-6, 1.001e-6, Unit::Seconds), "980 ns (970 – 1001)");
        assert_eq!(shown(178_213.0, 151_090.0, 203_400.0, Unit::PerSecond), "178000 /s (151000 – 203000)");
        assert_eq!(shown(1.337, 1.281, 1.393, Unit::Ratio), "1.34 (1.28 – 1.39)");
        assert_eq!(shown(128.02e-9, 127.95e-9, 128.11e-9, Unit::Seconds), "128.02 ns (127.95 – 128.11)");
        assert_eq!(
            shown(2.0 * 1024.0 * 1024.0, 1.9 * 1048576.0, 2.1 * 1048576.0, Unit::Bytes),
            "2.00 MiB (1.90 – 2.10)"
        );
        // The value decides the prefix, however far its ends are.
        assert_eq!(shown(60e-6, 34e-6, 1866.7e-6, Unit::Seconds), "60.0 µs (34.0 – 1867)");
        assert_eq!(shown(0.0, 0.0, 3.1e-6, Unit::Seconds), "0.00 µs (0.00 – 3.10)");
    }

    #[test]
    fn counts_have_no_decimals() {
        assert_eq!(shown(4.0, 4.0, 4.0, Unit::Count), "4 (4 – 4)");
        assert_eq!(shown(4.0, 3.0, 5.0, Unit::Count), "4 (3 – 5)");
        assert_eq!(shown(5.89, 5.81, 6.01, Unit::Count), "5.89 (5.81 – 6.01)", "a mean of counts");
    }

    #[test]
    fn ends_below_the_usual_level_show_their_level() {
        let of = |level, method| {
            let (value, low, high) = (24.42e9, 24.11e9, 24.61e9);
            let estimate = Estimate { value, low, high, level, samples: 8, batches: 20, method };
            PrintedQuantity::of(&estimate, Unit::BytesPerSecond).text_with_interval().replace('\u{a0}', " ")
        };
        assert_eq!(of(0.971, EstimateMethod::OrderStatistic), "24.4 GB/s (24.1 – 24.6)");
        assert_eq!(of(0.9499, EstimateMethod::OrderStatistic), "24.4 GB/s (24.1 – 24.6, at 94%)");
        assert_eq!(of(0.90, EstimateMethod::Propagated), "24.4 GB/s (24.1 – 24.6, at 90%)");
        for level in [0.0, 0.5, 0.899] {
            assert_eq!(of(level, EstimateMethod::PairedOrderStatistic), "24.4 GB/s (24.1 – 24.6, min–max)");
            assert_eq!(of(level, EstimateMethod::Range), "24.4 GB/s (24.1 – 24.6, min–max)");
        }
        assert_eq!(of(0.68, EstimateMethod::Stated), "24.4 GB/s (24.1 – 24.6, at 68%)");
        assert_eq!(of(0.0, EstimateMethod::Stated), "24.4 GB/s (24.1 – 24.6)");
        assert_eq!(of(0.0, EstimateMethod::None), "24.4 GB/s");
    }

    #[test]
    fn a_value_without_spread_keeps_its_digits() {
        let shown = |value, unit| PrintedQuantity::bare(value, unit).text().replace('\u{a0}', " ");
        assert_eq!(shown(24.5e6, Unit::BytesPerSecond), "24.5 MB/s");
        assert_eq!(shown(1.06e-3, Unit::Seconds), "1.06 ms");
        assert_eq!(shown(0.0, Unit::Seconds), "0 s");
        assert_eq!(shown(12_345_678.0, Unit::Count), "12346000");
        let rounded = |value| PrintedQuantity::rounded(value, Unit::Count).text().replace('\u{a0}', " ");
        assert_eq!((rounded(12_345_678.0), rounded(5.823)), ("12345678".to_owned(), "5.823".to_owned()));
    }

    #[test]
    fn modes_and_bounds_are_short() {
        assert_eq!(PrintedQuantity::bare(2.7e-6, Unit::Seconds).short(), "2.7\u{a0}µs");
        assert_eq!(PrintedQuantity::bare(63.04e-6, Unit::Seconds).short(), "63\u{a0}µs");
    }

    #[test]
    fn shares_are_percentages() {
        let time = Metric::lower(Unit::Ratio, "time");
        let share = |value, low, high| {
            let quantity = PrintedQuantity::ratio(value, low, high).in_metric(&time);
            quantity.text_with_interval().replace('\u{a0}', " ")
        };
        assert_eq!(share(0.663, 0.175, 1.0), "66.3% (17.5 – 100.0)");
        assert_eq!(share(0.00365, 0.0, 0.0121), "0.365% (0.000 – 1.210)");
        assert_eq!(PrintedQuantity::bare(0.457, Unit::Ratio).in_metric(&time).text(), "45.7%");
        let chains = Metric::higher(Unit::Ratio, "loads at once");
        assert_eq!(PrintedQuantity::bare(5.89, Unit::Ratio).in_metric(&chains).text(), "5.89");
    }

    #[test]
    fn nothing_panics() {
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1e300, -1e300, 1e-320, f64::MAX, 5e-324];
        for value in odd {
            for low in odd {
                for high in odd {
                    for unit in [Unit::Seconds, Unit::PerSecond, Unit::Bytes, Unit::Ratio, Unit::Joules] {
                        let text = shown(value, low, high, unit);
                        assert!(!text.is_empty() && text.len() < 100, "{text}");
                    }
                }
            }
        }
        assert_eq!(number(-0.0001, 2, false), "0.00");
        assert_eq!(number(-1.25, 1, false), "−1.2");
    }
}
