//! Starting, controlling and ending programs: groups, limits, pipes, orphans, and what remains of processes.

mod end_watch;
mod group;
mod limit;
mod orphans;
mod own;
mod owner;
mod pipe;
mod search;
mod supervised;

pub use end_watch::{EndWatch, wait_within};
pub use group::{die_with_parent, end_group_with_parent, own_pid, parent_pid, send};
pub use limit::{LimitedResource, address_space_left, allow_files, limit, limit_behind};
pub use orphans::{adopt_orphans, adopts_orphans, reap_orphans};
pub use own::command_of;
pub use owner::{is_abandoned, owned_prefix, prefix_of, remove_abandoned};
pub use pipe::{EndingOutput, TimedInput};
pub use search::{program_named, search_path};
pub use supervised::{Attended, Finished, Stream, Supervised, Supply, run, serve};
