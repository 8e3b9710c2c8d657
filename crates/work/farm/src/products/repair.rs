//! Repairs disagreements between files and ledger: lost or changed products, and a ledger older than its products,
//! because it came from a copy.

use std::path::PathBuf;

use super::ProductFolder;
use crate::Result;
use crate::clock::Stamp;
use crate::ledger::{Ledger, Withdrawal};

/// The repair of files and ledger.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Chunks whose result became uncounted, each with the fault of its files.
    pub withdrawn: Vec<(u64, String)>,
    /// New places of directories that were in the way.
    pub aside: Vec<PathBuf>,
}

impl ProductFolder {
    /// Finishes what attempts left behind. It takes back results whose files are missing or have another size, or with
    /// `contents` another checksum. It moves all files without a counted result aside.
    ///
    /// No other coordinator may write to the ledger at the same time.
    ///
    /// # Errors
    /// When the directory or the ledger cannot be used.
    pub fn repair(&self, ledger: &mut dyn Ledger, contents: bool, when: Stamp) -> Result<Repaired> {
        self.settle_by(ledger)?;
        let (mut withdrawn, mut trouble) = (Vec::new(), None);
        ledger.commits(&mut |commit| {
            let chunk = commit.offer.chunk;
            match self.faults(chunk, &commit.offer.products, contents) {
                Ok(faults) => withdrawn.extend(faults.into_iter().next().map(|fault| (chunk, fault))),
                Err(error) => drop(trouble.get_or_insert(error)),
            }
        })?;
        if let Some(error) = trouble {
            return Err(error);
        }
        let results =
            withdrawn.iter().map(|(chunk, why)| Withdrawal { chunk: *chunk, differs: false, why: why.clone() });
        let results: Vec<Withdrawal> = results.collect();
        if !results.is_empty() {
            ledger.withdraw(&results, when)?;
        }
        let counted = ledger.counted()?;
        let mut aside = Vec::new();
        for path in self.strangers(&|chunk| counted.contains(chunk))? {
            aside.extend(self.move_aside(&path)?);
        }
        Ok(Repaired { withdrawn, aside })
    }

    /// Finishes what attempts left behind, as a ledger says.
    ///
    /// # Errors
    /// When the directory or the ledger cannot be used.
    pub fn settle_by(&self, ledger: &dyn Ledger) -> Result<super::Settled> {
        self.settle(&mut |chunk| {
            let found = ledger.counted_result(chunk)?;
            Ok(found.map(|commit| (commit.offer.number, commit.offer.products)))
        })
    }
}
