//! Runs as plain files: a directory that people can read, copy, and keep under version control.
//!
//! `7-ID.json` is the document of run 7. `prony-store.json` holds what is in no document: the next number, and labels
//! given later. Lists and histories read every document: this store is for tens of runs, not for thousands.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use model::{FigureKey, Run};
use serde::{Deserialize, Serialize};

use crate::access::make_directory;
use crate::document::{load_document, remove_abandoned, render_document, replace, sync_directory};
use crate::index::Index;
use crate::select::check_label;
use crate::store::{by_age, label_after, values_only};
use crate::{Access, Detail, Error, SessionValue, Store, StoreErrorKind, Summary};

const STATE: &str = "prony-store.json";
const LOCK: &str = ".prony-store.lock";
/// Schema version of the directory that this program writes.
const FORM: i64 = 1;

/// Runs in a directory of run documents.
#[derive(Debug)]
pub struct FileStore {
    directory: PathBuf,
}

/// Content of `prony-store.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct StoreState {
    form: i64,
    next: u64,
    /// Labels given after the document was written, by id; `None` where the label was removed.
    #[serde(default)]
    labels: BTreeMap<String, Option<String>>,
}

/// The file of a run.
#[derive(Debug, Clone)]
struct RunFile {
    number: u64,
    path: PathBuf,
}

impl FileStore {
    /// Whether a directory is a store of this kind.
    #[must_use]
    pub fn is_store(directory: &Path) -> bool {
        directory.join(STATE).is_file()
    }

    /// Opens the store in a directory; for writing, a missing store is created.
    ///
    /// # Errors
    /// When the directory cannot be read or created, has a newer schema version, or its state is damaged.
    pub fn open(directory: &Path, access: Access) -> Result<Self, Error> {
        let store = Self { directory: directory.to_path_buf() };
        if access == Access::Write {
            make_directory(directory)?;
            remove_abandoned(directory);
        }
        fs::read_dir(directory).map_err(|error| Error::io("open the store", directory, &error))?;
        let state = store.state()?;
        if access == Access::Write {
            // A directory that cannot be written is told before anything is measured.
            store.lock_file()?;
            if !Self::is_store(directory) {
                store.save_state(&state)?;
            }
        }
        Ok(store)
    }

    fn state(&self) -> Result<StoreState, Error> {
        let path = self.directory.join(STATE);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(StoreState { form: FORM, next: 1, labels: BTreeMap::new() });
            }
            Err(error) => return Err(Error::io("read", &path, &error)),
        };
        let state: StoreState = serde_json::from_slice(&text).map_err(|error| Error::Place {
            action: "read",
            place: path.display().to_string(),
            trouble: StoreErrorKind::Corrupt(error.to_string()),
        })?;
        if state.form > FORM {
            return Err(Error::NewerStore { place: self.place(), found: state.form, known: FORM });
        }
        Ok(state)
    }

    fn save_state(&self, state: &StoreState) -> Result<(), Error> {
        let path = self.directory.join(STATE);
        let mut text = serde_json::to_vec_pretty(state).unwrap_or_default();
        text.push(b'\n');
        replace(&path, &text).map_err(|error| Error::io("save", &path, &error))
    }

    /// Takes the writers' lock; dropping the value releases it.
    fn exclusively(&self) -> Result<File, Error> {
        let file = self.lock_file()?;
        file.lock().map_err(|error| Error::io("write to", &self.directory.join(LOCK), &error))?;
        Ok(file)
    }

    fn lock_file(&self) -> Result<File, Error> {
        let path = self.directory.join(LOCK);
        let opened = File::options().create(true).write(true).truncate(false).open(&path);
        opened.map_err(|error| Error::io("write to", &path, &error))
    }

    /// Files of runs, sorted by number.
    fn entries(&self) -> Result<Vec<RunFile>, Error> {
        let refuse = |error: io::Error| Error::io("list the runs of", &self.directory, &error);
        let mut entries = Vec::new();
        for entry in fs::read_dir(&self.directory).map_err(refuse)? {
            let path = entry.map_err(refuse)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let number = name.strip_suffix(".json").and_then(|stem| stem.split_once('-')?.0.parse().ok());
            entries.extend(number.map(|number| RunFile { number, path }));
        }
        entries.sort_by_key(|entry| entry.number);
        Ok(entries)
    }

    /// The file and the document of an id.
    fn locate(&self, id: &str) -> Result<Option<(RunFile, Run)>, Error> {
        let ending = file_name(0, id).split_off(1);
        for entry in self.entries()? {
            let name = entry.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.strip_prefix(&entry.number.to_string()) == Some(&ending) {
                let run = load_document(&entry.path)?;
                if run.id == id {
                    return Ok(Some((entry, run)));
                }
            }
        }
        Ok(None)
    }

    fn located(&self, id: &str) -> Result<(RunFile, Run), Error> {
        let unknown = || Error::Unknown { text: id.to_owned(), place: self.place(), nearest: Vec::new() };
        self.locate(id)?.ok_or_else(unknown)
    }

    /// Every run, with its current label.
    fn indexes(&self) -> Result<Vec<Index>, Error> {
        let state = self.state()?;
        let load = |entry: RunFile| {
            let mut run = load_document(&entry.path)?;
            state.apply(&mut run);
            Ok(Index::of(entry.number, &run))
        };
        self.entries()?.into_iter().map(load).collect()
    }
}

impl StoreState {
    fn apply(&self, run: &mut Run) {
        if let Some(label) = self.labels.get(&run.id) {
            run.label.clone_from(label);
        }
    }
}

/// Name of a run's file. An id comes from a document, so characters that could lead out of the directory are replaced.
fn file_name(number: u64, id: &str) -> String {
    let tame = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
    format!("{number}-{}.json", id.chars().take(100).map(tame).collect::<String>())
}

impl Store for FileStore {
    fn place(&self) -> String {
        self.directory.display().to_string()
    }

    /// All texts are rendered before the first is written. Each file is replaced atomically, but if the disk fills up
    /// between two files, the first ones stay: here this store is weaker than a database.
    fn put_all(&mut self, runs: &[Run]) -> Result<Vec<u64>, Error> {
        let texts = runs.iter().map(render_document).collect::<Result<Vec<_>, _>>()?;
        let _lock = self.exclusively()?;
        let mut state = self.state()?;
        // A process killed between the two writes leaves a document with the next number.
        state.next = state.next.max(self.entries()?.last().map_or(1, |entry| entry.number + 1));
        let mut numbers = Vec::new();
        for (run, text) in runs.iter().zip(texts) {
            let path = match self.locate(&run.id)? {
                Some((entry, before)) => {
                    if let Some(held) = state.labels.remove(&run.id) {
                        let (written, now) = (before.label.as_deref(), run.label.as_deref());
                        let label = label_after(written, held.as_deref(), now);
                        if label != run.label {
                            state.labels.insert(run.id.clone(), label);
                        }
                    }
                    numbers.push(entry.number);
                    entry.path
                }
                None => {
                    numbers.push(state.next);
                    state.next += 1;
                    self.directory.join(file_name(state.next - 1, &run.id))
                }
            };
            replace(&path, text.as_bytes()).map_err(|error| Error::io("save the run in", &path, &error))?;
        }
        self.save_state(&state)?;
        Ok(numbers)
    }

    fn get(&self, id: &str, detail: Detail) -> Result<Run, Error> {
        let (_, mut run) = self.located(id)?;
        self.state()?.apply(&mut run);
        Ok(if detail == Detail::Values { values_only(run) } else { run })
    }

    fn summaries(&self) -> Result<Vec<Summary>, Error> {
        Ok(self.indexes()?.into_iter().map(|index| index.summary).collect())
    }

    /// Reads every document once, however many figures are asked for.
    fn histories(&self, keys: &[FigureKey], fingerprint: &str, limit: usize) -> Result<Vec<Vec<SessionValue>>, Error> {
        let mut indexes = self.indexes()?;
        indexes.retain(|index| index.history.as_deref() == Some(fingerprint));
        indexes.sort_by_key(|index| by_age(&index.summary));
        let history = |key: &FigureKey| {
            let values: Vec<_> = indexes.iter().filter_map(|index| SessionValue::of(index, key)).collect();
            values[values.len().saturating_sub(limit)..].to_vec()
        };
        Ok(keys.iter().map(history).collect())
    }

    fn remove(&mut self, ids: &[&str]) -> Result<(), Error> {
        let _lock = self.exclusively()?;
        let entries = ids.iter().map(|id| self.located(id)).collect::<Result<Vec<_>, _>>()?;
        let before = self.state()?;
        let mut state = before.clone();
        state.next = state.next.max(self.entries()?.last().map_or(1, |entry| entry.number + 1));
        state.labels.retain(|id, _| !ids.contains(&id.as_str()));
        for (entry, _) in entries {
            fs::remove_file(&entry.path).map_err(|error| Error::io("remove", &entry.path, &error))?;
        }
        // Writing comes last: on a full disk it takes the room that removing made.
        if state != before {
            self.save_state(&state)?;
        }
        sync_directory(&self.directory).map_err(|error| Error::io("remove runs from", &self.directory, &error))
    }

    fn set_label(&mut self, id: &str, label: Option<&str>) -> Result<(), Error> {
        label.map_or(Ok(()), check_label)?;
        let _lock = self.exclusively()?;
        let (_, run) = self.located(id)?;
        let mut state = self.state()?;
        if run.label.as_deref() == label {
            state.labels.remove(id);
        } else {
            state.labels.insert(id.to_owned(), label.map(str::to_owned));
        }
        self.save_state(&state)
    }
}
