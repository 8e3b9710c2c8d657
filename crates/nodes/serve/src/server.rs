//! Listens, and gives connections to a fixed number of threads.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use channel::Token;
use rustls::ServerConfig;
use socket2::{Domain, Socket, Type};
use store::Store;

use crate::http::{self, Response};
use crate::intake::Intake;
use crate::library::{Library, Opener};
use crate::site::{Door, Site};
use crate::wire::Wire;
use crate::{Certificate, Error, Views, ahead, tls};

/// Threads that answer. Most of them wait: for a client, or for the disk.
const THREADS: usize = 48;
/// Connections that wait for a thread.
const WAITING: usize = 256;
/// Connections that wait in the kernel.
const BACKLOG: i32 = 1024;
/// Time for the head of a request, the handshake of TLS included.
const HEAD: Duration = Duration::from_secs(10);
/// Time for the body of a pushed run, and for an answer.
const BODY: Duration = Duration::from_secs(60);
/// Time for what a refused client still sends.
const REST: Duration = Duration::from_secs(2);
/// Bytes that are read of it: else the client would see a broken connection and no answer.
const MOST_REST: u64 = 8 << 20;

/// What a site needs.
pub struct ServerSettings {
    /// Where it listens; port 0 is a free one.
    pub address: SocketAddr,
    /// The secret of those who push, and of readers who come from other hosts without TLS.
    pub token: Option<Token>,
    /// Files for TLS.
    pub certificate: Option<Certificate>,
    /// Opens the store for reading.
    pub open: Opener,
    /// The store that pushed runs are written to, if they are accepted.
    pub accept: Option<Box<dyn Store>>,
    /// Draws pages that need more than this crate knows.
    pub views: Box<dyn Views>,
}

/// A running site. It stops when it is dropped, after the requests that it has begun.
pub struct Server {
    address: SocketAddr,
    encrypted: bool,
    stop: Arc<AtomicBool>,
    /// Stops the thread that makes pages ahead of their readers.
    ahead: Option<SyncSender<()>>,
    threads: Vec<JoinHandle<()>>,
}

impl Server {
    /// Listens.
    ///
    /// # Errors
    /// When the address is taken, reachable for others without TLS or a token, or the certificate cannot be used.
    pub fn start(settings: ServerSettings) -> Result<Self, Error> {
        let ServerSettings { address, token, certificate, open, accept, views } = settings;
        let is_local = address.ip().is_loopback();
        if !is_local && certificate.is_none() && token.is_none() {
            return Err(Error::Open(address.to_string()));
        }
        if accept.is_some() && token.is_none() {
            return Err(Error::NoToken);
        }
        let tls = certificate.as_ref().map(tls::server).transpose()?;
        let listener = listen(address)
            .map_err(|error| Error::Listen { address: address.to_string(), reason: error.to_string() })?;
        let address = listener.local_addr().unwrap_or(address);
        let door = Door { token, readers_too: !is_local && tls.is_none(), local: is_local };
        let site = Arc::new(Site::new(door, Library::new(open), accept.map(Intake::start), views));
        let stop = Arc::new(AtomicBool::new(false));
        let (queue, waiting) = sync_channel(WAITING);
        let waiting = Arc::new(Mutex::new(waiting));
        let encrypted = tls.is_some();
        let mut threads: Vec<JoinHandle<()>> = (0..THREADS)
            .map(|_| {
                let (site, waiting, tls) = (Arc::clone(&site), Arc::clone(&waiting), tls.clone());
                std::thread::spawn(move || serve(&site, &waiting, tls.as_ref()))
            })
            .collect();
        let asked = Arc::clone(&stop);
        threads.push(std::thread::spawn(move || accept_all(&listener, &queue, &asked)));
        let (ahead, ended) = sync_channel(0);
        threads.push(std::thread::spawn(move || ahead::run(&site, &ended)));
        Ok(Self { address, encrypted, stop, ahead: Some(ahead), threads })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of its first page.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}://{}/", if self.encrypted { "https" } else { "http" }, self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        drop(self.ahead.take());
        // Wakes the thread that accepts.
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

fn accept_all(listener: &TcpListener, queue: &SyncSender<TcpStream>, stop: &AtomicBool) {
    while !stop.load(Ordering::Acquire) {
        match listener.accept() {
            Ok((stream, _)) if !stop.load(Ordering::Acquire) => {
                // Where all threads are busy and the queue is full, further clients wait in the kernel.
                if queue.send(stream).is_err() {
                    return;
                }
            }
            Ok(_) => return,
            // Without a file to open for it, a connection waits.
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

fn serve(site: &Site, waiting: &Mutex<Receiver<TcpStream>>, tls: Option<&Arc<ServerConfig>>) {
    loop {
        let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(stream) = next else { return };
        let _ = stream.set_nodelay(true);
        if let Some(mut wire) = tls::accepted(stream, tls, HEAD) {
            // A fault in one page is that page's alone.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| answer(site, &mut wire)));
        }
    }
}

/// Answers one request.
fn answer(site: &Site, wire: &mut Wire) {
    let mut request = match http::request(wire) {
        Ok(Some(request)) => request,
        Ok(None) => return,
        Err((status, reason)) => {
            wire.allow(REST);
            let _ = Response::error(status, reason).write(wire, false);
            wire.finish();
            discard(wire, MOST_REST);
            return;
        }
    };
    wire.allow(BODY);
    let response = site.answer(&mut request, wire);
    wire.allow(BODY);
    if response.write(wire, request.method == "HEAD").is_ok() {
        wire.finish();
        wire.allow(REST);
        discard(wire, MOST_REST);
    }
}

/// Reads what a client still sends: closing before it has would take the answer from it.
fn discard(wire: &mut Wire, most: u64) {
    let _ = std::io::copy(&mut std::io::Read::take(wire, most), &mut std::io::sink());
}
