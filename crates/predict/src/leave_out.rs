//! Predictions of methods for machines that they were not fitted to: by model, family or maker of CPU, never by
//! instance.

use stats::median;

use super::matrix::{Matrix, count};
use super::method::{CANDIDATES, FittedMethod, PredictMethod};

/// Fits of one method, at most; beyond that several groups are left out together (CV+, Barber et al. 2021).
const FOLDS: usize = 20;
/// Fewest groups for choosing a method by its errors.
pub(crate) const FEWEST: usize = 3;
/// The methods below that; the first is nearly the weighting, with a constant that is the mean.
const UNTRIED: [PredictMethod; 2] = [PredictMethod::Ridge(3.0), PredictMethod::Rating];
/// The method with one machine.
const ALONE: [PredictMethod; 1] = [PredictMethod::Weighting];

/// Methods blended by their errors, with the fits that leave out each machine.
#[derive(Debug, Clone)]
pub(crate) struct BlendedMethods {
    /// The methods by weight, heaviest first.
    pub(crate) methods: Vec<(PredictMethod, f64)>,
    pub(crate) fit: Blend,
    /// For each row: index of the fit without its group, and that fit's error there, as a logarithm.
    pub(crate) errors: Vec<(usize, f64)>,
    /// The fits with groups left out.
    pub(crate) fits: Vec<Blend>,
}

/// A weighted mean of fitted methods.
#[derive(Debug, Clone, Default)]
pub(crate) struct Blend(Vec<(f64, FittedMethod)>);

impl Blend {
    /// Speed of the application on a machine of a family, if the family is part of the fits.
    pub(crate) fn predict(&self, row: &[f64], family: Option<usize>) -> f64 {
        self.0.iter().map(|(weight, fit)| weight * fit.predict(row, family)).sum()
    }
}

/// Weights methods by the inverse fourth power of their error on groups left out: a method with twice the error of
/// another has a sixteenth of its weight, and nearly equal ones, which few machines cannot distinguish, share. Below
/// three groups the most cautious method is used. `None` without machines or columns.
pub(crate) fn choose(matrix: &Matrix, prior: &[f64], groups: &[usize]) -> Option<BlendedMethods> {
    if matrix.rows.is_empty() || matrix.columns.is_empty() {
        return None;
    }
    let folds = folds(groups);
    if folds.len() < FEWEST {
        return untried(matrix, prior, groups, &folds);
    }
    let mut tried: Vec<TriedMethod> =
        CANDIDATES.iter().filter_map(|&method| TriedMethod::of(method, matrix, prior, groups, &folds)).collect();
    let best = tried.iter().map(|t| t.score).min_by(f64::total_cmp)?.max(f64::MIN_POSITIVE);
    let power = sharpness(folds.len());
    tried.iter_mut().for_each(|t| t.weight = (best / t.score.max(best)).powf(power));
    let total: f64 = tried.iter().map(|t| t.weight).sum();
    tried.iter_mut().for_each(|t| t.weight /= total);
    let fits: Vec<Blend> =
        (0..folds.len()).map(|fold| Blend(tried.iter().map(|t| (t.weight, t.fits[fold].clone())).collect())).collect();
    let errors = errors(matrix, groups, &folds, |fold, row, family| fits[fold].predict(row, family));
    let mut methods: Vec<(PredictMethod, f64)> = tried.iter().map(|t| (t.method, t.weight)).collect();
    methods.sort_by(|a, b| b.1.total_cmp(&a.1));
    let fit = Blend(tried.into_iter().map(|t| (t.weight, t.fit)).collect());
    Some(BlendedMethods { methods, fit, errors, fits })
}

/// Exponent of the weights: more groups tell methods apart better.
fn sharpness(groups: usize) -> f64 {
    groups as f64 / 1.5
}

/// The most cautious methods in equal parts, with their own errors where two groups give some.
fn untried(matrix: &Matrix, prior: &[f64], groups: &[usize], folds: &[Vec<usize>]) -> Option<BlendedMethods> {
    let methods_for = |matrix: &Matrix| if matrix.rows.len() < 2 { &ALONE[..] } else { &UNTRIED[..] };
    let fitted = |matrix: &Matrix| {
        let methods = methods_for(matrix);
        let weight = 1.0 / methods.len() as f64;
        methods.iter().map(|method| Some((weight, method.fit(matrix, prior)?))).collect::<Option<_>>().map(Blend)
    };
    let fit = fitted(matrix)?;
    let fits: Vec<Blend> = if folds.len() < 2 {
        Vec::new()
    } else {
        folds.iter().map(|fold| fitted(&matrix.without(groups, fold))).collect::<Option<_>>()?
    };
    let errors = if fits.is_empty() {
        Vec::new()
    } else {
        errors(matrix, groups, folds, |fold, row, family| fits[fold].predict(row, family))
    };
    let methods = methods_for(matrix);
    let methods = methods.iter().map(|method| (*method, 1.0 / methods.len() as f64)).collect();
    Some(BlendedMethods { methods, fit, errors, fits })
}

/// For each row: its fold, and the error of the fit without that fold.
fn errors(
    matrix: &Matrix,
    groups: &[usize],
    folds: &[Vec<usize>],
    said: impl Fn(usize, &[f64], Option<usize>) -> f64,
) -> Vec<(usize, f64)> {
    (0..matrix.rows.len())
        .filter_map(|i| {
            let fold = folds.iter().position(|out| out.contains(&groups[i]))?;
            Some((fold, said(fold, &matrix.rows[i], Some(matrix.families[i])) - matrix.targets[i]))
        })
        .collect()
}

/// One method, evaluated on groups left out.
struct TriedMethod {
    method: PredictMethod,
    fit: FittedMethod,
    fits: Vec<FittedMethod>,
    /// Square of the mean root of absolute errors: near their median, but large ones are not ignored.
    score: f64,
    weight: f64,
}

impl TriedMethod {
    fn of(
        method: PredictMethod,
        matrix: &Matrix,
        prior: &[f64],
        groups: &[usize],
        folds: &[Vec<usize>],
    ) -> Option<Self> {
        let fits: Option<Vec<FittedMethod>> =
            folds.iter().map(|out| method.fit(&matrix.without(groups, out), prior)).collect();
        let fits = fits?;
        let errors = errors(matrix, groups, folds, |fold, row, family| fits[fold].predict(row, family));
        let score = errors.iter().map(|(_, error)| error.abs().sqrt()).sum::<f64>() / errors.len() as f64;
        let score = score * score;
        (score.is_finite()).then_some(())?;
        Some(Self { method, fit: method.fit(matrix, prior)?, fits, score, weight: 0.0 })
    }
}

/// Groups distributed in turn over at most [`FOLDS`] folds.
pub(crate) fn folds(groups: &[usize]) -> Vec<Vec<usize>> {
    let mut present = groups.to_vec();
    present.sort_unstable();
    present.dedup();
    let count = count(groups).min(FOLDS);
    (0..count).map(|fold| present.iter().copied().skip(fold).step_by(count).collect()).collect()
}

/// Median and 90th percentile of relative errors on groups left out.
pub(crate) fn relative_errors(chosen: &BlendedMethods) -> Option<(f64, f64)> {
    let relative: Vec<f64> = chosen.errors.iter().map(|(_, error)| error.exp_m1().abs()).collect();
    Some((median(&relative)?, stats::quantile(&relative, 0.9)?))
}
