//! The network that a test runs over: loopback, the switch laboratory, or a network to another host.

use std::cell::RefCell;
use std::rc::Rc;

use model::Parameters;

use crate::Client;

/// CPUs of both ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cpus {
    /// CPU of the client's data threads; `None` leaves the scheduler free.
    pub client: Option<usize>,
    /// CPU of the server's data threads; `None` leaves the scheduler free.
    pub server: Option<usize>,
}

impl Cpus {
    /// Value of the parameter `placement`. Ends on two hosts are each pinned on their own.
    #[must_use]
    pub fn placement(self) -> &'static str {
        match (self.client, self.server) {
            (Some(a), Some(b)) if a == b => "same_cpu",
            (Some(_), Some(_)) => "cross_cpu",
            _ => "free",
        }
    }

    /// The CPUs of a placement among the allowed ones: `same_cpu`, `cross_cpu` or `free`.
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

/// The server, the network, and the CPUs of both ends.
#[derive(Debug, Clone)]
pub struct Path {
    client: Rc<RefCell<Client>>,
    /// `loopback`, `lab`, or the server's address.
    pub name: String,
    /// CPUs of both ends.
    pub cpus: Cpus,
    /// Further parameters, such as the MTU.
    extra: Parameters,
}

impl Path {
    /// A path over a client's connection.
    #[must_use]
    pub fn new(client: Client, name: impl Into<String>, cpus: Cpus) -> Self {
        Self { client: Rc::new(RefCell::new(client)), name: name.into(), cpus, extra: Parameters::none() }
    }

    /// The same path with other CPUs.
    #[must_use]
    pub fn on(&self, cpus: Cpus) -> Self {
        Self { cpus, ..self.clone() }
    }

    /// The same path with another parameter for all its results.
    #[must_use]
    pub fn with(&self, parameter: &str, value: impl Into<String>) -> Self {
        Self { extra: self.extra.clone().with(parameter, value.into()), ..self.clone() }
    }

    pub(crate) fn client(&self) -> std::cell::RefMut<'_, Client> {
        self.client.borrow_mut()
    }

    /// A set of parameters with the parameters of all results over this path.
    #[must_use]
    pub fn parameters(&self) -> Parameters {
        let parameters = Parameters::none().with("path", self.name.clone()).with("placement", self.cpus.placement());
        self.extra
            .iter()
            .fold(parameters, |parameters, (parameter, value)| parameters.with(parameter, value.to_owned()))
    }
}

/// Pins the calling thread to a CPU, if one is given.
pub(crate) fn pin(cpu: Option<usize>) {
    if let Some(cpu) = cpu {
        // If the CPU does not exist, the scheduler stays free.
        let _ = kernels::affinity::pin(&[cpu]);
    }
}
