//! Listening, and one thread for each of a few clients.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use super::lease::Turns;
use super::{Limits, Token, session};
use crate::{Error, Result};

/// How to listen.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Address; only this machine reaches the default.
    pub address: IpAddr,
    /// Port; 0 lets the kernel choose.
    pub port: u16,
    /// Who knows it may come in.
    pub token: Token,
    /// What may be asked for.
    pub limits: Limits,
}

impl Settings {
    /// On this machine alone, with a new token.
    ///
    /// # Errors
    /// When the system has no random bits.
    pub fn local() -> Result<Self> {
        Ok(Self { address: IpAddr::V4(Ipv4Addr::LOCALHOST), port: 0, token: Token::draw()?, limits: Limits::default() })
    }
}

/// What all sessions share.
#[derive(Debug)]
pub(super) struct House {
    pub(super) settings: Settings,
    pub(super) turns: Turns,
    pub(super) stop: AtomicBool,
    guests: AtomicUsize,
}

/// A server, which listens as long as this value is there.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    house: Arc<House>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Begins to listen, in a thread that lives where the calling thread does (its network namespace included).
    ///
    /// # Errors
    /// When the address cannot be listened on.
    pub fn start(settings: Settings) -> Result<Self> {
        let wanted = SocketAddr::new(settings.address, settings.port);
        let listener = TcpListener::bind(wanted).map_err(Error::io(format!("listen on {wanted}")))?;
        let address = listener.local_addr().map_err(Error::io("read the own address"))?;
        let house = Arc::new(House {
            settings,
            turns: Turns::default(),
            stop: AtomicBool::new(false),
            guests: AtomicUsize::new(0),
        });
        let shared = Arc::clone(&house);
        let thread = std::thread::Builder::new()
            .name("server".to_owned())
            .spawn(move || listen(&listener, &shared))
            .map_err(Error::io("start a thread"))?;
        Ok(Self { address, house, thread: Some(thread) })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What lets a client in.
    #[must_use]
    pub fn token(&self) -> &Token {
        &self.house.settings.token
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.house.stop.store(true, Ordering::SeqCst);
        // A connection of our own ends the wait for one. Where it cannot be made, the next one does.
        let woken = TcpStream::connect_timeout(&self.address, Duration::from_secs(1)).is_ok();
        if let (true, Some(thread)) = (woken, self.thread.take()) {
            let _ = thread.join();
        }
    }
}

fn listen(listener: &TcpListener, house: &Arc<House>) {
    while let Ok((stream, _)) = next(listener, house) {
        // Who comes when the house is full is turned away before a byte is read.
        if house.guests.fetch_add(1, Ordering::SeqCst) >= house.settings.limits.connections {
            house.guests.fetch_sub(1, Ordering::SeqCst);
            continue;
        }
        let shared = Arc::clone(house);
        let started = std::thread::Builder::new().name("session".to_owned()).spawn(move || {
            // What goes wrong with one client is told to that client, and is nobody else's business.
            let _ = session::serve(stream, &shared);
            shared.guests.fetch_sub(1, Ordering::SeqCst);
        });
        if started.is_err() {
            house.guests.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

fn next(listener: &TcpListener, house: &House) -> std::io::Result<(TcpStream, SocketAddr)> {
    loop {
        let came = listener.accept();
        if house.stop.load(Ordering::SeqCst) {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        match came {
            Ok(came) => return Ok(came),
            // Too many open files, or a client that left while it waited: others may come.
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}
