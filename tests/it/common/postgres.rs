//! A real PostgreSQL server for tests of what is shared: `tests/labs/postgres.sh`, booted for one test and taken down with it.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "each test file uses its part")]

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A running server.
pub struct PostgresLab {
    // Before the folder, which the script removes with everything in it.
    folder: PathBuf,
    _place: TempDir,
}

impl PostgresLab {
    /// Boots it; `None`, with the reason on standard error, where that is impossible.
    pub fn start() -> Option<Self> {
        let place = tempfile::Builder::new().prefix("prony-pg-").tempdir().unwrap();
        // The server runs as a user of its own and must get through.
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o711);
        std::fs::set_permissions(place.path(), open).unwrap();
        let lab = Self { folder: place.path().join("lab"), _place: place };
        let output = lab.script(&["start"], "");
        if output.status.success() {
            return Some(lab);
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        // Where everything is there, a server that does not come up is a failure.
        assert!(said.contains("not installed"), "{said}");
        testing::skip!("no PostgreSQL server here: {said}");
        None
    }

    fn script(&self, words: &[&str], input: &str) -> Output {
        // Of the program, and of a crate.
        let script = ["", "/../.."]
            .map(|up| PathBuf::from(format!("{}{up}/tests/labs/postgres.sh", env!("CARGO_MANIFEST_DIR"))))
            .into_iter()
            .find(|path| path.exists())
            .unwrap();
        let mut child = Command::new(script)
            .args(words)
            .env("LAB", &self.folder)
            .env("OWNER", std::process::id().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A script that does not read its input is none the worse.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    }

    /// Does something to it: `kill`, `again`, `freeze`, `thaw` (see the script).
    pub fn tell(&self, words: &[&str]) -> String {
        self.tell_with(words, "")
    }

    fn tell_with(&self, words: &[&str], input: &str) -> String {
        let output = self.script(words, input);
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// The address of a new, empty database.
    pub fn database(&self, name: &str) -> String {
        self.tell(&["new", name])
    }

    /// What a database answers.
    pub fn sql(&self, name: &str, text: &str) -> String {
        self.tell_with(&["sql", name], text)
    }
}

impl Drop for PostgresLab {
    fn drop(&mut self) {
        let _ = self.script(&["stop"], "");
    }
}
