//! Sets of CPUs, written as the kernel writes them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;

/// No list names a CPU beyond this: a longer one is a mistake, not a machine.
const MOST: usize = 1 << 16;

/// CPUs by the operating system's numbers, ascending, each once. In documents a list such as `0-3,8`
/// (cpulist format of `Documentation/admin-guide/cputopology.rst` of the Linux kernel).
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
pub struct CpuSet(Vec<usize>);

impl CpuSet {
    /// Ascending numbers.
    #[must_use]
    pub fn as_slice(&self) -> &[usize] {
        &self.0
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a CPU is in it.
    #[must_use]
    pub fn contains(&self, cpu: usize) -> bool {
        self.0.binary_search(&cpu).is_ok()
    }

    /// The lowest number.
    #[must_use]
    pub fn first(&self) -> Option<usize> {
        self.0.first().copied()
    }

    /// The highest number.
    #[must_use]
    pub fn last(&self) -> Option<usize> {
        self.0.last().copied()
    }

    /// Ascending numbers.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        self.0.iter().copied()
    }

    /// What both have.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self(self.iter().filter(|cpu| other.contains(*cpu)).collect())
    }

    /// What the other lacks.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        Self(self.iter().filter(|cpu| !other.contains(*cpu)).collect())
    }

    /// Whether the other has all of it.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        self.iter().all(|cpu| other.contains(cpu))
    }
}

impl FromIterator<usize> for CpuSet {
    fn from_iter<I: IntoIterator<Item = usize>>(cpus: I) -> Self {
        let mut all: Vec<usize> = cpus.into_iter().collect();
        all.sort_unstable();
        all.dedup();
        Self(all)
    }
}

impl From<&[usize]> for CpuSet {
    fn from(cpus: &[usize]) -> Self {
        cpus.iter().copied().collect()
    }
}

impl FromStr for CpuSet {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let refuse = || Error::Invalid(format!("{text:?} is not a list of CPUs"));
        let number = |word: &str| word.trim().parse::<usize>().ok().filter(|n| *n < MOST).ok_or_else(refuse);
        let mut all = Vec::new();
        for part in text.trim().split(',').filter(|part| !part.trim().is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            if last < first {
                return Err(refuse());
            }
            all.extend(first..=last);
        }
        Ok(all.into_iter().collect())
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.as_slice();
        while let Some(first) = rest.first() {
            let run = rest.iter().zip(*first..).take_while(|(cpu, expected)| **cpu == *expected).count();
            let comma = if rest.len() == self.0.len() { "" } else { "," };
            match run {
                1 => write!(f, "{comma}{first}")?,
                _ => write!(f, "{comma}{first}-{}", first + run - 1)?,
            }
            rest = &rest[run..];
        }
        Ok(())
    }
}

impl TryFrom<String> for CpuSet {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<CpuSet> for String {
    fn from(set: CpuSet) -> Self {
        set.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_come_back_as_the_kernel_writes_them() {
        for text in ["", "0", "0-3,8,10-11", "5,7,9", "0-65535"] {
            assert_eq!(text.parse::<CpuSet>().unwrap().to_string(), text);
        }
        let messy: CpuSet = " 3,1-2,2 ,".parse().unwrap();
        assert_eq!((messy.to_string().as_str(), messy.len()), ("1-3", 3));
        for text in ["x", "3-1", "0-99999999999", "1 2"] {
            assert!(text.parse::<CpuSet>().is_err(), "{text}");
        }
    }

    #[test]
    fn sets_meet_and_part() {
        let set = |text: &str| text.parse::<CpuSet>().unwrap();
        assert_eq!(set("0-7").and(&set("4-11")), set("4-7"));
        assert_eq!(set("0-7").without(&set("4-11")), set("0-3"));
        assert!(set("2").is_within(&set("0-3")) && !set("2-5").is_within(&set("0-3")) && set("").is_within(&set("")));
        assert_eq!((set("3,9").first(), set("3,9").last(), set("").last()), (Some(3), Some(9), None));
        assert_eq!(serde_json::to_string(&set("0-1,4")).unwrap(), "\"0-1,4\"");
        assert_eq!(serde_json::from_str::<CpuSet>("\"0-1,4\"").unwrap(), set("0-1,4"));
        assert!(serde_json::from_str::<CpuSet>("\"a\"").is_err());
    }
}
