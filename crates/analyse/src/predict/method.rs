//! Methods of prediction, each a line through logarithms.

use serde::{Deserialize, Serialize};
use stats::ridge::RidgeProblem;
use stats::{median, probe_weighting};

use super::matrix::Matrix;

/// Misfit below which a better fit makes no difference, as a logarithm; as in [`probe_weighting`].
const SOFTENING: f64 = 0.1;
/// How strongly a column is tied to its weight: the prior variance falls with the square of its misfit.
const FADING: f64 = 2.0;

/// A method of prediction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PredictMethod {
    /// The best single probe times one constant: a line through the origin, with a constant for each measured family of
    /// CPU.
    Rating,
    /// Robust weighting of probes; weights sum to 1, one constant.
    Weighting,
    /// Ridge regression on logarithms, shrunk towards the weighting; the number is the penalty relative to the spread
    /// of the machines.
    Ridge(f64),
}

/// Methods to choose from by their errors, if there are enough machines.
pub(crate) const CANDIDATES: [PredictMethod; 7] = [
    PredictMethod::Rating,
    PredictMethod::Weighting,
    PredictMethod::Ridge(3.0),
    PredictMethod::Ridge(1.0),
    PredictMethod::Ridge(0.3),
    PredictMethod::Ridge(0.1),
    PredictMethod::Ridge(0.03),
];

impl PredictMethod {
    /// Its name in words.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Self::Rating => "scaling by the best single probe".to_owned(),
            Self::Weighting => "robust weighting of the probes".to_owned(),
            Self::Ridge(penalty) => format!("ridge regression towards the weighting (penalty {penalty})"),
        }
    }

    /// Fits to all rows. `None` without rows or columns, and for ridge regression below two rows.
    pub(crate) fn fit(self, matrix: &Matrix, prior: &[f64]) -> Option<FittedLine> {
        match self {
            Self::Rating => rating(matrix, prior),
            Self::Weighting => {
                let fit = probe_weighting(&matrix.rows, &matrix.targets, Some(prior))?;
                Some(FittedLine { coefficients: fit.weights, constant: fit.constant, families: Vec::new() })
            }
            Self::Ridge(penalty) => ridge(matrix, prior, penalty),
        }
    }
}

/// A fitted line.
#[derive(Debug, Clone)]
pub(crate) struct FittedLine {
    pub(crate) coefficients: Vec<f64>,
    pub(crate) constant: f64,
    /// Constants of measured families, by number of the family.
    families: Vec<(usize, f64)>,
}

impl FittedLine {
    /// Speed of the application on a machine of a family, if the family is part of the fit.
    pub(crate) fn predict(&self, row: &[f64], family: Option<usize>) -> f64 {
        let own = family.and_then(|family| self.families.iter().find(|(known, _)| *known == family));
        let constant = own.map_or(self.constant, |(_, constant)| *constant);
        constant + row.iter().zip(&self.coefficients).map(|(x, c)| x * c).sum::<f64>()
    }
}

/// The column with the smallest misfit over the root of its prior weight, which decides between equal misfits.
fn rating(matrix: &Matrix, prior: &[f64]) -> Option<FittedLine> {
    let fit = probe_weighting(&matrix.rows, &matrix.targets, Some(prior))?;
    let best = (0..fit.weights.len()).max_by(|&a, &b| fit.weights[a].total_cmp(&fit.weights[b]))?;
    let offset = |i: usize| matrix.targets[i] - matrix.rows[i][best];
    let constant_of = |chosen: &[usize]| median(&chosen.iter().map(|&i| offset(i)).collect::<Vec<_>>());
    let all: Vec<usize> = (0..matrix.rows.len()).collect();
    let constant = constant_of(&all)?;
    let count = matrix.families.iter().max().map_or(0, |largest| largest + 1);
    let families = (0..count)
        .filter_map(|family| {
            let members: Vec<usize> = all.iter().copied().filter(|&i| matrix.families[i] == family).collect();
            // The noise of one machine is as large as the difference between families: its constant is shrunk half way
            // to the common one.
            let weight = members.len() as f64 / (members.len() as f64 + 1.0);
            Some((family, weight * constant_of(&members)? + (1.0 - weight) * constant))
        })
        .collect();
    let mut coefficients = vec![0.0; fit.weights.len()];
    coefficients[best] = 1.0;
    Some(FittedLine { coefficients, constant, families })
}

/// Columns are scaled by their prior standard deviation, so that a single penalty shrinks all towards the weighting.
fn ridge(matrix: &Matrix, prior: &[f64], penalty: f64) -> Option<FittedLine> {
    let fit = probe_weighting(&matrix.rows, &matrix.targets, Some(prior))?;
    let width = fit.weights.len();
    let scale: Vec<f64> = fit
        .misfits
        .iter()
        .zip(prior)
        .map(|(misfit, prior)| {
            let faded = SOFTENING * SOFTENING / (misfit * misfit + SOFTENING * SOFTENING);
            (prior * width as f64).max(1e-6).sqrt() * faded.powf(FADING / 2.0)
        })
        .collect();
    let rows: Vec<Vec<f64>> =
        matrix.rows.iter().map(|row| row.iter().zip(&scale).map(|(x, s)| x * s).collect()).collect();
    let towards: Vec<f64> = fit.weights.iter().zip(&scale).map(|(w, s)| w / s).collect();
    let spread = mean_square(&rows).max(1e-12);
    let problem = RidgeProblem { rows: &rows, targets: &matrix.targets, prior: &towards };
    let line = problem.fit(penalty * spread)?;
    let coefficients = line.coefficients.iter().zip(&scale).map(|(c, s)| c * s).collect();
    Some(FittedLine { coefficients, constant: line.intercept, families: Vec::new() })
}

/// Mean squared distance of the rows from their centre.
fn mean_square(rows: &[Vec<f64>]) -> f64 {
    let width = rows.first().map_or(0, Vec::len);
    let n = rows.len() as f64;
    (0..width)
        .map(|k| {
            let centre = rows.iter().map(|row| row[k]).sum::<f64>() / n;
            rows.iter().map(|row| (row[k] - centre).powi(2)).sum::<f64>() / n
        })
        .sum()
}
