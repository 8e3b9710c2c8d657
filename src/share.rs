//! A run document for others, without data that identify the user or the place.
//!
//! Facts of the machine are kept by a list, so that a fact of a later version is not given away by being unknown here.
//! Every text that remains is searched for the host name, the user's name, paths, addresses and identifiers.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use model::{Fact, Run, Sample};
use regex::Regex;
use sha2::{Digest, Sha256};

/// How much of a run is shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ShareMode {
    // Without data that identify the user or the place.
    Stripped,
    // Everything.
    Full,
}

/// Beginnings of the names of kept facts. Unlisted ones are removed.
const KEPT: &str = "\
    machine.load cpu. cache. memory. clock. mitigation. virtual. cgroup. limit. confinement. software. \
    environment. file. kernel.name kernel.release kernel.version kernel.page_table_isolation kernel.config. \
    kernel.preemption kernel.full_tickless_cpus kernel.fault_around kernel.perf_event_paranoid \
    kernel.sched_autogroup kernel.address_space_randomised kernel.security_modules kernel.traced_calls \
    pcie. interrupts. network.congestion network.queueing network.receive_buffer network.send_buffer network.tcp_ \
    network.pipe_capacity_max";
/// The same for endings, of facts about one disk or file system.
const KEPT_ENDS: &[(&str, &[&str])] = &[
    ("filesystem.", &[".type", ".block", ".size", ".free"]),
    (
        "disk.",
        &[".size", ".rotational", ".scheduler", ".write_cache", ".read_ahead", ".model", ".driver", ".missing_members"],
    ),
    ("network.e", &[".speed", ".speed_max", ".duplex", ".mtu", ".state"]),
];

fn kept(fact: &Fact) -> bool {
    let ends = |(start, ends): &(&str, &[&str])| {
        fact.name.starts_with(start) && ends.iter().any(|end| fact.name.ends_with(end))
    };
    KEPT.split(' ').any(|start| fact.name.starts_with(start)) || KEPT_ENDS.iter().any(ends)
}

/// Words that must not remain in any text.
struct Secrets {
    names: Vec<String>,
    shapes: Vec<(Regex, &'static str)>,
}

/// Shortest name that is searched for: a host called `a` would take every a.
const SHORTEST: usize = 3;

impl Secrets {
    fn new(run: &Run) -> Result<Self> {
        let mut names: Vec<String> = vec![run.machine.name.clone(), run.session.began_on.host.clone()];
        names.extend(run.session.ended_on.iter().map(|end| end.host.clone()));
        names.extend(run.machine.text("machine.hostname"));
        names.extend(["USER", "LOGNAME", "SUDO_USER"].into_iter().filter_map(|name| std::env::var(name).ok()));
        names.extend(["HOME"].into_iter().filter_map(|name| std::env::var(name).ok()));
        // "root" and "none" are words of every system, and tell nothing.
        names.retain(|name| name.len() >= SHORTEST && !["root", "/root", "localhost", "none"].contains(&name.as_str()));
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        names.dedup();
        let shapes = [
            (r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b", "(identifier)"),
            (r"\b(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}\b", "(address)"),
            (r"\b(?:\d{1,3}\.){3}\d{1,3}\b", "(address)"),
            (r"\b(?:[0-9a-fA-F]{1,4}:){3,7}:?[0-9a-fA-F]{1,4}\b", "(address)"),
            (r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", "(address)"),
            // Files of the system say nothing of who uses it; other paths may.
            (
                r"(?:^|[\s='\x22(:,])(/(?:home|root|Users|mnt|media|srv|data|tmp|var|opt|work|scratch|export|nfs|lustre)(?:/[^\s'\x22,;:)]*)?)",
                "(path)",
            ),
        ];
        let shapes = shapes.into_iter().map(|(shape, mark)| Ok((Regex::new(shape)?, mark)));
        Ok(Self { names, shapes: shapes.collect::<Result<_>>()? })
    }

    fn clean(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for name in &self.names {
            text = text.replace(name.as_str(), "(name)");
        }
        for (shape, mark) in &self.shapes {
            // If a shape has a group, only that is replaced, so that the text before a path stays.
            text = shape
                .replace_all(&text, |found: &regex::Captures| match (found.get(0), found.get(1)) {
                    (Some(whole), Some(part)) => whole.as_str().replace(part.as_str(), mark),
                    _ => (*mark).to_owned(),
                })
                .into_owned();
        }
        text
    }

    fn clean_all(&self, value: &mut serde_json::Value) {
        match value {
            serde_json::Value::String(text) => *text = self.clean(text),
            serde_json::Value::Array(items) => items.iter_mut().for_each(|item| self.clean_all(item)),
            serde_json::Value::Object(members) => members.values_mut().for_each(|member| self.clean_all(member)),
            _ => {}
        }
    }
}

/// The first 128 bits of SHA-256 over the salt and a text, in hexadecimal: equal for equal texts of one salt, and no
/// use to anybody without the salt.
fn salted(salt: &[u8], text: &str) -> String {
    let mut state = Sha256::new();
    state.update(b"prony share");
    state.update(salt);
    state.update(text.as_bytes());
    state.finalize()[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A run without data that identify the user or the place. Runs of one machine keep one common name.
pub(crate) fn stripped(run: &Run, salt: &[u8]) -> Result<Run> {
    let secrets = Secrets::new(run)?;
    let mut run = run.clone();
    let mark = |text: &str| if text.is_empty() { String::new() } else { salted(salt, text) };
    let fingerprint = mark(&run.machine.fingerprint);
    run.id = mark(&run.id);
    run.machine.name = format!("machine-{}", fingerprint.get(..8).unwrap_or("unknown"));
    run.machine.fingerprint = fingerprint;
    run.machine.facts.retain(kept);
    let session = &mut run.session;
    session.command = vec!["prony".to_owned(), "run".to_owned()];
    for identity in std::iter::once(&mut session.began_on).chain(session.ended_on.as_mut()) {
        identity.host.clear();
        identity.fingerprint = mark(&identity.fingerprint);
        identity.boot = mark(&identity.boot);
    }
    // It names the nodes.
    session.farm = None;
    session.conditions.beside = session.conditions.beside.take().map(|_| "not told".to_owned());
    run.plan.directory = None;
    run.plan.suite = Path::new(&run.plan.suite)
        .file_name()
        .map_or(run.plan.suite.clone(), |name| name.to_string_lossy().into_owned());
    let mut value = serde_json::to_value(&run)?;
    secrets.clean_all(&mut value);
    serde_json::from_value(value).context("could not strip the run")
}

/// Gives this user's shared files their local machine identity if runs of the same machine are present, so that both
/// count as one machine.
pub(crate) fn recognise(runs: &mut [&mut Run]) {
    if let Some(salt) = salt_place().ok().and_then(|path| kept_salt(&path)) {
        unmark(runs, &salt);
    }
}

/// Replaces marks of a salt by their originals, as far as one of the runs has it.
fn unmark(runs: &mut [&mut Run], salt: &[u8]) {
    let identities = |run: &Run| [Some(run.session.began_on.clone()), run.session.ended_on.clone()];
    let known = runs.iter().flat_map(|run| {
        let of_session =
            identities(run).into_iter().flatten().flat_map(|identity| [identity.fingerprint, identity.boot]);
        [run.id.clone(), run.machine.fingerprint.clone()].into_iter().chain(of_session).collect::<Vec<_>>()
    });
    let known: HashMap<String, String> =
        known.filter(|text| !text.is_empty()).map(|text| (salted(salt, &text), text)).collect();
    for run in runs {
        let session = &mut run.session;
        let marks = [&mut run.id, &mut run.machine.fingerprint].into_iter();
        let of_session = std::iter::once(&mut session.began_on).chain(session.ended_on.as_mut());
        let of_session = of_session.flat_map(|identity| [&mut identity.fingerprint, &mut identity.boot]);
        for mark in marks.chain(of_session) {
            if let Some(text) = known.get(mark) {
                mark.clone_from(text);
            }
        }
    }
}

/// The file of this user's salt on this machine, next to the default store.
fn salt_place() -> Result<PathBuf> {
    Ok(store::default_path()?.with_file_name("share-salt"))
}

fn kept_salt(path: &Path) -> Option<Vec<u8>> {
    std::fs::read(path).ok().filter(|salt| salt.len() == 32)
}

/// The salt of this user on this machine, made at its first use.
fn salt() -> Result<Vec<u8>> {
    let path = salt_place()?;
    let cannot = || format!("could not use {}", path.display());
    if let Some(salt) = kept_salt(&path) {
        return Ok(salt);
    }
    let mut salt = vec![0; 32];
    std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut salt)).with_context(cannot)?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(cannot)?;
    }
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&path)
        .with_context(cannot)?;
    file.write_all(&salt).with_context(cannot)?;
    Ok(salt)
}

/// Name of the file: the label, else the machine.
fn file_name(run: &Run) -> PathBuf {
    let name = run.label.as_deref().unwrap_or(&run.machine.name);
    PathBuf::from(format!("{}.prony.json", crate::output::file_part(name)))
}

/// Writes a run without data that identify the user or the place into a folder, compressed, under the name of its
/// machine. Of its samples, the values stay: the program contains every reference run.
pub(crate) fn write_reference(run: &Run, folder: &Path) -> Result<PathBuf> {
    let mut shared = stripped(run, &salt()?)?;
    shared.session.sensors = None;
    for sample in shared.results.iter_mut().flat_map(|result| &mut result.samples) {
        let Sample { round, value, steady, invalid, .. } = std::mem::take(sample);
        *sample = Sample { round, value, steady, invalid, ..Sample::default() };
    }
    let path = folder.join(format!("{}.json.zst", crate::output::file_part(&shared.machine.name)));
    store::save_document(&path, &shared)?;
    Ok(path)
}

/// Writes the file of a run for others, and lists its contents.
pub(crate) fn write(run: &Run, mode: ShareMode) -> Result<String> {
    let shared = match mode {
        ShareMode::Full => run.clone(),
        ShareMode::Stripped => stripped(run, &salt()?)?,
    };
    let path = file_name(&shared);
    store::save_document(&path, &shared)?;
    let bytes = std::fs::metadata(&path).map_or(0, |file| file.len());
    let size = report::PrintedQuantity::bare(bytes as f64, model::Unit::Bytes).short();
    let samples: usize = shared.results.iter().map(|result| result.samples.len()).sum();
    let facts = (shared.machine.facts.len(), run.machine.facts.len());
    let kept = format!(
        "Wrote {} ({size}): {} results with {samples} samples, {} facts of the machine ({})",
        path.display(),
        shared.results.len(),
        facts.0,
        shared.machine.summary
    );
    Ok(match mode {
        ShareMode::Full => format!("{kept}, and everything else: host name, paths, command line"),
        ShareMode::Stripped => format!(
            "{kept}, conditions and notes; it is called {}. Taken out: host and user names, paths, addresses, \
             identifiers, the command line, {} facts. --share=full keeps all",
            shared.machine.name,
            facts.1 - facts.0
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> Run {
        let text = r#"{"schema":1,"id":"2026-web-3-kernelbox","machine":{"name":"kernelbox","fingerprint":"f00","summary":"CPU, Linux on kernelbox"},
            "session":{"started":"2026-11-22T09:20:00Z","command":["/home/ada/prony","run","--note","x"],
            "began_on":{"fingerprint":"f00","boot":"b00","host":"kernelbox"},
            "notes":["kernelbox: /home/ada/secret/place of ada@example.org, 10.1.2.3, aa:bb:cc:dd:ee:ff",
                     "id 123e4567-e89b-12d3-a456-426614174000 at fe80:0:0:0:1:2:3:4", "compiler: /usr/bin/cc"],
            "conditions":{"beside":"process 3 (secret)"}},
            "plan":{"suite":"/home/ada/evaluation","seed":1,"level":0.95,"target":0.02,"checkpoints":[10],"batches":20,
            "batch_nanos":1000,"band":0.02,"directory":"/home/ada","entries":[]},"results":[]}"#;
        let mut run: Run = serde_json::from_str(text).unwrap();
        let fact = |name: &str, text: &str| Fact::new(name, text, "/proc", &[]);
        run.machine.facts = vec![
            fact("machine.hostname", "kernelbox"),
            fact("machine.id_hash", "5eaf00d"),
            fact("disk.sda.serial", "S3R1AL"),
            fact("disk.sda.model", "QEMU"),
            fact("fact.of.the.future", "Ada"),
            fact("cpu.model", "AMD EPYC"),
            fact("kernel.command_line", "root=UUID=5"),
            fact("filesystem.target.source", "nas:/export/ada"),
            fact("filesystem.target.options", "lowerdir=/home/ada"),
            fact("filesystem.target.type", "ext4"),
        ];
        run
    }

    #[test]
    fn nothing_tells_who_or_where() {
        let shared = stripped(&run(), b"salt").unwrap();
        let text = serde_json::to_string(&shared).unwrap();
        for secret in
            "kernelbox /home ada 10.1.2.3 aa:bb 123e4567 fe80 S3R1AL 5eaf00d f00 b00 UUID future (secret)".split(' ')
        {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
        for kept in ["AMD EPYC", "QEMU", "ext4", "/usr/bin/cc", "2026-11-22T09:20:00Z"] {
            assert!(text.contains(kept), "{kept}: {text}");
        }
    }

    #[test]
    fn one_machine_keeps_one_salted_name() {
        let name = |salt: &[u8]| stripped(&run(), salt).unwrap().machine;
        assert_eq!(name(b"a").fingerprint, name(b"a").fingerprint);
        assert_ne!(name(b"a").fingerprint, name(b"b").fingerprint);
        assert!(name(b"a").name.starts_with("machine-"));
    }

    #[test]
    fn a_shared_run_and_a_kept_one_are_of_one_machine() {
        let kept = run();
        let later = Run { id: "later".to_owned(), ..run() };
        let mut shared = stripped(&kept, b"salt").unwrap();
        let mut again = stripped(&later, b"salt").unwrap();
        assert_eq!(shared.machine_identity(), again.machine_identity(), "two shared files of one machine");
        let foreign = stripped(&kept, b"other").unwrap();
        let mut other = foreign.clone();
        unmark(&mut [&mut kept.clone(), &mut shared, &mut again, &mut other], b"salt");
        assert_eq!(shared.machine_identity(), kept.machine_identity());
        assert_eq!((&shared.id, &shared.session.began_on.boot), (&kept.id, &kept.session.began_on.boot));
        assert_eq!(again.machine_identity(), kept.machine_identity());
        assert_ne!(again.id, kept.id);
        assert_eq!(other, foreign, "nothing is known of what another user shared");
    }

    #[test]
    fn the_file_is_named_after_label_or_machine() {
        let mut run = run();
        assert_eq!(file_name(&run), PathBuf::from("kernelbox.prony.json"));
        run.label = Some("../new box".into());
        assert_eq!(file_name(&run), PathBuf::from("new-box.prony.json"));
        run.label = Some("..".into());
        assert_eq!(file_name(&run), PathBuf::from("run.prony.json"));
    }
}
