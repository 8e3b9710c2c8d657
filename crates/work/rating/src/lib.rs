//! The frozen sets `int-1` and `fp-1`: library code doing ordinary work on generated, seeded input.
//!
//! A component generates its input, then does fixed work whose checksum is part of the source. The method is that of
//! SPEC CPU (Henning, "SPEC CPU2006 benchmark descriptions", Computer Architecture News 34, 2006): ratio to a reference
//! machine, geometric mean, speed with one copy, rate with many. Any change of a component, of a pinned version or of
//! the reference makes a set with a new name.
#![forbid(unsafe_code)]

mod component;
mod floating;
mod input;
mod integer;
mod work;

pub use component::{BUILD, COMPONENTS, Component, REFERENCE_MACHINE, RatingSet, SETS, component, optimised};
pub use work::RatingWork;
