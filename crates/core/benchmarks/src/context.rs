//! Inputs for the preparation of a benchmark.

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use kernels::memory::PreparationHelpers;

use crate::{Scratch, Unsupported};

/// Settings of one sample, decided before it begins.
#[derive(Debug, Clone)]
pub struct SampleSetting {
    /// Seed of this sample, from which memory layouts and orders are drawn.
    pub seed: u64,
    /// A CPU for each party, in order; empty if the parties are not pinned.
    pub cpus: Vec<usize>,
    /// All CPUs that this process may use.
    pub allowed: Vec<usize>,
    /// Bytes of the last-level caches that its CPUs reach; 0 where they are unknown.
    pub cache: u64,
    /// Directory for the file results.
    pub directory: PathBuf,
    /// The variant to run, if one is chosen.
    pub variant: Option<String>,
    /// Whether this is the calibrating sample, whose values are discarded.
    pub calibrating: bool,
}

#[cfg(test)]
impl SampleSetting {
    /// A sample on any CPU whose files lie in a directory.
    pub(crate) fn within(directory: impl Into<PathBuf>) -> Self {
        Self {
            seed: 1,
            cpus: Vec::new(),
            allowed: Vec::new(),
            cache: 0,
            directory: directory.into(),
            variant: None,
            calibrating: false,
        }
    }
}

/// A party other than the worker itself, whose CPU is verified after the batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchedParty {
    /// Index of the party: 1 is the second.
    pub party: usize,
    /// Its process or thread id.
    pub pid: i32,
}

/// Inputs for preparing a benchmark: its setting, and values shared with benchmarks that were prepared before.
pub struct BenchmarkContext {
    setting: SampleSetting,
    shared: Rc<RefCell<HashMap<String, Rc<dyn Any>>>>,
    watched: Vec<WatchedParty>,
    further: Vec<usize>,
    notes: Vec<String>,
    variant: Option<String>,
    scratch: Vec<Rc<Scratch>>,
}

impl BenchmarkContext {
    /// A context for a sample without shared values.
    #[must_use]
    pub fn new(setting: SampleSetting) -> Self {
        let variant = setting.variant.clone();
        Self {
            setting,
            shared: Rc::default(),
            watched: Vec::new(),
            further: Vec::new(),
            notes: Vec::new(),
            variant,
            scratch: Vec::new(),
        }
    }

    /// A context for another benchmark of the same sample.
    #[must_use]
    pub fn for_benchmark(&self, setting: SampleSetting) -> Self {
        Self { shared: Rc::clone(&self.shared), ..Self::new(setting) }
    }

    /// Seed of this sample.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.setting.seed
    }

    /// CPU of a party, `None` if it is not pinned.
    #[must_use]
    pub fn cpu(&self, party: usize) -> Option<usize> {
        self.setting.cpus.get(party).copied()
    }

    /// CPUs of all parties.
    #[must_use]
    pub fn cpus(&self) -> &[usize] {
        &self.setting.cpus
    }

    /// All CPUs that this process may use.
    #[must_use]
    pub fn allowed(&self) -> &[usize] {
        &self.setting.allowed
    }

    /// Bytes of the last-level caches that its CPUs reach, where they are known.
    #[must_use]
    pub fn last_level_bytes(&self) -> Option<u64> {
        Some(self.setting.cache).filter(|bytes| *bytes > 0)
    }

    /// CPUs that may help to prepare the memory of the first party; none if it is not pinned.
    #[must_use]
    pub fn preparation_helpers(&self) -> PreparationHelpers {
        self.cpu(0).map_or_else(PreparationHelpers::none, |cpu| PreparationHelpers::near(cpu, self.allowed()))
    }

    /// Whether this is the calibrating sample, whose values are discarded.
    #[must_use]
    pub const fn calibrating(&self) -> bool {
        self.setting.calibrating
    }

    /// The value shared under this key, or the value that `make` creates now.
    ///
    /// # Errors
    /// The error of `make`.
    #[expect(clippy::missing_panics_doc, reason = "the invariant holds")]
    #[expect(clippy::expect_used, reason = "a key is always used with one type")]
    pub fn shared<T: 'static>(
        &mut self,
        key: &str,
        make: impl FnOnce() -> Result<T, Unsupported>,
    ) -> Result<Rc<T>, Unsupported> {
        let known = self.shared.borrow().get(key).cloned();
        let value = match known {
            Some(value) => value,
            None => {
                let value: Rc<dyn Any> = Rc::new(make()?);
                self.shared.borrow_mut().insert(key.to_owned(), Rc::clone(&value));
                value
            }
        };
        Ok(value.downcast::<T>().expect("a key is always used with one type"))
    }

    /// Names a CPU that the result uses in addition to its assigned ones.
    pub fn use_too(&mut self, cpu: usize) {
        self.further.push(cpu);
    }

    /// All CPUs that the result uses.
    #[must_use]
    pub fn used(&self) -> Vec<usize> {
        self.setting.cpus.iter().chain(&self.further).copied().collect()
    }

    /// Requests that the CPU of a party be verified after the batches.
    pub fn watch(&mut self, party: usize, pid: i32) {
        self.watched.push(WatchedParty { party, pid });
    }

    /// Parties to verify.
    #[must_use]
    pub fn watched(&self) -> &[WatchedParty] {
        &self.watched
    }

    /// Adds a note for the reader that only preparation can supply, such as the shell used or the file system.
    pub fn note(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    /// The notes.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The variant to run, if it is fixed; `None` requests that the benchmark choose one by
    /// [`BenchmarkContext::choose`].
    #[must_use]
    pub fn variant(&self) -> Option<&str> {
        self.variant.as_deref()
    }

    /// Fixes the variant for the rest of the run.
    pub fn choose(&mut self, variant: impl Into<String>) {
        self.variant = Some(variant.into());
    }

    /// The target directory of the file results.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.setting.directory
    }

    /// A directory for this sample inside the target directory. It is removed with its contents when the context and
    /// every kernel that holds it are dropped.
    ///
    /// # Errors
    /// When it could not be created.
    pub fn scratch(&mut self) -> Result<Rc<Scratch>, Unsupported> {
        let inside = self.setting.directory.clone();
        self.scratch_in(&inside)
    }

    /// The same inside another directory.
    ///
    /// # Errors
    /// When it could not be created.
    pub fn scratch_in(&mut self, inside: &Path) -> Result<Rc<Scratch>, Unsupported> {
        if let Some(known) = self.scratch.iter().find(|scratch| scratch.path().parent() == Some(inside)) {
            return Ok(Rc::clone(known));
        }
        let scratch = Rc::new(Scratch::new(inside, self.setting.seed)?);
        self.scratch.push(Rc::clone(&scratch));
        Ok(scratch)
    }
}
