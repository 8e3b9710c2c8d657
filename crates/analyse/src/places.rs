//! Where a host had pairs of CPUs over time, by what a cache line takes between them.

use model::{DistanceSamples, HostRecord, Share};
use serde::Serialize;

use crate::host::{Spells, spells_of};

/// Smallest factor between hand-overs of CPUs that are at different places: another cache or package takes twice as
/// long and more, a busy link or a slower clock less.
const APART: f64 = 1.6;
/// Smallest share of the readings of a place.
const LEAST: f64 = 0.02;

/// One distance of two CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Place {
    /// Median time of a hand-over, seconds.
    pub transfer: f64,
    /// Share of the readings at it.
    pub share: Share,
    /// How long they stayed.
    pub spells: Spells,
}

/// Where two CPUs were.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairPlaces {
    /// The CPUs.
    pub cpus: [u32; 2],
    /// Their distances, that of most of the time first.
    pub places: Vec<Place>,
    /// Mean time of a hand-over in equal parts of the time, seconds; `None` where none was read.
    pub cells: Vec<Option<f64>>,
}

/// The places of every pair that a watch of the host read, with pictures of so many columns.
#[must_use]
pub fn places(record: &HostRecord, columns: usize) -> Vec<PairPlaces> {
    let Some(first) = record.references.samples.cpu.0.first() else { return Vec::new() };
    let mut others: Vec<u32> = record.distances.cpu.0.clone();
    others.sort_unstable();
    others.dedup();
    others.into_iter().map(|other| of_pair([*first, other], &record.distances, record.seconds, columns)).collect()
}

fn of_pair(cpus: [u32; 2], samples: &DistanceSamples, seconds: f64, columns: usize) -> PairPlaces {
    let rows = samples.millis.0.iter().zip(&samples.cpu.0).zip(&samples.picos.0);
    let rows: Vec<(f64, f64)> = rows
        .filter(|((_, cpu), _)| **cpu == cpus[1])
        .map(|((millis, _), picos)| (f64::from(*millis) * 1e-3, f64::from(*picos) * 1e-12))
        .collect();
    let mut sorted: Vec<f64> = rows.iter().map(|(_, transfer)| *transfer).collect();
    sorted.sort_by(f64::total_cmp);
    let place = |level: &[f64]| {
        let (low, high) = (*level.first()?, *level.last()?);
        let share = Share::of(level.len() as f64, rows.len() as f64).filter(|share| share.get() >= LEAST)?;
        let ends = rows.iter().skip(1).map(|(began, _)| *began).chain([seconds]);
        let at = rows
            .iter()
            .zip(ends)
            .map(|((began, transfer), end)| ((low..=high).contains(transfer), (end - began).max(0.0)));
        Some(Place { transfer: stats::median(level)?, share, spells: spells_of(&at.collect::<Vec<_>>()) })
    };
    let mut places: Vec<Place> = sorted.chunk_by(|one, next| *next < APART * *one).filter_map(place).collect();
    places.sort_by(|one, other| other.share.get().total_cmp(&one.share.get()));
    let width = seconds / columns.max(1) as f64;
    let cell = |at: usize| {
        let inside = |began: f64| (began / width) as usize == at;
        let found: Vec<f64> = rows.iter().filter(|(began, _)| inside(*began)).map(|(_, transfer)| *transfer).collect();
        (!found.is_empty()).then(|| found.iter().sum::<f64>() / found.len() as f64)
    };
    PairPlaces { cpus, places, cells: (0..columns).map(cell).collect() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use model::SmallSteps;

    use super::*;

    /// Ten seconds of three CPUs, read every 0.2 s: CPU 1 is elsewhere from 4 to 7 s, CPU 2 stays where it is.
    fn record() -> HostRecord {
        let mut record = HostRecord { seconds: 10.0, ..HostRecord::default() };
        record.references.samples.cpu = SmallSteps(vec![0]);
        for at in 0..50_u32 {
            let millis = at * 200;
            let moved = if (4000..7000).contains(&millis) { 180_000 } else { 40_000 + 100 * (at % 7) };
            for (cpu, picos) in [(1, moved), (2, 41_000 + 300 * (at % 5))] {
                record.distances.millis.0.push(millis);
                record.distances.cpu.0.push(cpu);
                record.distances.picos.0.push(picos);
            }
        }
        record
    }

    #[test]
    fn a_pair_that_was_moved_has_two_places() {
        let found = places(&record(), 10);
        let moved = &found[0];
        assert_eq!((moved.cpus, moved.places.len()), ([0, 1], 2));
        let [near, far] = moved.places[..] else { panic!("{moved:?}") };
        assert!((near.transfer - 40.3e-9).abs() < 0.5e-9 && (far.transfer - 180e-9).abs() < 1e-12, "{moved:?}");
        assert!((far.share.get() - 0.3).abs() < 0.001 && far.spells.count == 1 && near.spells.count == 2);
        assert!((far.spells.longest - 3.0).abs() < 0.01, "{far:?}");
        assert!(moved.cells[5].unwrap() > 100e-9 && moved.cells[0].unwrap() < 50e-9);
        let still = &found[1];
        assert_eq!((still.cpus, still.places.len()), ([0, 2], 1));
        assert!(places(&HostRecord::default(), 10).is_empty());
    }
}
