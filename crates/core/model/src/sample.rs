//! One fresh process that measured.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::distance::nanos_words;
use crate::{CleanBatches, Footprint, SampleSensors, TakenTime};

/// Outside evidence that a sample was disturbed. An unusual value is never such evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Invalid {
    /// The machine was suspended for this many seconds.
    Suspended(f64),
    /// The wall clock was stepped by this many seconds.
    ClockJump(f64),
    /// The hypervisor took CPU time from the rounds in which it ran.
    Stolen(TakenTime),
    /// A control group's quota of CPU time stopped it.
    Throttled(TakenTime),
    /// A thread or process of the result was not on the CPU requested for it.
    Misplaced(Placement),
    /// Too few of its batches were clean: another thread was on the core, or the clock moved.
    SharedCore {
        /// Clean batches (of a difference: pairs).
        batches: u32,
        /// Of how many.
        of: u32,
    },
    /// The host had moved two of its CPUs: a cache line took `picos` picoseconds between them, and `usual` for most of
    /// the run.
    Moved {
        /// Picoseconds of a hand-over during this sample.
        picos: u32,
        /// For most of the run.
        usual: u32,
    },
    /// Other programs took its CPU. It ran for `ran` of the time of its batches, other samples of the result for
    /// `usual`, in CPU seconds a second.
    Preempted {
        /// Of this sample.
        ran: f64,
        /// Value of a sample that ran for most of its time.
        usual: f64,
    },
    /// The device lowered its clock, for this reason.
    DeviceThrottled(String),
    /// Its operation offers the CPU, and other threads took it, so their work was timed.
    HandedOver {
        /// Batches in which they did.
        batches: u32,
        /// Of how many.
        of: u32,
    },
}

impl fmt::Display for Invalid {
    /// As a clause: "the hypervisor took 10 ms of 0.41 s".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Suspended(seconds) => write!(f, "the machine slept for {seconds:.1} s"),
            Self::ClockJump(seconds) => write!(f, "the clock was set by {seconds:.3} s"),
            Self::Stolen(taken) => write!(f, "the hypervisor took {taken}"),
            Self::Throttled(taken) => write!(f, "a control group's quota stopped it for {taken}"),
            Self::Misplaced(placement) => {
                write!(f, "its parties were seen on CPUs {:?} and belong on {:?}", placement.seen, placement.asked)
            }
            Self::SharedCore { batches, of } => {
                write!(f, "only {batches} of its {of} batches had the core to themselves at a steady clock")
            }
            Self::Moved { picos, usual } => {
                let [here, usual] = [*picos, *usual].map(nanos_words);
                write!(
                    f,
                    "the host had moved its CPUs: a cache line took {here} between them, {usual} for most of the run"
                )
            }
            Self::Preempted { ran, usual } => {
                let [ran, usual] = [ran, usual].map(|share| share * 100.0);
                write!(f, "other programs took its CPU: it ran for {ran:.0}% of the time, others for {usual:.0}%")
            }
            Self::DeviceThrottled(why) => write!(f, "the device lowered its clock because of {why}"),
            Self::HandedOver { batches, of } => {
                write!(f, "other threads wanted its CPU, and took it in {batches} of its {of} batches")
            }
        }
    }
}

/// Requested and actual CPUs of a sample's threads and processes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Placement {
    /// CPU requested for each; empty when the scheduler was free.
    pub asked: Vec<u32>,
    /// CPUs on which each ran, before and after the batches.
    pub seen: Vec<Vec<u32>>,
}

impl Placement {
    /// Whether each ran only on its requested CPU.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.asked.is_empty()
            || self.asked.iter().zip(&self.seen).all(|(asked, seen)| seen.iter().all(|cpu| cpu == asked))
    }
}

/// Operations of a batch, and its duration in nanoseconds.
pub type TimedBatch = (u64, u64);

/// Whether the work of a paired sample comes first in this pair, counted from 0. The order is work, overhead, overhead,
/// work, and again: a steady drift affects both sides alike.
#[must_use]
pub const fn work_first(pair: usize) -> bool {
    pair.is_multiple_of(2)
}

/// Splits measurements of a paired sample in the order of time into work and overhead, each in the order of time: equal
/// positions are pairs. A measurement without a partner is left out.
#[must_use]
pub fn split_pairs<T: Copy>(taken: &[T]) -> (Vec<T>, Vec<T>) {
    let pairs = taken.chunks_exact(2).enumerate();
    pairs.map(|(pair, two)| if work_first(pair) { (two[0], two[1]) } else { (two[1], two[0]) }).unzip()
}

/// Result of one fresh process for one result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sample {
    /// Round in which it ran, from 0.
    pub round: u32,
    /// Start, seconds after the session began.
    pub began: f64,
    /// Duration including preparation, seconds.
    pub wall: f64,
    /// Whether it began when its core had been seen exclusive, or after waiting for that without success.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waited_for_core: bool,
    /// Its raw value: the median of all batches, in the result's unit. A paired sample: the median difference.
    pub value: f64,
    /// Nanoseconds of every batch in the order of time; of a paired sample: work, overhead, overhead, work, and again.
    pub nanos: Vec<u64>,
    /// Operations of each batch, if they differ from the result's fixed number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ops: Vec<u64>,
    /// Values that the kernel measured itself (a lateness, a ratio), in the result's unit, if batches are not timed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readings: Vec<f64>,
    /// Warm-up batches before the timed ones.
    pub warmup: u32,
    /// Whether warm-up ended because groups of batches agreed, and not at its limit.
    pub steady: bool,
    /// Quantiles of single operations, if the benchmark times them: (quantile, value).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quantiles: Vec<(f64, f64)>,
    /// Placement of its threads and processes.
    pub placement: Placement,
    /// CPU time taken by the hypervisor during its batches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stolen: Option<TakenTime>,
    /// Time for which a control group's quota stopped it during its batches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled: Option<TakenTime>,
    /// CPU frequency before and after, hertz, if readable.
    pub frequency: Option<(f64, f64)>,
    /// Resources used over the batches.
    pub footprint: Footprint,
    /// Bytes of payload that receivers verified, if the sample verifies its payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified_bytes: Option<u64>,
    /// Sensor readings between the batches, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensors: Option<SampleSensors>,
    /// The clean batches that follow, if the exclusive core is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clean: Option<CleanBatches>,
    /// Why it is excluded; absent when it is valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalid: Option<Invalid>,
}

impl Sample {
    /// Operations and nanoseconds of every batch in the order of time; `ops` is the result's fixed number, for samples
    /// without numbers of their own.
    #[must_use]
    pub fn batches(&self, ops: u64) -> Vec<TimedBatch> {
        let each = self.nanos.iter().enumerate();
        each.map(|(at, nanos)| (self.ops.get(at).copied().unwrap_or(ops), *nanos)).collect()
    }

    /// Operations and nanoseconds of the batches of a paired sample: those of the work and those of its overhead, each
    /// in the order of time, pair by pair. No other code may split pairs.
    #[must_use]
    pub fn sides(&self, ops: u64) -> (Vec<TimedBatch>, Vec<TimedBatch>) {
        split_pairs(&self.batches(ops))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_split_by_their_order() {
        let sample = Sample { nanos: vec![10, 1, 2, 20, 30, 3, 4, 40], ..Sample::default() };
        let nanos = |side: Vec<TimedBatch>| side.into_iter().map(|(_, nanos)| nanos).collect::<Vec<_>>();
        let (work, overhead) = sample.sides(7);
        assert_eq!(work[0], (7, 10));
        assert_eq!((nanos(work), nanos(overhead)), (vec![10, 20, 30, 40], vec![1, 2, 3, 4]));
        // A last batch without a partner is not part of a pair.
        assert_eq!(split_pairs(&[1, 2, 3]), (vec![1], vec![2]));
    }

    #[test]
    fn evidence_is_printed_as_part_of_a_whole() {
        let taken = TakenTime { seconds: 0.01, of: 0.41 };
        assert_eq!(Invalid::Stolen(taken).to_string(), "the hypervisor took 10 ms of 0.41 s");
    }
}
