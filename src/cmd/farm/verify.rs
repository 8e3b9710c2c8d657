//! `prony farm verify`: the ledger held against the files that its chunks produced.

use std::path::PathBuf;

use ::farm::{Invariants, Ledger, Product, ProductFolder, SqliteLedger};
use anyhow::Result;
use report::{Block, Document, DocumentSection, EmbeddedJson};
use serde_json::json;

use super::tell_damage;
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::output;

/// Faults that are printed, at most.
const LISTED: usize = 100;

/// Options of `prony farm verify`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The ledger that a run writes or wrote
    #[arg(value_name = "LEDGER")]
    ledger: PathBuf,
}

/// What is wrong with the files of a run; with `contents`, each is read and its checksum compared.
pub(super) fn faults(ledger: &dyn Ledger, contents: bool) -> Result<Vec<String>> {
    let farm = ledger.farm()?;
    let Some(path) = &farm.job.products else { return Ok(Vec::new()) };
    let folder = ProductFolder::join(path, &farm.id)?;
    let counted = ledger.counted()?;
    let mut faults = folder.strangers(&|chunk| counted.contains(chunk))?;
    let mut trouble = None;
    ledger.commits(&mut |commit| {
        let chunk = commit.offer.chunk;
        let products = &commit.offer.products;
        let found = if contents { folder.faults(chunk, products) } else { Ok(sizes(&folder, chunk, products)) };
        match found {
            Ok(found) => faults.extend(found.into_iter().map(|fault| format!("chunk {chunk}: {fault}"))),
            Err(error) => drop(trouble.get_or_insert(error)),
        }
    })?;
    trouble.map_or(Ok(faults), |error| Err(error.into()))
}

/// Files that are missing or have another size.
fn sizes(folder: &ProductFolder, chunk: u64, products: &[Product]) -> Vec<String> {
    let place = folder.of_chunk(chunk);
    let wrong = |product: &Product| {
        let path = place.join(&product.name);
        match std::fs::metadata(&path) {
            Ok(found) if found.len() == product.bytes => None,
            Ok(found) => {
                Some(format!("{} has {} bytes, the ledger says {}", path.display(), found.len(), product.bytes))
            }
            Err(error) => Some(format!("{}: {error}", path.display())),
        }
    };
    products.iter().filter_map(wrong).collect()
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let ledger = SqliteLedger::read(&arguments.ledger)?;
    tell_damage(&ledger);
    let farm = ledger.farm()?;
    let totals = ledger.totals()?;
    let invariants = Invariants { planned: farm.job.chunks(), events: farm.job.events, totals };
    let (mut files, mut bytes) = (0, 0);
    ledger.commits(&mut |commit| {
        files += commit.offer.products.len();
        bytes += commit.offer.products.iter().map(|product| product.bytes).sum::<u64>();
    })?;
    let faults = faults(&ledger, true)?;
    let broken = invariants.broken();
    let mut document = Document::new(format!("Farm {}: ledger against files", farm.id));
    let mut items = match &farm.job.products {
        Some(folder) => {
            let verdict = if faults.is_empty() {
                "all match their size and checksum in the ledger; nothing else is there".to_owned()
            } else {
                format!("{} faults", faults.len())
            };
            vec![format!("{files} files of {} chunks, {bytes} bytes, in {}", totals.commits, folder.display()), verdict]
        }
        None => vec!["the run has no products: there are no files to compare".to_owned()],
    };
    items.extend(broken.iter().cloned());
    items.extend(faults.iter().take(LISTED).cloned());
    if faults.len() > LISTED {
        items.push(format!("and {} more; --json has them all", faults.len() - LISTED));
    }
    document.sections.push(DocumentSection::of("", Block::List { numbered: false, items }));
    let data = json!({ "farm": farm.id, "files": files, "bytes": bytes, "faults": faults, "broken": broken });
    document.data = EmbeddedJson::of(&data).ok();
    output::print(&document, common)?;
    Ok(if faults.is_empty() && broken.is_empty() { ExitStatus::Fine } else { ExitStatus::Found })
}
