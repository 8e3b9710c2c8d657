//! Passage of particles through the matter of the detector: scattering, loss of energy, radiation and pairs, step by
//! step in a field along z. Energies are in MeV, lengths in centimetres; `docs/guide/physics.md` lists the omitted
//! effects.

mod geometry;
mod loss;
mod material;
mod particle;
mod radiate;
mod scatter;
#[cfg(test)]
mod textbook;
mod transport;

pub(crate) use geometry::{Detector, Role};
pub(crate) use particle::{Particle, Species};
pub(crate) use transport::{Energies, Step};
