//! The formats: one file each, listed in one table.

mod benchstat;
mod openmetrics;

use std::io::Write;

use model::Run;

use crate::Error;

/// An export format.
pub struct ExportFormat {
    /// Its name.
    pub name: &'static str,
    /// Its purpose.
    pub about: &'static str,
    pub(crate) write: fn(&[Run], &mut dyn Write) -> Result<(), Error>,
}

static FORMATS: [ExportFormat; 2] = [
    ExportFormat {
        name: "openmetrics",
        about: "OpenMetrics text for Prometheus and similar tools",
        write: openmetrics::write,
    },
    ExportFormat {
        name: "benchstat",
        about: "Go's benchmark lines, one for each sample, for benchstat",
        write: benchstat::write,
    },
];

/// Every format.
#[must_use]
pub fn formats() -> &'static [ExportFormat] {
    &FORMATS
}
