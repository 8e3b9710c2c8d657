//! Attributes that a process passes on to the program it executes and to its children: scheduling, memory policy,
//! mitigations, address layout, a filter of system calls, a session of its own.
//!
//! Each setter changes the calling thread or process. Call it before `exec(3)`, while there is one thread.

use rustix::process::{Resource, Rlimit, getpriority_process, getrlimit, setpriority_process, setrlimit, setsid};

use crate::error::{Error, Result, check};

/// How the scheduler treats a process (`sched(7)`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// The usual one: `SCHED_OTHER`.
    Other,
    /// For work without waits: `SCHED_BATCH`.
    Batch,
    /// Real time at the lowest priority: `SCHED_FIFO`.
    Fifo,
}

impl Policy {
    const ALL: [(Self, libc::c_int); 3] =
        [(Self::Other, libc::SCHED_OTHER), (Self::Batch, libc::SCHED_BATCH), (Self::Fifo, libc::SCHED_FIFO)];

    const fn of_kernel(self) -> libc::c_int {
        match self {
            Self::Other => libc::SCHED_OTHER,
            Self::Batch => libc::SCHED_BATCH,
            Self::Fifo => libc::SCHED_FIFO,
        }
    }
}

/// The policy of this process; `None` for one that [`Policy`] does not have.
pub fn policy() -> Result<Option<Policy>> {
    // SAFETY: the call takes and returns numbers alone.
    let found = check("read the scheduling policy", unsafe { libc::sched_getscheduler(0) })?;
    let found = found & !libc::SCHED_RESET_ON_FORK;
    Ok(Policy::ALL.into_iter().find(|(_, number)| *number == found).map(|(policy, _)| policy))
}

/// Sets the policy of this process.
pub fn set_policy(policy: Policy) -> Result<()> {
    let priority = if policy == Policy::Fifo { 1 } else { 0 };
    let parameter = libc::sched_param { sched_priority: priority };
    // SAFETY: the call reads the structure, which lives until it returns.
    let set = unsafe { libc::sched_setscheduler(0, policy.of_kernel(), &raw const parameter) };
    check("set the scheduling policy", set).map(drop)
}

/// The nice value of this process.
pub fn nice() -> Result<i32> {
    getpriority_process(None).map_err(|error| Error::os("read the nice value", error))
}

/// Sets the nice value of this process.
pub fn set_nice(nice: i32) -> Result<()> {
    setpriority_process(None, nice).map_err(|error| Error::os("set the nice value", error))
}

/// Spreads the pages of this process over all of these memory nodes in turn; none of them means the usual policy.
pub fn interleave_memory(nodes: &[usize]) -> Result<()> {
    const DEFAULT: libc::c_long = 0;
    const INTERLEAVE: libc::c_long = 3;
    const BITS: usize = 64;
    let mut mask = [0_u64; 16];
    for node in nodes {
        let word =
            mask.get_mut(node / BITS).ok_or_else(|| Error::refused("set the memory policy", "too many nodes"))?;
        *word |= 1 << (node % BITS);
    }
    let (mode, bits) = if nodes.is_empty() { (DEFAULT, 0) } else { (INTERLEAVE, mask.len() * BITS) };
    let pointer = if nodes.is_empty() { std::ptr::null() } else { mask.as_ptr() };
    // SAFETY: the kernel reads at most `bits` bits behind the pointer, which the array holds.
    let set = unsafe { libc::syscall(libc::SYS_set_mempolicy, mode, pointer, bits) };
    check("set the memory policy", set as libc::c_int).map(drop)
}

/// Whether this process may have transparent huge pages.
pub fn huge_pages() -> Result<bool> {
    prctl("read whether huge pages are allowed", libc::PR_GET_THP_DISABLE, [0; 4]).map(|disabled| disabled == 0)
}

/// Allows or forbids transparent huge pages in this process.
pub fn allow_huge_pages(allowed: bool) -> Result<()> {
    let disabled = libc::c_ulong::from(!allowed);
    prctl("set whether huge pages are allowed", libc::PR_SET_THP_DISABLE, [disabled, 0, 0, 0]).map(drop)
}

/// A kind of speculation that a process can forgo (`Documentation/userspace-api/spec_ctrl.rst`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speculation {
    /// Loads before earlier stores: a mitigation for it is SSBD.
    StoreBypass,
    /// Targets of indirect branches.
    IndirectBranch,
}

impl Speculation {
    const fn of_kernel(self) -> libc::c_ulong {
        match self {
            Self::StoreBypass => 0,
            Self::IndirectBranch => 1,
        }
    }
}

// `libc` has the first two on few architectures only.
const PR_GET_SPECULATION_CTRL: libc::c_int = 52;
const PR_SET_SPECULATION_CTRL: libc::c_int = 53;
const PR_SPEC_PRCTL: libc::c_int = 1;
const PR_SPEC_ENABLE: libc::c_int = 2;
const PR_SPEC_DISABLE: libc::c_int = 4;

/// Whether this process speculates so.
///
/// # Errors
/// When this process cannot change it here, with the reason.
pub fn speculates(kind: Speculation) -> Result<bool> {
    const WHAT: &str = "control speculation";
    let state = prctl(WHAT, PR_GET_SPECULATION_CTRL, [kind.of_kernel(), 0, 0, 0])?;
    match state & PR_SPEC_PRCTL {
        0 => Err(Error::refused(WHAT, "the kernel leaves no choice to a process here")),
        _ => Ok(state & PR_SPEC_ENABLE != 0),
    }
}

/// Lets this process speculate, or not.
pub fn set_speculates(kind: Speculation, allowed: bool) -> Result<()> {
    let state = if allowed { PR_SPEC_ENABLE } else { PR_SPEC_DISABLE };
    let arguments = [kind.of_kernel(), state as libc::c_ulong, 0, 0];
    prctl("control speculation", PR_SET_SPECULATION_CTRL, arguments).map(drop)
}

/// Whether programs that this process executes have random addresses.
pub fn randomises_addresses() -> Result<bool> {
    personality(0xffff_ffff).map(|now| now & libc::ADDR_NO_RANDOMIZE as libc::c_ulong == 0)
}

/// Gives programs that this process executes random addresses, or the same each time.
pub fn randomise_addresses(random: bool) -> Result<()> {
    let flag = libc::ADDR_NO_RANDOMIZE as libc::c_ulong;
    let now = personality(0xffff_ffff)?;
    personality(if random { now & !flag } else { now | flag }).map(drop)
}

fn personality(persona: libc::c_ulong) -> Result<libc::c_ulong> {
    // SAFETY: the call takes and returns numbers alone.
    let found = check("set the address layout", unsafe { libc::personality(persona) })?;
    Ok(found as libc::c_ulong)
}

/// Bytes that the stack of an executed program may have; `None` is unlimited.
#[must_use]
pub fn stack_limit() -> Option<u64> {
    getrlimit(Resource::Stack).current
}

/// Sets the bytes that the stack of an executed program may have, up to the hard limit.
pub fn set_stack_limit(bytes: Option<u64>) -> Result<()> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Stack);
    setrlimit(Resource::Stack, Rlimit { current: bytes, maximum })
        .map_err(|error| Error::os("set the limit of the stack", error))
}

/// Filters every system call of this process and of what it executes through `rules` rules that refuse nothing. The
/// rules look at an argument, since the kernel remembers the answer of rules that look at the number alone. There is no
/// way back.
pub fn filter_calls(rules: u16) -> Result<()> {
    const WHAT: &str = "set a filter of system calls";
    const FIRST_ARGUMENT: u32 = 16;
    const NEVER: u32 = 0xfedc_0000;
    let statement = |code: u32, value: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k: value };
    let mut filter = vec![statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, FIRST_ARGUMENT)];
    // Both branches lead to the next rule.
    filter
        .extend((0..rules).map(|rule| statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, NEVER + u32::from(rule))));
    filter.push(statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW));
    let length = u16::try_from(filter.len()).map_err(|_| Error::refused(WHAT, "it has too many rules"))?;
    prctl(WHAT, libc::PR_SET_NO_NEW_PRIVS, [1, 0, 0, 0])?;
    let program = libc::sock_fprog { len: length, filter: filter.as_mut_ptr() };
    // Without this flag, some kernels forbid speculation as well.
    let flags = libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW;
    // SAFETY: the kernel reads the program and the `length` instructions behind its pointer, all of which live until
    // the call returns.
    let set = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) };
    check(WHAT, set as libc::c_int).map(drop)
}

/// Makes this process the leader of a session of its own: no terminal reaches it.
pub fn leave_session() -> Result<()> {
    setsid().map(drop).map_err(|error| Error::os("begin a session", error))
}

/// Keeps a file open in the program that this process executes.
pub fn keep_open(file: std::fs::File) -> Result<()> {
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty())
        .map_err(|error| Error::os("keep a file open", error))?;
    std::mem::forget(file);
    Ok(())
}

fn prctl(what: &'static str, option: libc::c_int, [a, b, c, d]: [libc::c_ulong; 4]) -> Result<libc::c_int> {
    // SAFETY: every option of this module takes numbers alone.
    check(what, unsafe { libc::prctl(option, a, b, c, d) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_is_read_back() {
        // In a thread of its own: the attributes of a thread end with it. Those of the process are set to what they are.
        std::thread::spawn(|| {
            set_nice(nice().unwrap().max(3)).unwrap();
            assert!(nice().unwrap() >= 3);
            set_policy(Policy::Batch).unwrap();
            assert_eq!(policy().unwrap(), Some(Policy::Batch));
            if let Ok(true) = speculates(Speculation::StoreBypass) {
                set_speculates(Speculation::StoreBypass, false).unwrap();
                assert!(!speculates(Speculation::StoreBypass).unwrap());
            }
            set_stack_limit(stack_limit()).unwrap();
            randomise_addresses(randomises_addresses().unwrap()).unwrap();
            allow_huge_pages(huge_pages().unwrap()).unwrap();
            interleave_memory(&[]).unwrap();
            filter_calls(300).unwrap();
            assert!(std::fs::read("/proc/self/status").is_ok(), "the filter refuses nothing");
        })
        .join()
        .unwrap();
    }
}
