//! Tracks of simulated events, fitted on a device with the bits of the CPU.

use gpu::{Device, Tracks};
use physics::reconstruct::{self, Free, Track, assign, fit, reconstruct};
use physics::{Chamber, Circle, Digest, Helix, simulate};

use crate::prelude::*;

/// Simulated events.
const EVENTS: u64 = 100;
/// Half-width of the road in which a circle's hits are, cm, and fewest of them.
const ROAD: f64 = 0.12;
const FEWEST: usize = 7;
/// Tracks for each unit of a device, so that all of it has work.
const CROWD: usize = 1024;

/// Tracks to fit: the circles of all events, several times.
pub(super) struct Fits {
    tracks: Tracks,
    repeats: usize,
    numbers: Vec<u64>,
    expected: Digest,
}

/// A circle to fit: its hits with wire and signed drift, and a first guess.
struct Task {
    event: u64,
    hits: Vec<[f64; 3]>,
    guess: Circle,
    /// What the CPU's fit gives, NaN if it finds none.
    fitted: [f64; 4],
}

impl Fits {
    /// Events of a seed, reconstructed on the CPU for the hits and the expected results.
    pub(super) fn new(device: &Device, seed: u64) -> Result<Self, Unsupported> {
        let tasks = tasks(seed);
        let repeats = (CROWD * device.about().units.max(1) as usize).div_ceil(tasks.len().max(1));
        let repeated = || (0..repeats).flat_map(|_| &tasks);
        let hits: Vec<[f64; 3]> = repeated().flat_map(|task| task.hits.iter().copied()).collect();
        let mut first = vec![0];
        let mut end = 0;
        first.extend(repeated().map(|task| {
            end += task.hits.len() as u64;
            end
        }));
        let guess: Vec<_> = repeated().map(|task| [task.guess.curvature, task.guess.phi, task.guess.d0]).collect();
        let tracks = Tracks::new(device, &hits, &first, &guess)?;
        let numbers: Vec<u64> = tasks.iter().map(|task| task.event).collect();
        let expected = digest(&numbers, tasks.iter().map(|task| task.fitted));
        Ok(Self { tracks, repeats, numbers, expected })
    }

    /// Fits all tracks `times` times. Returns the seconds and the events whose tracks were fitted; their digest was
    /// compared with that of the CPU.
    pub(super) fn run(&self, device: &Device, times: u32) -> Result<(f64, f64), BenchmarkError> {
        let (seconds, found) = self.tracks.fit(device, times)?;
        for copy in found.chunks(self.numbers.len().max(1)) {
            let digest = digest(&self.numbers, copy.iter().copied());
            if digest != self.expected {
                return Err(BenchmarkError::new(format!(
                    "the fits of the device have the digest {digest}, those of the CPU {}: its results cannot be trusted",
                    self.expected
                )));
            }
        }
        Ok((seconds, (EVENTS * self.repeats as u64) as f64 * f64::from(times)))
    }
}

/// The digest of fitted circles as that of tracks, event by event.
fn digest(numbers: &[u64], circles: impl Iterator<Item = [f64; 4]>) -> Digest {
    let track = |[curvature, phi, d0, chi_square]: [f64; 4]| Track {
        helix: Helix { circle: Circle { curvature, phi, d0 }, ..Helix::default() },
        covariance: [[0.0; 5]; 5],
        // The sign of a NaN is not the same everywhere.
        chi_square: if chi_square.is_nan() { f64::INFINITY } else { chi_square },
        hits: Vec::new(),
    };
    let found = circles.map(|circle| if circle[3].is_nan() { [0.0, 0.0, 0.0, f64::NAN] } else { circle });
    let each = numbers.iter().zip(found).map(|(event, circle)| reconstruct::digest(*event, &[track(circle)]));
    each.fold(Digest::default(), Digest::plus)
}

fn tasks(seed: u64) -> Vec<Task> {
    let (chamber, generator) = (Chamber::default(), simulate::Generator::default());
    let mut tasks = Vec::new();
    for event in 0..EVENTS {
        let hits = simulate::simulate(&chamber, &generator, seed, event).hits;
        let first: Vec<usize> = (0..=chamber.layers.len())
            .map(|layer| hits.partition_point(|hit| usize::from(hit.layer) < layer))
            .collect();
        for track in reconstruct(&chamber, &hits) {
            let free: Vec<bool> = (0..hits.len()).map(|hit| track.hits.contains(&hit)).collect();
            let event_hits = Free { hits: &hits, free: &free, first: &first };
            let assigned = assign(&chamber, event_hits, track.helix, ROAD, true);
            if assigned.len() < FEWEST {
                continue;
            }
            let Circle { curvature, phi, d0 } = track.helix.circle;
            // As far away as a bin of the first pass.
            let guess = Circle { curvature: curvature + 1e-4, phi: phi + 4e-3, d0 };
            let start = Helix { circle: guess, ..Helix::default() };
            let fitted = fit::<3>(&chamber, &hits, &assigned, start);
            let fitted = fitted.map_or([f64::NAN; 4], |fit| {
                let Circle { curvature, phi, d0 } = fit.helix.circle;
                [curvature, phi, d0, fit.chi_square]
            });
            let wire = |hit: usize| {
                let hit = &hits[hit];
                chamber.layers[usize::from(hit.layer)].wires[usize::from(hit.cell)]
            };
            let hits = assigned.iter().map(|one| {
                let (x, y) = wire(one.hit);
                [x, y, one.drift]
            });
            tasks.push(Task { event, hits: hits.collect(), guess, fitted });
        }
    }
    tasks
}
