//! Values of a row that order the machines.

use model::{BenchmarkResult, Definition, Outcome, ValueBasis};

use super::align::Aligned;
use super::assumed::standard_error;
use super::rank::{RankEntry, RankRules, ranks};
use super::ratio_basis::RatioBasis;
use super::relation::Relation;
use super::report::ComparisonInput;
use super::result::Ratio;
use super::result_view::ResultView;
use super::session::relation;

impl ComparisonInput<'_> {
    /// A result in an order of machines: of core results time at the clock that the machine showed. If one machine has
    /// no clean value, all of them enter with their `raw` values.
    fn rank_entry(&self, run: usize, result: &BenchmarkResult, ratio: &Ratio, raw: bool) -> Option<RankEntry> {
        if matches!(ratio.definition, Definition::Other(_)) {
            return None;
        }
        let core = *result.basis() == ValueBasis::Cycles;
        let clock = self.clocks[run].filter(|_| core && !raw);
        let outcome = match clock {
            Some(clock) => ResultView::at(result, clock.hertz).outcome.into_owned(),
            None if raw => ResultView::raw(result).outcome.into_owned(),
            None => ratio.outcome.clone()?,
        };
        let Outcome::Measured(estimate) = &outcome else { return None };
        let error = standard_error(estimate).filter(|_| estimate.is_sure());
        // A verdict on another basis does not apply to these values.
        let judged = run == self.reference || !raw || ratio.basis == RatioBasis::Raw;
        (estimate.value > 0.0 && estimate.value.is_finite()).then(|| RankEntry {
            run,
            log: estimate.value.ln(),
            error: error.map(|error| error.hypot(clock.map_or(0.0, |clock| clock.error()))),
            floor: match raw {
                true => result.class.session_noise(),
                false => self.history.own_deviation(self.runs[run], result, self.options.level, clock.is_some()),
            },
            judged,
            against_reference: ratio.core.map_or(ratio.verdict, |core| core.time.verdict),
        })
    }

    /// Sets the places of the machines on one result.
    pub(super) fn rank(&self, row: &Aligned, ratios: &mut [Ratio]) {
        let raw = ratios.iter().any(|ratio| ratio.basis == RatioBasis::Raw);
        let entries: Vec<RankEntry> =
            (0..ratios.len()).filter_map(|run| self.rank_entry(run, row.results[run]?, &ratios[run], raw)).collect();
        let one_session = |a: usize, b: usize| relation(self.runs[a], self.runs[b]) == Relation::SameSession;
        let rules = RankRules {
            better: row.model(self.reference).metric.better,
            reference: self.reference,
            level: self.options.level,
            band: self.options.band,
            one_session: &one_session,
        };
        if entries.len() > 1 {
            for (entry, rank) in entries.iter().zip(ranks(&entries, &rules)) {
                ratios[entry.run].rank = Some(rank);
            }
        }
    }
}
