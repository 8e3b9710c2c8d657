//! A site: the runs of a store as pages for a browser, with a JSON twin of each, and the service that takes runs which
//! other nodes push. The pages are the views of the crate `report`, so that no number is computed twice.
//!
//! HTTP/1.1, one request a connection: `httparse` reads heads and `rustls` encrypts. Every wait has a deadline and
//! everything that is read has a bound.
#![forbid(unsafe_code)]

mod address;
mod ahead;
mod error;
mod frame;
mod http;
mod intake;
mod library;
mod pages;
mod push;
mod server;
mod site;
mod tls;
mod wire;

pub use error::Error;
pub use intake::{Receipt, Taken};
pub use library::Held;
pub use pages::Views;
pub use push::{PushError, Pusher};
pub use server::{Server, ServerSettings};
pub use tls::Certificate;
