//! What the server and its sessions share.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicBool, AtomicUsize};

use channel::Token;

use super::ServeLimits;
use super::lease::TurnQueue;
use crate::Result;

/// How to listen.
#[derive(Debug, Clone)]
pub struct ListenSettings {
    /// Address; only this machine reaches the default.
    pub address: IpAddr,
    /// Port; 0 lets the kernel choose.
    pub port: u16,
    /// Who knows it may come in.
    pub token: Token,
    /// What may be asked for.
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

/// What all sessions share.
#[derive(Debug)]
pub(super) struct ServerShared {
    pub(super) settings: ListenSettings,
    pub(super) turns: TurnQueue,
    pub(super) stop: AtomicBool,
    pub(super) guests: AtomicUsize,
}
