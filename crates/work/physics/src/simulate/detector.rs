//! Events in the whole detector: particles through its matter, hits in the chamber, energy in the calorimeter.

use super::generator::Generator;
use super::response::{Hit, noise, tidy};
use crate::chamber::{Chamber, Layer};
use crate::digest::Digest;
use crate::helix::Helix;
use crate::matter::{Detector, Energies, Particle, Role, Species, Step};
use crate::random::EventRandom;
use crate::track::TESLA_TO_CURVATURE;

/// Streams of random numbers: the kinds and photons of an event, and one for the shower of each particle from here on.
const KINDS: u32 = 1;
const SHOWERS: u32 = 1 << 20;
/// Photons of an event, in addition to its charged particles.
const PHOTONS: u32 = 5;
/// Least energy of a photon, and the mean above it, MeV.
const PHOTON_ENERGY: (f64, f64) = (50.0, 500.0);
/// Farthest that a layer with stereo wires is from its radius at z = 0, cm.
const WIDEST: f64 = 1.0;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DetectorEvent {
    /// Number of the event.
    pub(crate) number: u64,
    /// The hits in the chamber, by layer and cell.
    pub(crate) hits: Vec<Hit>,
    /// Energy in each layer of the calorimeter's scintillator, MeV.
    pub(crate) calorimeter: Vec<f64>,
    /// Energy that left the detector, MeV.
    pub(crate) escaped: f64,
    /// Particles made on the way.
    pub(crate) secondaries: u64,
}

impl DetectorEvent {
    /// Digest of all that was measured.
    pub(crate) fn digest(&self) -> Digest {
        let hits =
            self.hits.iter().flat_map(|hit| [u64::from(hit.layer) << 32 | u64::from(hit.cell), hit.drift.to_bits()]);
        let energies = self.calorimeter.iter().chain([&self.escaped]).map(|energy| energy.to_bits());
        Digest::of(self.number, hits.chain(energies).chain([self.secondaries]))
    }
}

/// Simulates one event, which depends on the seed and its number alone.
pub(crate) fn simulate_detector(
    chamber: &Chamber,
    detector: &Detector,
    generator: &Generator,
    (seed, number): (u64, u64),
) -> DetectorEvent {
    let (mut energies, mut hits) = (Energies::default(), Vec::new());
    for primary in primaries(generator, seed, number) {
        let mut random = EventRandom::new(seed, number, SHOWERS + u32::from(primary.primary));
        let mut watch = |step: &Step, random: &mut EventRandom| {
            if detector.shells[step.shell].role == Role::Chamber {
                cross(chamber, step, random, &mut hits);
            }
        };
        detector.shower(primary, &mut random, &mut energies, &mut watch);
    }
    noise(chamber, seed, number, &mut hits);
    tidy(&mut hits);
    let deposited = detector.shells.iter().zip(&energies.deposited);
    let calorimeter = deposited.filter(|(shell, _)| shell.role == Role::Calorimeter).map(|(_, energy)| *energy);
    DetectorEvent {
        number,
        hits,
        calorimeter: calorimeter.collect(),
        escaped: energies.escaped,
        secondaries: energies.secondaries,
    }
}

/// The charged particles of the generator, most of them pions, and photons.
fn primaries(generator: &Generator, seed: u64, number: u64) -> Vec<Particle> {
    let mut random = EventRandom::new(seed, number, KINDS);
    let mut particles: Vec<Particle> = Vec::new();
    for helix in generator.generate(seed, number) {
        let kind = random.uniform();
        let species = match () {
            () if kind < 0.6 => Species::Pion,
            () if kind < 0.8 => Species::Muon,
            () if helix.circle.curvature > 0.0 => Species::Electron,
            () => Species::Positron,
        };
        particles.push(charged(helix, species, generator.field, particles.len() as u16));
    }
    for _ in 0..PHOTONS {
        let phi = random.between(-std::f64::consts::PI, std::f64::consts::PI);
        let (cosine, (sine_phi, cosine_phi)) = (random.between(-0.95, 0.95), libm::sincos(phi));
        let sine = (1.0 - cosine * cosine).sqrt();
        let (position, direction) = ([0.0; 3], [sine * cosine_phi, sine * sine_phi, cosine]);
        let kinetic = PHOTON_ENERGY.0 + PHOTON_ENERGY.1 * random.exponential();
        let (species, primary) = (Species::Photon, particles.len() as u16);
        particles.push(Particle { species, charge: 0.0, position, direction, kinetic, thickness: 0.0, primary });
    }
    particles
}

/// A charged particle at the point of its helix that is nearest to the axis.
fn charged(helix: Helix, species: Species, field: f64, primary: u16) -> Particle {
    let (circle, mass) = (helix.circle, species.mass());
    let (sine, cosine) = libm::sincos(circle.phi);
    let slant = (1.0 + helix.tan_dip * helix.tan_dip).sqrt();
    let momentum = 1e3 * TESLA_TO_CURVATURE * field / circle.curvature.abs() * slant;
    Particle {
        species,
        charge: -circle.curvature.signum(),
        position: [-circle.d0 * sine, circle.d0 * cosine, helix.z0],
        direction: [cosine / slant, sine / slant, helix.tan_dip / slant],
        kinetic: (momentum * momentum + mass * mass).sqrt() - mass,
        thickness: 0.0,
        primary,
    }
}

/// The hits of a step: in every layer that lies between its ends.
fn cross(chamber: &Chamber, step: &Step, random: &mut EventRandom, hits: &mut Vec<Hit>) {
    let after = moved(step, step.path);
    let (near, far) = (step.from.radius(), after.radius());
    let (least, most) = (near.min(far) - WIDEST, near.max(far));
    let first = chamber.layers.partition_point(|layer| layer.radius < least);
    for (number, layer) in chamber.layers.iter().enumerate().skip(first).take_while(|(_, layer)| layer.radius <= most) {
        let beyond = |particle: &Particle, radius: f64| radius - layer.radius_at(particle.position[2]);
        let (before, behind) = (beyond(&step.from, near), beyond(&after, far));
        if (before < 0.0) == (behind < 0.0) {
            continue;
        }
        let (seen, smear) = (random.uniform() < chamber.efficiency, random.normal());
        let at = moved(step, step.path * before / (before - behind));
        let [x, y, z] = at.position;
        let cell = layer.cell_at(libm::atan2(y, x), z);
        if seen && z.abs() <= chamber.half_length {
            let drift = (distance(at, step.bending, layer, cell) + chamber.resolution * smear).abs();
            hits.push(Hit { layer: number as u16, cell: cell as u16, particle: Some(at.primary), drift });
        }
    }
}

fn moved(step: &Step, path: f64) -> Particle {
    let mut particle = step.from;
    particle.advance(path, step.bending);
    particle
}

/// Shortest distance between a particle's way and a wire, cm: twice that of two straight lines, the second time where
/// the first one found it.
fn distance(mut particle: Particle, bending: f64, layer: &Layer, cell: usize) -> f64 {
    let mut found = 0.0;
    for _ in 0..2 {
        let ([x, y, z], [dx, dy, dz]) = (particle.position, particle.direction);
        let ((wx, wy), (lx, ly)) = (layer.wire_at(cell, z), layer.lean(cell));
        let away = (wx - x, wy - y);
        let (both, wire) = (dx * lx + dy * ly + dz, lx * lx + ly * ly + 1.0);
        let (onward, along) = (dx * away.0 + dy * away.1, lx * away.0 + ly * away.1);
        let up = (both * onward - along) / (wire - both * both).max(1e-9);
        let path = onward + up * both;
        let gap = [away.0 + up * lx - path * dx, away.1 + up * ly - path * dy, up - path * dz];
        found = (gap[0] * gap[0] + gap[1] * gap[1] + gap[2] * gap[2]).sqrt();
        particle.advance(path, bending);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::respond;

    /// Without matter the hits are those of the helices, whose crossings and distances are computed in closed form.
    #[test]
    fn without_matter_the_hits_are_those_of_the_helices() {
        let chamber = Chamber { resolution: 0.0, efficiency: 1.0, noise: 0.0, ..Chamber::default() };
        let mut detector = Detector::new(chamber.half_length, chamber.field);
        for shell in &mut detector.shells {
            // Nothing scatters in nothing.
            shell.material.density = 0.0;
        }
        let (mut same, mut all) = (0, 0);
        for number in 0..20 {
            let generator = Generator::default();
            let helices = generator.generate(1, number);
            let wanted = respond(&chamber, &helices, 1, number);
            let found = simulate_detector(&chamber, &detector, &generator, (1, number)).hits;
            for hit in wanted {
                all += 1;
                let other = found.iter().find(|other| (other.layer, other.cell) == (hit.layer, hit.cell));
                same += u32::from(other.is_some_and(|other| (other.drift - hit.drift).abs() < 0.003));
            }
        }
        assert!(f64::from(same) > 0.99 * f64::from(all), "{same} of {all}");
    }

    #[test]
    fn matter_makes_secondaries_and_the_calorimeter_sees_energy() {
        let chamber = Chamber::default();
        let detector = Detector::new(chamber.half_length, chamber.field);
        let event = simulate_detector(&chamber, &detector, &Generator::default(), (1, 0));
        assert!(event.secondaries > 100, "{}", event.secondaries);
        let seen: f64 = event.calorimeter.iter().sum();
        assert!(seen > 10.0 && seen < 5000.0, "{seen}");
        assert!(event.hits.len() > 200 && event.hits.iter().all(|hit| hit.drift >= 0.0 && hit.drift < 2.5));
        assert_ne!(event.digest(), simulate_detector(&chamber, &detector, &Generator::default(), (1, 1)).digest());
    }
}
