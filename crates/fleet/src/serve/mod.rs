//! The listening side: lets in who knows the token, one client after the other, and does nothing but measure.
//!
//! What must not be possible is what was possible elsewhere: memory or time taken by who is not let in, lengths believed
//! before they are checked, timing of a comparison that tells the secret, data connections taken over by strangers,
//! datagrams sent to who never asked (CVE-2016-4303, 2023-7250, 2024-26306, 2024-53580, 2025-54349 to 54351).

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
