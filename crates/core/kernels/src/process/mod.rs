//! Creating, replacing and waiting for processes, and the plain system calls that results count.
//!
//! A worker has one thread when it forks. [`fork`] checks that, because its child runs Rust code. The other ways to
//! create a process ([`fork_exit`], [`PreparedProgram`]) make only async-signal-safe calls in the child, with all data
//! prepared before, so they work with any number of threads.

mod child;
mod fork;
mod program;
pub mod raw;
mod thread;

pub use child::{Child, ProcessExit};
pub use fork::{exit_now, fork, fork_exit, thread_count};
pub use program::PreparedProgram;
pub use thread::run_bare_thread;
