//! `setns(2)` and `unshare(2)`.

use std::os::fd::{AsFd, AsRawFd};

use crate::error::{Result, check};
use crate::namespace::NamespaceKind;

fn flag(kind: NamespaceKind) -> i32 {
    match kind {
        NamespaceKind::User => libc::CLONE_NEWUSER,
        NamespaceKind::Network => libc::CLONE_NEWNET,
        NamespaceKind::Mount => libc::CLONE_NEWNS,
    }
}

pub(super) fn enter(namespace: impl AsFd, kind: NamespaceKind) -> Result<()> {
    // SAFETY: takes an open descriptor and a number, and accesses no memory of this process.
    check("enter a namespace", unsafe { libc::setns(namespace.as_fd().as_raw_fd(), flag(kind)) }).map(|_| ())
}

pub(super) fn leave(kinds: &[NamespaceKind]) -> Result<()> {
    let flags = kinds.iter().fold(0, |flags, kind| flags | flag(*kind));
    // SAFETY: takes numbers. None of these flags unshares memory or the table of descriptors, on which safe code
    // relies.
    check("make a namespace", unsafe { libc::unshare(flags) }).map(|_| ())
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
