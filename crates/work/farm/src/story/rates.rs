//! Events a second while all slots work.
//!
//! Commits come in bursts: slots that began together end together, so rates between single commits are those of bursts
//! and of pauses. A window here holds as many commits as there are slots, or a multiple of that, and lasts at least as
//! long as all but the longest chunks. It thus holds whole chunks of each slot (batch means: Law, Simulation Modeling
//! and Analysis, 5th edition, 9.5.3). The first and the last commit of each slot do not count: there, some slots have
//! not begun or have no work.

use model::Estimate;

use super::outcome;
use crate::Result;
use crate::ledger::Ledger;

/// Most windows: with more of them, the median of skewed windows would differ from their mean.
const MOST: usize = 20;
/// Fewest commits of a window, for the same reason.
const FEWEST: usize = 16;
/// Walls of chunks that are looked at.
const SAMPLE: usize = 4096;
/// The share of chunks that a window is longer than.
const SHARE: f64 = 0.95;
/// Differences that slots of equal chunks have, of a window.
const JITTER: f64 = 0.05;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Window {
    /// Seconds since the run began.
    pub(super) began: f64,
    /// Seconds.
    pub(super) wall: f64,
    /// Events a second.
    pub(super) rate: f64,
}

/// The windows of the commits.
#[derive(Debug, Clone)]
pub(super) struct RatePlan {
    /// Commits of a window; 0: there are too few commits.
    size: usize,
    /// Commits before the first window, and the number of the last commit of the last window.
    ends: (usize, usize),
    seen: usize,
    open: Option<(f64, u64)>,
    windows: Vec<Window>,
}

/// The rates of a run.
#[derive(Debug, Clone, Default)]
pub(super) struct Rates {
    pub(super) windows: Vec<Window>,
    /// Commits in all windows.
    commits: usize,
}

impl RatePlan {
    /// Plans the windows of a run with this many slots.
    pub(super) fn read(ledger: &dyn Ledger, slots: usize) -> Result<Self> {
        let total = ledger.totals()?.commits as usize;
        let (mut walls, mut seen) = (Vec::new(), 0);
        let step = total.div_ceil(SAMPLE).max(1);
        let slots = slots.max(1);
        let mut times = (0.0, 0.0);
        ledger.commits(&mut |commit| {
            if usize::is_multiple_of(seen, step) {
                walls.extend(commit.offer.done.wall);
            }
            seen += 1;
            if seen == slots {
                times.0 = commit.when.since;
            }
            if seen + slots == total {
                times.1 = commit.when.since;
            }
        })?;
        let long = stats::quantile(&walls, SHARE).unwrap_or_default();
        Ok(Self::new(total, slots, times.1 - times.0, long))
    }

    /// Windows for `total` commits of `slots` slots, which took `seconds` without start and end; `long` is the time of
    /// a long chunk, seconds.
    fn new(total: usize, slots: usize, seconds: f64, long: f64) -> Self {
        let none = Self { size: 0, ends: (0, 0), seen: 0, open: None, windows: Vec::new() };
        let usable = total.saturating_sub(2 * slots);
        if usable == 0 || seconds <= 0.0 {
            return none;
        }
        let a_round = seconds * slots as f64 / usable as f64;
        let rounds = ((long / a_round - JITTER).ceil().max(1.0) as usize)
            .max(FEWEST.div_ceil(slots))
            .max(usable.div_ceil(MOST * slots));
        let size = rounds * slots;
        Self { size, ends: (slots, slots + usable / size * size), ..none }
    }

    pub(super) fn add(&mut self, since: f64, events: u64) {
        self.seen += 1;
        if self.size == 0 || self.seen < self.ends.0 || self.seen > self.ends.1 {
            return;
        }
        if self.seen == self.ends.0 {
            self.open = Some((since, 0));
            return;
        }
        let Some((began, sum)) = &mut self.open else { return };
        *sum += events;
        let wall = since - *began;
        if (self.seen - self.ends.0).is_multiple_of(self.size) && wall > 0.0 {
            self.windows.push(Window { began: *began, wall, rate: *sum as f64 / wall });
            self.open = Some((since, 0));
        }
    }

    pub(super) fn end(self) -> Rates {
        Rates { commits: self.windows.len() * self.size, windows: self.windows }
    }
}

impl Rates {
    /// The median rate of the windows with its interval and notes. The interval is at least one commit more or less in
    /// all windows together.
    pub(super) fn estimate(&self) -> Option<(Estimate, Vec<String>)> {
        let values: Vec<f64> = self.windows.iter().map(|window| window.rate).collect();
        let (model::Outcome::Measured(mut estimate), notes) = outcome(&values) else { return None };
        if estimate.has_spread() {
            let edge = 1.0 / self.commits.max(1) as f64;
            estimate.low = estimate.low.min(estimate.value * (1.0 - edge));
            estimate.high = estimate.high.max(estimate.value * (1.0 + edge));
        }
        Some((estimate, notes))
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Commits of slots whose chunks take the time that `wall` draws for them, and the rates of the run.
    fn simulated(slots: usize, chunks: usize, mut wall: impl FnMut(usize) -> f64) -> Rates {
        let mut free: Vec<f64> = vec![0.0; slots];
        let mut commits = Vec::new();
        for _ in 0..chunks {
            let slot = (0..slots).min_by(|a, b| free[*a].total_cmp(&free[*b])).unwrap();
            let took = wall(slot);
            free[slot] += took;
            commits.push((free[slot], took));
        }
        commits.sort_by(|a, b| a.0.total_cmp(&b.0));
        let walls: Vec<f64> = commits.iter().map(|(_, wall)| *wall).collect();
        let long = stats::quantile(&walls, SHARE).unwrap();
        let seconds = if chunks > 2 * slots { commits[chunks - slots - 1].0 - commits[slots - 1].0 } else { 0.0 };
        let mut plan = RatePlan::new(chunks, slots, seconds, long);
        commits.iter().for_each(|(at, _)| plan.add(*at, 1));
        plan.end()
    }

    #[test]
    fn equal_chunks_have_the_rate_of_their_slots() {
        // 160 chunks of 4 s on 16 slots: 4 a second, not the hundreds of a burst.
        let rates = simulated(16, 160, |_| 4.0);
        assert_eq!(rates.windows.len(), 8);
        assert!(rates.windows.iter().all(|window| (window.rate - 4.0).abs() < 1e-9), "{rates:?}");
        let (estimate, _) = rates.estimate().unwrap();
        assert!(estimate.low < 4.0 && estimate.high > 4.0 && (estimate.value - 4.0).abs() < 1e-9, "{estimate:?}");
        // Few chunks: no rate of a burst, and no interval.
        for chunks in [1, 16, 20, 32] {
            assert!(simulated(16, chunks, |_| 4.0).estimate().is_none(), "{chunks}");
        }
        let (few, _) = simulated(16, 48, |_| 4.0).estimate().unwrap();
        assert!((few.value - 4.0).abs() < 1e-9 && !few.has_spread(), "{few:?}");
    }

    #[test]
    fn slots_of_different_speed_add_up() {
        // Eight slots of 1 s and eight of 10 s: 8.8 a second.
        let rates = simulated(16, 900, |slot| if slot < 8 { 1.0 } else { 10.0 });
        let (estimate, _) = rates.estimate().unwrap();
        assert!(estimate.low <= 8.8 && estimate.high >= 8.8 && (estimate.value - 8.8).abs() < 0.5, "{estimate:?}");
    }

    /// How often the interval holds the true rate, when its level is the usual one.
    fn coverage(
        slots: usize,
        chunks: usize,
        trials: usize,
        seed: u64,
        draw: impl Fn(&mut ChaCha8Rng) -> f64,
    ) -> (f64, usize) {
        let (mut held, mut told) = (0, 0);
        for trial in 0..trials {
            let mut random = ChaCha8Rng::seed_from_u64(seed + trial as u64);
            let rates = simulated(slots, chunks, |_| draw(&mut random));
            let Some((estimate, _)) = rates.estimate() else { continue };
            if estimate.level < super::super::LEVEL {
                continue;
            }
            // Every draw has a mean of 4 s.
            let truth = slots as f64 / 4.0;
            told += 1;
            held += usize::from(estimate.low <= truth && truth <= estimate.high);
        }
        (held as f64 / told.max(1) as f64, told)
    }

    #[test]
    fn intervals_hold_the_true_rate_as_often_as_they_say() {
        let trials = testing::trials(40, 2_000);
        let exponential = |random: &mut ChaCha8Rng| -4.0 * (1.0 - random.random::<f64>()).ln();
        let narrow = |random: &mut ChaCha8Rng| 3.6 + 0.8 * random.random::<f64>();
        let two = |random: &mut ChaCha8Rng| if random.random::<f64>() < 0.1 { 22.0 } else { 2.0 };
        for (slots, chunks) in [(1, 400), (4, 600), (16, 400), (16, 3_000), (64, 2_000)] {
            for (name, (share, told)) in [
                ("exponential", coverage(slots, chunks, trials, 1, exponential)),
                ("narrow", coverage(slots, chunks, trials, 2, narrow)),
                ("two kinds", coverage(slots, chunks, trials, 3, two)),
            ] {
                // Four standard deviations of the number of trials.
                let slack = 4.0 * (0.95 * 0.05 / told.max(1) as f64).sqrt();
                assert!(
                    told == 0 || share >= 0.95 - slack,
                    "{name}, {slots} slots, {chunks} chunks: {share} of {told}"
                );
            }
        }
    }
}
