//! The matter of the detector: cylinders about the beam line, one inside the other.

use super::material::{AIR, ALUMINIUM, BERYLLIUM, CARBON, CHAMBER_GAS, LEAD, Material, SCINTILLATOR, SILICON, VACUUM};

/// What a shell measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Nothing.
    Passive,
    /// Tracks, by the wires in it.
    Chamber,
    /// Energy.
    Calorimeter,
}

/// A hollow cylinder of one material.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shell {
    /// Outer radius, cm; the inner one is the outer radius of the shell before.
    pub outer: f64,
    /// Its material.
    pub material: Material,
    /// What it measures.
    pub role: Role,
}

/// Shells in a field.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Detector {
    /// From the inside.
    pub shells: Vec<Shell>,
    /// Half its length along z, cm.
    pub half_length: f64,
    /// Field along z, tesla.
    pub field: f64,
}

/// Layers of the calorimeter, and the thickness of absorber and scintillator in each, cm: 17 radiation lengths.
const CALORIMETER: (usize, f64, f64) = (16, 0.6, 0.4);
/// Inner radius of the calorimeter, cm.
const CALORIMETER_RADIUS: f64 = 92.0;
/// Radii and thickness of the vertex detector's layers, cm.
const VERTEX: ([f64; 5], f64) = ([3.2, 4.0, 5.4, 12.4, 14.0], 0.03);

impl Detector {
    /// A beam pipe, five layers of silicon, the walls and the gas of the drift chamber, and a sampling calorimeter.
    pub(crate) fn new(half_length: f64, field: f64) -> Self {
        let mut detector = Self { shells: Vec::new(), half_length, field };
        detector.up_to(2.5, VACUUM, Role::Passive);
        detector.up_to(2.64, BERYLLIUM, Role::Passive);
        for radius in VERTEX.0 {
            detector.up_to(radius, AIR, Role::Passive);
            detector.up_to(radius + VERTEX.1, SILICON, Role::Passive);
        }
        for (outer, material) in [(21.8, AIR), (22.0, CARBON), (22.7, AIR), (22.8, BERYLLIUM)] {
            detector.up_to(outer, material, Role::Passive);
        }
        detector.up_to(82.6, CHAMBER_GAS, Role::Chamber);
        detector.up_to(82.9, ALUMINIUM, Role::Passive);
        detector.up_to(CALORIMETER_RADIUS, AIR, Role::Passive);
        let (layers, absorber, scintillator) = CALORIMETER;
        for layer in 0..layers {
            let inner = CALORIMETER_RADIUS + layer as f64 * (absorber + scintillator);
            detector.up_to(inner + absorber, LEAD, Role::Passive);
            detector.up_to(inner + absorber + scintillator, SCINTILLATOR, Role::Calorimeter);
        }
        detector
    }

    /// One material from the axis to a radius, cm, without a field.
    #[cfg(test)]
    pub(crate) fn block(material: Material, radius: f64) -> Self {
        let shells = vec![Shell { outer: radius, material, role: Role::Passive }];
        Self { shells, half_length: 1e4, field: 0.0 }
    }

    fn up_to(&mut self, outer: f64, material: Material, role: Role) {
        self.shells.push(Shell { outer, material, role });
    }

    /// The shell at a radius, cm, searched from one that is near; `None` outside.
    pub(crate) fn shell_at(&self, radius: f64, mut near: usize) -> Option<usize> {
        while near > 0 && radius < self.shells[near - 1].outer {
            near -= 1;
        }
        while self.shells.get(near)?.outer <= radius {
            near += 1;
        }
        Some(near)
    }

    /// Distance from a radius to the next boundary of its shell, cm.
    pub(crate) fn clearance(&self, shell: usize, radius: f64) -> f64 {
        let outward = self.shells[shell].outer - radius;
        if shell == 0 { outward } else { outward.min(radius - self.shells[shell - 1].outer) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_follow_each_other() {
        let detector = Detector::new(138.0, 1.5);
        assert!(detector.shells.windows(2).all(|pair| pair[0].outer < pair[1].outer));
        let mut near = 0;
        for radius in [0.0, 2.55, 50.0, 2.51, 92.1, 107.99] {
            near = detector.shell_at(radius, near).unwrap();
            let inner = if near == 0 { 0.0 } else { detector.shells[near - 1].outer };
            assert!((inner..detector.shells[near].outer).contains(&radius));
            assert!(detector.clearance(near, radius) >= 0.0);
        }
        assert_eq!(detector.shell_at(108.1, near), None);
    }

    /// A track at right angles passes 17 radiation lengths of calorimeter, and little before it.
    #[test]
    fn matter_is_where_it_should_be() {
        let detector = Detector::new(138.0, 1.5);
        let (mut inner, mut before, mut behind) = (0.0, 0.0, 0.0);
        for shell in &detector.shells {
            let lengths = shell.material.radiation_lengths(shell.outer - inner);
            if inner < CALORIMETER_RADIUS {
                before += lengths;
            } else {
                behind += lengths;
            }
            inner = shell.outer;
        }
        assert!((0.03..0.08).contains(&before), "{before}");
        assert!((17.0..17.6).contains(&behind), "{behind}");
    }
}
