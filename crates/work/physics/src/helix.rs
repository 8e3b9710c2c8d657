//! A charged particle's path in the field: a circle in the transverse plane, and a straight line of z against arc
//! length.

use crate::chamber::Layer;
use crate::track::{Circle, Directed};

/// A helix: five parameters, given at the point nearest to the axis.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Helix {
    /// The circle in the transverse plane.
    pub circle: Circle,
    /// Tangent of the dip angle between the path and the transverse plane.
    pub tan_dip: f64,
    /// z at the point nearest to the axis, cm.
    pub z0: f64,
}

/// Closest approach of a helix to a wire.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Approach {
    /// Shortest distance, cm; positive if the wire is to the left of the flight.
    pub distance: f64,
    /// Its derivatives with respect to curvature, phi, d0, tangent of the dip and z0.
    pub slopes: [f64; 5],
}

/// Newton steps for the position along a stereo wire; after two, the error is below a micrometre.
const STEPS: usize = 2;

/// A helix with sine and cosine of its direction computed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flight {
    helix: Helix,
    circle: Directed,
}

impl Helix {
    /// The helix with its direction computed.
    pub(crate) fn flight(self) -> Flight {
        Flight { helix: self, circle: self.circle.directed() }
    }
}

impl Flight {
    /// The point where the outgoing arm crosses a layer: transverse position and z, cm.
    pub(crate) fn crossing(&self, layer: &Layer) -> Option<((f64, f64), f64)> {
        let mut point = self.circle.at_radius(layer.radius)?;
        let mut z = self.z_at(point);
        if layer.is_stereo() {
            for _ in 0..STEPS {
                point = self.circle.at_radius(layer.radius_at(z))?;
                z = self.z_at(point);
            }
        }
        Some((point, z))
    }

    fn z_at(&self, point: (f64, f64)) -> f64 {
        self.helix.z0 + self.helix.tan_dip * self.circle.arc(point)
    }

    /// Closest approach to a wire, from a first guess of z.
    ///
    /// The wire is evaluated where the helix passes it: at the same z, the wire is `D` to the left of the circle. Helix
    /// and wire are straight enough there for the distance of two skew lines, which is `D` reduced by the angle between
    /// them.
    pub(crate) fn approach(&self, layer: &Layer, cell: usize, mut z: f64) -> Option<Approach> {
        if !layer.is_stereo() {
            let (distance, slopes) = self.circle.distance_and_slopes(layer.wires[cell])?;
            return Some(Approach { distance, slopes: [slopes.curvature, slopes.phi, slopes.d0, 0.0, 0.0] });
        }
        let (lean, dip) = (layer.lean(cell), self.helix.tan_dip);
        let mut passing = self.circle.passing(layer.wire_at(cell, z))?;
        let onward = |along: (f64, f64)| lean.0 * along.0 + lean.1 * along.1;
        for _ in 0..STEPS {
            z += (self.helix.z0 + dip * passing.arc - z) / (1.0 - dip * onward(passing.along));
            passing = self.circle.passing(layer.wire_at(cell, z))?;
        }
        let (on, aside) = (1.0 - dip * onward(passing.along), onward(passing.left));
        let shorter = on / (on * on + aside * aside * (1.0 + dip * dip)).sqrt();
        let by_z = shorter * aside / on;
        let slopes = [
            shorter * passing.slopes.curvature,
            shorter * passing.slopes.phi,
            shorter * passing.slopes.d0,
            by_z * passing.arc,
            by_z,
        ];
        Some(Approach { distance: shorter * passing.distance, slopes })
    }

    /// The position along a stereo wire at which the circle alone has the wire at a signed distance, cm: arc length and
    /// z, if |z| is at most `most`. The still unknown effect of the dip on the distance is neglected.
    pub(crate) fn place(circle: &Directed, layer: &Layer, cell: usize, signed: f64, most: f64) -> Option<(f64, f64)> {
        let lean = layer.lean(cell);
        let mut z = 0.0;
        for _ in 0..4 {
            let passing = circle.passing(layer.wire_at(cell, z))?;
            let aside = lean.0 * passing.left.0 + lean.1 * passing.left.1;
            if aside.abs() < 0.2 * layer.tilt.abs() {
                return None;
            }
            z += (signed - passing.distance) / aside;
            if z.abs() > 2.0 * most {
                return None;
            }
        }
        let arc = circle.passing(layer.wire_at(cell, z))?.arc;
        (z.abs() <= most).then_some((arc, z))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Chamber;

    const HELICES: [Helix; 3] = [
        Helix { circle: Circle { curvature: 0.02, phi: 0.3, d0: 0.05 }, tan_dip: 0.8, z0: 1.0 },
        Helix { circle: Circle { curvature: -0.009, phi: -2.0, d0: -0.1 }, tan_dip: -1.2, z0: -2.0 },
        Helix { circle: Circle { curvature: 0.001, phi: 2.9, d0: 0.0 }, tan_dip: 0.1, z0: 0.3 },
    ];

    /// Distance of the helix to a wire, by stepping along both.
    fn walked(helix: Helix, layer: &Layer, cell: usize, near: f64) -> f64 {
        let circle = helix.circle;
        let at = |arc: f64| {
            let psi = circle.phi + circle.curvature * arc;
            let k = circle.curvature;
            let x = -circle.d0 * circle.phi.sin() + (psi.sin() - circle.phi.sin()) / k;
            let y = circle.d0 * circle.phi.cos() - (psi.cos() - circle.phi.cos()) / k;
            (x, y, helix.z0 + helix.tan_dip * arc)
        };
        let apart = |arc: f64| {
            // The nearest point of the wire to a point of the helix.
            let (x, y, z) = at(arc);
            let ((wx, wy), (a, b)) = (layer.wires[cell], layer.lean(cell));
            let along = ((x - wx) * a + (y - wy) * b + z) / (1.0 + a * a + b * b);
            ((x - wx - a * along).powi(2) + (y - wy - b * along).powi(2) + (z - along).powi(2)).sqrt()
        };
        let (mut low, mut high) = (near - 4.0, near + 4.0);
        for _ in 0..200 {
            let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            if apart(a) < apart(b) { high = b } else { low = a }
        }
        apart(0.5 * (low + high))
    }

    #[test]
    fn the_distance_is_the_one_in_space() {
        let chamber = Chamber::default();
        for helix in HELICES {
            let flight = helix.flight();
            for layer in &chamber.layers {
                let Some((point, z)) = flight.crossing(layer) else { continue };
                if z.abs() > chamber.half_length {
                    continue;
                }
                let radius = (point.0 * point.0 + point.1 * point.1).sqrt();
                assert!((radius - layer.radius_at(z)).abs() < 1e-3, "{radius} {}", layer.radius_at(z));
                let cell = layer.cell_at(libm::atan2(point.1, point.0), z);
                let found = flight.approach(layer, cell, z).unwrap().distance.abs();
                let wanted = walked(helix, layer, cell, flight.circle.arc(point));
                assert!((found - wanted).abs() < 3e-4, "{found} {wanted} at {}", layer.radius);
            }
        }
    }

    #[test]
    fn slopes_agree_with_small_steps() {
        let chamber = Chamber::default();
        let layer = &chamber.layers[5];
        for helix in HELICES {
            let (point, z) = helix.flight().crossing(layer).unwrap();
            let cell = layer.cell_at(libm::atan2(point.1, point.0), z);
            let at = |helix: Helix| helix.flight().approach(layer, cell, z).unwrap().distance;
            let slopes = helix.flight().approach(layer, cell, z).unwrap().slopes;
            let moved = |by: usize, step: f64| {
                let mut other = helix;
                match by {
                    0 => other.circle.curvature += step,
                    1 => other.circle.phi += step,
                    2 => other.circle.d0 += step,
                    3 => other.tan_dip += step,
                    _ => other.z0 += step,
                }
                other
            };
            for (by, slope) in slopes.iter().enumerate() {
                let step = [1e-8, 1e-6, 1e-5, 1e-5, 1e-4][by];
                let found = (at(moved(by, step)) - at(moved(by, -step))) / (2.0 * step);
                // Changes of position along the wire are neglected in the first three slopes.
                assert!((found - slope).abs() < 0.12 * slope.abs() + 1e-3, "{by}: {found} {slope}");
            }
        }
    }
}
