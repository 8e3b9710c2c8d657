//! The Pareto front: costs of more rate, less power or fewer failures.

use super::error::Error;
use super::problem::{ChooseProblem, WorldState};
use super::programme::{Aim, Question};
use super::result::{FrontPoint, counted};

/// Factors on the demanded rate.
const FACTORS: [f64; 9] = [0.5, 0.75, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0];
/// Points between the cheapest plan and the one with least power or fewest failures.
const STEPS: usize = 8;

/// Plans on the fronts of cost and rate, cost and power, and cost and failures.
///
/// # Errors
/// When the solver fails.
pub(crate) fn front(problem: &ChooseProblem, world: &WorldState, chosen: &[u32]) -> Result<Vec<FrontPoint>, Error> {
    let point = |against: &str, plan: &[u32]| FrontPoint {
        against: against.to_owned(),
        plan: counted(problem, plan),
        cost: sum(plan, &world.cost),
        rate: problem.rate(plan, world),
        power: sum(plan, &world.power),
        failures_per_year: failures(problem, plan),
        chosen: plan == chosen,
    };
    let mut points = vec![point("rate", chosen)];
    for factor in FACTORS {
        let asked = Question { rate: problem.demand.rate * factor, ..Question::cheapest(problem, world) };
        points.extend(asked.solve()?.map(|solved| point("rate", &solved.plan)));
    }
    for (against, aim) in [("power", Aim::Power), ("failures", Aim::Failures)] {
        let cheapest = Question::cheapest(problem, world);
        let least = Question { aim, ..cheapest.clone() };
        let (Some(cheap), Some(least)) = (cheapest.solve()?, least.solve()?) else { continue };
        let measure = |plan: &[u32]| if aim == Aim::Power { sum(plan, &world.power) } else { failures(problem, plan) };
        let (most, least) = (measure(&cheap.plan), measure(&least.plan));
        points.push(point(against, &cheap.plan));
        points.push(point(against, chosen));
        for step in 0..STEPS {
            let limit = Some(least + (most - least) * step as f64 / STEPS as f64 + 1e-9 * most);
            let asked = match aim {
                Aim::Power => Question { power: limit, ..cheapest.clone() },
                _ => Question { failures: limit, ..cheapest.clone() },
            };
            points.extend(asked.solve()?.map(|solved| point(against, &solved.plan)));
        }
    }
    Ok(undominated(points))
}

fn undominated(points: Vec<FrontPoint>) -> Vec<FrontPoint> {
    // Both measures are minimised: cost, and power, failures or minus the rate.
    let measures = |point: &FrontPoint| match point.against.as_str() {
        "power" => (point.cost, point.power),
        "failures" => (point.cost, point.failures_per_year),
        _ => (point.cost, -point.rate),
    };
    let beats = |a: (f64, f64), b: (f64, f64)| a.0 <= b.0 && a.1 <= b.1 && a != b;
    let mut kept: Vec<FrontPoint> = points
        .iter()
        .filter(|point| {
            let rivals = points.iter().filter(|rival| rival.against == point.against);
            point.chosen || !rivals.map(measures).any(|rival| beats(rival, measures(point)))
        })
        .cloned()
        .collect();
    kept.sort_by(|a, b| b.against.cmp(&a.against).then(a.cost.total_cmp(&b.cost)));
    kept.dedup_by(|a, b| a.against == b.against && a.plan == b.plan);
    kept
}

pub(crate) fn sum(plan: &[u32], each: &[f64]) -> f64 {
    plan.iter().zip(each).map(|(&count, value)| f64::from(count) * value).sum()
}

pub(crate) fn failures(problem: &ChooseProblem, plan: &[u32]) -> f64 {
    plan.iter().zip(&problem.offers).map(|(&count, offer)| f64::from(count) * offer.failures_per_year).sum()
}
