//! From a table to forecasts.

use std::collections::BTreeMap;

use stats::{median, mixture, probe_weighting};

use super::error::Error;
use super::interval::{StoreWide, interval};
use super::leave_out::{BlendedMethods, choose, relative_errors};
use super::matrix::{Matrix, speeds};
use super::method::PredictMethod;
use super::prior::{footprint_shares, prior};
use super::result::{BehaviourShare, Forecast, ForecastStanding, LeftOutError, Prediction};
use super::scope::scope;
use super::table::PredictorTable;

/// Options of a prediction.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictOptions {
    /// Confidence level of intervals, 0 to 1.
    pub level: f64,
}

impl Default for PredictOptions {
    fn default() -> Self {
        Self { level: 0.9 }
    }
}

/// The part of a forecast that is common to all machines with the same columns.
pub(crate) struct Model {
    pub(crate) matrix: Matrix,
    pub(crate) chosen: BlendedMethods,
    /// Weights of the robust weighting.
    pub(crate) weights: Vec<f64>,
    store: StoreWide,
}

impl Model {
    /// Fits a model to `known` machines with the columns of `target`; `None` if they have none in common.
    pub(crate) fn learn(table: &PredictorTable, known: &[usize], target: usize) -> Option<Self> {
        let matrix = Matrix::of(table, known, target);
        let prior = prior(table, &matrix.columns);
        let chosen = choose(&matrix, &prior)?;
        let weights = probe_weighting(&matrix.rows, &matrix.targets, Some(&prior))?.weights;
        // With nine machines or more, their own errors suffice.
        let store = if chosen.errors.len() < 9 { StoreWide::of(table, &matrix) } else { StoreWide::default() };
        Some(Self { matrix, chosen, weights, store })
    }

    pub(crate) fn family(&self, table: &PredictorTable, target: usize) -> Option<usize> {
        let family = &table.machines[target].family;
        let place = self.matrix.machines.iter().position(|&m| table.machines[m].family == *family)?;
        Some(self.matrix.families[place])
    }

    /// The forecast for a machine that has the columns of the model.
    pub(crate) fn forecast(&self, table: &PredictorTable, target: usize, options: &PredictOptions) -> Forecast {
        let row = speeds(table, target, &self.matrix.columns);
        let family = self.family(table, target);
        let speed = self.chosen.fit.predict(&row, family);
        let ends = interval(&self.chosen, &self.store, &row, family, options.level);
        let scope = scope(table, &self.matrix, &self.chosen, &self.weights, target);
        let mut reasons = scope.reasons;
        let standing = match (&scope.refusal, scope.widening > 1.0) {
            (Some(_), _) => ForecastStanding::Refused,
            (None, true) => ForecastStanding::Widened,
            (None, false) => ForecastStanding::Sound,
        };
        if ends.is_none() {
            reasons.push(format!("too few machines for an interval of {:.0}%", 100.0 * options.level));
        }
        reasons.splice(0..0, scope.refusal);
        let answer = (standing != ForecastStanding::Refused).then_some(());
        let end = |pick: fn(&(f64, f64)) -> f64| {
            let (low, high, _) = ends?;
            let (low, high) = (speed - scope.widening * (speed - low), speed + scope.widening * (high - speed));
            let values = (table.value(low), table.value(high));
            answer.map(|()| pick(&values))
        };
        Forecast {
            machine: table.machines[target].name.clone(),
            model: table.machines[target].model.clone(),
            value: answer.map(|()| table.value(speed)),
            low: end(|(a, b)| a.min(*b)),
            high: end(|(a, b)| a.max(*b)),
            level: options.level,
            interval: ends.map(|(_, _, method)| method),
            methods: self.chosen.methods.iter().filter(|(_, weight)| *weight >= 0.01).copied().collect(),
            error: self.error(),
            columns: self.matrix.columns.len(),
            standing,
            reasons,
        }
    }

    fn error(&self) -> Option<LeftOutError> {
        let (median_error, worst_tenth) = relative_errors(&self.chosen)?;
        Some(LeftOutError { median: median_error, worst_tenth, rating_median: self.rating_error() })
    }

    fn rating_error(&self) -> Option<f64> {
        let even = vec![1.0 / self.matrix.columns.len() as f64; self.matrix.columns.len()];
        let errors: Vec<f64> = (0..self.matrix.model_count())
            .filter_map(|model| Some((model, PredictMethod::Rating.fit(&self.matrix.without(&[model]), &even)?)))
            .flat_map(|(model, fit)| {
                (0..self.matrix.rows.len()).filter(move |&i| self.matrix.models[i] == model).map(move |i| {
                    let said = fit.predict(&self.matrix.rows[i], Some(self.matrix.families[i]));
                    ((said - self.matrix.targets[i]).exp() - 1.0).abs()
                })
            })
            .collect();
        median(&errors)
    }

    /// Shares of the application's behaviour by label, largest first.
    fn behaves_like(&self, table: &PredictorTable) -> Vec<BehaviourShare> {
        /// Misfits of a few percent outweigh the weighting as a prior guess.
        const STRENGTH: f64 = 0.03;
        let shares = mixture(&self.matrix.rows, &self.matrix.targets, &self.weights, STRENGTH)
            .unwrap_or_else(|| self.weights.clone());
        let mut labels: BTreeMap<&str, f64> = BTreeMap::new();
        for (share, &k) in shares.iter().zip(&self.matrix.columns) {
            *labels.entry(table.columns[k].label.as_str()).or_default() += share;
        }
        let mut shares: Vec<BehaviourShare> =
            labels.into_iter().map(|(label, share)| BehaviourShare { label: label.to_owned(), share }).collect();
        shares.sort_by(|a, b| b.share.total_cmp(&a.share).then_with(|| a.label.cmp(&b.label)));
        shares
    }
}

/// Predicts the application on `targets`, positions of machines in the table; a machine on which it ran is predicted
/// without any machine of its model of CPU.
///
/// # Errors
/// When the application was not measured anywhere.
pub fn predict(table: &PredictorTable, targets: &[usize], options: &PredictOptions) -> Result<Prediction, Error> {
    let known = table.known();
    if known.is_empty() {
        return Err(Error::NoApplication { name: table.application.name.clone(), known: String::new() });
    }
    let mut models: Vec<&str> = known.iter().map(|&m| table.machines[m].model.as_str()).collect();
    models.sort_unstable();
    models.dedup();
    let mut prediction = Prediction {
        application: table.application.name.clone(),
        metric: table.application.metric.clone(),
        measured_on: known.iter().map(|&m| table.machines[m].name.clone()).collect(),
        models: models.len(),
        behaves_like: Vec::new(),
        footprint_used: footprint_shares(table).is_some(),
        forecasts: Vec::new(),
        notes: Vec::new(),
    };
    for &target in targets {
        let own = &table.machines[target].model;
        let others: Vec<usize> = known.iter().copied().filter(|&m| table.machines[m].model != *own).collect();
        let from = if table.machines[target].application.is_some() { &others } else { &known };
        let Some(model) = Model::learn(table, from, target) else {
            prediction.forecasts.push(refused(table, target, options));
            continue;
        };
        if prediction.behaves_like.is_empty() {
            prediction.behaves_like = model.behaves_like(table);
        }
        for &m in &model.matrix.left_out {
            let note = format!("{} has too few probes in common and was left out", table.machines[m].name);
            if !prediction.notes.contains(&note) {
                prediction.notes.push(note);
            }
        }
        prediction.forecasts.push(model.forecast(table, target, options));
    }
    Ok(prediction)
}

fn refused(table: &PredictorTable, target: usize, options: &PredictOptions) -> Forecast {
    Forecast {
        machine: table.machines[target].name.clone(),
        model: table.machines[target].model.clone(),
        value: None,
        low: None,
        high: None,
        level: options.level,
        interval: None,
        methods: Vec::new(),
        error: None,
        columns: 0,
        standing: ForecastStanding::Refused,
        reasons: vec!["it has no probe in common with the machines on which the application ran".to_owned()],
    }
}
