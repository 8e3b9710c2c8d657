//! A charged particle's path in the transverse plane: a circle, given at its point nearest to the axis.
//!
//! Perigee parameters as in Karimaki, "Effective circle fitting for particle trajectories", Nuclear Instruments and
//! Methods A 305 (1991) 187. The distance is written so that straight tracks need no special case.

/// Curvature, 1/cm, of a particle of unit charge and 1 GeV/c across a field of 1 T.
pub const TESLA_TO_CURVATURE: f64 = 0.002_997_924_58;

/// A circle; it turns left if its curvature is positive.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Circle {
    /// Signed inverse radius, 1/cm.
    pub curvature: f64,
    /// Direction of flight at the point nearest to the axis.
    pub phi: f64,
    /// Distance of that point to the left of the axis, looking along the flight, cm.
    pub d0: f64,
}

/// Derivatives of the distance of a point to the left of a circle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Slopes {
    /// With respect to curvature, cm^2.
    pub curvature: f64,
    /// With respect to direction, cm.
    pub phi: f64,
    /// With respect to d0.
    pub d0: f64,
}

/// Position of a circle relative to a point that it passes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passing {
    /// Distance of the point to the left, cm.
    pub distance: f64,
    /// Its derivatives.
    pub slopes: Slopes,
    /// Arc length from the point nearest to the axis, cm.
    pub arc: f64,
    /// Unit vector of the flight at the closest point.
    pub along: (f64, f64),
    /// Unit vector to the left of the flight.
    pub left: (f64, f64),
}

/// A circle with sine and cosine of its direction computed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Directed {
    circle: Circle,
    sine: f64,
    cosine: f64,
}

impl Circle {
    /// The circle with its direction computed.
    #[must_use]
    pub(crate) fn directed(self) -> Directed {
        let (sine, cosine) = libm::sincos(self.phi);
        Directed { circle: self, sine, cosine }
    }
}

impl Directed {
    /// The distance alone, cm. `None` at the centre, which is one radius to the left in all directions.
    #[cfg(test)]
    pub(crate) fn distance(&self, (x, y): (f64, f64)) -> Option<f64> {
        let (u, v) = self.along_and_left(x, y);
        let bent = 2.0 * v - self.circle.curvature * (u * u + v * v);
        let root = 1.0 - self.circle.curvature * bent;
        (root > 0.0).then(|| bent / (1.0 + root.sqrt()))
    }

    /// The distance and its derivatives.
    pub(crate) fn distance_and_slopes(&self, (x, y): (f64, f64)) -> Option<(f64, Slopes)> {
        let Circle { curvature, d0, .. } = self.circle;
        let (u, v) = self.along_and_left(x, y);
        let square = u * u + v * v;
        let bent = 2.0 * v - curvature * square;
        let root = 1.0 - curvature * bent;
        if root <= 0.0 {
            return None;
        }
        let root = root.sqrt();
        let distance = bent / (1.0 + root);
        let slopes = Slopes {
            curvature: (distance * distance - square) / (2.0 * root),
            phi: -u * (1.0 + curvature * d0) / root,
            d0: -(1.0 - curvature * v) / root,
        };
        Some((distance, slopes))
    }

    /// Distance, derivatives, arc length and directions at a point.
    pub(crate) fn passing(&self, point: (f64, f64)) -> Option<Passing> {
        let (distance, slopes) = self.distance_and_slopes(point)?;
        let curvature = self.circle.curvature;
        let (u, v) = self.along_and_left(point.0, point.1);
        let root = 1.0 - curvature * distance;
        let (cosine, sine) = ((1.0 - curvature * v) / root, curvature * u / root);
        let arc = if curvature.abs() < 1e-9 { u } else { libm::atan2(sine, cosine) / curvature };
        let along = (cosine * self.cosine - sine * self.sine, cosine * self.sine + sine * self.cosine);
        Some(Passing { distance, slopes, arc, along, left: (-along.1, along.0) })
    }

    /// The point where the outgoing arm reaches a radius, cm; `None` if it never does.
    pub(crate) fn at_radius(&self, radius: f64) -> Option<(f64, f64)> {
        let Circle { curvature, d0, .. } = self.circle;
        // Along the flight u, to the left w, from the axis: w (1 + k d0) = k (r^2 - d0^2) / 2 + d0 (1 + k d0).
        let stretch = 1.0 + curvature * d0;
        let w = d0 + 0.5 * curvature * (radius * radius - d0 * d0) / stretch;
        let square = radius * radius - w * w;
        (stretch > 0.0 && square > 0.0).then(|| {
            let u = square.sqrt();
            (u * self.cosine - w * self.sine, u * self.sine + w * self.cosine)
        })
    }

    /// Arc length from the point nearest to the axis to a point on the outgoing arm, cm.
    pub(crate) fn arc(&self, (x, y): (f64, f64)) -> f64 {
        let (u, v) = self.along_and_left(x, y);
        let half = 0.5 * self.circle.curvature.abs() * (u * u + v * v).sqrt();
        if half < 1e-6 { u } else { 2.0 * libm::asin(half.min(1.0)) / self.circle.curvature.abs() }
    }

    fn along_and_left(&self, x: f64, y: f64) -> (f64, f64) {
        (x * self.cosine + y * self.sine, y * self.cosine - x * self.sine - self.circle.d0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CIRCLES: [Circle; 4] = [
        Circle { curvature: 0.02, phi: 0.3, d0: 0.2 },
        Circle { curvature: -0.013, phi: -2.0, d0: -0.7 },
        Circle { curvature: 0.0, phi: 1.2, d0: 0.4 },
        Circle { curvature: 1e-7, phi: 4.0, d0: 0.0 },
    ];

    #[test]
    fn points_of_the_circle_are_at_no_distance() {
        for circle in CIRCLES.map(Circle::directed) {
            for radius in [23.6, 50.0, 80.9] {
                let point = circle.at_radius(radius).unwrap();
                assert!((point.0.hypot(point.1) - radius).abs() < 1e-9);
                assert!(circle.distance(point).unwrap().abs() < 1e-9);
                assert!(circle.arc(point) >= radius - 1.0);
            }
        }
    }

    #[test]
    fn distance_is_that_of_geometry_and_positive_to_the_left() {
        let circle = Circle { curvature: 0.02, phi: 0.0, d0: 0.5 };
        // Centre at (0, 50.5), radius 50.
        let point = (7.0, 4.0);
        let wanted = 50.0 - (7.0f64).hypot(46.5);
        assert!((circle.directed().distance(point).unwrap() - wanted).abs() < 1e-12);
    }

    #[test]
    fn passing_agrees_with_the_arc_and_the_circle() {
        for circle in CIRCLES.map(Circle::directed) {
            let point = circle.at_radius(61.0).unwrap();
            let on = circle.passing(point).unwrap();
            assert!((on.arc - circle.arc(point)).abs() < 1e-6, "{on:?}");
            let beside = (point.0 + 0.7 * on.left.0, point.1 + 0.7 * on.left.1);
            let off = circle.passing(beside).unwrap();
            assert!((off.distance - 0.7).abs() < 1e-9 && (off.arc - on.arc).abs() < 1e-6, "{off:?}");
            assert!((off.along.0 - on.along.0).abs() < 1e-9 && (off.along.1 - on.along.1).abs() < 1e-9);
        }
    }

    #[test]
    fn slopes_agree_with_small_steps() {
        for circle in CIRCLES {
            let point = (12.0, 33.0);
            let at = |circle: Circle| circle.directed().distance(point).unwrap();
            let Some((_, slopes)) = circle.directed().distance_and_slopes(point) else { continue };
            let step = 1e-6;
            let (c, p, d) = (
                at(Circle { curvature: circle.curvature + 1e-3 * step, ..circle }),
                at(Circle { phi: circle.phi + step, ..circle }),
                at(Circle { d0: circle.d0 + step, ..circle }),
            );
            assert!(((c - at(circle)) / (1e-3 * step) / slopes.curvature - 1.0).abs() < 1e-3);
            assert!(((p - at(circle)) / step / slopes.phi - 1.0).abs() < 1e-3);
            assert!(((d - at(circle)) / step / slopes.d0 - 1.0).abs() < 1e-3);
        }
    }
}
