//! The only thread that writes to the ledger. It takes all results that arrived during the last write, records them in
//! one transaction, and answers after the commit.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use super::{CoordinatorShared, incident};
use crate::clock::Stamp;
use crate::ledger::{ChunkVerdict, Incident, Ledger, OfferedResult, RecordedOffer};

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

/// Writes until all senders are gone.
pub(super) fn write(
    mut ledger: Box<dyn Ledger>,
    pending: &Receiver<PendingCommit>,
    shared: &CoordinatorShared,
) -> Box<dyn Ledger> {
    let mut looked = Instant::now();
    loop {
        match pending.recv_timeout(LOOK) {
            Ok(first) => write_all(&mut *ledger, first, pending, shared),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if looked.elapsed() >= LOOK && !shared.has_failed() {
            looked = Instant::now();
            if let Err(error) = ledger.check_place() {
                shared.fail(error.to_string());
            }
        }
    }
    ledger
}

/// Writes `first` and all that is queued.
fn write_all(
    ledger: &mut dyn Ledger,
    first: PendingCommit,
    pending: &Receiver<PendingCommit>,
    shared: &CoordinatorShared,
) {
    let mut entries = vec![first];
    entries.extend(pending.try_iter().take(BATCH - 1));
    let (mut offers, mut answers, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    for entry in entries {
        match entry {
            PendingCommit::Offer(offer, answer) => {
                offers.push(offer);
                answers.push(answer);
            }
            PendingCommit::Note(incident) => notes.push(incident),
            PendingCommit::About(node, facts) => {
                if let Err(error) = ledger.describe(&node, &facts) {
                    shared.fail(error.to_string());
                }
            }
        }
    }
    record(ledger, &offers, &answers, &mut notes, shared);
    if !notes.is_empty()
        && let Err(error) = ledger.note(&notes)
    {
        shared.fail(error.to_string());
    }
}

fn record(
    ledger: &mut dyn Ledger,
    offers: &[OfferedResult],
    answers: &[SyncSender<Option<ChunkVerdict>>],
    notes: &mut Vec<Incident>,
    shared: &CoordinatorShared,
) {
    if offers.is_empty() {
        return;
    }
    let when = shared.stamp();
    match ledger.record(offers, when) {
        Ok(recorded) => {
            for ((offer, RecordedOffer { verdict, again }), answer) in offers.iter().zip(recorded).zip(answers) {
                if !again {
                    note_verdict(offer, verdict, shared);
                    if verdict != ChunkVerdict::Counted {
                        notes.push(refusal(offer, verdict, when));
                    }
                }
                // A pilot that disconnected offers the result again.
                let _ = answer.send(Some(verdict));
            }
        }
        Err(error) => {
            shared.fail(error.to_string());
            for answer in answers {
                let _ = answer.send(None);
            }
        }
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
    let differs = if verdict == ChunkVerdict::Differs { "; ITS RESULT DIFFERS from the counted one" } else { "" };
    let cpu = offer.done.cpu.map_or_else(String::new, |cpu| format!(", {cpu:.3} s of CPU time"));
    let (what, detail) = if offer.check {
        ("checked", format!("done again by {} on purpose{cpu}{differs}", offer.pilot))
    } else {
        ("refused", format!("duplicate of {}{cpu} wasted{differs}", offer.pilot))
    };
    incident(when, what, &offer.node, Some(offer.chunk), detail)
}
