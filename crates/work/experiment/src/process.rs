//! How a fresh process reads and sets its own settings.

use std::sync::OnceLock;

use os::namespace::{NamespaceKind, leave};
use os::process::{self, Policy, Speculation};

use crate::setting::Change;

type Done = Result<(), String>;

fn done(done: os::Result<()>) -> Done {
    done.map_err(|error| error.to_string())
}

/// One of two words.
fn word(on: os::Result<bool>, [yes, no]: [&str; 2]) -> Result<String, String> {
    on.map(|on| if on { yes } else { no }.to_owned()).map_err(|error| error.to_string())
}

const POLICIES: [(&str, Policy); 3] = [("other", Policy::Other), ("batch", Policy::Batch), ("fifo", Policy::Fifo)];

pub(crate) const POLICY: Change = Change::Process {
    read: || {
        let found = process::policy().map_err(|error| error.to_string())?;
        let known = POLICIES.iter().find(|(_, policy)| Some(*policy) == found);
        known.map(|(word, _)| (*word).to_owned()).ok_or_else(|| "it has a policy that is not known here".to_owned())
    },
    set: |value| {
        let known = POLICIES.iter().find(|(word, _)| *word == value).ok_or("it is no policy that is known here")?;
        done(process::set_policy(known.1))
    },
};

pub(crate) const NICE: Change = Change::Process {
    read: || process::nice().map(|nice| nice.to_string()).map_err(|error| error.to_string()),
    set: |value| done(process::set_nice(value.parse().map_err(|_| "it is no nice value")?)),
};

pub(crate) const STORE_BYPASS: Change = Change::Process {
    read: || word(process::speculates(Speculation::StoreBypass), ["off", "on"]),
    set: |value| forgo(Speculation::StoreBypass, value == "on"),
};

pub(crate) const INDIRECT_BRANCH: Change = Change::Process {
    read: || word(process::speculates(Speculation::IndirectBranch), ["off", "on"]),
    set: |value| forgo(Speculation::IndirectBranch, value == "on"),
};

/// Forgoes a kind of speculation, or not; what is so already is left alone, since some states are final.
fn forgo(kind: Speculation, forgone: bool) -> Done {
    match process::speculates(kind) {
        Ok(now) if now != forgone => Ok(()),
        _ => done(process::set_speculates(kind, !forgone)),
    }
}

pub(crate) const ADDRESSES: Change = Change::Process {
    read: || word(process::randomises_addresses(), ["on", "off"]),
    set: |value| done(process::randomise_addresses(value == "on")),
};

pub(crate) const STACK: Change = Change::Process {
    read: || Ok(process::stack_limit().map_or_else(|| "unlimited".to_owned(), |bytes| bytes.to_string())),
    set: |value| done(process::set_stack_limit(value.parse().ok())),
};

/// Rules of a filter besides those that every process here has; the value as found is no number.
pub(crate) const FILTER: Change = Change::Process {
    read: || Ok("none".to_owned()),
    set: |value| value.parse().map_or(Ok(()), |rules| done(process::filter_calls(rules))),
};

pub(crate) const HUGE_PAGES: Change = Change::Process {
    read: || word(process::huge_pages(), ["allowed", "forbidden"]),
    set: |value| done(process::allow_huge_pages(value == "allowed")),
};

pub(crate) const MEMORY: Change = Change::Process {
    read: || match nodes().len() {
        0 | 1 => Err("there is one memory node".to_owned()),
        _ => Ok("local".to_owned()),
    },
    set: |value| done(process::interleave_memory(&if value == "interleave" { nodes() } else { Vec::new() })),
};

fn nodes() -> Vec<usize> {
    let text = kernels::text::read("/sys/devices/system/node/has_memory").unwrap_or_default();
    kernels::text::list(&text).unwrap_or_default()
}

/// A sysctl of TCP: each process gets a network of its own with this value, so that nothing outside changes. With the
/// present value it gets one too.
macro_rules! of_network {
    ($path:literal) => {
        Change::Process {
            read: || {
                let text = kernels::text::read($path).map_err(|error| error.to_string())?;
                Ok(text.split_whitespace().collect::<Vec<_>>().join(" "))
            },
            set: |value| {
                own_network()?;
                std::fs::write($path, value).map_err(|error| error.to_string())
            },
        }
    };
}

pub(crate) const CONGESTION: Change = of_network!("/proc/sys/net/ipv4/tcp_congestion_control");
pub(crate) const SEND_BUFFER: Change = of_network!("/proc/sys/net/ipv4/tcp_wmem");
pub(crate) const RECEIVE_BUFFER: Change = of_network!("/proc/sys/net/ipv4/tcp_rmem");

/// Moves this process into a network with a loopback, unless an earlier setting did.
fn own_network() -> Done {
    static MADE: OnceLock<Done> = OnceLock::new();
    let make = || done(leave(&[NamespaceKind::Network]).and_then(|()| os::socket::raise_loopback()));
    MADE.get_or_init(make).clone()
}

const LATENCY: &str = "/dev/cpu_dma_latency";

/// A request about idle states holds as long as its file is open (`Documentation/power/pm_qos_interface.rst`), so as
/// long as the process measures.
pub(crate) const IDLE_LATENCY: Change = Change::Process {
    read: || match std::path::Path::new(LATENCY).exists() {
        true => Ok("any".to_owned()),
        false => Err("this system has no control for it".to_owned()),
    },
    set: |value| {
        let Ok(micros) = value.parse::<u32>() else { return Ok(()) };
        let file = std::fs::OpenOptions::new().write(true).open(LATENCY);
        let mut file = file.map_err(|error| error.to_string())?;
        std::io::Write::write_all(&mut file, &micros.to_ne_bytes()).map_err(|error| error.to_string())?;
        done(process::keep_open(file))
    },
};
