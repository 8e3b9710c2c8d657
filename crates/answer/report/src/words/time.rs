//! Durations and dates for readers.

/// A duration: `0:09`, `1:47`, `2:03:09`; `unknown time` if it is invalid.
#[must_use]
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || !(0.0..1e12).contains(&seconds) {
        return "unknown time".to_owned();
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
    let whole = seconds.round() as u64;
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

/// Date and minute of an RFC 3339 time in UTC: `2026-11-21 03:44`. Midnight to the second is a date without a time, as
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
    if shaped { format!("{} {}", &rfc3339[..10], &rfc3339[11..16]) } else { rfc3339.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_dates() {
        assert_eq!(day("1998-01-01T00:00:00Z"), "1998-01-01");
        assert_eq!(duration(9.4), "0:09");
        assert_eq!(duration(107.0), "1:47");
        assert_eq!(duration(7389.0), "2:03:09");
        assert_eq!(duration(f64::NAN), "unknown time");
        assert_eq!(duration(-1.0), "unknown time");
        assert_eq!(day("2026-11-21T03:44:05Z"), "2026-11-21 03:44");
        assert_eq!(day("1998"), "1998");
    }
}
