//! This coordinator's part of a shared run: claims blocks of chunks while its pilots can use them, and reports finished
//! ones.

use std::time::{Duration, Instant};

use super::CoordinatorShared;
use crate::ledger::{Begin, CoordinatorReport, CoordinatorShare, Incident, Ledger, now};

/// Longest interval between two exchanges with the ledger; a fifth of the expiry if that is shorter.
const BEAT: Duration = Duration::from_secs(1);
/// Shortest interval between two claims of blocks.
const MIN_PAUSE: Duration = Duration::from_millis(50);

/// What is reported and claimed, and when.
pub(super) struct Portion {
    beat: Duration,
    last: Option<Instant>,
    /// Finished blocks that are not yet reported.
    done: Vec<u64>,
    /// The last claim brought no block: all that are left belong to others.
    none_left: bool,
    /// Chunks recorded since the last exchange.
    recorded: u64,
}

impl Portion {
    pub(super) fn new(expiry: f64) -> Self {
        let beat = BEAT.min(Duration::from_secs_f64((expiry / 5.0).clamp(0.01, 60.0)));
        Self { beat, last: None, done: Vec::new(), none_left: false, recorded: 0 }
    }

    /// Time until the next exchange may be due.
    pub(super) fn pause(&self) -> Duration {
        self.last
            .map_or(Duration::ZERO, |last| MIN_PAUSE.min(self.beat).saturating_sub(last.elapsed()).max(MIN_PAUSE / 5))
    }

    pub(super) fn recorded(&mut self, chunks: usize) {
        self.recorded += chunks as u64;
    }

    /// Exchanges with the ledger if it is due. A coordinator without pilots claims nothing.
    pub(super) fn exchange(&mut self, ledger: &mut dyn Ledger, shared: &CoordinatorShared) {
        let since = self.last.map_or(Duration::MAX, |last| last.elapsed());
        if since < MIN_PAUSE.min(self.beat) {
            return;
        }
        let (open, held) = {
            let mut leases = shared.leases();
            self.done.extend(leases.finished_blocks());
            (leases.open(), leases.held())
        };
        let slots = u64::from(shared.board().slots());
        // As many chunks as the pilots take until the next regular exchange.
        let rate = self.recorded as f64 / since.as_secs_f64().max(0.01);
        let soon = slots.max((rate * self.beat.as_secs_f64()) as u64);
        let short = slots > 0 && open < soon && !self.none_left && !shared.is_stopping();
        let idle = open == 0 && held == 0 && !self.done.is_empty();
        if since < self.beat && !short && !idle {
            return;
        }
        let want = if slots > 0 && !shared.is_stopping() { soon.saturating_sub(open) } else { 0 };
        let Some(sharing) = ledger.sharing() else { return };
        match sharing.share(&CoordinatorReport { done: self.done.clone(), want }) {
            Ok(share) => {
                let first = self.last.is_none();
                self.done.clear();
                self.none_left = want > 0 && share.granted.is_empty();
                (self.recorded, self.last) = (0, Some(Instant::now()));
                self.take(share, shared, first, ledger);
            }
            Err(error) => shared.fail(error.to_string()),
        }
    }

    fn take(&mut self, share: CoordinatorShare, shared: &CoordinatorShared, first: bool, ledger: &mut dyn Ledger) {
        {
            let mut leases = shared.leases();
            if let Some((_, lease)) = share.fenced {
                leases.lose();
                leases.number_from(lease);
            }
            for chunk in share.counted {
                // The time it took elsewhere is not used for this coordinator's typical time.
                leases.count(chunk, f64::NAN);
            }
            for grant in share.granted {
                leases.grant(grant.block, grant.chunks);
            }
            if share.left == 0 {
                leases.end();
            }
        }
        shared.board().elsewhere(share.elsewhere, shared.now(), first);
        *shared.others() = share.others;
        if let Some((number, _)) = share.fenced {
            let detail = format!("was taken for dead and continues as coordinator {number}");
            let note = Incident { at: now(), what: "fenced".to_owned(), node: String::new(), chunk: None, detail };
            if let Err(error) = ledger.note(&[note]) {
                shared.fail(error.to_string());
            }
        }
    }
}

/// The incident that a coordinator's start leaves in the ledger.
pub(super) fn beginning(begin: Begin, address: &str, counted: u64, planned: u64, shares: bool) -> Incident {
    let what = match (begin.resumed, begin.coordinator) {
        (true, _) => "resumed",
        (false, 1) => "started",
        (false, _) => "shared",
    };
    let number = if shares { format!(" {}", begin.coordinator) } else { String::new() };
    Incident {
        at: now(),
        what: what.to_owned(),
        node: String::new(),
        chunk: None,
        detail: format!("coordinator{number} at {address}, {counted} of {planned} chunks counted"),
    }
}
