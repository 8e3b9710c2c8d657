//! A share of a whole: a number from 0 to 1.

use serde::{Deserialize, Serialize};

/// A share of a whole, 0 to 1. Computed values are clamped, and NaN is not a share. A document with a number outside is
/// refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Share(f64);

impl Share {
    /// Zero.
    pub const NONE: Self = Self(0.0);
    /// The whole.
    pub const ALL: Self = Self(1.0);

    /// A share; `None` for NaN.
    #[must_use]
    pub const fn new(value: f64) -> Option<Self> {
        // An empty sum of floats is -0, which would be printed as such: adding 0 makes it 0.
        if value.is_nan() { None } else { Some(Self(value.clamp(0.0, 1.0) + 0.0)) }
    }

    /// A part of a whole; `None` if the whole is zero.
    #[must_use]
    pub fn of(part: f64, whole: f64) -> Option<Self> {
        if whole > 0.0 { Self::new(part / whole) } else { None }
    }

    /// The number, 0 to 1.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        let share = (0.0..=1.0).contains(&value).then(|| Self::new(value)).flatten();
        share.ok_or_else(|| serde::de::Error::custom(format!("a share of {value} is not between 0 and 1")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_never_leaves_its_range() {
        assert_eq!(Share::new(2_861_523.93), Some(Share::ALL));
        assert_eq!(Share::new(-0.1), Some(Share::NONE));
        assert!(Share::new(-0.0).is_some_and(|none| none.get().is_sign_positive()));
        assert_eq!(Share::new(f64::NAN), None);
        assert_eq!(Share::of(1.0, 0.0), None);
        assert_eq!(Share::of(1.0, 4.0), Share::new(0.25));
        assert_eq!(serde_json::from_str::<Share>("1").unwrap(), Share::ALL);
        for outside in ["1.7", "-0.3", "1e300"] {
            assert!(serde_json::from_str::<Share>(outside).is_err(), "{outside}");
        }
    }
}
