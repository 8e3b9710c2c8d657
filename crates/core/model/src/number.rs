//! Display of numbers: prefixes of units and significant digits.

use std::borrow::Cow;

use crate::Unit;

/// Longest noun in a unit, in bytes. A longer one would leave no room for the number.
const LONGEST_NOUN: usize = 24;

/// A unit with its prefix. MB is 10^6 bytes, MiB 2^20.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitScale {
    /// Its size in base units.
    pub factor: f64,
    /// Its symbol.
    pub unit: Cow<'static, str>,
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
        let (factor, unit) = step(steps, magnitude);
        Self { factor, unit: Cow::Borrowed(unit) }
    }

    /// The prefix of a rate at which something is counted, as [`crate::Metric::per`] names it: `Gflop/s`, `MWIPS`,
    /// `231000 files/s`, `19.2 M Dhrystones/s`. Nouns have no prefix of their own below a million.
    #[must_use]
    pub fn of_rate(counted: &str, magnitude: f64) -> Self {
        const SYMBOLS: [(f64, &str); 5] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")];
        const NOUNS: [(f64, &str); 4] = [(1e12, "T "), (1e9, "G "), (1e6, "M "), (1.0, "")];
        let symbol = match counted {
            "" => return Self::of(Unit::PerSecond, magnitude),
            "floating-point operations" => Some("flop/s"),
            "operations" | "8-bit operations" => Some("op/s"),
            "Whetstone instructions" => Some("WIPS"),
            _ => None,
        };
        // Of `sums of 100 terms` the unit says what is counted; what each consists of is in the description.
        let noun = counted.split(" of ").next().filter(|noun| noun.len() <= LONGEST_NOUN);
        if symbol.is_none() && noun.is_none() {
            return Self::of(Unit::PerSecond, magnitude);
        }
        let (factor, prefix) = step(if symbol.is_some() { &SYMBOLS } else { &NOUNS }, magnitude);
        let unit = symbol
            .map_or_else(|| format!("{prefix}{}/s", noun.unwrap_or_default()), |symbol| format!("{prefix}{symbol}"));
        Self { factor, unit: Cow::Owned(unit) }
    }
}

/// The largest step that does not exceed a magnitude; of zero the one without a prefix.
fn step<T: Copy>(steps: &[(f64, T)], magnitude: f64) -> (f64, T) {
    // Half a unit in the last of six digits, so that a value that would print as 1000 ns becomes 1.000 µs.
    let fits = |factor: f64| if magnitude == 0.0 { factor == 1.0 } else { magnitude >= factor * 0.999_999_5 };
    *steps.iter().find(|(factor, _)| fits(*factor)).unwrap_or(&steps[steps.len() - 1])
}

/// Decimals at which a value has `digits` significant digits; negative ones round to tens, hundreds, thousands.
#[must_use]
pub fn significant(value: f64, digits: i32) -> i32 {
    if value == 0.0 || !value.is_finite() { digits - 1 } else { digits - 1 - exponent(value.abs()) }
}

/// The power of ten of the first digit of a positive number.
#[must_use]
pub fn exponent(positive: f64) -> i32 {
    // log10 of a positive finite number is within -324..=309.
    #[expect(clippy::cast_possible_truncation, reason = "bounded by the exponents of f64")]
    let exponent = positive.log10().floor() as i32;
    exponent
}

/// A number in plain notation, which can be pasted, with `decimals` decimals (negative ones as for [`significant`]),
/// without the trailing zeros if `trim` is set; in powers of ten if plain notation would be unreadable.
#[must_use]
pub fn number(value: f64, decimals: i32, trim: bool) -> String {
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
    format!("{}{}", if value < 0.0 && !zero { "−" } else { "" }, text)
}

/// A share as a percentage, whole or with one decimal below ten: `2%`, `0.5%`, `31%`.
#[must_use]
pub fn percent(share: f64) -> String {
    if share < 0.0 {
        return format!("−{}", percent(-share));
    }
    let value = share * 100.0;
    if !value.is_finite() {
        return "an unknown percentage".to_owned();
    }
    // A small share must not print as 0%, so it gets as many decimals as needed.
    if (1e-6..0.05).contains(&value) {
        return format!("{value:.*}%", -value.log10().floor() as usize);
    }
    // A share close to 100% is not printed as 100%.
    let missing = 100.0 - value;
    if (1e-6..0.5).contains(&missing) {
        return format!("{value:.*}%", (-missing.log10() - 1e-6).ceil() as usize);
    }
    let whole = value >= 9.95 || (value - value.round()).abs() < 0.05;
    if whole { format!("{value:.0}%") } else { format!("{value:.1}%") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_and_can_be_pasted() {
        let digits = |value, count| number(value, significant(value, count), false);
        assert_eq!(digits(1_234_567.0, 3), "1230000");
        assert_eq!(digits(-12_345.0, 9), "−12345.0000");
        assert_eq!(digits(1234.4, 4), "1234");
        assert_eq!((digits(12.345, 3), digits(0.5, 3)), ("12.3".to_owned(), "0.500".to_owned()));
        assert_eq!(number(0.5, 3, true), "0.5");
        assert_eq!((digits(2e12, 3), digits(3.21e-7, 3)), ("2.00e12".to_owned(), "3.21e−7".to_owned()));
        assert_eq!(
            (digits(f64::NAN, 3), digits(f64::NEG_INFINITY, 3)),
            ("not a number".to_owned(), "minus infinite".to_owned())
        );
    }

    #[test]
    fn percentages() {
        for (share, text) in [
            (0.02, "2%"),
            (0.005, "0.5%"),
            (0.313, "31%"),
            (-0.0375, "−3.8%"),
            (1.0, "100%"),
            (0.996, "99.6%"),
            (0.999, "99.9%"),
            (0.9997, "99.97%"),
            (0.0001, "0.01%"),
            (0.0, "0%"),
        ] {
            assert_eq!(percent(share), text);
        }
    }

    #[test]
    fn prefixes_change_where_three_digits_end() {
        assert_eq!(UnitScale::of(Unit::Seconds, 999e-9).unit, "ns");
        assert_eq!(UnitScale::of(Unit::Seconds, 0.99999999e-6).unit, "µs");
        assert_eq!(UnitScale::of(Unit::Seconds, 1e-30).unit, "ns");
        assert_eq!(UnitScale::of(Unit::BytesPerSecond, 1e9).unit, "GB/s");
        assert_eq!(UnitScale::of(Unit::Bytes, 1048576.0).unit, "MiB");
    }

    #[test]
    fn rates_say_what_is_counted() {
        let unit = |counted, magnitude| UnitScale::of_rate(counted, magnitude).unit.into_owned();
        assert_eq!(unit("floating-point operations", 48.4e9), "Gflop/s");
        assert_eq!(unit("Whetstone instructions", 6.118e6), "MWIPS");
        assert_eq!((unit("operations", 1.2e4), unit("operations", 0.0)), ("kop/s".to_owned(), "op/s".to_owned()));
        assert_eq!(
            (unit("Dhrystones", 19e6), unit("files", 231e3)),
            ("M Dhrystones/s".to_owned(), "files/s".to_owned())
        );
        assert_eq!(
            (unit("sums of 100 terms", 5e6), unit("events", 0.4)),
            ("M sums/s".to_owned(), "events/s".to_owned())
        );
        assert_eq!(unit("a noun that is as long as a sentence", 5e6), "M/s");
        assert_eq!((unit("", 5e6), unit("", 0.4)), ("M/s".to_owned(), "/s".to_owned()));
        assert_eq!(UnitScale::of(Unit::Seconds, f64::NAN).unit, "ns");
    }
}
