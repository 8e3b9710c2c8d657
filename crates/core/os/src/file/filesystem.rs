//! The file system of a path, and whether the path is a device.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use crate::error::{Error, Result};
use crate::file::mount::{Mount, mount_of};

/// The file system of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filesystem {
    /// Type: `ext4`, `xfs`, `nfs4`, `tmpfs` ...
    pub kind: String,
    /// Device or server; empty if it is not in the mount table.
    pub source: String,
    /// Mount point; empty if it is not in the mount table.
    pub point: String,
    /// Options of the mount and of the file system, comma-separated.
    pub options: String,
    /// Bytes of an allocation unit.
    pub block_bytes: u64,
    /// Total bytes.
    pub total_bytes: u64,
    /// Bytes available to this user.
    pub free_bytes: u64,
}

/// The file system of a path.
pub fn filesystem(path: impl AsRef<Path>) -> Result<Filesystem> {
    let path = path.as_ref();
    let found = rustix::fs::statvfs(path);
    let found = found.map_err(|error| Error::os(format!("learn the file system of {}", path.display()), error))?;
    let mount = mount_of(path);
    let (kind, source, point, options) = match mount {
        Ok(mount) => {
            let options = all_options(&mount);
            (mount.kind, mount.source, mount.point.display().to_string(), options)
        }
        Err(_) => (magic(path), String::new(), String::new(), String::new()),
    };
    Ok(Filesystem {
        kind,
        source,
        point,
        options,
        block_bytes: found.f_frsize,
        total_bytes: found.f_blocks.saturating_mul(found.f_frsize),
        free_bytes: found.f_bavail.saturating_mul(found.f_frsize),
    })
}

/// Options of the mount, then those options of the file system that are not among them.
fn all_options(mount: &Mount) -> String {
    let mut options: Vec<&str> = mount.options.split(',').collect();
    for option in mount.super_options.split(',') {
        if !option.is_empty() && !options.contains(&option) {
            options.push(option);
        }
    }
    options.join(",")
}

/// Name of the type by the number in `statfs` (`linux/magic.h`), for processes without access to the mount table.
fn magic(path: &Path) -> String {
    let Ok(found) = rustix::fs::statfs(path) else { return "unknown".to_owned() };
    let name = match found.f_type as u32 {
        0xef53 => "ext",
        0x5846_5342 => "xfs",
        0x9123_683e => "btrfs",
        0x2fc1_2fc1 => "zfs",
        0x0102_1994 => "tmpfs",
        0x8584_58f6 => "ramfs",
        0x794c_7630 => "overlay",
        0x6969 => "nfs",
        0xff53_4d42 => "cifs",
        0x6573_5546 => "fuse",
        0x0bd0_0bd0 => "lustre",
        0x4750_4653 => "gpfs",
        0x00c3_6400 => "ceph",
        0x0102_1997 => "9p",
        0xf2f5_2010 => "f2fs",
        other => return format!("{other:#x}"),
    };
    name.to_owned()
}

/// A device file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Device {
    /// Reads and writes blocks, such as a disk.
    Block,
    /// Reads and writes characters or records, such as a tape.
    Character,
}

/// The kind of device of a path; `None` for a file, folder or anything else. Symbolic links are followed.
pub fn device(path: impl AsRef<Path>) -> Result<Option<Device>> {
    let path = path.as_ref();
    let kind = fs::metadata(path).map_err(|e| Error::os(format!("look at {}", path.display()), e))?.file_type();
    Ok(match (kind.is_block_device(), kind.is_char_device()) {
        (true, _) => Some(Device::Block),
        (_, true) => Some(Device::Character),
        _ => None,
    })
}

/// Major and minor number of the device at a path (stat(2)). Symbolic links are followed.
pub fn device_number(path: impl AsRef<Path>) -> Result<(u32, u32)> {
    let path = path.as_ref();
    let number = fs::metadata(path).map_err(|e| Error::os(format!("look at {}", path.display()), e))?.rdev();
    Ok((rustix::fs::major(number), rustix::fs::minor(number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_is_a_character_device_and_a_folder_is_none() {
        assert_eq!(device("/dev/null").unwrap(), Some(Device::Character));
        assert_eq!(device("/").unwrap(), None);
        assert!(device("/nonexistent").is_err());
        assert_eq!(device_number("/dev/null").unwrap(), (1, 3));
    }

    #[test]
    fn the_root_has_a_file_system() {
        let found = filesystem("/").unwrap();
        assert!(!found.kind.is_empty() && found.block_bytes > 0 && found.total_bytes >= found.free_bytes);
        assert!(filesystem("/nonexistent").is_err());
        assert!(filesystem("a\0b").is_err());
    }

    #[test]
    fn a_type_by_its_number() {
        assert_eq!(magic(Path::new("/proc")), "0x9fa0");
    }
}
