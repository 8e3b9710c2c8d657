//! Unit and direction of results.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

/// Base unit of a stored value. The presentation chooses the prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Time, in seconds.
    Seconds,
    /// Data rate, in bytes a second.
    BytesPerSecond,
    /// Rate of anything else that is counted, per second.
    PerSecond,
    /// Clock rate, cycles per second.
    Hertz,
    /// Amount of data, in bytes.
    Bytes,
    /// A count.
    Count,
    /// A ratio without unit; one percent is 0.01.
    Ratio,
    /// Power, in watts.
    Watts,
    /// Energy, in joules.
    Joules,
}

impl Unit {
    /// Whether a value is work over time, rather than time over work.
    #[must_use]
    pub const fn is_rate(self) -> bool {
        matches!(self, Self::BytesPerSecond | Self::PerSecond | Self::Hertz)
    }
}

/// Direction in which a result gets better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Lower is better, as with times.
    Lower,
    /// Higher is better, as with rates.
    Higher,
}

/// The wholes of ratios that are shares, as metrics name them.
const WHOLES: [&str; 13] = [
    "time",
    "CPU time",
    "CPU time over time of counted chunks",
    "CPU time of counted chunks over the time that pilots were connected",
    "session",
    "copy",
    "machine",
    "packets",
    "datagram",
    "event",
    "byte",
    "frame",
    "communication hidden",
];

/// Unit, the object that is counted, and direction.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Metric {
    /// Unit of the stored value.
    pub unit: Unit,
    /// For a time or a count: one of what (`load`, `round trip`). For a rate: the counted object
    /// (`bytes read + written`, `files`).
    pub per: Cow<'static, str>,
    /// Direction.
    pub better: Better,
}

impl Metric {
    /// A metric that is better if lower.
    #[must_use]
    pub const fn lower(unit: Unit, per: &'static str) -> Self {
        Self { unit, per: Cow::Borrowed(per), better: Better::Lower }
    }

    /// A metric that is better if higher.
    #[must_use]
    pub const fn higher(unit: Unit, per: &'static str) -> Self {
        Self { unit, per: Cow::Borrowed(per), better: Better::Higher }
    }

    /// Whether its values are shares of a whole, which people read as percentages. A ratio of two rates, or the number
    /// of parallel loads, is not.
    #[must_use]
    pub fn is_share(&self) -> bool {
        self.unit == Unit::Ratio && WHOLES.contains(&self.per.as_ref())
    }

    /// What a rate counts; empty for other units. Nouns of documents are kept for the life of the program, so that the
    /// quantities that name them can be copied: there are few.
    #[must_use]
    pub fn counted(&self) -> &'static str {
        static NOUNS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
        match &self.per {
            _ if self.unit != Unit::PerSecond => "",
            Cow::Borrowed(noun) => noun,
            Cow::Owned(noun) => {
                let mut nouns = NOUNS.lock().unwrap_or_else(PoisonError::into_inner);
                let known = nouns.get(noun.as_str()).copied();
                known.unwrap_or_else(|| {
                    let kept: &'static str = noun.clone().leak();
                    nouns.insert(kept);
                    kept
                })
            }
        }
    }

    /// The value of `amount` (operations, or bytes for a data rate) in `nanos` nanoseconds: a time per operation in
    /// seconds, or a rate per second.
    #[must_use]
    pub fn value(&self, amount: f64, nanos: f64) -> f64 {
        let seconds = nanos * 1e-9;
        if self.unit.is_rate() { amount / seconds } else { seconds / amount }
    }

    /// Converts a value in cycles to the result's unit at a clock: cycles of one operation become its time, a count per
    /// cycle becomes a rate.
    #[must_use]
    pub fn at_clock(&self, cycles: f64, hertz: f64) -> f64 {
        if self.unit.is_rate() { cycles * hertz } else { cycles / hertz }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_told_from_other_ratios() {
        assert!(Metric::lower(Unit::Ratio, "time").is_share() && Metric::lower(Unit::Ratio, "datagram").is_share());
        assert!(
            !Metric::higher(Unit::Ratio, "loads at once").is_share()
                && !Metric::lower(Unit::Seconds, "time").is_share()
        );
    }

    #[test]
    fn values_follow_the_unit() {
        let time = Metric::lower(Unit::Seconds, "call");
        assert!((time.value(1000.0, 2000.0) - 2e-9).abs() < 1e-18);
        let rate = Metric::higher(Unit::BytesPerSecond, "bytes read");
        assert!((rate.value(1e6, 1e6) - 1e9).abs() < 1.0);
        assert!((time.at_clock(30.0, 3e9) - 10e-9).abs() < 1e-18 && (rate.at_clock(8.0, 3e9) - 24e9).abs() < 1.0);
    }
}
