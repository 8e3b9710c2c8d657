//! Units as people write them.

use model::{Better, Unit};

/// A unit in base units.
pub(crate) struct NamedUnit {
    pub(crate) unit: Unit,
    /// Base units in one.
    pub(crate) scale: f64,
    /// What is counted or timed.
    pub(crate) per: String,
    /// The direction that goes without saying.
    pub(crate) better: Option<Better>,
}

/// Amounts of data: decimal prefixes count 1000, binary ones 1024, and a lower-case b is a bit.
const BYTES: [(&str, f64); 14] = [
    ("B", 1.0),
    ("kB", 1e3),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
    ("bit", 0.125),
    ("kbit", 125.0),
    ("Mbit", 125e3),
    ("Gbit", 125e6),
];

/// Units of time, in seconds.
pub(crate) const TIMES: [(&str, f64); 8] = [
    ("ns", 1e-9),
    ("us", 1e-6),
    ("\u{b5}s", 1e-6),
    ("\u{3bc}s", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("min", 60.0),
    ("h", 3600.0),
];

/// The unit of a heading; none if it is not known.
pub(crate) fn unit(word: &str) -> Option<NamedUnit> {
    let find =
        |table: &[(&str, f64)], word: &str| table.iter().find(|(name, _)| *name == word).map(|(_, scale)| *scale);
    let named = |unit, scale, per: &str, better| Some(NamedUnit { unit, scale, per: per.to_owned(), better });
    let (higher, lower) = (Some(Better::Higher), Some(Better::Lower));
    if let Some(scale) = find(&TIMES, word) {
        return named(Unit::Seconds, scale, "run", lower);
    }
    match word {
        "Hz" => return named(Unit::Hertz, 1.0, "", higher),
        "MHz" => return named(Unit::Hertz, 1e6, "", higher),
        "GHz" => return named(Unit::Hertz, 1e9, "", higher),
        "W" => return named(Unit::Watts, 1.0, "", lower),
        "J" => return named(Unit::Joules, 1.0, "run", lower),
        "%" => return named(Unit::Ratio, 0.01, "", None),
        "score" => return named(Unit::Ratio, 1.0, "score", higher),
        "ratio" => return named(Unit::Ratio, 1.0, "ratio", None),
        "count" => return named(Unit::Count, 1.0, "count", None),
        _ => {}
    }
    if let Some(scale) = find(&BYTES, word) {
        return named(Unit::Bytes, scale, "", None);
    }
    let what = word.strip_suffix("/s").or_else(|| word.strip_suffix("/sec"))?.trim();
    if let Some(scale) = find(&BYTES, what) {
        return named(Unit::BytesPerSecond, scale, "bytes", higher);
    }
    if let Some((scale, noun)) = prefixed(what) {
        let flops = ["flop", "flops"].contains(&noun.to_ascii_lowercase().as_str());
        return named(Unit::PerSecond, scale, if flops { "floating-point operations" } else { noun }, higher);
    }
    let thousands = [("k", 1e3), ("M", 1e6), ("G", 1e9)];
    let (scale, what) =
        match thousands.iter().find_map(|(name, scale)| Some((scale, what.strip_prefix(name)?.strip_prefix(' ')?))) {
            Some((scale, what)) => (*scale, what),
            None => (1.0, what),
        };
    // Anything that is counted: `events/s`, `1/s`, `M updates/s`.
    let counted =
        what == "1" || (!what.is_empty() && what.chars().all(|c| c.is_ascii_alphabetic() || c == ' ' || c == '-'));
    if counted && !is_of_another_kind(what) {
        named(Unit::PerSecond, scale, if what == "1" { "operations" } else { what }, higher)
    } else {
        None
    }
}

/// What is written with a prefix right before it, as in `Mflop` and `kIOPS`, with the prefix's scale.
fn prefixed(word: &str) -> Option<(f64, &str)> {
    const NOUNS: [&str; 22] = [
        "flop",
        "flops",
        "op",
        "ops",
        "iop",
        "iops",
        "event",
        "events",
        "update",
        "updates",
        "packet",
        "packets",
        "request",
        "requests",
        "req",
        "transaction",
        "transactions",
        "message",
        "messages",
        "pixel",
        "pixels",
        "keys",
    ];
    const PREFIXES: [(&str, f64); 6] = [("", 1.0), ("k", 1e3), ("K", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)];
    PREFIXES.iter().find_map(|(prefix, scale)| {
        let noun = word.strip_prefix(prefix)?;
        NOUNS.contains(&noun.to_ascii_lowercase().as_str()).then_some((*scale, noun))
    })
}

/// Whether a word resembles a prefix, or an amount of data, a time or a frequency in an unknown unit. Such a word must
/// not pass as a count.
fn is_of_another_kind(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let bare = lower.strip_prefix(['k', 'm', 'g', 't', 'p']).unwrap_or(&lower);
    let data = ["b", "ib", "bit", "bits", "ibit", "byte", "bytes", "ibyte", "ibytes"];
    bare.is_empty()
        || [&lower[..], bare].iter().any(|word| data.contains(word) || *word == "hz")
        || TIMES.iter().any(|(name, _)| *name == lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_known_or_refused() {
        for (word, kind, scale) in [
            ("ms", Unit::Seconds, 1e-3),
            ("GB/s", Unit::BytesPerSecond, 1e9),
            ("GiB/s", Unit::BytesPerSecond, 1_073_741_824.0),
            ("Gbit/s", Unit::BytesPerSecond, 125e6),
            ("events/s", Unit::PerSecond, 1.0),
            ("M updates/s", Unit::PerSecond, 1e6),
            ("Gflop/s", Unit::PerSecond, 1e9),
            ("1/s", Unit::PerSecond, 1.0),
            ("MFlop/s", Unit::PerSecond, 1e6),
            ("GFLOPS/s", Unit::PerSecond, 1e9),
            ("kflop/s", Unit::PerSecond, 1e3),
            ("kIOPS/s", Unit::PerSecond, 1e3),
            ("Gpixel/s", Unit::PerSecond, 1e9),
            ("Messages/s", Unit::PerSecond, 1.0),
            ("jobs/s", Unit::PerSecond, 1.0),
            ("blob/s", Unit::PerSecond, 1.0),
            ("score", Unit::Ratio, 1.0),
            ("GHz", Unit::Hertz, 1e9),
        ] {
            let found = unit(word).map(|named| (named.unit, named.scale));
            assert_eq!(found, Some((kind, scale)), "{word}");
        }
        for word in [
            "",
            "furlong",
            "Gb/s",
            "mB/s",
            "bytes/s",
            "/s",
            "2/s",
            "MB / fortnight",
            "GByte/s",
            "M/s",
            "k/s",
            "ms/s",
            "MHz/s",
            "Mbits/s",
        ] {
            assert!(unit(word).is_none(), "{word}");
        }
    }
}
