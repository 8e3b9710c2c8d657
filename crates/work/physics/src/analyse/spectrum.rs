//! The mass spectrum of pairs of muons.

use super::ntuple::{NtupleRow, TrackRow};
use super::sample::MUON_MASS;
use crate::Digest;

const BINS: usize = 500;
/// Width of a bin, GeV/c^2.
const WIDTH: f64 = 0.01;
/// Largest distance of a track's origin to the axis, and of its z to zero, cm.
const NEAR: (f64, f64) = (0.2, 5.0);

/// Counts of pairs in bins of mass.
#[derive(Debug, Clone, PartialEq)]
pub struct Spectrum {
    bins: Vec<u64>,
    events: u64,
    tracks: u64,
    momentum: Vec<[f64; 4]>,
    charges: Vec<f64>,
}

impl Default for Spectrum {
    fn default() -> Self {
        Self { bins: vec![0; BINS], events: 0, tracks: 0, momentum: Vec::new(), charges: Vec::new() }
    }
}

impl Spectrum {
    /// Adds every pair of opposite charge of an event.
    pub fn fill(&mut self, row: &NtupleRow) {
        self.events += 1;
        self.tracks += row.tracks.len() as u64;
        self.momentum.clear();
        self.charges.clear();
        for track in row.tracks.iter().filter(|track| track.d0.abs() < NEAR.0 && track.z0.abs() < NEAR.1) {
            self.momentum.push(four_momentum(track));
            self.charges.push(track.charge);
        }
        for first in 0..self.charges.len() {
            for second in first + 1..self.charges.len() {
                if self.charges[first] * self.charges[second] < 0.0 {
                    let mass = mass(&self.momentum[first], &self.momentum[second]);
                    if let Some(bin) = self.bins.get_mut((mass / WIDTH) as usize) {
                        *bin += 1;
                    }
                }
            }
        }
    }

    /// Number of events read.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.events
    }

    /// Adds the counts of another part of the events.
    pub fn add(&mut self, other: &Self) {
        self.events += other.events;
        self.tracks += other.tracks;
        self.bins.iter_mut().zip(&other.bins).for_each(|(sum, count)| *sum += count);
    }

    /// Digest of the counts, which are sums over events. Compute it of the union of all parts.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(self.events, self.bins.iter().copied().chain([self.tracks]))
    }

    /// Pairs above the background, and their mean mass, within `half` GeV/c^2 of a mass. The background is a straight
    /// line through the counts on both sides.
    #[must_use]
    pub fn peak(&self, at: f64, half: f64) -> (f64, f64) {
        // Counts, and their first moment about the middle.
        let sum = |low: f64, high: f64| -> (f64, f64) {
            let range = ((at + low) / WIDTH).round() as usize..((at + high) / WIDTH).round() as usize;
            self.bins[range.clone()].iter().zip(range).fold((0.0, 0.0), |(n, m), (count, bin)| {
                let count = *count as f64;
                (n + count, m + count * ((bin as f64 + 0.5) * WIDTH - at))
            })
        };
        let (inside, left, right) = (sum(-half, half), sum(-2.0 * half, -half).0, sum(half, 2.0 * half).0);
        let pairs = inside.0 - left - right;
        // A straight line whose sides differ by this count has this moment between them.
        let tilt = (right - left) * 2.0 * half / 9.0;
        (pairs, at + (inside.1 - tilt) / pairs)
    }
}

fn four_momentum(track: &TrackRow) -> [f64; 4] {
    let (sine, cosine) = libm::sincos(track.phi);
    let p = [track.transverse * cosine, track.transverse * sine, track.transverse * track.tan_dip];
    let energy = (p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + MUON_MASS * MUON_MASS).sqrt();
    [p[0], p[1], p[2], energy]
}

fn mass(a: &[f64; 4], b: &[f64; 4]) -> f64 {
    let sum = [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]];
    let square = sum[3] * sum[3] - sum[0] * sum[0] - sum[1] * sum[1] - sum[2] * sum[2];
    square.max(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse::{RESONANCE_MASS, RESONANCE_SHARE, sample};

    #[test]
    fn the_resonance_is_found_at_its_mass() {
        let mut spectrum = Spectrum::default();
        let events = 20_000;
        for number in 0..events {
            spectrum.fill(&sample(7, number));
        }
        let (pairs, mass) = spectrum.peak(3.10, 0.06);
        let made = RESONANCE_SHARE * events as f64;
        assert!((pairs / made - 1.0).abs() < 0.06, "{pairs} of {made}");
        assert!((mass - RESONANCE_MASS).abs() < 0.002, "{mass}");
    }
}
