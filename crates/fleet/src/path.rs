//! What a test goes over: loopback, the switch laboratory, or a network to another host.

use std::cell::RefCell;
use std::rc::Rc;

use model::Point;

use crate::Client;

/// Where both ends run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cpus {
    /// CPU of the client's data threads.
    pub client: Option<usize>,
    /// CPU of the server's.
    pub server: Option<usize>,
}

impl Cpus {
    /// As an axis names it. Ends on two hosts are each pinned there.
    #[must_use]
    pub fn placement(self) -> &'static str {
        match (self.client, self.server) {
            (Some(a), Some(b)) if a == b => "same_cpu",
            (Some(_), Some(_)) => "cross_cpu",
            _ => "free",
        }
    }

    /// The CPUs of a placement among those that may be used: `same_cpu`, `cross_cpu` or `free`.
    #[must_use]
    pub fn of(placement: &str, allowed: &[usize]) -> Option<Self> {
        let last = allowed.last().copied();
        let other = allowed.iter().rev().nth(1).copied();
        match placement {
            "free" => Some(Self::default()),
            "same_cpu" => last.map(|cpu| Self { client: Some(cpu), server: Some(cpu) }),
            "cross_cpu" => other.map(|cpu| Self { client: last, server: Some(cpu) }),
            _ => None,
        }
    }
}

/// A server that gave us its turn, what lies between, and where both ends run.
#[derive(Debug, Clone)]
pub struct Path {
    client: Rc<RefCell<Client>>,
    /// `loopback`, `lab`, or the server's address.
    pub name: String,
    /// Where both ends run.
    pub cpus: Cpus,
    /// What else sets it apart, such as its MTU.
    extra: Point,
}

impl Path {
    /// Over a client.
    #[must_use]
    pub fn new(client: Client, name: impl Into<String>, cpus: Cpus) -> Self {
        Self { client: Rc::new(RefCell::new(client)), name: name.into(), cpus, extra: Point::origin() }
    }

    /// The same with other CPUs.
    #[must_use]
    pub fn on(&self, cpus: Cpus) -> Self {
        Self { cpus, ..self.clone() }
    }

    /// The same with an axis that every figure over it has.
    #[must_use]
    pub fn with(&self, axis: &str, value: impl Into<String>) -> Self {
        Self { extra: self.extra.clone().with(axis, value.into()), ..self.clone() }
    }

    pub(crate) fn client(&self) -> std::cell::RefMut<'_, Client> {
        self.client.borrow_mut()
    }

    /// A point with what every figure over this path has.
    #[must_use]
    pub fn point(&self) -> Point {
        let point = Point::origin().with("path", self.name.clone()).with("placement", self.cpus.placement());
        self.extra.iter().fold(point, |point, (axis, value)| point.with(axis, value.to_owned()))
    }
}

/// Runs the calling thread on a CPU, where one is named.
pub(crate) fn pin(cpu: Option<usize>) {
    if let Some(cpu) = cpu {
        // A CPU that is not there leaves the scheduler free.
        let _ = sys::affinity::pin(&[cpu]);
    }
}
