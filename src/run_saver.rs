//! Saves a run in the store, in a file, or both.

use std::path::PathBuf;

use anyhow::Result;
use measure::Saver;
use model::{BenchmarkResult, Run};
use store::Store;

use crate::cli::CommonOptions;
use crate::{output, run_finder};

/// Options of all commands that save a run.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct SaveOptions {
    /// Give the run this name
    #[arg(long, help_heading = "Saving", value_name = "NAME")]
    pub(crate) label: Option<String>,
    /// Keep this note with the run; repeatable
    #[arg(long, help_heading = "Saving", value_name = "TEXT")]
    pub(crate) note: Vec<String>,
    /// Write the result file here as well
    #[arg(long, help_heading = "Saving", short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write only --output, and do not store the run
    #[arg(long, help_heading = "Saving", requires = "output")]
    pub(crate) no_store: bool,
}

/// Saves a run in the store and in a file.
pub(crate) struct RunSaver {
    store: Option<Box<dyn Store>>,
    output: Option<PathBuf>,
    label: Option<String>,
    notes: Vec<String>,
    /// Its number in the store.
    pub(crate) number: Option<u64>,
}

impl RunSaver {
    /// Opens the requested destinations, before anything is measured.
    pub(crate) fn open(saving: &SaveOptions, common: &CommonOptions) -> Result<Self> {
        if let Some(label) = &saving.label {
            store::check_label(label)?;
        }
        saving.output.as_deref().map_or(Ok(()), store::check_destination)?;
        let store = if saving.no_store { None } else { Some(run_finder::write(common)?) };
        let (output, label, notes) = (saving.output.clone(), saving.label.clone(), saving.note.clone());
        Ok(Self { store, output, label, notes, number: None })
    }

    /// Adds the requested label and notes to a run.
    pub(crate) fn mark(&self, run: &mut Run) {
        run.label.clone_from(&self.label);
        run.session.notes.extend(self.notes.iter().cloned());
    }

    /// The store, unless none was requested.
    pub(crate) fn store(&self) -> Option<&dyn Store> {
        self.store.as_deref()
    }
}

impl RunSaver {
    /// The store, to change it.
    pub(crate) fn store_mut(&mut self) -> Option<&mut dyn Store> {
        match &mut self.store {
            Some(store) => Some(store.as_mut()),
            None => None,
        }
    }

    /// Takes a run out of the store again that holds nothing.
    pub(crate) fn discard(&mut self, run: &Run) -> Result<()> {
        if let (Some(store), Some(_)) = (&mut self.store, self.number.take()) {
            store.remove(&[run.id.as_str()])?;
        }
        Ok(())
    }
}

/// Whether a run holds something, or is over: until then a file of an earlier run is not replaced.
fn is_worth_a_file(run: &Run) -> bool {
    let launched = |result: &BenchmarkResult| !result.is_condition() && !result.samples.is_empty();
    run.session.ended.is_some() || run.results.iter().any(launched)
}

impl Saver for RunSaver {
    fn save(&mut self, run: &Run) -> Result<(), String> {
        if let Some(store) = &mut self.store {
            let before = store.began_anew();
            self.number = Some(store.put(run).map_err(|error| error.to_string())?);
            if store.began_anew() && !before {
                output::remark(&format!("the store {} was removed meanwhile; a new one holds this run", store.place()));
            }
        }
        if let Some(path) = self.output.as_ref().filter(|_| is_worth_a_file(run)) {
            store::save_document(path, run).map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}
