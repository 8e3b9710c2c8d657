//! Starting, controlling and ending programs: groups, limits, pipes, orphans, and what remains of processes.

mod end_watch;
mod group;
mod inherited;
mod limit;
mod orphans;
mod own;
mod owner;
mod pipe;
mod search;
mod supervised;

pub use end_watch::{EndWatch, wait_within};
pub use group::{die_with_parent, end_group_with_parent, own_pid, parent_pid, send};
pub use inherited::{
    Policy, Speculation, allow_huge_pages, filter_calls, huge_pages, interleave_memory, keep_open, leave_session, nice,
    policy, randomise_addresses, randomises_addresses, set_nice, set_policy, set_speculates, set_stack_limit,
    speculates, stack_limit,
};
pub use limit::{LimitedResource, allow_files, is_privileged, limit, limit_behind};
pub use orphans::{adopt_orphans, adopts_orphans, reap_orphans};
pub use own::{command_of, own_descriptors};
pub use owner::{is_abandoned, owned_prefix, prefix_of, remove_abandoned};
pub use pipe::{EndingOutput, TimedInput};
pub use search::{program_named, search_path};
pub use supervised::{Attended, Finished, Stream, Supervised, Supply, run, serve};
