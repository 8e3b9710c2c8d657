//! The components of `fp-1`.

pub(crate) mod dynamics;
pub(crate) mod gradient;
pub(crate) mod nbody;
pub(crate) mod nuclear;
pub(crate) mod ray;
pub(crate) mod stencil;
