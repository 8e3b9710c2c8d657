//! The three workloads as fixed work: preparation, then an event loop whose result is a digest.

use crate::acceptance::Acceptance;
use crate::analyse::{Malformed, analyse, write_ntuple};
use crate::matter::Detector;
use crate::reconstruct::{digest, reconstruct};
use crate::simulate::{CollisionEvent, Generator, simulate, simulate_detector};
use crate::{Chamber, Digest};

/// Names of the workloads.
pub const NAMES: [&str; 3] = ["simulate", "reconstruct", "analyse"];

/// One of the workloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workload {
    /// Event generator, passage through matter and detector response.
    Simulate,
    /// First-pass track finding and fit.
    Reconstruct,
    /// Reading of ntuples.
    Analyse,
}

/// Input of the event loop, which is prepared outside the measured time.
#[derive(Debug)]
pub struct Prepared {
    workload: Workload,
    seed: u64,
    range: (u64, u64),
    chamber: Chamber,
    generator: Generator,
    events: Vec<CollisionEvent>,
    ntuple: Vec<u8>,
}

/// Result of an event loop.
#[derive(Debug, Clone, PartialEq)]
pub struct LoopSummary {
    /// Number of events.
    pub events: u64,
    /// Digest of all results. The digest of a union of ranges is the sum, except for `analyse`, whose histogram is one
    /// result.
    pub digest: Digest,
    /// Results of quality by which a reader can check the result: names and values.
    pub quality: Vec<(&'static str, f64)>,
}

impl Workload {
    /// A workload by name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Some(match name {
            "simulate" => Self::Simulate,
            "reconstruct" => Self::Reconstruct,
            "analyse" => Self::Analyse,
            _ => return None,
        })
    }

    /// Prepares `count` events from `first` on: the chamber, and the input of the loop if it has one.
    #[must_use]
    pub fn prepare(self, seed: u64, first: u64, count: u64) -> Prepared {
        let (chamber, generator) = (Chamber::default(), Generator::default());
        let (mut events, mut ntuple) = (Vec::new(), Vec::new());
        match self {
            Self::Simulate => {}
            Self::Reconstruct => {
                events = (first..first + count).map(|number| simulate(&chamber, &generator, seed, number)).collect();
            }
            // Writing to memory cannot fail; if it did, the analysis would report a damaged ntuple.
            Self::Analyse => drop(write_ntuple(&mut ntuple, seed, first, count)),
        }
        Prepared { workload: self, seed, range: (first, first + count), chamber, generator, events, ntuple }
    }
}

impl Prepared {
    /// The event loop.
    ///
    /// # Errors
    /// When the prepared ntuple is damaged.
    pub fn run(&self) -> Result<LoopSummary, Malformed> {
        match self.workload {
            Workload::Simulate => Ok(self.simulate()),
            Workload::Reconstruct => Ok(self.reconstruct()),
            Workload::Analyse => {
                let spectrum = analyse(&self.ntuple[..])?;
                let (pairs, mass) = spectrum.peak(3.10, 0.06);
                let quality = vec![("resonances", pairs), ("mass", mass)];
                Ok(LoopSummary { events: spectrum.events(), digest: spectrum.digest(), quality })
            }
        }
    }

    fn simulate(&self) -> LoopSummary {
        let detector = Detector::new(self.chamber.half_length, self.chamber.field);
        let (mut digest, mut hits, mut energy, mut secondaries) = (Digest::default(), 0, 0.0, 0);
        for number in self.range.0..self.range.1 {
            let event = simulate_detector(&self.chamber, &detector, &self.generator, (self.seed, number));
            digest = digest.plus(event.digest());
            hits += event.hits.len();
            energy += event.calorimeter.iter().sum::<f64>();
            secondaries += event.secondaries;
        }
        let events = self.range.1 - self.range.0;
        let each = |sum: f64| sum / events.max(1) as f64;
        let quality = vec![
            ("hits_per_event", each(hits as f64)),
            ("calorimeter_mev_per_event", each(energy)),
            ("secondaries_per_event", each(secondaries as f64)),
        ];
        LoopSummary { events, digest, quality }
    }

    fn reconstruct(&self) -> LoopSummary {
        let (mut sum, mut acceptance) = (Digest::default(), Acceptance::default());
        for event in &self.events {
            let tracks = reconstruct(&self.chamber, &event.hits);
            sum = sum.plus(digest(event.number, &tracks));
            acceptance.add(event, &tracks);
        }
        let quality = vec![
            ("efficiency", acceptance.efficiency()),
            ("fakes", acceptance.fake_rate()),
            ("chi_square", acceptance.chi_square_per_degree()),
        ];
        LoopSummary { events: self.events.len() as u64, digest: sum, quality }
    }
}
