//! What can be wrong with a source.

use std::fmt;

/// Where in a source something was found. Lines and columns (bytes of a line) are counted from 1; 0 is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SourcePosition {
    /// Line.
    pub line: usize,
    /// Byte within the line.
    pub column: usize,
}

impl SourcePosition {
    /// A line.
    #[must_use]
    pub const fn line(line: usize) -> Self {
        Self { line, column: 0 }
    }
}

impl fmt::Display for SourcePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column) {
            (0, _) => f.write_str("in it"),
            (line, 0) => write!(f, "at line {line}"),
            (line, column) => write!(f, "at line {line}, column {column}"),
        }
    }
}

/// Why a source could not be imported, or a published evaluation not be found.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No published evaluation has that name.
    #[error("could not find '{name}' among the published evaluations: there are {known}")]
    Evaluation {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// The evaluation has no such machine.
    #[error("could not find machine '{machine}' in {evaluation}: it has {known}")]
    Machine {
        /// The evaluation.
        evaluation: String,
        /// What was asked for.
        machine: String,
        /// What there is.
        known: String,
    },
    /// No importer has that name.
    #[error("could not find an importer named '{name}': there are {known}")]
    Format {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// No importer knows the content.
    #[error(
        "could not tell what wrote {source_name}: its content is of no format known here; name one with --input-format if you know it (prony import --formats lists them)"
    )]
    Unrecognised {
        /// The source.
        source_name: String,
    },
    /// Several importers know the content.
    #[error("could not tell what wrote {source_name}: it looks like {formats}; name the one to read it as")]
    Ambiguous {
        /// The source.
        source_name: String,
        /// Names of the formats.
        formats: String,
    },
    /// The source is too long to hold in memory.
    #[error("could not import {source_name}: it is {bytes} bytes long and importers read at most {limit}")]
    TooLong {
        /// The source.
        source_name: String,
        /// Its length.
        bytes: usize,
        /// The longest accepted.
        limit: usize,
    },
    /// The source is not text.
    #[error("could not import {source_name}: it is not UTF-8 text {place}{hint}")]
    Encoding {
        /// The source.
        source_name: String,
        /// Where.
        place: SourcePosition,
        /// What it is instead, where that shows.
        hint: &'static str,
    },
    /// The content is not what the format says.
    #[error("could not import {source_name} as {format}: {reason} {place}")]
    Content {
        /// The source.
        source_name: String,
        /// Name of the format.
        format: &'static str,
        /// What is wrong.
        reason: String,
        /// Where.
        place: SourcePosition,
    },
    /// A file of an evaluation's folder cannot be used.
    #[error("could not read {file} of the evaluation: {reason}")]
    EvaluationFile {
        /// Its name.
        file: String,
        /// What is wrong.
        reason: String,
    },
    /// A description names a unit that is not known.
    #[error("could not read the evaluation: it names the unit '{unit}', and known are {known}")]
    EvaluationUnit {
        /// The unit.
        unit: String,
        /// What there is.
        known: String,
    },
}
