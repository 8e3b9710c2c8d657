//! Run documents in the formats of other tools: tidy CSV, JSON, Markdown, OpenMetrics, benchstat.
//!
//! Tidy CSV and JSON can be read back unchanged (see the crate `import`); the others are for other tools.
#![forbid(unsafe_code)]

mod error;
mod format;
mod quantity;

pub use error::Error;
pub use format::{ExportFormat, formats};
pub use quantity::quantity;

use std::io::Write;

use model::Run;

/// Writes runs in the named format.
///
/// # Errors
/// When there is no such format, writing to `out` fails, or a run contradicts itself.
pub fn export(runs: &[Run], format: &str, out: &mut dyn Write) -> Result<(), Error> {
    let known = || formats().iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
    let found = formats().iter().find(|known| known.name == format);
    let found = found.ok_or_else(|| Error::Format { name: format.to_owned(), known: known() })?;
    (found.write)(runs, out)
}
