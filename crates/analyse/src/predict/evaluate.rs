//! Evaluation: every model of CPU is predicted from others alone, with various numbers of machines.

use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use stats::simulate::generator;
use stats::{median, probe_weighting, quantile};

use super::error::Error;
use super::forecast::{Model, PredictOptions};
use super::matrix::{Matrix, speeds};
use super::result::ForecastStanding;
use super::table::PredictorTable;

/// Accuracy of predictions of an application on machines where its value is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PredictionRecord {
    /// Name of the application.
    pub application: String,
    /// Models of CPU on which it was measured.
    pub models: usize,
    /// Requested confidence level of intervals.
    pub level: f64,
    /// One entry for each number of training machines, rising.
    pub sizes: Vec<AtSize>,
}

/// Errors with one number of training machines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AtSize {
    /// Training machines, each of another model.
    pub machines: usize,
    /// Predictions made.
    pub predictions: usize,
    /// Share of refused ones, which count nowhere else.
    pub refused: f64,
    /// Median relative error.
    pub median_error: f64,
    /// 90th percentile of the relative error.
    pub worst_tenth: f64,
    /// Share of true values inside the interval; absent without intervals.
    pub coverage: Option<f64>,
    /// Median half-width of the interval, relative.
    pub half_width: Option<f64>,
    /// Median relative error of scaling by the single probe that fits the same machines best.
    pub rating_median: f64,
    /// 90th percentile of that error.
    pub rating_worst_tenth: f64,
}

/// One prediction of a known value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TriedPrediction {
    /// Relative error.
    pub error: f64,
    /// Relative error of scaling by the best single probe.
    pub rating_error: f64,
    /// Whether the interval contained the true value; absent without an interval.
    pub covered: Option<bool>,
    /// Half the width of the interval as a logarithm.
    pub half_width: Option<f64>,
    /// Whether the prediction was refused; the errors are then those of the refused value.
    pub refused: bool,
}

/// Predicts machines whose value is known: for each of `sizes`, `repeats` seeded choices of that many training models
/// (one machine of each), and a prediction for every machine of another model. A size that leaves no model to predict
/// is left out; the largest possible one, every model but one, is always included.
///
/// # Errors
/// When the application is known on fewer than three models.
pub fn evaluate(
    table: &PredictorTable,
    sizes: &[usize],
    repeats: usize,
    seed: u64,
    options: &PredictOptions,
) -> Result<PredictionRecord, Error> {
    let by_model = models(table);
    if by_model.len() < 3 {
        return Err(Error::TooFew { application: table.application.name.clone(), models: by_model.len() });
    }
    let most = by_model.len() - 1;
    let mut wanted: Vec<usize> = sizes.iter().copied().filter(|&n| n > 0 && n < most).collect();
    wanted.push(most);
    wanted.sort_unstable();
    wanted.dedup();
    let sizes = wanted
        .into_iter()
        .filter_map(|size| {
            let tried = if size == most {
                leave_one_out(table, &by_model, options)
            } else {
                try_at_random(table, size, repeats, seed, options)
            };
            AtSize::of(size, &tried)
        })
        .collect();
    Ok(PredictionRecord {
        application: table.application.name.clone(),
        models: by_model.len(),
        level: options.level,
        sizes,
    })
}

impl AtSize {
    /// Summary of predictions of known values; `None` when none was answered.
    #[must_use]
    pub fn of(machines: usize, tried: &[TriedPrediction]) -> Option<Self> {
        let answered: Vec<&TriedPrediction> = tried.iter().filter(|t| !t.refused).collect();
        let all = |pick: fn(&TriedPrediction) -> f64| answered.iter().map(|t| pick(t)).collect::<Vec<f64>>();
        let (errors, ratings) = (all(|t| t.error), all(|t| t.rating_error));
        let covered: Vec<bool> = answered.iter().filter_map(|t| t.covered).collect();
        let widths: Vec<f64> = answered.iter().filter_map(|t| t.half_width).collect();
        Some(Self {
            machines,
            predictions: tried.len(),
            refused: 1.0 - answered.len() as f64 / tried.len() as f64,
            median_error: median(&errors)?,
            worst_tenth: quantile(&errors, 0.9)?,
            coverage: (!covered.is_empty())
                .then(|| covered.iter().filter(|c| **c).count() as f64 / covered.len() as f64),
            half_width: median(&widths).map(|half| half.exp() - 1.0),
            rating_median: median(&ratings)?,
            rating_worst_tenth: quantile(&ratings, 0.9)?,
        })
    }
}

/// Machines with the application, by model of CPU, in the order of the table.
fn models(table: &PredictorTable) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = Vec::new();
    for m in table.known() {
        let model = &table.machines[m].model;
        match found.iter_mut().find(|members| table.machines[members[0]].model == *model) {
            Some(members) => members.push(m),
            None => found.push(vec![m]),
        }
    }
    found
}

fn leave_one_out(table: &PredictorTable, by_model: &[Vec<usize>], options: &PredictOptions) -> Vec<TriedPrediction> {
    (0..by_model.len())
        .flat_map(|out| {
            let from: Vec<usize> =
                by_model.iter().enumerate().filter(|(m, _)| *m != out).map(|(_, members)| members[0]).collect();
            tried(table, &from, &by_model[out], options)
        })
        .collect()
}

/// Predictions of known values from `size` models chosen at random, `repeats` times, as in [`evaluate`], for a summary
/// over several applications by [`AtSize::of`]. Empty when fewer than `size` + 1 models have the application.
#[must_use]
pub fn try_at_random(
    table: &PredictorTable,
    size: usize,
    repeats: usize,
    seed: u64,
    options: &PredictOptions,
) -> Vec<TriedPrediction> {
    let by_model = models(table);
    if size == 0 || by_model.len() <= size {
        return Vec::new();
    }
    (0..repeats)
        .flat_map(|repeat| at_random(table, &by_model, size, seed.wrapping_add((size * 1000 + repeat) as u64), options))
        .collect()
}

fn at_random(
    table: &PredictorTable,
    by_model: &[Vec<usize>],
    size: usize,
    seed: u64,
    options: &PredictOptions,
) -> Vec<TriedPrediction> {
    let mut order: Vec<usize> = (0..by_model.len()).collect();
    order.shuffle(&mut generator(seed));
    let from: Vec<usize> = order[..size].iter().map(|&m| by_model[m][0]).collect();
    let rest: Vec<usize> = order[size..].iter().flat_map(|&m| by_model[m].clone()).collect();
    tried(table, &from, &rest, options)
}

/// Predicts `rest` from `from` alone, without any other value of the application.
fn tried(table: &PredictorTable, from: &[usize], rest: &[usize], options: &PredictOptions) -> Vec<TriedPrediction> {
    let mut learnt: Option<(Vec<usize>, Model)> = None;
    rest.iter()
        .filter_map(|&target| {
            let columns = Matrix::of(table, from, target).columns;
            // Machines with the same columns share a model.
            if learnt.as_ref().is_none_or(|(known, _)| *known != columns) {
                learnt = Model::learn(table, from, target).map(|model| (columns, model));
            }
            let (_, model) = learnt.as_ref()?;
            let truth = table.application_speed(target)?;
            let forecast = model.forecast(table, target, options);
            let row = speeds(table, target, &model.matrix.columns);
            let said = model.chosen.fit.predict(&row, model.family(table, target));
            let actual = table.value(truth);
            Some(TriedPrediction {
                error: ((said - truth).exp() - 1.0).abs(),
                rating_error: ((rating(model, &row)? - truth).exp() - 1.0).abs(),
                covered: forecast.low.zip(forecast.high).map(|(low, high)| low <= actual && actual <= high),
                half_width: forecast.low.zip(forecast.high).map(|(low, high)| (high / low).ln() / 2.0),
                refused: forecast.standing == ForecastStanding::Refused,
            })
        })
        .collect()
}

/// Scaling by the one probe that fits the same machines best, the simplest method.
fn rating(model: &Model, row: &[f64]) -> Option<f64> {
    let fit = probe_weighting(&model.matrix.rows, &model.matrix.targets, None)?;
    let best = (0..row.len()).min_by(|&a, &b| fit.misfits[a].total_cmp(&fit.misfits[b]))?;
    let offsets: Vec<f64> =
        model.matrix.rows.iter().zip(&model.matrix.targets).map(|(row, target)| target - row[best]).collect();
    Some(median(&offsets)? + row[best])
}
