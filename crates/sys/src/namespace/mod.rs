//! Namespaces (`namespaces(7)`): a thread enters another network namespace or creates its own. The laboratory of the
//! network tests uses them.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
#[path = "other.rs"]
mod linux;

use std::os::fd::AsFd;

use crate::error::Result;

/// What a namespace separates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamespaceKind {
    /// Users and their privileges.
    User,
    /// Network interfaces, addresses, ports.
    Network,
    /// Mounts.
    Mount,
}

/// Moves the calling thread into the namespace of an open file of `/proc/PID/ns` or `/run/netns`. Sockets created
/// before keep their namespace; user and mount namespaces can be entered with one thread only.
pub fn enter(namespace: impl AsFd, kind: NamespaceKind) -> Result<()> {
    linux::enter(namespace, kind)
}

/// Moves the calling thread into new namespaces of these kinds. Without privileges this requires
/// [`NamespaceKind::User`] among them, one thread, and the permission of the system.
pub fn leave(kinds: &[NamespaceKind]) -> Result<()> {
    linux::leave(kinds)
}
