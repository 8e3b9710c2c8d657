//! First-pass tracking: circles by Hough voting of axial hits, the dip by voting of stereo hits, then a helix fitted to
//! both in a road that narrows.

mod fit;
mod hough;
mod road;
mod solve;
mod stereo;

pub use fit::{Fit, fit};
pub use hough::{Peak, Votes};
pub use road::{Assigned, Free, assign};
pub use solve::{Symmetric, invert};

use crate::simulate::Hit;
use crate::{Chamber, Circle, Digest, Helix};

/// Half-widths of the road around a circle in successive fits, cm. A single wide road finds only 83% of the tracks.
const CIRCLE_ROADS: [f64; 4] = [0.30, 0.30, 0.20, 0.12];
/// Half-widths of the road around a helix, cm.
const HELIX_ROADS: [f64; 6] = [0.40, 0.25, 0.12, 0.08, 0.05, 0.05];
/// Fewest votes of a peak that is followed.
const LEAST_VOTES: u16 = 7;
/// Fewest axial hits of a circle, and fewest stereo layers that agree on a dip.
const LEAST_AXIAL: usize = 7;
const LEAST_STEREO: u16 = 4;
/// Dips that are tried for each circle.
const DIPS: usize = 3;
/// Fewest hits of a track.
const LEAST_HITS: usize = 14;
/// Fewest hits as a share of the layers between a track's first and last hit.
const LEAST_FILLED: f64 = 0.70;
/// Largest chi-square per degree of freedom of a track.
const MOST_CHI_SQUARE: f64 = 2.2;
/// Peaks without a track after which an event is finished, for each track.
const PATIENCE: usize = 4;

/// A reconstructed track.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    /// Fitted helix.
    pub helix: Helix,
    /// Covariance of curvature, phi, d0, tangent of the dip and z0, in that order.
    pub covariance: Symmetric<5>,
    /// Sum of squared residuals over the resolution.
    pub chi_square: f64,
    /// Indices of its hits in the event.
    pub hits: Vec<usize>,
}

impl Track {
    /// Degrees of freedom: hits less the five parameters.
    #[must_use]
    pub fn degrees(&self) -> f64 {
        self.hits.len() as f64 - 5.0
    }
}

/// Finds and fits the tracks of an event, those with most votes first.
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
                finder.votes.clear(peak);
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
        let Helix { circle, tan_dip, z0 } = track.helix;
        let numbers = [circle.curvature, circle.phi, circle.d0, tan_dip, z0, track.chi_square].map(f64::to_bits);
        numbers.into_iter().chain(track.hits.iter().map(|hit| *hit as u64))
    });
    Digest::of(event, words)
}

/// State of the search in one event: hits that belong to no track yet.
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
        for hit in hits.iter().filter(|hit| !chamber.layers[usize::from(hit.layer)].is_stereo()) {
            votes.add(wire(chamber, hit), hit.drift);
        }
        Self { chamber, hits, free: vec![true; hits.len()], first, votes }
    }

    fn rest(&self) -> Free<'_> {
        Free { hits: self.hits, free: &self.free, first: &self.first }
    }

    /// Fits in a narrowing road around a peak; `None` if there is no track.
    fn follow(&self, peak: Peak) -> Option<Track> {
        let circle = self.circle(peak.circle())?;
        let dips = stereo::dips(self.chamber, self.rest(), circle, LEAST_STEREO, DIPS);
        let tracks = dips.into_iter().filter_map(|tan_dip| self.helix(Helix { circle, tan_dip, z0: 0.0 }));
        // The first of equals; the number of hits counts more than chi-square.
        tracks.fold(None, |best: Option<Track>, track| match best {
            Some(best) if best.hits.len() >= track.hits.len() => Some(best),
            _ => Some(track),
        })
    }

    /// Fits a circle to axial hits in a narrowing road.
    fn circle(&self, guess: Circle) -> Option<Circle> {
        let mut helix = Helix { circle: guess, ..Helix::default() };
        for road in CIRCLE_ROADS {
            let assigned = assign(self.chamber, self.rest(), helix, road, true);
            if assigned.len() < LEAST_AXIAL {
                return None;
            }
            helix = fit::<3>(self.chamber, self.hits, &assigned, helix)?.helix;
        }
        Some(helix.circle)
    }

    /// Fits a helix to all hits in a narrowing road.
    fn helix(&self, guess: Helix) -> Option<Track> {
        let mut helix = guess;
        let mut last = None;
        for road in HELIX_ROADS {
            let assigned = assign(self.chamber, self.rest(), helix, road, false);
            if assigned.len() < LEAST_HITS {
                return None;
            }
            let fitted = fit::<5>(self.chamber, self.hits, &assigned, helix)?;
            helix = fitted.helix;
            last = Some((fitted, assigned));
        }
        let (fitted, assigned) = last?;
        let track = Track {
            helix: fitted.helix,
            covariance: fitted.covariance,
            chi_square: fitted.chi_square,
            hits: assigned.iter().map(|one| one.hit).collect(),
        };
        (self.is_filled(&track) && track.chi_square < MOST_CHI_SQUARE * track.degrees()).then_some(track)
    }

    fn is_filled(&self, track: &Track) -> bool {
        let layer = |at: Option<&usize>| at.map_or(0, |hit| usize::from(self.hits[*hit].layer));
        // A track comes from the middle, so layers without a hit before its first one count as well.
        let crossed = layer(track.hits.last()) + 1;
        track.hits.len() as f64 >= LEAST_FILLED * crossed as f64
    }

    fn take(&mut self, track: &Track) {
        for hit in &track.hits {
            self.free[*hit] = false;
            let hit = &self.hits[*hit];
            if !self.chamber.layers[usize::from(hit.layer)].is_stereo() {
                self.votes.remove(wire(self.chamber, hit), hit.drift);
            }
        }
    }
}

fn wire(chamber: &Chamber, hit: &Hit) -> (f64, f64) {
    chamber.layers[usize::from(hit.layer)].wires[usize::from(hit.cell)]
}
