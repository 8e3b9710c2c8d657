//! Namespaces (`namespaces(7)`): a thread enters another network namespace or creates its own. The laboratory of the
//! network tests uses them.

use std::os::fd::AsFd;

use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};

use crate::error::{Error, Result};

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
    let kind = match kind {
        NamespaceKind::User => LinkNameSpaceType::User,
        NamespaceKind::Network => LinkNameSpaceType::Network,
        NamespaceKind::Mount => LinkNameSpaceType::Mount,
    };
    move_into_link_name_space(namespace.as_fd(), Some(kind)).map_err(|error| Error::os("enter a namespace", error))
}

/// Moves the calling thread into new namespaces of these kinds. Without privileges this requires
/// [`NamespaceKind::User`] among them, one thread, and the permission of the system.
pub fn leave(kinds: &[NamespaceKind]) -> Result<()> {
    let flags = kinds.iter().map(|kind| match kind {
        NamespaceKind::User => UnshareFlags::NEWUSER,
        NamespaceKind::Network => UnshareFlags::NEWNET,
        NamespaceKind::Mount => UnshareFlags::NEWNS,
    });
    // SAFETY: none of these flags unshares the table of descriptors, on which safe code relies.
    unsafe { unshare_unsafe(flags.collect()) }.map_err(|error| Error::os("make a namespace", error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, read_link};

    #[test]
    fn a_thread_leaves_and_comes_back() {
        std::thread::Builder::new()
            .spawn(|| {
                let home = File::open("/proc/thread-self/ns/net").unwrap();
                let before = read_link("/proc/thread-self/ns/net").unwrap();
                if let Err(reason) = leave(&[NamespaceKind::Network]) {
                    testing::skip!("{reason}");
                    return;
                }
                assert_ne!(read_link("/proc/thread-self/ns/net").unwrap(), before);
                enter(&home, NamespaceKind::Network).unwrap();
                assert_eq!(read_link("/proc/thread-self/ns/net").unwrap(), before);
                assert!(enter(&home, NamespaceKind::Mount).is_err());
            })
            .unwrap()
            .join()
            .unwrap();
    }
}
