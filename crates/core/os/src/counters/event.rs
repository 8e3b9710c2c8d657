//! Counters by `perf_event_open(2)`.

use std::os::fd::{FromRawFd, OwnedFd};

use crate::counters::CounterEvent;
use crate::error::{Error, Result};

/// `struct perf_event_attr` in its first published form (64 bytes, `PERF_ATTR_SIZE_VER0`), which every kernel accepts.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

const _: () = assert!(size_of::<Attributes>() == 64);

const HARDWARE: u32 = 0;
const SOFTWARE: u32 = 1;
const HARDWARE_CACHE: u32 = 3;
/// Bits of `flags`, in the order of the C bit field.
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
/// `PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING`.
const TIMES: u64 = 3;
const CLOSE_ON_EXEC: libc::c_ulong = 1 << 3;

#[derive(Debug)]
pub(super) struct Counter {
    fd: OwnedFd,
    what: &'static str,
}

impl Counter {
    /// Counts user and kernel mode of a thread and of the threads that it starts afterwards, or user mode alone if
    /// counting the kernel is not permitted.
    pub(super) fn open(event: CounterEvent, thread: i32) -> Result<Self> {
        match Self::try_open(event, thread, false) {
            Err(error) if matches!(error.errno(), Some(libc::EACCES | libc::EPERM)) => {
                Self::try_open(event, thread, true).map_err(|_| explain(event, error))
            }
            other => other.map_err(|error| explain(event, error)),
        }
    }

    fn try_open(event: CounterEvent, thread: i32, user_only: bool) -> Result<Self> {
        let (kind, config, what) = code(event);
        let exclude = if user_only { EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR } else { 0 };
        let attributes = Attributes {
            kind,
            config,
            size: size_of::<Attributes>() as u32,
            read_format: TIMES,
            flags: INHERIT | exclude,
            ..Attributes::default()
        };
        // SAFETY: the structure is valid for the length of the call and contains its own size. The third argument is a
        // thread and the fourth, -1, any CPU; -1 is no group.
        let fd =
            unsafe { libc::syscall(libc::SYS_perf_event_open, &raw const attributes, thread, -1, -1, CLOSE_ON_EXEC) };
        if fd < 0 {
            return Err(Error::last(what));
        }
        // SAFETY: the kernel has just returned this descriptor, and nothing else owns it.
        let fd = unsafe { OwnedFd::from_raw_fd(fd as i32) };
        Ok(Self { fd, what })
    }

    /// The events so far; scaled to all of the time if the counter shared its hardware with others.
    pub(super) fn read(&self) -> Result<u64> {
        let mut answer = [0; 24];
        let got = rustix::io::read(&self.fd, &mut answer).map_err(|error| Error::os(self.what, error))?;
        if got < answer.len() {
            return Err(Error::refused(self.what, "the kernel returned too few bytes"));
        }
        let word = |at: usize| u64::from_ne_bytes(std::array::from_fn(|byte| answer[8 * at + byte]));
        let [value, enabled, running] = [0, 1, 2].map(word);
        if enabled == 0 {
            // A thread that has not run since then had nothing to count.
            return Ok(value);
        }
        if running == 0 {
            return Err(Error::refused(self.what, "the counter was never scheduled on the hardware"));
        }
        let counted = (running as f64 / enabled as f64).min(1.0);
        Ok(if counted < 1.0 { (value as f64 / counted).round() as u64 } else { value })
    }
}

fn code(event: CounterEvent) -> (u32, u64, &'static str) {
    match event {
        CounterEvent::Cycles => (HARDWARE, 0, "count cycles"),
        CounterEvent::Instructions => (HARDWARE, 1, "count instructions"),
        CounterEvent::CacheMisses => (HARDWARE, 3, "count cache misses"),
        CounterEvent::BranchMisses => (HARDWARE, 5, "count branch misses"),
        // Data TLB (3), read (0), miss (1), one byte each.
        CounterEvent::DataTlbMisses => (HARDWARE_CACHE, 0x1_0003, "count data TLB misses"),
        CounterEvent::PageFaults => (SOFTWARE, 2, "count page faults"),
        CounterEvent::ContextSwitches => (SOFTWARE, 3, "count context switches"),
        CounterEvent::CpuMigrations => (SOFTWARE, 4, "count CPU migrations"),
    }
}

fn explain(event: CounterEvent, error: Error) -> Error {
    let (_, _, what) = code(event);
    match error.errno() {
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) => {
            Error::refused(what, "this CPU, or the virtual machine around it, offers no such counter")
        }
        Some(libc::ENOSYS) => {
            Error::refused(what, "this kernel has no performance events, or a filter (seccomp) says so")
        }
        Some(libc::EACCES | libc::EPERM) => Error::refused(
            what,
            "it is not permitted (kernel.perf_event_paranoid, CAP_PERFMON or a container's filter)",
        ),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_may_be_why_a_kernel_seems_to_have_no_counters() {
        for errno in [libc::ENOSYS, libc::EPERM, libc::EACCES] {
            let refused = Error::os("open a counter", std::io::Error::from_raw_os_error(errno));
            let said = explain(CounterEvent::Instructions, refused).to_string();
            assert!(said.starts_with("could not count instructions: ") && said.contains("filter"), "{said}");
        }
    }
}
