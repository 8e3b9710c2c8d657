//! Particles on their way through matter.

/// Mass of the electron, MeV.
pub(crate) const ELECTRON_MASS: f64 = 0.510_998_95;

/// Kind of a particle; its charge is apart where both signs behave alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Species {
    /// A photon.
    Photon,
    /// An electron.
    Electron,
    /// A positron.
    Positron,
    /// A muon of either charge.
    Muon,
    /// A charged pion, without its strong interactions and its decay.
    Pion,
}

impl Species {
    /// Mass, MeV.
    pub(crate) const fn mass(self) -> f64 {
        match self {
            Self::Photon => 0.0,
            Self::Electron | Self::Positron => ELECTRON_MASS,
            Self::Muon => 105.658_375_5,
            Self::Pion => 139.570_39,
        }
    }

    /// Energy released when it stops, in addition to its kinetic energy, MeV: a positron annihilates.
    pub(crate) const fn at_rest(self) -> f64 {
        match self {
            Self::Positron => 2.0 * ELECTRON_MASS,
            _ => 0.0,
        }
    }
}

/// A particle at one place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Particle {
    /// What it is.
    pub species: Species,
    /// Its charge: -1, 0 or 1.
    pub charge: f64,
    /// Where it is, cm.
    pub position: [f64; 3],
    /// Unit vector of its flight.
    pub direction: [f64; 3],
    /// Kinetic energy, MeV.
    pub kinetic: f64,
    /// Radiation lengths that it has passed.
    pub thickness: f64,
    /// Number of the particle of the event from which it comes.
    pub primary: u16,
}

impl Particle {
    /// A particle that this one makes where it is.
    pub(crate) fn makes(&self, species: Species, direction: [f64; 3], kinetic: f64) -> Self {
        let charge = match species {
            Species::Electron => -1.0,
            Species::Positron => 1.0,
            _ => 0.0,
        };
        Self { species, charge, direction, kinetic, thickness: 0.0, ..*self }
    }

    /// Energy that it can still leave somewhere, MeV.
    pub(crate) fn energy(&self) -> f64 {
        self.kinetic + self.species.at_rest()
    }

    /// Distance to the axis, cm.
    pub(crate) fn radius(&self) -> f64 {
        let [x, y, _] = self.position;
        (x * x + y * y).sqrt()
    }

    /// Turn of the direction in the transverse plane for each centimetre of path, in a field along z, tesla.
    pub(crate) fn bending(&self, momentum: f64, field: f64) -> f64 {
        // A positive charge turns right; momenta here are in MeV/c.
        -1e3 * crate::track::TESLA_TO_CURVATURE * self.charge * field / momentum
    }

    /// Moves it along its helix by a path, cm, while its direction turns by `bending` for each centimetre.
    pub(crate) fn advance(&mut self, path: f64, bending: f64) {
        let ([ux, uy, uz], angle) = (self.direction, bending * path);
        let (along, aside) = if angle == 0.0 {
            (path, 0.0)
        } else {
            let (sine, cosine) = libm::sincos(0.5 * angle);
            let (turned, away) = (2.0 * sine * cosine, 2.0 * sine * sine);
            let kept = 1.0 - away;
            self.direction = [ux * kept - uy * turned, uy * kept + ux * turned, uz];
            (turned / bending, away / bending)
        };
        self.position[0] += ux * along - uy * aside;
        self.position[1] += uy * along + ux * aside;
        self.position[2] += uz * path;
    }
}

/// A unit vector at an angle to another one, turned about it by an azimuth.
pub(crate) fn deflected(direction: [f64; 3], (sine, cosine): (f64, f64), azimuth: (f64, f64)) -> [f64; 3] {
    let [x, y, z] = direction;
    // Two unit vectors across the flight.
    let flat = (x * x + y * y).sqrt();
    let (first, second) = if flat < 1e-10 {
        ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    } else {
        ([-y / flat, x / flat, 0.0], [-z * x / flat, -z * y / flat, flat])
    };
    let along = |axis: usize| cosine * direction[axis] + sine * (azimuth.1 * first[axis] + azimuth.0 * second[axis]);
    let turned = [along(0), along(1), along(2)];
    // Rounding would add up over many steps.
    let length = (turned[0] * turned[0] + turned[1] * turned[1] + turned[2] * turned[2]).sqrt();
    turned.map(|part| part / length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Helix;
    use crate::track::{Circle, TESLA_TO_CURVATURE};

    #[test]
    fn a_deflection_has_its_angle() {
        for direction in [[0.6, 0.0, 0.8], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [-0.36, 0.48, -0.8]] {
            for azimuth in [0.3f64, 2.0, 4.4] {
                let turned = deflected(direction, 0.2f64.sin_cos(), azimuth.sin_cos());
                let cosine: f64 = turned.iter().zip(direction).map(|(a, b)| a * b).sum();
                assert!((cosine - 0.2f64.cos()).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn steps_in_a_field_stay_on_the_helix() {
        let (momentum, field, dip) = (300.0, 1.5, 0.7f64);
        let transverse = momentum / (1.0 + dip * dip).sqrt();
        let curvature = 1e3 * TESLA_TO_CURVATURE * field / transverse;
        let helix = Helix { circle: Circle { curvature, phi: 0.4, d0: 0.0 }, tan_dip: dip, z0: 0.5 };
        let flat = 1.0 / (1.0 + dip * dip).sqrt();
        let mut particle = Particle {
            species: Species::Muon,
            charge: -1.0,
            position: [0.0, 0.0, 0.5],
            direction: [0.4f64.cos() * flat, 0.4f64.sin() * flat, dip * flat],
            kinetic: 1.0,
            thickness: 0.0,
            primary: 0,
        };
        let bending = particle.bending(momentum, field);
        for _ in 0..200 {
            particle.advance(0.4, bending);
        }
        let passing = helix.circle.directed().passing((particle.position[0], particle.position[1])).unwrap();
        assert!(passing.distance.abs() < 1e-9, "{}", passing.distance);
        assert!((particle.position[2] - 0.5 - dip * 200.0 * 0.4 * flat).abs() < 1e-9);
    }
}
