//! On which CPUs a thread may run, and on which it does.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
#[path = "other.rs"]
mod linux;

use crate::error::{Error, Result};
use crate::usage::Stat;

/// CPUs that the calling thread may run on, ascending (`sched_getaffinity`).
pub fn allowed() -> Result<Vec<usize>> {
    linux::get(0)
}

/// CPUs that the thread or single-threaded process `pid` may run on, ascending.
pub fn allowed_of(pid: i32) -> Result<Vec<usize>> {
    linux::get(pid)
}

/// Lets the calling thread run on these CPUs only (`sched_setaffinity`). Threads and children made later inherit it.
pub fn pin(cpus: &[usize]) -> Result<()> {
    pin_pid(0, cpus)
}

/// Lets the thread or single-threaded process `pid` run on these CPUs only.
pub fn pin_pid(pid: i32, cpus: &[usize]) -> Result<()> {
    if cpus.is_empty() {
        return Err(Error::refused("pin to a CPU", "no CPU was named"));
    }
    linux::set(pid, cpus)
}

/// The CPU that the calling thread runs on at this moment.
pub fn current() -> Result<usize> {
    linux::current()
}

/// The CPU that a process last ran on (field `processor` of `/proc/PID/stat`).
pub fn last_of(pid: i32) -> Result<usize> {
    Stat::of(pid).map(|stat| stat.processor)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn pins_a_thread_and_its_place_is_told() {
        std::thread::spawn(|| {
            let before = allowed().unwrap();
            assert!(!before.is_empty());
            let last = *before.last().unwrap();
            pin(&[last]).unwrap();
            assert_eq!(allowed().unwrap(), [last]);
            assert_eq!(current().unwrap(), last);
            pin(&before).unwrap();
            assert_eq!(allowed().unwrap(), before);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn impossible_cpus_are_refused() {
        assert!(pin(&[]).is_err());
        assert!(pin(&[1 << 20]).is_err());
        assert!(pin(&[usize::MAX]).is_err());
        assert!(allowed_of(i32::MAX).is_err());
    }

    #[test]
    fn this_process_ran_somewhere() {
        assert!(last_of(std::process::id() as i32).is_ok());
    }
}
