//! Measurements between machines: streams, round trips, event building, the switch laboratory, and the agents and
//! launchers that run them on other hosts.
#![forbid(unsafe_code)]

pub mod agent;
pub mod build;
mod client;
mod data;
mod error;
mod hello;
pub mod lab;
mod lab_launcher;
pub mod launcher;
pub mod line;
pub mod loss;
mod path;
mod pattern;
pub mod round_trip;
pub mod series;
pub mod serve;
pub mod stream;
pub mod study;
pub mod suite;
pub mod udp;

pub use client::Client;
pub use data::{CpuUse, CpuWatch, Received, SocketOptions, TcpSnapshot};
pub use error::{Error, Result};
pub use lab_launcher::LabLauncher;
pub use path::{Cpus, Path};
