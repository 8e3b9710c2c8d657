//! Materials: inputs of the formulas of energy loss, scattering and radiation.
//!
//! Constants are those of R. L. Workman et al. (Particle Data Group), Prog. Theor. Exp. Phys. 2022, 083C01, and the
//! density effect those of R. M. Sternheimer, M. J. Berger and S. M. Seltzer, Atomic Data and Nuclear Data Tables 30
//! (1984) 261. For the gas, a mixture, the general parameters for gases of Sternheimer and Peierls, Physical Review B 3
//! (1971) 3681, are taken.

/// Parameters of the density effect.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DensityEffect {
    /// Strength.
    pub a: f64,
    /// Exponent.
    pub k: f64,
    /// Decimal logarithm of the momentum over the mass at which it begins.
    pub x0: f64,
    /// The same where the form for high energies holds.
    pub x1: f64,
    /// `2 ln(I / plasma energy) + 1`.
    pub c: f64,
}

/// A homogeneous material.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Material {
    /// Density, g/cm^3.
    pub density: f64,
    /// Atomic number; for a mixture an effective one.
    pub atomic_number: f64,
    /// Atomic number over molar mass, mol/g.
    pub electrons: f64,
    /// Mean excitation energy, MeV.
    pub excitation: f64,
    /// Radiation length, g/cm^2.
    pub radiation_length: f64,
    /// Its density effect.
    pub density_effect: DensityEffect,
    /// Longest step in it, cm.
    pub step: f64,
}

impl Material {
    /// Radiation lengths in a path, cm.
    pub(crate) fn radiation_lengths(&self, path: f64) -> f64 {
        path * self.density / self.radiation_length
    }

    /// The density effect (the delta of the formulas), from the decimal logarithm of momentum over mass.
    pub(crate) fn delta(&self, x: f64) -> f64 {
        let DensityEffect { a, k, x0, x1, c } = self.density_effect;
        let above = |x: f64| {
            let high = 2.0 * std::f64::consts::LN_10 * x - c;
            if x >= x1 { high } else { high + a * libm::pow(x1 - x, k) }
        };
        // Below, only conductors have some, falling with the square of the momentum.
        if x >= x0 { above(x) } else { above(x0).max(0.0) * libm::exp(2.0 * std::f64::consts::LN_10 * (x - x0)) }
    }
}

const NO_EFFECT: DensityEffect = DensityEffect { a: 0.0, k: 3.0, x0: 9.0, x1: 9.0, c: 0.0 };

/// Nothing.
pub(crate) const VACUUM: Material = Material {
    density: 0.0,
    atomic_number: 1.0,
    electrons: 0.5,
    excitation: 1e-5,
    radiation_length: 1.0,
    density_effect: NO_EFFECT,
    step: 5.0,
};

/// The beam pipe and the inner wall.
pub(crate) const BERYLLIUM: Material = Material {
    density: 1.848,
    atomic_number: 4.0,
    electrons: 0.44384,
    excitation: 63.7e-6,
    radiation_length: 65.19,
    density_effect: DensityEffect { a: 0.80392, k: 2.4339, x0: 0.0592, x1: 1.6922, c: 2.7847 },
    step: 0.1,
};

/// The vertex detector.
pub(crate) const SILICON: Material = Material {
    density: 2.329,
    atomic_number: 14.0,
    electrons: 0.49848,
    excitation: 173.0e-6,
    radiation_length: 21.82,
    density_effect: DensityEffect { a: 0.14921, k: 3.2546, x0: 0.2015, x1: 2.8716, c: 4.4355 },
    step: 0.1,
};

/// The support tube (graphite).
pub(crate) const CARBON: Material = Material {
    density: 2.210,
    atomic_number: 6.0,
    electrons: 0.49954,
    excitation: 78.0e-6,
    radiation_length: 42.70,
    density_effect: DensityEffect { a: 0.20762, k: 2.9532, x0: -0.0090, x1: 2.4817, c: 2.8926 },
    step: 0.1,
};

/// The outer wall.
pub(crate) const ALUMINIUM: Material = Material {
    density: 2.699,
    atomic_number: 13.0,
    electrons: 0.48181,
    excitation: 166.0e-6,
    radiation_length: 24.01,
    density_effect: DensityEffect { a: 0.08024, k: 3.6345, x0: 0.1708, x1: 3.0127, c: 4.2395 },
    step: 0.1,
};

/// Dry air at 20 degrees Celsius.
pub(crate) const AIR: Material = Material {
    density: 1.205e-3,
    atomic_number: 7.3,
    electrons: 0.49919,
    excitation: 85.7e-6,
    radiation_length: 36.62,
    density_effect: DensityEffect { a: 0.10914, k: 3.3994, x0: 1.7418, x1: 4.2759, c: 10.5961 },
    step: 2.0,
};

/// The gas of the chamber: helium and isobutane, 80 and 20 parts of the volume.
pub(crate) const CHAMBER_GAS: Material = Material {
    density: 6.308e-4,
    atomic_number: 5.2,
    electrons: 0.56697,
    excitation: 47.0e-6,
    radiation_length: 50.81,
    density_effect: DensityEffect { a: 0.1842, k: 3.0, x0: 1.6, x1: 4.0, c: 9.914 },
    step: 1.0,
};

/// Absorber of the calorimeter.
pub(crate) const LEAD: Material = Material {
    density: 11.35,
    atomic_number: 82.0,
    electrons: 0.39575,
    excitation: 823.0e-6,
    radiation_length: 6.37,
    density_effect: DensityEffect { a: 0.09359, k: 3.1608, x0: 0.3776, x1: 3.8073, c: 6.2018 },
    step: 0.1,
};

/// Scintillator of the calorimeter (polystyrene).
pub(crate) const SCINTILLATOR: Material = Material {
    density: 1.060,
    atomic_number: 5.6,
    electrons: 0.53768,
    excitation: 68.7e-6,
    radiation_length: 43.79,
    density_effect: DensityEffect { a: 0.16454, k: 3.2224, x0: 0.1647, x1: 2.5031, c: 3.2999 },
    step: 0.2,
};

#[cfg(test)]
mod tests {
    use super::*;

    /// The constant of the density effect follows from excitation and plasma energy, so a slip in either shows.
    #[test]
    fn the_constants_of_the_density_effect_agree_with_the_plasma_energy() {
        for material in [BERYLLIUM, SILICON, CARBON, ALUMINIUM, AIR, CHAMBER_GAS, LEAD, SCINTILLATOR] {
            let plasma = 28.816e-6 * (material.density * material.electrons).sqrt();
            let wanted = 2.0 * (material.excitation / plasma).ln() + 1.0;
            assert!((material.density_effect.c - wanted).abs() < 0.01, "{material:?}: {wanted}");
        }
    }

    #[test]
    fn the_gas_is_the_mixture_that_it_is_said_to_be() {
        // Helium and isobutane: density at 20 degrees, g/cm^3, and radiation length, g/cm^2.
        let (helium, butane) = ((0.8 * 1.663e-4, 94.32), (0.2 * 2.489e-3, 45.23));
        let density = helium.0 + butane.0;
        let length = density / (helium.0 / helium.1 + butane.0 / butane.1);
        assert!((CHAMBER_GAS.density / density - 1.0).abs() < 1e-3);
        assert!((CHAMBER_GAS.radiation_length / length - 1.0).abs() < 1e-3, "{length}");
    }

    #[test]
    fn the_density_effect_is_continuous() {
        for material in [SILICON, LEAD, CHAMBER_GAS] {
            let DensityEffect { x0, x1, .. } = material.density_effect;
            for edge in [x0, x1] {
                let (below, above) = (material.delta(edge - 1e-9), material.delta(edge + 1e-9));
                assert!((below - above).abs() < 0.02, "{material:?} at {edge}: {below} {above}");
            }
        }
    }
}
