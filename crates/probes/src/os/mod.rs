//! os: figures of this family.

mod clock_read;
mod context_switch;
mod fork_exec;
mod fork_exit;
mod fork_shell;
mod pipe_switch;
mod posix_spawn;
mod signal_handle;
mod signal_install;
mod start;
mod syscall_getppid;
mod syscall_mix;
mod syscall_write;
mod vfork_exec;

use crate::Probe;

/// In the order of reports.
pub(crate) static TABLE: &[&Probe] = &[
    &syscall_write::PROBE,
    &syscall_getppid::PROBE,
    &syscall_mix::PROBE,
    &clock_read::PROBE,
    &fork_exit::PROBE,
    &fork_exec::PROBE,
    &fork_shell::PROBE,
    &posix_spawn::PROBE,
    &vfork_exec::PROBE,
    &signal_install::PROBE,
    &signal_handle::PROBE,
    &context_switch::PROBE,
    &pipe_switch::PROBE,
];
