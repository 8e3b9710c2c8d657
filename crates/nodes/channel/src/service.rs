//! Protocols that run over a channel.

use std::fmt;

/// A protocol that runs over a channel. Both sides must have the same service and version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Service {
    /// A word in lower-case letters.
    pub name: &'static str,
    /// Increases when the service's messages change.
    pub version: u32,
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}
