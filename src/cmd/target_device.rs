//! The medium of `prony run --suite tape` and of results at `medium=target`: checked before anything is overwritten.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use kernels::file::open_alone;
use model::{Fact, PlanEntry, Primitive};
use os::file::{Device, device, device_number, filesystem, mounts};

/// The suite that writes to a medium.
pub(super) const SUITE: &str = "tape";

/// Whether all results are of such a medium.
pub(super) fn is_of(entries: &[PlanEntry]) -> bool {
    !entries.is_empty() && entries.iter().all(|entry| entry.parameters.get("medium") == Some("target"))
}

/// A medium that may be overwritten; a file created for it is removed when this is dropped.
#[derive(Debug)]
pub(super) struct TargetMedium {
    path: PathBuf,
    kind: Option<Device>,
}

impl Drop for TargetMedium {
    fn drop(&mut self) {
        if self.kind.is_none() {
            // Only its space is lost, and the document of the run contains the path.
            drop(std::fs::remove_file(&self.path));
        }
    }
}

impl TargetMedium {
    /// Creates the file if the path does not exist, or verifies that a device may be overwritten.
    ///
    /// # Errors
    /// When the path contains data that the user may want to keep, or cannot be written.
    pub(super) fn claim(path: &Path) -> Result<Self> {
        let shown = path.display();
        let kind = match std::fs::metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Self::make(path),
            Err(error) => return Err(error).with_context(|| format!("could not look at {shown}")),
            Ok(found) if found.is_dir() => {
                bail!("{shown} is a directory: name a new file in it, a block device or a tape drive")
            }
            Ok(found) if found.is_file() => {
                bail!("{shown} is a file that streaming would overwrite: name a path that does not exist")
            }
            Ok(_) => device(path)?,
        };
        match kind {
            Some(Device::Block) => block(path)?,
            Some(Device::Character) => character(path)?,
            None => bail!("{shown} is neither a file, a block device nor a tape drive"),
        }
        let path = path.canonicalize().with_context(|| format!("could not find {shown}"))?;
        Ok(Self { path, kind })
    }

    fn make(path: &Path) -> Result<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
        let name = path.file_name().with_context(|| format!("{} names no file", path.display()))?;
        let folder = folder.canonicalize().with_context(|| {
            format!("could not find the directory {}, in which {} would be made", folder.display(), path.display())
        })?;
        let path = folder.join(name);
        File::create_new(&path)
            .with_context(|| format!("could not make {}; name a path that you may write", path.display()))?;
        Ok(Self { path, kind: None })
    }

    /// Its path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Its kind, as a fact of the machine.
    pub(super) fn fact(&self) -> Fact {
        let shown = self.path.display();
        let text = match self.kind {
            Some(Device::Block) => format!("{shown}, a block device"),
            Some(Device::Character) => format!("{shown}, a character device"),
            None => {
                let on = self.path.parent().and_then(|folder| filesystem(folder).ok());
                let on = on.map_or_else(String::new, |found| format!(" on {} ({})", found.kind, found.source));
                format!("{shown}, a file made for the run{on}")
            }
        };
        Fact::new("target.medium", text, "--target-device", &[Primitive::DiskRead, Primitive::DiskWrite])
    }

    /// The effect on it, printed before writing.
    pub(super) fn warning(&self) -> String {
        match self.kind {
            Some(_) => format!("what is on {} is written over", self.path.display()),
            None => format!("{} is made for the run and removed after it", self.path.display()),
        }
    }
}

/// A block device that no other process uses.
fn block(path: &Path) -> Result<()> {
    let shown = path.display();
    let number = device_number(path)?;
    if let Some(mount) = mounts()?.into_iter().find(|mount| mount.device == number) {
        bail!(
            "{shown} is mounted at {} and would be overwritten: unmount it first, or name another device",
            mount.point.display()
        );
    }
    // An older kernel refuses to open such a device for writing, a newer one refuses every block (blkdev_get, 6.x).
    let flag = std::fs::read_to_string(format!("/sys/dev/block/{}:{}/ro", number.0, number.1));
    if flag.is_ok_and(|flag| flag.trim() == "1") {
        bail!("{shown} can only be read; name a device that you may write");
    }
    let mut options = File::options();
    match open_alone(path, options.read(true).write(true)) {
        Ok(_) => Ok(()),
        Err(error) if error.errno() == Some(BUSY) => {
            bail!(
                "{shown} is in use, by a file system on one of its parts, as swap, by RAID or by another program: free it first"
            )
        }
        Err(error) => Err(error).context("name a device that you may write"),
    }
}

/// A tape drive that rewinds, or one of the devices without content.
fn character(path: &Path) -> Result<()> {
    let shown = path.display();
    let (major, minor) = device_number(path)?;
    match (major, minor) {
        (MEMORY, NULL | ZERO | FULL) => {}
        (TAPE | ONSTREAM, minor) if minor & KEEPS_PLACE != 0 => {
            bail!("{shown} keeps its place when it is closed: name the drive that rewinds (st0 where this is nst0)")
        }
        (TAPE | ONSTREAM, _) => {}
        _ => bail!("{shown} is a character device, not a tape drive: name a new file, a block device or a tape drive"),
    }
    File::options()
        .write(true)
        .open(path)
        .map(drop)
        .with_context(|| format!("could not open {shown} to write; is there a tape in it that may be written?"))
}

const BUSY: i32 = 16;
// Numbers of devices: Documentation/admin-guide/devices.txt of Linux; the bit is from st(4).
const MEMORY: u32 = 1;
const NULL: u32 = 3;
const ZERO: u32 = 5;
const FULL: u32 = 7;
const TAPE: u32 = 9;
const ONSTREAM: u32 = 206;
const KEEPS_PLACE: u32 = 128;
