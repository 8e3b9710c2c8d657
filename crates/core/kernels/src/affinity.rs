//! The CPUs on which a thread may run, and the one on which it runs.
//!
//! Masks have any length, in contrast to those of `rustix`: machines with more than 1024 CPUs exist.

use crate::error::{Error, Result, check};

const WORD: usize = libc::c_ulong::BITS as usize;
/// The kernel is configured for at most 8192 CPUs today; this is eight times that.
const MOST: usize = 1 << 16;

/// CPUs that the calling thread may run on, ascending (`sched_getaffinity`).
pub fn allowed() -> Result<Vec<usize>> {
    let mut mask: Vec<libc::c_ulong> = vec![0; 1024 / WORD];
    loop {
        // SAFETY: the pointer and the byte length describe `mask`, which the kernel may overwrite entirely.
        let answer = unsafe {
            libc::sched_getaffinity(0, size_of_val(mask.as_slice()), mask.as_mut_ptr().cast::<libc::cpu_set_t>())
        };
        if answer >= 0 {
            break;
        }
        let error = Error::last("read the CPU affinity");
        if error.errno() != Some(libc::EINVAL) || mask.len() * WORD >= MOST {
            return Err(error);
        }
        mask.resize(mask.len() * 2, 0);
    }
    Ok((0..mask.len() * WORD).filter(|cpu| mask[cpu / WORD] >> (cpu % WORD) & 1 == 1).collect())
}

/// Restricts the calling thread to these CPUs (`sched_setaffinity`). Threads and children started later inherit this.
pub fn pin(cpus: &[usize]) -> Result<()> {
    const WHAT: &str = "pin to a CPU";
    let Some(highest) = cpus.iter().copied().max() else { return Err(Error::refused(WHAT, "no CPU was named")) };
    if highest >= MOST {
        return Err(Error::refused(WHAT, format!("there is no CPU {highest}")));
    }
    let mut mask: Vec<libc::c_ulong> = vec![0; (highest / WORD + 1).max(1024 / WORD)];
    for cpu in cpus {
        mask[cpu / WORD] |= 1 << (cpu % WORD);
    }
    // SAFETY: the pointer and the byte length describe `mask`, which the kernel only reads.
    let answer =
        unsafe { libc::sched_setaffinity(0, size_of_val(mask.as_slice()), mask.as_ptr().cast::<libc::cpu_set_t>()) };
    check(WHAT, answer).map(|_| ()).map_err(|error| match error.errno() {
        // sched_setaffinity(2): none of them is online and permitted by the cpuset.
        Some(libc::EINVAL) => {
            let named: Vec<String> = cpus.iter().map(usize::to_string).collect();
            Error::refused(WHAT, format!("CPU {} is offline, or not permitted any more", named.join(", ")))
        }
        _ => error,
    })
}

/// The CPU on which the calling thread is running now.
#[must_use]
pub fn current() -> usize {
    rustix::thread::sched_getcpu()
}

#[cfg(test)]
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
                assert_eq!(current(), last);
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
        // A CPU that may exist but is not allowed, like one that went offline during a run.
        if !allowed().unwrap().contains(&1_023) {
            let said = pin(&[1_023]).unwrap_err().to_string();
            assert_eq!(said, "could not pin to a CPU: CPU 1023 is offline, or not permitted any more");
        }
    }
}
