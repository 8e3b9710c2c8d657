//! Page policies, and the verification that the kernel followed them.

use std::str::FromStr;

use crate::error::{Error, Result};
use crate::memory::mapping::Mapping;
use crate::memory::{huge_page_size, page_size};
use crate::text;

/// The pages of an arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pages {
    /// Base pages only, for any policy of the system (`MADV_NOHUGEPAGE`).
    Base,
    /// Huge pages, created by the kernel at first access (`MADV_HUGEPAGE`).
    Huge,
    /// The policy of the system: exactly one `mmap`, no advice.
    System,
}

impl Pages {
    /// Bytes of the pages that it asks for; of those that the system chooses, the smallest.
    pub(super) fn size(self) -> usize {
        if self == Self::Huge { huge_page_size() } else { page_size() }
    }
}

impl FromStr for Pages {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "base" => Ok(Self::Base),
            "huge" => Ok(Self::Huge),
            "system" => Ok(Self::System),
            _ => Err(Error::refused(format!("use pages {name:?}"), "the choices are base, huge, system")),
        }
    }
}

/// The part of a range on huge pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HugeShare {
    /// Length of the range in bytes.
    pub bytes: u64,
    /// The part on huge pages (`AnonHugePages` of `/proc/self/smaps`).
    pub huge: u64,
}

impl HugeShare {
    /// 0 to 1.
    #[must_use]
    pub fn fraction(self) -> f64 {
        if self.bytes == 0 { 0.0 } else { self.huge as f64 / self.bytes as f64 }
    }
}

pub(super) fn apply(mapping: &Mapping, offset: usize, len: usize, pages: Pages) -> Result<()> {
    let advice = match pages {
        Pages::System => return Ok(()),
        Pages::Base => libc::MADV_NOHUGEPAGE,
        Pages::Huge => libc::MADV_HUGEPAGE,
    };
    match mapping.advise(offset, len, advice) {
        // A kernel without huge pages returns EINVAL for both, and provides base pages.
        Err(error) if error.errno() == Some(libc::EINVAL) && pages == Pages::Base => Ok(()),
        Err(error) if error.errno() == Some(libc::EINVAL) => {
            Err(Error::refused("use huge pages", "this kernel was built without transparent huge pages"))
        }
        other => other,
    }
}

pub(super) fn share(start: usize, len: usize) -> Result<HugeShare> {
    let smaps = text::read("/proc/self/smaps")?;
    Ok(HugeShare { bytes: len as u64, huge: huge_bytes(&smaps, start as u64, (start + len) as u64).min(len as u64) })
}

/// Sums `AnonHugePages` over the mappings that overlap `start..end`.
fn huge_bytes(smaps: &str, start: u64, end: u64) -> u64 {
    let (mut inside, mut sum) = (false, 0);
    for line in smaps.lines() {
        if let Some((first, last)) = range(line) {
            inside = first < end && start < last;
        } else if inside {
            sum += text::field_number::<u64>(line, "AnonHugePages").unwrap_or(0) * 1024;
        }
    }
    sum
}

fn range(line: &str) -> Option<(u64, u64)> {
    let (first, last) = line.split_whitespace().next()?.split_once('-')?;
    Some((u64::from_str_radix(first, 16).ok()?, u64::from_str_radix(last, 16).ok()?))
}

pub(super) fn verify(pages: Pages, share: HugeShare) -> Result<()> {
    let HugeShare { bytes, huge } = share;
    match pages {
        Pages::Huge if share.fraction() < 0.95 => {
            Err(Error::refused("use huge pages", format!("only {huge} of {bytes} bytes are on them: {}", why_not())))
        }
        Pages::Base if huge > 0 => {
            Err(Error::refused("use base pages", format!("{huge} of {bytes} bytes are on huge pages")))
        }
        _ => Ok(()),
    }
}

fn why_not() -> String {
    const POLICY: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
    match text::read(POLICY) {
        Err(_) => "this kernel has no transparent huge pages".to_owned(),
        Ok(policy) if text::chosen(&policy) == Some("never") => format!("{POLICY} says never"),
        Ok(_) => "the kernel found no free block of that size (memory is short or fragmented), or a limit forbids it"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "7f0000000000-7f0000400000 rw-p 00000000 00:00 0\nRss: 4096 kB\nAnonHugePages:      4096 kB\n\
                         7f0000401000-7f0000801000 rw-p 00000000 00:00 0\nAnonHugePages:      2048 kB\n";

    #[test]
    fn only_overlapping_mappings_count() {
        assert_eq!(huge_bytes(SMAPS, 0x7f00_0000_0000, 0x7f00_0040_0000), 4 << 20);
        assert_eq!(huge_bytes(SMAPS, 0x7f00_0040_1000, 0x7f00_0080_1000), 2 << 20);
        assert_eq!(huge_bytes(SMAPS, 0x7f00_0040_0000, 0x7f00_0040_1000), 0);
        assert_eq!(huge_bytes("", 0, 1), 0);
    }

    #[test]
    fn a_policy_not_met_says_why() {
        let none = HugeShare { bytes: 4 << 20, huge: 0 };
        let all = HugeShare { bytes: 4 << 20, huge: 4 << 20 };
        assert!(verify(Pages::Huge, none).unwrap_err().to_string().contains("only 0 of 4194304 bytes"));
        assert!(verify(Pages::Base, all).is_err());
        assert!(verify(Pages::Huge, all).is_ok() && verify(Pages::Base, none).is_ok());
        assert!("giant".parse::<Pages>().is_err());
    }
}
