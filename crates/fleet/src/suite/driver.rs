//! The driver of a fleet. Its result has every requested node, measured or not.

use std::net::IpAddr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use measure::Stopper;
use model::Run;

use super::DUTY;
use super::message::{LONGEST, NodeEnd, SuiteOrder, SuiteReply, SuiteRequest};
use crate::agent::{Greeted, Hello, greet};
use crate::launcher::{Launcher, Link};
use crate::line::{receive, send};
use crate::{Error, Result};

/// A node that sends nothing for this long is lost; longer than the time limit of any launch.
const SILENCE: Duration = Duration::from_secs(300);
/// Time for a node to send its results after a request to stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);

/// Result of a node.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeState {
    /// It measured.
    Measured(NodeEnd),
    /// It started and was lost; the cause.
    Lost(String),
    /// It never started; the cause.
    Missing(String),
}

/// A node and its run.
#[derive(Debug, Clone)]
pub struct Measured {
    /// Its name.
    pub node: String,
    /// Its result.
    pub state: NodeState,
    /// Its run as far as it got; `None` when no document arrived.
    pub run: Option<Run>,
}

/// An event of the fleet, for progress and saving.
#[derive(Debug)]
pub enum Heard<'a> {
    /// A node has started.
    Here(&'a Hello),
    /// A node reports progress.
    Doing {
        /// Its name.
        node: &'a str,
        /// Completed figures.
        done: usize,
        /// All its figures.
        of: usize,
        /// A description.
        what: &'a str,
    },
    /// A node sent its document, final or intermediate, which is to be saved.
    Saved {
        /// Its name.
        node: &'a str,
        /// The document.
        run: &'a Run,
    },
    /// A node has ended, successfully or not.
    Over {
        /// Its name.
        node: &'a str,
        /// The result.
        state: &'a NodeState,
    },
}

/// Measures on nodes 0 to `count`, `at_once` of them at a time, and reports events. The result has every node, in
/// order. `order` gives the task of a node by its name.
///
/// # Errors
/// When threads cannot be started; a failing node is part of the result.
pub fn gather(
    launcher: &mut dyn Launcher,
    count: usize,
    at_once: usize,
    order: &dyn Fn(&str) -> SuiteOrder,
    stopper: &Stopper,
    listener: &mut dyn FnMut(Heard<'_>),
) -> Result<Vec<Measured>> {
    let mut all = Vec::new();
    let mut first = 0;
    while first < count {
        let some = at_once.max(1).min(count - first);
        if stopper.asked() {
            let state = NodeState::Missing("the fleet was stopped before the node's turn".to_owned());
            let unasked = |node| Measured { node: launcher.name(node), state: state.clone(), run: None };
            all.extend((first..count).map(unasked));
            break;
        }
        let mut window = NodeWindow { launcher, first };
        all.extend(together(&mut window, some, order, stopper, listener)?);
        first += some;
    }
    Ok(all)
}

/// The nodes of a launcher from `first` on.
struct NodeWindow<'a> {
    launcher: &'a mut dyn Launcher,
    first: usize,
}

impl Launcher for NodeWindow<'_> {
    fn start(&mut self, node: usize) -> Result<Link> {
        self.launcher.start(self.first + node)
    }
    fn name(&self, node: usize) -> String {
        self.launcher.name(self.first + node)
    }
    fn address(&self, node: usize, hello: &Hello) -> IpAddr {
        self.launcher.address(self.first + node, hello)
    }
    fn cpu(&self, node: usize) -> Option<usize> {
        self.launcher.cpu(self.first + node)
    }
    fn patience(&self) -> Duration {
        self.launcher.patience()
    }
    fn why_missing(&self, node: usize, link: &Link, error: &Error) -> String {
        self.launcher.why_missing(self.first + node, link, error)
    }
}

/// A working node.
struct Working {
    link: Link,
    last_message: Instant,
    run: Option<Run>,
}

fn together(
    launcher: &mut dyn Launcher,
    count: usize,
    order: &dyn Fn(&str) -> SuiteOrder,
    stopper: &Stopper,
    listener: &mut dyn FnMut(Heard<'_>),
) -> Result<Vec<Measured>> {
    let mut states: Vec<Option<(NodeState, Option<Run>)>> = (0..count).map(|_| None).collect();
    let mut working: Vec<Option<Working>> = (0..count).map(|_| None).collect();
    let (sender, replies) = channel();
    match greet(launcher, count, DUTY.name, stopper) {
        Ok(greeting) => {
            for missing in greeting.missing {
                if let Some(node) =
                    (0..count).find(|node| launcher.name(*node) == missing.node && states[*node].is_none())
                {
                    states[node] = Some((NodeState::Missing(missing.reason), None));
                }
            }
            for Greeted { node, mut link, hello, .. } in greeting.greeted {
                listener(Heard::Here(&hello));
                match begin(node, &mut link, order(&launcher.name(node)), &sender) {
                    Ok(()) => working[node] = Some(Working { link, last_message: Instant::now(), run: None }),
                    Err(error) => states[node] = Some((NodeState::Lost(error.to_string()), None)),
                }
            }
        }
        Err(Error::Stopped) => {}
        Err(error) => return Err(error),
    }
    drop(sender);
    collect(launcher, &mut working, &mut states, &replies, stopper, listener);
    let answer = states.into_iter().enumerate().map(|(node, state)| {
        let not_started = || (NodeState::Missing("the fleet was stopped before the node had started".to_owned()), None);
        let (state, run) = state.unwrap_or_else(not_started);
        let measured = Measured { node: launcher.name(node), state, run };
        listener(Heard::Over { node: &measured.node, state: &measured.state });
        measured
    });
    Ok(answer.collect())
}

type NodeReply = (usize, Result<Option<SuiteReply>>);

fn begin(node: usize, link: &mut Link, order: SuiteOrder, sender: &Sender<NodeReply>) -> Result<()> {
    send(&mut *link.input, &SuiteRequest::Measure(order))?;
    let mut output = std::mem::replace(&mut link.output, Box::new(std::io::empty()));
    let sender = sender.clone();
    let listen = move || {
        loop {
            let reply = receive::<SuiteReply>(&mut *output, LONGEST);
            let over = !matches!(reply, Ok(Some(_)));
            if sender.send((node, reply)).is_err() || over {
                return;
            }
        }
    };
    std::thread::Builder::new().name("listener".to_owned()).spawn(listen).map_err(Error::io("start a thread"))?;
    Ok(())
}

/// Receives messages until every node has ended.
fn collect(
    launcher: &dyn Launcher,
    working: &mut [Option<Working>],
    states: &mut [Option<(NodeState, Option<Run>)>],
    replies: &Receiver<NodeReply>,
    stopper: &Stopper,
    listener: &mut dyn FnMut(Heard<'_>),
) {
    let mut leaving: Option<Instant> = None;
    while working.iter().any(Option::is_some) {
        if stopper.asked() && leaving.is_none() {
            leaving = Some(Instant::now() + STOP_TIMEOUT);
            for one in working.iter_mut().flatten() {
                // A node that has disconnected is detected by its silence.
                let _ = send(&mut *one.link.input, &SuiteRequest::Stop);
            }
        }
        let reply = match replies.recv_timeout(Duration::from_millis(100)) {
            Ok(reply) => Some(reply),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        if let Some((node, reply)) = reply
            && let Some(mut one) = working[node].take()
        {
            one.last_message = Instant::now();
            let name = launcher.name(node);
            let lost =
                |one: Working, error: &Error| (NodeState::Lost(launcher.why_missing(node, &one.link, error)), one.run);
            states[node] = match reply {
                Ok(Some(SuiteReply::Doing { done, of, what })) => {
                    listener(Heard::Doing { node: &name, done, of, what: &what });
                    working[node] = Some(one);
                    None
                }
                Ok(Some(SuiteReply::Saved(run))) => {
                    listener(Heard::Saved { node: &name, run: &run });
                    one.run = Some(*run);
                    working[node] = Some(one);
                    None
                }
                Ok(Some(SuiteReply::Ended(run, ending))) => {
                    listener(Heard::Saved { node: &name, run: &run });
                    Some((NodeState::Measured(ending), Some(*run)))
                }
                Ok(Some(SuiteReply::Failed(reason))) => Some((NodeState::Lost(reason), one.run)),
                Ok(None) => Some(lost(one, &Error::Gone("it ended during the measurement".to_owned()))),
                Err(error) => Some(lost(one, &error)),
            };
        }
        let given_up = leaving.is_some_and(|until| Instant::now() > until);
        for (node, slot) in working.iter_mut().enumerate() {
            if let Some(one) = slot.take_if(|one| given_up || one.last_message.elapsed() > SILENCE) {
                let error = Error::Gone(format!("it sent nothing for {} s", one.last_message.elapsed().as_secs()));
                states[node] = Some((NodeState::Lost(launcher.why_missing(node, &one.link, &error)), one.run));
            }
        }
    }
}
