//! How far apart a host has placed two CPUs of its guest: the time of a cache line from one to the other.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Share;

/// Time of a cache line between two CPUs for most of a run, from readings around the samples of their results.
///
/// A host that does not pin the CPUs of its guests moves them. Two CPUs that shared a last-level cache are then apart
/// for some seconds, and a hand-over takes several times as long, whatever the guest's topology reports.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuDistance {
    /// The two CPUs.
    pub cpus: [u32; 2],
    /// Median hand-over of the readings that are alike, picoseconds.
    pub picos: u32,
    /// Share of the readings that are, and the median hand-over of the others, picoseconds, where there are some.
    pub share: Share,
    /// See `share`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<u32>,
}

impl CpuDistance {
    /// Whether a hand-over of this many picoseconds means the same distance as for most of the run. Half or twice as
    /// much is another cache or another package; a busy link or a slower clock changes less.
    #[must_use]
    pub const fn is_like(&self, picos: u32) -> bool {
        picos / 2 <= self.picos && self.picos / 2 <= picos
    }
}

/// "for 14% of the time the hypervisor ran CPUs 0 and 1 far apart (180 ns per cache line instead of 40.3 ns)".
impl fmt::Display for CpuDistance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [one, other] = self.cpus;
        match self.elsewhere {
            Some(elsewhere) => write!(
                f,
                "for {:.0}% of the time the hypervisor ran CPUs {one} and {other} far apart ({} per cache line instead of {})",
                (1.0 - self.share.get()) * 100.0,
                nanos_words(elsewhere),
                nanos_words(self.picos)
            ),
            None => write!(f, "a cache line took {} between CPUs {one} and {other}", nanos_words(self.picos)),
        }
    }
}

/// Nanoseconds in three digits.
pub(crate) fn nanos_words(picos: u32) -> String {
    let nanos = f64::from(picos) * 1e-3;
    if nanos < 99.95 { format!("{nanos:.1} ns") } else { format!("{nanos:.0} ns") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_or_twice_as_far_is_elsewhere() {
        let near = CpuDistance { cpus: [0, 1], picos: 40_000, share: Share::ALL, elsewhere: None };
        assert!([20_000, 40_000, 79_000].into_iter().all(|picos| near.is_like(picos)));
        assert!([0, 19_000, 90_000, u32::MAX].into_iter().all(|picos| !near.is_like(picos)));
        assert_eq!(near.to_string(), "a cache line took 40.0 ns between CPUs 0 and 1");
        let moved = CpuDistance { share: Share::of(86.0, 100.0).unwrap(), elsewhere: Some(180_400), ..near };
        assert_eq!(
            moved.to_string(),
            "for 14% of the time the hypervisor ran CPUs 0 and 1 far apart (180 ns per cache line instead of 40.0 ns)"
        );
    }
}
