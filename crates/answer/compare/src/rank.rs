//! Ranks of machines on one result, each with its interval.
//!
//! Pairs are tested with Holm over the row; machines that do not differ share a rank interval.

use model::{Better, Verdict};
use serde::{Deserialize, Serialize};
use stats::distribution::{normal_cdf, normal_quantile};
use stats::rank::Ordered;
use stats::rank_intervals;

/// Rank of a machine, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rank {
    /// Rank by value alone; equal values share the better rank.
    pub place: usize,
    /// Best possible rank: one more than the number of machines that are significantly better.
    pub low: usize,
    /// Worst possible rank.
    pub high: usize,
}

/// One machine's result for ranking.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RankEntry {
    /// Index of the run.
    pub(crate) run: usize,
    /// Logarithm of the value.
    pub(crate) log: f64,
    /// Standard deviation of that logarithm from its interval; `None` without spread.
    pub(crate) error: Option<f64>,
    /// Standard deviation between its sessions.
    pub(crate) floor: f64,
    /// Whether the report's verdict against the reference is one on these values; true for the reference itself.
    pub(crate) judged: bool,
    /// That verdict; `None` for the reference itself.
    pub(crate) against_reference: Option<Verdict>,
}

/// Rules for the whole row.
pub(crate) struct RankRules<'a> {
    pub(crate) better: Better,
    pub(crate) reference: usize,
    pub(crate) level: f64,
    pub(crate) band: f64,
    /// Whether two runs, given by index, are of one session.
    pub(crate) one_session: &'a dyn Fn(usize, usize) -> bool,
}

/// Ranks in the order of `entries`.
///
/// A pair with the reference has the verdict of the report where that is on these values. Every other pair is tested by
/// the two intervals, which is fast for a hundred machines.
pub(crate) fn ranks(entries: &[RankEntry], rules: &RankRules) -> Vec<Rank> {
    let mut pairs: Vec<(usize, usize, f64)> = Vec::new();
    let mut different: Vec<(usize, usize)> = Vec::new();
    let z = normal_quantile(0.5 + rules.level / 2.0);
    for i in 0..entries.len() {
        for j in i + 1..entries.len() {
            let (a, b) = (&entries[i], &entries[j]);
            if (a.run == rules.reference || b.run == rules.reference) && a.judged && b.judged {
                if a.against_reference.or(b.against_reference).is_some_and(Verdict::differs) {
                    different.push((i, j));
                }
            } else if let Some(error) = pair_error(a, b, rules)
                && error > 0.0
            {
                let distance = (a.log - b.log).abs();
                let clear = distance - z * error > rules.band;
                pairs.push((i, j, if clear { 2.0 * normal_cdf(-distance / error) } else { 1.0 }));
            }
        }
    }
    let adjusted = stats::holm(&pairs.iter().map(|pair| pair.2).collect::<Vec<_>>());
    let significant = pairs.iter().zip(adjusted).filter(|(_, p)| *p <= 1.0 - rules.level);
    different.extend(significant.map(|((i, j, _), _)| (*i, *j)));
    let ahead = |a: usize, b: usize| match rules.better {
        Better::Lower => entries[a].log < entries[b].log,
        Better::Higher => entries[a].log > entries[b].log,
    };
    let order = |&(i, j): &(usize, usize)| {
        if ahead(i, j) { Ordered { better: i, worse: j } } else { Ordered { better: j, worse: i } }
    };
    let ordered: Vec<Ordered> = different.iter().map(order).collect();
    let place = |i: usize| 1 + (0..entries.len()).filter(|&j| ahead(j, i)).count();
    let intervals = rank_intervals(entries.len(), &ordered);
    intervals
        .iter()
        .enumerate()
        .map(|(i, ranks)| Rank { place: place(i), low: ranks.best, high: ranks.worst })
        .collect()
}

fn pair_error(a: &RankEntry, b: &RankEntry, rules: &RankRules) -> Option<f64> {
    let samples = a.error?.hypot(b.error?);
    Some(if (rules.one_session)(a.run, b.run) { samples } else { samples.hypot(a.floor.hypot(b.floor)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(logs: &[f64], error: Option<f64>) -> Vec<RankEntry> {
        // The reference is run 99, which is not among them: every pair is tested here.
        logs.iter()
            .enumerate()
            .map(|(run, &log)| RankEntry { run, log, error, floor: 0.0, judged: true, against_reference: None })
            .collect()
    }

    fn rank(logs: &[f64], error: Option<f64>, better: Better) -> Vec<(usize, usize, usize)> {
        let rules = RankRules { better, reference: 99, level: 0.95, band: 0.02, one_session: &|_, _| true };
        ranks(&entries(logs, error), &rules).iter().map(|rank| (rank.place, rank.low, rank.high)).collect()
    }

    #[test]
    fn clear_differences_give_single_ranks() {
        assert_eq!(rank(&[0.0, 1.0, 2.0], Some(0.01), Better::Lower), [(1, 1, 1), (2, 2, 2), (3, 3, 3)]);
        assert_eq!(rank(&[0.0, 1.0, 2.0], Some(0.01), Better::Higher), [(3, 3, 3), (2, 2, 2), (1, 1, 1)]);
    }

    #[test]
    fn indistinguishable_machines_share_an_interval() {
        assert_eq!(rank(&[0.0, 0.005, 1.0], Some(0.01), Better::Lower), [(1, 1, 2), (2, 1, 2), (3, 3, 3)]);
        assert_eq!(rank(&[0.0, 0.0, 1.0], None, Better::Lower), [(1, 1, 3), (1, 1, 3), (3, 1, 3)]);
    }
}
