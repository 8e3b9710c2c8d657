//! A list of run documents.

use std::io::Write;

use model::{Run, render_run};

use crate::Error;

pub(super) fn write(runs: &[Run], out: &mut dyn Write) -> Result<(), Error> {
    out.write_all(b"[\n")?;
    for (at, run) in runs.iter().enumerate() {
        let document = render_run(run).map_err(|source| Error::Run { run: run.id.clone(), source })?;
        out.write_all(document.trim_end().as_bytes())?;
        out.write_all(if at + 1 < runs.len() { b",\n" } else { b"\n" })?;
    }
    out.write_all(b"]\n")?;
    Ok(())
}
