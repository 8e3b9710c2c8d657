//! What shall we buy? How many of which offers meet a demand at the least cost, and how sure that is.
//!
//! A mixed-integer programme chooses the plan; rates, prices and powers are drawn from their intervals and it is chosen again,
//! so that the answer comes with the probability that it is the best, the money that one may regret, and the measurement
//! that would be worth its cost. Seeded: the same question has the same answer. `docs/choose.md` says more.

mod binding;
mod candidate;
mod decide;
mod draw;
mod error;
mod front;
mod information;
mod problem;
mod programme;
mod quantity;
mod resolve;
mod result;
mod sentences;
mod specification;
mod uncertain;

pub use decide::decide;
pub use error::Error;
pub use problem::{ChooseProblem, Demand, MachineOffer, UnknownParameter};
pub use result::{
    Binding, Choice, ChooseAnswer, ChosenPlan, Costs, Excluded, FrontPoint, Information, OfferCount, OfferOdds,
    PlanOdds, Shortage,
};
pub use specification::{ApplicationWanted, OfferWanted, Specification, parse};
pub use uncertain::Uncertain;
