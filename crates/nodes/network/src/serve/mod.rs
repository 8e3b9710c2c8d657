//! The server of network tests: accepts clients that know the token, serves one at a time, and does nothing but
//! measure.
//!
//! It must not repeat known faults of other servers: memory or time used for unauthenticated clients, lengths used
//! before a check, comparisons whose timing reveals the secret, hijacked data connections, datagrams to hosts that
//! never asked (CVE-2016-4303, 2023-7250, 2024-26306, 2024-53580, 2025-54349 to 54351).

mod lease;
mod message;
mod server;
mod session;
mod shared;
mod test;

pub use message::{FromClient, FromServer, SERVICE};
pub use server::Server;
pub use shared::ListenSettings;
pub use test::{Datagrams, ServeLimits, ServeReport, ServeTest};
