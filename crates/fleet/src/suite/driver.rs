//! The driver of a fleet: nobody who was asked for is left out of the answer.

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

/// A node that says nothing for so long is lost: longer than the patience with any one launch.
const SILENCE: Duration = Duration::from_secs(300);
/// Time to give what there is, once asked to stop.
const FAREWELL: Duration = Duration::from_secs(30);

/// What became of a node.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeState {
    /// It measured.
    Measured(NodeEnd),
    /// It began and was lost on the way, because.
    Lost(String),
    /// It never came, because.
    Missing(String),
}

/// A node and what it gave.
#[derive(Debug, Clone)]
pub struct Measured {
    /// Its name.
    pub node: String,
    /// What became of it.
    pub state: NodeState,
    /// Its run as far as it came; `None` when nothing came.
    pub run: Option<Run>,
}

/// Something to tell the person who waits.
#[derive(Debug)]
pub enum Heard<'a> {
    /// A node is there.
    Here(&'a Hello),
    /// A node does something.
    Doing {
        /// Its name.
        node: &'a str,
        /// Figures that have ended.
        done: usize,
        /// All its figures.
        of: usize,
        /// In words.
        what: &'a str,
    },
    /// A node gave its document, whole or so far: keep it.
    Saved {
        /// Its name.
        node: &'a str,
        /// The document.
        run: &'a Run,
    },
    /// A node has ended, one way or another.
    Over {
        /// Its name.
        node: &'a str,
        /// How.
        state: &'a NodeState,
    },
}

/// Measures on nodes 0 to `count`, so many at once, and tells what it hears. The answer has every node, in their order.
/// `order` says what a node is to do, by its name.
///
/// # Errors
/// Never because of a node; when threads cannot be started.
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
            let state = NodeState::Missing("the fleet was stopped before its turn came".to_owned());
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

/// The nodes of a launcher from one on.
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

/// A node that works.
struct Working {
    link: Link,
    heard: Instant,
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
    let (tell, heard) = channel();
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
                match begin(node, &mut link, order(&launcher.name(node)), &tell) {
                    Ok(()) => working[node] = Some(Working { link, heard: Instant::now(), run: None }),
                    Err(error) => states[node] = Some((NodeState::Lost(error.to_string()), None)),
                }
            }
        }
        Err(Error::Stopped) => {}
        Err(error) => return Err(error),
    }
    drop(tell);
    listen(launcher, &mut working, &mut states, &heard, stopper, listener);
    let answer = states.into_iter().enumerate().map(|(node, state)| {
        let unheard = || (NodeState::Missing("the fleet was stopped before it was there".to_owned()), None);
        let (state, run) = state.unwrap_or_else(unheard);
        let measured = Measured { node: launcher.name(node), state, run };
        listener(Heard::Over { node: &measured.node, state: &measured.state });
        measured
    });
    Ok(answer.collect())
}

type Said = (usize, Result<Option<SuiteReply>>);

fn begin(node: usize, link: &mut Link, order: SuiteOrder, tell: &Sender<Said>) -> Result<()> {
    send(&mut *link.input, &SuiteRequest::Measure(order))?;
    let mut output = std::mem::replace(&mut link.output, Box::new(std::io::empty()));
    let tell = tell.clone();
    let listen = move || {
        loop {
            let said = receive::<SuiteReply>(&mut *output, LONGEST);
            let over = !matches!(said, Ok(Some(_)));
            if tell.send((node, said)).is_err() || over {
                return;
            }
        }
    };
    std::thread::Builder::new().name("listener".to_owned()).spawn(listen).map_err(Error::io("start a thread"))?;
    Ok(())
}

/// Hears until every node is over.
fn listen(
    launcher: &dyn Launcher,
    working: &mut [Option<Working>],
    states: &mut [Option<(NodeState, Option<Run>)>],
    heard: &Receiver<Said>,
    stopper: &Stopper,
    listener: &mut dyn FnMut(Heard<'_>),
) {
    let mut leaving: Option<Instant> = None;
    while working.iter().any(Option::is_some) {
        if stopper.asked() && leaving.is_none() {
            leaving = Some(Instant::now() + FAREWELL);
            for one in working.iter_mut().flatten() {
                // A node that is gone is found out by its silence.
                let _ = send(&mut *one.link.input, &SuiteRequest::Stop);
            }
        }
        let said = match heard.recv_timeout(Duration::from_millis(100)) {
            Ok(said) => Some(said),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        if let Some((node, said)) = said
            && let Some(mut one) = working[node].take()
        {
            one.heard = Instant::now();
            let name = launcher.name(node);
            let lost =
                |one: Working, error: &Error| (NodeState::Lost(launcher.why_missing(node, &one.link, error)), one.run);
            states[node] = match said {
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
                Ok(None) => Some(lost(one, &Error::Gone("it ended in the middle of measuring".to_owned()))),
                Err(error) => Some(lost(one, &error)),
            };
        }
        let given_up = leaving.is_some_and(|until| Instant::now() > until);
        for (node, slot) in working.iter_mut().enumerate() {
            if let Some(one) = slot.take_if(|one| given_up || one.heard.elapsed() > SILENCE) {
                let error = Error::Gone(format!("it said nothing for {} s", one.heard.elapsed().as_secs()));
                states[node] = Some((NodeState::Lost(launcher.why_missing(node, &one.link, &error)), one.run));
            }
        }
    }
}
