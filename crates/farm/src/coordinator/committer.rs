//! The one thread that writes: takes all offers that came while the disk was busy, settles them in one transaction, and
//! only then answers.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};

use super::CoordinatorShared;
use super::portion::Portion;
use crate::ledger::{ChunkVerdict, Incident, Ledger, OfferedResult, now};

/// Most offers of one transaction.
const BATCH: usize = 1024;

/// What there is to write.
pub(crate) enum PendingCommit {
    /// A result, and whom to tell.
    Offer(OfferedResult, SyncSender<Option<ChunkVerdict>>),
    /// Something for the story.
    Note(Incident),
    /// What a node said of itself.
    About(String, serde_json::Value),
}

/// Writes until nobody can say anything any more.
pub(super) fn write(
    mut ledger: Box<dyn Ledger>,
    hear: &Receiver<PendingCommit>,
    shared: &CoordinatorShared,
) -> Box<dyn Ledger> {
    let mut portion = ledger.sharing().is_some().then(|| Portion::new(shared.settings.rules.expiry));
    loop {
        let heard = match &portion {
            Some(portion) => hear.recv_timeout(portion.pause()),
            None => hear.recv().map_err(RecvTimeoutError::from),
        };
        match heard {
            Ok(first) => {
                let settled = write_all(&mut *ledger, first, hear, shared);
                portion.iter_mut().for_each(|portion| portion.settled(settled));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if let Some(portion) = &mut portion {
            portion.look(&mut *ledger, shared);
        }
    }
    if let Some(sharing) = ledger.sharing()
        && let Err(error) = sharing.leave()
    {
        // The others find out after a while.
        shared.fail(error.to_string());
    }
    ledger
}

/// Writes what there is at this moment. How many offers were in it.
fn write_all(
    ledger: &mut dyn Ledger,
    first: PendingCommit,
    hear: &Receiver<PendingCommit>,
    shared: &CoordinatorShared,
) -> usize {
    let mut entries = vec![first];
    entries.extend(hear.try_iter().take(BATCH - 1));
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
    settle(ledger, &offers, &answers, &mut notes, shared);
    if !notes.is_empty()
        && let Err(error) = ledger.note(&notes)
    {
        shared.fail(error.to_string());
    }
    offers.len()
}

fn settle(
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
    match ledger.settle(offers, at) {
        Ok(verdicts) => {
            for ((offer, verdict), answer) in offers.iter().zip(&verdicts).zip(answers) {
                let again = *verdict == ChunkVerdict::Counted && shared.leases().counted().contains(offer.chunk);
                if !again {
                    shared.leases().count(offer.chunk, offer.done.wall);
                    shared.board().settled(offer, *verdict, shared.now());
                }
                if *verdict != ChunkVerdict::Counted {
                    notes.push(refusal(offer, *verdict, at));
                }
                // A pilot that is gone offers it again.
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
    let differs = if verdict == ChunkVerdict::Differs { "; ITS RESULT DIFFERS from the one that counts" } else { "" };
    Incident {
        at,
        what: "refused".to_owned(),
        node: offer.node.clone(),
        chunk: Some(offer.chunk),
        detail: format!("duplicate of {}, {:.3} s of CPU time wasted{differs}", offer.pilot, offer.done.cpu),
    }
}
