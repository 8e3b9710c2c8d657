//! Methods of prediction on logarithms.

use serde::{Deserialize, Serialize};
use stats::benchmark_weighting::BenchmarkWeighting;
use stats::ridge::RidgeProblem;
use stats::{benchmark_weighting, median};

use super::matrix::Matrix;

/// Misfit below which a better fit makes no difference, as a logarithm; as in [`benchmark_weighting`].
const SOFTENING: f64 = 0.1;
/// How strongly a column is tied to its weight: the prior variance falls with the square of its misfit.
const FADING: f64 = 2.0;
/// Prior standard deviation of the coefficient of a machine fact, relative to that of a typical benchmark.
const FACT_SCALE: f64 = 0.5;

/// A method of prediction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PredictMethod {
    /// The best single benchmark times one constant: a line through the origin, with a constant for each measured
    /// family of CPU.
    Rating,
    /// The value of the machine whose benchmarks are nearest, scaled by the geometric mean of the benchmarks.
    Neighbour,
    /// Ridge regression on logarithms, shrunk towards a robust weighting of the benchmarks. The number is the penalty
    /// relative to the spread of the machines.
    Ridge(f64),
    /// The same with the facts of the machines as further columns.
    RidgeWithFacts(f64),
}

/// Methods to choose from by their errors, if there are enough machines. More methods gain nothing
/// (`validation/predict.md`).
pub(crate) const CANDIDATES: [PredictMethod; 5] = [
    PredictMethod::Rating,
    PredictMethod::Neighbour,
    PredictMethod::Ridge(3.0),
    PredictMethod::Ridge(0.03),
    PredictMethod::RidgeWithFacts(0.1),
];

impl PredictMethod {
    /// Its name in a word or two.
    #[must_use]
    pub const fn short(self) -> &'static str {
        match self {
            Self::Rating => "one benchmark",
            Self::Neighbour => "nearest",
            Self::Ridge(_) => "ridge",
            Self::RidgeWithFacts(_) => "ridge, facts",
        }
    }

    /// Its name in words.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Self::Rating => "scaling by the best single benchmark".to_owned(),
            Self::Neighbour => "nearest machine, scaled".to_owned(),
            Self::Ridge(penalty) => format!("ridge regression towards the weighting (penalty {penalty})"),
            Self::RidgeWithFacts(penalty) => format!("ridge regression with facts of the machines (penalty {penalty})"),
        }
    }

    /// Fits to all rows. `None` without rows or columns, and without facts for a method that needs them.
    pub(crate) fn fit(self, matrix: &Matrix, prior: &[f64]) -> Option<FittedMethod> {
        let weighting = || benchmark_weighting(&matrix.measured(), &matrix.targets, Some(prior));
        match self {
            Self::Rating => rating(matrix, &weighting()?),
            Self::Neighbour => Neighbour::of(matrix).map(FittedMethod::Neighbour),
            Self::Ridge(penalty) => ridge(matrix, &weighting()?, prior, penalty, false),
            Self::RidgeWithFacts(_) if matrix.facts.is_empty() => None,
            Self::RidgeWithFacts(penalty) => ridge(matrix, &weighting()?, prior, penalty, true),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) enum FittedMethod {
    Line(FittedLine),
    Neighbour(Neighbour),
}

impl FittedMethod {
    /// Speed of the application on a machine of a family, if the family is part of the fit.
    pub(crate) fn predict(&self, row: &[f64], family: Option<usize>) -> f64 {
        match self {
            Self::Line(line) => line.predict(row, family),
            Self::Neighbour(neighbour) => neighbour.predict(row),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct FittedLine {
    coefficients: Vec<f64>,
    constant: f64,
    /// Constants of measured families, by number of the family.
    families: Vec<(usize, f64)>,
}

impl FittedLine {
    fn predict(&self, row: &[f64], family: Option<usize>) -> f64 {
        let own = family.and_then(|family| self.families.iter().find(|(known, _)| *known == family));
        let constant = own.map_or(self.constant, |(_, constant)| *constant);
        // Facts come last in a row, and a line without them has fewer coefficients.
        constant + row.iter().zip(&self.coefficients).map(|(x, c)| x * c).sum::<f64>()
    }
}

/// The machine whose benchmarks are nearest: most alike in their proportions, then in their level.
#[derive(Debug, Clone)]
pub(crate) struct Neighbour {
    rows: Vec<Vec<f64>>,
    targets: Vec<f64>,
    width: usize,
}

impl Neighbour {
    fn of(matrix: &Matrix) -> Option<Self> {
        let width = matrix.columns.len();
        (width > 0 && !matrix.rows.is_empty()).then(|| Self {
            rows: matrix.measured(),
            targets: matrix.targets.clone(),
            width,
        })
    }

    fn predict(&self, row: &[f64]) -> f64 {
        let compared = self.rows.iter().zip(&self.targets).map(|(own, target)| {
            let apart: Vec<f64> = row[..self.width].iter().zip(own).map(|(x, y)| x - y).collect();
            let scale = apart.iter().sum::<f64>() / self.width as f64;
            (apart.iter().map(|a| a * a).sum::<f64>(), target + scale)
        });
        compared.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(f64::NAN, |(_, said)| said)
    }
}

/// The column with the smallest misfit over the root of its prior weight, which decides between equal misfits.
fn rating(matrix: &Matrix, fit: &BenchmarkWeighting) -> Option<FittedMethod> {
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
    let mut coefficients = vec![0.0; best + 1];
    coefficients[best] = 1.0;
    Some(FittedMethod::Line(FittedLine { coefficients, constant, families }))
}

/// Columns are scaled by their prior standard deviation, so that a single penalty shrinks all towards the weighting.
fn ridge(
    matrix: &Matrix,
    fit: &BenchmarkWeighting,
    prior: &[f64],
    penalty: f64,
    with_facts: bool,
) -> Option<FittedMethod> {
    let width = fit.weights.len();
    let benchmarks = fit.misfits.iter().zip(prior).map(|(misfit, prior)| {
        let faded = SOFTENING * SOFTENING / (misfit * misfit + SOFTENING * SOFTENING);
        (prior * width as f64).max(1e-6).sqrt() * faded.powf(FADING / 2.0)
    });
    let mut scale: Vec<f64> = benchmarks.collect();
    let typical = scale.iter().copied().fold(0.0, f64::max);
    let further = if with_facts { matrix.facts.len() } else { 0 };
    scale.extend(std::iter::repeat_n(FACT_SCALE * typical, further));
    let rows: Vec<Vec<f64>> =
        matrix.rows.iter().map(|row| row.iter().zip(&scale).map(|(x, s)| x * s).collect()).collect();
    let mut towards: Vec<f64> = fit.weights.iter().zip(&scale).map(|(w, s)| w / s).collect();
    towards.extend(std::iter::repeat_n(0.0, further));
    let spread = mean_square(&rows).max(1e-12);
    let problem = RidgeProblem { rows: &rows, targets: &matrix.targets, prior: &towards };
    let line = problem.fit(penalty * spread)?;
    let coefficients = line.coefficients.iter().zip(&scale).map(|(c, s)| c * s).collect();
    Some(FittedMethod::Line(FittedLine { coefficients, constant: line.intercept, families: Vec::new() }))
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
