//! When a comparison shall count as failed, for use in continuous integration.

use std::str::FromStr;

use super::result::{Comparison, Verdict};
use super::sort::gain;
use crate::Error;

/// A condition to fail on: `slower`, `slower:5`, `different`, `different:5`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FailOn {
    /// Whether only changes for the worse count.
    pub worse_only: bool,
    /// Least change in percent: by how much more time it takes, or would take for a rate; 0 for any.
    pub percent: f64,
}

/// A figure that meets the condition.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Failure {
    /// Name of the machine.
    pub machine: String,
    /// Name of the figure.
    pub figure: String,
    /// Percent more time than the reference (negative: less).
    pub percent: Option<f64>,
}

impl FromStr for FailOn {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let refuse = || Error::FailOn(text.to_owned());
        let (word, percent) = text.split_once(':').map_or((text, "0"), |(word, percent)| (word, percent));
        let percent: f64 = percent.trim().trim_end_matches('%').parse().map_err(|_| refuse())?;
        let worse_only = match word.trim() {
            "slower" => true,
            "different" => false,
            _ => return Err(refuse()),
        };
        if percent.is_finite() && percent >= 0.0 { Ok(Self { worse_only, percent }) } else { Err(refuse()) }
    }
}

impl FailOn {
    /// The figures that meet it. Only a verdict DIFFERENT counts, so that noise fails nothing; the estimate then decides
    /// about the percentage. A figure in modes has no single percentage and counts when its modes moved that way.
    #[must_use]
    pub fn failures(&self, comparison: &Comparison) -> Vec<Failure> {
        let mut failures = Vec::new();
        for row in &comparison.rows {
            for ratio in row.ratios.iter().filter(|ratio| ratio.verdict == Some(Verdict::Different)) {
                let worse = ratio.direction.is_some_and(super::result::Direction::is_worse);
                let percent = gain(row, ratio, comparison.normalise).map(|gain| (1.0 / gain - 1.0) * 100.0);
                let enough = percent.is_none_or(|percent| percent.abs() >= self.percent);
                if enough && (worse || !self.worse_only) {
                    failures.push(Failure { machine: ratio.machine.clone(), figure: row.key().to_string(), percent });
                }
            }
        }
        failures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_or_refused() {
        assert_eq!("slower".parse::<FailOn>().unwrap(), FailOn { worse_only: true, percent: 0.0 });
        assert_eq!("slower:5%".parse::<FailOn>().unwrap(), FailOn { worse_only: true, percent: 5.0 });
        assert_eq!("different:2.5".parse::<FailOn>().unwrap(), FailOn { worse_only: false, percent: 2.5 });
        for text in ["", "faster", "slower:", "slower:-1", "slower:NaN", "slower:x"] {
            assert!(text.parse::<FailOn>().is_err(), "{text}");
        }
    }
}
