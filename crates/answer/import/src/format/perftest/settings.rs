//! What perftest says of a process: above the header, in it, and which of it tells processes apart.

use std::collections::{BTreeSet, HashSet};

use crate::differing::{Settings, differing};
use crate::sheet::{SourceSheet, text};
use crate::text::{parameter_value, snake};

/// Settings of one process, and where its results begin.
#[derive(Default)]
pub(super) struct PerftestSettings {
    /// Its readings are those from here to the next process's.
    pub(super) first: usize,
    /// Part of the ids.
    pub(super) test: String,
    pub(super) values: Settings,
    /// Which end of the connection it is, if not the client: both state the same test.
    pub(super) end: &'static str,
    /// Numbers of its queue pairs, and of those at the other end.
    pub(super) local: String,
    pub(super) remote: String,
}

/// What stands before a header.
#[derive(Default)]
pub(super) struct Pending {
    /// It waits for a client.
    pub(super) server: bool,
    /// Buffers are a device's.
    pub(super) device_memory: bool,
    /// The test that a command names.
    pub(super) command: String,
    /// The host whose prompt stands before the command, and how long it runs.
    pub(super) settings: Settings,
}

/// Whether a line above the header says how the process runs.
pub(super) fn before(pending: &mut Pending, line: &str) -> bool {
    pending.server |= line.contains("Waiting for client to connect");
    pending.device_memory |= line.contains("of GPU buffer");
    let words: Vec<&str> = line.split_whitespace().collect();
    let program = words.iter().enumerate().find_map(|(at, word)| {
        let (verb, kind) = word.rsplit('/').next().unwrap_or(word).strip_prefix("ib_")?.split_once('_')?;
        let verb = ["send", "write", "read", "atomic"].into_iter().find(|known| *known == verb)?;
        ["bw", "lat"].contains(&kind).then_some((at, verb, kind))
    });
    let Some((at, verb, kind)) = program else { return false };
    let begin = if ["write", "read"].contains(&verb) { "rdma_" } else { "" };
    let both = if words.iter().any(|word| ["-b", "--bidirectional"].contains(word)) { "bidirectional_" } else { "" };
    pending.command = format!("{begin}{verb}_{both}{}", if kind == "bw" { "bw" } else { "latency" });
    pending.settings.clear();
    // `[root@host ~]#`, `user@host:~$`
    let host = words[..at].iter().find_map(|word| Some(word.split_once('@')?.1));
    let host = host.map(|host| parameter_value(host.split(':').next().unwrap_or(host)));
    let duration = words.iter().position(|word| ["-D", "--duration"].contains(word));
    let duration = duration.and_then(|at| words.get(at + 1)).filter(|word| word.parse::<u32>().is_ok());
    pending.settings.extend(host.map(|host| ("host".to_owned(), host)));
    pending.settings.extend(duration.map(|seconds| (DURATION.to_owned(), format!("{seconds}s"))));
    true
}

/// The setting of how long it runs, where that is no number of messages.
pub(super) const DURATION: &str = "duration";

/// Settings, several on a line, and the addresses of both ends.
pub(super) fn header(process: &mut PerftestSettings, line: &str) -> bool {
    if let Some((end, address)) = line.split_once(" address:").filter(|(end, _)| ["local", "remote"].contains(end)) {
        let words: Vec<&str> = address.split_whitespace().collect();
        let pair: Vec<&str> = words.iter().skip_while(|word| **word != "QPN").take(4).copied().collect();
        let known = if end == "local" { &mut process.local } else { &mut process.remote };
        known.push_str(&pair.join(" "));
        return true;
    }
    if let Some(count) = line.strip_prefix("Number of qp's running") {
        process.values.insert("Number of qps".to_owned(), parameter_value(count));
        return true;
    }
    let mut rest = line;
    let mut found = false;
    while let Some((name, after)) = rest.split_once(':') {
        let name = name.trim();
        let after = after.trim_start();
        let end = after.find(char::is_whitespace).unwrap_or(after.len());
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || name.len() > 40 {
            return found;
        }
        let value = parameter_value(&after[..end]);
        match name {
            // An address.
            "GID" => return true,
            _ if name.starts_with("Use ") && name.ends_with(" memory") && value == "ON" => {
                process.values.insert("memory".to_owned(), "device".to_owned());
            }
            _ => {
                process.values.insert(name.to_owned(), value);
            }
        }
        (rest, found) = (&after[end..], true);
    }
    found
}

/// Settings that are parameters wherever they are unusual, with the usual ones.
const UNUSUAL: &[(&str, &str, &[&str])] = &[
    ("Number of qps", "qps", &[]),
    ("Connection type", "connection", &["RC"]),
    ("TX depth", "tx_depth", &["128", "1"]),
    ("Dual-port", "dual_port", &["OFF"]),
    ("Using SRQ", "srq", &["OFF"]),
    ("Post List", "post_list", &[]),
    ("memory", "memory", &[]),
    (DURATION, DURATION, &[]),
];

/// Settings that only tell the ends of a connection apart.
const ENDS: [&str; 2] = ["RX depth", "Data ex. method"];

/// Makes parameters of settings: of the unusual, and of those in which processes of one test differ. The rest are
/// facts.
pub(super) fn settle(sheet: &mut SourceSheet, mut processes: Vec<PerftestSettings>) {
    let mut remotes: HashSet<String> = HashSet::new();
    for process in &mut processes {
        let served = process.values.contains_key("Data ex. method") && !process.values.contains_key("TX depth");
        if served && process.end.is_empty() {
            process.end = "server";
        }
        if process.end.is_empty() && remotes.contains(&process.local) {
            process.end = "other";
        }
        if process.end.is_empty() && !process.remote.is_empty() {
            remotes.insert(process.remote.clone());
        }
    }
    let ends: Vec<usize> = processes.iter().skip(1).map(|next| next.first).chain([sheet.readings.len()]).collect();
    // Of an excerpt nothing is known, and what has no results has no parameters.
    let stated = |(process, end): &(&PerftestSettings, &usize)| {
        process.first < **end && process.values.keys().any(|name| name != DURATION)
    };
    let stated = processes.iter().zip(&ends).filter(stated);
    let found = differing(stated.map(|(process, _)| (process.group(), &process.values)));
    for (name, fact) in [("Device", "network.device"), ("Link type", "network.link"), ("Mtu", "network.mtu")] {
        let values: BTreeSet<&String> = processes.iter().filter_map(|process| process.values.get(name)).collect();
        if let (1, Some(value)) = (values.len(), values.first()) {
            sheet.fact(text(fact, &value.replace("[B]", " B"), "output", &[]));
        }
    }
    for (process, end) in processes.iter().zip(ends) {
        let parameters = parameters(process, found.get(&process.group()));
        for reading in &mut sheet.readings[process.first..end] {
            for (parameter, value) in &parameters {
                reading.parameters = std::mem::take(&mut reading.parameters).with(parameter, value);
            }
        }
    }
}

impl PerftestSettings {
    /// The test and the end: others are not compared with it.
    fn group(&self) -> String {
        format!("{} {}", self.test, self.end)
    }
}

fn parameters(process: &PerftestSettings, differing: Option<&BTreeSet<String>>) -> Vec<(String, String)> {
    let unusual = UNUSUAL.iter().filter_map(|(name, parameter, usual)| {
        let value = process.values.get(*name).filter(|value| !usual.contains(&value.as_str()))?;
        Some(((*parameter).to_owned(), value.clone()))
    });
    let others = process.values.iter().filter(|(name, _)| {
        let known = ENDS.contains(&name.as_str()) || UNUSUAL.iter().any(|(known, ..)| known == name);
        !known && differing.is_some_and(|names| names.contains(*name))
    });
    let others = others.map(|(name, value)| (snake(name), value.replace("[B]", "B")));
    let end = Some(process.end).filter(|end| !end.is_empty()).map(|end| ("end".to_owned(), end.to_owned()));
    unusual.chain(others).chain(end).collect()
}
