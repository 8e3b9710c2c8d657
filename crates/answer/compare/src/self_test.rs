//! Does the product claim differences between equals, and would it find one?

use model::{Run, Verdict};
use serde::{Deserialize, Serialize};

use super::options::CompareOptions;
use super::power::{PlantedPower, power};
use super::ratio_basis::RatioBasis;
use super::result::CompareRow;
use crate::Error;

/// Pairs from which the promises on pairs and on no change can be tested.
pub const FEWEST_PAIRS: usize = 20;
/// Share of results, and of pairs, that may come out different.
pub const FALSE_ALARMS: f64 = 0.05;
/// Share of the results in cycles that come out without a change where no earlier sessions are known.
const LEAST_SAME: f64 = 1.0 / 3.0;
/// Share of the planted differences that are found in results in cycles without a change.
const LEAST_POWER: f64 = 0.8;

/// Verdicts on results that are compared in cycles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EqualVerdicts {
    /// Results compared, over all pairs.
    pub results: usize,
    /// Of these different.
    pub different: usize,
    /// Of these without a change.
    pub no_change: usize,
    /// Of these inconclusive.
    pub inconclusive: usize,
}

impl EqualVerdicts {
    fn add(&mut self, verdict: Verdict) {
        self.results += 1;
        match verdict {
            Verdict::Different(_) => self.different += 1,
            Verdict::NoChange => self.no_change += 1,
            Verdict::Inconclusive | Verdict::Probable(_) => self.inconclusive += 1,
        }
    }
}

/// Result of comparing runs with repetitions of themselves.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SelfTest {
    /// Pairs of runs compared.
    pub pairs: usize,
    /// Pairs with any result that differs.
    pub pairs_with_claims: usize,
    /// Results compared, over all pairs.
    pub results: usize,
    /// Those that differ, all of them false alarms.
    pub different: usize,
    /// Those without a change.
    pub no_change: usize,
    /// Inconclusive ones.
    pub inconclusive: usize,
    /// Those of them that are compared in cycles.
    #[serde(default)]
    pub cycles: EqualVerdicts,
    /// Pairs whose sessions had different clocks or hyperthread neighbours: no false alarms, and not among the results.
    #[serde(default)]
    pub conditions_differ: usize,
    /// Results that would have been found.
    #[serde(default)]
    pub power: PlantedPower,
    /// The false alarms: pair (from 0), result, gain.
    pub claims: Vec<(usize, String, Option<f64>)>,
}

impl SelfTest {
    /// Share of results that differ.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.results == 0 { 0.0 } else { self.different as f64 / self.results as f64 }
    }

    /// Share of the results in cycles without a change; `None` without such results.
    #[must_use]
    pub fn share_no_change(&self) -> Option<f64> {
        (self.cycles.results > 0).then(|| self.cycles.no_change as f64 / self.cycles.results as f64)
    }

    /// Promises that are broken, as clauses; those on pairs and on results in cycles only from [`FEWEST_PAIRS`] on.
    #[must_use]
    pub fn broken(&self) -> Vec<&'static str> {
        let mut broken = Vec::new();
        if self.share() > FALSE_ALARMS {
            broken.push("at most 5% of the results may differ");
        }
        if self.pairs < FEWEST_PAIRS {
            return broken;
        }
        if self.pairs_with_claims as f64 > FALSE_ALARMS * self.pairs as f64 {
            broken.push("at most 5% of the pairs may hold any difference");
        }
        if self.share_no_change().is_some_and(|share| share < LEAST_SAME) {
            broken.push("at least a third of the results in cycles must show no change");
        }
        if self.power.no_change.share().is_some_and(|share| share < LEAST_POWER) {
            broken.push("at least 80% of the planted differences must be found in results in cycles without a change");
        }
        broken
    }
}

/// Compares the two runs of every pair, each pair as a report of its own. Results without a verdict and conditions of
/// the machine do not count.
///
/// # Errors
/// When the runs of a pair cannot be compared.
pub fn self_test(pairs: &[(&Run, &Run)], options: &CompareOptions) -> Result<SelfTest, Error> {
    let mut summary = SelfTest { pairs: pairs.len(), ..SelfTest::default() };
    for (index, (a, b)) in pairs.iter().enumerate() {
        let gains = CompareOptions { normalise: super::Normalise::Gain, ..options.clone() };
        let comparison = super::report::compare_results(&[a, b], &gains)?;
        let before = summary.different;
        let differs = CompareRow::changed;
        let conditions = comparison.conditions.iter().any(differs);
        for row in &comparison.rows {
            for ratio in &row.ratios {
                let Some(verdict) = ratio.verdict else { continue };
                match verdict {
                    Verdict::Different(_) => {
                        summary.different += 1;
                        summary.claims.push((index, row.key().to_string(), ratio.value));
                    }
                    Verdict::NoChange => summary.no_change += 1,
                    Verdict::Inconclusive | Verdict::Probable(_) => summary.inconclusive += 1,
                }
                summary.results += 1;
                if ratio.basis == RatioBasis::Cycles {
                    summary.cycles.add(verdict);
                }
            }
        }
        summary.conditions_differ += usize::from(conditions);
        summary.pairs_with_claims += usize::from(summary.different > before);
        summary.power.add(&power([a, b], &gains)?);
    }
    Ok(summary)
}
