//! Recorded containers: what `/proc` and `/sys` show in them of their control groups.
//!
//! The texts lie in `crates/core/os/tests/cgroup`, whose README says where each comes from. A line `== PATH` begins a
//! file, and the lines after it are its text.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

/// The files of a recorded container, below a temporary directory.
///
/// # Panics
/// When there is none of that name.
#[must_use]
pub fn tree(name: &str) -> TempDir {
    let record = Path::new(env!("CARGO_MANIFEST_DIR")).join("../os/tests/cgroup").join(format!("{name}.txt"));
    let text = fs::read_to_string(&record).unwrap_or_else(|error| panic!("{}: {error}", record.display()));
    let root = tempfile::tempdir().unwrap_or_else(|error| panic!("no temporary directory: {error}"));
    for file in text.split("\n== ").map(|part| part.trim_start_matches("== ")).filter(|part| !part.starts_with('#')) {
        let (path, content) = file.split_once('\n').unwrap_or((file, ""));
        let path = root.path().join(path.trim());
        let parent = path.parent().unwrap_or(root.path());
        let written = fs::create_dir_all(parent).and_then(|()| fs::write(&path, format!("{}\n", content.trim_end())));
        assert!(written.is_ok(), "could not write {}", path.display());
    }
    root
}
