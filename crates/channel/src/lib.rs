//! One connection for all services of this program: whoever knows the same token gets in, and everything after the handshake
//! is encrypted, authenticated, in order and bounded in size and time.
//!
//! The handshake is Noise `NNpsk0` (noiseprotocol.org, revision 34) with a key derived from the token. The server speaks
//! first: a greeting with its service, version and a nonce that is never used twice, all of which both sides mix into the
//! handshake. So a message of an earlier handshake opens nothing, and a side that was told another service or version than
//! the other side has cannot finish. Both keys are new with every connection: who learns the token later cannot read what
//! was recorded earlier.
//!
//! A token of 128 random bits is what this rests on. One that a person made up can be guessed by who recorded a handshake.
//! Every holder of a token can be a server to every other holder.
#![forbid(unsafe_code)]

mod acceptor;
mod connection;
mod error;
pub mod frame;
mod handshake;
mod stream;
mod token;

pub use acceptor::{AcceptHandler, Acceptor, AcceptorLimits, PendingChannel};
pub use connection::Channel;
pub use error::{Error, Result};
pub use frame::LONGEST;
pub use handshake::Service;
pub use token::{Token, equal_in_constant_time, nonce};
