//! Calls of the harness against reports of the system. One binary, so that it is linked once.

mod cgroup;
mod shared_core;
mod socket;
mod supervised;
mod topology;
mod usage;
