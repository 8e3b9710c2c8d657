//! Machines that compute wrongly: repeated chunks with different results.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::Result;
use crate::clock::Stamp;
use crate::ledger::{Ledger, OfferedResult, Withdrawal};

/// A node whose results differ from those of others. If two or more other nodes agree on another result, the node
/// computes wrongly, and none of its results counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Suspect {
    /// Its name.
    pub node: String,
    /// Chunks in which two or more other nodes agree on another result.
    pub outvoted: Vec<u64>,
    /// Chunks in which one other node has another result, so that either may be wrong.
    pub disputed: Vec<u64>,
}

impl Suspect {
    /// Whether other nodes agree against it.
    #[must_use]
    pub fn is_wrong(&self) -> bool {
        !self.outvoted.is_empty()
    }
}

/// Compares all results of chunks with at least two different ones.
pub(crate) fn find(ledger: &dyn Ledger) -> Result<Vec<Suspect>> {
    let mut differing = BTreeSet::new();
    ledger.refusals(&mut |refusal| {
        if refusal.differs {
            differing.insert(refusal.offer.chunk);
        }
    })?;
    // Chunk, then result: the nodes that have it.
    let mut results: BTreeMap<u64, BTreeMap<(u64, u64), BTreeSet<String>>> = BTreeMap::new();
    let result = |done: &crate::ChunkResult| (done.events, done.digest);
    ledger.refusals(&mut |refusal| {
        let offer = refusal.offer;
        if differing.contains(&offer.chunk) {
            results.entry(offer.chunk).or_default().entry(result(&offer.done)).or_default().insert(offer.node);
        }
    })?;
    for chunk in &differing {
        if let Some(commit) = ledger.counted_result(*chunk)? {
            let key = result(&commit.offer.done);
            results.entry(*chunk).or_default().entry(key).or_default().insert(commit.offer.node);
        }
    }
    let mut suspects: BTreeMap<String, Suspect> = BTreeMap::new();
    for (chunk, all) in &results {
        let most = all.values().map(BTreeSet::len).max().unwrap_or_default();
        let alone = all.values().filter(|nodes| nodes.len() == most).count() == 1;
        for nodes in all.values() {
            if alone && nodes.len() == most {
                continue;
            }
            for node in nodes {
                let suspect = suspects.entry(node.clone()).or_insert_with(|| Suspect {
                    node: node.clone(),
                    outvoted: Vec::new(),
                    disputed: Vec::new(),
                });
                if alone {
                    suspect.outvoted.push(*chunk);
                } else {
                    suspect.disputed.push(*chunk);
                }
            }
        }
    }
    Ok(suspects.into_values().collect())
}

/// Takes back what counts of nodes that compute wrongly. Returns these nodes, and the results that counted.
pub(crate) fn judge(ledger: &mut dyn Ledger, when: Stamp) -> Result<(Vec<Suspect>, Vec<OfferedResult>)> {
    let mut wrong = find(ledger)?;
    wrong.retain(Suspect::is_wrong);
    let (mut results, mut withdrawn) = (Vec::new(), Vec::new());
    if wrong.is_empty() {
        return Ok((wrong, results));
    }
    ledger.commits(&mut |commit| {
        let Some(suspect) = wrong.iter().find(|one| one.node == commit.offer.node) else { return };
        let chunk = commit.offer.chunk;
        let differs = suspect.outvoted.contains(&chunk);
        let why = if differs {
            "other nodes agree on another result".to_owned()
        } else {
            format!("this node computes wrong results, for example chunk {}", suspect.outvoted[0])
        };
        withdrawn.push(Withdrawal { chunk, differs, why });
        results.push(commit.offer);
    })?;
    ledger.withdraw(&withdrawn, when)?;
    Ok((wrong, results))
}
