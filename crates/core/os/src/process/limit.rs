//! Resource limits (`getrlimit(2)`).

use rustix::process::{Resource, Rlimit, geteuid, getrlimit, setrlimit};

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

    fn of_kernel(self) -> Resource {
        match self {
            Self::AddressSpace => Resource::As,
            Self::Core => Resource::Core,
            Self::CpuSeconds => Resource::Cpu,
            Self::FileSize => Resource::Fsize,
            Self::LockedMemory => Resource::Memlock,
            Self::OpenFiles => Resource::Nofile,
            Self::Processes => Resource::Nproc,
            Self::Stack => Resource::Stack,
        }
    }
}

/// Whether this process has the privileges of root.
#[must_use]
pub fn is_privileged() -> bool {
    geteuid().is_root()
}

/// The limit in force of this process; `None` means unlimited.
#[must_use]
pub fn limit(resource: LimitedResource) -> Option<u64> {
    getrlimit(resource.of_kernel()).current
}

/// The limit that an error of a system call probably means, as a clause: "a user may have 100 processes and threads
/// (ulimit -u)", or the filter of system calls that may have refused it. `None` if no limit of this process leads to
/// such an error.
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
    clause(errno?, geteuid().is_root(), limit)
}

/// Whether the process of this `/proc/PID/status` has a filter of system calls (seccomp(2)).
fn is_filtered(status: &str) -> bool {
    kernels::text::field(status, "Seccomp").is_some_and(|mode| mode == "2")
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
/// allows. Opening more than that fails later.
pub fn allow_files(wanted: usize) {
    let (wanted, found) = (wanted as u64 + 256, getrlimit(Resource::Nofile));
    if found.current.is_some_and(|soft| soft < wanted) {
        let most = found.maximum.map_or(wanted, |hard| hard.min(wanted));
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(most), ..found });
    }
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
    fn open_files_are_allowed_as_far_as_the_hard_limit_goes_and_never_fewer() {
        let Some(soft) = limit(LimitedResource::OpenFiles) else { return };
        allow_files(0);
        assert_eq!(limit(LimitedResource::OpenFiles), Some(soft));
        allow_files(soft as usize + 1);
        let wanted = soft + 257;
        let most = getrlimit(Resource::Nofile).maximum.map_or(wanted, |hard| hard.min(wanted));
        assert_eq!(limit(LimitedResource::OpenFiles), Some(most.max(soft)));
    }
}
