//! Pressure stall information: the share of time in which tasks waited for a resource
//! (`Documentation/accounting/psi.rst` of the Linux kernel, since 4.20).

use std::time::Duration;

use kernels::text;
use model::Share;

use crate::error::{Error, Result};

/// The resource that tasks wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PressureResource {
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
    /// Share of the last ten seconds.
    pub last_ten_seconds: Share,
    /// Time since boot.
    pub total: Duration,
}

/// Current pressure of the whole machine. An error if the kernel does not record it.
pub fn pressure(resource: PressureResource) -> Result<Pressure> {
    let path = match resource {
        PressureResource::Cpu => "/proc/pressure/cpu",
        PressureResource::Memory => "/proc/pressure/memory",
        PressureResource::Io => "/proc/pressure/io",
    };
    parse(&text::read(path)?).ok_or_else(|| Error::refused(format!("read {path}"), "it has no line \"some\""))
}

fn parse(text: &str) -> Option<Pressure> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let get = |key: &str| line.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    let micros: u64 = get("total")?.parse().ok()?;
    let percent: f64 = get("avg10")?.parse().ok()?;
    Some(Pressure { last_ten_seconds: Share::of(percent, 100.0)?, total: Duration::from_micros(micros) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_some() {
        let text = "some avg10=1.50 avg60=0.70 avg300=0.20 total=1234\nfull avg10=9.00 avg60=0 avg300=0 total=9";
        let share = Share::new(0.015).unwrap();
        assert_eq!(parse(text), Some(Pressure { last_ten_seconds: share, total: Duration::from_micros(1234) }));
        assert_eq!(parse("full avg10=0 total=1"), None);
        assert_eq!(parse(""), None);
    }
}
