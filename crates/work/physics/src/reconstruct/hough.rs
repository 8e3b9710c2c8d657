//! Hough voting in direction and curvature, with drift circles in place of wires.
//!
//! Hough, US patent 3069654 (1962); voting with drift circles as in Ohlsson, Peterson and Yuille, Computer Physics
//! Communications 71 (1992) 77. Tracks are assumed to come from the axis. A circle through it with direction phi that
//! touches the drift circle of radius d around a wire has curvature 2 (v +- d) / (r^2 - d^2), where v is the distance
//! of the wire to the left of the direction.

use std::f64::consts::TAU;

use crate::track::Circle;

/// Bins in direction.
const DIRECTIONS: usize = 720;
/// Bins in curvature.
const CURVATURES: usize = 144;
/// Largest curvature, 1/cm: 0.19 GeV/c in 1.5 T.
const LARGEST: f64 = 0.024;

/// A bin with many votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peak {
    direction: usize,
    curvature: usize,
    /// Number of votes.
    pub votes: u16,
}

impl Peak {
    /// The circle at its centre.
    #[must_use]
    pub fn circle(self) -> Circle {
        let phi = (self.direction as f64 + 0.5) * TAU / DIRECTIONS as f64;
        let curvature = LARGEST * (2.0 * (self.curvature as f64 + 0.5) / CURVATURES as f64 - 1.0);
        Circle { curvature, phi, d0: 0.0 }
    }
}

/// The votes of the hits of an event.
#[derive(Debug, Clone)]
pub struct Votes {
    bins: Vec<u16>,
    /// Highest bin of each direction; valid unless `stale`.
    highest: Vec<u16>,
    stale: bool,
    directions: Vec<(f64, f64)>,
}

impl Default for Votes {
    fn default() -> Self {
        Self::new()
    }
}

impl Votes {
    /// No votes yet.
    #[must_use]
    pub fn new() -> Self {
        let directions = (0..=DIRECTIONS).map(|edge| libm::sincos(edge as f64 * TAU / DIRECTIONS as f64)).collect();
        Self { bins: vec![0; DIRECTIONS * CURVATURES], highest: vec![0; DIRECTIONS], stale: false, directions }
    }

    /// Votes for every circle that touches a drift circle.
    pub fn add(&mut self, wire: (f64, f64), drift: f64) {
        self.vote(wire, drift, |bin| *bin += 1);
    }

    /// Takes the votes of a hit back.
    pub fn remove(&mut self, wire: (f64, f64), drift: f64) {
        self.vote(wire, drift, |bin| *bin = bin.saturating_sub(1));
    }

    /// The highest bin if it has at least `least` votes; the first of equals.
    #[must_use]
    pub fn highest(&mut self, least: u16) -> Option<Peak> {
        if std::mem::take(&mut self.stale) {
            (0..DIRECTIONS).for_each(|direction| self.refresh(direction));
        }
        let (direction, votes) = self.highest.iter().enumerate().max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(&a.0)))?;
        let row = &self.bins[direction * CURVATURES..][..CURVATURES];
        let curvature = row.iter().position(|bin| bin == votes)?;
        (*votes >= least).then_some(Peak { direction, curvature, votes: *votes })
    }

    /// Clears a bin that gave no track.
    pub fn clear(&mut self, peak: Peak) {
        self.bins[peak.direction * CURVATURES + peak.curvature] = 0;
        self.refresh(peak.direction);
    }

    fn refresh(&mut self, direction: usize) {
        let row = &self.bins[direction * CURVATURES..][..CURVATURES];
        self.highest[direction] = row.iter().copied().max().unwrap_or(0);
    }

    fn vote(&mut self, (x, y): (f64, f64), drift: f64, act: impl Fn(&mut u16)) {
        self.stale = true;
        let square = x * x + y * y;
        let scale = 2.0 / (square - drift * drift);
        let to_bin = 0.5 * CURVATURES as f64 / LARGEST;
        let curvature = |(sine, cosine): (f64, f64), side: f64| scale * ((y * cosine - x * sine) + side);
        for direction in 0..DIRECTIONS {
            let (from, to) = (self.directions[direction], self.directions[direction + 1]);
            // A circle that turns by more than a right angle before the wire is not considered.
            if x * from.1 + y * from.0 <= 0.0 {
                continue;
            }
            let row = &mut self.bins[direction * CURVATURES..][..CURVATURES];
            // The left side lies above the right one. One vote for each bin and hit, on whichever side of the wire.
            let mut free = CURVATURES;
            for side in [drift, -drift] {
                let (a, b) = (curvature(from, side), curvature(to, side));
                let (low, high) = if a < b { (a, b) } else { (b, a) };
                let (low, high) = ((low + LARGEST) * to_bin, (high + LARGEST) * to_bin);
                if high < 0.0 {
                    continue;
                }
                let (first, end) = (low.max(0.0) as usize, (high as usize + 1).min(free));
                for bin in row.iter_mut().take(end).skip(first) {
                    act(bin);
                }
                free = free.min(first);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Chamber;

    #[test]
    fn hits_of_one_circle_vote_for_its_bin_and_removal_clears_it() {
        let chamber = Chamber::default();
        let truth = Circle { curvature: 0.0101, phi: 1.003, d0: 0.0 };
        let mut votes = Votes::new();
        let hits: Vec<_> = chamber
            .layers
            .iter()
            .map(|layer| {
                let (x, y) = truth.directed().at_radius(layer.radius).unwrap();
                let wire = layer.wires[layer.cell(libm::atan2(y, x))];
                (wire, truth.directed().distance(wire).unwrap().abs())
            })
            .collect();
        hits.iter().for_each(|(wire, drift)| votes.add(*wire, *drift));
        let peak = votes.highest(30).unwrap();
        assert!((peak.circle().phi - truth.phi).abs() < 0.02, "{peak:?}");
        assert!((peak.circle().curvature - truth.curvature).abs() < 5e-4, "{peak:?}");
        assert!(peak.votes <= 40, "at most one vote for each hit");
        hits.iter().for_each(|(wire, drift)| votes.remove(*wire, *drift));
        assert!(votes.bins.iter().all(|bin| *bin == 0) && votes.highest(1).is_none());
    }
}
