//! Bare numbers of the text. Their ranges are checked while reading, so that the error names their line.

use serde::de::{Deserialize, Deserializer, Error};

use super::programme::MOST_NODES;

/// A number of at least 0.
pub(crate) fn at_least_zero<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let number = f64::deserialize(from)?;
    let sound = number.is_finite() && number >= 0.0;
    sound.then_some(number).ok_or_else(|| D::Error::custom("a number of at least 0 is wanted"))
}

/// The same where it may be absent.
pub(crate) fn some_at_least_zero<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    at_least_zero(from).map(Some)
}

/// A number above 0, where it may be absent.
pub(crate) fn some_above_zero<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    let number = f64::deserialize(from)?;
    let sound = number.is_finite() && number > 0.0;
    sound.then_some(Some(number)).ok_or_else(|| D::Error::custom("a number above 0 is wanted"))
}

/// A number of nodes; plans have at most a million.
pub(crate) fn nodes<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let number = u32::deserialize(from)?;
    let sound = f64::from(number) <= MOST_NODES;
    sound.then_some(number).ok_or_else(|| D::Error::custom("no plan has more than a million nodes"))
}

/// The same where it may be absent.
pub(crate) fn some_nodes<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    nodes(from).map(Some)
}

/// A name that says something.
pub(crate) fn named<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let name = String::deserialize(from)?;
    let empty = name.trim().is_empty();
    (!empty).then_some(name).ok_or_else(|| D::Error::custom("a name is wanted, and this one is empty"))
}
