//! What may disturb measuring here, and what to do about it.

mod activity;
mod overhead;
mod surroundings;

use std::path::Path;

use crate::engine::Engine;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// Nothing to do.
    Fine,
    /// It may disturb figures.
    Attention,
    /// It makes figures wrong or impossible.
    Bad,
    /// It could not be found out.
    Unknown,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What was looked at.
    pub subject: String,
    /// How it came out.
    pub state: Health,
    /// What was found.
    pub says: String,
    /// What to do about it; empty when there is nothing to do.
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

/// Looks at this machine and at the harness itself. Takes about a second, most of it to see what else runs here.
#[must_use]
pub fn doctor(engine: &mut dyn Engine, directory: &Path) -> Vec<Check> {
    let mut checks = surroundings::checks(directory);
    checks.extend(overhead::checks(engine));
    checks
}
