//! Would a difference of a known size have been found? A number of false alarms means nothing without it.

use model::{Better, Run};
use serde::{Deserialize, Serialize};
use stats::EquivalenceVerdict;

use super::align::align;
use super::basis::CYCLES_BAND;
use super::options::CompareOptions;
use super::ratio_basis::RatioBasis;
use super::report::{Assessed, ComparisonInput};
use crate::Error;

/// The change for which power is stated: 2% more work.
pub(crate) const PLANTED: f64 = 0.02;

/// How often a planted difference was found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundShare {
    /// Results that came out different, the right way.
    pub found: usize,
    /// Results in which it was planted, one at a time.
    pub of: usize,
}

impl FoundShare {
    /// The share found; `None` where it was planted nowhere.
    #[must_use]
    pub fn share(self) -> Option<f64> {
        (self.of > 0).then(|| self.found as f64 / self.of as f64)
    }

    fn add(&mut self, found: bool) {
        self.of += 1;
        self.found += usize::from(found);
    }
}

/// The power of the comparison against a planted difference, simulated on the samples of the pair.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PlantedPower {
    /// By how much more time every sample of one result of the second run was taken to need.
    pub planted: f64,
    /// In results that are compared in cycles and showed no change without it: what this verdict is worth.
    pub no_change: FoundShare,
    /// In all results that are compared in cycles.
    pub cycles: FoundShare,
    /// In the other results.
    pub others: FoundShare,
}

impl PlantedPower {
    pub(crate) fn add(&mut self, other: &Self) {
        self.planted = other.planted;
        let mine = [&mut self.no_change, &mut self.cycles, &mut self.others];
        for (sum, one) in mine.into_iter().zip([other.no_change, other.cycles, other.others]) {
            (sum.found, sum.of) = (sum.found + one.found, sum.of + one.of);
        }
    }
}

/// Plants the difference in each result of the second run in turn, and computes the verdicts of the whole report each
/// time.
///
/// # Errors
/// When the runs cannot be compared.
pub(crate) fn power(pair: [&Run; 2], options: &CompareOptions) -> Result<PlantedPower, Error> {
    let runs = &pair[..];
    let input = ComparisonInput::new(runs, options)?;
    let (reference, other) = (input.reference, 1 - input.reference);
    let alignment = align(runs, reference, options)?;
    let cells: Vec<Assessed> =
        alignment.rows.iter().filter_map(|row| input.assess(row).into_iter().nth(other)).collect();
    let honest: Vec<f64> = cells.iter().flat_map(Assessed::p_values).collect();
    let adjusted = stats::holm(&honest);
    let mut power = PlantedPower { planted: PLANTED, ..PlantedPower::default() };
    let mut at = 0;
    for (row, cell) in alignment.rows.iter().zip(&cells) {
        let here = at;
        at += cell.p_values().len();
        let (Some(a), Some(b)) = (row.results[reference], row.results[other]) else { continue };
        let Some(known) = cell.known() else { continue };
        let slower = if b.metric.better == Better::Lower { 1.0 + PLANTED } else { 1.0 / (1.0 + PLANTED) };
        let Some(planted) = input.planted(a, other, b, slower) else { continue };
        let mut p_values = honest.clone();
        p_values.splice(here..at, planted.p_values());
        let cycles = planted.basis == RatioBasis::Cycles;
        let band = if cycles { options.band * CYCLES_BAND } else { options.band };
        let found = planted.known().is_some_and(|known| {
            let right = (known.shift > 0.0) == (b.metric.better == Better::Lower);
            right && stats::verdict(known, stats::holm(&p_values)[here], band) == EquivalenceVerdict::Different
        });
        if !cycles {
            power.others.add(found);
            continue;
        }
        power.cycles.add(found);
        if stats::verdict(known, adjusted[here], band) == EquivalenceVerdict::NoChange {
            power.no_change.add(found);
        }
    }
    Ok(power)
}
