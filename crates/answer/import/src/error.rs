//! Errors of importing.

use std::fmt;

/// Position in a source. Lines and columns (bytes of a line) are counted from 1; 0 is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SourcePosition {
    /// Line.
    pub line: usize,
    /// Byte within the line.
    pub column: usize,
}

impl SourcePosition {
    /// The position of a line.
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
    /// No published evaluation has this name.
    #[error("could not find '{name}' among the published evaluations: there are {known}")]
    Evaluation {
        /// The name that was asked for.
        name: String,
        /// Names of all evaluations.
        known: String,
    },
    /// The evaluation has no such machine.
    #[error("could not find machine '{machine}' in {evaluation}: it has {known}")]
    Machine {
        /// The evaluation.
        evaluation: String,
        /// The name that was asked for.
        machine: String,
        /// Names of its machines.
        known: String,
    },
    /// A table of an evaluation has a result that is called like one of this program.
    #[error("could not read {evaluation}: this program has no result '{id}'; prony benchmarks lists its results")]
    EvaluationResult {
        /// The evaluation.
        evaluation: String,
        /// Id of the result.
        id: String,
    },
    /// No importer has this name.
    #[error("could not find an importer named '{name}': there are {known}")]
    Format {
        /// The name that was asked for.
        name: String,
        /// Names of all importers.
        known: String,
    },
    /// There is no content.
    #[error("could not import {source_name}: it is empty; perhaps the program that should write it failed")]
    Empty {
        /// The source.
        source_name: String,
    },
    /// No importer recognises the content.
    #[error(
        "could not tell what wrote {source_name}: no importer recognises it; name one of prony import --list with \
         --input-format"
    )]
    Unrecognised {
        /// The source.
        source_name: String,
    },
    /// Concurrent programs wrote into it, and no importer can separate their output.
    #[error(
        "could not import {source_name}: it mixes the output of '{first}' and, from line {line}, '{second}'; save \
         each to its own file"
    )]
    Mixed {
        /// The source.
        source_name: String,
        /// Name of the one.
        first: String,
        /// Name of the other.
        second: String,
        /// Its first line, from 1.
        line: usize,
    },
    /// It is a web page.
    #[error("could not import {source_name}: it is a web page; save the tool's own output to a file and import that")]
    Page {
        /// The source.
        source_name: String,
    },
    /// Several importers recognise the content.
    #[error("could not tell what wrote {source_name}: it looks like {formats}; choose one of them")]
    Ambiguous {
        /// The source.
        source_name: String,
        /// Names of the formats.
        formats: String,
    },
    /// A date that the user gave cannot be read.
    #[error("could not read the date '{text}': write it as 2024-05-31 or 2024-05-31T12:00:00Z")]
    Date {
        /// What was given.
        text: String,
    },
    /// One name was given for a source of several machines.
    #[error("could not import {source_name} under one machine's name: it states several machines, each with its name")]
    Machines {
        /// The source.
        source_name: String,
    },
    /// The source is too large for memory.
    #[error("could not import {source_name}: it has more than {limit} bytes, and that is the limit")]
    TooLong {
        /// The source.
        source_name: String,
        /// The limit, bytes.
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
    /// The content does not follow its format.
    #[error("could not import {source_name} as {format}: {reason} {place}")]
    Content {
        /// The source.
        source_name: String,
        /// Name of the format.
        format: &'static str,
        /// The error.
        reason: String,
        /// Its position.
        place: SourcePosition,
    },
    /// A file of an evaluation's directory cannot be used.
    #[error("could not read {file} of the evaluation: {reason}")]
    EvaluationFile {
        /// Its name.
        file: String,
        /// The error.
        reason: String,
    },
    /// A description names an unknown unit.
    #[error("could not read the evaluation: it names the unit '{unit}'; known are {known}")]
    EvaluationUnit {
        /// The unit.
        unit: String,
        /// Names of all units.
        known: String,
    },
}
