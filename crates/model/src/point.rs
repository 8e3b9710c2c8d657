//! Points on the axes of a benchmark.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::{Error, parse_size};

/// Any two different CPUs: a value of `placement` that can be requested. A result states their relation instead, one of
/// [`CROSSINGS`].
pub const ANY_CROSSING: &str = "cross_cpu";
/// A size of memory beyond the caches of its machine, whatever that is: the value of `working_set` in rows of
/// comparisons.
pub const BEYOND_CACHES: &str = "beyond_caches";
/// How two different CPUs stand to each other, the nearest first: values of `placement`.
pub const CROSSINGS: [&str; 5] = ["sibling", "same_cache", "same_node", "other_node", "other_package"];

/// A value for each axis: `working_set=64MiB,threads=1`. Order is kept for reading and does not count for equality.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Point(IndexMap<String, String>);

impl Point {
    /// The point of a benchmark without axes.
    #[must_use]
    pub fn origin() -> Self {
        Self::default()
    }

    /// This point with another axis, or another value on one of its axes.
    #[must_use]
    pub fn with(mut self, axis: impl Into<String>, value: impl Into<String>) -> Self {
        self.0.insert(axis.into(), value.into());
        self
    }

    /// This point without an axis.
    #[must_use]
    pub fn without(mut self, axis: &str) -> Self {
        self.0.shift_remove(axis);
        self
    }

    /// Whether the benchmark has no axes.
    #[must_use]
    pub fn is_origin(&self) -> bool {
        self.0.is_empty()
    }

    /// Axes and values in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(axis, value)| (axis.as_str(), value.as_str()))
    }

    /// Value on an axis, if the point has it.
    #[must_use]
    pub fn get(&self, axis: &str) -> Option<&str> {
        self.0.get(axis).map(String::as_str)
    }

    /// Value on an axis.
    ///
    /// # Errors
    /// When the point lacks the axis.
    pub fn choice(&self, axis: &str) -> Result<&str, Error> {
        self.get(axis).ok_or_else(|| Error::Axis { axis: axis.to_owned(), reason: "the point lacks it".to_owned() })
    }

    /// Size on an axis, in bytes.
    ///
    /// # Errors
    /// When the point lacks the axis, or its value is not a size.
    pub fn bytes(&self, axis: &str) -> Result<u64, Error> {
        parse_size(self.choice(axis)?)
    }

    /// Count on an axis.
    ///
    /// # Errors
    /// When the point lacks the axis, or its value is not a whole number.
    pub fn count(&self, axis: &str) -> Result<u64, Error> {
        let text = self.choice(axis)?;
        text.parse()
            .map_err(|_| Error::Axis { axis: axis.to_owned(), reason: format!("'{text}' is not a whole number") })
    }

    /// Whether this point has every axis of `other` with the same value.
    #[must_use]
    pub fn includes(&self, other: &Self) -> bool {
        other.iter().all(|(axis, value)| self.get(axis) == Some(value))
    }

    /// Whether a value on an axis is one that was asked for: `placement=cross_cpu` asks for any two different CPUs.
    #[must_use]
    pub fn means(axis: &str, asked: &str, value: &str) -> bool {
        value == asked || (axis == "placement" && asked == ANY_CROSSING && CROSSINGS.contains(&value))
    }

    fn sorted(&self) -> Vec<(&str, &str)> {
        let mut pairs: Vec<_> = self.iter().collect();
        pairs.sort_unstable();
        pairs
    }
}

impl Hash for Point {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.sorted().hash(state);
    }
}

impl PartialOrd for Point {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Point {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.sorted().cmp(&other.sorted())
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (axis, value)) in self.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{axis}={value}")?;
        }
        Ok(())
    }
}

impl FromStr for Point {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let refuse = || Error::Point(text.to_owned());
        let mut point = Self::origin();
        for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (axis, value) = pair.split_once('=').ok_or_else(refuse)?;
            if axis.is_empty() || value.is_empty() || point.get(axis).is_some() {
                return Err(refuse());
            }
            point = point.with(axis, value);
        }
        Ok(point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_kept_and_does_not_matter() {
        let a: Point = "working_set=64MiB,threads=1".parse().unwrap();
        let b: Point = "threads=1,working_set=64MiB".parse().unwrap();
        assert_eq!(a, b);
        assert_eq!(a.to_string(), "working_set=64MiB,threads=1");
        assert_eq!(a.bytes("working_set").unwrap(), 64 << 20);
        assert_eq!(a.count("threads").unwrap(), 1);
        assert!(a.count("working_set").is_err());
        assert!(a.includes(&"threads=1".parse().unwrap()));
    }

    #[test]
    fn invalid_points_are_refused() {
        for text in ["a", "=1", "a=", "a=1,a=2"] {
            assert!(text.parse::<Point>().is_err(), "{text}");
        }
        assert!("".parse::<Point>().unwrap().is_origin());
    }
}
