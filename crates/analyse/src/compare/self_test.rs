//! Self-test: differences claimed between equals.

use model::Run;
use serde::{Deserialize, Serialize};

use super::options::CompareOptions;
use super::result::CompareVerdict;
use crate::Error;

/// Result of comparing runs with repetitions of themselves.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SelfTest {
    /// Pairs of runs compared.
    pub pairs: usize,
    /// Pairs with any DIFFERENT figure.
    pub pairs_with_claims: usize,
    /// Figures compared, over all pairs.
    pub figures: usize,
    /// DIFFERENT ones, all of them false alarms.
    pub different: usize,
    /// SAME ones.
    pub same: usize,
    /// UNDECIDED ones.
    pub undecided: usize,
    /// The false alarms: pair (from 0), figure, gain.
    pub claims: Vec<(usize, String, Option<f64>)>,
}

impl SelfTest {
    /// Share of DIFFERENT figures.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.figures == 0 { 0.0 } else { self.different as f64 / self.figures as f64 }
    }
}

/// Compares the two runs of every pair, each pair as a report of its own. Figures without a verdict are not counted.
///
/// # Errors
/// When the runs of a pair cannot be compared.
pub fn self_test(pairs: &[(&Run, &Run)], options: &CompareOptions) -> Result<SelfTest, Error> {
    let mut summary = SelfTest { pairs: pairs.len(), ..SelfTest::default() };
    for (index, (a, b)) in pairs.iter().enumerate() {
        let gains = CompareOptions { normalise: super::Normalise::Gain, ..options.clone() };
        let comparison = super::compare(&[a, b], &gains)?;
        let before = summary.different;
        for row in &comparison.rows {
            for ratio in &row.ratios {
                match ratio.verdict {
                    Some(CompareVerdict::Different) => {
                        summary.different += 1;
                        summary.claims.push((index, row.key().to_string(), ratio.value));
                    }
                    Some(CompareVerdict::Same) => summary.same += 1,
                    Some(CompareVerdict::Undecided | CompareVerdict::DifferentSpreadAssumed) => summary.undecided += 1,
                    None => continue,
                }
                summary.figures += 1;
            }
        }
        summary.pairs_with_claims += usize::from(summary.different > before);
    }
    Ok(summary)
}
