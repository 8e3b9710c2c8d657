//! Bursts: executions that follow one another at once, as those of people who run a command again and again do.
//!
//! The first execution after a pause finds caches that others have filled: it takes up to twice as long, and is apart.
//! Executions of one burst meet the same state of the machine, so that a burst is one value. That value is the mean: of
//! a burst that was disturbed for a part of its time the median would show nothing, and other tools print means.

use model::{BenchmarkResult, Metric, Parameters, Unit};

use super::AXIS;
use crate::campaign::result;
use crate::launch::LaunchSpec;

/// Benchmark of the time of a first execution after a pause.
pub const COLD: &str = "command.cold";
/// Most bursts of a command, unless another number or a time limit is requested.
pub const BURSTS: u32 = 20;
/// Least time from the beginning of a round of bursts to that of the next, seconds. Bursts should see the machine at
/// different moments, and [`BURSTS`] of them should end within five seconds.
pub const BURST_SPACING: f64 = 0.2;
/// Time of the executions of a burst, seconds. Longer commands are executed once per sample, without a separate first
/// execution: little of their time depends on the caches.
const BURST: f64 = 0.1;
/// Most executions of a burst.
const MOST: f64 = 1000.0;

/// How many executions a sample has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BurstRule {
    /// One.
    Single,
    /// The number that takes a tenth of a second.
    Usual,
    /// These many in all samples together.
    Counted {
        /// Executions.
        executions: u32,
        /// Samples.
        samples: u32,
    },
}

impl BurstRule {
    /// `executions` in at most `samples` samples.
    #[must_use]
    pub fn counted(executions: u32, samples: u32) -> Self {
        Self::Counted { executions, samples: samples.min(executions).max(1) }
    }

    /// Executions of the sample of a round that count, if `usual` of them take as long as a burst.
    pub(super) fn in_round(self, round: u32, usual: u32) -> u32 {
        match self {
            Self::Single => 1,
            Self::Usual => usual,
            Self::Counted { executions, samples } => {
                executions / samples + u32::from(round % samples < executions % samples)
            }
        }
    }
}

/// Executions of a command in a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pace {
    /// Those that count.
    pub(super) counted: u32,
    /// Whether one precedes them that does not.
    pub(super) first_apart: bool,
}

impl Pace {
    /// One execution.
    pub(super) const ONE: Self = Self { counted: 1, first_apart: false };

    /// A burst of a command whose execution takes `seconds`.
    pub(super) fn of(seconds: f64) -> Self {
        if seconds >= BURST {
            return Self::ONE;
        }
        Self { counted: (BURST / seconds).ceil().clamp(1.0, MOST) as u32, first_apart: true }
    }

    /// The specification with these executions.
    pub(super) fn applied(self, spec: LaunchSpec) -> LaunchSpec {
        let executions = self.counted + u32::from(self.first_apart);
        LaunchSpec { executions, first_apart: self.first_apart, ..spec }
    }

    /// The first of the times, if it is apart, and those that count. A burst that broke off after its first execution
    /// has that one.
    pub(super) fn split(self, walls: &[f64]) -> (Option<f64>, &[f64]) {
        match walls {
            [first, rest @ ..] if self.first_apart && !rest.is_empty() => (Some(*first), rest),
            _ => (None, walls),
        }
    }
}

/// The result of first executions of a command.
pub(super) fn cold_result(command: &str) -> BenchmarkResult {
    let parameters = Parameters::none().with(AXIS, command.to_owned());
    let metric = Metric::lower(Unit::Seconds, "execution");
    result(COLD.to_owned(), parameters, "cold time (first run after a pause)".to_owned(), metric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_executions_is_divided_over_samples() {
        let each = |executions: u32, samples: u32| -> Vec<u32> {
            let BurstRule::Counted { samples, .. } = BurstRule::counted(executions, samples) else {
                return Vec::new();
            };
            (0..samples).map(|round| BurstRule::counted(executions, samples).in_round(round, 50)).collect()
        };
        assert_eq!(each(3, 20), [1, 1, 1]);
        assert_eq!(each(10, 4), [3, 3, 2, 2]);
        assert_eq!((each(1000, 20).len(), each(1000, 20)[0]), (20, 50));
    }

    #[test]
    fn short_commands_have_long_bursts_and_long_ones_none() {
        assert_eq!(Pace::of(0.002), Pace { counted: 50, first_apart: true });
        assert_eq!(Pace::of(0.04), Pace { counted: 3, first_apart: true });
        assert_eq!(Pace::of(0.5), Pace::ONE);
        assert_eq!(Pace::of(1e-9).counted, 1000);
        let burst = Pace::of(0.04);
        assert_eq!(burst.applied(LaunchSpec::default()).executions, 4);
        assert_eq!(burst.split(&[3.0, 1.0, 1.0]), (Some(3.0), &[1.0, 1.0][..]));
        assert_eq!(burst.split(&[3.0]), (None, &[3.0][..]));
        assert_eq!(Pace::ONE.split(&[3.0]), (None, &[3.0][..]));
    }
}
