//! Conditions that cost money, and conditions that cannot be met.

use super::error::Error;
use super::problem::{ChooseProblem, WorldState};
use super::programme::{Aim, Condition, Question};
use super::result::{Binding, Shortage};
use super::sentences::quoted;

/// Savings below this share of the cost are rounding errors.
const LEAST: f64 = 1e-6;

/// Savings without each condition, largest first.
///
/// # Errors
/// When the solver fails.
pub(crate) fn binding(problem: &ChooseProblem, world: &WorldState, cost: f64) -> Result<Vec<Binding>, Error> {
    let mut found = Vec::new();
    let mut add = |condition: String, without: Option<f64>| {
        if let Some(saving) = without.map(|without| cost - without).filter(|saving| *saving > LEAST * cost) {
            found.push(Binding { condition, saving });
        }
    };
    for condition in conditions(problem) {
        if condition == Condition::Rate {
            continue;
        }
        let asked = Question { lifted: vec![condition], ..Question::cheapest(problem, world) };
        add(in_words(problem, condition), asked.solve()?.map(|solved| solved.value));
    }
    for (place, offer) in problem.offers.iter().enumerate() {
        let Some(reason) = &offer.excluded else { continue };
        let mut freed = problem.clone();
        freed.offers[place].excluded = None;
        let solved = Question::cheapest(&freed, world).solve()?;
        add(format!("ruling out {} ({reason})", quoted(&offer.name)), solved.map(|solved| solved.value));
    }
    found.sort_by(|a, b| b.saving.total_cmp(&a.saving));
    Ok(found)
}

/// The necessary value of each condition while all others stay; conditions that alone would not help are left out. If
/// only a smaller demand helps alone, the limits are given as they would have to be together.
///
/// # Errors
/// When the solver fails.
pub(crate) fn shortages(problem: &ChooseProblem, world: &WorldState) -> Result<Vec<Shortage>, Error> {
    let all = conditions(problem);
    let mut found = Vec::new();
    let mut limits = 0;
    for &condition in &all {
        let asked = Question { aim: Aim::Miss(condition), ..Question::cheapest(problem, world) };
        if let Some(shortage) = asked.solve()?.and_then(|solved| shortage(problem, condition, solved.value, true)) {
            limits += usize::from(!matches!(condition, Condition::Rate | Condition::Nodes));
            found.push(shortage);
        }
    }
    if limits > 0 {
        return Ok(found);
    }
    let asked_for = |condition: &Condition| matches!(condition, Condition::Rate | Condition::Nodes | Condition::Spare);
    for &condition in all.iter().filter(|condition| !asked_for(condition)) {
        let others = all.iter().copied().filter(|other| *other != condition && !asked_for(other)).collect();
        let asked = Question { aim: Aim::Miss(condition), lifted: others, ..Question::cheapest(problem, world) };
        found.extend(asked.solve()?.and_then(|solved| shortage(problem, condition, solved.value, false)));
    }
    Ok(found)
}

fn shortage(problem: &ChooseProblem, condition: Condition, missed: f64, alone: bool) -> Option<Shortage> {
    let demand = &problem.demand;
    let currency = problem.currency.clone();
    let (limit, unit, sign) = match condition {
        Condition::Rate => (demand.rate, demand.unit.clone(), -1.0),
        Condition::Nodes => (f64::from(demand.nodes), "nodes".to_owned(), -1.0),
        Condition::Budget => (demand.budget?, currency, 1.0),
        Condition::Purchase => (demand.purchase_limit?, currency, 1.0),
        Condition::Power => (demand.power_limit?, "W".to_owned(), 1.0),
        Condition::Racks => (demand.rack_units?, "rack units".to_owned(), 1.0),
        Condition::Maximum(offer) => (f64::from(problem.offers[offer].maximum?), "nodes".to_owned(), 1.0),
        Condition::Spare | Condition::Failures => return None,
    };
    let missing = missed > 1e-6 * limit.max(1.0);
    let needed = limit + sign * missed;
    // A constraint that only a demand of zero would meet has no helpful value.
    let helps = needed > 1e-6 * limit;
    (missing && helps).then(|| Shortage { condition: in_words(problem, condition), limit, needed, unit, alone })
}

fn conditions(problem: &ChooseProblem) -> Vec<Condition> {
    let demand = &problem.demand;
    let mut found = vec![Condition::Rate];
    for (has, condition) in [
        (demand.nodes > 0, Condition::Nodes),
        (demand.spare_nodes > 0, Condition::Spare),
        (demand.budget.is_some(), Condition::Budget),
        (demand.purchase_limit.is_some(), Condition::Purchase),
        (demand.power_limit.is_some(), Condition::Power),
        (demand.rack_units.is_some(), Condition::Racks),
    ] {
        if has {
            found.push(condition);
        }
    }
    let limited = |i: &usize| problem.offers[*i].maximum.is_some() && problem.offers[*i].excluded.is_none();
    found.extend((0..problem.offers.len()).filter(limited).map(Condition::Maximum));
    found
}

fn in_words(problem: &ChooseProblem, condition: Condition) -> String {
    match condition {
        Condition::Rate => "the rate".to_owned(),
        Condition::Nodes => "the least number of nodes".to_owned(),
        Condition::Spare => match problem.demand.spare_nodes {
            1 => "the spare node".to_owned(),
            many => format!("the {many} spare nodes"),
        },
        Condition::Budget => "the budget".to_owned(),
        Condition::Purchase => "the purchase limit".to_owned(),
        Condition::Power => "the power limit".to_owned(),
        Condition::Racks => "the rack space".to_owned(),
        Condition::Failures => "the failures a year".to_owned(),
        Condition::Maximum(offer) => format!("the limited number of {}", quoted(&problem.offers[offer].name)),
    }
}
