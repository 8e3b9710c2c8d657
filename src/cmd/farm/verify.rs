//! `prony farm status --check`: verifies the output files against the ledger.

use std::path::Path;

use ::farm::{Invariants, Ledger, ProductFolder, SqliteLedger};
use anyhow::Result;
use report::{Block, Document, EmbeddedJson};
use serde_json::json;

use crate::{ExitStatus, output};

/// Faults that are printed, at most.
const LISTED: usize = 100;

/// The faults of a run's files; with `contents`, each is read and its checksum compared.
pub(super) fn faults(ledger: &dyn Ledger, contents: bool) -> Result<Vec<String>> {
    let farm = ledger.farm()?;
    let Some(path) = &farm.job.products else { return Ok(Vec::new()) };
    let folder = ProductFolder::join(path, &farm.id)?;
    let counted = ledger.counted()?;
    let strangers = folder.strangers(&|chunk| counted.contains(chunk))?.into_iter();
    let mut faults: Vec<String> =
        strangers.map(|path| format!("{} belongs to no committed chunk", path.display())).collect();
    let left = folder.left()?.into_iter();
    faults.extend(left.map(|path| format!("{} was left by an unfinished attempt", path.display())));
    let mut trouble = None;
    ledger.commits(&mut |commit| {
        let chunk = commit.offer.chunk;
        match folder.faults(chunk, &commit.offer.products, contents) {
            Ok(found) => faults.extend(found.into_iter().map(|fault| format!("chunk {chunk}: {fault}"))),
            Err(error) => drop(trouble.get_or_insert(error)),
        }
    })?;
    trouble.map_or(Ok(faults), |error| Err(error.into()))
}

/// The files of a run against its ledger, and whether all is as it should be.
pub(super) fn document(ledger: &SqliteLedger, place: &Path) -> Result<(Document, ExitStatus)> {
    let farm = ledger.farm()?;
    let totals = ledger.totals()?;
    let invariants = Invariants { planned: farm.job.chunks(), events: farm.job.events, totals };
    let (mut files, mut bytes) = (0, 0);
    ledger.commits(&mut |commit| {
        files += commit.offer.products.len();
        bytes += commit.offer.products.iter().map(|product| product.bytes).sum::<u64>();
    })?;
    let faults = faults(ledger, true)?;
    let broken = invariants.broken();
    let answer = match (&farm.job.products, faults.len()) {
        (None, _) => "the job writes no files, so that there is nothing to check".to_owned(),
        (_, 0) => "all files match their size and checksum in the ledger".to_owned(),
        (_, 1) => "1 file does NOT match the ledger".to_owned(),
        (_, many) => format!("{many} files do NOT match the ledger"),
    };
    let mut document = Document::new(format!("Farm {}: {answer}", farm.id));
    let counted = |folder: &std::path::PathBuf| {
        format!("{files} files of {} chunks, {bytes} bytes, in {}", totals.commits, folder.display())
    };
    let mut items: Vec<String> = farm.job.products.iter().map(counted).collect();
    items.extend(broken.iter().cloned());
    items.extend(faults.iter().take(LISTED).cloned());
    if faults.len() > LISTED {
        items.push(format!("and {} more; --format json has them all", faults.len() - LISTED));
    }
    if !items.is_empty() {
        document.add("", Block::list(items));
    }
    let data = json!({ "farm": farm.id, "files": files, "bytes": bytes, "faults": faults, "broken": broken });
    document.data = EmbeddedJson::of(&data).ok();
    if !faults.is_empty() {
        output::remark(&format!("to repeat the chunks that do not match: prony farm resume {}", place.display()));
    }
    let holds = faults.is_empty() && broken.is_empty();
    Ok((document, if holds { ExitStatus::Fine } else { ExitStatus::Found }))
}
