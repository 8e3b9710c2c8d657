//! Files and switches of the system: reading them, writing them, and finding those that a setting names.

use std::path::{Path, PathBuf};

use os::socket::Offload;

use crate::Setting;

/// Beginning of the address of an offload: `offload:INTERFACE/KIND`.
const OFFLOAD: &str = "offload:";
/// Offloads by the last part of their address.
const OFFLOADS: [(&str, Offload); 3] =
    [("tso", Offload::SegmentTcp), ("gso", Offload::SegmentAny), ("gro", Offload::JoinReceived)];
/// What control files hold if they control nothing.
const NO_CONTROL: [&str; 3] = ["notsupported", "notimplemented", "forceoff"];

/// The system that an experiment changes: this one, or a copy of its files.
#[derive(Debug, Clone)]
pub struct System {
    /// Folder below which its files are: `/`.
    pub root: PathBuf,
    /// The settings that there are.
    pub settings: &'static [Setting],
    /// Whether this process has the privileges of root.
    pub privileged: bool,
}

impl System {
    /// This machine with all settings.
    #[must_use]
    pub fn this() -> Self {
        Self { root: "/".into(), settings: crate::SETTINGS, privileged: os::process::is_privileged() }
    }

    /// The setting of this id.
    #[must_use]
    pub fn setting(&self, id: &str) -> Option<&'static Setting> {
        self.settings.iter().find(|setting| setting.id == id)
    }

    /// Name of this boot; empty where it is unknown.
    pub(crate) fn boot(&self) -> String {
        kernels::text::read(self.root.join("proc/sys/kernel/random/boot_id")).unwrap_or_default()
    }

    /// Every address that the patterns name here and that can be read.
    pub(crate) fn addresses(&self, patterns: &[&str]) -> Vec<String> {
        let mut found: Vec<String> = patterns.iter().flat_map(|pattern| self.matching(pattern)).collect();
        found.retain(|address| self.read(address).is_ok_and(|value| !NO_CONTROL.contains(&value.as_str())));
        found.sort();
        found
    }

    fn matching(&self, pattern: &str) -> Vec<String> {
        if let Some(kind) = pattern.strip_prefix(OFFLOAD).and_then(|rest| rest.strip_prefix("*/")) {
            let links = names(&self.root.join("sys/class/net"));
            return links
                .into_iter()
                .filter(|link| link != "lo")
                .map(|link| format!("{OFFLOAD}{link}/{kind}"))
                .collect();
        }
        let mut found = vec![String::new()];
        for part in pattern.split('/').filter(|part| !part.is_empty()) {
            let next = |before: String| -> Vec<String> {
                let Some((start, end)) = part.split_once('*') else { return vec![format!("{before}/{part}")] };
                let all = names(&self.root.join(before.trim_start_matches('/')));
                let fits = |name: &String| {
                    name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
                };
                all.into_iter().filter(fits).map(|name| format!("{before}/{name}")).collect()
            };
            found = found.into_iter().flat_map(next).collect();
        }
        found
    }

    /// The value at an address: of a file that lists choices, the chosen one.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn read(&self, address: &str) -> Result<String, String> {
        if let Some((link, kind)) = offload(address) {
            let on = os::socket::offload(link, kind).map_err(|error| error.to_string())?;
            return Ok(if on { "on" } else { "off" }.to_owned());
        }
        let text = kernels::text::read(self.path(address)).map_err(|error| error.to_string())?;
        let value = kernels::text::chosen(&text).unwrap_or(&text);
        Ok(value.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// Opens an address for writing, and writes nothing.
    pub(crate) fn may_write(&self, address: &str) -> Result<(), String> {
        if offload(address).is_some() {
            return Ok(());
        }
        let opened = std::fs::OpenOptions::new().write(true).open(self.path(address));
        opened.map(drop).map_err(|error| error.to_string())
    }

    /// Writes a value to an address, without reading it back.
    pub(crate) fn write(&self, address: &str, value: &str) -> Result<(), String> {
        if let Some((link, kind)) = offload(address) {
            return os::socket::set_offload(link, kind, value == "on").map_err(|error| error.to_string());
        }
        let path = self.path(address);
        // Neither created nor cut: a control file is there, and takes a value by one write.
        let file = std::fs::OpenOptions::new().write(true).open(&path);
        let written = file.and_then(|mut file| std::io::Write::write_all(&mut file, format!("{value}\n").as_bytes()));
        written.map_err(|error| format!("could not write {}: {error}", path.display()))
    }

    /// Whether a setting may name this address, whatever is there now.
    pub(crate) fn names(&self, setting: &Setting, address: &str) -> bool {
        let crate::Change::Files(patterns) = setting.change else { return false };
        let parts = |text: &str| text.split('/').map(str::to_owned).collect::<Vec<_>>();
        patterns.iter().any(|pattern| {
            let (pattern, address) = (parts(pattern), parts(address));
            pattern.len() == address.len()
                && pattern.iter().zip(&address).all(|(pattern, part)| {
                    part != ".."
                        && pattern.split_once('*').map_or(pattern == part, |(start, end)| {
                            part.len() >= start.len() + end.len() && part.starts_with(start) && part.ends_with(end)
                        })
                })
        })
    }

    /// Whether what an address names is no longer there: an interface, a disk, a CPU.
    pub(crate) fn is_gone(&self, address: &str) -> bool {
        match address.strip_prefix(OFFLOAD).and_then(|rest| rest.split_once('/')) {
            Some((link, _)) => !self.root.join("sys/class/net").join(link).exists(),
            None => !self.path(address).exists(),
        }
    }

    fn path(&self, address: &str) -> PathBuf {
        self.root.join(address.trim_start_matches('/'))
    }
}

fn offload(address: &str) -> Option<(&str, Offload)> {
    let (link, kind) = address.strip_prefix(OFFLOAD)?.split_once('/')?;
    OFFLOADS.iter().find(|(name, _)| *name == kind).map(|(_, kind)| (link, *kind))
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// Beginning of the name of a control group of an experiment; the number of the process that makes it and the weight
/// follow.
pub(crate) const GROUP: &str = "prony-experiment-";

/// The control group for a weight in percent of the usual one, of the experiment that process `pid` runs.
pub(crate) fn group_of(parent: &Path, pid: i32, weight: &str) -> PathBuf {
    parent.join(format!("{GROUP}{pid}-{weight}"))
}

/// The weight that the name of a control group states.
pub(crate) fn group_weight(group: &Path) -> Option<u64> {
    group.file_name()?.to_str()?.strip_prefix(GROUP)?.rsplit('-').next()?.parse().ok()
}

/// The file of the weight in a control group of this version, and the weight that groups have if nobody sets one.
pub(crate) const fn weight_file(version: u32) -> (&'static str, u32) {
    if version == 2 { ("cpu.weight", 100) } else { ("cpu.shares", 1024) }
}

/// Version and folder of the control group in which this process runs.
///
/// # Errors
/// Why there can be no group below it.
pub(crate) fn own_group(system: &System) -> Result<(u32, PathBuf), String> {
    let (version, folder) = os::cgroup::own_folder("cpu").ok_or("no control group for the CPU is mounted")?;
    if !system.privileged || !os::file::may_write(&folder) {
        return Err("needs root, or a control group that is yours".to_owned());
    }
    let shares = version == 1
        || kernels::text::read(folder.join("cgroup.subtree_control"))
            .is_ok_and(|text| text.split_whitespace().any(|name| name == "cpu"));
    if shares { Ok((version, folder)) } else { Err("its control group passes no CPU weight on".to_owned()) }
}
