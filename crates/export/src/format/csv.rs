//! The tidy table of runs as CSV (RFC 4180).

use std::io::Write;

use model::{Run, TIDY_COLUMNS, tidy_rows};

use crate::Error;

pub(super) fn write(runs: &[Run], out: &mut dyn Write) -> Result<(), Error> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(TIDY_COLUMNS)?;
    for row in runs.iter().flat_map(tidy_rows) {
        writer.write_record(row)?;
    }
    writer.flush()?;
    Ok(())
}
