//! Numbers in words, for findings that people read.

/// A time in seconds with its prefix, such as `8.29 µs`; a minus sign is kept.
pub(crate) fn seconds(value: f64) -> String {
    let size = value.abs();
    let (scale, unit) = match size {
        _ if size >= 1.0 || size == 0.0 => (1.0, "s"),
        _ if size >= 1e-3 => (1e3, "ms"),
        _ if size >= 1e-6 => (1e6, "µs"),
        _ if size >= 1e-9 => (1e9, "ns"),
        _ => (1e12, "ps"),
    };
    format!("{} {unit}", digits(value * scale))
}

/// Three significant digits; thousands grouped.
pub(crate) fn digits(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if size == 0.0 => "0".to_owned(),
        _ if !(1e-3..1e9).contains(&size) => format!("{value:.2e}"),
        _ if size >= 999.5 => {
            let step = 10.0_f64.powf(size.log10().floor() - 2.0);
            grouped((value / step).round() * step)
        }
        _ if size >= 99.95 => format!("{value:.0}"),
        _ if size >= 9.995 => format!("{value:.1}"),
        _ if size >= 0.9995 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// A whole number with its thousands grouped.
pub(crate) fn grouped(value: f64) -> String {
    let plain = format!("{:.0}", value.abs());
    let mut out = String::new();
    if value < 0.0 && plain != "0" {
        out.push('−');
    }
    for (index, digit) in plain.chars().enumerate() {
        if index > 0 && (plain.len() - index).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// Words joined by commas and a last "and".
pub(crate) fn list<T: AsRef<str>>(items: &[T]) -> String {
    match items {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", first.join(", "), last.as_ref())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_words() {
        assert_eq!(digits(1_234_567.0), "1 230 000");
        assert_eq!(digits(12.345), "12.3");
        assert_eq!(digits(0.5), "0.500");
        assert_eq!(grouped(-1234.4), "−1 234");
        assert_eq!(seconds(0.0123), "12.3 ms");
        assert_eq!(seconds(8.289e-6), "8.29 µs");
        assert_eq!(seconds(2.896e-3), "2.90 ms");
        assert_eq!(seconds(0.1616), "162 ms");
        assert_eq!(seconds(-5e-10), "-500 ps");
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
    }
}
