//! Creating, replacing, waiting for and controlling processes, and the plain system calls that figures count.
//!
//! A worker has one thread when it forks. [`fork`] checks that, because its child runs Rust code; the other ways to
//! create a process ([`fork_exit`], [`PreparedProgram`]) make only async-signal-safe calls in the child, with all data
//! prepared before, and may therefore be used with any number of threads.

mod child;
mod end_watch;
mod fork;
mod group;
mod limit;
mod orphans;
mod own;
mod owner;
mod pipe;
mod program;
pub mod raw;
mod search;
mod supervised;
mod thread;

pub use child::{Child, ProcessExit};
pub use end_watch::{EndWatch, wait_within};
pub use fork::{exit_now, fork, fork_exit, thread_count};
pub use group::{die_with_parent, end_group_with_parent, own_pid, parent_pid, send};
pub use limit::{LimitedResource, address_space_left, allow_files, limit, limit_behind};
pub use orphans::{adopt_orphans, adopts_orphans, reap_orphans};
pub use own::command_of;
pub use owner::{is_abandoned, owned_prefix, prefix_of, remove_abandoned};
pub use pipe::{EndingOutput, TimedInput};
pub use program::PreparedProgram;
pub use search::{program_named, search_path};
pub use supervised::{Attended, Finished, Stream, Supervised, Supply, run, serve};
pub use thread::run_bare_thread;
