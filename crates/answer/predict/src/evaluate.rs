//! Evaluation: every model of CPU is predicted from others alone, with various numbers of machines.

use serde::{Deserialize, Serialize};
use stats::{median, quantile};

use super::error::Error;
use super::forecast::PredictOptions;
use super::method::PredictMethod;
use super::split::{AtSplit, splits};
use super::summary::TriedSummary;
use super::suspect::SuspectValue;
use super::table::PredictorTable;
use super::tried::{MEMBERS, PredictionTrial, TriedPrediction};

/// Accuracy of predictions of applications on machines where their value is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PredictionRecord {
    /// Names of the applications.
    pub applications: Vec<String>,
    /// Models of CPU on which the first was measured.
    pub models: usize,
    /// Requested confidence level of intervals.
    pub level: f64,
    /// One entry for each number of training machines, rising.
    pub sizes: Vec<AtSize>,
    /// One entry for each family and maker left out.
    pub splits: Vec<AtSplit>,
    /// All splits together; absent without any.
    pub families_left_out: Option<TriedSummary>,
    /// Values that are off by a factor, which were left out.
    pub suspects: Vec<SuspectValue>,
}

/// Errors with one number of training machines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AtSize {
    /// Training machines, each of another model.
    pub machines: usize,
    /// The predictions.
    pub summary: TriedSummary,
    /// Errors of single methods on the same machines.
    pub members: Vec<MemberError>,
    /// Median error if the best single method of each application had been known beforehand.
    pub oracle: Option<f64>,
    /// The application whose intervals held least often.
    pub least_held: Option<LeastHeld>,
}

/// Median error of one method alone.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MemberError {
    /// The method.
    pub method: PredictMethod,
    /// Median relative error.
    pub median: f64,
    /// 90th percentile.
    pub worst_tenth: f64,
}

/// The application whose intervals held least often.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeastHeld {
    /// Its name.
    pub application: String,
    /// Share of its intervals that held.
    pub coverage: f64,
    /// Probability of so few, as in [`TriedSummary::too_few_held`], times the number of applications.
    pub too_few_held: f64,
}

/// Predicts machines whose value is known. Each of `sizes` gets `repeats` seeded choices of that many training models
/// (one machine of each), and a prediction for every machine of another model. A size that leaves no model to predict
/// is dropped; the largest possible one, every model but one, is always included. Then every family and every maker is
/// predicted from the others, and all others from one maker alone. Several tables, each with its own application, are
/// evaluated together.
///
/// # Errors
/// When an application is known on fewer than three models.
pub fn evaluate(
    tables: &[PredictorTable],
    sizes: &[usize],
    repeats: usize,
    seed: u64,
    options: &PredictOptions,
) -> Result<PredictionRecord, Error> {
    let trials: Vec<PredictionTrial> = tables.iter().map(PredictionTrial::of).collect();
    for trial in &trials {
        if trial.models.len() < 3 {
            let application = trial.table.application.name.clone();
            return Err(Error::TooFew { application, models: trial.models.len() });
        }
    }
    let most = trials.iter().map(|trial| trial.models.len() - 1).min().unwrap_or(0);
    let mut wanted: Vec<usize> = sizes.iter().copied().filter(|&n| n > 0 && n < most).collect();
    wanted.push(most);
    wanted.sort_unstable();
    wanted.dedup();
    let sizes = wanted.into_iter().filter_map(|size| {
        let tried: Vec<TriedPrediction> = trials
            .iter()
            .enumerate()
            .flat_map(|(number, trial)| {
                if trial.models.len() == size + 1 {
                    return trial.leave_one_out(options);
                }
                let seed = |repeat: usize| seed.wrapping_add((number * 100_000 + size * 1000 + repeat) as u64);
                (0..repeats).flat_map(|repeat| trial.at_random(size, seed(repeat), options)).collect()
            })
            .collect();
        AtSize::of(size, &tried, options.level)
    });
    let sizes = sizes.collect();
    let (splits, families_left_out) = splits(&trials, seed, options);
    let mut suspects: Vec<SuspectValue> = trials.iter().flat_map(|trial| trial.suspects.clone()).collect();
    suspects.dedup_by(|a, b| a.machine == b.machine && a.result == b.result);
    Ok(PredictionRecord {
        applications: trials.iter().map(|trial| trial.table.application.name.clone()).collect(),
        models: trials.iter().map(|trial| trial.models.len()).max().unwrap_or(0),
        level: options.level,
        sizes,
        families_left_out,
        splits,
        suspects,
    })
}

impl AtSize {
    /// Summary of predictions of known values; `None` when none was answered.
    #[must_use]
    pub fn of(machines: usize, tried: &[TriedPrediction], level: f64) -> Option<Self> {
        let summary = TriedSummary::of(tried, level)?;
        let answered: Vec<&TriedPrediction> = tried.iter().filter(|t| !t.refused()).collect();
        let of = |method: PredictMethod, tried: &[&TriedPrediction]| -> Vec<f64> {
            let error = |t: &&TriedPrediction| t.members.iter().find(|(m, _)| *m == method).map(|(_, error)| *error);
            tried.iter().filter_map(error).collect()
        };
        let members = MEMBERS.iter().filter_map(|&method| {
            let errors = of(method, &answered);
            let all = errors.len() == answered.len();
            all.then_some(MemberError { method, median: median(&errors)?, worst_tenth: quantile(&errors, 0.9)? })
        });
        let members: Vec<MemberError> = members.collect();
        let mut best: Vec<f64> = Vec::new();
        let applications = by_application(tried);
        for (_, own) in &applications {
            let own: Vec<&TriedPrediction> = own.iter().copied().filter(|t| !t.refused()).collect();
            let tried = members.iter().filter_map(|m| Some((median(&of(m.method, &own))?, of(m.method, &own))));
            best.extend(tried.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, errors)| errors).unwrap_or_default());
        }
        let least_held = applications.iter().filter_map(|(name, own)| {
            let own: Vec<TriedPrediction> = own.iter().copied().cloned().collect();
            let summary = TriedSummary::of(&own, level)?;
            let too_few_held = (summary.too_few_held? * applications.len() as f64).min(1.0);
            Some(LeastHeld { application: (*name).to_owned(), coverage: summary.coverage?, too_few_held })
        });
        let least_held = least_held.min_by(|a, b| a.coverage.total_cmp(&b.coverage));
        Some(Self { machines, summary, members, oracle: median(&best), least_held })
    }

    /// The best single method, in hindsight.
    #[must_use]
    pub fn best_member(&self) -> Option<&MemberError> {
        self.members.iter().min_by(|a, b| a.median.total_cmp(&b.median))
    }
}

/// Predictions by application, in order of their first.
fn by_application(tried: &[TriedPrediction]) -> Vec<(&str, Vec<&TriedPrediction>)> {
    let mut found: Vec<(&str, Vec<&TriedPrediction>)> = Vec::new();
    for one in tried {
        match found.iter_mut().find(|(name, _)| *name == one.application) {
            Some((_, own)) => own.push(one),
            None => found.push((&one.application, vec![one])),
        }
    }
    found
}
