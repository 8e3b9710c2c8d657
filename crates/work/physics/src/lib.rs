//! The work of a collider experiment in miniature: simulated events, track finding and fitting, and analysis of
//! ntuples.
//!
//! The work is fixed and its result is a digest of bits. Arithmetic is IEEE 754 without contraction, square roots are
//! correctly rounded, and every transcendental function comes from the crate `libm`. So a digest depends on the seed
//! and the events alone, not on the machine, the optimisation or how events were shared out. Lengths are in
//! centimetres, momenta in GeV/c, fields in tesla, angles in radians. `docs/guide/physics.md` describes them.
#![forbid(unsafe_code)]

mod acceptance;
pub mod analyse;
mod chamber;
mod digest;
mod helix;
mod matter;
mod random;
pub mod reconstruct;
pub mod simulate;
mod track;
mod workload;

pub use acceptance::{Acceptance, Pull};
pub use chamber::{Chamber, Layer};
pub use digest::Digest;
pub use helix::Helix;
pub use random::{EventRandom, philox};
pub use track::{Circle, TESLA_TO_CURVATURE};
pub use workload::{LoopSummary, NAMES, Prepared, Workload};
