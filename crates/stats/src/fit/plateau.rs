//! Levels of a curve with steps, such as load latency over working set: the memory hierarchy.
//!
//! The curve, both axes logarithmic, is cut into flat pieces and ramps so that squared residuals plus a penalty for each
//! parameter are least: optimal partitioning (Jackson et al., IEEE Signal Processing Letters 12, 2005) with the penalty
//! of Schwarz (Annals of Statistics 6, 1978). Flat pieces are the levels.

use crate::distribution::student_t_quantile;
use crate::interval::{Estimated, Interval};
use crate::quantile::{mean, median, standard_deviation};

/// A flat piece of a curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Plateau {
    /// Positions of its first and last point in the order of x.
    pub points: (usize, usize),
    /// Smallest x of the piece.
    pub from: f64,
    /// Largest x of the piece.
    pub to: f64,
    /// Where the level ends: somewhere from `to` to the start of what follows; `None` for the last piece when no
    /// point follows.
    pub next: Option<f64>,
    /// Height: geometric mean of its points with Student's interval.
    pub height: Estimated,
}

/// Fewest points of a plateau.
const FEWEST: usize = 3;
/// Neighbouring flat pieces whose heights differ by less than this ratio are one level.
const SMALLEST_STEP: f64 = 1.15;
/// A piece that rises by more than this ratio from end to end is a ramp, however straight.
const FLAT: f64 = 1.15;
/// Smallest noise of a point that is assumed, as a logarithm: measured points are never better than 1%.
const QUIETEST: f64 = 0.01;

/// The plateaus of a curve of positive points, by rising x, with intervals of their heights at `level`.
///
/// Empty below three points, when x does not rise strictly, when the samples differ in length, or when a number is not
/// finite and positive.
pub fn plateaus(x: &[f64], y: &[f64], level: f64) -> Vec<Plateau> {
    let positive = x.iter().chain(y).all(|v| v.is_finite() && *v > 0.0);
    if x.len() != y.len() || x.len() < FEWEST || !positive || x.windows(2).any(|w| w[0] >= w[1]) {
        return Vec::new();
    }
    let log_x: Vec<f64> = x.iter().map(|v| v.ln()).collect();
    let log_y: Vec<f64> = y.iter().map(|v| v.ln()).collect();
    let flat = merged(flat_pieces(&log_x, &log_y), &log_y);
    flat.iter()
        .map(|&(first, end)| Plateau {
            points: (first, end - 1),
            from: x[first],
            to: x[end - 1],
            next: x.get(end).copied(),
            height: height(&log_y[first..end], level),
        })
        .collect()
}

/// Half-open ranges of points that the best partition calls flat.
fn flat_pieces(x: &[f64], y: &[f64]) -> Vec<(usize, usize)> {
    let n = x.len();
    let variance = noise(y).powi(2);
    let penalty = (n as f64).ln();
    // best[end] = least cost of the first `end` points, where the last piece starts, and whether it is flat.
    let mut best = vec![(0.0_f64, 0_usize, false); n + 1];
    for end in 1..=n {
        best[end] = (0..end)
            .flat_map(|start| {
                let (flat, ramp, rise) = costs(&x[start..end], &y[start..end]);
                let before = best[start].0;
                let long_enough = end - start >= FEWEST && rise.exp() <= FLAT;
                let flat = if long_enough { before + flat / variance + 2.0 * penalty } else { f64::INFINITY };
                [(flat, start, true), (before + ramp / variance + 3.0 * penalty, start, false)]
            })
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .unwrap_or((f64::INFINITY, 0, false));
    }
    let mut pieces = Vec::new();
    let mut end = n;
    while end > 0 {
        let (_, start, flat) = best[end];
        if flat {
            pieces.push((start, end));
        }
        end = start;
    }
    pieces.reverse();
    pieces
}

/// Squared residuals of a constant and of a line, and the rise of that line from end to end.
fn costs(x: &[f64], y: &[f64]) -> (f64, f64, f64) {
    let (mean_x, mean_y) = (mean(x), mean(y));
    let total: f64 = y.iter().map(|v| (v - mean_y).powi(2)).sum();
    let spread: f64 = x.iter().map(|v| (v - mean_x).powi(2)).sum();
    if spread <= 0.0 {
        return (total, total, 0.0);
    }
    let shared: f64 = x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let rise = shared / spread * (x[x.len() - 1] - x[0]);
    (total, (total - shared * shared / spread).max(0.0), rise.abs())
}

/// Noise of a point from second differences, which neither levels nor straight ramps move.
fn noise(y: &[f64]) -> f64 {
    let bends: Vec<f64> = y.windows(3).map(|w| (w[0] - 2.0 * w[1] + w[2]).abs()).collect();
    (1.4826 * median(&bends).unwrap_or(0.0) / 6.0_f64.sqrt()).max(QUIETEST)
}

/// Joins touching pieces that are one level.
fn merged(pieces: Vec<(usize, usize)>, y: &[f64]) -> Vec<(usize, usize)> {
    let mut joined: Vec<(usize, usize)> = Vec::new();
    for piece in pieces {
        match joined.last_mut() {
            Some(last) if (mean(&y[last.0..last.1]) - mean(&y[piece.0..piece.1])).abs() < SMALLEST_STEP.ln() => {
                last.1 = piece.1;
            }
            _ => joined.push(piece),
        }
    }
    joined
}

fn height(logs: &[f64], level: f64) -> Estimated {
    let n = logs.len() as f64;
    let centre = mean(logs);
    let error = standard_deviation(logs).unwrap_or(0.0) / n.sqrt();
    let half = student_t_quantile(0.5 + level / 2.0, n - 1.0) * error;
    Estimated { value: centre.exp(), interval: Interval::new((centre - half).exp(), (centre + half).exp(), level) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{generator, standard_normal};

    /// Load latency of caches of 32 KiB, 1 MiB and 32 MiB, then memory, four points to a power of two.
    fn hierarchy(noise: f64, seed: u64) -> (Vec<f64>, Vec<f64>) {
        let mut rng = generator(seed);
        let x: Vec<f64> = (0..=72).map(|i| 1024.0 * (f64::from(i) / 4.0).exp2()).collect();
        let levels =
            [(32.0 * 1024.0, 1.2), (1024.0 * 1024.0, 4.5), (32.0 * 1024.0 * 1024.0, 20.0), (f64::INFINITY, 95.0)];
        let y = x
            .iter()
            .map(|&size| {
                // Lines beyond a cache's capacity miss it: the mean moves to the next level over a factor of two.
                let mut latency = levels[0].1;
                for pair in levels.windows(2) {
                    let missed = ((size / pair[0].0).log2()).clamp(0.0, 1.0);
                    latency += missed * (pair[1].1 - pair[0].1);
                }
                latency * (noise * standard_normal(&mut rng)).exp()
            })
            .collect();
        (x, y)
    }

    #[test]
    fn four_levels_where_there_are_four() {
        for seed in 0..20 {
            for noise in [0.003, 0.02] {
                let (x, y) = hierarchy(noise, seed);
                let found = plateaus(&x, &y, 0.95);
                let heights: Vec<f64> = found.iter().map(|p| p.height.value).collect();
                assert_eq!(found.len(), 4, "seed {seed}, noise {noise}: {heights:?}");
                for (p, (height, capacity)) in
                    found.iter().zip([(1.2, 32.0), (4.5, 1024.0), (20.0, 32768.0), (95.0, f64::INFINITY)])
                {
                    assert!((p.height.value / height - 1.0).abs() < 0.05, "{p:?}");
                    assert!(
                        p.next.is_none() || (p.to / 1024.0 <= capacity * 1.2 && p.to / 1024.0 >= capacity / 2.0),
                        "{p:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn flat_curves_and_ramps() {
        let x: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(plateaus(&x, &[7.0; 20], 0.95).len(), 1);
        let ramp: Vec<f64> = x.iter().map(|x| x * 2.0).collect();
        assert!(plateaus(&x, &ramp, 0.95).is_empty());
        assert!(plateaus(&[1.0, 1.0, 2.0], &[1.0; 3], 0.95).is_empty());
    }
}
