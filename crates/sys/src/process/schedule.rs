//! How the scheduler treats a process.

use crate::error::{Result, check};
use crate::usage::Stat;

/// Scheduling policy (`sched(7)`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// The normal, fair one.
    Other,
    /// Real-time, first in first out.
    Fifo,
    /// Real-time, round robin.
    RoundRobin,
    /// Fair, but never pre-empting.
    Batch,
    /// Only when nobody else wants the CPU.
    Idle,
    /// Real-time by deadline.
    Deadline,
    /// One that this crate does not know, by its number.
    Unknown(u32),
}

/// Policy and niceness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchedulePolicy {
    /// The policy.
    pub policy: Policy,
    /// -20 most favoured .. 19 least.
    pub nice: i32,
}

/// How a process or thread is scheduled.
pub fn schedule_of(pid: i32) -> Result<SchedulePolicy> {
    let stat = Stat::of(pid)?;
    let policy = match stat.policy {
        0 => Policy::Other,
        1 => Policy::Fifo,
        2 => Policy::RoundRobin,
        3 => Policy::Batch,
        5 => Policy::Idle,
        6 => Policy::Deadline,
        other => Policy::Unknown(other),
    };
    Ok(SchedulePolicy { policy, nice: stat.nice })
}

/// Sets the niceness of this process; below the present one it needs a privilege.
pub fn set_nice(nice: i32) -> Result<()> {
    // SAFETY: takes numbers and touches no memory of ours.
    check("change the niceness", unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, nice) }).map(|_| ())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn own_schedule() {
        let own = schedule_of(std::process::id() as i32).unwrap();
        assert!((-20..=19).contains(&own.nice));
        set_nice(own.nice).unwrap();
    }
}
