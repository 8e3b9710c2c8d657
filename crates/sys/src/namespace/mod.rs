//! Namespaces (`namespaces(7)`): a thread enters another network, or leaves for one of its own. The laboratory of the
//! network tests is made of them.

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

/// Moves the calling thread into the namespace that an open file of `/proc/PID/ns` or `/run/netns` names. Sockets
/// made before stay where they are; user and mount namespaces can be entered with one thread only.
pub fn enter(namespace: impl AsFd, kind: NamespaceKind) -> Result<()> {
    linux::enter(namespace, kind)
}

/// Moves the calling thread into new namespaces of these kinds. Without privilege this works with [`NamespaceKind::User`]
/// among them, with one thread, and where the system allows it.
pub fn leave(kinds: &[NamespaceKind]) -> Result<()> {
    linux::leave(kinds)
}
