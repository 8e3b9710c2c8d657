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

/// Largest parts of the rate that one offer may have in a plan: the errors of several uncertain rates cancel in part.
const SHARES: [f64; 6] = [1.0, 0.67, 0.5, 0.34, 0.25, 0.21];

/// The problem with further limits on how many of an offer, by its place.
fn limited(problem: &ChooseProblem, most: impl Fn(usize) -> u32) -> ChooseProblem {
    let mut limited = problem.clone();
    for (place, offer) in limited.offers.iter_mut().enumerate() {
        offer.maximum = Some(offer.maximum.unwrap_or(u32::MAX).min(most(place)));
    }
    limited
}

/// Nodes of an offer that do a rate.
fn nodes(rate: f64, of_one: f64) -> u32 {
    let nodes = (rate / of_one).ceil();
    // Positive, since rates are.
    if nodes < 1e6 { nodes as u32 } else { u32::MAX }
}

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
    /// The plans that are the best in each world: one, or several that cost the same.
    pub(crate) best: Vec<Vec<usize>>,
}

/// Costs nearer than this share are equal.
const TIE: f64 = 1e-9;

impl Candidates {
    /// # Errors
    /// When the solver fails.
    pub(crate) fn of(
        problem: &ChooseProblem,
        draws: &Draws,
        middle: &WorldState,
        cautious: &WorldState,
    ) -> Result<Self, Error> {
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
        let sure = Question::cheapest(problem, cautious).solve()?.map(|solved| solved.plan);
        plans.extend(sure.filter(|sure| !plans.contains(sure)));
        for margin in MARGINS {
            let rate = problem.demand.rate * margin;
            let alone =
                (0..problem.offers.len()).map(|i| limited(problem, |offer| if offer == i { u32::MAX } else { 0 }));
            let shared = SHARES.iter().map(|share| limited(problem, |offer| nodes(share * rate, middle.rate[offer])));
            for limited in alone.chain(shared) {
                let asked = Question { rate, ..Question::cheapest(&limited, middle) };
                if let Some(solved) = asked.solve()?
                    && !plans.contains(&solved.plan)
                {
                    plans.push(solved.plan);
                }
            }
        }
        let mut candidates =
            Self { plans: Vec::new(), costs: Vec::new(), reached: Vec::new(), reaches: Vec::new(), best: Vec::new() };
        candidates.best = vec![Vec::new(); draws.worlds.len()];
        for plan in plans {
            candidates.add(problem, draws, plan);
        }
        Ok(candidates)
    }

    /// Adds a plan, with its cost and its rate in every world.
    pub(crate) fn add(&mut self, problem: &ChooseProblem, draws: &Draws, plan: Vec<u32>) {
        let wanted = problem.demand.rate;
        let of_world = |world| {
            let rate = problem.rate(&plan, world);
            (problem.own_cost(&plan, world) + problem.later(wanted - rate, world), rate >= wanted * (1.0 - 1e-9))
        };
        let (costs, reached): (Vec<f64>, Vec<bool>) = draws.worlds.iter().map(of_world).unzip();
        let place = self.plans.len();
        for (world, best) in self.best.iter_mut().enumerate() {
            let least = best.iter().map(|&plan| self.costs[plan][world]).fold(f64::INFINITY, f64::min);
            if costs[world] <= least * (1.0 + TIE) {
                best.retain(|&plan| self.costs[plan][world] <= costs[world] * (1.0 + TIE));
                best.push(place);
            }
        }
        self.reaches.push(reached.iter().filter(|yes| **yes).count() as f64 / reached.len() as f64);
        self.plans.push(plan);
        self.costs.push(costs);
        self.reached.push(reached);
    }

    /// Plans that reach the rate with `confidence`, the smallest mean cost first.
    pub(crate) fn sure(&self, confidence: f64) -> Vec<usize> {
        let mut sure: Vec<usize> =
            (0..self.plans.len()).filter(|&plan| self.reaches[plan] >= confidence - 1e-9).collect();
        sure.sort_by(|&a, &b| self.mean(a).total_cmp(&self.mean(b)));
        sure
    }

    /// Among plans that reach the rate with `confidence`, the one with the smallest mean cost. If there is none, the
    /// one that reaches it most often.
    pub(crate) fn choose(&self, confidence: f64) -> Option<usize> {
        let nearest = || {
            (0..self.plans.len()).max_by(|&a, &b| {
                self.reaches[a].total_cmp(&self.reaches[b]).then(self.mean(b).total_cmp(&self.mean(a)))
            })
        };
        self.sure(confidence).first().copied().or_else(nearest)
    }

    /// Mean over worlds of the cost of the best plan in each.
    pub(crate) fn knowing_all(&self) -> f64 {
        let least = |(world, best): (usize, &Vec<usize>)| best.first().map_or(0.0, |&plan| self.costs[plan][world]);
        self.best.iter().enumerate().map(least).sum::<f64>() / self.best.len() as f64
    }

    /// Share of worlds in which a plan is the best; several best plans of one world share it.
    pub(crate) fn odds(&self, plan: usize) -> f64 {
        let part = |best: &Vec<usize>| if best.contains(&plan) { 1.0 / best.len() as f64 } else { 0.0 };
        self.best.iter().map(part).sum::<f64>() / self.best.len() as f64
    }

    /// Share of worlds in which no plan is cheaper, whatever costs the same.
    pub(crate) fn unbeaten(&self, plan: usize) -> f64 {
        self.best.iter().filter(|best| best.contains(&plan)).count() as f64 / self.best.len() as f64
    }

    /// Mean cost of a plan.
    pub(crate) fn mean(&self, plan: usize) -> f64 {
        self.costs[plan].iter().sum::<f64>() / self.costs[plan].len() as f64
    }
}
