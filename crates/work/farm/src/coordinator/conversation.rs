//! One pilot's connection, from the handshake to its end.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};

use channel::{Channel, PendingChannel};

use super::committer::PendingCommit;
use super::{CoordinatorShared, plausible};
use crate::job::ChunkResult;
use crate::leases::LeaseAnswer;
use crate::ledger::{ChunkVerdict, OfferedResult};
use crate::message::{FromCoordinator, FromPilot, Lease, PILOT, STRANGER};
use crate::products::{Product, are_sound};
use crate::{Error, Result};

/// Time limit for a pilot's first message, its name.
const NAME_TIMEOUT: Duration = Duration::from_secs(5);
/// Time limit for a pilot to take a reply.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Interval at which a thread that waits for its pilot checks whether the coordinator ends.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Longest name of a node or pilot, bytes.
const MAX_NAME: usize = 128;
/// Longest time after which a pilot without work asks again, seconds.
const LONGEST_WAIT: f64 = 10.0;
/// Questions of pilots without work in a second, at most.
const QUESTIONS: f64 = 2500.0;

struct FarmClient<'a> {
    channel: Channel,
    shared: &'a CoordinatorShared,
    to_ledger: &'a SyncSender<PendingCommit>,
    pilot: String,
    node: String,
    verdict: (SyncSender<Option<ChunkVerdict>>, std::sync::mpsc::Receiver<Option<ChunkVerdict>>),
}

pub(super) fn serve(
    pending: PendingChannel,
    shared: &CoordinatorShared,
    to_ledger: &SyncSender<PendingCommit>,
) -> Result<()> {
    let mut channel = pending.finish(TIMEOUT)?;
    let (pilot, node) = admit(&mut channel, shared)?;
    shared.board().joined(&node, shared.now());
    shared.leases().joined(&node);
    let _ = to_ledger.send(shared.incident("joined", &node, None, pilot.clone()));
    let mut client = FarmClient { channel, shared, to_ledger, pilot, node, verdict: sync_channel(1) };
    let ended = client.serve();
    shared.board().left(&client.node);
    shared.leases().left(&client.node);
    let reason = ended.as_ref().err().map_or_else(|| "it disconnected".to_owned(), ToString::to_string);
    let _ = to_ledger.send(shared.incident("left", &client.node, None, format!("{}: {reason}", client.pilot)));
    ended
}

/// Receives the pilot's name and sends the job.
fn admit(channel: &mut Channel, shared: &CoordinatorShared) -> Result<(String, String)> {
    let FromPilot::Join { pilot, node } = channel.receive(NAME_TIMEOUT, STRANGER)? else {
        return refuse(channel, "the first message must be a name");
    };
    let plain = |name: &str| (1..=MAX_NAME).contains(&name.len()) && name.chars().all(|c| c.is_ascii_graphic());
    if !plain(&pilot) || !plain(&node) {
        return refuse(channel, "a name has 1 to 128 printable characters and no blanks");
    }
    let welcome = FromCoordinator::Welcome {
        farm: shared.farm.id.clone(),
        job: Box::new(shared.farm.job.clone()),
        beat: shared.settings.beat,
    };
    channel.send(&welcome, TIMEOUT)?;
    Ok((pilot, node))
}

fn refuse<T>(channel: &mut Channel, reason: &str) -> Result<T> {
    // A failed send is ignored: the connection ends in any case.
    let _ = channel.send(&FromCoordinator::Refused { reason: reason.to_owned() }, TIMEOUT);
    Err(Error::Pilot(reason.to_owned()))
}

impl FarmClient<'_> {
    fn serve(&mut self) -> Result<()> {
        let silence = Duration::from_secs_f64(3.0 * self.shared.settings.rules.expiry.max(self.shared.settings.beat));
        while self.wait_for_message(silence)? {
            let message = self.channel.receive(TIMEOUT, PILOT)?;
            self.shared.board().received(&self.node, self.shared.now());
            let answer = match message {
                FromPilot::Ask => self.lease()?,
                FromPilot::Beat { lease } => self.beat(&lease)?,
                FromPilot::Commit { lease, done, products } => self.commit(&lease, done, products)?,
                FromPilot::Stopped { lease, seconds } => self.stopped(&lease, seconds)?,
                FromPilot::Failed { lease, reason } => self.fail(&lease, &reason)?,
                FromPilot::About { facts } => {
                    if let Some(cpus) = facts.get("cpus").and_then(serde_json::Value::as_f64) {
                        self.shared.cpus().insert(self.node.clone(), cpus);
                    }
                    let _ = self.to_ledger.send(PendingCommit::About(self.node.clone(), facts));
                    FromCoordinator::Noted
                }
                FromPilot::Bye => return Ok(()),
                FromPilot::Join { .. } => return self.refuse("this pilot has joined already"),
            };
            self.channel.send(&answer, TIMEOUT)?;
        }
        Ok(())
    }

    /// Waits for a message to begin; false when the coordinator ends first.
    fn wait_for_message(&mut self, silence: Duration) -> Result<bool> {
        let until = Instant::now() + silence;
        while !self.shared.end.load(Ordering::SeqCst) {
            // A coordinator that was itself stopped while waiting has not read the messages of that time yet.
            let late = Instant::now() > until;
            if self.channel.wait(POLL_INTERVAL)? {
                return Ok(true);
            }
            if late {
                return Err(Error::Pilot(format!("it sent nothing for {:.0} s", silence.as_secs_f64())));
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
        let answer = self.shared.leases().ask(&self.pilot, &self.node, now);
        Ok(match answer {
            LeaseAnswer::Finished => FromCoordinator::Finished,
            LeaseAnswer::Wait { seconds } => {
                let pilots = self.shared.pilots.load(Ordering::Relaxed) as f64;
                FromCoordinator::Wait { seconds: seconds.max(pilots / QUESTIONS).min(LONGEST_WAIT) }
            }
            LeaseAnswer::Lease { chunk, number, again } => {
                if again {
                    let detail = format!("leased to {} as well", self.pilot);
                    let _ = self.to_ledger.send(self.shared.incident("again", &self.node, Some(chunk), detail));
                }
                let cut = self.shared.farm.job.cut(chunk);
                let cut = cut.ok_or_else(|| Error::Broken(format!("there is no chunk {chunk}")))?;
                let key = &self.shared.key;
                FromCoordinator::Lease(Lease::sign(key, &self.shared.farm.id, cut, number, &self.pilot)?)
            }
        })
    }

    /// Checks that this pilot was given the lease, by this coordinator or an earlier one of the same run.
    fn check(&mut self, lease: &Lease) -> Result<()> {
        let cut = self.shared.farm.job.cut(lease.chunk.index);
        if cut == Some(lease.chunk) && lease.holds(&self.shared.key, &self.shared.farm.id, &self.pilot) {
            return Ok(());
        }
        let detail = format!("{} was never leased this chunk", self.pilot);
        let _ = self.to_ledger.send(self.shared.incident("forged", &self.node, Some(lease.chunk.index), detail));
        self.refuse("this lease was not given to this pilot")
    }

    fn beat(&mut self, lease: &Lease) -> Result<FromCoordinator> {
        self.check(lease)?;
        let now = self.shared.now();
        let wanted = self.shared.leases().renew(lease.chunk.index, lease.number, &self.pilot, now);
        Ok(FromCoordinator::Kept { wanted })
    }

    fn commit(&mut self, lease: &Lease, mut done: ChunkResult, products: Vec<Product>) -> Result<FromCoordinator> {
        self.check(lease)?;
        let expected = self.shared.farm.job.products.is_some() || products.is_empty();
        if done.events != lease.chunk.events || !expected || !are_sound(&products) {
            return self.refuse("the result does not match its lease");
        }
        let (chunk, number, pilot, node) = (lease.chunk.index, lease.number, self.pilot.clone(), self.node.clone());
        let (age, check) = {
            let now = self.shared.now();
            let mut leases = self.shared.leases();
            (leases.age(chunk, number, &pilot, now), leases.is_check(chunk, number, &pilot))
        };
        // A lease of an earlier coordinator, or one that had ended, is not older than the run.
        let age = age.unwrap_or_else(|| self.shared.stamp().since);
        let cpus = self.shared.cpus().get(&node).copied().unwrap_or(1.0);
        if let Some(said) = plausible::check(&mut done, age, cpus) {
            let detail = format!("{pilot} {said}; the chunk is committed without this number");
            let _ = self.to_ledger.send(self.shared.incident("implausible", &node, Some(chunk), detail));
        }
        let offer = OfferedResult { chunk, number, node, pilot, done, products, check };
        let gone = || Error::Broken("the ledger thread died".to_owned());
        self.to_ledger.send(PendingCommit::Offer(offer, self.verdict.0.clone())).map_err(|_| gone())?;
        let verdict = self.verdict.1.recv().map_err(|_| gone())?;
        Ok(verdict.map_or(FromCoordinator::NotRecorded, |verdict| FromCoordinator::Recorded { verdict }))
    }

    fn stopped(&mut self, lease: &Lease, seconds: f64) -> Result<FromCoordinator> {
        self.check(lease)?;
        self.shared.leases().drop_lease(lease.chunk.index, lease.number, &self.pilot);
        let detail = format!("{} stopped work that was no longer needed, after {seconds:.1} s", self.pilot);
        let _ = self.to_ledger.send(self.shared.incident("stopped", &self.node, Some(lease.chunk.index), detail));
        Ok(FromCoordinator::Noted)
    }

    fn fail(&mut self, lease: &Lease, reason: &str) -> Result<FromCoordinator> {
        self.check(lease)?;
        let (chunk, now) = (lease.chunk.index, self.shared.now());
        // A failure whose reply was lost is reported again.
        let Some(given_up) = self.shared.leases().fail(chunk, lease.number, &self.pilot, &self.node, now) else {
            return Ok(FromCoordinator::Noted);
        };
        self.shared.board().failed(&self.node);
        let detail = format!("{}: {reason}{}", self.pilot, if given_up { "; given up" } else { "" });
        let _ = self.to_ledger.send(self.shared.incident("failed", &self.node, Some(chunk), detail));
        Ok(FromCoordinator::Noted)
    }
}
