//! Events as a reconstruction gives them to an analysis: background tracks, and in some events a resonance that decays
//! to two muons. Both are smeared by the resolution of a drift chamber.

use super::ntuple::{NtupleRow, TrackRow};
use crate::random::EventRandom;
use crate::simulate::Generator;
use crate::track::TESLA_TO_CURVATURE;

/// Mass of the resonance, GeV/c^2: that of the J/psi (Particle Data Group).
pub const RESONANCE_MASS: f64 = 3.0969;
/// Share of the events that contain one.
pub const RESONANCE_SHARE: f64 = 0.25;
/// Mass of a muon, GeV/c^2.
pub(super) const MUON_MASS: f64 = 0.105_658;

/// Stream of random numbers, separate from those of the simulation.
const SIGNAL: u32 = 1 << 20;
/// Relative error of a transverse momentum at 1 GeV/c and of its direction.
const MOMENTUM_ERROR: f64 = 0.0045;
const ANGLE_ERROR: f64 = 0.001;

/// One event of the sample.
#[must_use]
pub fn sample(seed: u64, number: u64) -> NtupleRow {
    let generator = Generator { tracks: 8, ..Generator::default() };
    let mut random = EventRandom::new(seed, number, SIGNAL);
    let background = generator.generate(seed, number).into_iter().map(|particle| {
        let curvature = particle.circle.curvature;
        TrackRow {
            transverse: TESLA_TO_CURVATURE * generator.field / curvature.abs(),
            phi: particle.circle.phi,
            tan_dip: particle.tan_dip,
            d0: particle.circle.d0,
            z0: particle.z0,
            charge: -curvature.signum(),
        }
    });
    let mut tracks: Vec<TrackRow> = background.collect();
    if random.uniform() < RESONANCE_SHARE {
        tracks.extend(decay(&mut random));
    }
    for track in &mut tracks {
        track.transverse *= 1.0 + MOMENTUM_ERROR * random.normal();
        track.phi += ANGLE_ERROR * random.normal();
        track.tan_dip += ANGLE_ERROR * random.normal();
    }
    NtupleRow { event: number, tracks }
}

/// Two muons, back to back and isotropic in the frame of a moving resonance.
fn decay(random: &mut EventRandom) -> [TrackRow; 2] {
    let cosine = random.between(-1.0, 1.0);
    let (sine, across) = ((1.0 - cosine * cosine).sqrt(), random.between(0.0, std::f64::consts::TAU));
    let (up, along) = libm::sincos(across);
    let energy = 0.5 * RESONANCE_MASS;
    let momentum = (energy * energy - MUON_MASS * MUON_MASS).sqrt();
    let own = [momentum * sine * along, momentum * sine * up, momentum * cosine];
    let boost = [random.normal(), random.normal(), random.normal()].map(|x| 0.8 * x / RESONANCE_MASS);
    let charge = if random.uniform() < 0.5 { -1.0 } else { 1.0 };
    [(1.0, charge), (-1.0, -charge)].map(|(sign, charge)| {
        let p = boosted(own.map(|x| sign * x), energy, boost);
        let transverse = (p[0] * p[0] + p[1] * p[1]).sqrt();
        let phi = libm::atan2(p[1], p[0]);
        TrackRow { transverse, phi, tan_dip: p[2] / transverse, d0: 0.0, z0: 0.0, charge }
    })
}

/// A momentum boosted from a frame that moves with gamma beta `u`.
fn boosted(p: [f64; 3], energy: f64, u: [f64; 3]) -> [f64; 3] {
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let gamma = (1.0 + dot(u, u)).sqrt();
    let factor = dot(u, p) / (1.0 + gamma) + energy;
    [p[0] + factor * u[0], p[1] + factor * u[1], p[2] + factor * u[2]]
}
