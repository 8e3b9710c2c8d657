//! Measurements between machines: streams, round trips, datagrams, and events that are built of what many nodes send.
#![forbid(unsafe_code)]

pub mod build;
mod client;
mod data;
mod lab_launcher;
pub mod limit;
pub mod loss;
mod path;
mod pattern;
pub mod round_trip;
pub mod series;
pub mod serve;
pub mod stream;
pub mod study;
pub mod udp;

pub use client::Client;
pub use data::{Api, CpuUse, CpuWatch, EndEvidence, Received, ReceiverWork, SocketOptions, TcpSnapshot};
pub use lab_launcher::LabLauncher;
pub use launcher::{Error, Result};
pub use path::{Cpus, Path};
