//! The only thread that writes to the ledger. It takes all results that arrived during the last write, records them in
//! one transaction, and answers after the commit.

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use super::{CoordinatorShared, incident};
use crate::Result;
use crate::clock::Stamp;
use crate::ledger::{ChunkVerdict, Incident, Ledger, OfferedResult, RecordedOffer};
use crate::products::ProductFolder;
use crate::story::suspects;

/// Results in one transaction, at most.
const BATCH: usize = 1024;
/// Interval at which the ledger's file is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// Something to write.
pub(crate) enum PendingCommit {
    /// A result, and the channel for its verdict.
    Offer(OfferedResult, SyncSender<Option<ChunkVerdict>>),
    /// An incident for the log.
    Note(Incident),
    /// Facts about a node.
    About(String, serde_json::Value),
}

/// A result, and the channel for its verdict.
type OpenOffer = (OfferedResult, SyncSender<Option<ChunkVerdict>>);

/// State of the ledger thread.
struct Committer<'a> {
    ledger: Box<dyn Ledger>,
    shared: &'a CoordinatorShared,
    /// Chunks with results that differ.
    disputed: BTreeSet<u64>,
}

/// Writes until all senders are gone.
pub(super) fn write(
    ledger: Box<dyn Ledger>,
    pending: &Receiver<PendingCommit>,
    shared: &CoordinatorShared,
) -> Box<dyn Ledger> {
    let mut committer = Committer { ledger, shared, disputed: BTreeSet::new() };
    let mut looked = Instant::now();
    loop {
        match pending.recv_timeout(LOOK) {
            Ok(first) => committer.write_all(first, pending),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if looked.elapsed() >= LOOK && !shared.has_failed() {
            looked = Instant::now();
            committer.check(|ledger| ledger.check_place());
        }
    }
    committer.ledger
}

impl Committer<'_> {
    /// Does something with the ledger; a failure ends the run.
    fn check<T>(&mut self, work: impl FnOnce(&mut dyn Ledger) -> Result<T>) -> Option<T> {
        work(&mut *self.ledger).map_err(|error| self.shared.fail(error.to_string())).ok()
    }

    /// Writes `first` and all that is queued.
    fn write_all(&mut self, first: PendingCommit, pending: &Receiver<PendingCommit>) {
        let mut entries = vec![first];
        entries.extend(pending.try_iter().take(BATCH - 1));
        let (mut offers, mut notes) = (Vec::new(), Vec::new());
        for entry in entries {
            match entry {
                PendingCommit::Offer(offer, answer) => {
                    if let Some(offer) = self.trusted((offer, answer), &mut notes) {
                        offers.push(offer);
                    }
                }
                PendingCommit::Note(incident) => notes.push(incident),
                PendingCommit::About(node, facts) => drop(self.check(|ledger| ledger.describe(&node, &facts))),
            }
        }
        if !offers.is_empty() && self.record(&offers, &mut notes).is_none() {
            for (_, answer) in &offers {
                let _ = answer.send(None);
            }
        }
        if !notes.is_empty() {
            self.check(|ledger| ledger.note(&notes));
        }
    }

    /// Refuses a result of a node that computes wrongly, and returns any other one.
    fn trusted(&self, (offer, answer): OpenOffer, notes: &mut Vec<Incident>) -> Option<OpenOffer> {
        let mut leases = self.shared.leases();
        if !leases.is_distrusted(&offer.node) {
            return Some((offer, answer));
        }
        leases.drop_lease(offer.chunk, offer.number, &offer.pilot);
        let detail = "this node computes wrong results; none of them count".to_owned();
        notes.push(incident(self.shared.stamp(), "refused", &offer.node, Some(offer.chunk), detail));
        let _ = answer.send(Some(ChunkVerdict::Duplicate));
        None
    }

    /// Records results, and answers when they are on the disk, in a file that a resumption finds. `None`: nothing was
    /// answered.
    fn record(&mut self, offers: &[OpenOffer], notes: &mut Vec<Incident>) -> Option<()> {
        // After a failure the run ends. Later writes may be in a file that is lost.
        if self.shared.has_failed() {
            return None;
        }
        let when = self.shared.stamp();
        let results: Vec<OfferedResult> = offers.iter().map(|(offer, _)| offer.clone()).collect();
        let recorded = self.ledger.record(&results, when);
        // A ledger that is gone says more than an error of the write into it.
        self.check(|ledger| ledger.check_place())?;
        let recorded = self.check(|_| recorded)?;
        let mut decided = false;
        for (offer, RecordedOffer { verdict, again }) in results.iter().zip(&recorded) {
            if *verdict == ChunkVerdict::Differs {
                self.disputed.insert(offer.chunk);
            }
            decided |= *verdict != ChunkVerdict::Counted && self.disputed.contains(&offer.chunk);
            if !again {
                note_verdict(offer, *verdict, self.shared);
                if *verdict != ChunkVerdict::Counted {
                    notes.push(refusal(offer, *verdict, when));
                }
            }
        }
        if decided {
            self.judge(when, notes)?;
        }
        for ((offer, answer), RecordedOffer { verdict, .. }) in offers.iter().zip(recorded) {
            // A result that counted a moment ago may have become uncounted.
            let taken_back = self.shared.leases().is_distrusted(&offer.node) && verdict == ChunkVerdict::Counted;
            // A pilot that disconnected offers the result again.
            let _ = answer.send(Some(if taken_back { ChunkVerdict::Duplicate } else { verdict }));
        }
        Some(())
    }

    /// Takes back the results of nodes that compute wrongly, as other nodes agree. Their chunks are open again.
    fn judge(&mut self, when: Stamp, notes: &mut Vec<Incident>) -> Option<()> {
        let (wrong, results) = self.check(|ledger| suspects::judge(ledger, when))?;
        for suspect in wrong {
            let of_node = results.iter().filter(|one| one.node == suspect.node);
            let chunks: Vec<u64> = of_node.clone().map(|one| one.chunk).collect();
            let mut leases = self.shared.leases();
            if !leases.is_distrusted(&suspect.node) {
                let detail = format!("computes wrong results; other nodes repeat its {} chunks", chunks.len());
                notes.push(incident(when, "distrusted", &suspect.node, None, detail));
            }
            leases.distrust(&suspect.node, &chunks);
            of_node.for_each(|one| self.shared.board().withdraw(one));
        }
        let farm = &self.shared.farm;
        let folder = farm.job.products.as_deref().and_then(|folder| ProductFolder::join(folder, &farm.id).ok());
        for result in results {
            // A failed move is repeated at the end.
            folder.iter().for_each(|folder| drop(folder.set_aside(result.chunk)));
        }
        Some(())
    }
}

fn note_verdict(offer: &OfferedResult, verdict: ChunkVerdict, shared: &CoordinatorShared) {
    {
        let mut leases = shared.leases();
        if offer.check && verdict != ChunkVerdict::Counted {
            leases.checked(offer.chunk, &offer.node, verdict == ChunkVerdict::Differs);
        } else {
            leases.count(offer.chunk, &offer.node, offer.done.wall);
        }
    }
    shared.board().record(offer, verdict, shared.now());
}

fn refusal(offer: &OfferedResult, verdict: ChunkVerdict, when: Stamp) -> Incident {
    let differs = if verdict == ChunkVerdict::Differs { "; ITS RESULT DIFFERS from the committed one" } else { "" };
    let cpu = offer.done.cpu.map_or_else(String::new, |cpu| format!(", {cpu:.3} s of CPU time"));
    let (what, detail) = if offer.check {
        ("checked", format!("repeated by {} for verification{cpu}{differs}", offer.pilot))
    } else {
        ("refused", format!("duplicate of {}{cpu} wasted{differs}", offer.pilot))
    };
    incident(when, what, &offer.node, Some(offer.chunk), detail)
}
