//! Messages between coordinator and pilots over their channel.

use channel::{Service, Token};
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::job::{Chunk, ChunkResult, FarmJob, MAX_BYTES};
use crate::ledger::ChunkVerdict;
use crate::products::{MAX_LIST, Product};

/// Production runs. Versions before 3 had their own handshake, which did not protect the messages after it; version 3
/// knew no products.
pub const SERVICE: Service = Service { name: "farm", version: 4 };
/// Longest message of a pilot that has not sent its name yet, bytes.
pub(crate) const STRANGER: usize = 4 << 10;
/// Longest message of a named pilot, bytes.
pub(crate) const PILOT: usize = MAX_LIST + (4 << 10);
/// Longest message of a coordinator, bytes.
pub(crate) const COORDINATOR: usize = MAX_BYTES + (4 << 10);

/// A lease as a capability: its tag proves that it was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lease {
    /// The chunk.
    pub chunk: Chunk,
    /// Number of the lease.
    pub number: u64,
    /// HMAC over farm, chunk, number and pilot with a key that never leaves the coordinator.
    pub tag: String,
}

/// A message of the coordinator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "says", rename_all = "snake_case", deny_unknown_fields)]
pub enum FromCoordinator {
    /// Reply to a name.
    Welcome {
        /// Name of the run.
        farm: String,
        /// The job.
        job: Box<FarmJob>,
        /// Seconds between heartbeats.
        beat: f64,
    },
    /// All connections are taken; try again later.
    Full {
        /// Connections in use.
        connections: usize,
    },
    /// Do this chunk.
    Lease(Lease),
    /// No chunk is open; ask again later.
    Wait {
        /// Seconds to wait.
        seconds: f64,
    },
    /// No chunk is left.
    Finished,
    /// The heartbeat was received.
    Kept {
        /// Whether the result is still wanted.
        wanted: bool,
    },
    /// The decision about an offered result.
    #[serde(rename = "settled")]
    Recorded {
        /// The decision, which is on the disk.
        verdict: ChunkVerdict,
    },
    /// The result could not be recorded now: keep it, and offer it again.
    #[serde(rename = "unsettled")]
    NotRecorded,
    /// The request is refused.
    Refused {
        /// The cause.
        reason: String,
    },
    /// Received.
    Noted,
}

/// A message of a pilot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "says", rename_all = "snake_case", deny_unknown_fields)]
pub enum FromPilot {
    /// The first message: the name.
    Join {
        /// Unique name of the pilot, the same at every connection.
        pilot: String,
        /// Its node.
        node: String,
    },
    /// Facts about the node, for the record.
    About {
        /// Any facts.
        facts: serde_json::Value,
    },
    /// Ask for a chunk.
    Ask,
    /// Heartbeat: the work continues.
    Beat {
        /// Its lease.
        lease: Lease,
    },
    /// A result.
    Commit {
        /// Its lease.
        lease: Lease,
        /// The result.
        done: ChunkResult,
        /// Its files, which are on the disk in the attempt's private place.
        #[serde(default)]
        products: Vec<Product>,
    },
    /// The work was ended, because its result became unwanted.
    Stopped {
        /// Its lease.
        lease: Lease,
        /// Seconds that it had taken.
        seconds: f64,
    },
    /// The chunk cannot be done here.
    Failed {
        /// Its lease.
        lease: Lease,
        /// The cause.
        reason: String,
    },
    /// The pilot ends.
    Bye,
}

fn signed_text(farm: &str, chunk: &Chunk, number: u64) -> String {
    format!("farm {farm} chunk {} {} {} seed {} lease {number}", chunk.index, chunk.first, chunk.events, chunk.seed)
}

impl Lease {
    /// A lease for a pilot, signed with a key.
    pub(crate) fn sign(key: &Token, farm: &str, chunk: Chunk, number: u64, pilot: &str) -> Result<Self> {
        let tag = key.tag(&["prony lease", &signed_text(farm, &chunk, number), pilot])?;
        Ok(Self { chunk, number, tag })
    }

    /// Whether a pilot was given this lease.
    pub(crate) fn holds(&self, key: &Token, farm: &str, pilot: &str) -> bool {
        key.verify(&self.tag, &["prony lease", &signed_text(farm, &self.chunk, self.number), pilot])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lease() -> Lease {
        let chunk = Chunk { index: 3, first: 30, events: 10, seed: u64::MAX };
        Lease { chunk, number: u64::MAX, tag: "0".repeat(64) }
    }

    #[test]
    fn a_lease_holds_for_its_farm_chunk_number_pilot_and_key_only() {
        let (key, other) = (Token::draw().unwrap(), Token::draw().unwrap());
        let good = Lease::sign(&key, "farm", lease().chunk, 7, "a").unwrap();
        assert!(good.holds(&key, "farm", "a"));
        assert!(!good.holds(&other, "farm", "a") && !good.holds(&key, "other", "a") && !good.holds(&key, "farm", "b"));
        let wrong = |change: &dyn Fn(&mut Lease)| {
            let mut lease = good.clone();
            change(&mut lease);
            !lease.holds(&key, "farm", "a")
        };
        assert!(wrong(&|lease| lease.number += 1) && wrong(&|lease| lease.chunk.index += 1));
        assert!(wrong(&|lease| lease.chunk.events += 1) && wrong(&|lease| lease.chunk.seed ^= 1));
        assert!(wrong(&|lease| lease.tag.clear()));
    }

    #[test]
    fn numbers_of_64_bits_come_back_as_they_went() {
        let said = FromPilot::Commit {
            lease: lease(),
            done: ChunkResult {
                events: 1,
                digest: u64::MAX,
                cpu: Some(0.1),
                wall: Some(0.3),
                ..ChunkResult::default()
            },
            products: Vec::new(),
        };
        let bytes = serde_json::to_vec(&said).unwrap();
        assert_eq!(serde_json::from_slice::<FromPilot>(&bytes).unwrap(), said);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_message_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300), cut in 0..200_usize) {
            let _ = serde_json::from_slice::<FromPilot>(&bytes);
            let _ = serde_json::from_slice::<FromCoordinator>(&bytes);
            // A message with one byte changed is another message, or none.
            let mut near = serde_json::to_vec(&FromPilot::Beat { lease: lease() }).unwrap();
            let at = cut % near.len();
            near[at] ^= bytes.first().copied().unwrap_or(1);
            let _ = serde_json::from_slice::<FromPilot>(&near);
        }
    }
}
