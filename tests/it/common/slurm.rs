//! A real Slurm on this host for tests that need nodes: `tests/labs/slurm.sh`, started and stopped by one test.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "each test file uses its part")]

use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::TempDir;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/labs/slurm.sh");

/// Laboratories of one test program run one after the other: they share two CPUs with all other tests.
static ONE: Mutex<()> = Mutex::new(());

/// A running laboratory: nodes n1 to nN. The head is 10.77.0.1, node i is 10.77.0.(10+i).
pub struct SlurmLab {
    // Declared before the folder, which the script removes with its contents.
    folder: PathBuf,
    _place: TempDir,
    _one: MutexGuard<'static, ()>,
}

impl SlurmLab {
    /// Starts it; `None`, with the reason on standard error, if that is impossible.
    pub fn start(nodes: u32) -> Option<Self> {
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let place = tempfile::Builder::new().prefix("prony-lab-").tempdir().unwrap();
        // munged runs as another user, which must be able to enter.
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o711);
        std::fs::set_permissions(place.path(), open).unwrap();
        let lab = Self { folder: place.path().join("lab"), _place: place, _one: one };
        let output = lab.script(&["start", &nodes.to_string()]);
        if output.status.success() {
            return Some(lab);
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        // If all requirements are met, a laboratory that does not start is a failure.
        let excused = ["needs root", "could not install", "no apt-get", "Operation not permitted"];
        assert!(excused.iter().any(|excuse| said.contains(excuse)), "{said}");
        testing::skip!("no Slurm laboratory here: {said}");
        None
    }

    fn script(&self, words: &[&str]) -> Output {
        Command::new(SCRIPT)
            .args(words)
            .env("LAB", &self.folder)
            .env("OWNER", std::process::id().to_string())
            .output()
            .unwrap()
    }

    /// Runs an action of the script: `kill-node 2`, `freeze 1`, `partition 3`, `kill-controller` ...
    pub fn tell(&self, words: &[&str]) -> String {
        let output = self.script(words);
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Makes a command run at the head: its process becomes the command, with `SLURM_CONF` and the head's network.
    pub fn at_head(&self, command: &Command) -> Command {
        let mut inside = Command::new(SCRIPT);
        inside.arg("exec").arg(command.get_program()).args(command.get_args()).env("LAB", &self.folder);
        if let Some(directory) = command.get_current_dir() {
            inside.current_dir(directory);
        }
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => inside.env(name, value),
                None => inside.env_remove(name),
            };
        }
        inside
    }

    /// Waits until the state of a node in Slurm begins with `state`, such as `down` or `idle`.
    pub fn wait_for(&self, node: &str, state: &str) {
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
        loop {
            let nodes = self.tell(&["nodes"]);
            let line = nodes.lines().find(|line| line.starts_with(&format!("{node} "))).unwrap_or_default();
            if line.split(' ').nth(1).is_some_and(|word| word.starts_with(state)) {
                return;
            }
            assert!(std::time::Instant::now() < deadline, "{node} does not become {state}: {nodes}");
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
    }
}

impl Drop for SlurmLab {
    fn drop(&mut self) {
        let _ = self.script(&["stop"]);
    }
}
