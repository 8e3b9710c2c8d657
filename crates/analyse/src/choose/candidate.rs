//! Candidate plans: the best one of each world, and cautious ones.

use std::collections::BTreeMap;

use super::draw::Draws;
use super::error::Error;
use super::problem::{ChooseProblem, WorldState};
use super::programme::Question;

/// Plans beyond this number are considered only if they are the best of more worlds than others.
const MOST: usize = 400;
/// Factors on the demand for cautious plans.
const MARGINS: [f64; 12] = [1.0, 1.02, 1.05, 1.1, 1.15, 1.2, 1.3, 1.4, 1.5, 1.75, 2.0, 2.5];

/// Plans and their costs in each world.
#[derive(Debug, Clone)]
pub(crate) struct Candidates {
    pub(crate) plans: Vec<Vec<u32>>,
    /// Cost by plan and world, including later purchases.
    pub(crate) costs: Vec<Vec<f64>>,
    /// Whether each plan reaches the rate in each world.
    pub(crate) reached: Vec<Vec<bool>>,
    /// Share of worlds in which each plan reaches the rate.
    pub(crate) reaches: Vec<f64>,
    /// The plan that is the best in each world.
    pub(crate) best: Vec<usize>,
}

impl Candidates {
    /// # Errors
    /// When the solver fails.
    pub(crate) fn of(problem: &ChooseProblem, draws: &Draws, middle: &WorldState) -> Result<Self, Error> {
        let mut seen: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
        for world in &draws.worlds {
            if let Some(solved) = Question::cheapest(problem, world).solve()? {
                *seen.entry(solved.plan).or_default() += 1;
            }
        }
        let mut plans: Vec<(Vec<u32>, usize)> = seen.into_iter().collect();
        plans.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        plans.truncate(MOST);
        let mut plans: Vec<Vec<u32>> = plans.into_iter().map(|(plan, _)| plan).collect();
        for margin in MARGINS {
            let asked = Question { rate: problem.demand.rate * margin, ..Question::cheapest(problem, middle) };
            if let Some(solved) = asked.solve()?
                && !plans.contains(&solved.plan)
            {
                plans.push(solved.plan);
            }
        }
        let costs: Vec<Vec<f64>> = plans
            .iter()
            .map(|plan| {
                let cost = |world| {
                    let (own, later) = problem.costs(plan, world);
                    own + later
                };
                draws.worlds.iter().map(cost).collect()
            })
            .collect();
        let enough = |plan: &Vec<u32>| {
            let reached = |world: &WorldState| problem.rate(plan, world) >= problem.demand.rate * (1.0 - 1e-9);
            draws.worlds.iter().map(reached).collect::<Vec<bool>>()
        };
        let reached: Vec<Vec<bool>> = plans.iter().map(enough).collect();
        let share = |reached: &Vec<bool>| reached.iter().filter(|yes| **yes).count() as f64 / reached.len() as f64;
        let reaches = reached.iter().map(share).collect();
        let best = (0..draws.worlds.len())
            .filter_map(|world| (0..plans.len()).min_by(|&a, &b| costs[a][world].total_cmp(&costs[b][world])))
            .collect();
        Ok(Self { plans, costs, reached, reaches, best })
    }

    /// Among plans that reach the rate with `confidence`, the one with the smallest mean cost; if there is none, the
    /// one that reaches it most often.
    pub(crate) fn choose(&self, confidence: f64) -> Option<usize> {
        let mean = |plan: usize| self.costs[plan].iter().sum::<f64>();
        let sure: Vec<usize> = (0..self.plans.len()).filter(|&plan| self.reaches[plan] >= confidence - 1e-9).collect();
        if sure.is_empty() {
            return (0..self.plans.len())
                .max_by(|&a, &b| self.reaches[a].total_cmp(&self.reaches[b]).then(mean(b).total_cmp(&mean(a))));
        }
        sure.into_iter().min_by(|&a, &b| mean(a).total_cmp(&mean(b)))
    }

    /// Mean over worlds of the cost of the best plan in each.
    pub(crate) fn knowing_all(&self) -> f64 {
        self.best.iter().enumerate().map(|(world, &plan)| self.costs[plan][world]).sum::<f64>() / self.best.len() as f64
    }

    /// Mean cost of a plan.
    pub(crate) fn mean(&self, plan: usize) -> f64 {
        self.costs[plan].iter().sum::<f64>() / self.costs[plan].len() as f64
    }
}
