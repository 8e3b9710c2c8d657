//! Least-squares fit of a circle or a helix to signed drift distances, by Gauss-Newton steps.

use super::road::Assigned;
use super::solve::{Symmetric, invert, times};
use crate::simulate::Hit;
use crate::{Chamber, Circle, Helix};

/// Steps, at most; two or three suffice.
const STEPS: usize = 8;
/// A fit has converged when a step changes no residual by more than this many resolutions.
const CONVERGED: f64 = 1e-4;
/// Scales of the parameters, chosen so that the columns of the normal equations have similar size.
const SCALES: [f64; 5] = [1e-3, 1.0, 1.0, 1.0, 10.0];

/// A fitted path: a helix of five parameters, or of three where z is not fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit<const N: usize> {
    /// The helix; parameters that were not fitted keep their initial values.
    pub helix: Helix,
    /// Covariance of the fitted ones of curvature, phi, d0, tangent of the dip and z0.
    pub covariance: Symmetric<N>,
    /// Sum of squared residuals in units of the resolution.
    pub chi_square: f64,
}

/// Fits the first `N` parameters of a helix to hits, from a first guess. `None` if the fit does not converge. With
/// three parameters, the hits must be on axial wires.
#[must_use]
pub fn fit<const N: usize>(chamber: &Chamber, hits: &[Hit], assigned: &[Assigned], guess: Helix) -> Option<Fit<N>> {
    let mut helix = guess;
    for _ in 0..STEPS {
        let (normal, gradient, _) = equations::<N>(chamber, hits, assigned, helix)?;
        let step = times(&invert(&normal)?, gradient);
        helix = moved(helix, &step);
        let worth: f64 = step.iter().zip(times(&normal, step)).map(|(a, b)| a * b).sum();
        if worth < CONVERGED * CONVERGED {
            let (normal, _, chi_square) = equations::<N>(chamber, hits, assigned, helix)?;
            let mut covariance = invert(&normal)?;
            for (row, values) in covariance.iter_mut().enumerate() {
                for (column, value) in values.iter_mut().enumerate() {
                    *value *= SCALES[row] * SCALES[column];
                }
            }
            return Some(Fit { helix, covariance, chi_square });
        }
    }
    None
}

fn moved(helix: Helix, step: &[f64]) -> Helix {
    let by = |index: usize| step.get(index).map_or(0.0, |step| SCALES[index] * step);
    let circle = Circle {
        curvature: helix.circle.curvature + by(0),
        phi: helix.circle.phi + by(1),
        d0: helix.circle.d0 + by(2),
    };
    Helix { circle, tan_dip: helix.tan_dip + by(3), z0: helix.z0 + by(4) }
}

/// Normal equations: matrix, right-hand side and chi-square at a helix.
fn equations<const N: usize>(
    chamber: &Chamber,
    hits: &[Hit],
    assigned: &[Assigned],
    helix: Helix,
) -> Option<(Symmetric<N>, [f64; N], f64)> {
    let flight = helix.flight();
    let weight = 1.0 / chamber.resolution;
    let (mut matrix, mut right, mut chi_square) = ([[0.0; N]; N], [0.0; N], 0.0);
    for one in assigned {
        let hit = &hits[one.hit];
        let layer = &chamber.layers[usize::from(hit.layer)];
        let near = flight.approach(layer, usize::from(hit.cell), one.z)?;
        let residual = weight * (one.drift - near.distance);
        let slopes: [f64; N] = std::array::from_fn(|index| weight * SCALES[index] * near.slopes[index]);
        for row in 0..N {
            for column in 0..=row {
                matrix[row][column] += slopes[row] * slopes[column];
            }
            right[row] += slopes[row] * residual;
        }
        chi_square += residual * residual;
    }
    Some((matrix, right, chi_square))
}
