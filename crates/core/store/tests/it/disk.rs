//! Full, read-only or limited disks: saved runs stay, and one clear line gives advice.
#![allow(clippy::unwrap_used, reason = "these are tests")]
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{SMALL, TYPICAL, run};
use crate::trouble::{PLACE, SAVER, assert_clear, skip, trouble};
use store::{Access, Detail, StoreErrorKind, save_document};

/// A mounted file system, unmounted at the end.
struct Mounted(tempfile::TempDir);

impl Mounted {
    fn of_size(size: &str) -> Option<Self> {
        let home = tempfile::tempdir().unwrap();
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(home.path())
            .stderr(Stdio::null())
            .status();
        if !done.is_ok_and(|status| status.success()) {
            skip("mounting a tmpfs needs root and the permission to mount");
            return None;
        }
        Some(Self(home))
    }

    fn remount(&self, option: &str) {
        let done = Command::new("mount").args(["-o", &format!("remount,{option}")]).arg(self.0.path()).status();
        assert!(done.unwrap().success());
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_keeps_what_was_saved() {
    let Some(disk) = Mounted::of_size("2m") else { return };
    let place = disk.0.path().join("runs.sqlite");
    let mut store = store::open(&place, Access::Write).unwrap();
    let mut kept = 0;
    let error = loop {
        match store.put(&run("m", kept, TYPICAL)) {
            Ok(_) => kept += 1,
            Err(error) => break error,
        }
        assert!(kept < 100, "2 MiB cannot hold that many");
    };
    assert_eq!(*trouble(&error), StoreErrorKind::Full, "{error}");
    assert_clear(&error, &place, "free some");
    assert!(kept > 1, "{kept}");
    assert_eq!(store.summaries().unwrap().len(), kept as usize);
    for index in 0..kept {
        assert_eq!(store.get(&run("m", index, SMALL).id, Detail::Whole).unwrap(), run("m", index, TYPICAL));
    }
    // With more space, saving continues.
    disk.remount("size=4m");
    assert_eq!(store.put(&run("m", 1000, TYPICAL)).unwrap(), u64::from(kept) + 1);
}

#[test]
fn removing_runs_frees_space_on_a_full_disk() {
    let Some(disk) = Mounted::of_size("2m") else { return };
    let mut store = store::open(&disk.0.path().join("runs.sqlite"), Access::Write).unwrap();
    store.put_all(&[run("m", 1, TYPICAL), run("m", 2, TYPICAL)]).unwrap();
    fs::write(disk.0.path().join("filler"), vec![0; 3 << 20]).unwrap_err();
    // More than fits into the free pages of files that exist.
    let more: Vec<_> = (3..10).map(|index| run("m", index, TYPICAL)).collect();
    assert_eq!(*trouble(&store.put_all(&more).unwrap_err()), StoreErrorKind::Full);
    store.remove(&[&run("m", 1, SMALL).id]).unwrap();
    assert!(store.put(&run("m", 5, SMALL)).unwrap() >= 3);
}

#[test]
fn runs_are_removed_from_a_store_that_is_opened_on_a_full_disk() {
    let Some(disk) = Mounted::of_size("2m") else { return };
    let (place, filler) = (disk.0.path().join("runs.sqlite"), disk.0.path().join("filler"));
    let fill = || fs::write(&filler, vec![0; 3 << 20]).unwrap_err();
    let mut store = store::open(&place, Access::Write).unwrap();
    store.put_all(&[run("m", 1, TYPICAL), run("m", 2, TYPICAL), run("m", 3, SMALL)]).unwrap();
    store.set_label(&run("m", 1, SMALL).id, Some("later")).unwrap();
    drop(store);
    fill();
    let mut store = store::open(&place, Access::Remove).unwrap();
    store.remove(&[&run("m", 1, SMALL).id]).unwrap();
    fs::remove_file(&filler).unwrap();
    fill();
    // Another process or this one has it open.
    store.remove(&[&run("m", 2, SMALL).id]).unwrap();
    let file = tempfile::tempfile_in(disk.0.path()).unwrap();
    assert!(file.set_len(1).is_ok() && takes(&file) > 0, "there is room again");
    drop(store);
    let store = store::open(&place, Access::Write).unwrap();
    assert_eq!(store.get(&run("m", 3, SMALL).id, Detail::Whole).unwrap(), run("m", 3, SMALL));
    assert_eq!(store.summaries().unwrap().len(), 1);
}

/// How many bytes of a few pages a file takes.
fn takes(mut file: &fs::File) -> usize {
    use std::io::Write;
    (0..4).map_while(|_| file.write(&[1; 4096]).ok()).sum()
}

#[test]
fn what_killed_writers_left_is_removed_by_the_next_run() {
    let home = tempfile::tempdir().unwrap();
    // No process has this number: it is above the largest that Linux gives.
    let (left, own) = (".prony-4999999-aB3.part", format!(".prony-{}-aB3.part", std::process::id()));
    let locked = home.path().join(".prony-4999999-cD4.part");
    let others = ["notes.part", ".prony-4999999-kept", ".prony-x-aB3.part"];
    let begin = || {
        for name in [left, own.as_str(), ".prony-4999999-cD4.part"].into_iter().chain(others) {
            fs::write(home.path().join(name), "{").unwrap();
        }
    };
    begin();
    let writer = fs::File::open(&locked).unwrap();
    writer.lock().unwrap();
    let stays = |name: &str| assert!(home.path().join(name).exists(), "{name}");
    store::check_destination(&home.path().join("run.json")).unwrap();
    assert!(!home.path().join(left).exists());
    others.iter().copied().chain([own.as_str(), ".prony-4999999-cD4.part"]).for_each(stays);
    drop(writer);
    store::check_destination(&home.path().join("run.json")).unwrap();
    assert!(!locked.exists());
}

#[test]
fn a_store_that_is_removed_during_a_run_is_made_anew() {
    for name in ["runs.sqlite", "folder/runs.sqlite"] {
        let home = tempfile::tempdir().unwrap();
        let place = home.path().join(name);
        let mut store = store::open(&place, Access::Write).unwrap();
        store.put_all(&[run("m", 1, SMALL), run("m", 2, SMALL)]).unwrap();
        assert!(!store.began_anew());
        match place.parent().filter(|folder| *folder != home.path()) {
            Some(folder) => fs::remove_dir_all(folder).unwrap(),
            None => fs::remove_file(&place).unwrap(),
        }
        assert_eq!(store.put(&run("m", 2, SMALL)).unwrap(), 1);
        assert!(store.began_anew());
        // It stays the same one from then on.
        assert_eq!(store.put(&run("m", 3, SMALL)).unwrap(), 2);
        let others = store::open(&place, Access::Read).unwrap();
        assert_eq!(others.get(&run("m", 2, SMALL).id, Detail::Whole).unwrap(), run("m", 2, SMALL));
        assert_eq!(others.summaries().unwrap().len(), 2);
    }
}

#[test]
fn a_store_is_no_larger_than_its_runs_once_others_are_removed() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("runs.sqlite");
    let mut store = store::open(&file, Access::Write).unwrap();
    store.put(&run("m", 1, TYPICAL)).unwrap();
    let size = || fs::metadata(&file).unwrap().len();
    let one = size();
    let more: Vec<_> = (2..22).map(|index| run("m", index, TYPICAL)).collect();
    store.put_all(&more).unwrap();
    assert!(size() > 5 * one, "{one} and {}", size());
    store.remove(&more.iter().map(|run| run.id.as_str()).collect::<Vec<_>>()).unwrap();
    assert!(size() < 2 * one, "{one} and {}", size());
}

#[test]
fn a_disk_without_any_room_gets_one_line() {
    let Some(disk) = Mounted::of_size("1m") else { return };
    fs::write(disk.0.path().join("filler"), vec![0; 2 << 20]).unwrap_err();
    let place = disk.0.path().join("runs.sqlite");
    let error = store::open(&place, Access::Write).and_then(|mut store| store.put(&run("m", 1, TYPICAL))).unwrap_err();
    assert_eq!(*trouble(&error), StoreErrorKind::Full, "{error}");
    assert_clear(&error, &place, "free some");
    let document = disk.0.path().join("out.json");
    let error = save_document(&document, &run("m", 1, TYPICAL)).unwrap_err();
    assert_eq!(*trouble(&error), StoreErrorKind::Full);
    assert_clear(&error, &document, "free some");
    let left: Vec<_> = fs::read_dir(disk.0.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().ends_with(".part")), "{left:?}");
}

#[test]
fn a_limit_on_file_sizes_is_reported_as_a_full_disk() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("runs.sqlite");
    store::open(&place, Access::Write).and_then(|mut store| store.put(&run("old", 1, SMALL))).unwrap();
    // Blocks have 512 bytes; the signal that comes with the limit is ignored, so that the write returns.
    let script = "trap '' XFSZ; ulimit -f 400; exec \"$0\" \"$@\"";
    let program = std::env::current_exe().unwrap();
    let output = Command::new("sh").args(["-c", script]).arg(program).args(SAVER).env(PLACE, &place).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.lines().count() == 1 && text.contains("no space is left there"), "{text}");
    let store = store::open(&place, Access::Read).unwrap();
    assert_eq!(store.get(&run("old", 1, SMALL).id, Detail::Whole).unwrap(), run("old", 1, SMALL));
}

#[test]
fn a_full_disk_leaves_the_file_that_was_there() {
    let Some(disk) = Mounted::of_size("1m") else { return };
    let path = disk.0.path().join("report.html");
    store::write_file(&path, b"the one before").unwrap();
    let error = store::write_file(&path, &vec![b'x'; 2 << 20]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull, "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"the one before");
    assert!(store::write_file(&disk.0.path().join("new.html"), &vec![b'x'; 2 << 20]).is_err());
    assert_eq!(fs::read_dir(disk.0.path()).unwrap().count(), 1, "none is begun");
}

#[test]
fn a_read_only_store_is_read_and_not_written() {
    let Some(disk) = Mounted::of_size("8m") else { return };
    let one = run("m", 1, SMALL);
    disk.remount("rw");
    let place = disk.0.path().join("a?b.sqlite");
    store::open(&place, Access::Write).unwrap().put(&one).unwrap();
    disk.remount("ro");
    let store = store::open(&place, Access::Read).unwrap();
    assert_eq!(store.get(&one.id, Detail::Whole).unwrap(), one);
    assert_eq!(store.summaries().unwrap().len(), 1);
    let error = store::open(&place, Access::Write).map(drop).unwrap_err();
    assert_eq!(*trouble(&error), StoreErrorKind::ReadOnly, "before anything is measured: {error}");
    assert_clear(&error, &place, "make it writable");
    let error = store::open(&disk.0.path().join("new/x.sqlite"), Access::Write).map(drop).unwrap_err();
    assert_eq!(*trouble(&error), StoreErrorKind::ReadOnly, "{error}");
    let document = disk.0.path().join("out.json");
    let error = save_document(&document, &one).unwrap_err();
    assert_eq!(*trouble(&error), StoreErrorKind::ReadOnly);
    assert_clear(&error, &document, "name another place");
    let error = store::check_destination(&document).unwrap_err();
    assert_eq!(*trouble(&error), StoreErrorKind::ReadOnly, "before anything is measured: {error}");
    assert_clear(&error, &document, "name another place");
    disk.remount("rw");
    store::check_destination(&document).unwrap();
    store::check_destination(Path::new("out.json")).unwrap();
    store::check_destination(Path::new("/dev/null")).unwrap();
}
