//! The fixtures: written by hand in each tool's format, or produced by short runs of the tool.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test binary uses some of it, and a fixture that is missing is a failure"
)]

use std::path::Path;

use import::{formats, import};
use model::{Catalogue, Figure, Run};

/// A file and its format by name: `netperf-omni.csv` belongs to `netperf`.
pub(crate) struct Fixture {
    pub(crate) file: String,
    pub(crate) format: String,
    pub(crate) bytes: Vec<u8>,
}

pub(crate) fn fixtures() -> Vec<Fixture> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut fixtures: Vec<Fixture> = std::fs::read_dir(folder)
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
    fixtures().into_iter().find(|fixture| fixture.file == file).unwrap().bytes
}

pub(crate) fn import_fixture(file: &str) -> Vec<Run> {
    import(file, &fixture(file), None, &Catalogue::default()).unwrap()
}

/// The first figure of a probe.
pub(crate) fn named<'a>(run: &'a Run, probe: &str) -> &'a Figure {
    run.figures.iter().find(|figure| figure.probe == probe).unwrap_or_else(|| panic!("no {probe}"))
}
