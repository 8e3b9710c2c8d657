//! Streaming to a medium that may be overwritten, through the program: files, loop devices, and refusals.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Answer, Place, estimate, requested};
use serde_json::Value;

/// The whole suite, with a few samples per result.
fn streamed(place: &Place, medium: &str) -> Answer {
    streamed_within(place, medium, "12s")
}

fn streamed_within(place: &Place, medium: &str, limit: &str) -> Answer {
    let wanted = [
        "run",
        "--suite",
        "tape",
        "--target-device",
        medium,
        "--target",
        "99",
        "--max-samples",
        "8",
        "--time-limit",
        limit,
    ];
    place.ask(&[&wanted[..], &["--output", "run.json", "--quiet"]].concat())
}

/// Two results of the suite, and one of another length.
fn streamed_briefly(place: &Place, medium: &str) -> Answer {
    let results = [
        "file.sequential_write:block=1MiB,format=plain,medium=target",
        "file.sequential_read:block=64KiB,format=tar,medium=target",
        "file.sequential_write:block=4MiB,format=plain,medium=target,length=128MiB",
    ];
    let wanted: Vec<&str> = results.iter().flat_map(|result| ["--benchmark", result]).collect();
    let limits = ["--target-device", medium, "--target", "99", "--max-samples", "8"];
    place.ask(&[&["run"], &wanted[..], &limits, &["--output", "run.json", "--quiet"]].concat())
}

fn document(place: &Place) -> Value {
    serde_json::from_slice(&std::fs::read(place.file("run.json")).unwrap()).unwrap()
}

/// The output of a command, if it exists and succeeds.
pub(crate) fn said(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(arguments).output().map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    Err(format!("{program} {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim()))
}

/// A loop device, removed when dropped.
pub(crate) struct Loop(pub(crate) String);

impl Drop for Loop {
    fn drop(&mut self) {
        drop(said("losetup", &["--detach", &self.0]));
    }
}

impl Loop {
    pub(crate) fn over(file: &Path, options: &[&str]) -> Result<Self, String> {
        let file = file.to_str().unwrap();
        said("losetup", &[options, &["--find", "--show", file]].concat()).map(Self)
    }
}

/// A mount, removed when dropped.
pub(crate) struct Mount(PathBuf);

impl Drop for Mount {
    fn drop(&mut self) {
        drop(said("umount", &[self.0.to_str().unwrap()]));
    }
}

impl Mount {
    pub(crate) fn at(parameters: PathBuf, arguments: &[&str]) -> Result<Self, String> {
        std::fs::create_dir(&parameters).unwrap();
        said("mount", &[arguments, &[parameters.to_str().unwrap()]].concat())?;
        Ok(Self(parameters))
    }
}

fn sparse(path: &Path, bytes: u64) {
    std::fs::File::create(path).unwrap().set_len(bytes).unwrap();
}

/// Bytes that a batch of a result moved.
fn batch_of(result: &Value) -> f64 {
    // If the numbers of batches differ, they are in the sample.
    result["ops"].as_f64().unwrap() * result["amount"].as_f64().unwrap()
}

/// A busy disk leaves too little of the limit for two samples, or none for the first one.
fn unfinished(document: &Value) -> bool {
    ["the run ended before", "no time was left"].iter().any(|words| document.to_string().contains(words))
}

/// Rows of the published table stream a gibibyte in every batch, to whatever medium; the others what fills a batch.
#[test]
fn gigabytes_are_streamed_where_the_published_rows_streamed_them() {
    let place = Place::new();
    // A medium without content cannot be read back: those results fail.
    streamed_within(&place, "/dev/null", "100s").fine();
    let run = document(&place);
    let long =
        |result: &&Value| result["parameters"]["length"] == "1GiB" && result["benchmark"] == "file.sequential_write";
    let results: Vec<&Value> = requested(&run).into_iter().filter(long).collect();
    assert_eq!(results.len(), 4);
    for result in results {
        let moved = batch_of(result);
        let whole = (1_u64 << 30) as f64;
        assert!((0.999 * whole..=whole).contains(&moved) || result["samples"] == serde_json::json!([]), "{result}");
    }
}

#[test]
fn a_file_is_created_streamed_to_and_removed_and_compared_to_the_printed_results() {
    let place = Place::new();
    streamed_briefly(&place, "medium").fine();
    assert!(!place.file("medium").exists(), "what was made for the run goes with it");
    let run = document(&place);
    assert!(run["machine"]["facts"].to_string().contains("medium, a file made for the run"), "{}", run["machine"]);
    assert_eq!(requested(&run).len(), 3);
    for result in requested(&run) {
        assert!(estimate(result).is_some_and(|found| found["value"].as_f64().unwrap() > 0.0), "{result}");
        let of_all = (128 << 20) as f64;
        assert!(result["parameters"]["length"] == "64MiB" || batch_of(result) == of_all, "{result}");
    }
    let shown = place.ask(&["show", "1", "--as", "tape", "--format=json"]).fine().json();
    let rows = shown["tables"][0]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 6);
    assert!(rows.iter().all(|row| row[3].is_number()), "{rows:?}");
}

#[test]
fn the_whole_suite_stands_beside_the_printed_drive() {
    if !testing::slow("gigabytes to a file and back; a medium without content, and two results, stand for it") {
        return;
    }
    let place = Place::new();
    let mut answer = streamed_within(&place, "medium", "40s");
    // A busy disk needs more time for the same.
    if unfinished(&document(&place)) {
        answer = streamed_within(&place, "medium", "90s");
    }
    for words in ["write (from RAID5 to LTO)", "LTO, 2002", "this medium"] {
        assert!(answer.out.contains(words), "{words}: {answer:?}");
    }
    let run = document(&place);
    assert_eq!(requested(&run).len(), 18);
    for result in requested(&run) {
        // On a busy disk a gibibyte takes so long that no result has two samples within the limit.
        let measured = estimate(result).is_some_and(|found| found["value"].as_f64().unwrap() > 0.0);
        assert!(measured || unfinished(result), "{result}");
    }
    if answer.code == Some(2) {
        return assert!(answer.err.contains("nothing could be measured"), "{answer:?}");
    }
    // The printed drive and the present medium have the same results, so they can be compared.
    // Without --all, only rows that are decided are printed, and a loaded machine may decide none.
    let compared = place.ask(&["compare", "published:ams02-2002/lto-tape-and-raid5", "latest", "--all"]);
    assert!(compared.code == Some(0) && compared.out.contains("sequential write"), "{compared:?}");
}

#[test]
fn media_with_other_data_are_refused() {
    let place = Place::new();
    let kept = place.file("kept");
    std::fs::write(&kept, "a letter").unwrap();
    let cases = [
        ("kept", "is a file that streaming would overwrite"),
        (".", "is a directory: name a new file"),
        ("no/such/medium", "could not find the directory no"),
        ("/dev/tty", "is a character device, not a tape drive"),
    ];
    for (medium, reason) in cases {
        let line = streamed(&place, medium).refused();
        assert!(line.contains(reason), "{medium}: {line}");
    }
    assert_eq!(std::fs::read(&kept).unwrap(), b"a letter");
    let alone = place.ask(&["run", "--suite", "tape"]).refused();
    assert!(alone.contains("--target-device"), "{alone}");
    let without = place.ask(&["run", "--target-device", "medium"]).refused();
    assert!(without.contains("--suite tape") && !place.file("medium").exists(), "{without}");
    let other = place.ask(&["run", "--suite", "stream", "--target-device", "medium"]).refused();
    assert!(other.contains("--suite tape"), "{other}");
    let folder =
        place.ask(&["run", "--benchmark", "file.sequential_write:medium=target", "--directory", "kept"]).refused();
    assert!(folder.contains("is a file; name a directory"), "{folder}");
}

#[test]
fn a_full_medium_is_reported_with_its_reason() {
    let place = Place::new();
    let answer = streamed(&place, "/dev/full");
    assert_eq!(answer.code, Some(2), "{answer:?}");
    let run = document(&place);
    for result in requested(&run) {
        assert!(result["outcome"].get("measured").is_none(), "{result}");
    }
    assert!(run.to_string().contains("ends before its first block"), "{run}");
}

#[test]
fn a_loop_device_is_streamed_to_unless_it_is_mounted_or_read_only() {
    if let Err(reason) = loop_device() {
        testing::skip!("no loop device can be had here: {reason}");
    }
}

fn loop_device() -> Result<(), String> {
    let place = Place::new();
    let image = place.file("image");
    sparse(&image, 16 << 20);
    {
        let device = Loop::over(&image, &["--read-only"])?;
        let line = streamed(&place, &device.0).refused();
        assert!(line.contains("name a device that you may write"), "{line}");
    }
    let device = Loop::over(&image, &[])?;
    said("mkfs.ext4", &["-q", &device.0])?;
    {
        let _mount = Mount::at(place.file("parameters"), &[&device.0])?;
        let line = streamed(&place, &device.0).refused();
        assert!(line.contains("is mounted at") && line.contains("parameters"), "{line}");
    }
    streamed_briefly(&place, &device.0).fine();
    assert!(document(&place)["results"].as_array().unwrap().iter().all(|result| estimate(result).is_some()));
    Ok(())
}

/// A device that claims 64 MiB and has space for 6: writing ends with an error of the device, like that of a tape.
#[test]
fn the_end_of_a_medium_ends_a_batch_and_the_next_begins_at_its_beginning() {
    if let Err(reason) = small_medium() {
        testing::skip!("no small medium can be made here: {reason}");
    }
}

fn small_medium() -> Result<(), String> {
    let place = Place::new();
    let folder = place.file("small");
    let _mount = Mount::at(folder.clone(), &["-t", "tmpfs", "-o", "size=6m", "none"])?;
    sparse(&folder.join("backing"), 64 << 20);
    let device = Loop::over(&folder.join("backing"), &[])?;
    streamed_briefly(&place, &device.0).fine();
    let run = document(&place);
    for result in requested(&run) {
        assert!(estimate(result).is_some(), "{result}");
    }
    Ok(())
}
