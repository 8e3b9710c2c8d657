//! How well choices hold on machines whose speed is known: plans made from predictions, at their true rates.
//!
//! Each trial predicts a few machines from others, makes them offers at random prices, and lets the rule choose. The
//! same rule then chooses with perfect error bars: intervals of the size that errors really have. Reaching the demand
//! costs money, so plans are compared at equal shares of demands reached. The predicted value of measuring an offer is
//! compared with what the plan made with the measurement saves.

use model::percent;
use predict::PredictorTable;
use serde::{Deserialize, Serialize};
use stats::{median, quantile};

use super::error::Error;
use super::trial::{CONFIDENCES, ChoiceTrial, LEVEL, OFFERS, PredictedRate};
use super::uncertain::Uncertain;

/// Regret of plans against the share of demands reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChoiceRecord {
    /// Trials made.
    pub trials: usize,
    /// Number of training machines in each trial.
    pub machines: usize,
    /// Median relative error of the predictions.
    pub median_error: f64,
    /// Share of predictions inside their intervals.
    pub coverage: f64,
    /// The rule as it is, by the confidence that was asked for.
    pub rule: Vec<ReachedAt>,
    /// The rule with perfect error bars.
    pub perfect: Vec<ReachedAt>,
    /// The rule without its correction for the optimiser's curse.
    pub uncorrected: Vec<ReachedAt>,
    /// The rule after the offer that was most worth it was measured.
    #[serde(default)]
    pub measured: Vec<ReachedAt>,
    /// Share of the trials in which one was worth it.
    #[serde(default)]
    pub worth_measuring: f64,
    /// The predicted value of that measurement, as a mean share of the cheapest plan's cost over these trials.
    #[serde(default)]
    pub worth_told: f64,
    /// Actual saving of plans with the measurement, with missed demands counted equally.
    #[serde(default)]
    pub worth_found: f64,
}

/// Results of plans at one confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ReachedAt {
    /// Confidence that was asked for.
    pub asked: f64,
    /// Share of the demands that the plans reached at the true rates.
    pub reached: f64,
    /// Mean cost of the plans over that of the cheapest plan with the true rates, less 1; later purchases not counted.
    pub regret: f64,
}

/// Chooses among machines of known speed that were predicted from `machines` others, `repeats` times for each table.
///
/// # Errors
/// When the solver fails, or no table has enough machines.
pub fn evaluate(tables: &[PredictorTable], machines: usize, repeats: usize, seed: u64) -> Result<ChoiceRecord, Error> {
    let trials: Vec<ChoiceTrial> = tables
        .iter()
        .enumerate()
        .flat_map(|(number, table)| {
            (0..repeats).filter_map(move |repeat| {
                ChoiceTrial::of(table, machines, seed.wrapping_add((number * 10_000 + repeat) as u64))
            })
        })
        .collect();
    if trials.is_empty() {
        return Err(Error::TooFew { machines, offers: OFFERS });
    }
    let each = || trials.iter().flat_map(|trial| trial.said.iter().zip(&trial.truth));
    let errors: Vec<f64> = each().map(|((value, ..), truth)| (value / truth).ln().abs()).collect();
    let held = each().filter(|((_, low, high), truth)| low <= truth && *truth <= high).count();
    let actual = quantile(&errors, LEVEL).unwrap_or(0.0).exp();
    let own = |(value, low, high): PredictedRate| Uncertain::interval(value, low, high, LEVEL);
    let perfect = |(value, ..): PredictedRate| Uncertain::interval(value, value / actual, value * actual, LEVEL);
    let mut found = JudgedPlans::default();
    for trial in &trials {
        let Some(truth) = trial.truth()? else { continue };
        let rule = trial.plans(trial.rates(own), true)?;
        found.perfect.push(truth.judged(&trial.plans(trial.rates(perfect), true)?));
        found.uncorrected.push(truth.judged(&trial.plans(trial.rates(own), false)?));
        found.rule.push(truth.judged(&rule));
        let Some(worth) = &rule.worth else {
            found.measured.push(truth.judged(&rule));
            continue;
        };
        let mut rates = trial.rates(own);
        rates[worth.offer] = trial.measured(worth.offer);
        let after = trial.plans(rates, true)?;
        found.measured.push(truth.judged(&after));
        found.worth.extend(truth.worth(worth, &rule, &after));
    }
    let worth = |of: fn(&(f64, f64)) -> f64| found.worth.iter().map(of).sum::<f64>() / found.worth.len().max(1) as f64;
    Ok(ChoiceRecord {
        trials: trials.len(),
        machines,
        median_error: median(&errors).map_or(0.0, f64::exp_m1),
        coverage: held as f64 / errors.len() as f64,
        rule: curve(&found.rule),
        perfect: curve(&found.perfect),
        uncorrected: curve(&found.uncorrected),
        measured: curve(&found.measured),
        worth_measuring: found.worth.len() as f64 / trials.len() as f64,
        worth_told: worth(|of| of.0),
        worth_found: worth(|of| of.1),
    })
}

/// Plans of all trials: for each confidence whether they reach the demand, and their regret.
#[derive(Default)]
struct JudgedPlans {
    rule: Vec<Vec<(bool, f64)>>,
    perfect: Vec<Vec<(bool, f64)>>,
    uncorrected: Vec<Vec<(bool, f64)>>,
    measured: Vec<Vec<(bool, f64)>>,
    /// The predicted and the actual value of a measurement.
    worth: Vec<(f64, f64)>,
}

/// Means over trials, by the confidence that was asked for.
fn curve(judged: &[Vec<(bool, f64)>]) -> Vec<ReachedAt> {
    CONFIDENCES
        .iter()
        .enumerate()
        .map(|(place, &asked)| {
            let of: Vec<(bool, f64)> = judged.iter().filter_map(|found| found.get(place).copied()).collect();
            let reached = of.iter().filter(|(reached, _)| *reached).count() as f64 / of.len() as f64;
            ReachedAt { asked, reached, regret: of.iter().map(|(_, regret)| regret).sum::<f64>() / of.len() as f64 }
        })
        .collect()
}

impl ChoiceRecord {
    /// Regret at a share of demands reached, between the two nearest points; `None` when no confidence reaches it.
    #[must_use]
    pub fn regret_at(curve: &[ReachedAt], share: f64) -> Option<f64> {
        let above = curve.iter().filter(|at| at.reached >= share).min_by(|a, b| a.reached.total_cmp(&b.reached))?;
        let below = curve.iter().filter(|at| at.reached < share).max_by(|a, b| a.reached.total_cmp(&b.reached));
        let Some(below) = below else { return Some(above.regret) };
        let part = (share - below.reached) / (above.reached - below.reached);
        Some(below.regret + part * (above.regret - below.regret))
    }

    /// The result in words.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let said = |curve: &[ReachedAt]| {
            Self::regret_at(curve, LEVEL)
                .map_or_else(|| "is not reached".to_owned(), |regret| format!("costs {}", percent(regret)))
        };
        let mut sentences = vec![format!(
            "{} choices among {OFFERS} offers, predicted from {} machines with a median error of {}. A demand reached \
             in 90% of them {} over knowing the rates. With perfect error bars it {}; without the correction for the \
             optimiser's curse it {}.",
            self.trials,
            self.machines,
            percent(self.median_error),
            said(&self.rule),
            said(&self.perfect),
            said(&self.uncorrected),
        )];
        if let Some(at) = self.rule.iter().find(|at| (at.asked - LEVEL).abs() < 1e-9) {
            sentences.push(format!(
                "Plans for 90% reach the demand in {} and cost {} over knowing the rates. {} of the 90% intervals of \
                 their rates were right.",
                percent(at.reached),
                percent(at.regret),
                percent(self.coverage),
            ));
        }
        if self.worth_measuring > 0.0 {
            sentences.push(format!(
                "In {} of the choices, measuring one offer first was worth it. The expected saving was {} of the \
                 cheapest plan on average; the real one was {}. A demand reached in 90% then {}.",
                percent(self.worth_measuring),
                percent(self.worth_told),
                percent(self.worth_found),
                said(&self.measured),
            ));
        }
        sentences
    }
}
