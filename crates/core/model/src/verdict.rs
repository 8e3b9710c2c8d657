//! The verdict on two results: one set of words for every command and every format.

use serde::{Deserialize, Serialize};

use crate::{Better, Metric, Unit};

/// Which way a result moved from the baseline, in words that fit its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// A time went down or a rate up.
    Faster,
    /// A time went up or a rate down.
    Slower,
    /// Any other result changed in its metric's better direction.
    Better,
    /// Any other result changed in the other direction.
    Worse,
}

impl Direction {
    /// The direction of a logarithm of a result's value over that of the baseline.
    #[must_use]
    pub fn of(metric: &Metric, log: f64) -> Self {
        let better = (log > 0.0) == (metric.better == Better::Higher);
        let speed = metric.unit == Unit::Seconds || metric.unit.is_rate();
        match (speed, better) {
            (true, true) => Self::Faster,
            (true, false) => Self::Slower,
            (false, true) => Self::Better,
            (false, false) => Self::Worse,
        }
    }

    /// Whether it is for the worse.
    #[must_use]
    pub const fn is_worse(self) -> bool {
        matches!(self, Self::Slower | Self::Worse)
    }
}

/// What two results show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Verdict {
    /// They differ by more than the margin, significantly over the whole report. Results in modes may differ without
    /// one direction.
    Different(Option<Direction>),
    /// They differ by less than the margin.
    NoChange,
    /// The samples show neither.
    Inconclusive,
    /// A published value has no error bars, and differs by more than its digits, run-to-run variation and 30%. No test
    /// stands behind it.
    Probable(Direction),
}

/// The word of each verdict.
const WORDS: [(Verdict, &str); 11] = [
    (Verdict::Different(Some(Direction::Slower)), "slower"),
    (Verdict::Different(Some(Direction::Faster)), "faster"),
    (Verdict::Different(Some(Direction::Worse)), "worse"),
    (Verdict::Different(Some(Direction::Better)), "better"),
    (Verdict::Different(None), "changed"),
    (Verdict::NoChange, "no change"),
    (Verdict::Inconclusive, "inconclusive"),
    (Verdict::Probable(Direction::Slower), "probably slower"),
    (Verdict::Probable(Direction::Faster), "probably faster"),
    (Verdict::Probable(Direction::Worse), "probably worse"),
    (Verdict::Probable(Direction::Better), "probably better"),
];

impl Verdict {
    /// Its word: what every screen prints and every document stores.
    #[must_use]
    pub fn word(self) -> &'static str {
        WORDS.iter().find(|(verdict, _)| *verdict == self).map_or("", |(_, word)| word)
    }

    /// Whether the results differ, by a test.
    #[must_use]
    pub const fn differs(self) -> bool {
        matches!(self, Self::Different(_))
    }

    /// The direction of the change, if there is one.
    #[must_use]
    pub const fn direction(self) -> Option<Direction> {
        match self {
            Self::Different(direction) => direction,
            Self::Probable(direction) => Some(direction),
            Self::NoChange | Self::Inconclusive => None,
        }
    }
}

/// Answer of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateAnswer {
    /// Nothing meets its condition, significantly.
    Pass,
    /// Something meets it significantly.
    Fail,
    /// Neither can be shown, or nothing could be tested.
    Inconclusive,
}

impl From<Verdict> for &'static str {
    fn from(verdict: Verdict) -> Self {
        verdict.word()
    }
}

impl TryFrom<String> for Verdict {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        let found = WORDS.iter().find(|(_, known)| *known == word);
        found.map(|(verdict, _)| *verdict).ok_or_else(|| format!("'{word}' is not a verdict"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verdict_has_a_word_of_its_own_and_is_read_back() {
        for (verdict, word) in WORDS {
            let text = serde_json::to_string(&verdict).unwrap();
            assert_eq!(text, format!("\"{word}\""));
            assert_eq!(serde_json::from_str::<Verdict>(&text).unwrap(), verdict);
        }
        assert!(serde_json::from_str::<Verdict>("\"DIFFERENT\"").is_err());
    }

    #[test]
    fn a_higher_rate_is_faster_and_more_memory_is_worse() {
        let of = |metric: Metric, log: f64| Direction::of(&metric, log);
        assert_eq!(of(Metric::lower(Unit::Seconds, "call"), 0.1), Direction::Slower);
        assert_eq!(of(Metric::higher(Unit::PerSecond, "calls"), 0.1), Direction::Faster);
        assert_eq!(of(Metric::lower(Unit::Bytes, "memory"), 0.1), Direction::Worse);
    }
}
