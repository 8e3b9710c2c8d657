//! How well choices hold on machines whose speed is known: plans made from predictions, at their true rates.
//!
//! Each trial predicts a few machines from others, makes them offers at random prices, and lets the rule choose. The
//! same rule then chooses with perfect error bars: intervals of the size that errors really have. Reaching the demand
//! costs money, so plans are compared at equal shares of demands reached.

use model::percent;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use stats::simulate::{generator, standard_normal};
use stats::{median, quantile};

use super::candidate::Candidates;
use super::curse::corrected;
use super::draw::Draws;
use super::error::Error;
use super::improve::improve;
use super::problem::{ChooseProblem, Demand, MachineOffer};
use super::programme::Question;
use super::uncertain::Uncertain;
use predict::{ForecastStanding, PredictOptions, PredictorTable, predict};

/// Offers of a trial.
const OFFERS: usize = 5;
/// Draws of what is not known; a trial has few unknowns.
const DRAWS: usize = 100;
/// Nodes that the demand takes of a typical offer.
const NODES: f64 = 20.0;
/// Spread of prices about a price in proportion to the speed, as a logarithm.
const PRICES: f64 = 0.15;
/// Confidences that are asked for.
const CONFIDENCES: [f64; 7] = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99];
/// Confidence of the predictions.
const LEVEL: f64 = 0.9;

/// Regret of plans against the share of demands reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChoiceRecord {
    /// Trials made.
    pub trials: usize,
    /// Machines learnt from in each.
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
}

/// What plans reached at one confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ReachedAt {
    /// Confidence that was asked for.
    pub asked: f64,
    /// Share of the demands that the plans reached at the true rates.
    pub reached: f64,
    /// Mean cost of the plans over that of the cheapest plan with the true rates, less 1; later purchases not counted.
    pub regret: f64,
}

/// One trial: predictions and truth.
struct ChoiceTrial {
    /// Prediction, lower and upper end.
    said: Vec<(f64, f64, f64)>,
    truth: Vec<f64>,
    prices: Vec<f64>,
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
    let curve = |bars: &dyn Fn((f64, f64, f64)) -> Uncertain, correct: bool| -> Result<Vec<ReachedAt>, Error> {
        let chosen = trials.iter().map(|trial| trial.chosen(bars, correct)).collect::<Result<Vec<_>, _>>()?;
        Ok(CONFIDENCES
            .iter()
            .enumerate()
            .map(|(place, &asked)| {
                let of: Vec<(bool, f64)> = chosen.iter().filter_map(|found| found.get(place).copied()).collect();
                let reached = of.iter().filter(|(reached, _)| *reached).count() as f64 / of.len() as f64;
                ReachedAt { asked, reached, regret: of.iter().map(|(_, regret)| regret).sum::<f64>() / of.len() as f64 }
            })
            .collect())
    };
    let own = |(value, low, high)| Uncertain::interval(value, low, high, LEVEL).as_prediction();
    Ok(ChoiceRecord {
        trials: trials.len(),
        machines,
        median_error: median(&errors).map_or(0.0, f64::exp_m1),
        coverage: held as f64 / errors.len() as f64,
        rule: curve(&own, true)?,
        perfect: curve(&|(value, ..)| Uncertain::interval(value, value / actual, value * actual, LEVEL), true)?,
        uncorrected: curve(&own, false)?,
    })
}

impl ChoiceTrial {
    /// A random division of the table's models into machines to learn from and offers; `None` with too few, or when a
    /// machine cannot be predicted.
    fn of(table: &PredictorTable, machines: usize, seed: u64) -> Option<Self> {
        let mut rng = generator(seed);
        let mut models: Vec<usize> = Vec::new();
        for m in table.known() {
            if !models.iter().any(|&other| table.machines[other].model == table.machines[m].model) {
                models.push(m);
            }
        }
        if models.len() < machines + OFFERS {
            return None;
        }
        models.shuffle(&mut rng);
        let offers = &models[machines..machines + OFFERS];
        let truth: Vec<f64> = offers.iter().filter_map(|&m| table.true_rate(m)).collect();
        let mut blind = table.clone();
        for (m, machine) in blind.machines.iter_mut().enumerate() {
            if !models[..machines].contains(&m) {
                machine.application = None;
            }
        }
        let found = predict(&blind, offers, &PredictOptions { level: LEVEL }).ok()?;
        let said: Option<Vec<(f64, f64, f64)>> = found
            .forecasts
            .iter()
            .filter(|forecast| forecast.standing != ForecastStanding::Refused)
            .map(|forecast| {
                let rate = |value: f64| table.rate_of(value);
                let (a, b) = (rate(forecast.low?), rate(forecast.high?));
                Some((rate(forecast.value?), a.min(b), a.max(b)))
            })
            .collect();
        let said = said.filter(|said| said.len() == OFFERS)?;
        let typical = median(&truth)?;
        let prices =
            truth.iter().map(|rate| 1000.0 * rate / typical * (PRICES * standard_normal(&mut rng)).exp()).collect();
        Some(Self { said, truth, prices })
    }

    fn problem(&self, rates: Vec<Uncertain>) -> ChooseProblem {
        let known = Uncertain::Fixed;
        let offers = rates.into_iter().zip(&self.prices).enumerate().map(|(place, (rate, &price))| MachineOffer {
            name: format!("offer {place}"),
            rates: vec![rate],
            price: known(price),
            network: known(0.0),
            hourly: known(0.0),
            power: known(0.0),
            rack_units: 0.0,
            maximum: None,
            up: 1.0,
            failures_per_year: 0.0,
            repair_days: 0.0,
            repair_cost: 0.0,
            measurement_cost: 0.0,
            excluded: None,
            placeholders: Vec::new(),
            unknown_spread: Vec::new(),
        });
        ChooseProblem {
            currency: "EUR".to_owned(),
            seed: 1,
            draws: DRAWS,
            demand: Demand {
                rate: NODES * median(&self.truth).unwrap_or(1.0),
                unit: "events/s".to_owned(),
                mix: vec![("events".to_owned(), 1.0)],
                years: 1.0,
                nodes: 0,
                spare_nodes: 0,
                energy_price: known(0.0),
                cooling: 1.0,
                budget: None,
                purchase_limit: None,
                power_limit: None,
                rack_units: None,
                confidence: LEVEL,
                late_premium: 0.2,
            },
            offers: offers.collect(),
        }
    }

    /// For each confidence: whether the plan reaches the demand at the true rates, and its regret.
    fn chosen(&self, bars: &dyn Fn((f64, f64, f64)) -> Uncertain, correct: bool) -> Result<Vec<(bool, f64)>, Error> {
        let real = self.problem(self.truth.iter().map(|&rate| Uncertain::Fixed(rate)).collect());
        let world = real.middle();
        let Some(best) = Question::cheapest(&real, &world).solve()? else { return Ok(Vec::new()) };
        let problem = self.problem(self.said.iter().map(|&said| bars(said)).collect());
        let problem = if correct { corrected(&problem).0 } else { problem };
        let (draws, middle) = (Draws::of(&problem), problem.middle());
        let mut candidates = Candidates::of(&problem, &draws, &middle, &draws.cautious(&middle, LEVEL))?;
        let mut found = Vec::new();
        for confidence in CONFIDENCES {
            improve(&mut candidates, &problem, &draws, &middle, confidence);
            let Some(place) = candidates.choose(confidence) else { continue };
            let plan = &candidates.plans[place];
            let (cost, _) = real.costs(plan, &world);
            found.push((real.rate(plan, &world) >= real.demand.rate * (1.0 - 1e-9), cost / best.value - 1.0));
        }
        Ok(found)
    }
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
            "Of {} choices among {OFFERS} offers, predicted from {} machines with an error of {} (median): a demand reached \
             in 90% of them {} over knowing the rates; with perfect error bars it {}, without the correction for the \
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
                "Asked for 90% the plans reach the demand in {} and cost {} over knowing the rates; {} of the 90% intervals \
                 of their rates held.",
                percent(at.reached),
                percent(at.regret),
                percent(self.coverage),
            ));
        }
        sentences
    }
}
