//! Resource usage over a period: CPU time, faults, switches, I/O, migrations; of this process and of others.

mod machine;
mod pressure;
mod process;
mod schedule;

pub use machine::{
    CpuTimes, available_bytes, load_average, machine_times, per_cpu_times, per_cpu_times_under, soft_interrupt_times,
};
pub use pressure::{Pressure, PressureResource, pressure};
pub use process::{
    Io, Stat, Switches, anonymous_bytes, cpu_time_under, migrations_of, migrations_under, peak_resident_bytes,
    switches_under, thread_states, threads_of,
};

pub use schedule::{ThreadSchedule, thread_schedule};

use std::mem::MaybeUninit;
use std::time::Duration;

use crate::error::{Result, check};

/// The subject of a usage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// This process with all its threads.
    Process,
    /// The calling thread.
    Thread,
    /// Children that have ended and were waited for, and theirs.
    Children,
}

/// Resources used (`getrusage(2)`), as counts since the start or as a difference of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// CPU time in user mode.
    pub user: Duration,
    /// CPU time in kernel mode.
    pub system: Duration,
    /// Page faults served without I/O.
    pub minor_faults: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// Times that the thread yielded the CPU to wait.
    pub voluntary_switches: u64,
    /// Times that the scheduler preempted the thread.
    pub involuntary_switches: u64,
    /// File system inputs, in blocks of 512 bytes.
    pub blocks_in: u64,
    /// File system outputs, in blocks of 512 bytes.
    pub blocks_out: u64,
    /// Largest resident set so far, bytes. A maximum: a difference contains the later value.
    pub max_resident_bytes: u64,
}

impl Usage {
    /// CPU time in user and kernel mode together.
    #[must_use]
    pub fn cpu(&self) -> Duration {
        self.user + self.system
    }

    /// Usage so far.
    pub fn of(who: Who) -> Result<Self> {
        let who = match who {
            Who::Process => libc::RUSAGE_SELF,
            Who::Children => libc::RUSAGE_CHILDREN,
            Who::Thread => libc::RUSAGE_THREAD,
        };
        let mut raw = MaybeUninit::<libc::rusage>::uninit();
        // SAFETY: `raw` has space for one rusage, which the call fills completely when it succeeds.
        check("read resource usage", unsafe { libc::getrusage(who, raw.as_mut_ptr()) })?;
        // SAFETY: the call succeeded, so the structure is initialised.
        Ok(Self::from_raw(&unsafe { raw.assume_init() }))
    }

    /// Difference to `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            user: self.user.saturating_sub(before.user),
            system: self.system.saturating_sub(before.system),
            minor_faults: self.minor_faults.saturating_sub(before.minor_faults),
            major_faults: self.major_faults.saturating_sub(before.major_faults),
            voluntary_switches: self.voluntary_switches.saturating_sub(before.voluntary_switches),
            involuntary_switches: self.involuntary_switches.saturating_sub(before.involuntary_switches),
            blocks_in: self.blocks_in.saturating_sub(before.blocks_in),
            blocks_out: self.blocks_out.saturating_sub(before.blocks_out),
            max_resident_bytes: self.max_resident_bytes,
        }
    }

    fn from_raw(raw: &libc::rusage) -> Self {
        Self {
            user: duration(raw.ru_utime),
            system: duration(raw.ru_stime),
            minor_faults: raw.ru_minflt as u64,
            major_faults: raw.ru_majflt as u64,
            voluntary_switches: raw.ru_nvcsw as u64,
            involuntary_switches: raw.ru_nivcsw as u64,
            blocks_in: raw.ru_inblock as u64,
            blocks_out: raw.ru_oublock as u64,
            max_resident_bytes: raw.ru_maxrss as u64 * 1024,
        }
    }
}

fn duration(time: libc::timeval) -> Duration {
    Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1_000)
}

/// Clock ticks per second, the unit of CPU time in `/proc`.
pub(crate) fn ticks_per_second() -> u64 {
    rustix::param::clock_ticks_per_second().max(1)
}

/// The step in which `/proc` counts CPU time: 10 ms on nearly all systems.
#[must_use]
pub fn clock_tick() -> Duration {
    of_ticks(1, ticks_per_second())
}

/// The duration of a number of ticks at a rate per second.
pub(crate) fn of_ticks(ticks: u64, per_second: u64) -> Duration {
    let rest = u128::from(ticks % per_second) * 1_000_000_000 / u128::from(per_second);
    Duration::new(ticks / per_second, rest as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_counted() {
        let before = Usage::of(Who::Process).unwrap();
        let block = vec![1u8; 8 << 20];
        std::hint::black_box(&block);
        let after = Usage::of(Who::Process).unwrap();
        let used = after.since(&before);
        assert!(used.minor_faults > 0);
        assert!(after.max_resident_bytes > 8 << 20);
        assert_eq!(before.since(&after).minor_faults, 0);
    }

    #[test]
    fn a_thread_uses_less_than_its_process() {
        let thread = Usage::of(Who::Thread).unwrap();
        let process = Usage::of(Who::Process).unwrap();
        assert!(thread.minor_faults <= process.minor_faults);
        assert!(Usage::of(Who::Children).is_ok());
    }
}
