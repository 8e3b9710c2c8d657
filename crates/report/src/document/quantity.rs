//! A quantity formats itself: prefix, digits and interval in one place.
//!
//! The interval decides the digits, as in the Guide to the Expression of Uncertainty in Measurement (JCGM 100:2008,
//! 7.2.6): the half-width keeps one digit, or two when it begins with a 1, and the value ends at the same decimal.

use model::{Estimate, EstimateMethod, Unit};
use serde::Serialize;

/// What is known about the spread of a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PrintedSpread {
    /// The ends are an interval of confidence at the usual level of 95% or above.
    Interval,
    /// The ends are an interval of confidence at a level of its own, which is lower: whole percents, rounded down.
    IntervalAt {
        /// The level.
        percent: u8,
    },
    /// The ends are the least and the greatest of a few executions, or of too few launches for an interval.
    Range,
    /// The ends are as another program states them.
    Stated,
    /// Nobody stated a spread.
    Unknown,
}

/// A value with its ends and unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PrintedQuantity {
    /// In the base unit.
    pub value: f64,
    /// Lower end, in the base unit.
    pub low: f64,
    /// Upper end, in the base unit.
    pub high: f64,
    /// Base unit.
    pub unit: Unit,
    /// What the ends are.
    pub spread: PrintedSpread,
}

/// The level that heads of columns promise; a cell below it says its own.
const USUAL_LEVEL: f64 = 0.95;

impl PrintedQuantity {
    /// The quantity of an estimate.
    #[must_use]
    pub fn of(estimate: &Estimate, unit: Unit) -> Self {
        let spread = match estimate.method {
            _ if estimate.is_range() => PrintedSpread::Range,
            EstimateMethod::Stated if estimate.level <= 0.0 && estimate.low < estimate.high => PrintedSpread::Stated,
            _ if estimate.has_spread() && estimate.level < USUAL_LEVEL - 1e-9 => {
                PrintedSpread::IntervalAt { percent: (100.0 * estimate.level + 1e-9) as u8 }
            }
            EstimateMethod::Stated if estimate.level > 0.0 => PrintedSpread::Stated,
            _ if estimate.has_spread() => PrintedSpread::Interval,
            _ => PrintedSpread::Unknown,
        };
        Self { value: estimate.value, low: estimate.low, high: estimate.high, unit, spread }
    }

    /// A value of which no spread is known.
    #[must_use]
    pub const fn bare(value: f64, unit: Unit) -> Self {
        Self { value, low: value, high: value, unit, spread: PrintedSpread::Unknown }
    }

    /// A ratio with its interval.
    #[must_use]
    pub const fn ratio(value: f64, low: f64, high: f64) -> Self {
        Self { value, low, high, unit: Unit::Ratio, spread: PrintedSpread::Interval }
    }

    /// Size of the largest of its numbers, 0 when none is finite.
    #[must_use]
    pub fn magnitude(&self) -> f64 {
        [self.value, self.low, self.high].into_iter().map(f64::abs).filter(|x| x.is_finite()).fold(0.0, f64::max)
    }

    /// What must be said of the ends beside them: a level of their own, or that they are a range.
    #[must_use]
    pub fn ends_note(&self) -> Option<String> {
        match self.spread {
            PrintedSpread::IntervalAt { percent } => Some(format!("at\u{a0}{percent}%")),
            PrintedSpread::Range => Some("range".to_owned()),
            PrintedSpread::Interval | PrintedSpread::Stated | PrintedSpread::Unknown => None,
        }
    }

    /// Whether the ends say something that the value does not.
    #[must_use]
    pub fn has_interval(&self) -> bool {
        self.spread != PrintedSpread::Unknown
    }

    /// Digits of value and ends in a prefix.
    #[must_use]
    pub fn digits(&self, scale: UnitScale) -> Digits {
        let at = |x: f64| x / scale.factor;
        let (value, low, high) = (at(self.value), at(self.low), at(self.high));
        let trim = !self.has_interval();
        // A quotient of values without spread deserves no more digits than such values usually have.
        let bare = trim && self.unit == Unit::Ratio;
        let fitted = if bare { significant(value, LEAST_DIGITS) } else { decimals(value, low, high) };
        Digits {
            value: number(value, fitted, trim),
            low: number(low, fitted, trim),
            high: number(high, fitted, trim),
            unit: scale.unit,
        }
    }

    /// The value in words with a prefix of its own: `24.4 GB/s`. A no-break space holds it together.
    #[must_use]
    pub fn text(&self) -> String {
        let digits = self.digits(UnitScale::of(self.unit, self.magnitude()));
        with_unit(&digits.value, digits.unit)
    }

    /// Value and interval in words: `24.4 GB/s (24.1 – 24.6)`.
    #[must_use]
    pub fn text_with_interval(&self) -> String {
        if !self.has_interval() {
            return self.text();
        }
        let digits = self.digits(UnitScale::of(self.unit, self.magnitude()));
        let note = self.ends_note().map(|note| format!(", {note}")).unwrap_or_default();
        format!("{} ({}\u{a0}–\u{a0}{}{note})", with_unit(&digits.value, digits.unit), digits.low, digits.high)
    }

    /// The value alone with at most three digits, for sentences: `2.7 µs`.
    #[must_use]
    pub fn short(&self) -> String {
        let scale = UnitScale::of(self.unit, self.value.abs());
        let value = self.value / scale.factor;
        with_unit(&number(value, significant(value, 3), true), scale.unit)
    }
}

fn with_unit(number: &str, unit: &str) -> String {
    if unit.is_empty() { number.to_owned() } else { format!("{number}\u{a0}{unit}") }
}

/// A quantity's numbers as text, in one prefix and with the same decimals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digits {
    /// The value.
    pub value: String,
    /// Lower end.
    pub low: String,
    /// Upper end.
    pub high: String,
    /// Unit with its prefix.
    pub unit: &'static str,
}

/// A unit with its prefix. MB is 10^6 bytes, MiB 2^20.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnitScale {
    /// Base units in one of it.
    pub factor: f64,
    /// Its symbol.
    pub unit: &'static str,
}

impl UnitScale {
    /// The largest prefix that does not exceed a magnitude.
    #[must_use]
    pub fn of(unit: Unit, magnitude: f64) -> Self {
        const KIB: f64 = 1024.0;
        let steps: &[(f64, &'static str)] = match unit {
            Unit::Seconds => &[(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")],
            Unit::BytesPerSecond => &[(1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")],
            Unit::PerSecond => &[(1e9, "G/s"), (1e6, "M/s"), (1.0, "/s")],
            Unit::Hertz => &[(1e9, "GHz"), (1e6, "MHz"), (1e3, "kHz"), (1.0, "Hz")],
            Unit::Bytes => &[
                (KIB * KIB * KIB * KIB, "TiB"),
                (KIB * KIB * KIB, "GiB"),
                (KIB * KIB, "MiB"),
                (KIB, "KiB"),
                (1.0, "B"),
            ],
            Unit::Count | Unit::Ratio => &[(1.0, "")],
            Unit::Watts => &[(1e3, "kW"), (1.0, "W"), (1e-3, "mW")],
            Unit::Joules => &[(1e3, "kJ"), (1.0, "J"), (1e-3, "mJ"), (1e-6, "µJ"), (1e-9, "nJ")],
        };
        // Half a unit in the last of six digits, so that what prints as 1000 ns is called 1.000 µs.
        let fits = |factor: f64| magnitude >= factor * 0.999_999_5;
        let base = *steps.iter().find(|(factor, _)| *factor == 1.0).unwrap_or(&steps[0]);
        let (factor, unit) = if magnitude == 0.0 {
            base
        } else {
            *steps.iter().find(|(factor, _)| fits(*factor)).unwrap_or(&steps[steps.len() - 1])
        };
        Self { factor, unit }
    }
}

const LEAST_DIGITS: i32 = 3;
const MOST_DIGITS: i32 = 6;

/// Decimals that an interval supports; negative ones round to tens, hundreds, thousands.
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

/// Decimals at which a value has so many significant digits.
fn significant(value: f64, digits: i32) -> i32 {
    if value == 0.0 || !value.is_finite() { digits - 1 } else { digits - 1 - exponent(value.abs()) }
}

fn exponent(positive: f64) -> i32 {
    // log10 of a positive finite number lies within -324..=309.
    #[expect(clippy::cast_possible_truncation, reason = "bounded by the exponents of f64")]
    let exponent = positive.log10().floor() as i32;
    exponent
}

/// A number in plain notation with grouped thousands; in powers of ten where plain notation would be unreadable.
fn number(value: f64, decimals: i32, trim: bool) -> String {
    if value.is_nan() {
        return "not a number".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "infinite" } else { "minus infinite" }.to_owned();
    }
    let size = value.abs();
    if size >= 1e9 || (size > 0.0 && size < 1e-5) {
        return format!("{value:.2e}").replace('-', "−");
    }
    let places = usize::try_from(decimals.clamp(0, 9)).unwrap_or(0);
    let step = 10f64.powi((-decimals).max(0));
    let mut text = format!("{:.places$}", (size / step).round_ties_even() * step);
    if decimals > 0 {
        text = format!("{size:.places$}");
    }
    if trim && text.contains('.') {
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    }
    let zero = text.chars().all(|c| matches!(c, '0' | '.'));
    format!("{}{}", if value < 0.0 && !zero { "−" } else { "" }, grouped(&text))
}

/// Groups of three digits before the point, from five digits on, parted by no-break spaces.
fn grouped(text: &str) -> String {
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    if whole.len() < 5 {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 4);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            out.push('\u{a0}');
        }
        out.push(digit);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(value: f64, low: f64, high: f64, unit: Unit) -> String {
        PrintedQuantity { value, low, high, unit, spread: PrintedSpread::Interval }
            .text_with_interval()
            .replace('\u{a0}', " ")
    }

    #[test]
    fn the_interval_decides_the_digits() {
        assert_eq!(shown(24.42e9, 24.11e9, 24.61e9, Unit::BytesPerSecond), "24.4 GB/s (24.1 – 24.6)");
        assert_eq!(shown(131.2e-9, 129.1e-9, 133.2e-9, Unit::Seconds), "131 ns (129 – 133)");
        assert_eq!(shown(0.98e-6, 0.9701e-6, 1.001e-6, Unit::Seconds), "0.980 µs (0.970 – 1.001)");
        assert_eq!(shown(178_213.0, 151_090.0, 203_400.0, Unit::PerSecond), "178 000 /s (151 000 – 203 000)");
        assert_eq!(shown(1.337, 1.281, 1.393, Unit::Ratio), "1.34 (1.28 – 1.39)");
        assert_eq!(shown(128.02e-9, 127.95e-9, 128.11e-9, Unit::Seconds), "128.02 ns (127.95 – 128.11)");
        assert_eq!(
            shown(2.0 * 1024.0 * 1024.0, 1.9 * 1048576.0, 2.1 * 1048576.0, Unit::Bytes),
            "2.00 MiB (1.90 – 2.10)"
        );
    }

    #[test]
    fn ends_below_the_usual_level_say_what_they_are() {
        let of = |level, method| {
            let (value, low, high) = (24.42e9, 24.11e9, 24.61e9);
            let estimate = Estimate { value, low, high, level, launches: 8, batches: 20, method };
            PrintedQuantity::of(&estimate, Unit::BytesPerSecond).text_with_interval().replace('\u{a0}', " ")
        };
        assert_eq!(of(0.971, EstimateMethod::OrderStatistic), "24.4 GB/s (24.1 – 24.6)");
        assert_eq!(of(0.9499, EstimateMethod::OrderStatistic), "24.4 GB/s (24.1 – 24.6, at 94%)");
        assert_eq!(of(0.90, EstimateMethod::Propagated), "24.4 GB/s (24.1 – 24.6, at 90%)");
        for level in [0.0, 0.5, 0.899] {
            assert_eq!(of(level, EstimateMethod::PairedOrderStatistic), "24.4 GB/s (24.1 – 24.6, range)");
            assert_eq!(of(level, EstimateMethod::Range), "24.4 GB/s (24.1 – 24.6, range)");
        }
        assert_eq!(of(0.68, EstimateMethod::Stated), "24.4 GB/s (24.1 – 24.6, at 68%)");
        assert_eq!(of(0.0, EstimateMethod::Stated), "24.4 GB/s (24.1 – 24.6)");
        assert_eq!(of(0.0, EstimateMethod::None), "24.4 GB/s");
    }

    #[test]
    fn a_value_without_spread_keeps_the_digits_that_it_has() {
        let shown = |value, unit| PrintedQuantity::bare(value, unit).text().replace('\u{a0}', " ");
        assert_eq!(shown(24.5e6, Unit::BytesPerSecond), "24.5 MB/s");
        assert_eq!(shown(1.06e-3, Unit::Seconds), "1.06 ms");
        assert_eq!(shown(0.0, Unit::Seconds), "0 s");
        assert_eq!(shown(12_345_678.0, Unit::Count), "12 346 000");
    }

    #[test]
    fn prefixes_change_where_three_digits_end() {
        assert_eq!(UnitScale::of(Unit::Seconds, 999e-9).unit, "ns");
        assert_eq!(UnitScale::of(Unit::Seconds, 0.99999999e-6).unit, "µs");
        assert_eq!(UnitScale::of(Unit::Seconds, 1e-30).unit, "ns");
        assert_eq!(UnitScale::of(Unit::BytesPerSecond, 1e9).unit, "GB/s");
        assert_eq!(UnitScale::of(Unit::Bytes, 1048576.0).unit, "MiB");
        assert_eq!(UnitScale::of(Unit::Seconds, f64::NAN).unit, "ns");
    }

    #[test]
    fn modes_and_bounds_are_short() {
        assert_eq!(PrintedQuantity::bare(2.7e-6, Unit::Seconds).short(), "2.7\u{a0}µs");
        assert_eq!(PrintedQuantity::bare(63.04e-6, Unit::Seconds).short(), "63\u{a0}µs");
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
