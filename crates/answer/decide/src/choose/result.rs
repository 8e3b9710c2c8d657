//! The result of a choice, as plain data. Money is in the currency of the question.

use model::{percent, significant};
use serde::{Deserialize, Serialize};

use super::curse::CorrectedOffer;
use super::problem::{ChooseProblem, UnknownParameter};

/// The answer to the question what to buy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The question in numbers, with uncertain rates corrected.
    pub problem: ChooseProblem,
    /// Offers that cannot be taken, each with the reason.
    pub excluded: Vec<Excluded>,
    /// Uncertain rates that were corrected for the optimiser's curse.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub corrected: Vec<CorrectedOffer>,
    /// The answer.
    pub answer: ChooseAnswer,
}

/// A plan, or the reason why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChooseAnswer {
    /// There is a plan.
    Plan(Box<ChosenPlan>),
    /// No plan meets the demand: the conditions that would have to change, each alone.
    Impossible(Vec<Shortage>),
}

/// The chosen plan and its properties.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChosenPlan {
    /// Number of each offer.
    pub plan: Vec<OfferCount>,
    /// Costs with middle values.
    pub costs: Costs,
    /// Total cost of ownership over the draws: 5%, 50% and 95%.
    pub cost_spread: (f64, f64, f64),
    /// Rate with middle values, without spare nodes.
    pub rate: f64,
    /// Power, watts.
    pub power: f64,
    /// Failures of nodes a year.
    pub failures_per_year: f64,
    /// Probability of reaching the rate, given the uncertainty of rates.
    pub reaches: f64,
    /// Share of time in which enough nodes are up, given failures, if all of them reach the rate; absent if they never
    /// do.
    #[serde(default)]
    pub kept_up: Option<f64>,
    /// Probability that this plan is the cheapest of all; plans that cost the same share it.
    pub probability_best: f64,
    /// Probability that no plan is cheaper, whatever costs the same.
    #[serde(default)]
    pub unbeaten: f64,
    /// Mean loss due to incomplete knowledge: the value of perfect information.
    pub expected_regret: f64,
    /// How it compares to the cheapest plan that was considered.
    #[serde(default)]
    pub against_cheapest: AgainstCheapest,
    /// The best plan of a single kind of offer, if the chosen one has several; absent if none is as sure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_kind: Option<OneKind>,
    /// Changes with which a plan would reach the rate with the requested probability; empty if this one does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shortages: Vec<Shortage>,
    /// Plans that are the best in some worlds, the most frequent first.
    pub plans: Vec<PlanOdds>,
    /// Properties of each offer.
    pub offers: Vec<OfferOdds>,
    /// Conditions that raise the cost, most expensive first.
    pub binding: Vec<Binding>,
    /// Cost against rate, power and failures.
    pub front: Vec<FrontPoint>,
    /// Values that could be determined, most valuable first.
    pub information: Vec<Information>,
}

/// The chosen plan compared with the cheapest one by middle values, whatever rate that reaches.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AgainstCheapest {
    /// Number of each offer in the cheapest plan.
    pub plan: Vec<OfferCount>,
    /// Cost of the chosen plan over that of the cheapest, less 1, with middle values.
    pub more_expensive: f64,
    /// Probability that the cheapest reaches the rate.
    pub reaches: f64,
    /// Mean cost of the cheapest, with what must be bought later where it falls short.
    #[serde(default)]
    pub expected_cost: f64,
    /// Plans that were considered.
    pub considered: usize,
    /// The ones that reach the rate with the requested probability.
    pub sure: usize,
}

/// The cheapest plan of a single kind of offer that reaches the rate with the probability that was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OneKind {
    /// The plan.
    pub plan: Vec<OfferCount>,
    /// Its expected cost over that of the chosen plan, less 1.
    pub more_expensive: f64,
}

/// A number of one offer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferCount {
    /// Name of the offer.
    pub offer: String,
    /// How many.
    pub count: u32,
}

/// Composition of the costs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// Total over the years.
    pub total: f64,
    /// Paid at the purchase, network included.
    pub purchase: f64,
    /// Energy.
    pub energy: f64,
    /// Rent and repairs.
    pub running: f64,
}

/// Probabilities of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanOdds {
    /// Number of each offer.
    pub plan: Vec<OfferCount>,
    /// Probability that it is the cheapest.
    pub probability: f64,
    /// Mean cost, including later purchases.
    pub expected_cost: f64,
    /// Mean loss compared with perfect information.
    pub expected_regret: f64,
    /// Probability of reaching the rate.
    pub reaches: f64,
}

/// Probabilities of an offer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OfferOdds {
    /// Name of the offer.
    pub offer: String,
    /// Probability that it has the largest share of the best plan.
    pub best: f64,
    /// Probability that the best plan includes it.
    pub used: f64,
    /// Cost over the years for a unit of rate, with middle values; absent when it cannot be taken.
    pub cost_per_rate: Option<f64>,
    /// Price reduction, as a share, at which it would enter the plan with middle values; absent if it is in the plan or
    /// cannot be.
    pub enters_at: Option<f64>,
}

/// Least price reduction that is looked for, as a share.
pub(crate) const LEAST_CUT: f64 = 1e-4;

impl OfferOdds {
    /// The price reduction at which it would enter the plan: `5%`, or `less than 0.01%` where the least one that is
    /// looked for suffices.
    #[must_use]
    pub fn enters_at_in_words(&self) -> Option<String> {
        let cut = self.enters_at?;
        Some(if cut <= LEAST_CUT { format!("less than {}", percent(LEAST_CUT)) } else { percent(cut) })
    }
}

/// A condition that costs money.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Binding {
    /// The condition, in words.
    pub condition: String,
    /// Money that would be saved without it.
    pub saving: f64,
}

/// An offer that cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excluded {
    /// Name of the offer.
    pub offer: String,
    /// The reason.
    pub reason: String,
}

/// A condition that cannot be met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shortage {
    /// The condition, in words.
    pub condition: String,
    /// Requested or allowed value.
    pub limit: f64,
    /// Necessary value.
    pub needed: f64,
    /// Unit of both.
    pub unit: String,
    /// Whether that alone would suffice; otherwise it is the least necessary value if the other limits change too.
    pub alone: bool,
}

impl Shortage {
    /// The necessary value to print: four digits, to the unit where it has more, rounded so that it suffices, and whole
    /// where the limit is.
    #[must_use]
    pub fn sufficient(&self) -> f64 {
        let raised = self.needed > self.limit;
        let whole = raised && self.limit.fract() == 0.0 && self.needed.fract() > 1e-9;
        let needed = if whole { self.needed.ceil() } else { self.needed };
        let step = 10_f64.powi(-significant(needed, 4).max(0));
        // A number that has four digits already keeps them.
        let steps = needed / step;
        if raised { (steps - 1e-6).ceil() * step } else { (steps + 1e-6).floor() * step }
    }
}

/// A plan of the Pareto front.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrontPoint {
    /// The second quantity: `rate`, `power` or `failures`.
    pub against: String,
    /// Number of each offer.
    pub plan: Vec<OfferCount>,
    /// Cost over the years.
    pub cost: f64,
    /// Rate without spare nodes.
    pub rate: f64,
    /// Power, watts.
    pub power: f64,
    /// Failures of nodes a year.
    pub failures_per_year: f64,
    /// Whether it is the chosen plan.
    pub chosen: bool,
}

/// Value of determining an unknown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Information {
    /// The unknown.
    pub about: UnknownParameter,
    /// Mean gain from knowing it to 2% before deciding.
    pub value: f64,
    /// Probability that the plan changes.
    pub changes: f64,
    /// Cost of determining it, as given.
    pub cost: f64,
    /// Whether its value exceeds its cost.
    pub worth: bool,
}

/// A plan with names, without unused offers.
pub(crate) fn counted(problem: &ChooseProblem, plan: &[u32]) -> Vec<OfferCount> {
    problem
        .offers
        .iter()
        .zip(plan)
        .filter(|(_, count)| **count > 0)
        .map(|(offer, &count)| OfferCount { offer: offer.name.clone(), count })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_needed_value_is_printed_so_that_it_suffices() {
        let needed = |limit: f64, needed: f64| {
            Shortage { condition: "the budget".to_owned(), limit, needed, unit: "EUR".to_owned(), alone: true }
                .sufficient()
        };
        assert_eq!((needed(9000.0, 67_551.2), needed(3.0, 3.2), needed(0.5, 0.712_34)), (67_552.0, 4.0, 0.7124));
        assert_eq!((needed(300.0, 123.456), needed(100.0, 250.0)), (123.4, 250.0));
    }

    #[test]
    fn a_cut_below_the_least_that_is_looked_for_is_no_number_of_its_own() {
        let odds = |cut: f64| OfferOdds {
            offer: "a".to_owned(),
            best: 0.0,
            used: 0.0,
            cost_per_rate: None,
            enters_at: Some(cut),
        };
        assert_eq!(odds(0.5e-4).enters_at_in_words().unwrap(), "less than 0.01%");
        assert_eq!(odds(0.05).enters_at_in_words().unwrap(), "5%");
    }
}
