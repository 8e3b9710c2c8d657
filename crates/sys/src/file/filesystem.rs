//! The file system of a path, and whether the path is a device.

use std::ffi::CString;
use std::fs;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use crate::error::{Error, Result, check};
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
#[allow(clippy::unnecessary_cast, reason = "the C types differ between systems")]
pub fn filesystem(path: impl AsRef<Path>) -> Result<Filesystem> {
    let path = path.as_ref();
    let what = || format!("learn the file system of {}", path.display());
    let c_path = CString::new(path.as_os_str().as_bytes())
        .map_err(|_| Error::refused(what(), "the path contains a zero byte"))?;
    let mut raw = MaybeUninit::<libc::statvfs>::zeroed();
    // SAFETY: the path is null-terminated and the structure writable for the length of the call.
    check("", unsafe { libc::statvfs(c_path.as_ptr(), raw.as_mut_ptr()) }).map_err(|_| Error::last(what()))?;
    // SAFETY: the call succeeded, so the structure was filled; zeros are valid, too.
    let raw = unsafe { raw.assume_init() };
    let (unit, total, free) = (raw.f_frsize as u64, raw.f_blocks as u64, raw.f_bavail as u64);
    let mount = mount_of(path);
    let (kind, source, point, options) = match mount {
        Ok(mount) => {
            let options = all_options(&mount);
            (mount.kind, mount.source, mount.point.display().to_string(), options)
        }
        Err(_) => (magic(&c_path), String::new(), String::new(), String::new()),
    };
    Ok(Filesystem {
        kind,
        source,
        point,
        options,
        block_bytes: unit,
        total_bytes: total.saturating_mul(unit),
        free_bytes: free.saturating_mul(unit),
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
#[cfg(target_os = "linux")]
fn magic(path: &CString) -> String {
    let mut raw = MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: the path is null-terminated and the structure writable for the length of the call.
    if unsafe { libc::statfs(path.as_ptr(), raw.as_mut_ptr()) } != 0 {
        return "unknown".to_owned();
    }
    // SAFETY: the call succeeded, so the structure was filled; zeros are valid, too.
    let number = unsafe { raw.assume_init() }.f_type as u32;
    let name = match number {
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

#[cfg(not(target_os = "linux"))]
fn magic(_: &CString) -> String {
    "unknown".to_owned()
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
#[allow(clippy::unnecessary_cast, reason = "the C types differ between systems")]
pub fn device_number(path: impl AsRef<Path>) -> Result<(u32, u32)> {
    let path = path.as_ref();
    let number = fs::metadata(path).map_err(|e| Error::os(format!("look at {}", path.display()), e))?.rdev();
    let number = number as libc::dev_t;
    Ok((libc::major(number) as u32, libc::minor(number) as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_is_a_character_device_and_a_folder_is_none() {
        assert_eq!(device("/dev/null").unwrap(), Some(Device::Character));
        assert_eq!(device("/").unwrap(), None);
        assert!(device("/nonexistent").is_err());
        #[cfg(target_os = "linux")]
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
    #[cfg(target_os = "linux")]
    fn a_type_by_its_number() {
        assert_eq!(magic(&CString::new("/proc").unwrap()), "0x9fa0");
    }
}
