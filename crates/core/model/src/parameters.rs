//! Sets of parameters on the parameters of a benchmark.

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
/// Relations of two different CPUs, the nearest first: values of `placement`.
pub const CROSSINGS: [&str; 5] = ["sibling", "same_cache", "same_node", "other_node", "other_package"];

/// A value for each parameter: `working_set=64MiB,threads=1`. Order is kept for reading and does not count for
/// equality.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Parameters(IndexMap<String, String>);

impl Parameters {
    /// The parameters of a benchmark without parameters.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// This set of parameters with another parameter, or another value on one of its parameters.
    #[must_use]
    pub fn with(mut self, parameter: impl Into<String>, value: impl Into<String>) -> Self {
        self.0.insert(parameter.into(), value.into());
        self
    }

    /// This set of parameters without a parameter.
    #[must_use]
    pub fn without(mut self, parameter: &str) -> Self {
        self.0.shift_remove(parameter);
        self
    }

    /// Whether the benchmark has no parameters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Parameters and values in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(parameter, value)| (parameter.as_str(), value.as_str()))
    }

    /// Value on a parameter, if it is set.
    #[must_use]
    pub fn get(&self, parameter: &str) -> Option<&str> {
        self.0.get(parameter).map(String::as_str)
    }

    /// Value on a parameter.
    ///
    /// # Errors
    /// When the parameter is missing.
    pub fn choice(&self, parameter: &str) -> Result<&str, Error> {
        self.get(parameter)
            .ok_or_else(|| Error::Parameter { parameter: parameter.to_owned(), reason: "it is missing".to_owned() })
    }

    /// Size on a parameter, in bytes.
    ///
    /// # Errors
    /// When the parameter is missing, or its value is not a size.
    pub fn bytes(&self, parameter: &str) -> Result<u64, Error> {
        parse_size(self.choice(parameter)?)
    }

    /// Count on a parameter.
    ///
    /// # Errors
    /// When the parameter is missing, or its value is not a whole number.
    pub fn count(&self, parameter: &str) -> Result<u64, Error> {
        let text = self.choice(parameter)?;
        text.parse().map_err(|_| Error::Parameter {
            parameter: parameter.to_owned(),
            reason: format!("'{text}' is not a whole number"),
        })
    }

    /// Whether this set of parameters has every parameter of `other` with the same value.
    #[must_use]
    pub fn includes(&self, other: &Self) -> bool {
        other.iter().all(|(parameter, value)| self.get(parameter) == Some(value))
    }

    /// Whether a value on a parameter is one that was asked for: `placement=cross_cpu` asks for any two different CPUs.
    #[must_use]
    pub fn means(parameter: &str, asked: &str, value: &str) -> bool {
        value == asked || (parameter == "placement" && asked == ANY_CROSSING && CROSSINGS.contains(&value))
    }

    fn sorted(&self) -> Vec<(&str, &str)> {
        let mut pairs: Vec<_> = self.iter().collect();
        pairs.sort_unstable();
        pairs
    }
}

impl Hash for Parameters {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.sorted().hash(state);
    }
}

impl PartialOrd for Parameters {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Parameters {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.sorted().cmp(&other.sorted())
    }
}

impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (parameter, value)) in self.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{parameter}={value}")?;
        }
        Ok(())
    }
}

impl FromStr for Parameters {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let refuse = || Error::Parameters(text.to_owned());
        let mut parameters = Self::none();
        for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (parameter, value) = pair.split_once('=').ok_or_else(refuse)?;
            if parameter.is_empty() || value.is_empty() || parameters.get(parameter).is_some() {
                return Err(refuse());
            }
            parameters = parameters.with(parameter, value);
        }
        Ok(parameters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_kept_and_does_not_matter() {
        let a: Parameters = "working_set=64MiB,threads=1".parse().unwrap();
        let b: Parameters = "threads=1,working_set=64MiB".parse().unwrap();
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
            assert!(text.parse::<Parameters>().is_err(), "{text}");
        }
        assert!("".parse::<Parameters>().unwrap().is_empty());
    }
}
