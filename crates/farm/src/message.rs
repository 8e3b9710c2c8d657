//! What coordinator and pilots say to each other over their channel.

use channel::{Service, Token};
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::job::{Chunk, ChunkResult, FarmJob};
use crate::ledger::ChunkVerdict;

/// Production runs. Versions before 3 had a handshake of their own, which bound nothing of what was said after it.
pub const SERVICE: Service = Service { name: "farm", version: 3 };
/// Longest message of a pilot that has not said its name yet, bytes.
pub(crate) const STRANGER: usize = 4 << 10;
/// Longest message of one that is, bytes.
pub(crate) const PILOT: usize = 64 << 10;
/// Longest message of a coordinator, bytes.
pub(crate) const COORDINATOR: usize = 1 << 20;

/// A lease as a capability: who has its tag was given it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lease {
    /// What to do.
    pub chunk: Chunk,
    /// Number of the lease.
    pub number: u64,
    /// HMAC over farm, chunk, number and pilot with a key that never leaves the coordinator.
    pub tag: String,
}

/// What a coordinator says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "says", rename_all = "snake_case", deny_unknown_fields)]
pub enum FromCoordinator {
    /// The answer to a name.
    Welcome {
        /// Name of the run.
        farm: String,
        /// What is to be done.
        job: Box<FarmJob>,
        /// Seconds between heartbeats.
        beat: f64,
    },
    /// There is no room; come again.
    Full {
        /// Connections that there are.
        connections: usize,
    },
    /// Do this.
    Lease(Lease),
    /// Ask again in so many seconds.
    Wait {
        /// How many.
        seconds: f64,
    },
    /// There is nothing left to do.
    Finished,
    /// Your heartbeat was heard.
    Kept {
        /// Whether the result is still wanted.
        wanted: bool,
    },
    /// What became of your result.
    Settled {
        /// It is on the disk.
        verdict: ChunkVerdict,
    },
    /// It could not be settled now: keep it, and offer it again.
    Unsettled,
    /// Who else coordinates this run.
    Others {
        /// Where they listen; absent where there is never anybody else.
        addresses: Option<Vec<String>>,
    },
    /// I will not do that.
    Refused {
        /// Why.
        reason: String,
    },
    /// Heard.
    Noted,
}

/// What a pilot says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "says", rename_all = "snake_case", deny_unknown_fields)]
pub enum FromPilot {
    /// First of all: who comes.
    Join {
        /// Name that no other pilot has, the same at every connection.
        pilot: String,
        /// Node where it runs.
        node: String,
    },
    /// Facts about the node, for the record.
    About {
        /// Whatever the record shall hold.
        facts: serde_json::Value,
    },
    /// Give me work.
    Ask,
    /// I am still at it.
    Beat {
        /// At what.
        lease: Lease,
    },
    /// It is done.
    Commit {
        /// What was leased.
        lease: Lease,
        /// What was done.
        done: ChunkResult,
    },
    /// It cannot be done here.
    Failed {
        /// What was leased.
        lease: Lease,
        /// Why.
        reason: String,
    },
    /// Who else would take what I have, should you be gone?
    Others,
    /// I leave.
    Bye,
}

fn words(farm: &str, chunk: &Chunk, number: u64) -> String {
    format!("farm {farm} chunk {} {} {} seed {} lease {number}", chunk.index, chunk.first, chunk.events, chunk.seed)
}

impl Lease {
    /// A lease for a pilot, signed with a key.
    pub(crate) fn sign(key: &Token, farm: &str, chunk: Chunk, number: u64, pilot: &str) -> Result<Self> {
        let tag = key.tag(&["prony lease", &words(farm, &chunk, number), pilot])?;
        Ok(Self { chunk, number, tag })
    }

    /// Whether a pilot was given this lease.
    pub(crate) fn holds(&self, key: &Token, farm: &str, pilot: &str) -> bool {
        key.verify(&self.tag, &["prony lease", &words(farm, &self.chunk, self.number), pilot])
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
            done: ChunkResult { events: 1, digest: u64::MAX, cpu: 0.1, wall: 0.3 },
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
