//! Values with a unit and a prefix, for people.

use model::Unit;

const UP: [(f64, &str); 6] = [(1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")];
const DOWN: [(f64, &str); 5] = [(1.0, ""), (1e-3, "m"), (1e-6, "\u{b5}"), (1e-9, "n"), (1e-12, "p")];

/// A value in words, to four digits, with the prefix that leaves one to three before the point: `16.50 GB/s`, `128.0 ns`.
/// MB means 10^6 bytes.
#[must_use]
pub fn quantity(value: f64, unit: Unit) -> String {
    let (scale, prefix) = prefix(value.abs(), unit);
    let number = digits(value / scale);
    let symbol = match unit {
        Unit::Seconds => "s",
        Unit::BytesPerSecond => "B/s",
        Unit::PerSecond => "/s",
        Unit::Hertz => "Hz",
        Unit::Bytes => "B",
        Unit::Count | Unit::Ratio => "",
        Unit::Watts => "W",
        Unit::Joules => "J",
    };
    format!("{number} {prefix}{symbol}").trim_end().to_owned()
}

fn prefix(value: f64, unit: Unit) -> (f64, &'static str) {
    let fits = |(scale, _): &&(f64, &'static str)| value >= *scale;
    match unit {
        Unit::Ratio => (1.0, ""),
        Unit::Seconds | Unit::Joules | Unit::Watts if value > 0.0 && value < 1.0 => {
            DOWN.iter().find(fits).copied().unwrap_or(DOWN[4])
        }
        Unit::Seconds => (1.0, ""),
        _ => UP.iter().find(fits).copied().unwrap_or((1.0, "")),
    }
}

/// Four significant digits, without an exponent where the number is of ordinary size.
fn digits(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e6).contains(&size) {
        return format!("{value:.3e}");
    }
    let before = if size >= 1.0 { size.log10().floor() as usize + 1 } else { 1 };
    format!("{value:.*}", 4_usize.saturating_sub(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_leave_one_to_three_digits() {
        for (value, unit, words) in [
            (16.5e9, Unit::BytesPerSecond, "16.50 GB/s"),
            (128e-9, Unit::Seconds, "128.0 ns"),
            (0.5e-12, Unit::Seconds, "0.500 ps"),
            (90.0, Unit::Seconds, "90.00 s"),
            (0.0, Unit::Seconds, "0.000 s"),
            (178_000.0, Unit::PerSecond, "178.0 k/s"),
            (0.65, Unit::Ratio, "0.650"),
            (340.0, Unit::Watts, "340.0 W"),
            (1e20, Unit::Count, "100000 P"),
        ] {
            assert_eq!(quantity(value, unit), words);
        }
    }
}
