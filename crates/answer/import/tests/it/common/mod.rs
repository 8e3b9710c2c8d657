//! The fixtures: written by hand in each tool's format, or produced by short runs of the tool.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test binary uses some of it, and a fixture that is missing is a failure"
)]

use std::path::{Path, PathBuf};

use import::{Error, ImportOptions, formats};
use model::{Catalogue, Run};

/// The runs of a source, with a named or a detected format.
pub(crate) fn import(name: &str, bytes: &[u8], format: Option<&str>, catalogue: &Catalogue) -> Result<Vec<Run>, Error> {
    Ok(import::import(name, bytes, &ImportOptions { format, ..ImportOptions::default() }, catalogue)?.runs)
}

/// The runs of a text in a named format.
pub(crate) fn read_as(format: &str, text: &str) -> Vec<Run> {
    import("x", text.as_bytes(), Some(format), benchmarks::catalogue())
        .unwrap_or_else(|error| panic!("{text}\n{error}"))
}

/// The same, where the user says that its outputs repeat each other.
pub(crate) fn read_repeats(format: &str, text: &str) -> Vec<Run> {
    repeats("x", text.as_bytes(), Some(format))
}

fn repeats(name: &str, bytes: &[u8], format: Option<&str>) -> Vec<Run> {
    let options = ImportOptions { format, repeats: true, ..ImportOptions::default() };
    import::import(name, bytes, &options, benchmarks::catalogue()).unwrap_or_else(|error| panic!("{error}")).runs
}

/// The message with which a text in a named format is refused.
pub(crate) fn refused_as(format: &str, text: &str) -> String {
    import("x", text.as_bytes(), Some(format), benchmarks::catalogue()).unwrap_err().to_string()
}

/// A file and its format by name: `netperf-omni.csv` belongs to `netperf`.
pub(crate) struct Fixture {
    pub(crate) file: String,
    pub(crate) format: String,
    pub(crate) bytes: Vec<u8>,
}

/// A folder of files for tests.
pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

pub(crate) fn fixtures() -> Vec<Fixture> {
    files_of("fixtures")
}

/// Small outputs that were misread once. They are typed anew; the names of hosts are invented.
pub(crate) fn faults() -> Vec<Fixture> {
    files_of("faults")
}

fn files_of(name: &str) -> Vec<Fixture> {
    let mut fixtures: Vec<Fixture> = std::fs::read_dir(folder(name))
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let file = path.file_name().unwrap().to_str().unwrap().to_owned();
            let stem = file.split('.').next().unwrap();
            let named = formats().iter().map(|format| format.name).filter(|name| stem.starts_with(name));
            let format = named.max_by_key(|name| name.len()).unwrap_or_default().to_owned();
            Fixture { file, format, bytes: std::fs::read(path).unwrap() }
        })
        .collect();
    fixtures.sort_by(|a, b| a.file.cmp(&b.file));
    fixtures
}

pub(crate) fn fixture(file: &str) -> Vec<u8> {
    fixtures().into_iter().chain(faults()).find(|fixture| fixture.file == file).unwrap().bytes
}

/// The text of a fixture.
pub(crate) fn text(file: &str) -> String {
    String::from_utf8(fixture(file)).unwrap()
}

pub(crate) fn import_fixture(file: &str) -> Vec<Run> {
    import(file, &fixture(file), None, benchmarks::catalogue()).unwrap()
}

pub(crate) fn estimate(run: &Run, key: &str) -> model::Estimate {
    let (benchmark, parameters) = key.split_once(':').unwrap_or((key, ""));
    let result = run.result(&model::ResultKey::new(benchmark, parameters.parse().unwrap()));
    let keys = || run.results.iter().map(|result| result.key().to_string()).collect::<Vec<_>>().join("\n");
    let result = result.unwrap_or_else(|| panic!("{key} is not among\n{}", keys()));
    *result.outcome.estimate().unwrap_or_else(|| panic!("{key} is {:?}", result.outcome))
}

pub(crate) fn value(run: &Run, key: &str) -> f64 {
    estimate(run, key).value
}

pub(crate) fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs()
}

/// Whether a note of the run has these words.
pub(crate) fn noted(run: &Run, words: &str) -> bool {
    run.session.notes.iter().any(|note| note.contains(words))
}

/// Lines with numbers of a text that were not understood.
pub(crate) fn unread(format: &str, text: &str) -> usize {
    let options = ImportOptions { format: Some(format), ..ImportOptions::default() };
    ::import::import("x", text.as_bytes(), &options, benchmarks::catalogue()).unwrap().unread.unwrap().count
}
