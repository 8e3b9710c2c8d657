//! Event counters of hardware and kernel for the threads of this process, of other processes, and of those that they
//! start later. A missing counter has a reason and is never 0.

mod event;

use crate::error::Result;
use crate::usage::threads_of;

/// A countable event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CounterEvent {
    /// Clock cycles of the CPU while it ran the threads.
    Cycles,
    /// Instructions retired.
    Instructions,
    /// Mispredicted branches.
    BranchMisses,
    /// Accesses that missed the last-level cache.
    CacheMisses,
    /// Loads of a page that was not in the data TLB.
    DataTlbMisses,
    /// Page faults.
    PageFaults,
    /// Context switches.
    ContextSwitches,
    /// Migrations to another CPU.
    CpuMigrations,
}

/// Counters for a set of events, counting since they were opened. The kernel counts by thread, and only later threads
/// and processes inherit a counter. Every thread therefore has its own counters, and a count is their sum.
#[derive(Debug)]
pub struct Counters {
    open: Vec<(CounterEvent, std::result::Result<Vec<event::Counter>, String>)>,
}

impl Counters {
    /// Opens the available counters, for all threads of this process and those that they start later. An unavailable
    /// counter keeps its reason.
    #[must_use]
    pub fn open(events: &[CounterEvent]) -> Self {
        Self::open_beside(events, &[])
    }

    /// The same for this process and others together. An event that cannot be counted in every thread of all of them is
    /// not counted: a part would be mistaken for the whole.
    #[must_use]
    pub fn open_beside(events: &[CounterEvent], others: &[i32]) -> Self {
        let own = std::process::id().cast_signed();
        let open = |event: &CounterEvent| -> Result<Vec<event::Counter>> {
            let mut counters = Vec::new();
            for process in std::iter::once(own).chain(others.iter().copied()) {
                counters.extend(in_process(*event, process)?);
            }
            Ok(counters)
        };
        Self { open: events.iter().map(|event| (*event, open(event).map_err(|error| error.to_string()))).collect() }
    }

    /// One count so far, estimated if the counter shared its hardware with others; `Ok(None)` if the event was not
    /// requested.
    pub fn read_one(&self, event: CounterEvent) -> std::result::Result<Option<u64>, String> {
        self.open.iter().find(|(other, _)| *other == event).map(|(_, counters)| sum(counters)).transpose()
    }
}

/// Counters of all threads of a process.
fn in_process(event: CounterEvent, process: i32) -> Result<Vec<event::Counter>> {
    let mut counters = Vec::new();
    let mut gone = None;
    for thread in threads_of(process)? {
        match event::Counter::open(event, thread) {
            Ok(counter) => counters.push(counter),
            // The thread has ended since it was listed, and has no further events.
            Err(error) if error.errno() == Some(libc::ESRCH) => gone = Some(error),
            Err(error) => return Err(error),
        }
    }
    match gone {
        Some(error) if counters.is_empty() => Err(error),
        _ => Ok(counters),
    }
}

/// The sum over threads.
fn sum(counters: &std::result::Result<Vec<event::Counter>, String>) -> std::result::Result<u64, String> {
    let counters = counters.as_ref().map_err(Clone::clone)?;
    counters.iter().map(event::Counter::read).sum::<Result<u64>>().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Accesses `pages` pages for the first time.
    fn fault(pages: usize) {
        let mut arena = kernels::memory::Arena::reserve(pages * 4096, kernels::memory::Pages::Base).unwrap();
        std::hint::black_box(arena.touch(4096));
    }

    #[test]
    fn threads_that_were_there_before_are_counted() {
        const PAGES: usize = 512;
        let (ask, asked) = std::sync::mpsc::channel::<()>();
        let (answer, answered) = std::sync::mpsc::channel();
        let body = move || {
            for () in asked {
                fault(PAGES);
                let _ = answer.send(());
            }
        };
        let thread = std::thread::Builder::new().spawn(body).unwrap();
        ask.send(()).unwrap();
        answered.recv().unwrap();
        let counters = Counters::open(&[CounterEvent::PageFaults]);
        let before = match counters.read_one(CounterEvent::PageFaults) {
            Ok(count) => count.unwrap(),
            Err(reason) => {
                testing::lacks!("page faults cannot be counted: {reason}");
                return;
            }
        };
        ask.send(()).unwrap();
        answered.recv().unwrap();
        let faults = counters.read_one(CounterEvent::PageFaults).unwrap().unwrap() - before;
        assert!(faults >= PAGES as u64, "{faults} page faults of {PAGES} in a thread that was there before");
        drop(ask);
        thread.join().unwrap();
    }

    #[test]
    fn another_process_and_what_it_starts_are_counted() {
        use std::io::{BufRead, BufReader, Write};
        use std::process::{Command, Stdio};
        const STARTED: u64 = 50;
        let mut command = Command::new("/bin/sh");
        let mut shell = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let counters = Counters::open_beside(&[CounterEvent::PageFaults], &[shell.id().cast_signed()]);
        let before = counters.read_one(CounterEvent::PageFaults);
        let mut orders = shell.stdin.take().unwrap();
        writeln!(orders, "i=0; while [ $i -lt {STARTED} ]; do (:); i=$((i + 1)); done; echo done").unwrap();
        drop(orders);
        let mut answer = String::new();
        BufReader::new(shell.stdout.take().unwrap()).read_line(&mut answer).unwrap();
        let after = counters.read_one(CounterEvent::PageFaults);
        assert!(shell.wait().unwrap().success());
        match (before, after) {
            // A forked shell has more than ten page faults before it ends.
            (Ok(before), Ok(after)) => assert!(after.unwrap() - before.unwrap() > 10 * STARTED),
            (Err(reason), _) | (_, Err(reason)) => testing::lacks!("page faults cannot be counted: {reason}"),
        }
    }

    #[test]
    fn a_process_that_cannot_be_counted_makes_the_count_unknown() {
        let counters = Counters::open_beside(&[CounterEvent::PageFaults], &[i32::MAX]);
        assert!(counters.read_one(CounterEvent::PageFaults).is_err());
    }

    #[test]
    fn absent_is_a_reason_and_present_counts() {
        let events = [CounterEvent::Cycles, CounterEvent::Instructions];
        let counters = Counters::open(&events);
        let mut memory = vec![0u8; 4 << 20];
        memory.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
        std::hint::black_box(&memory);
        for event in events {
            match counters.read_one(event) {
                Ok(count) => assert!(count.unwrap() > 0),
                Err(reason) => {
                    testing::lacks!("{event:?}: {reason}");
                    assert!(reason.starts_with("could not "), "{reason}");
                }
            }
        }
        assert_eq!(Counters::open(&[]).read_one(CounterEvent::Cycles), Ok(None));
    }
}
