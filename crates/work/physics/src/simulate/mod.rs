//! Events: particles from the generator, hits from the response of the chamber.

mod detector;
mod generator;
mod response;

pub(crate) use detector::simulate_detector;
pub use generator::Generator;
pub use response::{Hit, respond};

use crate::{Chamber, Digest, Helix};

/// One simulated collision: the true particles, and the hits in the chamber.
#[derive(Debug, Clone, PartialEq)]
pub struct CollisionEvent {
    /// Number of the event.
    pub number: u64,
    /// The particles.
    pub particles: Vec<Helix>,
    /// The hits, by layer and cell.
    pub hits: Vec<Hit>,
}

impl CollisionEvent {
    /// Digest of truth and hits.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let particles = self.particles.iter().flat_map(|particle| {
            let circle = &particle.circle;
            [circle.curvature, circle.phi, circle.d0, particle.tan_dip, particle.z0].map(f64::to_bits)
        });
        let hits =
            self.hits.iter().flat_map(|hit| [u64::from(hit.layer) << 32 | u64::from(hit.cell), hit.drift.to_bits()]);
        Digest::of(self.number, particles.chain(hits))
    }
}

/// Simulates one event of helices in the chamber, without matter, which depends on the seed and its number alone.
#[must_use]
pub fn simulate(chamber: &Chamber, generator: &Generator, seed: u64, number: u64) -> CollisionEvent {
    let particles = generator.generate(seed, number);
    let hits = respond(chamber, &particles, seed, number);
    CollisionEvent { number, particles, hits }
}
