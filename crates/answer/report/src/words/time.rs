//! Durations and dates for readers.

/// A duration: `0.4 s`, `9 s`, `1 min 47 s`, `2 h 3 min`; `unknown time` if it is invalid.
#[must_use]
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || !(0.0..1e12).contains(&seconds) {
        return "unknown time".to_owned();
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
    let whole = seconds.round() as u64;
    let with = |many: u64, unit: &str, few: u64, part: &str| match few {
        0 => format!("{many} {unit}"),
        _ => format!("{many} {unit} {few} {part}"),
    };
    match whole {
        0 if seconds > 0.0 => format!("{:.1} s", seconds.max(0.1)),
        0..60 => format!("{whole} s"),
        60..3600 => with(whole / 60, "min", whole % 60, "s"),
        _ => with((whole + 30) / 3600, "h", (whole + 30) / 60 % 60, "min"),
    }
}

/// Date and minute of an RFC 3339 time in UTC: `2026-11-21 03:44 UTC`. Midnight to the second is a date without a time, as
/// in printed documents: `1998-01-01`. Any other text is returned unchanged.
#[must_use]
pub fn day(rfc3339: &str) -> String {
    let shaped = rfc3339.len() >= 16
        && rfc3339.is_ascii()
        && rfc3339.as_bytes()[10] == b'T'
        && rfc3339[..10].bytes().all(|b| b.is_ascii_digit() || b == b'-');
    if shaped && rfc3339.get(11..) == Some("00:00:00Z") {
        return rfc3339[..10].to_owned();
    }
    if shaped { format!("{} {} UTC", &rfc3339[..10], &rfc3339[11..16]) } else { rfc3339.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_dates() {
        assert_eq!(day("1998-01-01T00:00:00Z"), "1998-01-01");
        assert_eq!(duration(0.38), "0.4 s");
        assert_eq!((duration(0.0), duration(0.004), duration(9.4)), ("0 s".into(), "0.1 s".into(), "9 s".into()));
        assert_eq!((duration(59.6), duration(107.0)), ("1 min".into(), "1 min 47 s".into()));
        assert_eq!((duration(3590.0), duration(7389.0)), ("59 min 50 s".into(), "2 h 3 min".into()));
        assert_eq!(duration(7170.0 + 15.0), "2 h");
        assert_eq!(duration(f64::NAN), "unknown time");
        assert_eq!(duration(-1.0), "unknown time");
        assert_eq!(day("2026-11-21T03:44:05Z"), "2026-11-21 03:44 UTC");
        assert_eq!(day("1998"), "1998");
    }
}
