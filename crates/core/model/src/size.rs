//! Sizes in bytes, written with binary prefixes: `64MiB`.

use crate::Error;

/// 2^10 bytes.
pub const KIB: u64 = 1 << 10;
/// 2^20 bytes.
pub const MIB: u64 = 1 << 20;
/// 2^30 bytes.
pub const GIB: u64 = 1 << 30;

const PREFIXES: [(&str, u64); 4] = [("GiB", GIB), ("MiB", MIB), ("KiB", KIB), ("B", 1)];

/// Parses `4KiB`, `64MiB`, `1GiB`, `512B` or a plain number of bytes.
///
/// # Errors
/// When the text is not a whole number with one of these units, or overflows 64 bits.
pub fn parse_size(text: &str) -> Result<u64, Error> {
    let refuse = || Error::Size(text.to_owned());
    let (digits, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let count: u64 = digits.parse().map_err(|_| refuse())?;
    let unit = unit.trim();
    let scale = match unit {
        "" => 1,
        _ => PREFIXES.iter().find(|(name, _)| *name == unit).ok_or_else(refuse)?.1,
    };
    count.checked_mul(scale).ok_or_else(refuse)
}

/// Formats a size with the largest binary prefix that keeps it whole: `65536` is `64KiB`.
#[must_use]
pub fn format_size(bytes: u64) -> String {
    let (name, scale) =
        PREFIXES.iter().find(|(_, scale)| bytes >= *scale && bytes.is_multiple_of(*scale)).unwrap_or(&("B", 1));
    format!("{}{name}", bytes / scale)
}

/// A size for a sentence, in three digits: `200 MiB`, `23.5 GiB`.
#[must_use]
pub fn spoken_size(bytes: u64) -> String {
    let (name, scale) = PREFIXES.iter().find(|(_, scale)| bytes >= *scale).unwrap_or(&("B", 1));
    let value = bytes as f64 / *scale as f64;
    let digits = if bytes.is_multiple_of(*scale) || value >= 99.95 { 0 } else { 1 };
    format!("{value:.digits$} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_back_as_written() {
        for bytes in [0, 1, 512, KIB, 3 * KIB, 1536, 64 * MIB, GIB, 5 * GIB, u64::MAX] {
            assert_eq!(parse_size(&format_size(bytes)).unwrap(), bytes);
        }
        assert_eq!(format_size(64 * MIB), "64MiB");
        assert_eq!(format_size(1536), "1536B");
    }

    #[test]
    fn sizes_in_sentences_have_three_digits_and_a_space() {
        for (bytes, words) in [
            (0, "0 B"),
            (200 * MIB, "200 MiB"),
            (64 * GIB, "64 GiB"),
            (25_276_063_744, "23.5 GiB"),
            (GIB - 1, "1024 MiB"),
            (100 * MIB + 1, "100 MiB"),
        ] {
            assert_eq!(spoken_size(bytes), words);
        }
    }

    #[test]
    fn invalid_sizes_are_refused() {
        for text in ["", "MiB", "-1", "1.5MiB", "1MB", "99999999999GiB", "1 2"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
