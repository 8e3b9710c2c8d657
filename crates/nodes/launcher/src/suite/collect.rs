//! Collects the messages of working nodes until every one has ended.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use measure::Stopper;
use model::Run;

use super::heard::{Heard, NodeState};
use super::life::{self, LastHeard, Life, Pulse, Verdict};
use super::message::{SuiteReply, SuiteRequest};
use crate::line::send;
use crate::{Error, Result};
use crate::{Launcher, Link, StderrTail};

/// Time for a node to send its results after a request to stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);
/// Interval at which nodes that send nothing are looked at.
const LOOK: Duration = Duration::from_millis(100);
/// Messages that are taken in before a document is saved, at most.
const TURN: usize = 1_000;

/// A message of a node; `None` at the end of its output.
pub(super) type NodeReply = (usize, Result<Option<SuiteReply>>);

/// How a node ended, with its run as far as it got.
pub(super) type EndState = (NodeState, Option<Run>);

/// A working node.
pub(super) struct Working {
    link: Link,
    life: Life,
    run: Option<Run>,
    /// Its run has not been reported yet.
    unsaved: bool,
}

impl Working {
    /// A node that has just begun.
    pub(super) fn new(link: Link, heard: LastHeard) -> Self {
        Self { link, life: Life::new(heard), run: None, unsaved: false }
    }
}

/// Collects what nodes send.
pub(super) struct NodeCollector<'a> {
    pub(super) launcher: &'a dyn Launcher,
    pub(super) working: &'a mut [Option<Working>],
    pub(super) states: &'a mut [Option<EndState>],
    pub(super) listener: &'a mut dyn FnMut(Heard<'_>),
    /// The node whose document is saved next.
    pub(super) turn: usize,
}

impl NodeCollector<'_> {
    /// Receives messages until every node has ended. All that wait are taken in before a document is saved: where
    /// saving is slower than nodes are, only the latest document of each is kept in memory.
    pub(super) fn collect(mut self, replies: &Receiver<NodeReply>, stopper: &Stopper) {
        let mut leaving: Option<Instant> = None;
        let mut pulse = Pulse::default();
        while self.working.iter().any(Option::is_some) {
            if stopper.asked() && leaving.is_none() {
                leaving = Some(Instant::now() + STOP_TIMEOUT);
                for one in self.working.iter_mut().flatten() {
                    // A node that has disconnected is detected by its silence.
                    let _ = send(&mut *one.link.input, &SuiteRequest::Stop);
                }
            }
            let unsaved = self.working.iter().flatten().any(|one| one.unsaved);
            match replies.recv_timeout(if unsaved { Duration::ZERO } else { LOOK }) {
                Ok((node, reply)) => self.take(node, reply),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            for (node, reply) in replies.try_iter().take(TURN) {
                self.take(node, reply);
            }
            self.look(leaving.is_some_and(|until| Instant::now() > until), pulse.beat());
            self.save_one();
        }
    }

    /// Takes a message of a node in.
    fn take(&mut self, node: usize, reply: Result<Option<SuiteReply>>) {
        let Some(one) = &mut self.working[node] else { return };
        match reply {
            Ok(Some(SuiteReply::Alive)) => {}
            Ok(Some(SuiteReply::Doing { done, of, what })) => {
                one.life.progressed();
                (self.listener)(Heard::Doing { node: &self.launcher.name(node), done, of, what: &what });
            }
            Ok(Some(SuiteReply::Saved(run))) => {
                one.life.progressed();
                (one.run, one.unsaved) = (Some(*run), true);
            }
            Ok(Some(SuiteReply::Ended(run, ending))) => {
                (one.run, one.unsaved) = (Some(*run), true);
                self.end(node, NodeState::Measured(ending));
            }
            Ok(Some(SuiteReply::Failed(reason))) => self.end(node, NodeState::Lost(reason)),
            Ok(None) => self.lose(node, &Error::Gone("it ended during the measurement".to_owned())),
            Err(error) => self.lose(node, &error),
        }
    }

    /// Checks nodes that send nothing.
    fn look(&mut self, given_up: bool, stood_still: bool) {
        for node in 0..self.working.len() {
            let Some(one) = &mut self.working[node] else { continue };
            if stood_still {
                one.life.begin_again();
            }
            let error = match one.life.verdict() {
                Verdict::Lost(reason) => reason,
                _ if given_up => format!("it did not end within {} s when it was asked to", STOP_TIMEOUT.as_secs()),
                Verdict::Silent(seconds) => {
                    let (name, lost_at) = (self.launcher.name(node), life::SILENCE.as_secs());
                    (self.listener)(Heard::Silent { node: &name, seconds, lost_at });
                    continue;
                }
                Verdict::Present => continue,
            };
            // Its earlier standard error does not explain the silence.
            one.link.stderr = StderrTail::default();
            self.lose(node, &Error::Gone(error));
        }
    }

    /// Reports the latest document of the next node that has an unsaved one.
    fn save_one(&mut self) {
        let (turn, count) = (self.turn, self.working.len());
        for node in (0..count).map(|after| (turn + after) % count) {
            if self.save(node) {
                self.turn = node + 1;
                return;
            }
        }
    }

    fn save(&mut self, node: usize) -> bool {
        let Some(one) = &mut self.working[node] else { return false };
        let unsaved = std::mem::take(&mut one.unsaved);
        if let Some(run) = one.run.as_ref().filter(|_| unsaved) {
            (self.listener)(Heard::Saved { node: &self.launcher.name(node), run });
        }
        unsaved
    }

    fn lose(&mut self, node: usize, error: &Error) {
        let Some(one) = &self.working[node] else { return };
        let reason = self.launcher.why_missing(node, &one.link, error);
        self.end(node, NodeState::Lost(reason));
    }

    fn end(&mut self, node: usize, state: NodeState) {
        self.save(node);
        let run = self.working[node].take().and_then(|one| one.run);
        end(&self.launcher.name(node), &mut self.states[node], (state, run), self.listener);
    }
}

/// Notes how a node ended.
pub(super) fn end(name: &str, slot: &mut Option<EndState>, how: EndState, listener: &mut dyn FnMut(Heard<'_>)) {
    listener(Heard::Over { node: name, state: &how.0 });
    *slot = Some(how);
}
