//! Memory directly from the operating system: page-aligned arenas with a known page size, memory shared with children,
//! mapped files. Nothing here uses the allocator.

mod arena;
mod file_map;
mod helpers;
mod huge;
pub(crate) mod mapping;
mod numa;
mod shared;

pub use arena::Arena;
pub use file_map::FileMap;
pub use helpers::PreparationHelpers;
pub use huge::{HugeShare, Pages};
pub use numa::{on_node, verify_node};
pub use shared::SharedCounters;

use crate::text;

/// Size of a base page in bytes.
#[must_use]
pub fn page_size() -> usize {
    rustix::param::page_size()
}

/// Size of the huge page that the kernel creates transparently, in bytes (`hpage_pmd_size`; 2 MiB on x86-64).
#[must_use]
pub fn huge_page_size() -> usize {
    text::number("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size")
        .ok()
        .filter(|size: &usize| size.is_power_of_two() && *size > page_size())
        .unwrap_or(2 << 20)
}
