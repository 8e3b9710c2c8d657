//! Collects facts, each with its source or the reason for its absence.

use std::fmt::Display;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use kernels::text;
use model::{Fact, FactValue, Primitive};

use crate::error::Error;

/// A value, or the reason for its absence.
pub(super) type Found<T> = Result<T, String>;

/// The facts so far, and the tree from which they are read.
#[derive(Debug)]
pub(super) struct Collector {
    root: PathBuf,
    facts: Vec<Fact>,
}

impl Collector {
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), facts: Vec::new() }
    }

    pub(super) fn done(self) -> Vec<Fact> {
        self.facts
    }

    /// The path in the tree of an absolute path.
    pub(super) fn path(&self, absolute: &str) -> PathBuf {
        self.root.join(absolute.trim_start_matches('/'))
    }

    /// Whether the tree is the running system, so that calls describe the same machine as files.
    pub(super) fn is_here(&self) -> bool {
        self.root == Path::new("/")
    }

    /// The text of a file.
    pub(super) fn read(&self, absolute: &str) -> Found<String> {
        match text::read(self.path(absolute)) {
            Ok(text) if text.is_empty() => Err(format!("{absolute} is empty")),
            Ok(text) => Ok(text),
            Err(error) => Err(reason(absolute, &error)),
        }
    }

    /// The number in a file.
    pub(super) fn read_number(&self, absolute: &str) -> Found<f64> {
        let text = self.read(absolute)?;
        text.parse().map_err(|_| format!("{absolute} contains {text:?}, which is not a number"))
    }

    /// Names in a folder, sorted; empty if there is none.
    pub(super) fn names(&self, absolute: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(absolute)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort_unstable();
        names
    }

    /// Adds a fact of any kind.
    pub(super) fn add(
        &mut self,
        name: impl Into<String>,
        value: Found<FactValue>,
        unit: Option<&str>,
        source: impl Into<String>,
        affects: &[Primitive],
    ) {
        self.facts.push(Fact {
            name: name.into(),
            value: value.unwrap_or_else(FactValue::Unknown),
            unit: unit.map(str::to_owned),
            source: source.into(),
            affects: affects.to_vec(),
        });
    }

    /// Adds a text.
    pub(super) fn words(
        &mut self,
        name: impl Into<String>,
        value: Found<impl Into<String>>,
        source: impl Into<String>,
        affects: &[Primitive],
    ) {
        self.add(name, value.map(|words| FactValue::Text(words.into())), None, source, affects);
    }

    /// Adds a number with its unit: `Hz`, `B`, `s`, `1`.
    pub(super) fn number(
        &mut self,
        name: impl Into<String>,
        value: Found<f64>,
        unit: &str,
        source: impl Into<String>,
        affects: &[Primitive],
    ) {
        self.add(name, value.map(FactValue::Number), Some(unit), source, affects);
    }

    /// Adds a truth value.
    pub(super) fn truth(
        &mut self,
        name: impl Into<String>,
        value: Found<bool>,
        source: impl Into<String>,
        affects: &[Primitive],
    ) {
        self.add(name, value.map(FactValue::Truth), None, source, affects);
    }

    /// Adds the text of a file.
    pub(super) fn file(&mut self, name: impl Into<String>, absolute: &str, affects: &[Primitive]) {
        self.words(name, self.read(absolute), absolute, affects);
    }

    /// Adds the list of CPUs in a file, in which an empty text means none.
    pub(super) fn file_cpus(&mut self, name: impl Into<String>, absolute: &str, affects: &[Primitive]) {
        let value = match text::read(self.path(absolute)) {
            Ok(list) if list.is_empty() || list == "(null)" => Ok("none".to_owned()),
            Ok(list) => Ok(list),
            Err(error) => Err(reason(absolute, &error)),
        };
        self.words(name, value, absolute, affects);
    }

    /// Adds the number in a file, times `scale` to convert it to the base unit.
    pub(super) fn file_number(
        &mut self,
        name: impl Into<String>,
        absolute: &str,
        scale: f64,
        unit: &str,
        affects: &[Primitive],
    ) {
        self.number(name, self.read_number(absolute).map(|n| n * scale), unit, absolute, affects);
    }

    /// Adds the choice in brackets of a file such as `always [madvise] never`.
    pub(super) fn file_choice(&mut self, name: impl Into<String>, absolute: &str, affects: &[Primitive]) {
        let value = self.read(absolute).map(|text| text::chosen(&text).unwrap_or(&text).to_owned());
        self.words(name, value, absolute, affects);
    }
}

/// Why a file could not be read, as a clause after "unknown:".
pub(super) fn reason(absolute: &str, error: &Error) -> String {
    match error.kind() {
        Some(ErrorKind::NotFound) => format!("there is no {absolute}"),
        Some(ErrorKind::PermissionDenied) => format!("{absolute} may be read by root only"),
        _ => error.to_string(),
    }
}

/// The result of a call, or the reason for its failure.
pub(super) fn why<T, E: Display>(answer: Result<T, E>) -> Found<T> {
    answer.map_err(|error| error.to_string())
}
