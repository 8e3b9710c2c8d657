//! Predictions of known values, from machines of other models of CPU alone.

use rand::seq::SliceRandom;
use stats::simulate::generator;

use super::forecast::{Model, PredictOptions, credible};
use super::matrix::{Matrix, Novelty};
use super::method::PredictMethod;
use super::prior::prior;
use super::result::ForecastStanding;
use super::suspect::{SuspectValue, suspect_application, suspect_values};
use super::table::PredictorTable;

/// Single methods that are compared with the blend.
pub(crate) const MEMBERS: [PredictMethod; 4] =
    [PredictMethod::Rating, PredictMethod::Neighbour, PredictMethod::Ridge(0.03), PredictMethod::RidgeWithFacts(0.1)];

/// One prediction of a known value.
#[derive(Debug, Clone, PartialEq)]
pub struct TriedPrediction {
    /// Name of the application.
    pub application: String,
    /// Name of the machine.
    pub machine: String,
    /// Relative error; NaN if there was nothing to train on.
    pub error: f64,
    /// Relative errors of single methods, where they can be fitted.
    pub members: Vec<(PredictMethod, f64)>,
    /// Whether the interval contained the true value; absent without an interval.
    pub covered: Option<bool>,
    /// Half the width of the interval as a logarithm.
    pub half_width: Option<f64>,
    /// Standing of the forecast; the errors of a refused one are those of the value that was not given.
    pub standing: ForecastStanding,
}

impl TriedPrediction {
    /// Whether the prediction was refused.
    #[must_use]
    pub fn refused(&self) -> bool {
        self.standing == ForecastStanding::Refused
    }
}

/// A table without its suspected values, those of the application included, and its machines with the application by
/// model of CPU.
#[derive(Debug)]
pub struct PredictionTrial {
    pub(crate) table: PredictorTable,
    pub(crate) suspects: Vec<SuspectValue>,
    /// Machines by model, in the order of the table.
    pub(crate) models: Vec<Vec<usize>>,
}

impl PredictionTrial {
    /// Finds suspected values and groups the machines.
    #[must_use]
    pub fn of(table: &PredictorTable) -> Self {
        let mut suspects = suspect_values(table);
        let mut table = table.without(&suspects);
        let known = table.known();
        for suspect in suspect_application(&table, &known) {
            table.machines[suspect.place].application = None;
            suspects.push(suspect);
        }
        let mut models: Vec<Vec<usize>> = Vec::new();
        for m in table.known() {
            let model = &table.machines[m].model;
            match models.iter_mut().find(|members| table.machines[members[0]].model == *model) {
                Some(members) => members.push(m),
                None => models.push(vec![m]),
            }
        }
        Self { table, suspects, models }
    }

    /// A machine without training data counts as refused too.
    fn refused(&self, target: usize) -> TriedPrediction {
        TriedPrediction {
            application: self.table.application.name.clone(),
            machine: self.table.machines[target].name.clone(),
            error: f64::NAN,
            members: Vec::new(),
            covered: None,
            half_width: None,
            standing: ForecastStanding::Refused,
        }
    }

    /// Every model predicted from one machine of each other one.
    pub(crate) fn leave_one_out(&self, options: &PredictOptions) -> Vec<TriedPrediction> {
        (0..self.models.len())
            .flat_map(|out| {
                let others = self.models.iter().enumerate().filter(|(m, _)| *m != out);
                let from: Vec<usize> = others.map(|(_, members)| members[0]).collect();
                self.tried(&from, &self.models[out], options)
            })
            .collect()
    }

    /// All other models predicted from one machine of each of `size` models chosen by a seed. Empty when fewer than
    /// `size` + 1 models have the application.
    #[must_use]
    pub fn at_random(&self, size: usize, seed: u64, options: &PredictOptions) -> Vec<TriedPrediction> {
        if size == 0 || self.models.len() <= size {
            return Vec::new();
        }
        let mut order: Vec<usize> = (0..self.models.len()).collect();
        order.shuffle(&mut generator(seed));
        let from: Vec<usize> = order[..size].iter().map(|&m| self.models[m][0]).collect();
        let rest: Vec<usize> = order[size..].iter().flat_map(|&m| self.models[m].clone()).collect();
        self.tried(&from, &rest, options)
    }

    /// Predicts `rest` from `from` alone, without any other value of the application.
    pub(crate) fn tried(&self, from: &[usize], rest: &[usize], options: &PredictOptions) -> Vec<TriedPrediction> {
        let table = &self.table;
        let mut learnt: Option<Learnt> = None;
        // A value that is off is excluded, and without its machine there may be more columns.
        let credible = credible(table, from).0;
        rest.iter()
            .filter_map(|&target| {
                // Machines with the same columns share a model.
                if learnt.as_ref().is_none_or(|learnt| !learnt.fits(&Matrix::of(table, &credible, target))) {
                    learnt = Learnt::of(table, from, target);
                }
                let truth = table.application_speed(target)?;
                let Some(learnt) = learnt.as_ref() else { return Some(self.refused(target)) };
                let off: Vec<&SuspectValue> = self.suspects.iter().filter(|s| s.place == target).collect();
                let forecast = learnt.model.forecast(table, target, &off, options);
                let actual = table.value(truth);
                let error = |said: f64| (said - truth).exp_m1().abs();
                let row = learnt.model.matrix.row(table, target);
                let family = learnt.family(table, target);
                Some(TriedPrediction {
                    application: table.application.name.clone(),
                    machine: table.machines[target].name.clone(),
                    error: error(learnt.model.speed(table, target)),
                    members: learnt.members.iter().map(|(m, fit)| (*m, error(fit.predict(&row, family)))).collect(),
                    covered: forecast.low.zip(forecast.high).map(|(low, high)| low <= actual && actual <= high),
                    half_width: forecast.low.zip(forecast.high).map(|(low, high)| (high / low).ln() / 2.0),
                    standing: forecast.standing,
                })
            })
            .collect()
    }
}

/// A model and the single methods, fitted to the same machines.
struct Learnt {
    model: Model,
    members: Vec<(PredictMethod, super::method::FittedMethod)>,
}

impl Learnt {
    fn of(table: &PredictorTable, from: &[usize], target: usize) -> Option<Self> {
        let model = Model::learn(table, from, target)?;
        let weights = prior(table, &model.matrix.columns);
        let members = MEMBERS.iter().filter_map(|&m| Some((m, m.fit(&model.matrix, &weights)?))).collect();
        Some(Self { model, members })
    }

    fn fits(&self, matrix: &Matrix) -> bool {
        (&self.model.matrix.columns, &self.model.matrix.facts) == (&matrix.columns, &matrix.facts)
    }

    fn family(&self, table: &PredictorTable, target: usize) -> Option<usize> {
        let matrix = &self.model.matrix;
        (matrix.novelty(table, target) == Novelty::Family).then_some(())?;
        let family = &table.machines[target].family;
        let place = matrix.machines.iter().position(|&m| table.machines[m].family == *family)?;
        Some(matrix.families[place])
    }
}
