//! The formats: one file each, one line each in [`FORMATS`].

mod csv;
mod html;
mod json;
mod markdown;
mod terminal;
mod tsv;

use std::io::Write;

use crate::{Document, Error};

pub use csv::Csv;
pub use html::{Html, PageFrame, content_security_policy, page};
pub use json::JsonFormat;
pub use markdown::Markdown;
pub use terminal::Terminal;
pub use tsv::Tsv;

/// Renders documents.
pub trait ReportFormat {
    /// Renders one document.
    ///
    /// # Errors
    /// When writing to the output fails.
    fn render(&self, document: &Document, out: &mut dyn Write) -> Result<(), Error>;
}

/// Names of the formats and their purposes.
pub const FORMATS: &[(&str, &str)] = &[
    ("terminal", "tables for people, as wide as the terminal, 160 columns at most"),
    ("json", "the data behind the report, for programs"),
    ("csv", "one tidy table in base units, for spreadsheets and data frames"),
    ("tsv", "the tables for people, a line for each row, with tabs between columns"),
    ("html", "one self-contained page with charts"),
    ("markdown", "tables for issues, wikis and README files"),
];

/// A format by name; the terminal format is `width` columns wide and coloured if requested.
///
/// # Errors
/// When no format has this name.
pub fn by_name(name: &str, width: usize, colour: bool) -> Result<Box<dyn ReportFormat>, Error> {
    match name {
        "terminal" => Ok(Box::new(Terminal { width, colour })),
        "json" => Ok(Box::new(JsonFormat)),
        "csv" => Ok(Box::new(Csv)),
        "tsv" => Ok(Box::new(Tsv)),
        "html" => Ok(Box::new(Html)),
        "markdown" => Ok(Box::new(Markdown)),
        _ => {
            let known = FORMATS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
            Err(Error::Format { name: name.to_owned(), known })
        }
    }
}
