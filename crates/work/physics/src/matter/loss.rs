//! Energy loss by ionisation: the mean, its fluctuation, and electrons struck out.
//!
//! Means are Bethe's for heavy particles. For electrons and positrons they are those of Rohrlich and Carlson (as in
//! Berger and Seltzer, NBSIR 82-2550, and the Particle Data Group's review of passage through matter, 2022, equations
//! 34.5, 34.24 and 34.25). Collisions that give more than [`CUT`] to an electron are simulated one by one, with the
//! spectrum of Rossi (High-Energy Particles, 1952) for a particle without spin. The loss by the softer ones fluctuates
//! about its mean with their second moment.

use super::material::Material;
use super::particle::{ELECTRON_MASS, Species};
use crate::random::EventRandom;

/// Least energy of a secondary particle, and energy below which a particle is stopped where it is, MeV.
pub(crate) const CUT: f64 = 1.0;
/// Constant of all ionisation, MeV cm^2/mol.
const K: f64 = 0.307_075;

/// Velocity and gamma factor of a particle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Motion {
    /// Squared velocity over that of light.
    pub beta2: f64,
    /// Total energy over mass.
    pub gamma: f64,
    /// Momentum, MeV/c.
    pub momentum: f64,
}

impl Motion {
    /// For a particle of a mass and kinetic energy, MeV.
    pub(crate) fn of(mass: f64, kinetic: f64) -> Self {
        let energy = kinetic + mass;
        let squared = kinetic * (kinetic + 2.0 * mass);
        Self { beta2: squared / (energy * energy), gamma: energy / mass, momentum: squared.sqrt() }
    }

    fn beta_gamma2(self) -> f64 {
        self.beta2 * self.gamma * self.gamma
    }
}

/// Largest energy that a collision can give to an electron, MeV; of two electrons the slower one is the secondary.
pub(crate) fn largest_transfer(species: Species, kinetic: f64) -> f64 {
    match species {
        Species::Electron => 0.5 * kinetic,
        Species::Positron => kinetic,
        heavy => {
            let (motion, ratio) = (Motion::of(heavy.mass(), kinetic), ELECTRON_MASS / heavy.mass());
            2.0 * ELECTRON_MASS * motion.beta_gamma2() / (1.0 + 2.0 * motion.gamma * ratio + ratio * ratio)
        }
    }
}

/// Mean loss by ionisation, MeV cm^2/g.
pub(crate) fn stopping_power(material: &Material, species: Species, kinetic: f64) -> f64 {
    let motion = Motion::of(species.mass(), kinetic);
    let Motion { beta2, gamma, .. } = motion;
    let square = motion.beta_gamma2();
    let delta = material.delta(0.5 * libm::log10(square));
    let excitation2 = material.excitation * material.excitation;
    let scale = 0.5 * K * material.electrons / beta2;
    let logarithm = match species {
        Species::Electron => {
            let (ratio, transfer) = ((gamma - 1.0) / gamma, 0.5 * ELECTRON_MASS * (gamma - 1.0));
            libm::log(ELECTRON_MASS * square * transfer / excitation2) + (1.0 - beta2)
                - (2.0 * gamma - 1.0) / (gamma * gamma) * std::f64::consts::LN_2
                + 0.125 * ratio * ratio
        }
        Species::Positron => {
            let (transfer, g) = (0.5 * ELECTRON_MASS * (gamma - 1.0), 1.0 / (gamma + 1.0));
            let series = 23.0 + g * (14.0 + g * (10.0 + 4.0 * g));
            libm::log(ELECTRON_MASS * square * transfer / excitation2) + 2.0 * std::f64::consts::LN_2
                - beta2 / 12.0 * series
        }
        heavy => {
            let transfer = largest_transfer(heavy, kinetic);
            libm::log(2.0 * ELECTRON_MASS * square * transfer / excitation2) - 2.0 * beta2
        }
    };
    (scale * (logarithm - delta)).max(0.0)
}

/// Ionisation of a particle at one energy in one material, for each centimetre.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ionisation {
    /// Mean loss in collisions that give less than the cut, MeV/cm.
    pub soft: f64,
    /// Variance of that loss, MeV^2/cm.
    pub variance: f64,
    /// Electrons struck out with more than the cut.
    pub struck: f64,
    largest: f64,
    beta2: f64,
}

impl Ionisation {
    /// For a particle with a kinetic energy, MeV.
    pub(crate) fn of(material: &Material, species: Species, kinetic: f64) -> Self {
        let beta2 = Motion::of(species.mass(), kinetic).beta2;
        let whole = material.density * stopping_power(material, species, kinetic);
        let largest = largest_transfer(species, kinetic);
        let scale = 0.5 * K * material.electrons * material.density / beta2;
        let cut = CUT.min(largest);
        let part = cut / largest;
        // Integrals of (1 - beta^2 T / largest) / T^2 times 1 and T above the cut, and times T^2 below it.
        let struck = scale * ((1.0 - part) / cut + beta2 / largest * libm::log(part));
        let hard = scale * (-libm::log(part) - beta2 * (1.0 - part));
        let variance = scale * cut * (1.0 - 0.5 * beta2 * part);
        Self { soft: (whole - hard).max(0.0), variance, struck: struck.max(0.0), largest, beta2 }
    }

    /// Loss in soft collisions over a path, cm: a gamma distribution, which is never negative, of their mean and
    /// variance.
    pub(crate) fn lose(&self, path: f64, random: &mut EventRandom) -> f64 {
        let mean = self.soft * path;
        if mean <= 0.0 {
            return 0.0;
        }
        let scale = self.variance / self.soft;
        scale * gamma(mean / scale, random)
    }

    /// Energy of an electron that was struck out, MeV.
    pub(crate) fn strike(&self, random: &mut EventRandom) -> f64 {
        loop {
            let u = random.uniform();
            let energy = CUT * self.largest / (self.largest - u * (self.largest - CUT));
            if random.uniform() < 1.0 - self.beta2 * energy / self.largest {
                return energy;
            }
        }
    }
}

/// A number of the gamma distribution with this shape and scale 1 (G. Marsaglia and W. W. Tsang, ACM Transactions on
/// Mathematical Software 26 (2000) 363).
fn gamma(shape: f64, random: &mut EventRandom) -> f64 {
    let (raised, factor) =
        if shape < 1.0 { (shape + 1.0, libm::pow(random.uniform(), 1.0 / shape)) } else { (shape, 1.0) };
    let d = raised - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = random.normal();
        let v = 1.0 + c * x;
        if v <= 0.0 {
            continue;
        }
        let v = v * v * v;
        if libm::log(random.uniform()) < 0.5 * x * x + d - d * v + d * libm::log(v) {
            return factor * d * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::material::{AIR, ALUMINIUM, BERYLLIUM, CARBON, LEAD, SCINTILLATOR, SILICON};
    use super::*;

    /// Least mean loss of a heavy particle, MeV cm^2/g, in the Particle Data Group's table of materials.
    #[test]
    fn minima_are_those_of_the_tables() {
        let known = [
            (BERYLLIUM, 1.595),
            (CARBON, 1.742),
            (ALUMINIUM, 1.615),
            (SILICON, 1.664),
            (LEAD, 1.122),
            (SCINTILLATOR, 1.936),
            (AIR, 1.815),
        ];
        for (material, wanted) in known {
            let powers = (0..200).map(|step| {
                let momentum = 200.0 + 5.0 * f64::from(step);
                let mass = Species::Muon.mass();
                let kinetic = (momentum * momentum + mass * mass).sqrt() - mass;
                stopping_power(&material, Species::Muon, kinetic)
            });
            let least = powers.fold(f64::INFINITY, f64::min);
            assert!((least / wanted - 1.0).abs() < 0.01, "{least} for {wanted}");
        }
    }

    /// Collision stopping powers of electrons in aluminium, MeV cm^2/g, in the tables of Berger and Seltzer.
    #[test]
    fn electrons_lose_what_the_tables_say() {
        for (kinetic, wanted) in [(1.0, 1.465), (10.0, 1.623)] {
            let found = stopping_power(&ALUMINIUM, Species::Electron, kinetic);
            assert!((found / wanted - 1.0).abs() < 0.01, "{found} for {wanted}");
        }
    }

    #[test]
    fn the_gamma_distribution_has_its_mean_and_variance() {
        for shape in [0.15, 0.8, 3.0, 40.0] {
            let mut random = EventRandom::new(1, 1, 1);
            let n = 40_000;
            let values: Vec<f64> = (0..n).map(|_| gamma(shape, &mut random)).collect();
            let mean = values.iter().sum::<f64>() / f64::from(n);
            let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / f64::from(n);
            // Five standard errors: of the mean sqrt(shape/n), of the variance by the kurtosis 3 + 6/shape.
            let error = (shape / f64::from(n)).sqrt();
            assert!((mean - shape).abs() < 5.0 * error, "{shape}: {mean}");
            let error = shape * ((2.0 + 6.0 / shape) / f64::from(n)).sqrt();
            assert!((variance - shape).abs() < 5.0 * error, "{shape}: {variance}");
        }
    }

    /// The mean of soft and hard collisions together is the whole loss, and struck electrons have the mean of their
    /// spectrum.
    #[test]
    fn struck_electrons_carry_the_hard_part_of_the_loss() {
        let kinetic = 1000.0;
        let at = Ionisation::of(&SILICON, Species::Muon, kinetic);
        let mut random = EventRandom::new(1, 2, 3);
        let n = 100_000;
        let energies: Vec<f64> = (0..n).map(|_| at.strike(&mut random)).collect();
        assert!(energies.iter().all(|energy| (CUT..=at.largest).contains(energy)));
        let mean = energies.iter().sum::<f64>() / f64::from(n);
        let second = energies.iter().map(|energy| energy * energy).sum::<f64>() / f64::from(n);
        let error = ((second - mean * mean) / f64::from(n)).sqrt();
        let whole = SILICON.density * stopping_power(&SILICON, Species::Muon, kinetic);
        let wanted = (whole - at.soft) / at.struck;
        assert!((mean - wanted).abs() < 4.5 * error, "{mean} +- {error} for {wanted}");
    }
}
