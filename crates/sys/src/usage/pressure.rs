//! Pressure stall information: the share of time in which tasks waited for a resource
//! (`Documentation/accounting/psi.rst` of the Linux kernel, since 4.20).

use crate::error::{Error, Result};
use crate::text;

/// What tasks may wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    /// A CPU.
    Cpu,
    /// Memory to be freed.
    Memory,
    /// Storage.
    Io,
}

/// Time in which at least one task waited.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pressure {
    /// Percent of the last ten seconds.
    pub last_ten_seconds: f64,
    /// Nanoseconds since boot.
    pub total_nanos: u64,
}

/// Pressure of the whole machine now. An error where the kernel does not keep it.
pub fn pressure(resource: Resource) -> Result<Pressure> {
    let path = match resource {
        Resource::Cpu => "/proc/pressure/cpu",
        Resource::Memory => "/proc/pressure/memory",
        Resource::Io => "/proc/pressure/io",
    };
    parse(&text::read(path)?).ok_or_else(|| Error::refused(format!("read {path}"), "it has no line \"some\""))
}

fn parse(text: &str) -> Option<Pressure> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let get = |key: &str| line.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    let micros: u64 = get("total")?.parse().ok()?;
    Some(Pressure { last_ten_seconds: get("avg10")?.parse().ok()?, total_nanos: micros.saturating_mul(1_000) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_some() {
        let text = "some avg10=1.50 avg60=0.70 avg300=0.20 total=1234\nfull avg10=9.00 avg60=0 avg300=0 total=9";
        assert_eq!(parse(text), Some(Pressure { last_ten_seconds: 1.5, total_nanos: 1_234_000 }));
        assert_eq!(parse("full avg10=0 total=1"), None);
        assert_eq!(parse(""), None);
    }
}
