//! The subject of a report, and the file that has its name.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::Result;
use sha2::{Digest, Sha256};

use crate::output::file_part as fit;
use crate::run_finder::{Named, names_one};

/// Most bytes of a mark.
const MARK: u64 = 128;

/// The subject of a report: its runs, or findings without one.
pub(super) struct ReportSubject {
    /// Names of files for it, the nicest first.
    names: Vec<String>,
    /// Equal for two reports of the same runs only.
    key: String,
}

impl ReportSubject {
    /// A report of runs: named after their labels or numbers or, where another report has that name, after their ids.
    pub(super) fn of(runs: &[Named]) -> Self {
        let names: [fn(&Named) -> &str; 2] = [called, |named| &named.run.id];
        let names = names.map(|name| joined(&runs.iter().map(name).collect::<Vec<_>>()));
        Self { names: names.to_vec(), key: key(runs.iter().map(|named| named.run.id.as_str())) }
    }

    /// A report of what other commands find.
    pub(super) fn findings(commands: &[String]) -> Self {
        Self { names: vec!["findings".to_owned()], key: key(commands.iter().map(String::as_str)) }
    }

    /// The end of a page, which identifies its subject for a later report.
    pub(super) fn mark(&self) -> String {
        format!("<!-- prony report of {} -->\n", self.key)
    }

    /// The file for the report where none is named: never one with something else in it.
    pub(super) fn file(&self) -> Result<PathBuf> {
        let files: Vec<PathBuf> = self.names.iter().map(|name| PathBuf::from(format!("prony-{name}.html"))).collect();
        let own = files.iter().find(|file| !file.exists() || ends_with(file, &self.mark()));
        own.cloned().ok_or_else(|| {
            let taken = files.last().map(|file| file.display().to_string()).unwrap_or_default();
            anyhow::anyhow!(
                "could not write the report to {taken}, which holds something else; name a file with --output"
            )
        })
    }
}

fn ends_with(file: &Path, mark: &str) -> bool {
    let end = || -> std::io::Result<Vec<u8>> {
        let mut file = std::fs::File::open(file)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(MARK)))?;
        let mut end = Vec::new();
        file.take(MARK).read_to_end(&mut end)?;
        Ok(end)
    };
    end().is_ok_and(|end| end.ends_with(mark.as_bytes()))
}

/// The label of a run, else its number, else its machine.
fn called(named: &Named) -> &str {
    let label = named.run.label.as_deref();
    label.unwrap_or_else(|| if names_one(&named.handle) { &named.handle } else { named.run.name() })
}

/// Names of runs as a part of a file name.
fn joined(names: &[&str]) -> String {
    match names {
        [first, second] => format!("{}-vs-{}", fit(first), fit(second)),
        [first, rest @ ..] if !rest.is_empty() => format!("{}-and-{}-more", fit(first), rest.len()),
        _ => names.iter().map(|name| fit(name)).collect(),
    }
}

fn key<'a>(parts: impl Iterator<Item = &'a str>) -> String {
    let mut state = Sha256::new();
    for part in parts {
        state.update((part.len() as u64).to_le_bytes());
        state.update(part);
    }
    state.finalize()[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}
