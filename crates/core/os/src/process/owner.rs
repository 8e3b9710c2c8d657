//! Names of directories that identify their process, so that leftovers of a killed one can be told from directories in
//! use.
//!
//! The number of a process is ambiguous in a directory that several hosts or containers share. With the boot and the
//! PID namespace, its absence proves that its process has ended.

use std::path::Path;

use super::{own_pid, send};

/// How the names of what this process makes begin: `prony-PID-xSPACE-`, or without the space where the system does not
/// tell it.
#[must_use]
pub fn owned_prefix() -> String {
    prefix_of(own_pid().unsigned_abs())
}

/// The same for another process of this one's space of process numbers, such as a child.
#[must_use]
pub fn prefix_of(pid: u32) -> String {
    match space() {
        Some(space) => format!("prony-{pid}-x{space:08x}-"),
        None => format!("prony-{pid}-"),
    }
}

/// Whether a name was given by a process that has certainly ended.
#[must_use]
pub fn is_abandoned(name: &str) -> bool {
    let mut parts = name.split('-');
    let [prony, pid, place] = [(); 3].map(|()| parts.next().unwrap_or_default());
    let here = space().is_some_and(|space| place == format!("x{space:08x}"));
    let ended = |pid: i32| send(pid, None).is_err_and(|error| error.errno() == Some(libc::ESRCH));
    prony == "prony" && here && pid.parse().is_ok_and(|pid: i32| pid > 0 && ended(pid))
}

/// Removes directories of processes that have certainly ended. Directories that cannot be removed stay.
pub fn remove_abandoned(inside: &Path) {
    for entry in std::fs::read_dir(inside).into_iter().flatten().flatten() {
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_directory && entry.file_name().to_str().is_some_and(is_abandoned) {
            // The doctor lists remaining ones.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// The boot of this system and the space of process numbers of this process, as one number.
fn space() -> Option<u32> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let numbers = std::fs::read_link("/proc/self/ns/pid").ok()?;
    // FNV-1a, which every version of this program computes alike.
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let bytes = boot.bytes().chain(numbers.to_string_lossy().bytes().collect::<Vec<u8>>());
    Some(bytes.fold(0x811c_9dc5, step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_certainly_nobody_uses_is_removed() {
        if space().is_none() {
            return testing::lacks!("the boot, or the space of process numbers");
        }
        let home = tempfile::tempdir().unwrap();
        let (mut ended, own) = (std::process::Command::new("true").spawn().unwrap(), owned_prefix());
        ended.wait().unwrap();
        let ended = prefix_of(ended.id());
        let other_space = ended.replace("-x", "-x0");
        let unknown_space = ended.split("-x").next().unwrap().to_owned() + "-";
        let kept = [own + "1", other_space + "1", unknown_space + "1f-0", "prony-notes".to_owned(), "other".to_owned()];
        for name in kept.iter().chain([&format!("{ended}sessions-aB3")]) {
            std::fs::create_dir(home.path().join(name)).unwrap();
            std::fs::write(home.path().join(name).join("file"), "x").unwrap();
        }
        let file = format!("{ended}file");
        std::fs::write(home.path().join(&file), "x").unwrap();
        std::os::unix::fs::symlink(home.path().join("other"), home.path().join(format!("{ended}link"))).unwrap();
        remove_abandoned(home.path());
        let mut left: Vec<String> =
            home.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        let mut expected = kept.to_vec();
        expected.extend([file, format!("{ended}link")]);
        left.sort();
        expected.sort();
        assert_eq!(left, expected);
        assert!(home.path().join("other/file").exists(), "links are not followed");
    }
}
