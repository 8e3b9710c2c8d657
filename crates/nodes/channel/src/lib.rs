//! One kind of connection for all services of this program. Only holders of the same token can connect. All bytes after
//! the handshake are encrypted, authenticated, in order, and bounded in size and time.
//!
//! The handshake is Noise `NNpsk0` (noiseprotocol.org, revision 34) with a key derived from the token. The server
//! begins with a greeting: its service, its version, and a nonce that is never used twice. Both sides mix the greeting
//! into the handshake. So a message of an earlier handshake opens nothing, and the handshake fails if the two sides saw
//! different services or versions. Both keys are new for every connection: a token that leaks later does not decrypt
//! recorded traffic.
//!
//! The security rests on a token of 128 random bits. A token that a person made up can be guessed by an observer who
//! recorded a handshake. Every holder of a token can be a server to every other holder.
#![forbid(unsafe_code)]

mod acceptor;
mod connection;
mod error;
pub mod frame;
mod handshake;
mod service;
mod stream;
mod token;

pub use acceptor::{AcceptHandler, Acceptor, AcceptorLimits, PendingChannel};
pub use connection::Channel;
pub use error::{Error, Result};
pub use frame::LONGEST;
pub use service::Service;
pub use token::{Token, equal_in_constant_time, nonce};
