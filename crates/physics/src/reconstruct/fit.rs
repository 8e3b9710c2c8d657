//! Least squares of a circle to signed drift distances, by Gauss and Newton's steps.

use super::road::Assigned;
use super::solve::{Symmetric, invert, times};
use super::wire;
use crate::simulate::Hit;
use crate::{Chamber, Circle};

/// Steps at most; two or three do.
const STEPS: usize = 8;
/// Change of every residual's worth, in resolutions, at which a fit stands.
const SETTLED: f64 = 1e-4;
/// Curvature is scaled so that the three columns of the normal equations are of like size.
const CURVATURE_SCALE: f64 = 1e-3;

/// A fitted circle.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The circle.
    pub circle: Circle,
    /// Covariance of curvature, phi and d0.
    pub covariance: Symmetric,
    /// Sum of squared residuals over the resolution.
    pub chi_square: f64,
}

/// Fits a circle to hits, from a first guess. `None` where it does not settle.
#[must_use]
pub fn fit(chamber: &Chamber, hits: &[Hit], assigned: &[Assigned], guess: Circle) -> Option<Fit> {
    let mut circle = guess;
    for _ in 0..STEPS {
        let (normal, gradient, _) = equations(chamber, hits, assigned, circle)?;
        let step = times(&invert(&normal)?, gradient);
        circle = Circle {
            curvature: circle.curvature + CURVATURE_SCALE * step[0],
            phi: circle.phi + step[1],
            d0: circle.d0 + step[2],
        };
        let worth: f64 = step.iter().zip(times(&normal, step)).map(|(a, b)| a * b).sum();
        if worth < SETTLED * SETTLED {
            let (normal, _, chi_square) = equations(chamber, hits, assigned, circle)?;
            let [a, b, c, d, e, f] = invert(&normal)?;
            let s = CURVATURE_SCALE;
            return Some(Fit { circle, covariance: [s * s * a, s * b, s * c, d, e, f], chi_square });
        }
    }
    None
}

/// Normal equations: matrix, right-hand side and chi-square at a circle.
fn equations(
    chamber: &Chamber,
    hits: &[Hit],
    assigned: &[Assigned],
    circle: Circle,
) -> Option<(Symmetric, [f64; 3], f64)> {
    let directed = circle.directed();
    let weight = 1.0 / chamber.resolution;
    let (mut matrix, mut right, mut chi_square) = ([0.0; 6], [0.0; 3], 0.0);
    for one in assigned {
        let (distance, slopes) = directed.distance_and_slopes(wire(chamber, &hits[one.hit]))?;
        let residual = weight * (one.drift - distance);
        let [a, b, c] = [weight * CURVATURE_SCALE * slopes.curvature, weight * slopes.phi, weight * slopes.d0];
        for (sum, term) in matrix.iter_mut().zip([a * a, a * b, a * c, b * b, b * c, c * c]) {
            *sum += term;
        }
        for (sum, term) in right.iter_mut().zip([a, b, c]) {
            *sum += term * residual;
        }
        chi_square += residual * residual;
    }
    Some((matrix, right, chi_square))
}
