//! What a server of network tests and its clients say to each other over their channel.

use channel::Service;
use serde::{Deserialize, Serialize};

use super::{ServeLimits, ServeReport, ServeTest};

/// Network tests. Version 1 had a handshake of its own.
pub const SERVICE: Service = Service { name: "net", version: 2 };

/// What a server says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "says", rename_all = "snake_case", deny_unknown_fields)]
pub enum FromServer {
    /// First of all.
    Welcome {
        /// What may be asked for.
        limits: ServeLimits,
    },
    /// Others are measured now; wait.
    Queued {
        /// How many.
        ahead: usize,
    },
    /// It is your turn.
    Granted,
    /// Connect now.
    Ready {
        /// TCP port of data connections.
        tcp: u16,
        /// UDP port, where datagrams were asked for.
        udp: Option<u16>,
        /// What every data socket must say first.
        ticket: String,
    },
    /// I will not do that.
    Refused {
        /// Why.
        reason: String,
    },
    /// What I saw.
    Report(Box<ServeReport>),
}

/// What a client says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "says", rename_all = "snake_case", deny_unknown_fields)]
pub enum FromClient {
    /// Measure this with me.
    Test(ServeTest),
    /// The datagrams have been sent.
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
