//! Quantities as people write them: a number or a range, and a unit.

use serde::de::{Deserialize, Deserializer, Error as _, Visitor};

use super::uncertain::Uncertain;

/// A number or a range with a unit that is not checked yet.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ParsedQuantity {
    pub(crate) value: Uncertain,
    pub(crate) unit: String,
}

impl ParsedQuantity {
    /// Parses `340 W`, `300 to 380 W`, `0.12 EUR/kWh`.
    fn read(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let number = |word: &str| {
            let plain = word.replace('_', "");
            plain.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0)
        };
        let (value, unit) = match words.as_slice() {
            [low, "to", high, unit @ ..] => {
                let (low, high) = number(low).zip(number(high)).ok_or_else(|| format!("'{text}' is not a range"))?;
                if low > high {
                    return Err(format!("the range '{text}' ends below its beginning"));
                }
                (Uncertain::between(low, high), unit)
            }
            [one, unit @ ..] => (
                Uncertain::Fixed(
                    number(one).ok_or_else(|| format!("'{text}' does not begin with a number of at least 0"))?,
                ),
                unit,
            ),
            [] => return Err("it is empty".to_owned()),
        };
        Ok(Self { value, unit: unit.join(" ") })
    }
}

/// Parses a quantity in the units of a kind, each with its factor to the base unit.
struct OfKind {
    what: &'static str,
    example: &'static str,
    units: &'static [(&'static str, f64)],
}

impl Visitor<'_> for OfKind {
    type Value = Uncertain;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} with its unit in quotes, such as \"{}\"", self.what, self.example)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Uncertain, E> {
        let found = ParsedQuantity::read(text)
            .map_err(|reason| E::custom(format!("{reason}; write {} such as \"{}\"", self.what, self.example)))?;
        let unit = self.units.iter().find(|(name, _)| *name == found.unit);
        unit.map(|(_, factor)| found.value.scaled(*factor)).ok_or_else(|| {
            let known: Vec<&str> = self.units.iter().map(|(name, _)| *name).collect();
            E::custom(format!(
                "the unit of \"{text}\" is wrong: {} is given in {}, such as \"{}\"",
                self.what,
                known.join(", "),
                self.example
            ))
        })
    }
}

macro_rules! kinds {
    ($($(#[doc = $about:literal])+ $name:ident: $what:literal, $example:literal, $units:expr;)+) => {$(
        $(#[doc = $about])+
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub(crate) struct $name(pub(crate) Uncertain);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                from.deserialize_any(OfKind { what: $what, example: $example, units: $units }).map(Self)
            }
        }
    )+};
}

kinds! {
    /// Electrical power, watts.
    Power: "a power", "340 W", &[("W", 1.0), ("kW", 1e3), ("MW", 1e6)];
    /// Memory, bytes.
    Memory: "an amount of memory", "8 GiB", &[
        ("B", 1.0), ("KiB", 1024.0), ("MiB", 1_048_576.0), ("GiB", 1_073_741_824.0), ("TiB", 1_099_511_627_776.0),
        ("MB", 1e6), ("GB", 1e9), ("TB", 1e12),
    ];
    /// Time, days.
    Days: "a time", "30 days", &[("hours", 1.0 / 24.0), ("day", 1.0), ("days", 1.0), ("weeks", 7.0), ("months", 30.44), ("years", 365.25)];
    /// Time, years.
    Years: "a time", "3 years", &[("months", 1.0 / 12.0), ("year", 1.0), ("years", 1.0)];
}

/// A quantity whose unit is checked against the rest of the text: money, prices, rates.
impl<'de> Deserialize<'de> for ParsedQuantity {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct AnyQuantity;
        impl Visitor<'_> for AnyQuantity {
            type Value = ParsedQuantity;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number with its unit in quotes, such as \"2500 USD\" or \"12 events/s\"")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<ParsedQuantity, E> {
                ParsedQuantity::read(text).map_err(E::custom)
            }
        }
        let found = from.deserialize_any(AnyQuantity)?;
        if found.unit.is_empty() {
            return Err(D::Error::custom("the unit is missing; write for example \"2500 USD\" or \"12 events/s\""));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_ranges() {
        let range = ParsedQuantity::read("1_000 to 1500 USD").unwrap();
        assert_eq!((range.value, range.unit.as_str()), (Uncertain::Between(1000.0, 1500.0), "USD"));
        for wrong in ["", "USD", "3 to USD", "5 to 2 USD", "-3 USD", "nan W"] {
            assert!(ParsedQuantity::read(wrong).is_err(), "{wrong}");
        }
    }
}
