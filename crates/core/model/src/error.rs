//! Errors of parsing values and documents.

use std::fmt;

/// Position in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentPosition {
    /// Line, counted from 1.
    pub line: usize,
    /// Column, counted from 1.
    pub column: usize,
}

impl fmt::Display for DocumentPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Why a value or a document could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not a size in bytes.
    #[error("could not read '{0}' as a size: write a whole number of B, KiB, MiB or GiB, such as 64MiB")]
    Size(String),
    /// A set of parameters lacks a parameter, or its value has another type.
    #[error("could not read parameter '{parameter}' of the parameters: {reason}")]
    Parameter {
        /// Name of the parameter.
        parameter: String,
        /// The error.
        reason: String,
    },
    /// Not `parameter=value,parameter=value`.
    #[error("could not read '{0}' as a set of parameters: write parameter=value, separated by commas")]
    Parameters(String),
    /// Not a primitive's name.
    #[error("could not find a primitive named '{0}'")]
    Primitive(String),
    /// The document has another schema.
    #[error("could not read the run document: its schema is {found}, not {known}; use the prony that wrote it")]
    Schema {
        /// Schema of the document.
        found: u64,
        /// The schema that this program reads.
        known: u32,
    },
    /// The text is not a run document.
    #[error("could not read the run document: {reason} at {place}")]
    Document {
        /// The error.
        reason: String,
        /// Its position.
        place: DocumentPosition,
    },
    /// The document contradicts itself.
    #[error("could not accept the run document: {0}")]
    Invalid(String),
}
