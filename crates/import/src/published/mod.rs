//! Published evaluations, embedded: each machine of each is a run like any other, without a spread.
//!
//! A name is `published:EVALUATION` for all its machines or `published:EVALUATION/MACHINE` for one; the machine may be
//! written as printed or with hyphens, as in the ids of the runs.

mod ams02_2002;
mod babar_cpu_1998;
mod babar_network_1998;
mod cyberlife_2004;
mod daisy_heat_1996;
mod machines;
mod table;

use model::{Catalogue, Origin, Run};
use sha2::{Digest, Sha256};

use crate::Error;
use crate::assemble::{Provenance, assemble};
use crate::digest::hexadecimal;
use machines::{Entry, Machines, slug};
use table::Embedded;
pub use table::Table;

/// What every name of a published evaluation begins with.
pub const PREFIX: &str = "published:";

/// An evaluation: its tables and how they become machines.
struct Evaluation {
    name: &'static str,
    title: &'static str,
    attribution: &'static str,
    /// When the document appeared; where only the year is known, its first day.
    date: &'static str,
    tables: &'static [Embedded],
    read: fn(&Tables) -> Result<Machines, Error>,
}

static EVALUATIONS: [&Evaluation; 5] = [
    &ams02_2002::EVALUATION,
    &babar_cpu_1998::EVALUATION,
    &babar_network_1998::EVALUATION,
    &cyberlife_2004::EVALUATION,
    &daisy_heat_1996::EVALUATION,
];

/// The tables of one evaluation, read.
struct Tables {
    evaluation: &'static Evaluation,
    tables: Vec<Table>,
}

impl Tables {
    fn of(evaluation: &'static Evaluation) -> Result<Self, Error> {
        let tables = evaluation.tables.iter().map(Embedded::read).collect::<Result<_, _>>()?;
        Ok(Self { evaluation, tables })
    }

    fn get(&self, name: &'static str) -> Result<&Table, Error> {
        let missing = || Error::Embedded { table: name, reason: format!("{} has none", self.evaluation.name) };
        self.tables.iter().find(|table| table.name == name).ok_or_else(missing)
    }
}

/// What there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// Name that verbs take: `published:ams02-2002`.
    pub name: String,
    /// What it is.
    pub title: &'static str,
    /// Who is to be named wherever its figures are shown.
    pub attribution: &'static str,
    /// Ids of its runs, `published:ams02-2002/amd-athlon-1.2-ghz`, with the machines' printed names.
    pub machines: Vec<(String, String)>,
}

/// Every published evaluation with its machines.
///
/// # Errors
/// When a table that ships with the program is damaged.
pub fn list() -> Result<Vec<Listing>, Error> {
    let listing = |evaluation: &&'static Evaluation| {
        let machines = entries(evaluation)?;
        let named = |entry: &Entry| (id(evaluation, entry), entry.label.clone());
        Ok(Listing {
            name: format!("{PREFIX}{}", evaluation.name),
            title: evaluation.title,
            attribution: evaluation.attribution,
            machines: machines.iter().map(named).collect(),
        })
    };
    EVALUATIONS.iter().map(listing).collect()
}

/// The runs that a name stands for: all machines of an evaluation, or one. The prefix `published:` may be left out.
///
/// # Errors
/// When there is no such evaluation or machine; the text says what there is.
pub fn get(name: &str, catalogue: &Catalogue) -> Result<Vec<Run>, Error> {
    let bare = name.strip_prefix(PREFIX).unwrap_or(name);
    let (evaluation, machine) = match bare.split_once('/') {
        Some((evaluation, machine)) => (evaluation, Some(machine)),
        None => (bare, None),
    };
    let evaluation = find(evaluation)?;
    let mut entries = entries(evaluation)?;
    if let Some(machine) = machine {
        let known = entries.iter().map(|entry| entry.label.as_str()).collect::<Vec<_>>().join(", ");
        entries.retain(|entry| entry.label == machine || slug(&entry.label) == slug(machine));
        if entries.is_empty() {
            let evaluation = format!("{PREFIX}{}", evaluation.name);
            return Err(Error::Machine { evaluation, machine: machine.to_owned(), known });
        }
    }
    Ok(entries.into_iter().map(|entry| run(evaluation, entry, catalogue)).collect())
}

/// The printed tables of an evaluation, derived ones such as AMS table 2 included, to check one's own arithmetic on.
///
/// # Errors
/// When there is no such evaluation, or a table that ships with the program is damaged.
pub fn tables(evaluation: &str) -> Result<Vec<Table>, Error> {
    Ok(Tables::of(find(evaluation.strip_prefix(PREFIX).unwrap_or(evaluation))?)?.tables)
}

fn find(name: &str) -> Result<&'static Evaluation, Error> {
    let known = || EVALUATIONS.iter().map(|evaluation| evaluation.name).collect::<Vec<_>>().join(", ");
    let found = EVALUATIONS.iter().find(|evaluation| evaluation.name == name).copied();
    found.ok_or_else(|| Error::Evaluation { name: name.to_owned(), known: known() })
}

fn entries(evaluation: &'static Evaluation) -> Result<Vec<Entry>, Error> {
    Ok((evaluation.read)(&Tables::of(evaluation)?)?.entries)
}

fn id(evaluation: &Evaluation, entry: &Entry) -> String {
    format!("{PREFIX}{}/{}", evaluation.name, slug(&entry.label))
}

fn run(evaluation: &Evaluation, entry: Entry, catalogue: &Catalogue) -> Run {
    let id = id(evaluation, &entry);
    let mut sheet = entry.sheet;
    evaluation.date.clone_into(&mut sheet.started);
    sheet
        .notes
        .insert(0, "transcribed from a published table; no spread is printed; the date is the document's".to_owned());
    let mut hasher = Sha256::new();
    evaluation.tables.iter().for_each(|table| hasher.update(table.text));
    let origin = Origin {
        tool: evaluation.title.to_owned(),
        version: None,
        document: Some(evaluation.attribution.to_owned()),
        sha256: Some(hexadecimal(&hasher.finalize())),
        attribution: Some(evaluation.attribution.to_owned()),
    };
    let suite = format!("{PREFIX}{}", evaluation.name);
    assemble(sheet, Provenance { id, label: Some(entry.label), suite, origin }, catalogue)
}
