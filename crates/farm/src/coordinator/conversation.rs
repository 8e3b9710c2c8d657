//! One pilot's connection, from the first byte to the last.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};

use channel::{Channel, PendingChannel};

use super::committer::PendingCommit;
use super::{CoordinatorShared, incident};
use crate::leases::LeaseAnswer;
use crate::ledger::{ChunkVerdict, OfferedResult};
use crate::message::{FromCoordinator, FromPilot, Lease, PILOT, STRANGER};
use crate::{Error, Result};

/// Time in which a pilot must have said its name.
const NAMED: Duration = Duration::from_secs(5);
/// Time in which a pilot must have taken what it is told.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often a thread that waits for its pilot looks whether the coordinator ends.
const LOOK: Duration = Duration::from_secs(1);
/// Longest name of a node or pilot, bytes.
const NAME: usize = 128;
/// Seconds after which a pilot without work asks again.
const AGAIN: f64 = 0.2;

struct FarmClient<'a> {
    channel: Channel,
    shared: &'a CoordinatorShared,
    say: &'a SyncSender<PendingCommit>,
    pilot: String,
    node: String,
    settled: (SyncSender<Option<ChunkVerdict>>, std::sync::mpsc::Receiver<Option<ChunkVerdict>>),
}

pub(super) fn hold(pending: PendingChannel, shared: &CoordinatorShared, say: &SyncSender<PendingCommit>) -> Result<()> {
    let mut channel = pending.finish(PATIENCE)?;
    let (pilot, node) = introduce(&mut channel, shared)?;
    shared.board().joined(&node, shared.now());
    let _ = say.send(incident("joined", &node, None, pilot.clone()));
    let mut guest = FarmClient { channel, shared, say, pilot, node, settled: sync_channel(1) };
    let ended = guest.listen();
    shared.board().left(&guest.node);
    let reason = ended.as_ref().err().map_or_else(|| "said good-bye".to_owned(), ToString::to_string);
    let _ = say.send(incident("left", &guest.node, None, format!("{}: {reason}", guest.pilot)));
    ended
}

/// Who comes says its name, and hears what is to be done.
fn introduce(channel: &mut Channel, shared: &CoordinatorShared) -> Result<(String, String)> {
    let FromPilot::Join { pilot, node } = channel.receive(NAMED, STRANGER)? else {
        return refuse(channel, "the first thing to say is a name");
    };
    let plain = |name: &str| (1..=NAME).contains(&name.len()) && name.chars().all(|c| c.is_ascii_graphic());
    if !plain(&pilot) || !plain(&node) {
        return refuse(channel, "a name has 1 to 128 printable characters without blanks");
    }
    let welcome = FromCoordinator::Welcome {
        farm: shared.farm.id.clone(),
        job: Box::new(shared.farm.job.clone()),
        beat: shared.settings.beat,
    };
    channel.send(&welcome, PATIENCE)?;
    Ok((pilot, node))
}

fn refuse<T>(channel: &mut Channel, reason: &str) -> Result<T> {
    // Whether it hears that does not matter.
    let _ = channel.send(&FromCoordinator::Refused { reason: reason.to_owned() }, PATIENCE);
    Err(Error::Refused(reason.to_owned()))
}

impl FarmClient<'_> {
    fn listen(&mut self) -> Result<()> {
        let silence = Duration::from_secs_f64(3.0 * self.shared.settings.rules.expiry.max(self.shared.settings.beat));
        while self.is_heard(silence)? {
            let said = self.channel.receive(PATIENCE, PILOT)?;
            self.shared.board().received(&self.node, self.shared.now());
            let answer = match said {
                FromPilot::Ask => self.lease()?,
                FromPilot::Beat { lease } => self.beat(&lease)?,
                FromPilot::Commit { lease, done } => self.commit(&lease, done)?,
                FromPilot::Failed { lease, reason } => self.fail(&lease, &reason)?,
                FromPilot::About { facts } => {
                    let _ = self.say.send(PendingCommit::About(self.node.clone(), facts));
                    FromCoordinator::Noted
                }
                FromPilot::Others => {
                    let addresses = self.shared.shares.then(|| self.shared.others().clone());
                    FromCoordinator::Others { addresses }
                }
                FromPilot::Bye => return Ok(()),
                FromPilot::Join { .. } => return self.refuse("you are in already"),
            };
            self.channel.send(&answer, PATIENCE)?;
        }
        Ok(())
    }

    /// Waits until the pilot begins to say something; false when the coordinator ends meanwhile.
    fn is_heard(&mut self, silence: Duration) -> Result<bool> {
        let until = Instant::now() + silence;
        while !self.shared.end.load(Ordering::SeqCst) {
            if self.channel.wait(LOOK)? {
                return Ok(true);
            }
            if Instant::now() > until {
                return Err(Error::Refused("it said nothing for too long".to_owned()));
            }
        }
        Ok(false)
    }

    fn refuse<T>(&mut self, reason: &str) -> Result<T> {
        refuse(&mut self.channel, reason)
    }

    fn lease(&mut self) -> Result<FromCoordinator> {
        if self.shared.stop.load(Ordering::SeqCst) {
            return Ok(FromCoordinator::Finished);
        }
        let now = self.shared.now();
        let answer = self.shared.leases().ask(&self.pilot, now);
        Ok(match answer {
            LeaseAnswer::Finished => FromCoordinator::Finished,
            LeaseAnswer::Wait => FromCoordinator::Wait { seconds: AGAIN },
            LeaseAnswer::Lease { chunk, number, speculative } => {
                if speculative {
                    let detail = format!("given to {} too, to be done sooner", self.pilot);
                    let _ = self.say.send(incident("speculated", &self.node, Some(chunk), detail));
                }
                let cut = self.shared.farm.job.cut(chunk);
                let cut = cut.ok_or_else(|| Error::Broken(format!("there is no chunk {chunk}")))?;
                let key = &self.shared.key;
                FromCoordinator::Lease(Lease::sign(key, &self.shared.farm.id, cut, number, &self.pilot)?)
            }
        })
    }

    /// A lease that this pilot was given by this coordinator or one before it, of this run as it is cut.
    fn check(&mut self, lease: &Lease) -> Result<()> {
        let cut = self.shared.farm.job.cut(lease.chunk.index);
        if cut == Some(lease.chunk) && lease.holds(&self.shared.key, &self.shared.farm.id, &self.pilot) {
            return Ok(());
        }
        let detail = format!("{} was never leased this chunk", self.pilot);
        let _ = self.say.send(incident("forged", &self.node, Some(lease.chunk.index), detail));
        self.refuse("you were not leased that")
    }

    fn beat(&mut self, lease: &Lease) -> Result<FromCoordinator> {
        self.check(lease)?;
        let now = self.shared.now();
        let wanted = self.shared.leases().renew(lease.chunk.index, lease.number, &self.pilot, now);
        Ok(FromCoordinator::Kept { wanted })
    }

    fn commit(&mut self, lease: &Lease, done: crate::ChunkResult) -> Result<FromCoordinator> {
        self.check(lease)?;
        let sound = |seconds: f64| seconds.is_finite() && seconds >= 0.0;
        if done.events != lease.chunk.events || !sound(done.cpu) || !sound(done.wall) {
            return self.refuse("that is not what was leased");
        }
        let (pilot, node) = (self.pilot.clone(), self.node.clone());
        let offer = OfferedResult { chunk: lease.chunk.index, number: lease.number, node, pilot, done };
        let gone = || Error::Broken("the thread that writes the ledger died".to_owned());
        self.say.send(PendingCommit::Offer(offer, self.settled.0.clone())).map_err(|_| gone())?;
        let verdict = self.settled.1.recv().map_err(|_| gone())?;
        Ok(verdict.map_or(FromCoordinator::Unsettled, |verdict| FromCoordinator::Settled { verdict }))
    }

    fn fail(&mut self, lease: &Lease, reason: &str) -> Result<FromCoordinator> {
        self.check(lease)?;
        let given_up = self.shared.leases().fail(lease.chunk.index, lease.number);
        let detail = format!("{}: {reason}{}", self.pilot, if given_up { "; given up" } else { "" });
        let _ = self.say.send(incident("failed", &self.node, Some(lease.chunk.index), detail));
        Ok(FromCoordinator::Noted)
    }
}
