//! The value of determining an unknown before deciding.
//!
//! Worlds are grouped by the result of a measurement, and each group gets its best plan. The gain is the expected value
//! of sample information (Raiffa and Schlaifer, Applied Statistical Decision Theory, 1961; grouping after Strong and
//! Oakley, Medical Decision Making 33, 2013). One half of the worlds chooses plans and the other half evaluates them,
//! since the same half would show value where there is none. Missing the rate costs as much as the requested confidence
//! implies: the least penalty with which the chosen plan is the best one.

use rand::Rng;
use stats::distribution::normal_quantile;
use stats::simulate::generator;

use super::candidate::Candidates;
use super::draw::Draws;
use super::problem::{ChooseProblem, UnknownParameter};
use super::result::Information;

/// Relative standard deviation of a measurement: the session noise of applications and a reserve.
pub(super) const MEASURED: f64 = 0.02;
/// Groups of worlds.
const GROUPS: usize = 10;
/// Values below this share of the cost count as none.
const LEAST: f64 = 1e-5;
/// Standard errors by which another plan must be better before it is taken.
const SURE: f64 = 2.0;

/// Value of determining each unknown, most valuable first.
pub(crate) fn information(
    problem: &ChooseProblem,
    draws: &Draws,
    candidates: &Candidates,
    chosen: usize,
) -> Vec<Information> {
    let values = problem.values();
    let takeable = |parameter: &UnknownParameter| match parameter {
        UnknownParameter::Rate { offer, .. }
        | UnknownParameter::Price { offer }
        | UnknownParameter::Power { offer } => problem.offers.iter().any(|o| o.name == *offer && o.excluded.is_none()),
        UnknownParameter::EnergyPrice => true,
    };
    let losses = losses(candidates, chosen);
    let mut about: Vec<UnknownParameter> = Vec::new();
    for (parameter, value) in &values {
        if !value.is_known() && !about.contains(parameter) && takeable(parameter) {
            about.push(parameter.clone());
        }
    }
    let mut found: Vec<Information> = about
        .into_iter()
        .map(|parameter| {
            let places: Vec<usize> =
                (0..values.len()).filter(|&k| values[k].0 == parameter && !values[k].1.is_known()).collect();
            let shown = shown(problem, draws, &places);
            let (value, changes) = worth(&losses, chosen, &shown);
            let value = if value > LEAST * candidates.mean(chosen) { value } else { 0.0 };
            let cost = cost(problem, &parameter);
            Information { about: parameter, value, changes, cost, worth: value > cost }
        })
        .collect();
    found.sort_by(|a, b| b.value.total_cmp(&a.value));
    found
}

/// Result of a measurement in each world: the value with the error of measuring.
fn shown(problem: &ChooseProblem, draws: &Draws, places: &[usize]) -> Vec<f64> {
    let mut rng = generator(problem.seed ^ places.first().map_or(0, |place| *place as u64 + 1));
    draws
        .values
        .iter()
        .map(|values| {
            let sum: f64 = places.iter().map(|&place| values[place]).sum();
            sum * (MEASURED * normal_quantile(rng.random_range(0.001..0.999))).exp()
        })
        .collect()
}

/// Penalty of a missed rate: the least with which the chosen plan is the best one.
pub(super) fn penalty(candidates: &Candidates, chosen: usize) -> f64 {
    let own = candidates.mean(chosen);
    (0..candidates.plans.len())
        .filter(|&plan| candidates.reaches[plan] < candidates.reaches[chosen])
        .map(|plan| (own - candidates.mean(plan)) / (candidates.reaches[chosen] - candidates.reaches[plan]))
        .fold(0.0, f64::max)
}

/// Costs of each plan in each world, including the penalty for a missed rate.
fn losses(candidates: &Candidates, chosen: usize) -> Vec<Vec<f64>> {
    let penalty = penalty(candidates, chosen);
    let loss = |(cost, reached): (&f64, &bool)| cost + if *reached { 0.0 } else { penalty };
    let of = |(costs, reached): (&Vec<f64>, &Vec<bool>)| costs.iter().zip(reached).map(loss).collect();
    candidates.costs.iter().zip(&candidates.reached).map(of).collect()
}

/// Mean gain, and the share of worlds in which another plan is taken.
fn worth(losses: &[Vec<f64>], chosen: usize, shown: &[f64]) -> (f64, f64) {
    let mut order: Vec<usize> = (0..shown.len()).collect();
    order.sort_by(|&a, &b| shown[a].total_cmp(&shown[b]));
    let size = order.len().div_ceil(GROUPS).max(2);
    let (mut gained, mut changed) = (0.0, 0.0);
    for group in order.chunks(size) {
        for half in 0..2 {
            let learn: Vec<usize> = group.iter().copied().skip(half).step_by(2).collect();
            let value: Vec<usize> = group.iter().copied().skip(1 - half).step_by(2).collect();
            let Some(plan) = better(losses, &learn, chosen) else { continue };
            gained += value.iter().map(|&world| losses[chosen][world] - losses[plan][world]).sum::<f64>();
            changed += value.len() as f64;
        }
    }
    let count = shown.len() as f64;
    ((gained / count).max(0.0), changed / count)
}

/// The plan with the smallest mean loss in some worlds, if it is significantly smaller than that of the chosen one.
fn better(losses: &[Vec<f64>], worlds: &[usize], chosen: usize) -> Option<usize> {
    let sum = |plan: usize| worlds.iter().map(|&world| losses[plan][world]).sum::<f64>();
    let found = (0..losses.len()).min_by(|&a, &b| sum(a).total_cmp(&sum(b)))?;
    let gains: Vec<f64> = worlds.iter().map(|&world| losses[chosen][world] - losses[found][world]).collect();
    let error = stats::quantile::standard_deviation(&gains)? / (gains.len() as f64).sqrt();
    let mean = gains.iter().sum::<f64>() / gains.len() as f64;
    (found != chosen && mean > SURE * error).then_some(found)
}

fn cost(problem: &ChooseProblem, parameter: &UnknownParameter) -> f64 {
    match parameter {
        UnknownParameter::Rate { offer, .. } | UnknownParameter::Power { offer } => {
            problem.offers.iter().find(|o| o.name == *offer).map_or(0.0, |o| o.measurement_cost)
        }
        UnknownParameter::Price { .. } | UnknownParameter::EnergyPrice => 0.0,
    }
}
