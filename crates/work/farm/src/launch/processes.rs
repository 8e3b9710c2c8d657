//! Pilots as child processes, on this host or behind a command such as ssh.

use std::collections::BTreeMap;
use std::io::{BufRead, ErrorKind, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use launcher::{Launcher, Link, StderrTail};

use super::{Disconnected, PilotLauncher};
use crate::pilot::PilotConfig;
use crate::{Error, Result};

/// Bytes of a line of a pilot's output that are kept, at most.
const LONGEST: usize = 4096;
/// Time for the last error output to arrive after the end of a pilot's output.
const LAST_WORDS: Duration = Duration::from_millis(50);

struct RunningPilot {
    reader: JoinHandle<()>,
    last: Arc<Mutex<String>>,
    stderr: StderrTail,
    // Dropping it ends the process.
    _keep: Box<dyn Send>,
    _input: Box<dyn Write + Send>,
}

/// Pilots started by any launcher of the fleet.
pub struct Processes {
    launcher: Box<dyn Launcher>,
    names: Vec<String>,
    running: BTreeMap<usize, RunningPilot>,
}

impl Processes {
    /// Pilots that a launcher starts; `names` are those of the nodes, in their order.
    #[must_use]
    pub fn new(launcher: Box<dyn Launcher>, names: Vec<String>) -> Self {
        Self { launcher, names, running: BTreeMap::new() }
    }
}

impl RunningPilot {
    /// The last line that it printed, or else what its launcher complained about.
    fn said(&self) -> String {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if !last.is_empty() {
            return last;
        }
        kernels::timer::sleep(LAST_WORDS);
        self.stderr.text()
    }
}

/// Reads a pilot's output to its end, whatever a login shell or the pilot prints, and keeps its last line.
fn read_lines(mut output: Box<dyn BufRead + Send>, last: &Mutex<String>) {
    let mut line = Vec::new();
    loop {
        let piece = match output.fill_buf() {
            Ok([]) => break,
            Ok(piece) => piece,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        let end = piece.iter().position(|byte| *byte == b'\n');
        let count = end.map_or(piece.len(), |end| end + 1);
        let kept = LONGEST.saturating_sub(line.len()).min(end.unwrap_or(count));
        line.extend_from_slice(&piece[..kept]);
        output.consume(count);
        if end.is_some() {
            keep(&mut line, last);
        }
    }
    keep(&mut line, last);
}

/// Keeps a line in which there is something.
fn keep(line: &mut Vec<u8>, last: &Mutex<String>) {
    let text = String::from_utf8_lossy(line).trim().to_owned();
    if !text.is_empty() {
        *last.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }
    line.clear();
}

impl PilotLauncher for Processes {
    fn name(&self, node: usize) -> String {
        self.names.get(node).cloned().unwrap_or_else(|| format!("node{node}"))
    }

    fn start(&mut self, node: usize, config: &PilotConfig) -> Result<String> {
        let Link { name, output, mut input, keep, stderr } = self.launcher.start(node)?;
        let mut text = serde_json::to_vec(config).map_err(|error| Error::Usage(error.to_string()))?;
        text.push(b'\n');
        input.write_all(&text).and_then(|()| input.flush()).map_err(|error| {
            kernels::timer::sleep(LAST_WORDS);
            match stderr.text() {
                said if said.is_empty() => Error::io(format!("send {name} its configuration"))(error),
                reason => Error::Start { node: self.name(node), reason },
            }
        })?;
        let last = Arc::new(Mutex::new(String::new()));
        let last_line = Arc::clone(&last);
        let reader = std::thread::Builder::new()
            .name("pilot".to_owned())
            .spawn(move || read_lines(output, &last_line))
            .map_err(Error::io("start a thread"))?;
        self.running.insert(node, RunningPilot { reader, last, stderr, _keep: keep, _input: input });
        Ok(name)
    }

    fn look(&mut self) -> Vec<Disconnected> {
        let over = |running: &RunningPilot| running.reader.is_finished();
        let ended: Vec<usize> =
            self.running.iter().filter(|(_, running)| over(running)).map(|(node, _)| *node).collect();
        let gone = |node| {
            let said = self.running.remove(&node)?.said();
            Some(Disconnected { node, said })
        };
        ended.into_iter().filter_map(gone).collect()
    }

    fn end_one(&mut self, node: usize) -> Option<String> {
        self.running.remove(&node).map(|running| running.said())
    }

    fn end(&mut self) -> Vec<String> {
        self.running.clear();
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use launcher::Local;

    use super::*;

    fn processes(script: &str) -> Processes {
        let command = ["sh", "-c", script].map(str::to_owned).to_vec();
        Processes::new(Box::new(Local { commands: vec![command], addresses: Vec::new() }), vec!["h1".to_owned()])
    }

    fn config() -> PilotConfig {
        let (address, token) = ("127.0.0.1:1".to_owned(), "0123456789abcdef".to_owned());
        PilotConfig { address, token, node: "h1".to_owned(), slots: 1, patience: 1.0 }
    }

    /// The end of the pilot, or what it would be if it ended within the time.
    fn ended(pilots: &mut Processes, patience: Duration) -> Option<String> {
        let until = Instant::now() + patience;
        while Instant::now() < until {
            if let Some(ended) = pilots.look().pop() {
                return Some(ended.said);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        None
    }

    #[test]
    fn whatever_a_login_shell_prints_leaves_the_pilot_alone() {
        // Text in another encoding, and more than a megabyte of it in one line.
        let script = r"printf 'Universit\351\n'; head -c 3000000 /dev/zero | tr '\0' x; read order; echo
            sleep 0.3; echo done";
        let mut pilots = processes(script);
        pilots.start(0, &config()).unwrap();
        assert_eq!(ended(&mut pilots, Duration::from_millis(200)), None, "it was taken for ended");
        assert_eq!(ended(&mut pilots, Duration::from_secs(60)).unwrap(), "done");
    }

    #[test]
    fn a_launcher_that_fails_is_quoted() {
        // It may end before it is sent its configuration, or after.
        for script in ["echo 'no such host' >&2; exit 255", "read order; echo 'no such host' >&2; exit 255"] {
            let mut pilots = processes(script);
            let said = match pilots.start(0, &config()) {
                Ok(_) => ended(&mut pilots, Duration::from_secs(60)).unwrap(),
                Err(error) => error.to_string(),
            };
            assert!(said.contains("no such host"), "{said}");
        }
    }
}
