//! os: benchmarks of this family.

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

use crate::Benchmark;

/// In the order of reports.
pub(crate) static TABLE: &[&Benchmark] = &[
    &syscall_write::BENCHMARK,
    &syscall_getppid::BENCHMARK,
    &syscall_mix::BENCHMARK,
    &clock_read::BENCHMARK,
    &fork_exit::BENCHMARK,
    &fork_exec::BENCHMARK,
    &fork_shell::BENCHMARK,
    &exec::BENCHMARK,
    &posix_spawn::BENCHMARK,
    &vfork_exec::BENCHMARK,
    &thread_create::BENCHMARK,
    &signal_install::BENCHMARK,
    &signal_handle::BENCHMARK,
    &protection_fault::BENCHMARK,
    &protection_trap::BENCHMARK,
    &context_switch::BENCHMARK,
    &thread_switch::BENCHMARK,
    &pipe_switch::BENCHMARK,
    &futex_handoff::BENCHMARK,
    &wake_cross_cpu::BENCHMARK,
    &yield_cpu::BENCHMARK,
    &page_fault::BENCHMARK,
    &mmap::BENCHMARK,
    &select::BENCHMARK,
    &epoll::BENCHMARK,
    &file_lock::BENCHMARK,
    &timer_wakeup::BENCHMARK,
];
