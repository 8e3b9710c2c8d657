//! Directory of the file results: the target directory, or a file system in memory, which measures the operating system
//! alone.

use std::path::Path;
use std::rc::Rc;

use model::{Parameters, spoken_size};
use os::file::{Filesystem, filesystem};

use crate::scratch::tmpfs;
use crate::{BenchmarkContext, Parameter, Scratch, Unsupported};

/// The parameter of places, with its default values. Further directories of a run are `target2` and so on.
pub(super) const fn place(defaults: &'static [&'static str]) -> Parameter {
    let further = |word: &str| model::target_number(word).is_some_and(|number| number <= 9);
    Parameter { besides: further, ..Parameter::choice("place", &["target", "tmpfs"], defaults) }
}

/// A directory of this sample where its parameters ask for, with space for `bytes`, and on a disk if files must be
/// durable. The file system is noted.
pub(super) fn open(at: &Parameters, context: &mut BenchmarkContext, bytes: u64) -> Result<Rc<Scratch>, Unsupported> {
    let inside = match at.choice("place")? {
        // The sample was given the directory of its place.
        place if model::target_number(place).is_some() => context.directory().to_owned(),
        _ => tmpfs().ok_or_else(|| Unsupported::new("no file system in memory (tmpfs) can be written"))?,
    };
    if at.get("durability") == Some("fsync") {
        require_durability(&inside)?;
    }
    let scratch = context.scratch_in(&inside)?;
    describe(&inside, context);
    require_space(&inside, bytes)?;
    Ok(scratch)
}

/// Notes the file system of a directory.
pub(super) fn describe(directory: &Path, context: &mut BenchmarkContext) {
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

/// Refuses to fill a disk: half of the free space must remain, and no sample uses more than 1 GiB.
pub(crate) fn require_space(directory: &Path, bytes: u64) -> Result<(), Unsupported> {
    space_of(directory, bytes, filesystem(directory)?.free_bytes)
}

/// Bytes that a sample may use in a directory.
pub(super) fn room(directory: &Path) -> Result<u64, Unsupported> {
    Ok(filesystem(directory)?.free_bytes / 2)
}

fn space_of(directory: &Path, bytes: u64, free: u64) -> Result<(), Unsupported> {
    if bytes <= free / 2 {
        return Ok(());
    }
    let [needed, free] = [bytes, free].map(spoken_size);
    Err(Unsupported::new(format!(
        "it needs {needed}, more than half of the {free} free in {}; name a directory with more room (--directory)",
        directory.display()
    )))
}

/// Refuses a file system in memory: nothing on it is durable, and no disk is behind its cache.
pub(super) fn require_disk(directory: &Path) -> Result<(), Unsupported> {
    let found = filesystem(directory)?;
    let Some(memory) = memory_behind(&found, &|path| filesystem(path).ok()) else { return Ok(()) };
    Err(Unsupported::new(format!(
        "{} is in memory ({memory}): nothing there reaches a disk; name a directory on one (--directory)",
        directory.display()
    )))
}

/// Refuses what makes nothing durable: a file system in memory, and an overlay that ignores requests to.
pub(super) fn require_durability(directory: &Path) -> Result<(), Unsupported> {
    require_disk(directory)?;
    if is_volatile(&filesystem(directory)?) {
        return Err(Unsupported::new(format!(
            "{} is on an overlay mounted volatile, which makes nothing durable; name another directory (--directory)",
            directory.display()
        )));
    }
    Ok(())
}

fn is_volatile(found: &Filesystem) -> bool {
    found.kind == "overlay" && found.options.split(',').any(|option| ["volatile", "fsync=volatile"].contains(&option))
}

/// Why a file system is in memory: its type, its device, or for an overlay its upper directory. `below` finds the file
/// system of a path, unless a container hides it.
fn memory_behind(found: &Filesystem, below: &dyn Fn(&str) -> Option<Filesystem>) -> Option<String> {
    if ["tmpfs", "ramfs"].contains(&found.kind.as_str()) {
        return Some(found.kind.clone());
    }
    if ["/dev/ram", "/dev/zram"].iter().any(|device| found.source.starts_with(device)) {
        return Some(format!("{} on {}", found.kind, found.source));
    }
    let upper = found.options.split(',').find_map(|option| option.strip_prefix("upperdir="));
    let upper = upper.filter(|_| found.kind == "overlay").and_then(below).filter(|upper| upper.kind != "overlay")?;
    memory_behind(&upper, below).map(|memory| format!("an overlay of {memory}"))
}

/// Whether a set of parameters needs a disk: a file system in memory cannot do it.
pub(super) fn durable_in_memory(at: &Parameters) -> bool {
    at.get("durability") == Some("fsync") && at.get("place") == Some("tmpfs")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SampleSetting;

    #[test]
    fn half_of_the_free_space_is_left_and_said_to_be() {
        let here = Path::new("/data");
        assert_eq!(space_of(here, 4 << 20, 8 << 20), Ok(()));
        assert_eq!(
            space_of(here, 4 << 20, 7 << 20).unwrap_err().to_string(),
            "it needs 4 MiB, more than half of the 7 MiB free in /data; name a directory with more room (--directory)"
        );
    }

    #[test]
    fn what_must_reach_a_disk_is_not_measured_in_memory() {
        let Some(memory) = tmpfs() else { return testing::skip!("there is no file system in memory") };
        let at_disk = [
            ("file.fsync", ""),
            ("file.sequential_read", "medium=file"),
            ("file.sequential_write", "medium=file"),
            ("file.create", "durability=fsync,place=target"),
            ("file.delete", "durability=fsync,place=target"),
            ("file.write", "durability=fsync,place=target"),
            ("file.copy", "durability=fsync,place=target"),
        ];
        for (id, part) in at_disk {
            let benchmark = crate::find(id).unwrap();
            let point = benchmark.complete(&part.parse().unwrap()).unwrap().remove(0);
            let prepared = (benchmark.prepare)(&point, &mut BenchmarkContext::new(SampleSetting::within(&memory)));
            let refused = prepared.err().map(|not_measured| not_measured.to_string()).unwrap_or_default();
            assert!(refused.contains("is in memory (tmpfs)"), "{id}: {refused}");
        }
        let cached = crate::find("file.create").unwrap();
        let point = cached.complete(&"place=target,durability=none".parse().unwrap()).unwrap().remove(0);
        let prepared = (cached.prepare)(&point, &mut BenchmarkContext::new(SampleSetting::within(&memory)));
        assert!(prepared.is_ok(), "without the disk it is a result of the system");
    }

    #[test]
    fn memory_is_found_below_an_overlay_and_a_device() {
        let of = |kind: &str, source: &str, options: &str| Filesystem {
            kind: kind.into(),
            source: source.into(),
            point: "/".into(),
            options: options.into(),
            block_bytes: 4096,
            total_bytes: 0,
            free_bytes: 0,
        };
        let disk = || of("ext4", "/dev/sda1", "rw");
        let below = |path: &str| match path {
            "/run/upper" => Some(of("tmpfs", "tmpfs", "rw")),
            "/var/upper" => Some(disk()),
            _ => None,
        };
        let behind = |found: Filesystem| memory_behind(&found, &below);
        assert_eq!((behind(disk()), behind(of("tmpfs", "none", "rw"))), (None, Some("tmpfs".into())));
        assert_eq!(behind(of("ext4", "/dev/ram0", "rw")), Some("ext4 on /dev/ram0".into()));
        let overlay = |upper: &str| behind(of("overlay", "overlay", &format!("rw,lowerdir=/a,{upper},workdir=/w")));
        assert_eq!(overlay("upperdir=/run/upper"), Some("an overlay of tmpfs".into()));
        assert_eq!((overlay("upperdir=/var/upper"), overlay("upperdir=/hidden")), (None, None));
        assert!(["rw,volatile", "rw,fsync=volatile"].iter().all(|how| is_volatile(&of("overlay", "overlay", how))));
        assert!(!is_volatile(&of("overlay", "overlay", "rw,fsync=auto")) && !is_volatile(&disk()));
    }

    #[test]
    fn no_parameters_asks_for_durability_in_memory() {
        for id in ["file.create", "file.delete", "file.write", "file.copy"] {
            let benchmark = crate::find(id).unwrap();
            assert!(!benchmark.points().iter().any(durable_in_memory), "{id}");
            assert!(benchmark.points().iter().any(|at| at.get("durability") == Some("fsync")), "{id}");
        }
    }
}
