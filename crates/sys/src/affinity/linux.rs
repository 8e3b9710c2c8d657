//! CPU masks of Linux, of any length: machines with more than 1024 CPUs exist.

use crate::error::{Error, Result, check};

const WORD: usize = libc::c_ulong::BITS as usize;
/// The kernel is configured for at most 8192 CPUs today; this is eight times that.
const MOST: usize = 1 << 16;

pub(super) fn get() -> Result<Vec<usize>> {
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

pub(super) fn set(cpus: &[usize]) -> Result<()> {
    let highest = cpus.iter().copied().max().unwrap_or(0);
    if highest >= MOST {
        return Err(Error::refused("pin to a CPU", format!("there is no CPU {highest}")));
    }
    let mut mask: Vec<libc::c_ulong> = vec![0; (highest / WORD + 1).max(1024 / WORD)];
    for cpu in cpus {
        mask[cpu / WORD] |= 1 << (cpu % WORD);
    }
    // SAFETY: the pointer and the byte length describe `mask`, which the kernel only reads.
    let answer =
        unsafe { libc::sched_setaffinity(0, size_of_val(mask.as_slice()), mask.as_ptr().cast::<libc::cpu_set_t>()) };
    check("pin to a CPU", answer).map(|_| ()).map_err(|error| match error.errno() {
        // sched_setaffinity(2): none of them is online and permitted by the cpuset.
        Some(libc::EINVAL) => {
            let named: Vec<String> = cpus.iter().map(usize::to_string).collect();
            Error::refused("pin to a CPU", format!("CPU {} is offline, or not permitted any more", named.join(", ")))
        }
        _ => error,
    })
}

pub(super) fn current() -> Result<usize> {
    // SAFETY: takes no arguments and accesses no memory of this process.
    let cpu = check("learn the current CPU", unsafe { libc::sched_getcpu() })?;
    Ok(cpu as usize)
}
