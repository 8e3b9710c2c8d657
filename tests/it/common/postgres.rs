//! A real PostgreSQL server for tests of shared ledgers: `tests/labs/postgres.sh`, started and stopped by one test.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "each test file uses its part")]

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A running server.
pub struct PostgresLab {
    // Declared before the folder, which the script removes with its contents.
    folder: PathBuf,
    _place: TempDir,
}

impl PostgresLab {
    /// Starts it; `None`, with the reason on standard error, if that is impossible.
    pub fn start() -> Option<Self> {
        let place = tempfile::Builder::new().prefix("prony-pg-").tempdir().unwrap();
        // The server runs as another user, which must be able to enter.
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o711);
        std::fs::set_permissions(place.path(), open).unwrap();
        let lab = Self { folder: place.path().join("lab"), _place: place };
        let output = lab.script(&["start"], "");
        if output.status.success() {
            return Some(lab);
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        // If all requirements are met, a server that does not start is a failure.
        assert!(said.contains("not installed"), "{said}");
        testing::skip!("no PostgreSQL server here: {said}");
        None
    }

    fn script(&self, words: &[&str], input: &str) -> Output {
        // Logs of the program, and of a crash.
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
        // A script that does not read its input is correct too.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    }

    /// Runs an action of the script: `kill`, `again`, `freeze`, `thaw`.
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

    /// The answer of a database.
    pub fn sql(&self, name: &str, text: &str) -> String {
        self.tell_with(&["sql", name], text)
    }
}

impl Drop for PostgresLab {
    fn drop(&mut self) {
        let _ = self.script(&["stop"], "");
    }
}
