//! State shared by the server and its sessions.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicBool, AtomicUsize};

use channel::Token;

use super::ServeLimits;
use super::lease::LeaseQueue;
use crate::Result;

/// Settings of a server.
#[derive(Debug, Clone)]
pub struct ListenSettings {
    /// Address; the default is reachable from this machine alone.
    pub address: IpAddr,
    /// Port; 0 lets the kernel choose.
    pub port: u16,
    /// Token that clients must know.
    pub token: Token,
    /// Limits of tests.
    pub limits: ServeLimits,
}

impl ListenSettings {
    /// On this machine alone, with a new token.
    ///
    /// # Errors
    /// When the system has no random bits.
    pub fn local() -> Result<Self> {
        Ok(Self {
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 0,
            token: Token::draw()?,
            limits: ServeLimits::default(),
        })
    }
}

/// State shared by all sessions.
#[derive(Debug)]
pub(super) struct ServerShared {
    pub(super) settings: ListenSettings,
    pub(super) leases: LeaseQueue,
    pub(super) stop: AtomicBool,
    pub(super) clients: AtomicUsize,
}
