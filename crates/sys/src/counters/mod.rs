//! Hardware and kernel event counters of this process and its later children. Absent is absent with its reason,
//! never 0.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
#[path = "other.rs"]
mod linux;

use crate::error::Result;

/// An event that can be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Event {
    /// Clock cycles of the CPU while it worked for us.
    Cycles,
    /// Instructions retired.
    Instructions,
    /// Branches predicted wrongly.
    BranchMisses,
    /// Accesses that missed the last cache.
    CacheMisses,
    /// Loads whose page was not in the data TLB.
    DataTlbMisses,
    /// Page faults.
    PageFaults,
    /// Context switches.
    ContextSwitches,
    /// Moves to another CPU.
    CpuMigrations,
}

impl Event {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Cycles,
        Self::Instructions,
        Self::BranchMisses,
        Self::CacheMisses,
        Self::DataTlbMisses,
        Self::PageFaults,
        Self::ContextSwitches,
        Self::CpuMigrations,
    ];

    /// Name in snake_case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::Instructions => "instructions",
            Self::BranchMisses => "branch_misses",
            Self::CacheMisses => "cache_misses",
            Self::DataTlbMisses => "dtlb_misses",
            Self::PageFaults => "page_faults",
            Self::ContextSwitches => "context_switches",
            Self::CpuMigrations => "cpu_migrations",
        }
    }
}

/// A count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Count {
    /// The events so far; scaled up where the counter shared its hardware with others.
    pub value: u64,
    /// Share of the time in which it really counted, 0 to 1. Below 1 the value is an estimate.
    pub counted: f64,
    /// Whether work in the kernel is left out, because only that was permitted.
    pub user_only: bool,
}

/// Counters for a set of events, counting from when they were opened.
#[derive(Debug)]
pub struct Counters {
    open: Vec<(Event, std::result::Result<linux::Counter, String>)>,
}

impl Counters {
    /// Opens what can be opened; what cannot keeps its reason.
    #[must_use]
    pub fn open(events: &[Event]) -> Self {
        let open = |event: &Event| (*event, linux::Counter::open(*event).map_err(|error| error.to_string()));
        Self { open: events.iter().map(open).collect() }
    }

    /// The counts so far in the order asked for, each a count or the reason why there is none.
    #[must_use]
    pub fn read(&self) -> Vec<(Event, std::result::Result<Count, String>)> {
        let read = |counter: &std::result::Result<linux::Counter, String>| match counter {
            Ok(counter) => counter.read().map_err(|error| error.to_string()),
            Err(reason) => Err(reason.clone()),
        };
        self.open.iter().map(|(event, counter)| (*event, read(counter))).collect()
    }

    /// One count so far; `Ok(None)` where the event was not asked for.
    pub fn read_one(&self, event: Event) -> std::result::Result<Option<Count>, String> {
        match self.open.iter().find(|(other, _)| *other == event) {
            None => Ok(None),
            Some((_, Ok(counter))) => counter.read().map(Some).map_err(|error| error.to_string()),
            Some((_, Err(reason))) => Err(reason.clone()),
        }
    }
}

/// How far this user may count (`kernel.perf_event_paranoid`, perf_event_open(2)); higher is stricter.
pub fn paranoia() -> Result<i32> {
    crate::text::number("/proc/sys/kernel/perf_event_paranoid")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_is_a_reason_and_present_counts() {
        let counters = Counters::open(&Event::ALL);
        let mut memory = vec![0u8; 4 << 20];
        memory.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
        std::hint::black_box(&memory);
        for (event, count) in counters.read() {
            match count {
                Ok(count) => {
                    assert!(count.counted > 0.0 && count.counted <= 1.0, "{}", event.name());
                    if matches!(event, Event::Cycles | Event::Instructions) {
                        assert!(count.value > 0);
                    }
                }
                Err(reason) => {
                    testing::lacks!("{}: {reason}", event.name());
                    assert!(reason.starts_with("could not "), "{reason}");
                }
            }
        }
        assert_eq!(Counters::open(&[]).read_one(Event::Cycles), Ok(None));
    }
}
