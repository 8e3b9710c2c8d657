//! Particles step by step through the shells of a detector, with all that they make.

use super::geometry::Detector;
use super::loss::{CUT, Ionisation, Motion};
use super::material::Material;
use super::particle::{ELECTRON_MASS, Particle, Species, deflected};
use super::radiate;
use super::scatter::scattered;
use crate::random::EventRandom;

/// Shortest step, cm: a boundary is passed by as much at most.
const LEAST_STEP: f64 = 1e-3;
/// Largest share of its kinetic energy that a particle loses in a step on average.
const LARGEST_SHARE: f64 = 0.05;
/// Largest turn of the direction in a step, radians.
const LARGEST_TURN: f64 = 0.2;
/// Steps after which a particle that circles in the field is stopped where it is.
const MOST_STEPS: u32 = 50_000;

/// One step of a charged particle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    /// The particle before it.
    pub from: Particle,
    /// Length, cm.
    pub path: f64,
    /// Turn of the direction for each centimetre.
    pub bending: f64,
    /// Shell in which it lies.
    pub shell: usize,
}

/// Deposits of the energy of the particles.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Energies {
    /// In each shell, MeV.
    pub deposited: Vec<f64>,
    /// Carried out of the detector, MeV.
    pub escaped: f64,
    /// Particles that were made on the way.
    pub secondaries: u64,
    /// Steps of all particles.
    pub steps: u64,
}

/// Discrete processes of a particle at its energy, for each centimetre, and its continuous losses.
struct StepRates {
    /// Bremsstrahlung or pair production.
    radiation: f64,
    /// Electrons struck out, or Compton scattering.
    collision: f64,
    ionisation: Option<Ionisation>,
    /// Energy radiated in photons below the cut, MeV/cm.
    soft: f64,
}

impl StepRates {
    fn of(material: &Material, particle: &Particle) -> Self {
        let lengths = material.radiation_lengths(1.0);
        let none = Self { radiation: 0.0, collision: 0.0, ionisation: None, soft: 0.0 };
        if material.density == 0.0 {
            return none;
        }
        match particle.species {
            Species::Photon => Self {
                radiation: lengths * radiate::pairs(particle.kinetic, material.atomic_number),
                collision: material.density * radiate::compton(particle.kinetic, material.electrons),
                ..none
            },
            species => {
                let ionisation = Ionisation::of(material, species, particle.kinetic);
                let energy = particle.kinetic + ELECTRON_MASS;
                let light = matches!(species, Species::Electron | Species::Positron);
                Self {
                    radiation: if light { lengths * radiate::photons(energy) } else { 0.0 },
                    collision: ionisation.struck,
                    ionisation: Some(ionisation),
                    soft: if light { lengths * radiate::soft_radiation(energy) } else { 0.0 },
                }
            }
        }
    }

    /// Mean continuous loss, MeV/cm.
    fn loss(&self) -> f64 {
        self.soft + self.ionisation.map_or(0.0, |ionisation| ionisation.soft)
    }
}

impl Detector {
    /// Follows a particle to its end and adds its secondary particles to `others`.
    pub(crate) fn follow(
        &self,
        mut particle: Particle,
        random: &mut EventRandom,
        (energies, others): (&mut Energies, &mut Vec<Particle>),
        watch: &mut dyn FnMut(&Step, &mut EventRandom),
    ) {
        energies.deposited.resize(self.shells.len(), 0.0);
        let mut near = 0;
        for _ in 0..MOST_STEPS {
            let outside = particle.position[2].abs() > self.half_length;
            let Some(shell) = self.shell_at(particle.radius(), near).filter(|_| !outside) else {
                energies.escaped += particle.energy();
                return;
            };
            near = shell;
            if particle.kinetic < CUT {
                break;
            }
            energies.steps += 1;
            let material = &self.shells[shell].material;
            let rates = StepRates::of(material, &particle);
            let (path, free) = self.length(&particle, shell, &rates, random);
            let motion = Motion::of(particle.species.mass(), particle.kinetic);
            let bending = particle.bending(motion.momentum, self.field);
            let charged = particle.charge != 0.0;
            if charged {
                watch(&Step { from: particle, path, bending, shell }, random);
            }
            particle.advance(path, bending);
            if charged {
                energies.deposited[shell] += lose(&mut particle, &rates, path, random);
                let thickness = particle.thickness + material.radiation_lengths(path);
                particle.direction = scattered(particle.direction, motion, (particle.thickness, thickness), random);
                particle.thickness = thickness;
            }
            if path < free || particle.kinetic < CUT {
                continue;
            }
            let made = others.len();
            let radiates = random.uniform() * (rates.radiation + rates.collision) < rates.radiation;
            interact(&mut particle, radiates, rates.ionisation.as_ref(), random, others);
            energies.secondaries += (others.len() - made) as u64;
        }
        energies.deposited[near] += particle.energy();
    }

    /// Length of the next step, and the path to the next discrete process, cm.
    fn length(&self, particle: &Particle, shell: usize, rates: &StepRates, random: &mut EventRandom) -> (f64, f64) {
        let [x, y, _] = particle.direction;
        let flat = (x * x + y * y).sqrt().max(1e-3);
        let boundary = (self.clearance(shell, particle.radius()) / flat).max(LEAST_STEP);
        let free = random.exponential() / (rates.radiation + rates.collision).max(1e-12);
        let mut path = boundary.min(self.shells[shell].material.step);
        if particle.charge != 0.0 {
            let momentum = Motion::of(particle.species.mass(), particle.kinetic).momentum;
            let turn = particle.bending(momentum, self.field).abs().max(1e-9);
            path = path.min(LARGEST_TURN / turn);
            path = path.min((LARGEST_SHARE * particle.kinetic / rates.loss().max(1e-12)).max(LEAST_STEP));
        } else {
            // Nothing happens to a photon between its interactions.
            path = boundary;
        }
        (path.min(free), free)
    }

    /// Follows a particle and all that comes of it.
    pub(crate) fn shower(
        &self,
        primary: Particle,
        random: &mut EventRandom,
        energies: &mut Energies,
        watch: &mut dyn FnMut(&Step, &mut EventRandom),
    ) {
        let mut waiting = vec![primary];
        while let Some(particle) = waiting.pop() {
            self.follow(particle, random, (energies, &mut waiting), watch);
        }
    }
}

/// Takes the continuous losses of a step from a particle; what stays in the matter, MeV.
fn lose(particle: &mut Particle, rates: &StepRates, path: f64, random: &mut EventRandom) -> f64 {
    let ionised = rates.ionisation.map_or(0.0, |ionisation| ionisation.lose(path, random));
    let lost = (ionised + rates.soft * path).min(particle.kinetic);
    particle.kinetic -= lost;
    lost
}

/// A discrete process: radiation (bremsstrahlung, a pair) or a collision (an electron struck out, Compton scattering).
fn interact(
    particle: &mut Particle,
    radiates: bool,
    ionisation: Option<&Ionisation>,
    random: &mut EventRandom,
    others: &mut Vec<Particle>,
) {
    match (ionisation, radiates) {
        (None, true) => make_pair(particle, random, others),
        (None, false) => scatter_photon(particle, random, others),
        (Some(_), true) => radiate_photon(particle, random, others),
        (Some(ionisation), false) => strike(particle, ionisation, random, others),
    }
}

fn azimuth(random: &mut EventRandom) -> (f64, f64) {
    libm::sincos(std::f64::consts::TAU * random.uniform())
}

/// A photon becomes an electron and a positron, each at the angle that its mass has to its energy.
fn make_pair(photon: &mut Particle, random: &mut EventRandom, others: &mut Vec<Particle>) {
    let shared = photon.kinetic - 2.0 * ELECTRON_MASS;
    let (share, turned) = (radiate::pair_share(random), azimuth(random));
    let opposite = (-turned.0, -turned.1);
    let angle = libm::sincos((ELECTRON_MASS / photon.kinetic).min(1.0));
    let electron = deflected(photon.direction, angle, turned);
    let positron = deflected(photon.direction, angle, opposite);
    others.push(photon.makes(Species::Electron, electron, share * shared));
    others.push(photon.makes(Species::Positron, positron, (1.0 - share) * shared));
    photon.kinetic = 0.0;
}

fn scatter_photon(photon: &mut Particle, random: &mut EventRandom, others: &mut Vec<Particle>) {
    let (share, cosine) = radiate::compton_share(photon.kinetic, random);
    let sine = (1.0 - cosine * cosine).max(0.0).sqrt();
    let kept = share * photon.kinetic;
    let direction = deflected(photon.direction, (sine, cosine), azimuth(random));
    let recoil: Vec<f64> =
        (0..3).map(|axis| photon.kinetic * photon.direction[axis] - kept * direction[axis]).collect();
    let length = (recoil[0] * recoil[0] + recoil[1] * recoil[1] + recoil[2] * recoil[2]).sqrt();
    if length > 0.0 {
        let along = [recoil[0] / length, recoil[1] / length, recoil[2] / length];
        others.push(photon.makes(Species::Electron, along, photon.kinetic - kept));
        (photon.kinetic, photon.direction) = (kept, direction);
    }
}

fn radiate_photon(electron: &mut Particle, random: &mut EventRandom, others: &mut Vec<Particle>) {
    let energy = electron.kinetic + ELECTRON_MASS;
    if energy <= CUT {
        return;
    }
    let radiated = radiate::photon(energy, electron.kinetic, random);
    let direction = deflected(electron.direction, libm::sincos(ELECTRON_MASS / energy), azimuth(random));
    others.push(electron.makes(Species::Photon, direction, radiated));
    electron.kinetic -= radiated;
}

/// An electron is struck out at the angle of an elastic collision.
fn strike(particle: &mut Particle, ionisation: &Ionisation, random: &mut EventRandom, others: &mut Vec<Particle>) {
    let given = ionisation.strike(random).min(particle.kinetic);
    let mass = particle.species.mass();
    let momentum = Motion::of(mass, particle.kinetic).momentum;
    let of_electron = Motion::of(ELECTRON_MASS, given).momentum;
    let cosine = (given * (particle.kinetic + mass + ELECTRON_MASS) / (of_electron * momentum)).min(1.0);
    let sine = (1.0 - cosine * cosine).sqrt();
    let direction = deflected(particle.direction, (sine, cosine), azimuth(random));
    others.push(particle.makes(Species::Electron, direction, given));
    particle.kinetic -= given;
}
