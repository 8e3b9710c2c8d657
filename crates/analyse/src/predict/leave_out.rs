//! Predictions of a method for machines that it was not fitted to: by model of CPU, never by instance.

use stats::median;

use super::matrix::Matrix;
use super::method::{CANDIDATES, FittedLine, PredictMethod};

/// Fits of one method, at most; beyond that several models are left out together (CV+, Barber et al. 2021).
const FOLDS: usize = 20;
/// Fewest models of CPU for choosing a method by its errors.
const FEWEST: usize = 3;
/// The method below that: nearly the weighting, with a constant that is the mean.
const UNTRIED: PredictMethod = PredictMethod::Ridge(3.0);

/// Methods blended by their errors, with the fits that leave out each machine.
#[derive(Debug, Clone)]
pub(crate) struct BlendedMethods {
    /// The methods by weight, heaviest first.
    pub(crate) methods: Vec<(PredictMethod, f64)>,
    pub(crate) fit: Blend,
    /// For each row: index of the fit without its model, and that fit's error there, as a logarithm.
    pub(crate) errors: Vec<(usize, f64)>,
    /// The fits with models left out.
    pub(crate) fits: Vec<Blend>,
}

/// A weighted mean of fitted lines.
#[derive(Debug, Clone, Default)]
pub(crate) struct Blend(Vec<(f64, FittedLine)>);

impl Blend {
    /// Speed of the application on a machine of a family, if the family is part of the fits.
    pub(crate) fn predict(&self, row: &[f64], family: Option<usize>) -> f64 {
        self.0.iter().map(|(weight, fit)| weight * fit.predict(row, family)).sum()
    }
}

/// Weights methods by the inverse fourth power of their error on left-out models: a method with twice the error of
/// another has a sixteenth of its weight, and nearly equal ones, which few machines cannot distinguish, share. Below
/// three models the most cautious method is used, without errors. `None` without machines or columns.
pub(crate) fn choose(matrix: &Matrix, prior: &[f64]) -> Option<BlendedMethods> {
    if matrix.rows.is_empty() || matrix.columns.is_empty() {
        return None;
    }
    if matrix.model_count() < FEWEST {
        let method = if matrix.rows.len() < 2 { PredictMethod::Weighting } else { UNTRIED };
        let fit = Blend(vec![(1.0, method.fit(matrix, prior)?)]);
        return Some(BlendedMethods { methods: vec![(method, 1.0)], fit, errors: Vec::new(), fits: Vec::new() });
    }
    let folds = folds(matrix.model_count());
    let mut tried: Vec<TriedMethod> =
        CANDIDATES.iter().filter_map(|&method| TriedMethod::of(method, matrix, prior, &folds)).collect();
    let best = tried.iter().map(|t| t.score).min_by(f64::total_cmp)?.max(f64::MIN_POSITIVE);
    tried.iter_mut().for_each(|t| t.weight = (best / t.score.max(best)).powi(4));
    let total: f64 = tried.iter().map(|t| t.weight).sum();
    tried.iter_mut().for_each(|t| t.weight /= total);
    let fits: Vec<Blend> =
        (0..folds.len()).map(|fold| Blend(tried.iter().map(|t| (t.weight, t.fits[fold].clone())).collect())).collect();
    let errors = (0..matrix.rows.len())
        .filter_map(|i| {
            let fold = folds.iter().position(|models| models.contains(&matrix.models[i]))?;
            Some((fold, fits[fold].predict(&matrix.rows[i], Some(matrix.families[i])) - matrix.targets[i]))
        })
        .collect();
    let mut methods: Vec<(PredictMethod, f64)> = tried.iter().map(|t| (t.method, t.weight)).collect();
    methods.sort_by(|a, b| b.1.total_cmp(&a.1));
    let fit = Blend(tried.into_iter().map(|t| (t.weight, t.fit)).collect());
    Some(BlendedMethods { methods, fit, errors, fits })
}

/// One method, evaluated on models left out.
struct TriedMethod {
    method: PredictMethod,
    fit: FittedLine,
    fits: Vec<FittedLine>,
    /// Mean of absolute errors, which neither ignores large ones as a median would nor is dominated by one as a mean
    /// square would be.
    score: f64,
    weight: f64,
}

impl TriedMethod {
    fn of(method: PredictMethod, matrix: &Matrix, prior: &[f64], folds: &[Vec<usize>]) -> Option<Self> {
        let fits: Option<Vec<FittedLine>> =
            folds.iter().map(|models| method.fit(&matrix.without(models), prior)).collect();
        let fits = fits?;
        let error = |i: usize| {
            let fold = folds.iter().position(|models| models.contains(&matrix.models[i]))?;
            Some((fits[fold].predict(&matrix.rows[i], Some(matrix.families[i])) - matrix.targets[i]).abs())
        };
        let errors: Option<Vec<f64>> = (0..matrix.rows.len()).map(error).collect();
        let score = errors?.iter().sum::<f64>() / matrix.rows.len() as f64;
        Some(Self { method, fit: method.fit(matrix, prior)?, fits, score, weight: 0.0 })
    }
}

/// Models distributed in turn over at most [`FOLDS`] folds.
fn folds(models: usize) -> Vec<Vec<usize>> {
    let count = models.min(FOLDS);
    (0..count).map(|fold| (fold..models).step_by(count).collect()).collect()
}

/// Median and 90th percentile of relative errors on models left out.
pub(crate) fn relative_errors(chosen: &BlendedMethods) -> Option<(f64, f64)> {
    let relative: Vec<f64> = chosen.errors.iter().map(|(_, error)| (error.exp() - 1.0).abs()).collect();
    Some((median(&relative)?, stats::quantile(&relative, 0.9)?))
}
