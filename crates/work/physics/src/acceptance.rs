//! Compares reconstructed tracks with the truth: efficiency, fakes, pulls and chi-square.

use crate::reconstruct::Track;
use crate::simulate::CollisionEvent;

/// Hits that a true particle must have to be counted in the efficiency.
const LEAST_TRUE_HITS: usize = 20;
/// Share of a track's hits that must come from one particle for the track to match it.
const PURITY: f64 = 0.5;
/// Pulls beyond this are counted as outside.
const OUTSIDE: f64 = 6.0;
/// Pulls beyond this are excluded from the width of the core.
const CORE: f64 = 3.5;

/// Residuals over their standard deviations, of one parameter.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pull {
    sum: f64,
    squares: f64,
    core: u32,
    all: u32,
    outside: u32,
}

impl Pull {
    fn add(&mut self, pull: f64) {
        self.all += 1;
        if pull.abs() > OUTSIDE {
            self.outside += 1;
        }
        if pull.abs() <= CORE {
            self.core += 1;
            self.sum += pull;
            self.squares += pull * pull;
        }
    }

    /// Mean of the core.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.sum / f64::from(self.core)
    }

    /// Standard deviation of the core, corrected for the cut at 3.5 of a normal distribution.
    #[must_use]
    pub fn width(&self) -> f64 {
        /// Standard deviation of a standard normal cut at 3.5: sqrt(1 - 2 c phi(c) / (2 Phi(c) - 1)).
        const CUT: f64 = 0.996_945;
        let n = f64::from(self.core);
        (self.squares / n - (self.sum / n) * (self.sum / n)).sqrt() / CUT
    }

    /// Share within six standard deviations.
    #[must_use]
    pub fn inside(&self) -> f64 {
        1.0 - f64::from(self.outside) / f64::from(self.all)
    }
}

/// Quality of a reconstruction over many events.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Acceptance {
    /// Particles with at least 20 hits.
    pub wanted: u32,
    /// Particles among them that were found.
    pub found: u32,
    /// Tracks.
    pub tracks: u32,
    /// Tracks that match no particle, or one that is matched already.
    pub fakes: u32,
    /// Pulls of curvature, phi, d0, tangent of the dip and z0.
    pub pulls: [Pull; 5],
    /// Tracks by the probability of their chi-square, in tenths: flat if the errors are correct.
    pub probabilities: [u32; 10],
    /// Sum of chi-square and of degrees of freedom of true tracks.
    pub chi_square: (f64, f64),
}

impl Acceptance {
    /// Share of the wanted particles that were found.
    #[must_use]
    pub fn efficiency(&self) -> f64 {
        f64::from(self.found) / f64::from(self.wanted)
    }

    /// Share of the tracks that are fakes.
    #[must_use]
    pub fn fake_rate(&self) -> f64 {
        f64::from(self.fakes) / f64::from(self.tracks)
    }

    /// Mean chi-square per degree of freedom.
    #[must_use]
    pub fn chi_square_per_degree(&self) -> f64 {
        self.chi_square.0 / self.chi_square.1
    }

    /// Compares the tracks of one event with its truth.
    pub fn add(&mut self, event: &CollisionEvent, tracks: &[Track]) {
        let mut hits = vec![0; event.particles.len()];
        for hit in event.hits.iter().filter_map(|hit| hit.particle) {
            hits[usize::from(hit)] += 1;
        }
        let mut taken = vec![false; event.particles.len()];
        for track in tracks {
            self.tracks += 1;
            match owner(event, track) {
                Some(particle) if !taken[particle] => {
                    taken[particle] = true;
                    self.measure(event, particle, track);
                }
                _ => self.fakes += 1,
            }
        }
        for (hits, taken) in hits.iter().zip(taken) {
            if *hits >= LEAST_TRUE_HITS {
                self.wanted += 1;
                self.found += u32::from(taken);
            }
        }
    }

    fn measure(&mut self, event: &CollisionEvent, particle: usize, track: &Track) {
        let (truth, found) = (event.particles[particle], track.helix);
        let turns = ((found.circle.phi - truth.circle.phi) / std::f64::consts::TAU).round();
        let residuals = [
            found.circle.curvature - truth.circle.curvature,
            found.circle.phi - truth.circle.phi - turns * std::f64::consts::TAU,
            found.circle.d0 - truth.circle.d0,
            found.tan_dip - truth.tan_dip,
            found.z0 - truth.z0,
        ];
        for (index, (pull, residual)) in self.pulls.iter_mut().zip(residuals).enumerate() {
            pull.add(residual / track.covariance[index][index].sqrt());
        }
        let tenth = (10.0 * probability(track.chi_square, track.degrees())) as usize;
        self.probabilities[tenth.min(9)] += 1;
        self.chi_square.0 += track.chi_square;
        self.chi_square.1 += track.degrees();
    }
}

/// Probability that a chi-square with this many degrees of freedom exceeds a value, by the approximation of Wilson and
/// Hilferty, Proceedings of the National Academy of Sciences 17 (1931) 684; accurate to 0.002 from ten degrees on.
fn probability(chi_square: f64, degrees: f64) -> f64 {
    let spread = 2.0 / (9.0 * degrees);
    let normal = (libm::cbrt(chi_square / degrees) - (1.0 - spread)) / spread.sqrt();
    0.5 * libm::erfc(normal * std::f64::consts::FRAC_1_SQRT_2)
}

/// The particle that most hits of a track come from.
fn owner(event: &CollisionEvent, track: &Track) -> Option<usize> {
    let mut shares = vec![0_usize; event.particles.len()];
    for particle in track.hits.iter().filter_map(|hit| event.hits[*hit].particle) {
        shares[usize::from(particle)] += 1;
    }
    let (particle, most) = shares.iter().enumerate().max_by_key(|(_, share)| **share)?;
    (*most as f64 > PURITY * track.hits.len() as f64).then_some(particle)
}
