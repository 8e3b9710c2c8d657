//! Run documents in the formats of other tools: OpenMetrics and benchstat.
#![forbid(unsafe_code)]

mod error;
mod format;

pub use error::Error;
pub use format::{ExportFormat, formats};

use std::io::Write;

use model::Run;

/// Writes runs in the named format.
///
/// # Errors
/// When there is no such format, or writing to `out` fails.
pub fn export(runs: &[Run], format: &str, out: &mut dyn Write) -> Result<(), Error> {
    let known = || formats().iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
    let found = formats().iter().find(|known| known.name == format);
    let found = found.ok_or_else(|| Error::Format { name: format.to_owned(), known: known() })?;
    (found.write)(runs, out)
}
