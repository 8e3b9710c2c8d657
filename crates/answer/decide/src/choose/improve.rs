//! Cheaper plans near those that are sure enough, found step by step.
//!
//! The best plan of a single world knows nothing of the others, and plans for more than the demand come in steps of a
//! few percent. The search starts from the cheapest plan that reaches the rate with the requested confidence. It drops
//! and exchanges nodes as long as the mean cost falls and the confidence holds (steepest descent over integer plans).

use super::candidate::Candidates;
use super::draw::Draws;
use super::problem::{ChooseProblem, WorldState};

/// Plans of different kinds of offers from which the search begins.
const STARTS: usize = 4;
/// Nodes of one kind that a step leaves out, at most.
const OUT: u32 = 2;
/// Steps from each beginning, at most.
const STEPS: usize = 60;
/// A step must save more than this share of the cost.
const LEAST: f64 = 1e-9;

/// Criteria of the steps.
struct Descent<'a> {
    problem: &'a ChooseProblem,
    draws: &'a Draws,
    middle: &'a WorldState,
    /// Worlds in which a plan must reach the rate.
    needed: usize,
    /// Rate of one node in each world, by offer.
    rates: Vec<Vec<f64>>,
    /// The offers of each world, the fastest first.
    fastest: Vec<Vec<usize>>,
    /// Mean over worlds of the cost of one node, by offer.
    costs: Vec<f64>,
}

/// A plan near another one: nodes of one kind left out, and perhaps some of another in their place.
struct PlanStep {
    plan: Vec<u32>,
    /// Mean cost of its own nodes: later purchases only add to it.
    own: f64,
    out: (usize, u32),
    instead: Option<(usize, u32)>,
}

/// Adds the plans to which steps from the cheapest sure ones lead; none where no plan is sure.
pub(crate) fn improve(
    candidates: &mut Candidates,
    problem: &ChooseProblem,
    draws: &Draws,
    middle: &WorldState,
    confidence: f64,
) {
    let needed = (confidence * draws.worlds.len() as f64 - 1e-9).ceil().max(0.0) as usize;
    let descent = Descent::of(problem, draws, middle, needed);
    let mut begun: Vec<Vec<bool>> = Vec::new();
    for place in candidates.sure(confidence) {
        let kinds: Vec<bool> = candidates.plans[place].iter().map(|count| *count > 0).collect();
        if begun.len() == STARTS {
            break;
        }
        if begun.contains(&kinds) {
            continue;
        }
        begun.push(kinds);
        let (plan, cost) = (candidates.plans[place].clone(), candidates.mean(place));
        let found = descent.from(plan, cost);
        if !candidates.plans.contains(&found) {
            candidates.add(problem, draws, found);
        }
    }
}

impl<'a> Descent<'a> {
    fn of(problem: &'a ChooseProblem, draws: &'a Draws, middle: &'a WorldState, needed: usize) -> Self {
        let offers = 0..problem.offers.len();
        let rates = offers.clone().map(|i| draws.worlds.iter().map(|world| world.rate[i]).collect()).collect();
        let mean = |i: usize| draws.worlds.iter().map(|world| world.cost[i]).sum::<f64>() / draws.worlds.len() as f64;
        let fastest = |world: &WorldState| {
            let mut order: Vec<usize> = (0..world.rate.len()).collect();
            order.sort_by(|&a, &b| world.rate[b].total_cmp(&world.rate[a]));
            order
        };
        let fastest = draws.worlds.iter().map(fastest).collect();
        Self { problem, draws, middle, needed, rates, fastest, costs: offers.map(mean).collect() }
    }

    fn from(&self, mut plan: Vec<u32>, mut cost: f64) -> Vec<u32> {
        for _ in 0..STEPS {
            let Some((found, near)) = self.best_step(&plan, cost * (1.0 - LEAST)) else { break };
            (plan, cost) = (near, found);
        }
        plan
    }

    /// The step to the cheapest plan below a cost. Steps are tried in the order of their nodes' own cost, and skipped
    /// if that alone is too much.
    fn best_step(&self, plan: &[u32], below: f64) -> Option<(f64, Vec<u32>)> {
        let all =
            |world: usize| plan.iter().zip(&self.rates).map(|(&count, rate)| f64::from(count) * rate[world]).sum();
        let now: Vec<f64> = (0..self.draws.worlds.len()).map(all).collect();
        let mut steps = self.steps(plan);
        steps.retain(|step| step.own < below);
        steps.sort_by(|a, b| a.own.total_cmp(&b.own));
        let mut best: Option<(f64, Vec<u32>)> = None;
        for step in steps {
            let least = best.as_ref().map_or(below, |(cost, _)| *cost);
            if step.own >= least {
                break;
            }
            let cost = self.cost_below(&step, &now, least);
            best = cost.map(|cost| (cost, step.plan)).or(best);
        }
        best
    }

    /// Plans with a few nodes of a kind fewer, and with about as much of another kind in their place.
    fn steps(&self, plan: &[u32]) -> Vec<PlanStep> {
        let mut found = Vec::new();
        let mut add = |plan: Vec<u32>, out, instead| {
            let own = plan.iter().zip(&self.costs).map(|(&count, cost)| f64::from(count) * cost).sum();
            found.push(PlanStep { plan, own, out, instead });
        };
        for (from, &count) in plan.iter().enumerate() {
            for out in 1..=OUT.min(count) {
                let mut fewer = plan.to_vec();
                fewer[from] -= out;
                for to in (0..plan.len()).filter(|to| *to != from && self.problem.offers[*to].excluded.is_none()) {
                    let instead = f64::from(out) * self.middle.rate[from] / self.middle.rate[to];
                    for more in [instead.floor(), instead.ceil()] {
                        let mut near = fewer.clone();
                        // Saturates: such a plan is not allowed.
                        near[to] = near[to].saturating_add(more as u32);
                        add(near, (from, out), Some((to, more as u32)));
                    }
                }
                add(fewer, (from, out), None);
            }
        }
        found
    }

    /// The mean cost of a step's plan, from the rates of the current plan in each world. `None` if it is not below
    /// `below`, not allowed or not sure enough.
    fn cost_below(&self, step: &PlanStep, now: &[f64], below: f64) -> Option<f64> {
        let part = |(offer, count): (usize, u32)| (self.rates[offer].as_slice(), f64::from(count));
        let (less, out) = part(step.out);
        let (more, instead) = step.instead.map_or((less, 0.0), part);
        let wanted = self.problem.demand.rate;
        let mut short: Vec<(usize, f64)> = Vec::new();
        for (world, now) in now.iter().enumerate() {
            let all = now - out * less[world] + instead * more[world];
            let missing = wanted - (all - self.lost(&step.plan, world));
            if missing > 1e-9 * wanted {
                short.push((world, missing));
                if self.draws.worlds.len() - short.len() < self.needed {
                    return None;
                }
            }
        }
        if !self.problem.allows(&step.plan, self.middle) {
            return None;
        }
        let mut later = 0.0;
        for (world, missing) in short {
            later += self.problem.later(missing, &self.draws.worlds[world]) / now.len() as f64;
            if step.own + later >= below {
                return None;
            }
        }
        Some(step.own + later)
    }

    /// Rate of the fastest nodes of a plan in a world, as many as may be lost.
    fn lost(&self, plan: &[u32], world: usize) -> f64 {
        let (mut spare, mut lost) = (self.problem.demand.spare_nodes, 0.0);
        let mut order = self.fastest[world].iter();
        while spare > 0
            && let Some(&offer) = order.next()
        {
            let here = plan[offer].min(spare);
            lost += f64::from(here) * self.rates[offer][world];
            spare -= here;
        }
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choose::parse;

    impl Descent<'_> {
        /// The mean cost of a plan, later purchases included; `None` where it is not allowed or not sure enough.
        fn mean(&self, plan: &[u32]) -> Option<f64> {
            if !self.problem.allows(plan, self.middle) {
                return None;
            }
            let worlds = &self.draws.worlds;
            let enough = self.problem.demand.rate * (1.0 - 1e-9);
            let reached = worlds.iter().filter(|world| self.problem.rate(plan, world) >= enough).count();
            let cost = |world| {
                let (own, later) = self.problem.costs(plan, world);
                own + later
            };
            (reached >= self.needed).then(|| worlds.iter().map(cost).sum::<f64>() / worlds.len() as f64)
        }
    }

    /// Three offers with uncertain rates and a limit of watts. Among all plans up to 30 nodes of each, none of equal
    /// confidence costs half a percent less than the search's plan.
    #[test]
    fn steps_lead_to_the_cheapest_sure_plan() {
        let offer = |name: &str, price: u32, rate: &str, power: u32| {
            format!(
                "[[offer]]\nname = \"{name}\"\nprice = \"{price} EUR\"\npower = \"{power} W\"\nrate = {{ events = \"{rate} events/s\" }}\n"
            )
        };
        let text = "currency = \"EUR\"\ndraws = 200\n[demand]\nrate = \"1000 events/s\"\nyears = \"1 years\"\npower_limit = \"9 kW\"\n"
            .to_owned()
            + &offer("a", 1000, "40 to 62", 300)
            + &offer("b", 1130, "48 to 58", 380)
            + &offer("c", 2300, "80 to 130", 700);
        let mut problem = parse(&text).unwrap().problem(&std::collections::BTreeMap::new()).unwrap();
        for (spare, confidence) in [(0, 0.5), (0, 0.9), (0, 0.99), (2, 0.5), (2, 0.9)] {
            problem.demand.spare_nodes = spare;
            let (draws, middle) = (Draws::of(&problem), problem.middle());
            let cautious = draws.cautious(&middle, confidence);
            let mut candidates = Candidates::of(&problem, &draws, &middle, &cautious).unwrap();
            let before = candidates.mean(candidates.choose(confidence).unwrap());
            improve(&mut candidates, &problem, &draws, &middle, confidence);
            let place = candidates.choose(confidence).unwrap();
            let (plan, found) = (&candidates.plans[place], candidates.mean(place));
            assert!(problem.allows(plan, &middle), "{plan:?}");
            assert!(candidates.reaches[place] >= confidence - 1e-9 && found <= before);
            let needed = (confidence * 200.0 - 1e-9).ceil() as usize;
            let descent = Descent::of(&problem, &draws, &middle, needed);
            let all = (0..30).flat_map(|a| (0..30).flat_map(move |b| (0..15).map(move |c| vec![a, b, c])));
            let best = all.filter_map(|plan| descent.mean(&plan)).fold(f64::INFINITY, f64::min);
            assert!(found <= 1.005 * best, "{spare} spare, {confidence}: {found} for {best}");
            // The cost of the plan and its rate without the nodes that may be lost decide a step.
            let lost = |world: usize| {
                let rates = (0..plan.len()).flat_map(|i| vec![draws.worlds[world].rate[i]; plan[i] as usize]);
                let mut rates: Vec<f64> = rates.collect();
                rates.sort_by(|a, b| b.total_cmp(a));
                rates.iter().take(spare as usize).sum::<f64>()
            };
            for world in 0..draws.worlds.len() {
                let all: f64 = plan.iter().zip(&draws.worlds[world].rate).map(|(&n, rate)| f64::from(n) * rate).sum();
                assert!((descent.lost(plan, world) - lost(world)).abs() < 1e-9 * all);
                assert!((problem.rate(plan, &draws.worlds[world]) - (all - lost(world))).abs() < 1e-9 * all);
            }
        }
    }
}
