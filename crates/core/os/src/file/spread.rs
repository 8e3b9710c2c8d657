//! Distribution of new directories in a file system.

use std::fs::File;
use std::path::Path;

use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};

use crate::error::{Error, Result};

/// `FS_TOPDIR_FL` of `linux/fs.h`, which `chattr +T` sets.
const TOP: IFlags = IFlags::from_bits_retain(0x0002_0000);

/// Requests that the file system spread directories created in this one, as it does for those of unrelated users
/// (`ioctl_iflags(2)`, `chattr +T`). ext4 then chooses a block group by the name of each. `false` if the file system
/// does not support it.
pub fn spread_directories(directory: impl AsRef<Path>) -> Result<bool> {
    let directory = directory.as_ref();
    let opened = File::open(directory).map_err(|error| Error::os(format!("open {}", directory.display()), error))?;
    let flags = ioctl_getflags(&opened);
    Ok(flags.is_ok_and(|flags| ioctl_setflags(&opened, flags | TOP).is_ok()))
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
