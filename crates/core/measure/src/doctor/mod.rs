//! Conditions that may disturb measurements, and their remedies.

mod activity;
mod container;
mod overhead;
mod sensors;
mod surroundings;

use std::path::{Path, PathBuf};

use model::Run;

use crate::subject::Subject;

/// Result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// Nothing to do.
    Fine,
    /// Results may be disturbed.
    Attention,
    /// Results would be wrong or impossible.
    Bad,
    /// The check was not possible.
    Unknown,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The subject of the check.
    pub subject: String,
    /// Its result.
    pub state: Health,
    /// The finding.
    pub says: String,
    /// The remedy in sentences; empty if none is needed.
    pub advice: String,
    /// Whether the machine is busy now: the finding passes without a change of its configuration.
    pub passing: bool,
}

impl Check {
    fn fine(subject: &str, says: impl Into<String>) -> Self {
        Self {
            subject: subject.to_owned(),
            state: Health::Fine,
            says: says.into(),
            advice: String::new(),
            passing: false,
        }
    }

    fn attention(subject: &str, says: impl Into<String>, advice: &str) -> Self {
        Self { state: Health::Attention, advice: advice.to_owned(), ..Self::fine(subject, says) }
    }

    fn busy(subject: &str, says: impl Into<String>, advice: &str) -> Self {
        Self { passing: true, ..Self::attention(subject, says, advice) }
    }

    fn unknown(subject: &str, reason: impl Into<String>) -> Self {
        Self { state: Health::Unknown, ..Self::fine(subject, reason) }
    }

    /// Whether no run should begin now: results would be impossible, or the machine is busy.
    #[must_use]
    pub fn blocks(&self) -> bool {
        self.state == Health::Bad || (self.passing && self.state == Health::Attention)
    }
}

/// Checks this machine and the harness. Takes two seconds, for watching other processes and reading the sensors. With
/// `earlier` runs it may know the exclusive core of this machine. Samples that were killed may have left files in
/// `places`.
#[must_use]
pub fn doctor(subject: &mut dyn Subject, directory: &Path, earlier: &[Run], places: &[PathBuf]) -> Vec<Check> {
    let machine = crate::machine(&[directory.to_path_buf()]);
    let mut checks = surroundings::checks(&machine, directory, places);
    checks.extend(sensors::checks(&machine, earlier));
    checks.extend(overhead::checks(subject));
    checks
}
