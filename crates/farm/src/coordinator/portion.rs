//! This coordinator's part of a run that several share: asks for blocks while its pilots could use them, and tells which
//! are done.

use std::time::{Duration, Instant};

use super::CoordinatorShared;
use crate::ledger::{Begin, CoordinatorReport, CoordinatorShare, Incident, Ledger, now};

/// How often others hear of this coordinator when there is nothing else to say, at most; a fifth of its expiry if that is
/// sooner.
const BEAT: Duration = Duration::from_secs(1);
/// Least time between two questions for blocks.
const LEAST: Duration = Duration::from_millis(50);

/// What is asked and when.
pub(super) struct Portion {
    beat: Duration,
    last: Option<Instant>,
    /// Blocks that are done, and not yet told.
    done: Vec<u64>,
    /// The last question brought no block though some were wanted: those that are left are others'.
    vain: bool,
    /// Chunks settled since the last question.
    settled: u64,
}

impl Portion {
    pub(super) fn new(expiry: f64) -> Self {
        let beat = BEAT.min(Duration::from_secs_f64((expiry / 5.0).clamp(0.01, 60.0)));
        Self { beat, last: None, done: Vec::new(), vain: false, settled: 0 }
    }

    /// How long nothing needs to be asked.
    pub(super) fn pause(&self) -> Duration {
        self.last.map_or(Duration::ZERO, |last| LEAST.min(self.beat).saturating_sub(last.elapsed()).max(LEAST / 5))
    }

    pub(super) fn settled(&mut self, chunks: usize) {
        self.settled += chunks as u64;
    }

    /// Asks if it is time; a coordinator without pilots wants nothing.
    pub(super) fn look(&mut self, ledger: &mut dyn Ledger, shared: &CoordinatorShared) {
        let since = self.last.map_or(Duration::MAX, |last| last.elapsed());
        if since < LEAST.min(self.beat) {
            return;
        }
        let (open, held) = {
            let mut leases = shared.leases();
            self.done.extend(leases.finished_blocks());
            (leases.open(), leases.held())
        };
        let slots = u64::from(shared.board().slots());
        // As many as pilots take until the next question that is surely asked.
        let rate = self.settled as f64 / since.as_secs_f64().max(0.01);
        let soon = slots.max((rate * self.beat.as_secs_f64()) as u64);
        let short = slots > 0 && open < soon && !self.vain && !shared.is_stopping();
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
                self.vain = want > 0 && share.granted.is_empty();
                (self.settled, self.last) = (0, Some(Instant::now()));
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
                // How long it took there says nothing of what is usual here.
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
            let detail = format!("was taken for dead and goes on as coordinator {number}");
            let note = Incident { at: now(), what: "fenced".to_owned(), node: String::new(), chunk: None, detail };
            if let Err(error) = ledger.note(&[note]) {
                shared.fail(error.to_string());
            }
        }
    }
}

/// What the story says of a coordinator that begins.
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
