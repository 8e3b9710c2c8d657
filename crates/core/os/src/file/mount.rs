//! Mounted file systems, from `/proc/self/mountinfo` (proc(5)).

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use kernels::text;

use crate::error::{Error, Result};

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Major and minor number of the device, as `stat` returns for its files.
    pub device: (u32, u32),
    /// Part of the file system that is mounted.
    pub root: PathBuf,
    /// Mount point.
    pub point: PathBuf,
    /// Options of this mount: `rw,noatime` ...
    pub options: String,
    /// Type of file system: `ext4`, `nfs4`, `tmpfs` ...
    pub kind: String,
    /// Device or server.
    pub source: String,
    /// Options of the file system itself: `data=ordered`, `rsize=1048576` ...
    pub super_options: String,
}

/// All mounts visible to this process, in the order of mounting.
pub fn mounts() -> Result<Vec<Mount>> {
    mounts_under(Path::new("/"))
}

/// The same from a copy of a machine's `/proc`.
pub(crate) fn mounts_under(root: &Path) -> Result<Vec<Mount>> {
    Ok(parse(&text::read(root.join("proc/self/mountinfo"))?))
}

/// The mount of a path: of the mounts at the longest leading part of its resolved form, the last one, which hides the
/// others.
pub fn mount_of(path: impl AsRef<Path>) -> Result<Mount> {
    let path = path.as_ref();
    let what = || format!("find the mount of {}", path.display());
    let resolved = fs::canonicalize(path).map_err(|e| Error::os(what(), e))?;
    longest(mounts()?, &resolved).ok_or_else(|| Error::refused(what(), "it is not below any mount"))
}

fn longest(mounts: Vec<Mount>, path: &Path) -> Option<Mount> {
    let leading = mounts.into_iter().filter(|mount| path.starts_with(&mount.point));
    leading.max_by_key(|mount| mount.point.components().count())
}

fn parse(text: &str) -> Vec<Mount> {
    text.lines().filter_map(line).collect()
}

fn line(line: &str) -> Option<Mount> {
    // There are any number of optional fields between the options and the single dash.
    let (before, behind) = line.split_once(" - ")?;
    let mut before = before.split(' ').skip(2);
    let (major, minor) = before.next()?.split_once(':')?;
    let (root, point, options) = (before.next()?, before.next()?, before.next()?);
    let mut behind = behind.split(' ');
    let (kind, source) = (behind.next()?, behind.next()?);
    Some(Mount {
        device: (major.parse().ok()?, minor.parse().ok()?),
        root: unescape(root),
        point: unescape(point),
        options: options.to_owned(),
        kind: kind.to_owned(),
        source: unescape(source).to_string_lossy().into_owned(),
        super_options: behind.next().unwrap_or_default().to_owned(),
    })
}

/// Spaces, tabs, newlines and backslashes are encoded as a backslash and three octal digits.
fn unescape(text: &str) -> PathBuf {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = (bytes[at] == b'\\').then(|| text.get(at + 1..at + 4)).flatten();
        match code.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 4;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    PathBuf::from(OsString::from_vec(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "22 1 254:0 / / rw,noatime - ext4 /dev/root rw,data=ordered\n\
                        30 22 0:25 / /mnt/a\\040b rw shared:5 master:1 - tmpfs none rw,size=10k\n\
                        31 22 0:26 / /mnt/a\\040b/c ro - nfs4 host:/x rw,rsize=1048576\n\
                        32 22 0:27 / /mnt/a\\040b rw - ramfs none rw\n\
                        not a mount\n";

    #[test]
    fn the_longest_and_last_mount_wins() {
        let all = parse(TEXT);
        assert_eq!(all.len(), 4);
        let of = |path: &str| longest(parse(TEXT), Path::new(path)).unwrap().kind;
        assert_eq!(of("/mnt"), "ext4");
        assert_eq!(of("/mnt/a b"), "ramfs");
        assert_eq!(of("/mnt/a b/cd"), "ramfs");
        assert_eq!(of("/mnt/a b/c/d"), "nfs4");
        assert_eq!(all[2].super_options, "rw,rsize=1048576");
        assert_eq!(all[0].device, (254, 0));
    }

    #[test]
    fn escapes() {
        assert_eq!(unescape("a\\040b\\134"), PathBuf::from("a b\\"));
        assert_eq!(unescape("\\04"), PathBuf::from("\\04"));
        assert_eq!(unescape("\\é12"), PathBuf::from("\\é12"));
    }

    #[test]
    fn the_proc_file_system_is_on_proc() {
        assert_eq!(mount_of("/proc/self/status").unwrap().kind, "proc");
        assert!(mount_of("/nonexistent").is_err());
    }
}
