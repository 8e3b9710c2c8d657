//! The CPUs on which a thread may run, and the one on which it runs.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
#[path = "other.rs"]
mod linux;

use crate::error::{Error, Result};

/// CPUs that the calling thread may run on, ascending (`sched_getaffinity`).
pub fn allowed() -> Result<Vec<usize>> {
    linux::get()
}

/// Restricts the calling thread to these CPUs (`sched_setaffinity`). Threads and children started later inherit this.
pub fn pin(cpus: &[usize]) -> Result<()> {
    if cpus.is_empty() {
        return Err(Error::refused("pin to a CPU", "no CPU was named"));
    }
    linux::set(cpus)
}

/// The CPU on which the calling thread is running now.
pub fn current() -> Result<usize> {
    linux::current()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn pins_a_thread_and_its_place_is_told() {
        std::thread::Builder::new()
            .spawn(|| {
                let before = allowed().unwrap();
                assert!(!before.is_empty());
                let last = *before.last().unwrap();
                pin(&[last]).unwrap();
                assert_eq!(allowed().unwrap(), [last]);
                assert_eq!(current().unwrap(), last);
                pin(&before).unwrap();
                assert_eq!(allowed().unwrap(), before);
            })
            .unwrap()
            .join()
            .unwrap();
    }

    #[test]
    fn impossible_cpus_are_refused() {
        assert!(pin(&[]).is_err());
        assert!(pin(&[1 << 20]).is_err());
        assert!(pin(&[usize::MAX]).is_err());
        // One that may exist elsewhere: what a CPU is that went offline in the middle of a run.
        if !allowed().unwrap().contains(&1_023) {
            let said = pin(&[1_023]).unwrap_err().to_string();
            assert_eq!(said, "could not pin to a CPU: CPU 1023 is offline, or not permitted any more");
        }
    }
}
