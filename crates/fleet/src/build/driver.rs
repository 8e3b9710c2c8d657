//! The driver: starts the nodes, introduces them to each other, starts them together, and keeps the ledger.

use std::net::{IpAddr, SocketAddr};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use measure::Stopper;
use stats::Histogram;

use super::DUTY;
use super::ledger::EventLedger;
use super::message::{BuildJob, BuildOrder, BuildReply, BuildRequest, NodeCounters, NodeRole, Transport, hear};
use crate::agent::{ClockOffset, Greeted, Greeting, MissingNode, greet};
use crate::data::{CpuUse, CpuWatch};
use crate::launcher::{Launcher, Link};
use crate::line::send;
use crate::{Error, Result};

/// Time for nodes to come up and to say what they counted.
const PATIENCE: Duration = Duration::from_secs(40);
/// Between the order to start and the start.
const AHEAD: u64 = 300_000_000;
/// Silence after the last datagram was sent, after which no more is expected.
const QUIET: Duration = Duration::from_millis(700);

/// What came of a job.
#[derive(Debug, Clone, Default)]
pub struct BuildOutcome {
    /// Events that were built, each counted once.
    pub built: u32,
    /// Events that were not built: some of their datagrams never came.
    pub missing: u32,
    /// Reports of events that were built already.
    pub refused: u64,
    /// From the start to the last built event, seconds.
    pub seconds: f64,
    /// Time that events took, nanoseconds.
    pub latency: Histogram,
    /// Events of each receiver.
    pub by_receiver: Vec<u32>,
    /// What senders counted, in order.
    pub senders: Vec<NodeCounters>,
    /// What receivers counted, in order; a lost one counted nothing.
    pub receivers: Vec<NodeCounters>,
    /// Between the first and the last node's start, seconds, by their clocks as the driver's questions set them right.
    pub skew: f64,
    /// How far at most that may be from the truth, seconds.
    pub skew_within: f64,
    /// Where the nodes were, senders first.
    pub places: Vec<NodePlace>,
    /// CPU time of this host.
    pub cpu: CpuUse,
    /// After a receiver was lost: seconds until the driver knew, until all its events were built by others, and the
    /// longest time without any built event.
    pub hole: Option<[f64; 3]>,
}

/// Where a node was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodePlace {
    /// What its launcher calls it.
    pub name: String,
    /// Host name.
    pub host: String,
    /// Address that data went to and came from.
    pub address: IpAddr,
    /// Interface that has the address.
    pub interface: String,
}

impl BuildOutcome {
    /// Events a second.
    #[must_use]
    pub fn events_per_second(&self) -> f64 {
        if self.seconds > 0.0 { f64::from(self.built) / self.seconds } else { 0.0 }
    }

    /// Payload bytes that left senders, that came to receivers, and of the pair that lost most: sender, receiver and bytes.
    #[must_use]
    pub fn bytes(&self) -> (u64, u64, Option<(usize, usize, u64)>) {
        let sum = |nodes: &[NodeCounters]| nodes.iter().map(|node| node.bytes).sum();
        let pair = |nodes: &[NodeCounters], node: usize, other: usize| {
            nodes.get(node).and_then(|node| node.pairs.get(other)).copied().unwrap_or(0)
        };
        let all = (0..self.senders.len()).flat_map(|sender| (0..self.receivers.len()).map(move |to| (sender, to)));
        let lost = all.map(|(sender, receiver)| {
            let (left, came) = (pair(&self.senders, sender, receiver), pair(&self.receivers, receiver, sender));
            (sender, receiver, left.saturating_sub(came))
        });
        // A lost receiver has no counters, so that pairs cannot be matched.
        let whole = self.receivers.len() == self.by_receiver.len();
        let worst = lost.filter(|_| whole).max_by_key(|(_, _, lost)| *lost).filter(|(_, _, lost)| *lost > 0);
        (sum(&self.senders), sum(&self.receivers), worst)
    }

    /// Jain's index over the events of receivers: 1 when all built as many.
    #[must_use]
    pub fn fairness(&self) -> f64 {
        let (sum, squares) = self.by_receiver.iter().fold((0.0, 0.0), |(sum, squares), one| {
            let one = f64::from(*one);
            (sum + one, squares + one * one)
        });
        if squares > 0.0 { sum * sum / (squares * self.by_receiver.len() as f64) } else { 0.0 }
    }
}

struct Driver<'a> {
    job: &'a BuildJob,
    links: Vec<Option<Link>>,
    heard: Receiver<(usize, Option<BuildReply>)>,
    clocks: Vec<ClockOffset>,
}

/// Builds a job's events: senders are the nodes from 0, receivers those behind them. With `lose`, that receiver fails
/// after so many built events.
///
/// # Errors
/// When nodes cannot be started or fail, or the job makes no sense.
pub fn build(job: &BuildJob, launcher: &mut dyn Launcher, lose: Option<(u32, u32)>) -> Result<BuildOutcome> {
    job.check()?;
    let nodes = (job.senders + job.receivers) as usize;
    let Greeting { greeted, missing } = greet(launcher, nodes, DUTY.name, &Stopper::default())?;
    if let Some(MissingNode { node, reason }) = missing.into_iter().next() {
        return Err(Error::Node { node, reason });
    }
    let (tell, heard) = mpsc::channel();
    let mut driver = Driver { job, links: Vec::new(), heard, clocks: Vec::new() };
    let mut places = Vec::new();
    for Greeted { node, mut link, hello, clock, address } in greeted {
        let mut output = std::mem::replace(&mut link.output, Box::new(std::io::empty()));
        let tell = tell.clone();
        let listen = move || {
            while let Ok(Some(message)) = hear::<BuildReply>(&mut *output) {
                if tell.send((node, Some(message))).is_err() {
                    return;
                }
            }
            let _ = tell.send((node, None));
        };
        std::thread::Builder::new().name("listener".to_owned()).spawn(listen).map_err(Error::io("start a thread"))?;
        let interface = hello.interface(address).unwrap_or("no interface of its own").to_owned();
        places.push(NodePlace { name: launcher.name(node), host: hello.host, address, interface });
        driver.clocks.push(clock);
        driver.links.push(Some(link));
    }
    driver.introduce(launcher, &places)?;
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

    /// Hears one message of every node and keeps what `take` makes of it.
    fn each<T>(&mut self, mut take: impl FnMut(usize, BuildReply) -> Option<T>) -> Result<Vec<T>> {
        let mut all: Vec<Option<T>> = self.links.iter().map(|_| None).collect();
        let deadline = Instant::now() + PATIENCE;
        while all.iter().zip(&self.links).any(|(one, link)| one.is_none() && link.is_some()) {
            let left = deadline.saturating_duration_since(Instant::now());
            let (node, message) =
                self.heard.recv_timeout(left).map_err(|_| Error::Gone("some nodes say nothing".to_owned()))?;
            let name = || self.links[node].as_ref().map_or_else(String::new, |link| link.name.clone());
            match message {
                Some(BuildReply::Failed { reason }) => return Err(Error::Node { node: name(), reason }),
                None if self.links[node].is_some() && all[node].is_none() => {
                    return Err(Error::Node { node: name(), reason: "it ended".to_owned() });
                }
                None => {}
                Some(message) => all[node] = take(node, message).or(all[node].take()),
            }
        }
        Ok(all.into_iter().flatten().collect())
    }

    fn introduce(&mut self, launcher: &dyn Launcher, places: &[NodePlace]) -> Result<()> {
        let senders = self.job.senders as usize;
        // It goes to nodes by their launcher's line, which is a pipe of this host, ssh or srun: no stranger hears it.
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
        let at = sys::clock::realtime() + AHEAD;
        for node in 0..self.links.len() {
            let own = at as f64 - self.clocks[node].ahead;
            self.send(node, &BuildRequest::Start { at: own as u64 })?;
        }
        let watch = CpuWatch::start();
        let began = Instant::now() + Duration::from_nanos(AHEAD);
        let mut loss: Option<Loss> = None;
        let (mut last, mut sent, mut gap) = (began, 0, Duration::ZERO);
        let pushes = !matches!(job.transport, Transport::Credits { .. });
        while ledger.left() > 0 {
            let wait = if pushes && sent == job.senders { QUIET } else { PATIENCE };
            let (node, message) = match self.heard.recv_timeout(wait) {
                Ok(heard) => heard,
                // Datagrams that were dropped never come.
                Err(RecvTimeoutError::Timeout) if job.transport == Transport::Datagrams && sent == job.senders => break,
                Err(_) => return Err(Error::Gone(format!("{} events were not built in time", ledger.left()))),
            };
            match message {
                Some(BuildReply::Built { events }) => {
                    let receiver = node - job.senders as usize;
                    let now = Instant::now();
                    for (event, nanos) in events {
                        if ledger.commit(event) {
                            outcome.by_receiver[receiver] += 1;
                            outcome.latency.record(nanos);
                        }
                    }
                    gap = gap.max(now.saturating_duration_since(last));
                    last = now;
                    if let Some(loss) = &mut loss {
                        loss.look(&ledger);
                    }
                    self.lose(lose, job.events - ledger.left(), &mut loss)?;
                }
                Some(BuildReply::Sent) => sent += 1,
                Some(BuildReply::Failed { reason }) => return Err(self.failed(node, reason)),
                Some(_) => {}
                None => self.lost(node, &mut ledger, &mut loss)?,
            }
        }
        outcome.seconds = last.saturating_duration_since(began).as_secs_f64();
        outcome.built = job.events - ledger.left();
        outcome.missing = ledger.left();
        outcome.refused = ledger.refused;
        outcome.cpu = watch.stop(0.0);
        outcome.hole = loss.map(|loss| loss.hole(gap));
        self.finish(outcome)
    }

    fn failed(&self, node: usize, reason: String) -> Error {
        Error::Node { node: self.links[node].as_ref().map_or_else(String::new, |link| link.name.clone()), reason }
    }

    /// Lets a receiver fail when it is time to.
    fn lose(&mut self, lose: Option<(u32, u32)>, built: u32, loss: &mut Option<Loss>) -> Result<()> {
        let Some((receiver, after)) = lose.filter(|(_, after)| loss.is_none() && built >= *after) else {
            return Ok(());
        };
        let _ = after;
        *loss = Some(Loss { killed: Instant::now(), known: None, events: Vec::new(), repaired: None });
        self.send((self.job.senders + receiver) as usize, &BuildRequest::Die)
    }

    /// A node has ended: what it had not built goes to the others.
    fn lost(&mut self, node: usize, ledger: &mut EventLedger, loss: &mut Option<Loss>) -> Result<()> {
        let senders = self.job.senders as usize;
        let can = node >= senders && matches!(self.job.transport, Transport::Credits { .. });
        if !can {
            return Err(self.failed(node, "it ended".to_owned()));
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
            // A line holds so many.
            for some in events.chunks(10_000) {
                self.send(senders + receiver as usize, &BuildRequest::Take { events: some.to_vec() })?;
            }
        }
        Ok(())
    }

    fn finish(mut self, mut outcome: BuildOutcome) -> Result<BuildOutcome> {
        for node in 0..self.links.len() {
            self.send(node, &BuildRequest::Stop)?;
        }
        let clocks = self.clocks.clone();
        let counted = self.each(|node, message| match message {
            BuildReply::Done(counters) => Some((node, counters)),
            _ => None,
        })?;
        let starts = counted.iter().map(|(node, counters)| counters.began as f64 + clocks[*node].ahead);
        let (first, last) = starts.fold((f64::MAX, f64::MIN), |(low, high), at| (low.min(at), high.max(at)));
        outcome.skew = (last - first).max(0.0) * 1e-9;
        outcome.skew_within = clocks.iter().map(|clock| clock.within).fold(0.0, f64::max) * 2e-9;
        for (node, counters) in counted {
            if node < self.job.senders as usize {
                outcome.senders.push(counters);
            } else {
                outcome.receivers.push(counters);
            }
        }
        Ok(outcome)
    }
}

/// A receiver that was lost, and what became of its events.
struct Loss {
    killed: Instant,
    known: Option<Instant>,
    events: Vec<u32>,
    repaired: Option<Instant>,
}

impl Loss {
    fn look(&mut self, ledger: &EventLedger) {
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
