//! Which machine computes wrongly: chunks that were done more than once, with different results.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::Result;
use crate::ledger::Ledger;

/// A node whose results differ from those of others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Suspect {
    /// Its name.
    pub node: String,
    /// Chunks in which two or more other nodes agree on another result.
    pub outvoted: Vec<u64>,
    /// Chunks in which one other node has another result, so that either may be wrong.
    pub disputed: Vec<u64>,
    /// Chunks of `outvoted` whose result is the one that counts.
    pub counted: Vec<u64>,
}

/// Compares all results of chunks of which at least two differ.
pub(super) fn find(ledger: &dyn Ledger) -> Result<Vec<Suspect>> {
    let mut differing = BTreeSet::new();
    ledger.refusals(&mut |refusal| {
        if refusal.differs {
            differing.insert(refusal.offer.chunk);
        }
    })?;
    // Chunk, then result: the nodes that have it.
    let mut results: BTreeMap<u64, BTreeMap<(u64, u64), BTreeSet<String>>> = BTreeMap::new();
    let mut counted = BTreeMap::new();
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
            counted.insert(*chunk, key);
            results.entry(*chunk).or_default().entry(key).or_default().insert(commit.offer.node);
        }
    }
    let mut suspects: BTreeMap<String, Suspect> = BTreeMap::new();
    for (chunk, all) in &results {
        let most = all.values().map(BTreeSet::len).max().unwrap_or_default();
        let alone = all.values().filter(|nodes| nodes.len() == most).count() == 1;
        for (key, nodes) in all {
            if alone && nodes.len() == most {
                continue;
            }
            for node in nodes {
                let suspect = suspects.entry(node.clone()).or_insert_with(|| Suspect {
                    node: node.clone(),
                    outvoted: Vec::new(),
                    disputed: Vec::new(),
                    counted: Vec::new(),
                });
                if alone {
                    suspect.outvoted.push(*chunk);
                    if counted.get(chunk) == Some(key) {
                        suspect.counted.push(*chunk);
                    }
                } else {
                    suspect.disputed.push(*chunk);
                }
            }
        }
    }
    Ok(suspects.into_values().collect())
}
