//! The privilege by which namespaces can be created.

use std::fs;

use os::namespace::{NamespaceKind, leave};

use crate::{Error, Result};

/// The privilege by which this process creates network namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    /// Its own: root, or already in a user namespace.
    Own,
    /// A user namespace that [`gain`] has just created.
    User,
}

/// Whether this process can create network namespaces now.
///
/// # Errors
/// With the kernel's message.
pub fn means() -> Result<Means> {
    let thread =
        std::thread::Builder::new().spawn(|| leave(&[NamespaceKind::Network])).map_err(Error::io("start a thread"))?;
    match thread.join() {
        Ok(Ok(())) => Ok(Means::Own),
        Ok(Err(reason)) => Err(Error::Lab(format!("{reason}; it needs root, or user namespaces"))),
        Err(_) => Err(Error::Lab("a thread panicked".to_owned())),
    }
}

/// Makes it possible to build a laboratory. Root needs nothing. Otherwise this process moves into a user namespace, in
/// which it is root over the laboratory alone. Must be called while the process has one thread.
///
/// # Errors
/// With the kernel's message when neither is allowed.
pub fn gain() -> Result<Means> {
    if let Ok(means) = means() {
        return Ok(means);
    }
    let owner = fs::metadata("/proc/self").map_err(Error::io("read the owner of this process"))?;
    let (user, group) = (std::os::unix::fs::MetadataExt::uid(&owner), std::os::unix::fs::MetadataExt::gid(&owner));
    leave(&[NamespaceKind::User, NamespaceKind::Network]).map_err(|reason| {
        Error::Lab(format!("{reason}; it needs root, or user namespaces, which this system does not allow here"))
    })?;
    let write = |file: &str, text: String| {
        fs::write(format!("/proc/self/{file}"), text).map_err(Error::io(format!("write /proc/self/{file}")))
    };
    write("setgroups", "deny".to_owned())?;
    write("uid_map", format!("0 {user} 1"))?;
    write("gid_map", format!("0 {group} 1"))?;
    means().map(|_| Means::User)
}
