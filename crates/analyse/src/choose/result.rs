//! What a choice found, as plain data. Money is in the currency of the question.

use serde::{Deserialize, Serialize};

use super::problem::{ChooseProblem, UnknownParameter};

/// The answer to what shall be bought.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The question in numbers.
    pub problem: ChooseProblem,
    /// Offers that cannot be taken, each with why.
    pub excluded: Vec<Excluded>,
    /// The answer.
    pub answer: ChooseAnswer,
}

/// A plan, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChooseAnswer {
    /// There is a plan.
    Plan(Box<ChosenPlan>),
    /// No plan meets the demand: what would have to give, each alone.
    Impossible(Vec<Shortage>),
}

/// The plan and what is known of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChosenPlan {
    /// How many of which.
    pub plan: Vec<OfferCount>,
    /// What it costs in the middle.
    pub costs: Costs,
    /// Total cost of ownership over the draws: 5%, 50% and 95%.
    pub cost_spread: (f64, f64, f64),
    /// Rate in the middle, spare nodes lost.
    pub rate: f64,
    /// Watts.
    pub power: f64,
    /// Failures of nodes a year.
    pub failures_per_year: f64,
    /// Probability that the rate is reached, as far as rates are not known.
    pub reaches: f64,
    /// Share of instants at which enough nodes are up, failures happening.
    pub kept_up: f64,
    /// Probability that this plan is the cheapest of all.
    pub probability_best: f64,
    /// Money that is lost on average for not knowing: the value of perfect information.
    pub expected_regret: f64,
    /// Plans that are the best in some of the worlds, most often first.
    pub plans: Vec<PlanOdds>,
    /// One an offer.
    pub offers: Vec<OfferOdds>,
    /// What holds the cost up, dearest first.
    pub binding: Vec<Binding>,
    /// Cost against rate, power and failures.
    pub front: Vec<FrontPoint>,
    /// What could be found out, most valuable first.
    pub information: Vec<Information>,
}

/// So many of an offer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferCount {
    /// Name of the offer.
    pub offer: String,
    /// How many.
    pub count: u32,
}

/// Where the money goes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// Everything over the years.
    pub total: f64,
    /// Paid at the purchase, network included.
    pub purchase: f64,
    /// Energy.
    pub energy: f64,
    /// Rent and repairs.
    pub running: f64,
}

/// A plan's odds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanOdds {
    /// How many of which.
    pub plan: Vec<OfferCount>,
    /// Probability that it is the cheapest.
    pub probability: f64,
    /// Mean cost, what must be bought later included.
    pub expected_cost: f64,
    /// Money lost on average against knowing everything.
    pub expected_regret: f64,
    /// Probability that the rate is reached.
    pub reaches: f64,
}

/// An offer's odds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OfferOdds {
    /// Name of the offer.
    pub offer: String,
    /// Probability that it does the greatest share of the best plan.
    pub best: f64,
    /// Probability that the best plan has any of it.
    pub used: f64,
    /// Cost over the years for a unit of rate, in the middle; absent when it cannot be taken.
    pub cost_per_rate: Option<f64>,
    /// How much cheaper it would have to be to enter the plan, in the middle; absent where it is in it or cannot be.
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
    /// Why.
    pub reason: String,
}

/// A condition that cannot be met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shortage {
    /// The condition, in words.
    pub condition: String,
    /// What is asked or allowed.
    pub limit: f64,
    /// What it would have to be.
    pub needed: f64,
    /// Unit of both.
    pub unit: String,
    /// Whether that alone would do, everything else as it is; otherwise it is the least that it must be when the other limits
    /// give way too.
    pub alone: bool,
}

/// A plan that no other beats in both respects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrontPoint {
    /// Against what: `rate`, `power` or `failures`.
    pub against: String,
    /// How many of which.
    pub plan: Vec<OfferCount>,
    /// Cost over the years.
    pub cost: f64,
    /// Rate, spare nodes lost.
    pub rate: f64,
    /// Watts.
    pub power: f64,
    /// Failures of nodes a year.
    pub failures_per_year: f64,
    /// Whether it is the chosen plan.
    pub chosen: bool,
}

/// What finding something out would be worth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Information {
    /// What could be found out.
    pub about: UnknownParameter,
    /// Money gained on average by knowing it to 2% before deciding.
    pub value: f64,
    /// Probability that the plan changes.
    pub changes: f64,
    /// Cost of finding out, as given.
    pub cost: f64,
    /// Whether it is worth its cost.
    pub worth: bool,
}

/// Names for a plan; offers that are not in it are left out.
pub(crate) fn counted(problem: &ChooseProblem, plan: &[u32]) -> Vec<OfferCount> {
    problem
        .offers
        .iter()
        .zip(plan)
        .filter(|(_, count)| **count > 0)
        .map(|(offer, &count)| OfferCount { offer: offer.name.clone(), count })
        .collect()
}
