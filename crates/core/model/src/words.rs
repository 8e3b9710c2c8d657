//! Numbers, lists and other things in words.

use crate::{Unit, UnitScale, number, significant};

/// A time in seconds with its prefix, such as `8.29 µs`.
#[must_use]
pub fn seconds(value: f64) -> String {
    quantity(value, Unit::Seconds)
}

/// A value in a unit with its prefix, such as `1.97 GB/s`; of a count the number alone.
#[must_use]
pub fn quantity(value: f64, unit: Unit) -> String {
    let scale = UnitScale::of(unit, value.abs());
    let space = if scale.unit.is_empty() { "" } else { " " };
    format!("{}{space}{}", digits(value / scale.factor), scale.unit)
}

/// Sums of money and rates, in sentences and tables alike. Numbers from a thousand on are whole, so that the parts of a
/// bill add up; smaller ones have four significant digits without trailing zeros.
#[must_use]
pub fn amount(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { number(value, significant(value, 4).max(0), true) }
}

/// Three significant digits.
#[must_use]
pub fn digits(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { number(value, significant(value, 3), false) }
}

/// Items joined by commas and a final "and".
#[must_use]
pub fn list<T: AsRef<str>>(items: &[T]) -> String {
    match items {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", first.join(", "), last.as_ref())
        }
    }
}

/// A text whose first letter is a capital.
#[must_use]
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A word quoted for a POSIX shell.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@,=%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Bytes as hexadecimal digits.
#[must_use]
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_words() {
        assert_eq!(digits(1_234_567.0), "1230000");
        assert_eq!(digits(12.345), "12.3");
        assert_eq!(digits(0.5), "0.500");
        assert_eq!(seconds(0.0123), "12.3 ms");
        assert_eq!(seconds(8.289e-6), "8.29 µs");
        assert_eq!(seconds(2.896e-3), "2.90 ms");
        assert_eq!(seconds(0.1616), "162 ms");
        assert_eq!(seconds(-5e-10), "−0.500 ns");
        assert_eq!(
            (quantity(1.97e9, Unit::BytesPerSecond), quantity(2.5, Unit::Count)),
            ("1.97 GB/s".into(), "2.50".into())
        );
        assert_eq!((amount(0.4), amount(5.8229), amount(0.0)), ("0.4".into(), "5.823".into(), "0".into()));
        assert_eq!((amount(67_551.4), amount(1_234_567.0)), ("67551".into(), "1234567".into()));
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
    }
}
