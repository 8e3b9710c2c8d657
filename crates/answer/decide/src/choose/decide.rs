//! From the problem to the answer.

use stats::quantile;

use super::binding::{binding, shortages};
use super::candidate::Candidates;
use super::curse::corrected;
use super::draw::{Draws, kept_up};
use super::error::Error;
use super::front::{failures, front, sum};
use super::improve::improve;
use super::information::information;
use super::problem::{ChooseProblem, WorldState};
use super::programme::Question;
use super::result::{
    AgainstCheapest, Choice, ChooseAnswer, ChosenPlan, Costs, Excluded, LEAST_CUT, OfferOdds, OneKind, PlanOdds,
    counted,
};

/// Plans whose probabilities are listed.
const LISTED: usize = 8;

/// Chooses what to buy.
///
/// # Errors
/// When the solver fails numerically. A demand that cannot be met is an answer, not an error.
pub fn decide(problem: &ChooseProblem) -> Result<Choice, Error> {
    let (problem, corrected) = corrected(problem);
    let problem = &problem;
    let middle = problem.middle();
    let excluded = problem
        .offers
        .iter()
        .filter_map(|offer| Some(Excluded { offer: offer.name.clone(), reason: offer.excluded.clone()? }))
        .collect();
    let answer = match Question::cheapest(problem, &middle).solve()? {
        None => {
            let cautious = Draws::of(problem).cautious(&middle, problem.demand.confidence);
            ChooseAnswer::Impossible(shortages(problem, &cautious)?)
        }
        Some(cheapest) => ChooseAnswer::Plan(Box::new(chosen(problem, &middle, cheapest.value)?)),
    };
    Ok(Choice { problem: problem.clone(), excluded, corrected, answer })
}

fn chosen(problem: &ChooseProblem, middle: &WorldState, cheapest: f64) -> Result<ChosenPlan, Error> {
    let draws = Draws::of(problem);
    let cautious = draws.cautious(middle, problem.demand.confidence);
    let mut candidates = Candidates::of(problem, &draws, middle, &cautious)?;
    improve(&mut candidates, problem, &draws, middle, problem.demand.confidence);
    let place = candidates
        .choose(problem.demand.confidence)
        .ok_or_else(|| Error::Solver("no plan was found in any of the draws".to_owned()))?;
    let plan = candidates.plans[place].clone();
    let knowing_all = candidates.knowing_all();
    let odds = |plan: usize| PlanOdds {
        plan: counted(problem, &candidates.plans[plan]),
        probability: candidates.odds(plan),
        expected_cost: candidates.mean(plan),
        expected_regret: (candidates.mean(plan) - knowing_all).max(0.0),
        reaches: candidates.reaches[plan],
    };
    let mut plans: Vec<PlanOdds> =
        (0..candidates.plans.len()).filter(|&p| p == place || candidates.odds(p) > 0.0).map(odds).collect();
    plans.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    let own = odds(place);
    plans.truncate(LISTED);
    if !plans.contains(&own) {
        plans.push(own.clone());
    }
    let spread = |share: f64| quantile(&candidates.costs[place], share).unwrap_or(f64::NAN);
    Ok(ChosenPlan {
        costs: costs(problem, &plan, middle),
        cost_spread: (spread(0.05), spread(0.5), spread(0.95)),
        rate: problem.rate(&plan, middle),
        power: sum(&plan, &middle.power),
        failures_per_year: failures(problem, &plan),
        reaches: own.reaches,
        kept_up: kept_up(problem, &plan, &draws.worlds),
        probability_best: own.probability,
        unbeaten: candidates.unbeaten(place),
        expected_regret: own.expected_regret,
        against_cheapest: against_cheapest(problem, middle, &candidates, place),
        one_kind: one_kind(problem, &candidates, place),
        shortages: if own.reaches < problem.demand.confidence - 1e-9 {
            shortages(problem, &cautious)?
        } else {
            Vec::new()
        },
        plans,
        offers: offers(problem, middle, &draws, &candidates, cheapest)?,
        binding: binding(problem, middle, cheapest)?,
        front: front(problem, middle, &plan)?,
        information: information(problem, &draws, &candidates, place),
        plan: counted(problem, &plan),
    })
}

fn against_cheapest(
    problem: &ChooseProblem,
    middle: &WorldState,
    candidates: &Candidates,
    chosen: usize,
) -> AgainstCheapest {
    let cost = |plan: usize| problem.costs(&candidates.plans[plan], middle).0;
    let cheapest = (0..candidates.plans.len()).min_by(|&a, &b| cost(a).total_cmp(&cost(b))).unwrap_or(chosen);
    let sure = candidates.reaches.iter().filter(|reaches| **reaches >= problem.demand.confidence - 1e-9).count();
    AgainstCheapest {
        plan: counted(problem, &candidates.plans[cheapest]),
        more_expensive: cost(chosen) / cost(cheapest) - 1.0,
        reaches: candidates.reaches[cheapest],
        expected_cost: candidates.mean(cheapest),
        considered: candidates.plans.len(),
        sure,
    }
}

fn one_kind(problem: &ChooseProblem, candidates: &Candidates, chosen: usize) -> Option<OneKind> {
    let kinds = |plan: usize| candidates.plans[plan].iter().filter(|count| **count > 0).count();
    let sure = |plan: &usize| candidates.reaches[*plan] >= problem.demand.confidence - 1e-9;
    let cost = |plan: usize| candidates.mean(plan);
    let single = (0..candidates.plans.len()).filter(|plan| kinds(*plan) == 1).filter(sure);
    let best = single.filter(|_| kinds(chosen) > 1).min_by(|&a, &b| cost(a).total_cmp(&cost(b)))?;
    Some(OneKind { plan: counted(problem, &candidates.plans[best]), more_expensive: cost(best) / cost(chosen) - 1.0 })
}

fn costs(problem: &ChooseProblem, plan: &[u32], world: &WorldState) -> Costs {
    let (total, _) = problem.costs(plan, world);
    let (purchase, energy) = (sum(plan, &world.purchase), sum(plan, &world.energy));
    Costs { total, purchase, energy, running: (total - purchase - energy).max(0.0) }
}

/// Of plans with equal cost in a world, the ones with the highest rate there, which share it.
fn doing_most<'a>(
    problem: &ChooseProblem,
    world: &WorldState,
    plans: impl Iterator<Item = &'a [u32]>,
) -> Vec<&'a [u32]> {
    let rated: Vec<(f64, &[u32])> = plans.map(|plan| (problem.rate(plan, world), plan)).collect();
    let most = rated.iter().map(|(rate, _)| *rate).fold(f64::NEG_INFINITY, f64::max);
    rated.into_iter().filter(|(rate, _)| *rate >= most * (1.0 - 1e-9)).map(|(_, plan)| plan).collect()
}

fn offers(
    problem: &ChooseProblem,
    middle: &WorldState,
    draws: &Draws,
    candidates: &Candidates,
    cheapest: f64,
) -> Result<Vec<OfferOdds>, Error> {
    let worlds = draws.worlds.len() as f64;
    (0..problem.offers.len())
        .map(|i| {
            let mut main = 0.0;
            let mut used = 0.0;
            for (world, best) in draws.worlds.iter().zip(&candidates.best) {
                let best = doing_most(problem, world, best.iter().map(|&plan| candidates.plans[plan].as_slice()));
                let part = 1.0 / best.len() as f64;
                for plan in best {
                    let share = |k: usize| f64::from(plan[k]) * world.rate[k];
                    let first = (0..plan.len()).max_by(|&a, &b| share(a).total_cmp(&share(b)).then(b.cmp(&a)));
                    main += if first == Some(i) { part } else { 0.0 };
                    used += if plan[i] > 0 { part } else { 0.0 };
                }
            }
            let takeable = problem.offers[i].excluded.is_none();
            Ok(OfferOdds {
                offer: problem.offers[i].name.clone(),
                best: main / worlds,
                used: used / worlds,
                cost_per_rate: takeable.then(|| middle.cost[i] / middle.rate[i]),
                enters_at: if takeable { enters_at(problem, middle, i, cheapest)? } else { None },
            })
        })
        .collect()
}

/// Relative resolution of price cuts; those below [`LEAST_CUT`] are not resolved.
const CUT_RESOLUTION: f64 = 0.01;

/// The price cut, as a share of the cost of one node over the years, from which an offer is in the cheapest plan.
/// Bisection finds it to [`CUT_RESOLUTION`], or down to [`LEAST_CUT`].
fn enters_at(problem: &ChooseProblem, middle: &WorldState, offer: usize, cheapest: f64) -> Result<Option<f64>, Error> {
    let in_plan = |cut: f64| -> Result<bool, Error> {
        let mut world = middle.clone();
        world.cost[offer] *= 1.0 - cut;
        let solved = Question::cheapest(problem, &world).solve()?;
        Ok(solved.is_some_and(|solved| solved.plan[offer] > 0 && solved.value < cheapest * (1.0 - 1e-9)))
    };
    let whole = Question::cheapest(problem, middle).solve()?;
    if whole.is_some_and(|solved| solved.plan[offer] > 0) || !in_plan(0.99)? {
        return Ok(None);
    }
    let (mut low, mut high) = (0.0, 0.99);
    while high > LEAST_CUT && high - low > CUT_RESOLUTION * high {
        let half = f64::midpoint(low, high);
        if in_plan(half)? { high = half } else { low = half }
    }
    Ok(Some(high))
}
