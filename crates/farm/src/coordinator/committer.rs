//! The only thread that writes to the ledger. It takes all results that arrived during the last write, records them in
//! one transaction, and answers after the commit.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};

use super::CoordinatorShared;
use super::portion::Portion;
use crate::ledger::{ChunkVerdict, Incident, Ledger, OfferedResult, now};

/// Results in one transaction, at most.
const BATCH: usize = 1024;

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
    let mut portion = ledger.sharing().is_some().then(|| Portion::new(shared.settings.rules.expiry));
    loop {
        let next = match &portion {
            Some(portion) => pending.recv_timeout(portion.pause()),
            None => pending.recv().map_err(RecvTimeoutError::from),
        };
        match next {
            Ok(first) => {
                let recorded = write_all(&mut *ledger, first, pending, shared);
                portion.iter_mut().for_each(|portion| portion.recorded(recorded));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if let Some(portion) = &mut portion {
            portion.exchange(&mut *ledger, shared);
        }
    }
    if let Some(sharing) = ledger.sharing()
        && let Err(error) = sharing.leave()
    {
        // The other coordinators notice after this one's expiry.
        shared.fail(error.to_string());
    }
    ledger
}

/// Writes `first` and all that is queued. Returns the number of results among it.
fn write_all(
    ledger: &mut dyn Ledger,
    first: PendingCommit,
    pending: &Receiver<PendingCommit>,
    shared: &CoordinatorShared,
) -> usize {
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
    offers.len()
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
    let at = now();
    match ledger.record(offers, at) {
        Ok(verdicts) => {
            for ((offer, verdict), answer) in offers.iter().zip(&verdicts).zip(answers) {
                let again = *verdict == ChunkVerdict::Counted && shared.leases().counted().contains(offer.chunk);
                if !again {
                    shared.leases().count(offer.chunk, offer.done.wall);
                    shared.board().record(offer, *verdict, shared.now());
                }
                if *verdict != ChunkVerdict::Counted {
                    notes.push(refusal(offer, *verdict, at));
                }
                // A pilot that disconnected offers the result again.
                let _ = answer.send(Some(*verdict));
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

fn refusal(offer: &OfferedResult, verdict: ChunkVerdict, at: f64) -> Incident {
    let differs = if verdict == ChunkVerdict::Differs { "; ITS RESULT DIFFERS from the counted one" } else { "" };
    Incident {
        at,
        what: "refused".to_owned(),
        node: offer.node.clone(),
        chunk: Some(offer.chunk),
        detail: format!("duplicate of {}, {:.3} s of CPU time wasted{differs}", offer.pilot, offer.done.cpu),
    }
}
