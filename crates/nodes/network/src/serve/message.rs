//! Messages between a server of network tests and its clients over their channel.

use channel::Service;
use serde::{Deserialize, Serialize};

use super::{ServeLimits, ServeReport, ServeTest};

/// Network tests. Version 1 had its own handshake; in version 2 the payload of streams had no meaning; version 3 knew
/// no work of receivers.
pub const SERVICE: Service = Service { name: "net", version: 4 };

/// A message of the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "says", rename_all = "snake_case", deny_unknown_fields)]
pub enum FromServer {
    /// The first message.
    Welcome {
        /// Limits of tests.
        limits: ServeLimits,
    },
    /// Other clients come first; wait.
    Queued {
        /// Number of clients ahead.
        ahead: usize,
    },
    /// The client has the lease.
    Granted,
    /// The server waits for data connections.
    Ready {
        /// TCP port of data connections.
        tcp: u16,
        /// UDP port, where datagrams were asked for.
        udp: Option<u16>,
        /// Ticket that every data socket must present first.
        ticket: String,
    },
    /// The request is refused.
    Refused {
        /// The cause.
        reason: String,
    },
    /// Result of a test.
    Report(Box<ServeReport>),
}

/// A message of a client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "says", rename_all = "snake_case", deny_unknown_fields)]
pub enum FromClient {
    /// Requests a test.
    Test(ServeTest),
    /// All datagrams are sent.
    Stop,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_bytes_are_a_message_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = serde_json::from_slice::<FromClient>(&bytes);
            let _ = serde_json::from_slice::<FromServer>(&bytes);
        }
    }
}
