//! Helpers for tests of all crates. Skipped tests are visible, counted by name and optionally failures; long tests run
//! on request.
//!
//! Rust's test harness has no skipped tests: one that returns early has passed, and its output is discarded.
#![forbid(unsafe_code)]

pub mod container;
pub mod machine;

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write;
use std::panic::Location;
use std::path::Path;
use std::time::Duration;

/// Makes every skip a failure: set by `.ci/run`.
pub const FORBID: &str = "PRONY_TEST_FORBID_SKIP";
/// File to which a line is added for every skip.
pub const FILE: &str = "PRONY_TEST_SKIPS";
/// Directory of public data sets, for ignored tests.
const PUBLIC_DATA: &str = "PRONY_PUBLIC_DATA";
/// Runs the long tests.
pub const SLOW: &str = "PRONY_TEST_SLOW";

/// Records why the current test, or a part of it, cannot run here, as `skip(format_args!(...))`; the caller then
/// returns.
#[macro_export]
macro_rules! skip {
    ($($reason:tt)+) => { $crate::skip(::std::format_args!($($reason)+)) };
}

/// Implementation of [`skip!`].
///
/// # Panics
/// If skips are forbidden.
#[track_caller]
pub fn skip(reason: impl Display) {
    let line = record("SKIPPED", &reason);
    assert!(!is_set(FORBID), "{line}; {FORBID} forbids that");
}

/// Records that this machine lacks the subject of the test, such as a counter or an instruction, which cannot be
/// installed. The test still checks that the program reports its absence.
#[macro_export]
macro_rules! lacks {
    ($($what:tt)+) => { $crate::lacks(::std::format_args!($($what)+)) };
}

/// Implementation of [`lacks!`].
#[track_caller]
pub fn lacks(what: impl Display) {
    record("NOT HERE", &what);
}

/// The text of a recording of real samples, from `recordings` of this crate.
///
/// # Panics
/// If it is missing or damaged: a test of recorded data must not pass without them.
#[must_use]
pub fn recording(name: &str) -> String {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/recordings")).join(format!("{name}.zst"));
    let text = std::fs::read(&path).and_then(|bytes| zstd::decode_all(bytes.as_slice()));
    let text = text.and_then(|bytes| String::from_utf8(bytes).map_err(std::io::Error::other));
    text.unwrap_or_else(|error| panic!("could not read the recording {}: {error}", path.display()))
}

/// A public data set whose licence keeps it out of this tree, from the directory that `PRONY_PUBLIC_DATA` names.
/// Ignored tests use it to reproduce numbers of the documentation.
///
/// # Panics
/// If the variable is not set or the file cannot be read.
#[must_use]
pub fn public_data(name: &str) -> String {
    let folder =
        std::env::var_os(PUBLIC_DATA).unwrap_or_else(|| panic!("{PUBLIC_DATA} names no directory with {name}"));
    let path = Path::new(&folder).join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("could not read {}: {error}", path.display()))
}

/// Whether to run long tests; records skipped parts if not.
#[must_use]
#[track_caller]
pub fn slow(why: impl Display) -> bool {
    if !wants_slow() {
        record("LEFT OUT", &format_args!("{why}; {SLOW}=1 runs it"));
    }
    wants_slow()
}

/// Whether to run long tests.
#[must_use]
pub fn wants_slow() -> bool {
    is_set(SLOW)
}

/// The number of trials of a simulation: all of them if long tests are to run, else `brief`. The test computes a bound
/// for the number that it gets, such as by [`at_most`]. It reports the omitted trials.
#[must_use]
#[track_caller]
pub fn trials(brief: usize, all: usize) -> usize {
    if !wants_slow() {
        record("LEFT OUT", &format_args!("{} of {all} trials; {SLOW}=1 makes them", all.saturating_sub(brief)));
        return brief;
    }
    all
}

/// Share of `trials` below which something of true probability `rate` stays with 99.9%.
#[must_use]
pub fn at_most(rate: f64, trials: usize) -> f64 {
    // The 99.9% quantile of a standard normal variable is 3.09.
    rate + 3.09 * (rate * (1.0 - rate) / trials as f64).sqrt()
}

/// Repeats a test until one attempt succeeds. Neighbours on this machine may sometimes spoil an attempt, while a fault
/// of the program would spoil every one. Conditions that neighbours cannot affect are asserted within the attempt.
///
/// # Panics
/// When all attempts fail, with the last one's result.
#[track_caller]
pub fn attempts(most: u32, mut attempt: impl FnMut() -> Result<(), String>) {
    for number in 1..=most {
        let Err(found) = attempt() else { return };
        assert!(number < most, "in none of {most} attempts: {found}");
        // Load by neighbours changes with time.
        std::thread::sleep(Duration::from_millis(300) * number);
    }
}

/// Ends an attempt if a condition does not hold, as `hold!(condition, "what was found {}", instead)`.
#[macro_export]
macro_rules! hold {
    ($condition:expr, $($found:tt)+) => {
        if !$condition {
            return Err(::std::format!($($found)+));
        }
    };
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0")
}

#[track_caller]
fn record(what: &str, reason: &dyn Display) -> String {
    let place = Location::caller();
    let thread = std::thread::current();
    let name = thread.name().filter(|name| *name != "main").unwrap_or("a test");
    let reason = reason.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    let line = format!("{what} {name} ({}:{}): {reason}", place.file(), place.line());
    // Not a macro, whose output the harness would capture and discard. A failed write does not fail the test.
    let _ = writeln!(std::io::stderr(), "{line}");
    if let Some(file) = std::env::var_os(FILE).filter(|file| !file.is_empty()) {
        let opened = OpenOptions::new().create(true).append(true).open(&file);
        // A single write keeps lines of concurrent tests whole.
        let written = opened.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
        assert!(written.is_ok(), "could not record in {}: {line}", file.display());
    }
    line
}
