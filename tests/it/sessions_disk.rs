//! Sessions on a slow disk: a loop device that a control group slows down. In a separate file, so that no other test
//! uses the CPUs at the same time.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails, one that cannot run says so")]

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::Place;

/// Bytes per second that the device may transfer.
const RATE: u64 = 4 << 20;

/// Clean-up of each step, run when this is dropped, last step first.
#[derive(Default)]
struct Undo(Vec<Vec<String>>);

impl Drop for Undo {
    fn drop(&mut self) {
        for command in self.0.iter().rev() {
            drop(Command::new(&command[0]).args(&command[1..]).output());
        }
    }
}

impl Undo {
    fn with(&mut self, words: &[&str]) {
        self.0.push(words.iter().map(|word| (*word).to_owned()).collect());
    }
}

fn said(words: &[&str]) -> Result<String, String> {
    let output = Command::new(words[0]).args(&words[1..]).output().map_err(|error| format!("{}: {error}", words[0]))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    Err(format!("{}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr).trim()))
}

/// A control group in which reading from a device is slow, in version 1 or 2.
fn slow_group(device: &str, undo: &mut Undo) -> Result<PathBuf, String> {
    let number = said(&["lsblk", "--noheadings", "--nodeps", "--output", "MAJ:MIN", device])?;
    let name = format!("prony-test-{}", std::process::id());
    let first = Path::new("/sys/fs/cgroup/blkio");
    let (folder, file, rule) = if first.is_dir() {
        (first.join(name), "blkio.throttle.read_bps_device", format!("{} {RATE}", number.trim()))
    } else {
        let root = Path::new("/sys/fs/cgroup");
        std::fs::write(root.join("cgroup.subtree_control"), "+io")
            .map_err(|error| format!("io controller: {error}"))?;
        (root.join(name), "io.max", format!("{} rbps={RATE}", number.trim()))
    };
    std::fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    undo.with(&["rmdir", folder.to_str().unwrap()]);
    std::fs::write(folder.join(file), rule).map_err(|error| format!("{file}: {error}"))?;
    Ok(folder)
}

fn on_a_slow_disk(place: &Place, undo: &mut Undo) -> Result<String, String> {
    let image = place.file("image");
    std::fs::File::create(&image).unwrap().set_len(64 << 20).unwrap();
    let device = said(&["losetup", "--find", "--show", image.to_str().unwrap()])?;
    undo.with(&["losetup", "--detach", &device]);
    said(&["mkfs.ext4", "-q", &device])?;
    let parameters = place.file("disk");
    std::fs::create_dir(&parameters).unwrap();
    let parameters = parameters.to_str().unwrap();
    said(&["mount", &device, parameters])?;
    undo.with(&["umount", parameters]);
    let group = slow_group(&device, undo)?;
    // The shell joins the group and is replaced by the program.
    let join = format!("echo $$ > {}/cgroup.procs && exec \"$0\" \"$@\"", group.display());
    let sessions = [
        "app",
        "sessions",
        "-n",
        "2",
        "--write",
        "2",
        "--file-size",
        "4",
        "--cold",
        "--runs",
        "2",
        "--directory",
        parameters,
    ];
    let output = Command::new("sh")
        .args(["-c", &join, env!("CARGO_BIN_EXE_prony")])
        .args(sessions)
        .env("PRONY_STORE", place.file("runs.sqlite"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    Ok(text)
}

#[test]
fn sessions_on_a_slow_disk_are_disk_bound() {
    let place = Place::new();
    let mut undo = Undo::default();
    match on_a_slow_disk(&place, &mut undo) {
        Ok(said) => assert!(said.contains("Disk bound in") || said.contains("disk bound in"), "{said}"),
        Err(reason) => testing::skip!("no slow disk can be made here: {reason}"),
    }
}

/// A control group that limits memory, in version 1 or 2.
fn small_group(bytes: u64, undo: &mut Undo) -> Result<PathBuf, String> {
    let name = format!("prony-memory-{}", std::process::id());
    let first = Path::new("/sys/fs/cgroup/memory");
    let (folder, file) = if first.is_dir() {
        (first.join(name), "memory.limit_in_bytes")
    } else {
        let root = Path::new("/sys/fs/cgroup");
        std::fs::write(root.join("cgroup.subtree_control"), "+memory").map_err(|error| format!("memory: {error}"))?;
        (root.join(name), "memory.max")
    };
    std::fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    undo.with(&["rmdir", folder.to_str().unwrap()]);
    std::fs::write(folder.join(file), bytes.to_string()).map_err(|error| format!("{file}: {error}"))?;
    Ok(folder)
}

/// Files that are read into the cache before, but are larger together than the memory: the device is read all the same.
#[test]
fn twelve_sessions_over_more_than_the_memory_read_the_device() {
    let place = Place::new();
    let mut undo = Undo::default();
    let group = match small_group(100_000_000, &mut undo) {
        Ok(group) => group,
        Err(reason) => {
            testing::skip!("no memory can be limited here: {reason}");
            return;
        }
    };
    let join = format!("echo $$ > {}/cgroup.procs && exec \"$0\" \"$@\"", group.display());
    let sessions = ["app", "sessions", "-n", "12", "--beyond-memory", "--runs", "2", "--format=json", "--directory"];
    let output = Command::new("sh")
        .args(["-c", &join, env!("CARGO_BIN_EXE_prony")])
        .args(sessions)
        .arg(place.path())
        .env("PRONY_STORE", place.file("runs.sqlite"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let run: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let results = run["results"].as_array().unwrap();
    let device = results.iter().find(|result| result["benchmark"] == "application.sessions_device").unwrap();
    let read = crate::common::estimate(device).and_then(|found| found["value"].as_f64()).unwrap();
    assert!(read > 0.0, "{device:#}");
}
