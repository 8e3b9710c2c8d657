//! The driver: starts the nodes, connects them, starts the job at the same moment everywhere, and keeps the ledger.

use std::net::SocketAddr;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use launcher::agent::{ClockOffset, Greeted, Greeting, MissingNode, greet};
use launcher::line::send;
use launcher::{Launcher, Link};

use super::DUTY;
use super::ledger::EventLedger;
use super::message::{BuildJob, BuildOrder, BuildReply, BuildRequest, NodeRole, Transport, receive};
use super::outcome::{BuildOutcome, NodePlace};
use crate::data::CpuWatch;
use crate::{Error, Result};
use measure::Stopper;

/// Time limit for nodes to start, and to report their counts.
const TIMEOUT: Duration = Duration::from_secs(40);
/// Time between the message to start and the start, nanoseconds.
const START_DELAY: u64 = 300_000_000;
/// Interval at which a waiting driver checks whether the user asked to stop.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Longest gap between two events that is waited for, seconds.
const LONGEST_GAP: f64 = 1e6;
/// Silence after the last datagram was sent, after which no more are expected.
const QUIET: Duration = Duration::from_millis(700);

/// A message of a node, or why it stopped sending.
type NodeMessage = (usize, std::result::Result<BuildReply, String>);

struct Driver<'a> {
    job: &'a BuildJob,
    links: Vec<Option<Link>>,
    messages: Receiver<NodeMessage>,
    clocks: Vec<ClockOffset>,
    stopper: &'a Stopper,
}

/// Runs a job: the senders are the nodes from 0, followed by the receivers. With `lose`, that receiver fails after this
/// number of built events, and the others build its remaining ones.
///
/// # Errors
/// When nodes cannot be started or fail, the job is invalid, or the user asked to stop.
pub fn build(
    job: &BuildJob,
    launcher: &mut dyn Launcher,
    lose: Option<(u32, u32)>,
    stopper: &Stopper,
) -> Result<BuildOutcome> {
    job.check()?;
    lose.map_or(Ok(()), |(receiver, _)| job.check_loss(receiver))?;
    let nodes = (job.senders + job.receivers) as usize;
    if let Transport::Tcp { .. } = job.transport {
        // Nodes of a laboratory are threads of this process, with all ends of their connections, pipes and namespaces.
        os::process::allow_files(2 * (job.senders * job.receivers) as usize + 16 * nodes);
    }
    let Greeting { greeted, missing } = greet(launcher, nodes, DUTY.name, stopper)?;
    if let Some(MissingNode { node, reason }) = missing.into_iter().next() {
        return Err(Error::Node { node, reason });
    }
    let (sender, messages) = mpsc::channel();
    let mut driver = Driver { job, links: Vec::new(), messages, clocks: Vec::new(), stopper };
    let mut places = Vec::new();
    for Greeted { node, mut link, hello, clock, address } in greeted {
        let mut output = std::mem::replace(&mut link.output, Box::new(std::io::empty()));
        let sender = sender.clone();
        let listen = move || {
            loop {
                let message = match receive::<BuildReply>(&mut *output) {
                    Ok(Some(message)) => Ok(message),
                    Ok(None) => Err("it ended".to_owned()),
                    Err(error) => Err(error.to_string()),
                };
                let over = message.is_err();
                // The driver may have finished or failed.
                if sender.send((node, message)).is_err() || over {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("listener".to_owned()).spawn(listen).map_err(Error::io("start a thread"))?;
        let interface = hello.interface(address).unwrap_or("no interface of its own").to_owned();
        places.push(NodePlace { name: launcher.name(node), host: hello.host, address, interface });
        driver.clocks.push(clock);
        driver.links.push(Some(link));
    }
    driver.connect(launcher, &places)?;
    let mut outcome = driver.run(lose)?;
    outcome.places = places;
    Ok(outcome)
}

impl Driver<'_> {
    fn send(&mut self, node: usize, message: &BuildRequest) -> Result<()> {
        match &mut self.links[node] {
            Some(link) => send(&mut *link.input, message),
            None => Ok(()),
        }
    }

    /// Receives a message within `patience`; `None` if there is none.
    fn receive(&self, patience: Duration) -> Result<Option<NodeMessage>> {
        let deadline = Instant::now() + patience;
        loop {
            if self.stopper.asked() {
                return Err(Error::Stopped);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.messages.recv_timeout(left.min(POLL_INTERVAL)) {
                Ok(message) => return Ok(Some(message)),
                Err(RecvTimeoutError::Timeout) if !left.is_zero() => {}
                Err(_) => return Ok(None),
            }
        }
    }

    /// How long the next message of a running job may take.
    fn patience(&self, sent: u32) -> Duration {
        if self.job.transport == Transport::Datagrams && sent == self.job.senders {
            return QUIET;
        }
        // At random moments, one of 2^22 gaps is rarely longer than 20 times the mean.
        let gap = self.job.rate.map_or(0.0, |rate| 20.0 / rate);
        TIMEOUT + Duration::from_secs_f64(gap.min(LONGEST_GAP))
    }

    /// Receives one message of every node, and collects the results of `take`.
    fn each<T>(&mut self, mut take: impl FnMut(usize, BuildReply) -> Option<T>) -> Result<Vec<T>> {
        let mut all: Vec<Option<T>> = self.links.iter().map(|_| None).collect();
        let deadline = Instant::now() + TIMEOUT;
        while all.iter().zip(&self.links).any(|(one, link)| one.is_none() && link.is_some()) {
            let left = deadline.saturating_duration_since(Instant::now());
            let Some((node, message)) = self.receive(left)? else {
                let silent = self.links.iter().zip(&all).filter(|(_, one)| one.is_none());
                return Err(no_answer(silent.filter_map(|(link, _)| link.as_ref())));
            };
            let name = || self.links[node].as_ref().map_or_else(String::new, |link| link.name.clone());
            match message {
                Ok(BuildReply::Failed { reason }) => return Err(Error::Node { node: name(), reason }),
                Err(reason) if self.links[node].is_some() && all[node].is_none() => {
                    return Err(Error::Node { node: name(), reason });
                }
                Err(_) => {}
                Ok(message) => all[node] = take(node, message).or(all[node].take()),
            }
        }
        Ok(all.into_iter().flatten().collect())
    }

    fn connect(&mut self, launcher: &dyn Launcher, places: &[NodePlace]) -> Result<()> {
        let senders = self.job.senders as usize;
        // The ticket is sent over the launchers' lines, which are pipes of this host, ssh or srun, so it stays secret.
        let ticket = channel::nonce()?;
        for (node, place) in places.iter().enumerate() {
            let role = if node < senders {
                NodeRole::Sender(node as u32)
            } else {
                NodeRole::Receiver((node - senders) as u32)
            };
            let (address, cpu) = (place.address, launcher.cpu(node));
            let order = BuildOrder { role, job: self.job.clone(), address, cpu, ticket: ticket.clone() };
            self.send(node, &BuildRequest::Be(order))?;
        }
        let addresses: Vec<SocketAddr> = self.each(|_, message| match message {
            BuildReply::Ready { address } => Some(address),
            _ => None,
        })?;
        for node in 0..self.links.len() {
            let peers = if node < senders { &addresses[senders..] } else { &addresses[..senders] };
            self.send(node, &BuildRequest::Peers { peers: peers.to_vec() })?;
        }
        self.each(|_, message| matches!(message, BuildReply::Connected).then_some(()))?;
        Ok(())
    }

    fn run(mut self, lose: Option<(u32, u32)>) -> Result<BuildOutcome> {
        let job = self.job;
        let mut ledger = EventLedger::new(job.events, job.receivers);
        let mut outcome = BuildOutcome { by_receiver: vec![0; job.receivers as usize], ..BuildOutcome::default() };
        let at = kernels::clock::now() + START_DELAY;
        for node in 0..self.links.len() {
            let own = at as f64 - self.clocks[node].ahead;
            self.send(node, &BuildRequest::Start { at: own as u64 })?;
        }
        let watch = CpuWatch::start();
        let began = Instant::now() + Duration::from_nanos(START_DELAY);
        let mut loss: Option<Loss> = None;
        let (mut last, mut sent, mut gap) = (began, 0, Duration::ZERO);
        while ledger.left() > 0 {
            let Some((node, message)) = self.receive(self.patience(sent))? else {
                // Dropped datagrams never arrive.
                if job.transport == Transport::Datagrams && sent == job.senders {
                    break;
                }
                return Err(Error::Gone(format!("{} events were not built in time", ledger.left())));
            };
            match message {
                Ok(BuildReply::Built { events, ended }) => {
                    let now = Instant::now();
                    outcome.count(node.checked_sub(job.senders as usize), &events, ended, &mut ledger);
                    gap = gap.max(now.saturating_duration_since(last));
                    last = now;
                    if let Some(loss) = &mut loss {
                        loss.update(&ledger);
                    }
                    self.lose(lose, job.events - ledger.left(), &mut loss)?;
                }
                Ok(BuildReply::Sent) => sent += 1,
                Ok(BuildReply::Failed { reason }) => return Err(self.failed(node, reason)),
                Ok(_) => {}
                Err(reason) => self.lost(node, reason, lose, &mut ledger, &mut loss)?,
            }
        }
        outcome.cpu = watch.stop(0.0);
        outcome.hole = loss.map(|loss| loss.hole(gap));
        self.finish(outcome, ledger)
    }

    fn failed(&self, node: usize, reason: String) -> Error {
        Error::Node { node: self.links[node].as_ref().map_or_else(String::new, |link| link.name.clone()), reason }
    }

    /// Makes a receiver fail when it is time.
    fn lose(&mut self, lose: Option<(u32, u32)>, built: u32, loss: &mut Option<Loss>) -> Result<()> {
        let Some((receiver, _)) = lose.filter(|(_, after)| loss.is_none() && built >= *after) else {
            return Ok(());
        };
        *loss = Some(Loss { killed: Instant::now(), known: None, events: Vec::new(), repaired: None });
        self.send((self.job.senders + receiver) as usize, &BuildRequest::Die)
    }

    /// A node has ended, or sent an invalid message. Unbuilt events of a receiver that was planned to fail go to the
    /// others; without another node the job's rate cannot be measured.
    fn lost(
        &mut self,
        node: usize,
        reason: String,
        lose: Option<(u32, u32)>,
        ledger: &mut EventLedger,
        loss: &mut Option<Loss>,
    ) -> Result<()> {
        let senders = self.job.senders as usize;
        if lose.is_none_or(|(receiver, _)| senders + receiver as usize != node) {
            return Err(self.failed(node, reason));
        }
        self.links[node] = None;
        let alive: Vec<u32> = (senders..self.links.len())
            .filter(|at| self.links[*at].is_some())
            .map(|at| (at - senders) as u32)
            .collect();
        if alive.is_empty() {
            return Err(Error::Gone("no receiver is left".to_owned()));
        }
        let shares = ledger.reassign((node - senders) as u32, &alive);
        let loss = loss.get_or_insert_with(|| Loss {
            killed: Instant::now(),
            known: None,
            events: Vec::new(),
            repaired: None,
        });
        loss.known = Some(Instant::now());
        for (receiver, events) in shares {
            loss.events.extend(&events);
            // Chunks keep the lines below their limit.
            for some in events.chunks(10_000) {
                self.send(senders + receiver as usize, &BuildRequest::Take { events: some.to_vec() })?;
            }
        }
        Ok(())
    }

    fn finish(mut self, mut outcome: BuildOutcome, mut ledger: EventLedger) -> Result<BuildOutcome> {
        let senders = self.job.senders as usize;
        for node in 0..self.links.len() {
            self.send(node, &BuildRequest::Stop)?;
        }
        let clocks = self.clocks.clone();
        let counted = self.each(|node, message| match message {
            BuildReply::Done(counters) => Some((node, counters)),
            // Built in time, and reported late by a receiver that had no CPU.
            BuildReply::Built { events, ended } => {
                outcome.count(node.checked_sub(senders), &events, ended, &mut ledger);
                None
            }
            _ => None,
        })?;
        (outcome.built, outcome.missing) = (self.job.events - ledger.left(), ledger.left());
        outcome.refused = ledger.refused;
        let starts = counted.iter().map(|(node, counters)| counters.began as f64 + clocks[*node].ahead);
        let (first, last) = starts.fold((f64::MAX, f64::MIN), |(low, high), at| (low.min(at), high.max(at)));
        outcome.skew = (last - first).max(0.0) * 1e-9;
        outcome.skew_within = clocks.iter().map(|clock| clock.within).fold(0.0, f64::max) * 2e-9;
        for (node, counters) in counted {
            if node < senders {
                outcome.senders.push(counters);
            } else {
                outcome.receivers.push(counters);
            }
        }
        outcome.check_payload()?;
        Ok(outcome)
    }
}

/// An error that names the nodes that do not answer, the first of them.
fn no_answer<'a>(silent: impl Iterator<Item = &'a Link>) -> Error {
    const NAMED: usize = 5;
    let names: Vec<&str> = silent.map(|link| link.name.as_str()).collect();
    let more = names.len().checked_sub(NAMED).filter(|more| *more > 0);
    let more = more.map(|more| format!(" and {more} more")).unwrap_or_default();
    Error::Gone(format!(
        "no answer within {} s from {}{more}",
        TIMEOUT.as_secs(),
        names[..names.len().min(NAMED)].join(", ")
    ))
}

/// A lost receiver and the state of its events.
struct Loss {
    killed: Instant,
    known: Option<Instant>,
    events: Vec<u32>,
    repaired: Option<Instant>,
}

impl Loss {
    fn update(&mut self, ledger: &EventLedger) {
        let all = self.known.is_some() && self.repaired.is_none() && self.events.iter().all(|event| ledger.has(*event));
        if all {
            self.repaired = Some(Instant::now());
        }
    }

    fn hole(&self, gap: Duration) -> [f64; 3] {
        let since = |moment: Option<Instant>| moment.map_or(0.0, |moment| (moment - self.killed).as_secs_f64());
        [since(self.known), since(self.repaired), gap.as_secs_f64()]
    }
}
