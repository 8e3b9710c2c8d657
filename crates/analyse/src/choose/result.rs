//! The result of a choice, as plain data. Money is in the currency of the question.

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
    /// Share of time in which enough nodes are up, given failures.
    pub kept_up: f64,
    /// Probability that this plan is the cheapest of all.
    pub probability_best: f64,
    /// Mean loss due to incomplete knowledge: the value of perfect information.
    pub expected_regret: f64,
    /// How it compares to the cheapest plan that was considered.
    #[serde(default)]
    pub against_cheapest: AgainstCheapest,
    /// The plan of one kind of offer beside a chosen one of several; absent where that is of one kind, or none is as sure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_kind: Option<OneKind>,
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

/// The chosen plan beside the one that is the cheapest with middle values, whatever it reaches.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AgainstCheapest {
    /// Number of each offer in the cheapest plan.
    pub plan: Vec<OfferCount>,
    /// Cost of the chosen plan over that of the cheapest, less 1, with middle values.
    pub dearer: f64,
    /// Probability that the cheapest reaches the rate.
    pub reaches: f64,
    /// Plans that were considered.
    pub considered: usize,
    /// Those of them that reach the rate with the probability that was asked for.
    pub sure: usize,
}

/// The cheapest plan of a single kind of offer that reaches the rate with the probability that was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OneKind {
    /// The plan.
    pub plan: Vec<OfferCount>,
    /// Its expected cost over that of the chosen plan, less 1.
    pub dearer: f64,
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
    /// Whether that alone would suffice; otherwise it is the least necessary value when the other limits change too.
    pub alone: bool,
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
