//! Directory of the file figures: the target directory, or a file system in memory, which measures the operating system
//! alone.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use model::Point;
use sys::file::filesystem;

use crate::{Axis, ProbeContext, Scratch, Unsupported};

/// The axis of places, with its default values. Further directories of a run are `target2` and so on.
pub(super) const fn place(defaults: &'static [&'static str]) -> Axis {
    let further = |word: &str| model::target_number(word).is_some_and(|number| number <= 9);
    Axis { besides: further, ..Axis::choice("place", &["target", "tmpfs"], defaults) }
}

/// A directory of this launch at the place of a point, with space for `bytes`; the file system is noted.
pub(super) fn open(at: &Point, context: &mut ProbeContext, bytes: u64) -> Result<Rc<Scratch>, Unsupported> {
    let inside = match at.choice("place")? {
        // The launch was given the directory of its place.
        place if model::target_number(place).is_some() => context.directory().to_owned(),
        _ => tmpfs().ok_or_else(|| Unsupported::new("no file system in memory (tmpfs) can be written"))?,
    };
    let scratch = context.scratch_in(&inside)?;
    describe(&inside, context);
    require_space(&inside, bytes)?;
    Ok(scratch)
}

/// Notes the file system of a directory.
pub(super) fn describe(directory: &Path, context: &mut ProbeContext) {
    match filesystem(directory) {
        Ok(found) => context.note(format!(
            "{}: {} on {}, mounted at {} with {}",
            directory.display(),
            found.kind,
            found.source,
            found.point,
            found.options
        )),
        Err(error) => context.note(format!("{}: {error}", directory.display())),
    }
}

/// Refuses to fill a disk: half of the free space must remain, and no launch uses more than 1 GiB.
pub(super) fn require_space(directory: &Path, bytes: u64) -> Result<(), Unsupported> {
    let free = filesystem(directory)?.free_bytes;
    if bytes > free / 2 {
        return Err(Unsupported::new(format!(
            "{bytes} bytes are needed and {free} are free in {}",
            directory.display()
        )));
    }
    Ok(())
}

/// A directory of a file system in memory that can be written.
pub(crate) fn tmpfs() -> Option<PathBuf> {
    ["/dev/shm", "/run/shm", "/tmp", "/run"]
        .iter()
        .map(PathBuf::from)
        .chain(std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from))
        .find(|path| filesystem(path).is_ok_and(|found| found.kind == "tmpfs") && writable(path))
}

fn writable(directory: &Path) -> bool {
    let trial = directory.join(format!("prony-{}-trial", std::process::id()));
    std::fs::create_dir(&trial).and_then(|()| std::fs::remove_dir(&trial)).is_ok()
}
