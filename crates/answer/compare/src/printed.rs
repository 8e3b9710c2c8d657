//! Cells of a printed table that disagree with the raw values.

use model::ResultKey;
use serde::{Deserialize, Serialize};

use super::options::Normalise;
use super::result::Comparison;

/// A cell of a printed, normalised table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrintedCell {
    /// Name of the machine, as in the comparison.
    pub machine: String,
    /// The result; absent for the overall geometric mean.
    pub result: Option<ResultKey>,
    /// The digits as printed; their number gives the rounding.
    pub text: String,
}

/// A printed cell that is not the rounded quotient of the raw values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Disagreement {
    /// The cell.
    pub printed: PrintedCell,
    /// The value from the raw values.
    pub recomputed: f64,
    /// Printed minus recomputed.
    pub difference: f64,
    /// Half a unit of the last printed digit, which rounding explains.
    pub rounding: f64,
}

impl Comparison {
    /// The printed cells that rounding of their last digit does not explain, in the given order. `scale` is the printed
    /// value of a ratio of 1: 1, or 100 for percentages. Cells without a raw counterpart are skipped.
    #[must_use]
    pub fn disagreements(&self, printed: &[PrintedCell], scale: f64) -> Vec<Disagreement> {
        printed.iter().filter_map(|cell| self.disagreement(cell, scale)).collect()
    }

    fn disagreement(&self, cell: &PrintedCell, scale: f64) -> Option<Disagreement> {
        let value: f64 = cell.text.trim().parse().ok()?;
        let recomputed = scale
            * match &cell.result {
                Some(key) => {
                    let row = self.rows.iter().find(|row| row.key() == *key)?;
                    self.normalise.rewritten(&row.metric, row.ratio(&cell.machine)?.value?, Normalise::Ratio)
                }
                None => {
                    let overall = |mean: &&super::GeometricMean| mean.family.is_none() && mean.machine == cell.machine;
                    let mean = self.geometric_means.iter().find(overall)?;
                    mean.of.rewritten(&self.rows.first()?.metric, mean.value, Normalise::Ratio)
                }
            };
        let decimals = cell.text.trim().split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let rounding = 0.5 * 10.0_f64.powi(-i32::try_from(decimals).ok()?);
        let difference = value - recomputed;
        // A quotient on the edge may have been rounded either way.
        (difference.abs() > rounding * (1.0 + 1e-9)).then(|| Disagreement {
            printed: cell.clone(),
            recomputed,
            difference,
            rounding,
        })
    }
}
