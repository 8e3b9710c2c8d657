//! Conditions that may disturb measurements, and their remedies.

mod activity;
mod container;
mod overhead;
mod surroundings;

use std::path::{Path, PathBuf};

use crate::engine::Engine;

/// Result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// Nothing to do.
    Fine,
    /// Figures may be disturbed.
    Attention,
    /// Figures would be wrong or impossible.
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
    /// The remedy; empty if none is needed.
    pub advice: String,
}

impl Check {
    fn fine(subject: &str, says: impl Into<String>) -> Self {
        Self { subject: subject.to_owned(), state: Health::Fine, says: says.into(), advice: String::new() }
    }

    fn attention(subject: &str, says: impl Into<String>, advice: &str) -> Self {
        Self { state: Health::Attention, advice: advice.to_owned(), ..Self::fine(subject, says) }
    }

    fn unknown(subject: &str, reason: impl Into<String>) -> Self {
        Self { state: Health::Unknown, ..Self::fine(subject, reason) }
    }
}

/// Checks this machine and the harness. Takes about a second, most of it for watching other processes. Launches of
/// earlier runs measured in `earlier`, where those that were killed may have left files.
#[must_use]
pub fn doctor(engine: &mut dyn Engine, directory: &Path, earlier: &[PathBuf]) -> Vec<Check> {
    let mut checks = surroundings::checks(directory, earlier);
    checks.extend(overhead::checks(engine));
    checks
}
