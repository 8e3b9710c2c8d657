//! Purchases: the number of each offer that meets a demand at the least cost, and how certain that is.
//!
//! A mixed-integer programme chooses the plan. Rates, prices and powers are drawn from their intervals and the choice
//! is repeated. This gives the probability that the plan is the best, the possible regret, and the measurement that
//! would be worth its cost. The result depends on the seed and the problem alone. `docs/guide/choose.md` has details.

mod binding;
mod candidate;
mod cover;
mod curse;
mod decide;
mod draw;
mod error;
mod evaluate;
mod front;
mod improve;
mod information;
mod plain;
mod problem;
mod programme;
mod quantity;
mod resolve;
mod result;
mod sentences;
mod specification;
mod trial;
mod uncertain;

pub use curse::CorrectedOffer;
pub use decide::decide;
pub use error::Error;
pub use evaluate::{ChoiceRecord, ReachedAt, evaluate};
pub use problem::{ChooseProblem, Demand, MachineOffer, UnknownParameter};
pub use result::{
    AgainstCheapest, Binding, Choice, ChooseAnswer, ChosenPlan, Costs, Excluded, FrontPoint, Information, OfferCount,
    OfferOdds, OneKind, PlanOdds, Shortage,
};
pub use sentences::plan_in_words;
pub use specification::{ApplicationWanted, OfferWanted, Specification, parse};
pub use uncertain::Uncertain;
