//! JSON: the data of the report, or the report itself if a view has no other data.

use std::io::Write;

use crate::{Document, Error, ReportFormat};

/// Renders the data of a report.
#[derive(Debug, Clone, Copy, Default)]
pub struct JsonFormat;

impl ReportFormat for JsonFormat {
    fn render(&self, document: &Document, out: &mut dyn Write) -> Result<(), Error> {
        match &document.data {
            Some(data) => writeln!(out, "{}", data.text())?,
            None => {
                serde_json::to_writer_pretty(&mut *out, document)?;
                writeln!(out)?;
            }
        }
        Ok(())
    }
}
