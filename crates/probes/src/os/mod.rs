//! os: probes of this family.

mod clock_read;
mod context_switch;
mod descriptors;
mod epoll;
mod exec;
mod file_lock;
mod fork_exec;
mod fork_exit;
mod fork_shell;
mod futex_handoff;
mod mmap;
mod page_fault;
mod pipe_switch;
mod posix_spawn;
mod protection_fault;
mod protection_trap;
mod ring;
mod select;
mod signal_handle;
mod signal_install;
mod start;
mod syscall_getppid;
mod syscall_mix;
mod syscall_write;
mod thread_create;
mod thread_switch;
mod timer_wakeup;
mod vfork_exec;
mod wake_cross_cpu;
mod yield_cpu;

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
    &exec::PROBE,
    &posix_spawn::PROBE,
    &vfork_exec::PROBE,
    &thread_create::PROBE,
    &signal_install::PROBE,
    &signal_handle::PROBE,
    &protection_fault::PROBE,
    &protection_trap::PROBE,
    &context_switch::PROBE,
    &thread_switch::PROBE,
    &pipe_switch::PROBE,
    &futex_handoff::PROBE,
    &wake_cross_cpu::PROBE,
    &yield_cpu::PROBE,
    &page_fault::PROBE,
    &mmap::PROBE,
    &select::PROBE,
    &epoll::PROBE,
    &file_lock::PROBE,
    &timer_wakeup::PROBE,
];
