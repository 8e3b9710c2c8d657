//! Recorded machines: a short text becomes the files that the kernel shows of such a machine.
//!
//! The texts lie in `crates/core/os/tests/topology`, whose README says where each comes from and how it is written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Names of the recorded machines, sorted.
///
/// # Panics
/// When their folder cannot be read.
#[must_use]
pub fn names() -> Vec<String> {
    let entries = fs::read_dir(folder()).unwrap_or_else(|error| panic!("{}: {error}", folder().display()));
    let mut names: Vec<String> =
        entries.filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.strip_suffix(".txt")?.to_owned())).collect();
    names.sort_unstable();
    names
}

/// The text of a recorded machine.
///
/// # Panics
/// When there is none of that name.
#[must_use]
pub fn record(name: &str) -> String {
    let path = folder().join(format!("{name}.txt"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Where the records lie.
#[must_use]
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../os/tests/topology")
}

/// A recorded machine: its files by their names below `/`, and the CPUs that a process may use where the record limits
/// it.
#[derive(Debug, Clone, Default)]
pub struct RecordedMachine {
    /// Text of every file.
    pub files: BTreeMap<String, String>,
    /// CPUs that are online.
    pub online: String,
    /// CPUs that may be used, where they are fewer.
    pub allowed: Option<String>,
}

const CPUS: &str = "sys/devices/system/cpu";
const NODES: &str = "sys/devices/system/node";

impl RecordedMachine {
    /// The machine of a name.
    ///
    /// # Panics
    /// When there is none, or its record is malformed.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let mut machine = Self::default();
        let mut nodes = Vec::new();
        for line in record(name).lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
            let (word, rest) = line.split_once(' ').unwrap_or_else(|| panic!("{name}: {line}"));
            let (name, of) = rest.split_once(": ").unwrap_or((rest, ""));
            match word {
                "present" => machine.put(format!("{CPUS}/present"), rest),
                "online" => {
                    machine.online = rest.to_owned();
                    machine.put(format!("{CPUS}/online"), rest);
                }
                "allowed" => machine.allowed = Some(rest.to_owned()),
                "plan" => {}
                "package" => machine.each(of, "topology/physical_package_id", name),
                "die" => machine.each(of, "topology/die_id", name.split('.').nth(1).unwrap_or(name)),
                "core" => machine.cores(rest),
                "node" => {
                    machine.node(name, of);
                    nodes.push(name.to_owned());
                }
                "cache" => machine.cache(name, of),
                "clock" => machine.each(of, "cpufreq/cpuinfo_max_freq", name),
                "capacity" => machine.each(of, "cpu_capacity", name),
                "midr" => machine.each(of, "regs/identification/midr_el1", name),
                "unit" => machine.put(format!("sys/devices/cpu_{name}/cpus"), of),
                other => panic!("no line begins with {other}"),
            }
        }
        if !nodes.is_empty() {
            machine.put(format!("{NODES}/online"), &nodes.join(","));
        }
        machine
    }

    /// The text of a file.
    #[must_use]
    pub fn read(&self, name: &str) -> Option<String> {
        self.files.get(name).cloned()
    }

    fn put(&mut self, name: String, text: &str) {
        self.files.insert(name, format!("{text}\n"));
    }

    fn each(&mut self, list: &str, file: &str, text: &str) {
        for cpu in cpus(list) {
            self.put(format!("{CPUS}/cpu{cpu}/{file}"), text);
        }
    }

    fn cores(&mut self, text: &str) {
        for set in sets(text) {
            self.each(&set, "topology/core_cpus_list", &set);
        }
    }

    /// `node 0: CPUS; MEMORY kB; DISTANCES`.
    fn node(&mut self, number: &str, text: &str) {
        let folder = format!("{NODES}/node{number}");
        let mut parts = text.split(';').map(str::trim);
        self.put(format!("{folder}/cpulist"), parts.next().unwrap_or_default());
        if let Some(memory) = parts.next().filter(|memory| !memory.is_empty()) {
            self.put(format!("{folder}/meminfo"), &format!("Node {number} MemTotal:       {memory}"));
        }
        if let Some(distances) = parts.next() {
            self.put(format!("{folder}/distance"), distances);
        }
    }

    /// `cache LEVEL TYPE SIZE LINE WAYS: SETS`.
    fn cache(&mut self, description: &str, text: &str) {
        let names = ["level", "type", "size", "coherency_line_size", "ways_of_associativity"];
        let words: Vec<&str> = description.split(' ').collect();
        for set in sets(text) {
            for cpu in cpus(&set) {
                let folder = |index: usize| format!("{CPUS}/cpu{cpu}/cache/index{index}");
                let free = (0..).find(|index| !self.files.contains_key(&format!("{}/level", folder(*index))));
                let folder = folder(free.unwrap_or_default());
                for (name, word) in names.iter().zip(&words) {
                    self.put(format!("{folder}/{name}"), word);
                }
                self.put(format!("{folder}/shared_cpu_list"), &set);
            }
        }
    }
}

/// Sets of CPUs apart: `0,8`, or `0-47/3+48` for blocks of three from 0 to 47, each with those 48 further on.
fn sets(text: &str) -> Vec<String> {
    text.split_whitespace().flat_map(blocks).collect()
}

fn blocks(token: &str) -> Vec<String> {
    let Some((range, rule)) = token.split_once('/') else { return vec![token.to_owned()] };
    let mut numbers = rule.split('+').map(|word| word.parse::<usize>().unwrap_or_else(|_| panic!("{token}")));
    let size = numbers.next().unwrap_or(1);
    let shifts: Vec<usize> = numbers.collect();
    let all: Vec<usize> = cpus(range).into_iter().collect();
    let block = |part: &[usize]| {
        let shifted = shifts.iter().flat_map(|shift| part.iter().map(move |cpu| cpu + shift));
        let all: BTreeSet<usize> = part.iter().copied().chain(shifted).collect();
        all.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
    };
    all.chunks(size).map(block).collect()
}

fn cpus(list: &str) -> BTreeSet<usize> {
    let number = |word: &str| word.parse::<usize>().unwrap_or_else(|_| panic!("{list} is no list of CPUs"));
    let parts = list.split(',').filter(|part| !part.is_empty());
    parts
        .flat_map(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            number(first)..=number(last)
        })
        .collect()
}
