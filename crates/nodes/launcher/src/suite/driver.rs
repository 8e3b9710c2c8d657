//! The driver of a fleet. Its result has every requested node, measured or not.

use std::net::IpAddr;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use measure::Stopper;
use model::Run;

use super::DUTY;
use super::collect::{EndState, NodeCollector, NodeReply, Working, end};
use super::heard::{Heard, NodeState};
use super::life::{LastHeard, WatchedInput};
use super::message::{LONGEST, SuiteOrder, SuiteReply, SuiteRequest};
use crate::agent::{Greeted, Hello, greet};
use crate::line::{receive, send};
use crate::{Error, Result};
use crate::{Launcher, Link};

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

fn together(
    launcher: &mut dyn Launcher,
    count: usize,
    order: &dyn Fn(&str) -> SuiteOrder,
    stopper: &Stopper,
    listener: &mut dyn FnMut(Heard<'_>),
) -> Result<Vec<Measured>> {
    let mut states: Vec<Option<EndState>> = (0..count).map(|_| None).collect();
    let mut working: Vec<Option<Working>> = (0..count).map(|_| None).collect();
    let (sender, replies) = channel();
    match greet(launcher, count, DUTY.name, stopper) {
        Ok(greeting) => {
            for missing in greeting.missing {
                if let Some(node) =
                    (0..count).find(|node| launcher.name(*node) == missing.node && states[*node].is_none())
                {
                    end(&missing.node, &mut states[node], (NodeState::Missing(missing.reason), None), listener);
                }
            }
            for Greeted { node, mut link, hello, .. } in greeting.greeted {
                listener(Heard::Here(&hello));
                match begin(node, &mut link, order(&launcher.name(node)), &sender) {
                    Ok(heard) => working[node] = Some(Working::new(link, heard)),
                    Err(error) => {
                        let lost = (NodeState::Lost(error.to_string()), None);
                        end(&launcher.name(node), &mut states[node], lost, listener);
                    }
                }
            }
        }
        Err(Error::Stopped) => {}
        Err(error) => return Err(error),
    }
    drop(sender);
    NodeCollector { launcher, working: &mut working, states: &mut states, listener, turn: 0 }
        .collect(&replies, stopper);
    let answer = states.into_iter().enumerate().map(|(node, mut state)| {
        let name = launcher.name(node);
        if state.is_none() {
            let reason = "the fleet was stopped before the node had started".to_owned();
            end(&name, &mut state, (NodeState::Missing(reason), None), listener);
        }
        state.map(|(state, run)| Measured { node: name, state, run })
    });
    Ok(answer.flatten().collect())
}

fn begin(node: usize, link: &mut Link, order: SuiteOrder, sender: &Sender<NodeReply>) -> Result<LastHeard> {
    send(&mut *link.input, &SuiteRequest::Measure(order))?;
    let output = std::mem::replace(&mut link.output, Box::new(std::io::empty()));
    let heard = LastHeard::default();
    let mut output = WatchedInput { input: output, heard: heard.clone() };
    let sender = sender.clone();
    let listen = move || {
        loop {
            let reply = receive::<SuiteReply>(&mut output, LONGEST);
            let over = !matches!(reply, Ok(Some(_)));
            if sender.send((node, reply)).is_err() || over {
                return;
            }
        }
    };
    std::thread::Builder::new().name("listener".to_owned()).spawn(listen).map_err(Error::io("start a thread"))?;
    Ok(heard)
}
