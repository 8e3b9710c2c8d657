//! The event generator: momenta, directions and origins of the particles.

use crate::helix::Helix;
use crate::random::EventRandom;
use crate::track::{Circle, TESLA_TO_CURVATURE};

/// Stream of random numbers of the generator.
const STREAM: u32 = 0;

/// Parameters of the generator.
#[derive(Debug, Clone, PartialEq)]
pub struct Generator {
    /// Charged particles in an event.
    pub tracks: u32,
    /// Magnetic field, tesla.
    pub field: f64,
    /// Least transverse momentum, GeV/c. Particles below 0.19 would curl inside the chamber.
    pub least_momentum: f64,
    /// Mean of the transverse momentum above the least, GeV/c.
    pub mean_momentum: f64,
    /// Standard deviation of the distance to the axis, cm.
    pub spread_d0: f64,
    /// Standard deviation of the origin along the axis, cm.
    pub spread_z0: f64,
}

impl Default for Generator {
    fn default() -> Self {
        Self { tracks: 10, field: 1.5, least_momentum: 0.2, mean_momentum: 0.5, spread_d0: 0.05, spread_z0: 1.0 }
    }
}

impl Generator {
    /// The particles of an event.
    #[must_use]
    pub fn generate(&self, seed: u64, event: u64) -> Vec<Helix> {
        let mut random = EventRandom::new(seed, event, STREAM);
        (0..self.tracks).map(|_| self.particle(&mut random)).collect()
    }

    fn particle(&self, random: &mut EventRandom) -> Helix {
        let momentum = self.least_momentum + self.mean_momentum * random.exponential();
        let charge = if random.uniform() < 0.5 { -1.0 } else { 1.0 };
        let phi = random.between(-std::f64::consts::PI, std::f64::consts::PI);
        // Uniform in solid angle, up to the reach of the inner layers.
        let cosine = random.between(-0.95, 0.95);
        Helix {
            // A positive charge turns right in a field along +z.
            circle: Circle {
                curvature: -charge * TESLA_TO_CURVATURE * self.field / momentum,
                phi,
                d0: self.spread_d0 * random.normal(),
            },
            tan_dip: cosine / (1.0 - cosine * cosine).sqrt(),
            z0: self.spread_z0 * random.normal(),
        }
    }
}
