//! Pilots as child processes, on this host or behind a command such as ssh.

use std::collections::BTreeMap;
use std::io::{BufRead, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use fleet::launcher::{Launcher, Link};

use super::{Disconnected, PilotLauncher};
use crate::pilot::PilotConfig;
use crate::{Error, Result};

/// Bytes of a pilot's output that are read, at most.
const LIMIT: u64 = 1 << 20;

struct RunningPilot {
    reader: JoinHandle<()>,
    last: Arc<Mutex<String>>,
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

impl PilotLauncher for Processes {
    fn name(&self, node: usize) -> String {
        self.names.get(node).cloned().unwrap_or_else(|| format!("node{node}"))
    }

    fn start(&mut self, node: usize, config: &PilotConfig) -> Result<String> {
        let Link { name, output, mut input, keep, .. } = self.launcher.start(node)?;
        let mut text = serde_json::to_vec(config).map_err(|error| Error::Usage(error.to_string()))?;
        text.push(b'\n');
        input
            .write_all(&text)
            .and_then(|()| input.flush())
            .map_err(Error::io(format!("send {name} its configuration")))?;
        let last = Arc::new(Mutex::new(String::new()));
        let last_line = Arc::clone(&last);
        let reader = std::thread::Builder::new()
            .name("pilot".to_owned())
            .spawn(move || {
                for line in output.take(LIMIT).lines().map_while(std::result::Result::ok) {
                    *last_line.lock().unwrap_or_else(PoisonError::into_inner) = line;
                }
            })
            .map_err(Error::io("start a thread"))?;
        self.running.insert(node, RunningPilot { reader, last, _keep: keep, _input: input });
        Ok(name)
    }

    fn look(&mut self) -> Vec<Disconnected> {
        let over = |running: &RunningPilot| running.reader.is_finished();
        let ended: Vec<usize> =
            self.running.iter().filter(|(_, running)| over(running)).map(|(node, _)| *node).collect();
        let gone = |node| {
            let running = self.running.remove(&node)?;
            let said = running.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
            Some(Disconnected { node, said })
        };
        ended.into_iter().filter_map(gone).collect()
    }

    fn end(&mut self) -> Vec<String> {
        self.running.clear();
        Vec::new()
    }
}
