//! One trial of the evaluation of choices: machines of known speed, offered by their predictions.

use predict::{ForecastStanding, PredictOptions, PredictorTable, predict};
use rand::seq::SliceRandom;
use stats::distribution::normal_quantile;
use stats::median;
use stats::simulate::{generator, standard_normal};

use super::candidate::Candidates;
use super::curse::corrected;
use super::draw::Draws;
use super::error::Error;
use super::improve::improve;
use super::information::{MEASURED, information, penalty};
use super::problem::{ChooseProblem, Demand, MachineOffer, UnknownParameter, WorldState};
use super::programme::Question;
use super::uncertain::Uncertain;

/// Offers of a trial.
pub(super) const OFFERS: usize = 5;
/// Draws of the unknowns; a trial has few.
const DRAWS: usize = 100;
/// Nodes that the demand takes of a typical offer.
const NODES: f64 = 20.0;
/// Spread of prices about a price in proportion to the speed, as a logarithm.
const PRICES: f64 = 0.15;
/// Confidences that are asked for.
pub(super) const CONFIDENCES: [f64; 7] = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99];
/// Confidence of the predictions, and of the plan before which an offer is measured.
pub(super) const LEVEL: f64 = 0.9;

/// A rate as it was predicted: value, lower and upper end.
pub(super) type PredictedRate = (f64, f64, f64);

/// One trial: predictions and truth.
pub(super) struct ChoiceTrial {
    pub(super) said: Vec<PredictedRate>,
    pub(super) truth: Vec<f64>,
    /// Result of measuring each rate over the true one.
    shown: Vec<f64>,
    prices: Vec<f64>,
}

/// The true rates of a trial, by which its plans are judged.
pub(super) struct TrialTruth {
    problem: ChooseProblem,
    world: WorldState,
    /// Cost of the cheapest plan.
    least: f64,
}

pub(super) struct TrialPlans {
    /// The plan for each confidence that was asked for.
    plans: Vec<Vec<u32>>,
    /// The measurement that is worth most before the plan for [`LEVEL`] is taken, if any is.
    pub(super) worth: Option<WorthMeasuring>,
}

/// An offer that is worth measuring.
pub(super) struct WorthMeasuring {
    /// Its place.
    pub(super) offer: usize,
    /// Predicted value of that, money.
    pub(super) value: f64,
    /// Penalty of a missed demand then, money.
    penalty: f64,
}

impl ChoiceTrial {
    /// A random division of the table's models into training machines and offers; `None` with too few, or when a
    /// machine cannot be predicted.
    pub(super) fn of(table: &PredictorTable, machines: usize, seed: u64) -> Option<Self> {
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
        let shown = truth.iter().map(|rate| rate * (MEASURED * standard_normal(&mut rng)).exp()).collect();
        Some(Self { said, truth, shown, prices })
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
            common_error: Vec::new(),
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

    /// The rates with error bars.
    pub(super) fn rates(&self, bars: impl Fn(PredictedRate) -> Uncertain) -> Vec<Uncertain> {
        self.said.iter().map(|&said| bars(said)).collect()
    }

    /// A rate as measuring its offer shows it.
    pub(super) fn measured(&self, offer: usize) -> Uncertain {
        let (shown, end) = (self.shown[offer], (MEASURED * normal_quantile(0.5 + LEVEL / 2.0)).exp());
        Uncertain::interval(shown, shown / end, shown * end, LEVEL)
    }

    /// The truth; `None` where no plan meets the demand.
    pub(super) fn truth(&self) -> Result<Option<TrialTruth>, Error> {
        let problem = self.problem(self.truth.iter().map(|&rate| Uncertain::Fixed(rate)).collect());
        let world = problem.middle();
        let best = Question::cheapest(&problem, &world).solve()?;
        Ok(best.map(|best| TrialTruth { problem, world, least: best.value }))
    }

    /// The plans that are chosen with some rates, corrected for the optimiser's curse or not.
    pub(super) fn plans(&self, rates: Vec<Uncertain>, correct: bool) -> Result<TrialPlans, Error> {
        let problem = self.problem(rates);
        let problem = if correct { corrected(&problem).0 } else { problem };
        let (draws, middle) = (Draws::of(&problem), problem.middle());
        let mut candidates = Candidates::of(&problem, &draws, &middle, &draws.cautious(&middle, LEVEL))?;
        let (mut plans, mut worth) = (Vec::new(), None);
        for confidence in CONFIDENCES {
            improve(&mut candidates, &problem, &draws, &middle, confidence);
            let Some(place) = candidates.choose(confidence) else { continue };
            plans.push(candidates.plans[place].clone());
            if confidence == LEVEL {
                worth = WorthMeasuring::of(&problem, &draws, &candidates, place);
            }
        }
        Ok(TrialPlans { plans, worth })
    }
}

impl WorthMeasuring {
    fn of(problem: &ChooseProblem, draws: &Draws, candidates: &Candidates, chosen: usize) -> Option<Self> {
        let best = information(problem, draws, candidates, chosen).into_iter().next().filter(|best| best.worth)?;
        let UnknownParameter::Rate { offer: name, .. } = &best.about else { return None };
        let offer = problem.offers.iter().position(|offer| offer.name == *name)?;
        Some(Self { offer, value: best.value, penalty: penalty(candidates, chosen) })
    }
}

impl TrialTruth {
    /// For each confidence: whether the plan reaches the demand, and its regret.
    pub(super) fn judged(&self, plans: &TrialPlans) -> Vec<(bool, f64)> {
        plans
            .plans
            .iter()
            .map(|plan| (self.reached(plan), self.problem.costs(plan, &self.world).0 / self.least - 1.0))
            .collect()
    }

    fn reached(&self, plan: &[u32]) -> bool {
        self.problem.rate(plan, &self.world) >= self.problem.demand.rate * (1.0 - 1e-9)
    }

    /// The predicted value of measuring, and the actual savings of the plans made with it, as shares of the cheapest
    /// plan.
    pub(super) fn worth(&self, worth: &WorthMeasuring, before: &TrialPlans, after: &TrialPlans) -> Option<(f64, f64)> {
        let place = CONFIDENCES.iter().position(|confidence| *confidence == LEVEL)?;
        let loss = |plans: &TrialPlans| {
            let plan = plans.plans.get(place)?;
            let (own, later) = self.problem.costs(plan, &self.world);
            Some(own + later + if self.reached(plan) { 0.0 } else { worth.penalty })
        };
        Some((worth.value / self.least, (loss(before)? - loss(after)?) / self.least))
    }
}
