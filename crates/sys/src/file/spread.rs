//! Distribution of new directories in a file system.

use std::fs::File;
use std::path::Path;

use crate::error::{Error, Result};

/// `FS_TOPDIR_FL` of `linux/fs.h`, which `chattr +T` sets.
#[cfg(target_os = "linux")]
const TOP: libc::c_int = 0x0002_0000;

/// Requests that the file system spread directories created in this one, as it does for those of unrelated users
/// (`ioctl_iflags(2)`, `chattr +T`): ext4 then chooses a block group by the name of each. `false` if the file system
/// does not support it.
#[cfg(target_os = "linux")]
pub fn spread_directories(directory: impl AsRef<Path>) -> Result<bool> {
    use std::os::fd::AsRawFd;

    let directory = directory.as_ref();
    let opened = File::open(directory).map_err(|error| Error::os(format!("open {}", directory.display()), error))?;
    let mut flags: libc::c_int = 0;
    // SAFETY: the descriptor is open for the time of the call, and the kernel writes one `int` (ioctl_iflags(2): the
    // `long` in the request number is a historical mistake) into a variable of that type.
    let known = unsafe { libc::ioctl(opened.as_raw_fd(), libc::FS_IOC_GETFLAGS, &raw mut flags) } == 0;
    if !known {
        return Ok(false);
    }
    flags |= TOP;
    // SAFETY: as above; the kernel reads one `int`.
    Ok(unsafe { libc::ioctl(opened.as_raw_fd(), libc::FS_IOC_SETFLAGS, &raw const flags) } == 0)
}

/// Not supported on other systems.
#[cfg(not(target_os = "linux"))]
pub fn spread_directories(_directory: impl AsRef<Path>) -> Result<bool> {
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_is_granted_or_unknown_and_a_missing_directory_is_an_error() {
        let home = tempfile::tempdir().unwrap();
        if spread_directories(home.path()).unwrap() {
            assert!(spread_directories(home.path()).unwrap(), "and may be said again");
        } else {
            testing::skip!("the file system of {} does not spread directories", home.path().display());
        }
        assert!(spread_directories(home.path().join("none")).is_err());
    }
}
