//! Predictions of methods for machines that they were not fitted to: by model, family or maker of CPU, never by
//! instance.
//!
//! Methods are weighted by their errors on groups left out, as in stacking (Wolpert, Neural Networks 5, 1992; Breiman,
//! Machine Learning 24, 1996). Those errors do not describe the blend: each method has most weight where it happened to
//! err little, so the blend looks better on the machines that chose it than on others. Intervals therefore use the
//! errors of one blend for each fold, weighted by the errors on the other folds alone (the weights are cross-validated
//! too, not only the fits). The fits behind those errors did include the fold; excluding it there as well would take a
//! fit for every two folds.

use stats::median;

use super::matrix::{Matrix, count};
use super::method::{CANDIDATES, FittedMethod, PredictMethod};

/// Fits of one method, at most; beyond that several groups are left out together (CV+, Barber et al. 2021).
const FOLDS: usize = 20;
/// Fewest groups for choosing a method by its errors.
pub(crate) const FEWEST: usize = 3;
/// The methods below that; the first is nearly the weighting, with a constant that is the mean.
const UNTRIED: [PredictMethod; 2] = [PredictMethod::Ridge(3.0), PredictMethod::Rating];
/// The method with one machine, where it is the weighting.
const ALONE: [PredictMethod; 1] = [PredictMethod::Ridge(3.0)];

/// Methods blended by their errors, with the fits that leave out each machine.
#[derive(Debug, Clone)]
pub(crate) struct BlendedMethods {
    /// The methods by weight, heaviest first.
    pub(crate) methods: Vec<(PredictMethod, f64)>,
    pub(crate) fit: Blend,
    /// For each row: index of the fit without its group, and that fit's error there, as a logarithm.
    pub(crate) errors: Vec<(usize, f64)>,
    /// The fits with groups left out, whose errors are not in their weights either.
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

/// Weights methods by a power of the inverse of their error on groups left out. With six groups, a method with twice
/// the error of another has a sixteenth of its weight; nearly equal ones, which few machines cannot distinguish, share.
/// Below three groups the most cautious methods are used. `None` without machines or columns.
pub(crate) fn choose(matrix: &Matrix, prior: &[f64], groups: &[usize]) -> Option<BlendedMethods> {
    if matrix.rows.is_empty() || matrix.columns.is_empty() {
        return None;
    }
    let folds = folds(groups);
    if folds.len() < FEWEST {
        return untried(matrix, prior, groups, &folds);
    }
    let tried: Vec<TriedMethod> =
        CANDIDATES.iter().filter_map(|&method| TriedMethod::of(method, matrix, prior, groups, &folds)).collect();
    if tried.is_empty() {
        return None;
    }
    let power = sharpness(folds.len());
    let fits = fold_blends(&tried, folds.len(), power);
    let errors = errors(matrix, groups, &folds, |fold, row, family| fits[fold].predict(row, family));
    let weights = weights(tried.iter().map(TriedMethod::score), power);
    let mut methods: Vec<(PredictMethod, f64)> = tried.iter().map(|t| t.method).zip(weights.iter().copied()).collect();
    methods.sort_by(|a, b| b.1.total_cmp(&a.1));
    let fit = Blend(weights.into_iter().zip(tried.into_iter().map(|t| t.fit)).collect());
    Some(BlendedMethods { methods, fit, errors, fits })
}

/// For each fold: the methods fitted without it, weighed by their errors on the other folds.
fn fold_blends(tried: &[TriedMethod], folds: usize, power: f64) -> Vec<Blend> {
    (0..folds)
        .map(|fold| {
            let weights = weights(tried.iter().map(|t| t.score_without(fold)), power);
            Blend(weights.into_iter().zip(tried.iter().map(|t| t.fits[fold].clone())).collect())
        })
        .collect()
}

/// Weights by a power of the inverse of the scores; their sum is 1.
fn weights(scores: impl Iterator<Item = f64>, power: f64) -> Vec<f64> {
    let scores: Vec<f64> = scores.collect();
    let best = scores.iter().copied().fold(f64::INFINITY, f64::min).max(f64::MIN_POSITIVE);
    let weights: Vec<f64> = scores.iter().map(|score| (best / score.max(best)).powf(power)).collect();
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / total).collect()
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
    /// The fits without each fold.
    fits: Vec<FittedMethod>,
    /// For each row: its fold, and the error of the fit without that fold.
    errors: Vec<(usize, f64)>,
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
        let tried = Self { method, fit: method.fit(matrix, prior)?, fits, errors };
        tried.score().is_finite().then_some(tried)
    }

    /// The score on all folds.
    fn score(&self) -> f64 {
        score(self.errors.iter().map(|(_, error)| *error))
    }

    /// The score on all folds but one.
    fn score_without(&self, out: usize) -> f64 {
        score(self.errors.iter().filter(|(fold, _)| *fold != out).map(|(_, error)| *error))
    }
}

/// Square of the mean root of absolute errors: near their median, but large ones are not ignored.
fn score(errors: impl Iterator<Item = f64>) -> f64 {
    let roots: Vec<f64> = errors.map(|error| error.abs().sqrt()).collect();
    (roots.iter().sum::<f64>() / roots.len() as f64).powi(2)
}

/// Distributes groups over at most [`FOLDS`] folds.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Six machines of six models and two columns. The application is the first column on all but one, and far from it
    /// there.
    fn matrix() -> Matrix {
        let first = [0.0, 0.4, 1.1, 1.7, 2.1, 3.0];
        let second = [0.9, 0.1, 1.5, 1.2, 2.9, 2.2];
        let numbers: Vec<usize> = (0..first.len()).collect();
        Matrix {
            columns: vec![0, 1],
            facts: Vec::new(),
            machines: numbers.clone(),
            rows: first.iter().zip(second).map(|(a, b)| vec![*a, b]).collect(),
            targets: first.iter().enumerate().map(|(m, x)| if m == 2 { x + 2.0 } else { *x }).collect(),
            models: numbers.clone(),
            families: vec![0; first.len()],
            makers: vec![0; first.len()],
            left_out: Vec::new(),
        }
    }

    fn tried_of(matrix: &Matrix, folds: &[Vec<usize>]) -> Vec<TriedMethod> {
        let methods = [PredictMethod::Rating, PredictMethod::Ridge(3.0), PredictMethod::Neighbour];
        methods.iter().filter_map(|&m| TriedMethod::of(m, matrix, &[0.5, 0.5], &matrix.models, folds)).collect()
    }

    #[test]
    fn a_folds_own_errors_have_no_part_in_the_weights_of_its_blend() {
        let matrix = matrix();
        let folds = folds(&matrix.models);
        let mut tried = tried_of(&matrix, &folds);
        assert_eq!((tried.len(), folds.len()), (3, 6));
        let said = |tried: &[TriedMethod], fold: usize| {
            fold_blends(tried, folds.len(), 4.0)[fold].predict(&matrix.rows[fold], Some(0))
        };
        let before: Vec<f64> = (0..folds.len()).map(|fold| said(&tried, fold)).collect();
        for (fold, before) in before.iter().enumerate() {
            // The worst of methods on one fold is made the only one that is right there.
            let errors: Vec<Vec<(usize, f64)>> = tried.iter().map(|t| t.errors.clone()).collect();
            for (place, method) in tried.iter_mut().enumerate() {
                method.errors[fold].1 = if place == 2 { 0.0 } else { 9.0 };
            }
            assert!((said(&tried, fold) - before).abs() < 1e-12, "fold {fold} has a part in its own weights");
            let other = (fold + 1) % folds.len();
            let apart = (said(&tried, other) - said(&tried_of(&matrix, &folds), other)).abs();
            assert!(apart > 1e-6, "fold {fold} has no part in the weights of fold {other}");
            tried.iter_mut().zip(errors).for_each(|(method, errors)| method.errors = errors);
        }
    }

    #[test]
    fn errors_of_the_blend_are_those_of_the_blends_of_folds() {
        let matrix = matrix();
        let folds = folds(&matrix.models);
        let chosen = choose(&matrix, &[0.5, 0.5], &matrix.models).expect("six models are enough");
        let tried: Vec<TriedMethod> = CANDIDATES
            .iter()
            .filter_map(|&m| TriedMethod::of(m, &matrix, &[0.5, 0.5], &matrix.models, &folds))
            .collect();
        let by_the_others = fold_blends(&tried, folds.len(), sharpness(folds.len()));
        let own = weights(tried.iter().map(TriedMethod::score), sharpness(folds.len()));
        let mut flattered = 0;
        for (row, &(fold, error)) in chosen.errors.iter().enumerate() {
            let error_of = |blend: &Blend| blend.predict(&matrix.rows[row], Some(0)) - matrix.targets[row];
            assert!((error - error_of(&by_the_others[fold])).abs() < 1e-12);
            let weighed_here = Blend(own.iter().copied().zip(tried.iter().map(|t| t.fits[fold].clone())).collect());
            flattered += usize::from(error_of(&weighed_here).abs() < error.abs());
        }
        // With weights that these errors chose, the same machines seem easier.
        assert!(flattered >= 5, "{flattered} of 6");
    }
}
