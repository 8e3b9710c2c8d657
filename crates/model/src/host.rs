//! What a watch of the host recorded: the clock and contention of several CPUs over some time.

use serde::{Deserialize, Serialize};

use crate::{SessionReferences, Share, SmallSteps};

/// Distance from the ratio of the unshared core above which another thread was on the core.
const SHARED: f64 = 0.05;
/// Readings on one CPU that lie closer together than this form one row, seconds.
const ROW: f64 = 2e-3;

/// One reading of the references, and the time that it represents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReferenceMoment {
    /// When it was read, seconds of the session.
    pub began: f64,
    /// The time until the next reading on this CPU, seconds; readings in one row share it equally.
    pub seconds: f64,
    /// The CPU.
    pub cpu: u32,
    /// The clock, hertz.
    pub clock: f64,
    /// Whether another thread was on the core; `None` if the ratio of the unshared core is unknown.
    pub shared: Option<bool>,
}

impl SessionReferences {
    /// The readings between launches as periods of time, for each CPU from its first reading to `end` (seconds of the
    /// session), CPU by CPU.
    #[must_use]
    pub fn moments(&self, end: f64) -> Vec<ReferenceMoment> {
        let mut cpus: Vec<u32> = Vec::new();
        for cpu in &self.samples.cpu.0 {
            if !cpus.contains(cpu) {
                cpus.push(*cpu);
            }
        }
        cpus.into_iter().flat_map(|cpu| self.moments_on(cpu, end)).collect()
    }

    fn moments_on(&self, wanted: u32, end: f64) -> Vec<ReferenceMoment> {
        let samples = &self.samples;
        let rows = samples.millis.0.iter().zip(&samples.cpu.0).zip(&samples.clock.0).zip(&samples.contention.0);
        let core = self.unshared.iter().find(|core| core.cpus.contains(&wanted));
        let unshared = core.and_then(|core| core.ratio);
        let mut moments: Vec<ReferenceMoment> = rows
            .filter(|(((_, cpu), _), _)| **cpu == wanted)
            .map(|(((millis, cpu), clock), contention)| ReferenceMoment {
                began: f64::from(*millis) * 1e-3,
                seconds: 0.0,
                cpu: *cpu,
                clock: self.lengths.hertz(*clock),
                shared: unshared.map(|unshared| self.lengths.ratio(*clock, *contention) > unshared * (1.0 + SHARED)),
            })
            .collect();
        let ends: Vec<f64> = moments.iter().skip(1).map(|next| next.began).chain([end]).collect();
        for (moment, end) in moments.iter_mut().zip(ends) {
            moment.seconds = (end - moment.began).max(0.0);
        }
        for row in moments.chunk_by_mut(|one, next| next.began - one.began < ROW) {
            let each = row.iter().map(|moment| moment.seconds).sum::<f64>() / row.len() as f64;
            row.iter_mut().for_each(|moment| moment.seconds = each);
        }
        moments
    }
}

/// The time that a hypervisor took from single CPUs, at known times.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StolenSamples {
    /// End of each period, milliseconds of the session; it began at the period before of the same CPU, or at 0.
    pub millis: SmallSteps,
    /// CPU of each.
    pub cpu: SmallSteps,
    /// Time taken in it, microseconds: a multiple of the tick in which the kernel counts.
    pub micros: SmallSteps,
}

/// What a cache line took between pairs of CPUs, at known times.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DistanceSamples {
    /// When each was read, milliseconds of the session.
    pub millis: SmallSteps,
    /// The CPU between which and the first one that is watched it was read.
    pub cpu: SmallSteps,
    /// Time of a hand-over, picoseconds.
    pub picos: SmallSteps,
}

/// Whether two CPUs are threads of one core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CoreRelation {
    /// They are.
    OneCore,
    /// They are not.
    SeparateCores,
    /// The readings do not decide.
    Undecided,
}

/// A test of two CPUs: the contention reference on one of them while the other is busy or idle, in random order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CorePair {
    /// The CPU on which the reference was read, and the other.
    pub cpus: [u32; 2],
    /// The result.
    pub relation: CoreRelation,
    /// What the operating system says.
    pub told: Option<bool>,
    /// Turns with the other CPU idle, and with it busy.
    pub turns: [u32; 2],
    /// Factor by which a busy other CPU slows the contention reference down, in cycles: the Hodges-Lehmann estimate
    /// and its interval at 99.9%; `None` if no turn could be made.
    pub factor: Option<[f64; 3]>,
    /// Turns of either kind in which the CPU had a core to itself, where these decide: neighbours make the factor wide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<[u32; 2]>,
}

/// What a watch of the host recorded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostRecord {
    /// How long it watched.
    pub seconds: f64,
    /// Readings on every watched CPU, and what they show of an unshared core.
    pub references: SessionReferences,
    /// Time that the hypervisor took.
    pub stolen: StolenSamples,
    /// How far apart the host had the first watched CPU and each other one.
    #[serde(default)]
    pub distances: DistanceSamples,
    /// Pairs of CPUs that were tested.
    pub pairs: Vec<CorePair>,
    /// Share of the time of all CPUs that other processes of this system used meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_load: Option<Share>,
}
