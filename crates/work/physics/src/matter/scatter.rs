//! Multiple scattering: Highland's width of the angle in a plane, as Lynch and Dahl fitted it (Nuclear Instruments and
//! Methods B 58 (1991) 6; Particle Data Group, 2022, equation 34.16).
//!
//! The formula is for a whole absorber: its logarithm makes the sum of many thin layers narrower than one thick one. So
//! a step gets the difference between the variances behind and before it, each for the whole path of the particle. The
//! sum is then the formula's, however the path is cut into steps.

use super::loss::Motion;
use super::particle::deflected;
use crate::random::EventRandom;

/// Its scale, MeV.
const SCALE: f64 = 13.6;

/// Standard deviation of the angle in a plane after a thickness in radiation lengths.
#[cfg(test)]
pub(crate) fn highland(motion: Motion, thickness: f64) -> f64 {
    SCALE / (motion.beta2.sqrt() * motion.momentum) * spread(thickness, motion.beta2).sqrt()
}

/// The thickness times its squared logarithmic correction.
fn spread(thickness: f64, beta2: f64) -> f64 {
    /// Here the correction would vanish; nothing is that thin.
    const THINNEST: f64 = 1e-10;
    if thickness < THINNEST {
        return 0.0;
    }
    let correction = 1.0 + 0.038 * libm::log(thickness / beta2);
    thickness * correction * correction
}

/// The direction behind a step that leads from one thickness passed to another, in radiation lengths.
pub(crate) fn scattered(
    direction: [f64; 3],
    motion: Motion,
    (before, behind): (f64, f64),
    random: &mut EventRandom,
) -> [f64; 3] {
    let grown = spread(behind, motion.beta2) - spread(before, motion.beta2);
    if grown <= 0.0 {
        return direction;
    }
    let width = SCALE / (motion.beta2.sqrt() * motion.momentum) * grown.sqrt();
    let (first, second) = (width * random.normal(), width * random.normal());
    let angle = (first * first + second * second).sqrt();
    if angle == 0.0 {
        return direction;
    }
    deflected(direction, libm::sincos(angle), (second / angle, first / angle))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_width_is_that_of_the_formula() {
        // 1 GeV/c, a hundredth of a radiation length: 13.6 MeV / 1000 MeV * 0.1 * (1 + 0.038 ln 0.01) = 1.122 mrad.
        let fast = Motion { beta2: 1.0, gamma: 1e4, momentum: 1000.0 };
        assert!((highland(fast, 0.01) - 1.122e-3).abs() < 1e-6, "{}", highland(fast, 0.01));
    }

    #[test]
    fn steps_add_up_to_the_whole() {
        let motion = Motion::of(105.658, 1000.0);
        let parts = (0..1000).map(|step| {
            let edge = |step: i32| 0.05 * f64::from(step) / 1000.0;
            spread(edge(step + 1), motion.beta2) - spread(edge(step), motion.beta2)
        });
        assert!((parts.sum::<f64>() / spread(0.05, motion.beta2) - 1.0).abs() < 1e-9);
    }
}
