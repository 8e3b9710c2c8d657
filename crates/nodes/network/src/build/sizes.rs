//! Sizes of fragments and moments of events. They follow from the job alone, so they are the same at every node.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::message::{Arrivals, BuildJob, CHUNK, SizeDistribution};
use crate::pattern::mixed;

/// Largest random fragment, in multiples of the mean.
const LONGEST: u32 = 16;

impl BuildJob {
    /// Size of one sender's fragment of an event, bytes; at least one.
    #[must_use]
    pub fn length(&self, event: u32, sender: u32) -> u32 {
        let drawn = || mixed(mixed(u64::from(self.seed) << 32 | u64::from(event)) ^ u64::from(sender));
        match &self.sizes {
            SizeDistribution::Fixed => self.fragment,
            SizeDistribution::Exponential => {
                let uniform = (drawn() >> 11) as f64 / (1_u64 << 53) as f64;
                let bytes = -f64::from(self.fragment) * (1.0 - uniform).ln();
                (bytes as u32).clamp(1, self.fragment.saturating_mul(LONGEST))
            }
            SizeDistribution::Measured(all) => {
                all.get(drawn() as usize % all.len().max(1)).copied().unwrap_or(1).max(1)
            }
        }
    }
}

impl BuildJob {
    /// Datagrams of one sender's fragment, at most.
    pub(super) fn most_chunks(&self) -> u32 {
        let most = match &self.sizes {
            SizeDistribution::Fixed => self.fragment,
            SizeDistribution::Exponential => self.fragment.saturating_mul(LONGEST),
            SizeDistribution::Measured(all) => all.iter().copied().max().unwrap_or(1).max(1),
        };
        most.div_ceil(CHUNK)
    }
}

/// Moments at which events are due.
pub(super) struct EventTimes {
    every: f64,
    drawn: Vec<u64>,
}

impl EventTimes {
    pub(super) fn of(job: &BuildJob) -> Self {
        let every = job.rate.map_or(0.0, |rate| 1e9 / rate);
        let mut drawn = Vec::new();
        if job.arrivals == Arrivals::Poisson && every > 0.0 {
            let mut random = ChaCha8Rng::seed_from_u64(u64::from(job.seed));
            let mut at = 0.0;
            drawn.extend((0..job.events).map(|_| {
                let uniform: f64 = random.random();
                at -= every * (1.0 - uniform).ln();
                at as u64
            }));
        }
        Self { every, drawn }
    }

    /// Moment of an event in nanoseconds, by the clock of `began`.
    pub(super) fn due(&self, began: u64, event: u32) -> u64 {
        began + self.drawn.get(event as usize).copied().unwrap_or((f64::from(event) * self.every) as u64)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::message::{PushPattern, Transport};
    use super::*;

    pub(in super::super) fn job(sizes: SizeDistribution, arrivals: Arrivals) -> BuildJob {
        BuildJob {
            senders: 4,
            receivers: 2,
            fragment: 1_000,
            events: 20_000,
            rate: Some(1_000.0),
            pattern: PushPattern::Pull,
            transport: Transport::Credits { credits: 4 },
            seed: 3,
            sizes,
            arrivals,
        }
    }

    #[test]
    fn random_sizes_and_moments_have_the_requested_means() {
        let job = job(SizeDistribution::Exponential, Arrivals::Poisson);
        let sum: u64 = (0..20_000).map(|event| u64::from(job.length(event, 1))).sum();
        // The standard error of the mean is 1000 / sqrt(20000) = 7.
        assert!((sum as f64 / 20_000.0 - 1_000.0).abs() < 40.0, "{sum}");
        assert_ne!(job.length(5, 1), job.length(5, 2));
        let times = EventTimes::of(&job);
        let last = times.due(0, 19_999) as f64 * 1e-9;
        assert!((last / 20.0 - 1.0).abs() < 0.04, "{last}");
        assert!((1..20_000).all(|event| times.due(9, event) >= times.due(9, event - 1)));
    }

    #[test]
    fn fixed_and_measured_sizes_are_kept() {
        let fixed = job(SizeDistribution::Fixed, Arrivals::Regular);
        assert_eq!(
            (fixed.length(0, 0), fixed.length(7, 3), EventTimes::of(&fixed).due(10, 2)),
            (1_000, 1_000, 2_000_010)
        );
        let measured = job(SizeDistribution::Measured(vec![10, 20]), Arrivals::Regular);
        let lengths: Vec<u32> = (0..50).map(|event| measured.length(event, 0)).collect();
        assert!(lengths.contains(&10) && lengths.contains(&20) && lengths.iter().all(|one| [10, 20].contains(one)));
    }

    #[test]
    fn only_a_receiver_whose_events_others_can_ask_for_is_lost() {
        let pulls = BuildJob { receivers: 3, ..job(SizeDistribution::Fixed, Arrivals::Regular) };
        assert!((0..3).all(|receiver| pulls.check_loss(receiver).is_ok()));
        let said = |job: &BuildJob, receiver| job.check_loss(receiver).unwrap_err().to_string();
        for receiver in [3, u32::MAX] {
            assert!(said(&pulls, receiver).ends_with(&format!("no receiver {receiver} to lose; they are 0 to 2")));
        }
        assert!(said(&BuildJob { receivers: 1, ..pulls.clone() }, 0).contains("another one is left"));
        let pushes = BuildJob { transport: Transport::Datagrams, pattern: PushPattern::Burst, ..pulls };
        assert!(said(&pushes, 0).contains("only be lost with credits"));
    }
}
