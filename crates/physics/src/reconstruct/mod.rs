//! First-pass tracking: candidates by Hough voting, their hits by roads that narrow while the circle is refitted.

mod fit;
mod hough;
mod road;
mod solve;

pub use fit::{Fit, fit};
pub use hough::{Peak, Votes};
pub use road::{Assigned, gather};
pub use solve::{Symmetric, invert};

use crate::simulate::Hit;
use crate::{Chamber, Circle, Digest};

/// Half-widths of the road, cm, one fit after the other. A single wide road finds 83% of the tracks.
const ROADS: [f64; 7] = [0.30, 0.30, 0.20, 0.12, 0.08, 0.05, 0.05];
/// Votes below which no peak is looked at.
const LEAST_VOTES: u16 = 11;
/// Hits that a track must keep.
const LEAST_HITS: usize = 14;
/// Share of the layers between a track's first and last hit that must show it.
const LEAST_FILLED: f64 = 0.70;
/// Chi-square per degree of freedom above which a fit is no track.
const MOST_CHI_SQUARE: f64 = 2.2;
/// Peaks that are looked at in an event, for one track.
const PATIENCE: usize = 4;

/// A track that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    /// Fitted circle.
    pub circle: Circle,
    /// Covariance of curvature, phi and d0, in that order.
    pub covariance: Symmetric,
    /// Sum of squared residuals over the resolution.
    pub chi_square: f64,
    /// Indices of its hits in the event.
    pub hits: Vec<usize>,
}

impl Track {
    /// Degrees of freedom: hits less the three parameters.
    #[must_use]
    pub fn degrees(&self) -> f64 {
        self.hits.len() as f64 - 3.0
    }
}

/// Finds and fits the tracks of an event, longest first as the votes have it.
#[must_use]
pub fn reconstruct(chamber: &Chamber, hits: &[Hit]) -> Vec<Track> {
    let mut finder = Finder::new(chamber, hits);
    let mut tracks: Vec<Track> = Vec::new();
    let mut failures = 0;
    while let Some(peak) = finder.votes.highest(LEAST_VOTES) {
        match finder.follow(peak) {
            Some(track) => {
                finder.take(&track);
                tracks.push(track);
                failures = 0;
            }
            None => {
                finder.votes.forget(peak);
                failures += 1;
                if failures > PATIENCE * (tracks.len() + PATIENCE) {
                    break;
                }
            }
        }
    }
    tracks
}

/// Digest of the tracks of one event: every bit of every parameter.
#[must_use]
pub fn digest(event: u64, tracks: &[Track]) -> Digest {
    let words = tracks.iter().flat_map(|track| {
        let circle = &track.circle;
        let numbers = [circle.curvature, circle.phi, circle.d0, track.chi_square].map(f64::to_bits);
        numbers.into_iter().chain(track.hits.iter().map(|hit| *hit as u64))
    });
    Digest::of(event, words)
}

/// What is still to be explained of an event.
struct Finder<'a> {
    chamber: &'a Chamber,
    hits: &'a [Hit],
    free: Vec<bool>,
    first: Vec<usize>,
    votes: Votes,
}

impl<'a> Finder<'a> {
    fn new(chamber: &'a Chamber, hits: &'a [Hit]) -> Self {
        let first = (0..=chamber.layers.len())
            .map(|layer| hits.partition_point(|hit| usize::from(hit.layer) < layer))
            .collect();
        let mut votes = Votes::new();
        for hit in hits {
            votes.add(wire(chamber, hit), hit.drift);
        }
        Self { chamber, hits, free: vec![true; hits.len()], first, votes }
    }

    /// Narrows a road around a peak; `None` when no track lies there.
    fn follow(&self, peak: Peak) -> Option<Track> {
        let mut circle = peak.circle();
        let mut last = None;
        for road in ROADS {
            let assigned = gather(self.chamber, self.hits, &self.free, &self.first, circle, road);
            if assigned.len() < LEAST_HITS {
                return None;
            }
            let fitted = fit(self.chamber, self.hits, &assigned, circle)?;
            circle = fitted.circle;
            last = Some((fitted, assigned));
        }
        let (fitted, assigned) = last?;
        let track = Track {
            circle: fitted.circle,
            covariance: fitted.covariance,
            chi_square: fitted.chi_square,
            hits: assigned.iter().map(|one| one.hit).collect(),
        };
        (self.is_filled(&track) && track.chi_square < MOST_CHI_SQUARE * track.degrees()).then_some(track)
    }

    fn is_filled(&self, track: &Track) -> bool {
        let layer = |at: Option<&usize>| at.map_or(0, |hit| usize::from(self.hits[*hit].layer));
        // A track comes from the middle: layers that it missed on its way in count against it.
        let crossed = layer(track.hits.last()) + 1;
        track.hits.len() as f64 >= LEAST_FILLED * crossed as f64
    }

    fn take(&mut self, track: &Track) {
        for hit in &track.hits {
            self.free[*hit] = false;
            self.votes.remove(wire(self.chamber, &self.hits[*hit]), self.hits[*hit].drift);
        }
    }
}

fn wire(chamber: &Chamber, hit: &Hit) -> (f64, f64) {
    chamber.layers[usize::from(hit.layer)].wires[usize::from(hit.cell)]
}
