//! `setns(2)` and `unshare(2)`.

use std::os::fd::{AsFd, AsRawFd};

use crate::error::{Result, check};
use crate::namespace::Kind;

fn flag(kind: Kind) -> i32 {
    match kind {
        Kind::User => libc::CLONE_NEWUSER,
        Kind::Network => libc::CLONE_NEWNET,
        Kind::Mount => libc::CLONE_NEWNS,
    }
}

pub(super) fn enter(namespace: impl AsFd, kind: Kind) -> Result<()> {
    // SAFETY: takes an open descriptor and a number, and touches no memory of ours.
    check("enter a namespace", unsafe { libc::setns(namespace.as_fd().as_raw_fd(), flag(kind)) }).map(|_| ())
}

pub(super) fn leave(kinds: &[Kind]) -> Result<()> {
    let flags = kinds.iter().fold(0, |flags, kind| flags | flag(*kind));
    // SAFETY: takes numbers. None of these flags unshares memory or the table of descriptors, on which safe code relies.
    check("make a namespace", unsafe { libc::unshare(flags) }).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, read_link};

    #[test]
    fn a_thread_leaves_and_comes_back() {
        std::thread::spawn(|| {
            let home = File::open("/proc/thread-self/ns/net").unwrap();
            let before = read_link("/proc/thread-self/ns/net").unwrap();
            if let Err(reason) = leave(&[Kind::Network]) {
                testing::skip!("{reason}");
                return;
            }
            assert_ne!(read_link("/proc/thread-self/ns/net").unwrap(), before);
            enter(&home, Kind::Network).unwrap();
            assert_eq!(read_link("/proc/thread-self/ns/net").unwrap(), before);
            assert!(enter(&home, Kind::Mount).is_err());
        })
        .join()
        .unwrap();
    }
}
