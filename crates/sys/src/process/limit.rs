//! Resource limits (`getrlimit(2)`).

use crate::error::{Result, check};

/// The limited resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LimitedResource {
    /// Bytes of address space.
    AddressSpace,
    /// Bytes of a memory dump.
    Core,
    /// Seconds of CPU time.
    CpuSeconds,
    /// Bytes of a written file.
    FileSize,
    /// Bytes locked in memory.
    LockedMemory,
    /// Open descriptors.
    OpenFiles,
    /// Processes and threads of this user.
    Processes,
    /// Bytes of the main thread's stack.
    Stack,
}

impl LimitedResource {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::AddressSpace,
        Self::Core,
        Self::CpuSeconds,
        Self::FileSize,
        Self::LockedMemory,
        Self::OpenFiles,
        Self::Processes,
        Self::Stack,
    ];

    /// The name in `getrlimit(2)`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AddressSpace => "RLIMIT_AS",
            Self::Core => "RLIMIT_CORE",
            Self::CpuSeconds => "RLIMIT_CPU",
            Self::FileSize => "RLIMIT_FSIZE",
            Self::LockedMemory => "RLIMIT_MEMLOCK",
            Self::OpenFiles => "RLIMIT_NOFILE",
            Self::Processes => "RLIMIT_NPROC",
            Self::Stack => "RLIMIT_STACK",
        }
    }
}

macro_rules! with_number {
    ($resource:expr, $number:ident => $call:expr) => {{
        let $number = match $resource {
            LimitedResource::AddressSpace => libc::RLIMIT_AS,
            LimitedResource::Core => libc::RLIMIT_CORE,
            LimitedResource::CpuSeconds => libc::RLIMIT_CPU,
            LimitedResource::FileSize => libc::RLIMIT_FSIZE,
            LimitedResource::LockedMemory => libc::RLIMIT_MEMLOCK,
            LimitedResource::OpenFiles => libc::RLIMIT_NOFILE,
            LimitedResource::Processes => libc::RLIMIT_NPROC,
            LimitedResource::Stack => libc::RLIMIT_STACK,
        };
        $call
    }};
}

/// A limit; `None` means unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// The limit in force.
    pub soft: Option<u64>,
    /// The largest permitted soft limit.
    pub hard: Option<u64>,
}

/// The limit of this process.
#[allow(clippy::unnecessary_cast, reason = "the C types differ between systems")]
pub fn limit(resource: LimitedResource) -> Result<Limit> {
    let raw = read(resource)?;
    let value = |n: libc::rlim_t| (n != libc::RLIM_INFINITY).then_some(n as u64);
    Ok(Limit { soft: value(raw.rlim_cur), hard: value(raw.rlim_max) })
}

/// Sets the soft limit of this process and of children created later; `None` raises it to the hard limit.
pub fn set_soft_limit(resource: LimitedResource, soft: Option<u64>) -> Result<()> {
    let mut raw = read(resource)?;
    raw.rlim_cur = soft.map_or(raw.rlim_max, |soft| soft as libc::rlim_t);
    // SAFETY: the pointer is to a valid rlimit for the length of the call.
    check("change a resource limit", with_number!(resource, n => unsafe { libc::setrlimit(n, &raw const raw) }))
        .map(|_| ())
}

/// Which limit an error of a system call probably stands for, as a clause: "a user may have 100 processes and threads
/// (ulimit -u)", or the filter of system calls that may have refused it. `None` where no limit of this process is set
/// that leads to such an error.
#[must_use]
pub fn limit_behind(errno: Option<i32>) -> Option<String> {
    if errno == Some(libc::EAGAIN)
        && let Some(of_group) = crate::cgroup::why_not_started()
    {
        return Some(of_group);
    }
    if matches!(errno, Some(libc::EPERM | libc::ENOSYS))
        && std::fs::read_to_string("/proc/self/status").is_ok_and(|status| is_filtered(&status))
    {
        return Some("a filter (seccomp) stands before the system calls of this process, as in most containers".into());
    }
    // SAFETY: takes nothing and cannot fail.
    let exempt = unsafe { libc::geteuid() } == 0;
    clause(errno?, exempt, |resource| limit(resource).ok()?.soft)
}

/// Whether a filter of system calls stands before the process of this `/proc/PID/status` (seccomp(2)).
fn is_filtered(status: &str) -> bool {
    crate::text::field(status, "Seccomp").is_some_and(|mode| mode == "2")
}

/// The clause for an error under these limits, for a user who is exempt from that on processes or not.
fn clause(errno: i32, exempt: bool, soft: impl Fn(LimitedResource) -> Option<u64>) -> Option<String> {
    let said = |resource, who, one, many, option| {
        let soft = soft(resource)?;
        Some(format!("{who} may have {soft} {} (ulimit -{option})", if soft == 1 { one } else { many }))
    };
    match errno {
        libc::EAGAIN if !exempt => {
            said(LimitedResource::Processes, "a user", "process or thread", "processes and threads", 'u')
        }
        libc::EMFILE => said(LimitedResource::OpenFiles, "a process", "open file", "open files", 'n'),
        libc::ENOMEM => {
            said(LimitedResource::AddressSpace, "a process", "byte of addresses", "bytes of addresses", 'v')
        }
        libc::EFBIG => said(LimitedResource::FileSize, "a file", "byte", "bytes", 'f'),
        _ => None,
    }
}

/// Raises the soft limit of open files to `wanted` and some more for the program itself, as far as the hard limit
/// allows. What lies beyond that fails when it is opened.
pub fn allow_files(wanted: usize) {
    let wanted = wanted as u64 + 256;
    if let Ok(found) = limit(LimitedResource::OpenFiles)
        && found.soft.is_some_and(|soft| soft < wanted)
    {
        let _ = set_soft_limit(LimitedResource::OpenFiles, Some(found.hard.map_or(wanted, |hard| hard.min(wanted))));
    }
}

/// Bytes of address space that this process may still take; `None` where it has no limit, or the system does not say
/// how much is taken.
#[must_use]
pub fn address_space_left() -> Option<u64> {
    let limit = limit(LimitedResource::AddressSpace).ok()?.soft?;
    let pages: u64 = std::fs::read_to_string("/proc/self/statm").ok()?.split(' ').next()?.parse().ok()?;
    Some(limit.saturating_sub(pages * crate::memory::page_size() as u64))
}

fn read(resource: LimitedResource) -> Result<libc::rlimit> {
    let mut raw = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a writable rlimit for the length of the call.
    check("read a resource limit", with_number!(resource, n => unsafe { libc::getrlimit(n, &raw mut raw) }))?;
    Ok(raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_limit_behind_it() {
        let set = |_| Some(64);
        let said = |errno, exempt| clause(errno, exempt, set).unwrap_or_default();
        assert_eq!(said(libc::EMFILE, true), "a process may have 64 open files (ulimit -n)");
        assert_eq!(said(libc::EAGAIN, false), "a user may have 64 processes and threads (ulimit -u)");
        assert_eq!(said(libc::EAGAIN, true), "", "the superuser may have any number");
        assert_eq!(said(libc::EFBIG, true), "a file may have 64 bytes (ulimit -f)");
        let one = clause(libc::EAGAIN, false, |_| Some(1));
        assert_eq!(one.as_deref(), Some("a user may have 1 process or thread (ulimit -u)"));
        assert_eq!(clause(libc::ENOMEM, true, |_| None), None, "memory is short without a limit");
        assert_eq!((said(libc::ENOENT, false), limit_behind(None)), (String::new(), None));
    }

    #[test]
    fn a_filter_of_system_calls_is_seen() {
        assert!(is_filtered("Name:\tsh\nSeccomp:\t2\nSeccomp_filters:\t1\n"));
        assert!(!is_filtered("Name:\tsh\nSeccomp:\t0\nSeccomp_filters:\t0\n"));
        assert!(!is_filtered(""));
    }

    #[test]
    fn limits_are_read_and_lowered() {
        for resource in LimitedResource::ALL {
            let found = limit(resource).unwrap();
            if let (Some(soft), Some(hard)) = (found.soft, found.hard) {
                assert!(soft <= hard, "{}", resource.name());
            }
        }
        let before = limit(LimitedResource::Core).unwrap();
        set_soft_limit(LimitedResource::Core, Some(0)).unwrap();
        assert_eq!(limit(LimitedResource::Core).unwrap(), Limit { soft: Some(0), hard: before.hard });
        set_soft_limit(LimitedResource::Core, None).unwrap();
        assert_eq!(limit(LimitedResource::Core).unwrap().soft, before.hard);
    }

    #[test]
    fn open_files_are_allowed_as_far_as_the_hard_limit_goes_and_never_fewer() {
        let before = limit(LimitedResource::OpenFiles).unwrap();
        let Some(soft) = before.soft else { return };
        allow_files(0);
        assert_eq!(limit(LimitedResource::OpenFiles).unwrap().soft, Some(soft));
        allow_files(soft as usize + 1);
        let wanted = soft + 257;
        let most = before.hard.map_or(wanted, |hard| hard.min(wanted));
        assert_eq!(limit(LimitedResource::OpenFiles).unwrap().soft, Some(most.max(soft)));
    }
}
