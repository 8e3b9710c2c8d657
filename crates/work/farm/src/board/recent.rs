//! The rate of the last commits. Commits come in bursts: slots that began together end together, so a rate over a few
//! seconds is that of a burst or of a pause. A window that holds each slot's chunks a whole number of times is neither.

use std::collections::VecDeque;

/// Seconds that a window spans at least, if there are commits for it.
const WINDOW: f64 = 10.0;
/// Commits that are kept, at most.
const MAX_KEPT: usize = 40_000;
/// Rounds of all slots that are kept.
const ROUNDS: usize = 8;

/// The last commits.
#[derive(Debug, Clone, Default)]
pub(super) struct RecentCommits {
    /// Time, seconds, and events.
    commits: VecDeque<(f64, u64)>,
    /// The most slots that there were at one time.
    slots: usize,
}

impl RecentCommits {
    pub(super) fn add(&mut self, now: f64, events: u64, slots: u32) {
        self.slots = self.slots.max(slots as usize).max(1);
        self.commits.push_back((now, events));
        let keep = (ROUNDS * self.slots + 1).max(64).min(MAX_KEPT.max(self.slots + 1));
        while self.commits.len() > keep {
            self.commits.pop_front();
        }
    }

    /// Events a second over the fewest whole rounds that span the window; `None` before the first round.
    pub(super) fn rate(&self, now: f64) -> Option<f64> {
        let last = self.commits.len().checked_sub(1)?;
        let end = self.commits[last].0;
        let mut found = None;
        for rounds in 1.. {
            let Some(first) = last.checked_sub(rounds * self.slots) else { break };
            let seconds = end - self.commits[first].0;
            if seconds > 0.0 {
                found = Some((first, seconds, rounds));
            }
            if seconds >= WINDOW {
                break;
            }
        }
        let (first, seconds, rounds) = found?;
        let events: u64 = self.commits.range(first + 1..).map(|(_, events)| events).sum();
        // A pause longer than a round means that less is done now.
        let pause = (now - end - seconds / rounds as f64).max(0.0);
        Some(events as f64 / (seconds + pause))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Commits of slots that each take `wall` seconds for a chunk of one event.
    fn farm(slots: u32, wall: f64, seconds: f64) -> (RecentCommits, f64) {
        let mut recent = RecentCommits::default();
        let mut now = wall;
        while now <= seconds {
            (0..slots).for_each(|slot| recent.add(now + 0.01 * f64::from(slot) / f64::from(slots), 1, slots));
            now += wall;
        }
        (recent, seconds)
    }

    #[test]
    fn a_burst_is_not_taken_for_the_rate() {
        // 16 slots, chunks of 4 s: 4 events a second at every moment, also just after a burst.
        for seconds in [8.1, 9.0, 11.9, 12.02, 16.5, 39.0, 40.02] {
            let (recent, now) = farm(16, 4.0, seconds);
            let rate = recent.rate(now).unwrap();
            assert!((rate - 4.0).abs() < 0.05, "{seconds}: {rate}");
        }
        let (recent, now) = farm(16, 4.0, 5.0);
        assert_eq!(recent.rate(now), None, "one burst tells no rate");
        assert_eq!(RecentCommits::default().rate(1.0), None);
    }

    #[test]
    fn a_farm_that_stands_still_slows_down() {
        let (recent, now) = farm(4, 1.0, 20.0);
        let rate = |later: f64| recent.rate(now + later).unwrap();
        assert!((rate(0.5) - 4.0).abs() < 0.05 && rate(30.0) < 1.5 && rate(300.0) < 0.2);
    }
}
