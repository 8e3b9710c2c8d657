//! Published evaluations, embedded: each machine of each is a run like any other, without a spread.
//!
//! The directory of an evaluation defines it completely: its tables as CSV, and `evaluation.toml`.
//!
//! A name is `published:EVALUATION` for all its machines or `published:EVALUATION/MACHINE` for one; the machine may be
//! written as printed or with hyphens, as in the ids of the runs. A directory of the user is named by its path.

mod description;
mod folder;
mod machines;
mod read;
mod table;
mod template;
mod unit;

use std::path::Path;

use model::words::hexadecimal;
use model::{Catalogue, Origin, Run};
use sha2::{Digest, Sha256};

use crate::Error;
use crate::assemble::{Provenance, assemble};
pub use description::{
    DerivedTable, DifferenceDescription, EvaluationDescription, FactDescription, Filter, KeyedCell, MachineDescription,
    MachineRule, ResultDescription, SuiteCell, SuiteChart, SuiteColumn, SuiteDescription, SuiteResult, SuiteRows,
    SuiteSort, SuiteTable, TableDescription,
};
use folder::{DESCRIPTION, Folder};
use machines::{PublishedMachine, slug};
pub use table::PublishedTable;
pub use unit::{PrintedUnitName, UNITS};

/// Prefix of the names of published evaluations.
pub const PREFIX: &str = "published:";

/// An evaluation: the content of its directory.
#[derive(Debug, Clone)]
pub struct PublishedEvaluation {
    /// Its name, which is that of its directory.
    pub name: String,
    /// Its description, and how its tables are read.
    pub description: EvaluationDescription,
    /// Its tables, in the order of the description.
    pub tables: Vec<PublishedTable>,
    sha256: String,
}

impl PublishedEvaluation {
    /// Reads a directory of the user.
    ///
    /// # Errors
    /// When the directory has no description, or a file cannot be read or contradicts the description.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        Self::read(&Folder::Disk(folder))
    }

    /// Every evaluation that ships with the program.
    ///
    /// # Errors
    /// When one is damaged.
    pub fn all() -> Result<Vec<Self>, Error> {
        Folder::embedded().map(|folder| Self::read(&folder)).collect()
    }

    fn read(folder: &Folder<'_>) -> Result<Self, Error> {
        let text = folder.text(DESCRIPTION)?;
        let failed = |error: toml::de::Error| Error::EvaluationFile {
            file: DESCRIPTION.to_owned(),
            reason: {
                // The parser's own text draws the line below itself, and does not fit into one.
                let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
                format!("line {line}: {}", error.message().replace('\n', " "))
            },
        };
        let description: EvaluationDescription = toml::from_str(&text).map_err(failed)?;
        let mut hasher = Sha256::new();
        let mut tables = Vec::with_capacity(description.tables.len());
        for table in &description.tables {
            let text = folder.text(&format!("{}.csv", table.name))?;
            hasher.update(&text);
            tables.push(PublishedTable::read(&table.name, &table.title, &text)?);
        }
        let evaluation = Self { name: folder.name(), description, tables, sha256: hexadecimal(&hasher.finalize()) };
        // An unknown unit or column is reported now, and not when a table is printed.
        evaluation.entries()?;
        Ok(evaluation)
    }

    /// A table by name.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&PublishedTable> {
        self.tables.iter().find(|table| table.name == name)
    }

    /// Its machines as runs.
    ///
    /// # Errors
    /// When a table contradicts the description, or a result is called like one of this program that does not exist.
    pub fn runs(&self, catalogue: &Catalogue) -> Result<Vec<Run>, Error> {
        let entries = self.entries()?;
        let mut ids = entries.iter().flat_map(|entry| &entry.sheet.readings).map(|reading| &reading.id);
        if let Some(id) = ids.find(|id| catalogue.lacks(id)) {
            return Err(Error::EvaluationResult { evaluation: self.name.clone(), id: id.clone() });
        }
        Ok(entries.into_iter().map(|entry| self.run(entry, catalogue)).collect())
    }

    fn entries(&self) -> Result<Vec<PublishedMachine>, Error> {
        read::machines(&self.description, &self.tables)
    }

    fn id(&self, label: &str) -> String {
        format!("{PREFIX}{}/{}", self.name, slug(label))
    }

    fn run(&self, entry: PublishedMachine, catalogue: &Catalogue) -> Run {
        let id = self.id(&entry.label);
        let mut sheet = entry.sheet;
        sheet.started.clone_from(&self.description.date);
        let note = "transcribed from a published table; no spread is printed; the date is the document's";
        sheet.notes.insert(0, note.to_owned());
        let attribution = &self.description.attribution;
        let origin = Origin {
            tool: self.description.title.clone(),
            version: None,
            document: Some(attribution.clone()),
            sha256: Some(self.sha256.clone()),
            attribution: Some(attribution.clone()),
        };
        let (suite, source) = (format!("{PREFIX}{}", self.name), self.description.source.clone());
        assemble(sheet, Provenance { id, label: Some(entry.label), suite, origin, source }, catalogue)
    }
}

/// Summary of an evaluation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedListing {
    /// Name that commands take: `published:ams02-2002`.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Attribution, shown wherever its results are shown.
    pub attribution: String,
    /// Ids of its runs, `published:ams02-2002/amd-athlon-1.2-ghz`, with the machines' printed names.
    pub machines: Vec<(String, String)>,
}

/// All published evaluations that have machines.
///
/// # Errors
/// When a table that ships with the program is damaged.
pub fn list() -> Result<Vec<PublishedListing>, Error> {
    let listing = |evaluation: PublishedEvaluation| {
        let machines: Vec<_> =
            evaluation.entries()?.into_iter().map(|entry| (evaluation.id(&entry.label), entry.label)).collect();
        Ok(PublishedListing {
            name: format!("{PREFIX}{}", evaluation.name),
            title: evaluation.description.title,
            attribution: evaluation.description.attribution,
            machines,
        })
    };
    let all: Result<Vec<PublishedListing>, Error> = PublishedEvaluation::all()?.into_iter().map(listing).collect();
    Ok(all?.into_iter().filter(|listing| !listing.machines.is_empty()).collect())
}

/// The runs of a name: all machines of an evaluation, or one. The prefix `published:` may be left out.
///
/// # Errors
/// When there is no such evaluation or machine; the text lists the existing ones.
pub fn get(name: &str, catalogue: &Catalogue) -> Result<Vec<Run>, Error> {
    let bare = name.strip_prefix(PREFIX).unwrap_or(name);
    if Path::new(bare).join(DESCRIPTION).is_file() {
        return PublishedEvaluation::open(Path::new(bare))?.runs(catalogue);
    }
    let (evaluation, machine) = match bare.split_once('/') {
        Some((evaluation, machine)) => (evaluation, Some(machine)),
        None => (bare, None),
    };
    let evaluation = find(evaluation)?;
    let mut runs = evaluation.runs(catalogue)?;
    if let Some(machine) = machine {
        let known = runs.iter().map(Run::name).collect::<Vec<_>>().join(", ");
        runs.retain(|run| run.name() == machine || slug(run.name()) == slug(machine));
        if runs.is_empty() {
            let evaluation = format!("{PREFIX}{}", evaluation.name);
            return Err(Error::Machine { evaluation, machine: machine.to_owned(), known });
        }
    }
    Ok(runs)
}

/// An evaluation by name, with or without the prefix `published:`, or by the path of its directory.
///
/// # Errors
/// When there is none, or a file of it is damaged.
pub fn find(name: &str) -> Result<PublishedEvaluation, Error> {
    let bare = name.strip_prefix(PREFIX).unwrap_or(name);
    if let Some(folder) = Folder::embedded().find(|folder| folder.name() == bare) {
        return PublishedEvaluation::read(&folder);
    }
    if Path::new(bare).join(DESCRIPTION).is_file() {
        return PublishedEvaluation::open(Path::new(bare));
    }
    let known = Folder::embedded().map(|folder| folder.name()).collect::<Vec<_>>().join(", ");
    Err(Error::Evaluation { name: bare.to_owned(), known })
}

/// The printed tables of an evaluation, including derived ones such as AMS table 2, to check the arithmetic.
///
/// # Errors
/// When there is no such evaluation, or a table that ships with the program is damaged.
pub fn tables(evaluation: &str) -> Result<Vec<PublishedTable>, Error> {
    Ok(find(evaluation)?.tables)
}
