//! Parsers of numbers on the command line.

/// A half-width in percent: `2`, `2%`, `0.5%`; returned as a fraction.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    let number: f64 = text
        .trim()
        .trim_end_matches('%')
        .parse()
        .map_err(|_| format!("'{text}' is not a percentage; write one such as 2 or 0.5%"))?;
    if number > 0.0 && number <= 100.0 {
        Ok(number / 100.0)
    } else {
        Err("it must be above 0 and at most 100".to_owned())
    }
}

/// An address, with a port or with that which the system chooses: `127.0.0.1`, `[::1]:7070`.
pub(crate) fn endpoint(text: &str) -> Result<std::net::SocketAddr, String> {
    let alone = text.parse::<std::net::IpAddr>().map(|address| (address, 0).into());
    alone.or_else(|_| text.parse()).map_err(|_| "write an address, such as 192.0.2.1 or 192.0.2.1:7070".to_owned())
}

/// A price: `web-3=0.31/h`, `b=1200`; the run's name, the amount, and what it is for.
pub(crate) fn price(text: &str) -> Result<(String, f64, String), String> {
    let refuse = || format!("'{text}' is not a price; write a run and its price, such as B=0.59/h");
    let (name, amount) = text.rsplit_once('=').ok_or_else(refuse)?;
    let (amount, span) = amount.split_once('/').unwrap_or((amount, ""));
    let amount: f64 = amount.trim().parse().map_err(|_| refuse())?;
    if !amount.is_finite() || name.is_empty() {
        return Err(refuse());
    }
    if amount <= 0.0 {
        return Err("the price must be above 0".to_owned());
    }
    Ok((name.to_owned(), amount, span.trim().to_owned()))
}

/// A day: `2026-11-03`.
pub(crate) fn date(text: &str) -> Result<String, String> {
    let parts: Vec<&str> = text.trim().split('-').collect();
    let number = |part: &str, digits: usize, of: std::ops::RangeInclusive<u32>| {
        part.len() == digits && part.parse().is_ok_and(|number: u32| of.contains(&number))
    };
    let is =
        matches!(parts[..], [y, m, d] if number(y, 4, 1900..=2199) && number(m, 2, 1..=12) && number(d, 2, 1..=31));
    if is { Ok(text.trim().to_owned()) } else { Err(format!("'{text}' is not a day; write one such as 2026-11-03")) }
}

/// A year: `1998`, `1998.8`.
pub(crate) fn year(text: &str) -> Result<f64, String> {
    let year = text.trim().parse().ok().filter(|year| (1900.0..2200.0).contains(year));
    year.ok_or_else(|| format!("'{text}' is not a year between 1900 and 2200"))
}

/// A span of years, either end of which may be left out: `1990..1998.8`, `1990..`.
pub(crate) fn years(text: &str) -> Result<(f64, f64), String> {
    let (from, to) = text.split_once("..").ok_or_else(|| format!("'{text}' is not a span; write FROM..TO"))?;
    let end = |text: &str, open: f64| if text.is_empty() { Ok(open) } else { year(text) };
    Ok((end(from, f64::NEG_INFINITY)?, end(to, f64::INFINITY)?))
}

/// Longest time that can be asked for, seconds: thirty years, which nothing here waits for.
const LONGEST: f64 = 1e9;

/// A time: `90`, `90s`, `50ms`, `2m`, `1.5h`; returned in seconds.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    match any_seconds(text)? {
        time if time > 0.0 => Ok(time),
        _ => Err("it must be above 0".to_owned()),
    }
}

/// The same, or 0 for none.
pub(crate) fn seconds_or_none(text: &str) -> Result<f64, String> {
    match any_seconds(text)? {
        time if time >= 0.0 => Ok(time),
        _ => Err("it must be 0, for none, or above".to_owned()),
    }
}

/// A short time, or 0 for none: `50ms`, `0.05s`; without a unit milliseconds, which these options took before they took
/// units. Returned in seconds.
pub(crate) fn short_seconds(text: &str) -> Result<f64, String> {
    let bare = text.trim().parse::<f64>().is_ok();
    seconds_or_none(&if bare { format!("{}ms", text.trim()) } else { text.to_owned() })
}

/// A time of either sign.
fn any_seconds(text: &str) -> Result<f64, String> {
    let refuse = || format!("'{text}' is not a time; write one such as 50ms, 90s, 2m or 1h");
    let trimmed = text.trim();
    let (number, unit) = trimmed.split_at(trimmed.find(|c: char| c.is_alphabetic()).unwrap_or(trimmed.len()));
    let scale = match unit {
        "us" | "\u{b5}s" | "\u{3bc}s" => 1e-6,
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(refuse()),
    };
    let number: f64 = number.trim().parse().map_err(|_| refuse())?;
    let time = number * scale;
    if time <= LONGEST { Ok(time) } else { Err(format!("it must be at most {LONGEST} s")) }
}

/// A size: `4096`, `500MB` (10^6 bytes), `10GiB` (2^30 bytes); returned in bytes.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let refuse = || format!("'{text}' is not a size; write one such as 500MB or 10GiB");
    let trimmed = text.trim();
    let (number, unit) = trimmed.split_at(trimmed.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(trimmed.len()));
    let scale: u64 = match unit {
        "" | "B" => 1,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1 << 40,
        _ => return Err(refuse()),
    };
    let number: u64 = number.trim().parse().map_err(|_| refuse())?;
    match number.checked_mul(scale) {
        Some(0) => Err("it must be above 0".to_owned()),
        Some(bytes) => Ok(bytes),
        None => Err(format!("it must be at most {} TiB", u64::MAX >> 40)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_with_their_units() {
        assert_eq!(percent("2"), Ok(0.02));
        assert_eq!(percent("0.5%"), Ok(0.005));
        assert!(percent("0").is_err() && percent("x").is_err() && percent("101").is_err());
        assert_eq!((bytes("4096"), bytes("10GiB"), bytes("2 MB")), (Ok(4096), Ok(10 << 30), Ok(2_000_000)));
        assert!(bytes("0").is_err() && bytes("10 apples").is_err() && bytes("99999999TiB").is_err());
        assert_eq!(seconds("90"), Ok(90.0));
        assert_eq!(seconds("2m"), Ok(120.0));
        assert_eq!(seconds("1.5h"), Ok(5400.0));
        assert_eq!(
            (seconds("50ms"), seconds("2 us"), seconds("20\u{b5}s")),
            (Ok(0.05), Ok(2.0 * 1e-6), Ok(20.0 * 1e-6))
        );
        assert!(
            seconds("-1").is_err() && seconds("2 days").is_err() && seconds("").is_err() && seconds("2Ms").is_err()
        );
        assert_eq!(
            (short_seconds("50ms"), short_seconds("0.05s"), short_seconds("1m")),
            (Ok(0.05), Ok(0.05), Ok(60.0))
        );
        assert_eq!((short_seconds("50"), short_seconds("2.5"), short_seconds("0")), (Ok(0.05), Ok(0.0025), Ok(0.0)));
        assert!(short_seconds("-1").is_err() && short_seconds("x").is_err() && short_seconds("inf").is_err());
        assert_eq!((seconds_or_none("0s"), seconds_or_none("0.5"), seconds_or_none("0m")), (Ok(0.0), Ok(0.5), Ok(0.0)));
    }

    /// The allowed numbers in an error message are right.
    #[test]
    fn a_refused_number_is_told_which_ones_are_allowed() {
        let said = |result: Result<f64, String>| result.unwrap_err();
        assert_eq!(said(seconds_or_none("-1")), "it must be 0, for none, or above");
        assert_eq!(said(seconds("0")), "it must be above 0");
        assert_eq!(said(seconds("99999999999999999999999")), "it must be at most 1000000000 s");
        assert_eq!(bytes("0").unwrap_err(), "it must be above 0");
        assert_eq!(bytes("99999999TiB").unwrap_err(), "it must be at most 16777215 TiB");
        assert_eq!(years("1990..1998.8"), Ok((1990.0, 1998.8)));
        assert!(
            years("1990..").is_ok_and(|(_, to)| to.is_infinite()) && years("1990").is_err() && years("1..2").is_err()
        );
        assert_eq!(price("b=0").unwrap_err(), "the price must be above 0");
        assert!(price("b=x").unwrap_err().contains("is not a price"));
    }
}
