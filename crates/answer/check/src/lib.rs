//! Whether a machine is as fast as it should be.
//!
//! Every result gets an expected range with its basis, a verdict, and for a low one the causes that recorded facts
//! support, with their cures. LOW is a test: the interval of a result lies below its range, after Holm's adjustment over
//! all rows, and nothing disturbed the measurement. Without a basis there is no expectation, and never a guess.
#![forbid(unsafe_code)]

mod cause;
mod defect;
mod expectation;
mod fleet;
mod judge;
mod limit;
mod part;
mod population;
mod reference;
mod result;
mod symmetry;

pub use fleet::{FleetCheck, FleetFinding, check_fleet};
pub use judge::{CheckContext, check};
pub use population::Population;
pub use reference::{PublicMachine, PublicQuantity, PublicTable};
pub use result::{Basis, CheckRow, CheckVerdict, ExpectedRange, MachineCheck, NamedCause};

/// The JSON Schema of the answer of `prony check`, as published in `docs/reference`.
#[cfg(feature = "schema")]
#[must_use]
pub fn json_schema() -> schemars::Schema {
    let mut schema = schemars::schema_for!(FleetCheck);
    schema.insert("title".to_owned(), "Prony check".into());
    schema
}
