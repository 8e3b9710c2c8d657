//! The client of [`serve`](crate::serve).

use std::io::Write;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use channel::{Channel, LONGEST, Token};

use crate::data::{DataSockets, greet};
use crate::lab::Lab;
use crate::serve::{FromClient, FromServer, SERVICE, ServeLimits, ServeReport, ServeTest};
use crate::{Error, Result};

/// Time limit of a reply that needs no measuring.
const TIMEOUT: Duration = Duration::from_secs(15);

/// An authenticated client that has its turn.
#[derive(Debug)]
pub struct Client {
    control: Channel,
    address: SocketAddr,
    limits: ServeLimits,
    place: Option<(Arc<Lab>, usize)>,
}

/// The network of a client's sockets: its own, or that of a host of a laboratory.
#[derive(Debug, Clone)]
pub(crate) struct SocketNetwork(Option<(Arc<Lab>, usize)>);

impl SocketNetwork {
    /// Runs `work` in that network.
    pub(crate) fn at<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T> {
        match &self.0 {
            Some((lab, host)) => lab.at(*host, work),
            None => Ok(work()),
        }
    }
}

impl Client {
    /// Connects, and waits for its turn. Each side proves to the other that it knows the token.
    ///
    /// # Errors
    /// When there is no server, or it does not know the token, or it is full.
    pub fn connect(address: SocketAddr, token: &Token) -> Result<Self> {
        Self::connect_after(address, token, &mut |_| {})
    }

    /// The same as [`Client::connect`]; `queued` is told how many clients come first, if any do.
    ///
    /// # Errors
    /// As for [`Client::connect`].
    pub fn connect_after(address: SocketAddr, token: &Token, queued: &mut dyn FnMut(usize)) -> Result<Self> {
        let stream = TcpStream::connect_timeout(&address, TIMEOUT)
            .map_err(|error| Error::Gone(format!("no answer from {address}: {error}; start prony net serve there")))?;
        let mut control = Channel::connect(stream, token, &SERVICE, TIMEOUT)?;
        let limits = match control.receive(TIMEOUT, 65_536)? {
            FromServer::Welcome { limits } => limits,
            FromServer::Refused { reason } => return Err(Error::Refused(reason)),
            _ => return Err(Error::Protocol("it sent no welcome".to_owned())),
        };
        let turn = Duration::from_secs_f64(limits.lease.clamp(1.0, 1e6)) + TIMEOUT;
        loop {
            match control.receive(turn, 4096)? {
                FromServer::Queued { ahead } => queued(ahead),
                FromServer::Granted => break,
                _ => return Err(Error::Protocol("it granted no turn".to_owned())),
            }
        }
        Ok(Self { control, address, limits, place: None })
    }

    /// Connects from a host of a laboratory, where the data sockets are created too.
    ///
    /// # Errors
    /// As for [`Client::connect`].
    pub fn connect_from(lab: &Arc<Lab>, host: usize, address: SocketAddr, token: &Token) -> Result<Self> {
        let client = lab.at(host, || Self::connect(address, token))??;
        Ok(Self { place: Some((Arc::clone(lab), host)), ..client })
    }

    /// The network in which sockets must be created.
    pub(crate) fn place(&self) -> SocketNetwork {
        SocketNetwork(self.place.clone())
    }

    /// Limits of the server.
    #[must_use]
    pub const fn limits(&self) -> &ServeLimits {
        &self.limits
    }

    /// Address of the server.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Requests a test and connects its data sockets.
    pub(crate) fn open(&mut self, test: &ServeTest) -> Result<DataSockets> {
        self.control.send(&FromClient::Test(test.clone()), TIMEOUT)?;
        let (tcp, udp, ticket) = match self.control.receive(TIMEOUT, 4096)? {
            FromServer::Ready { tcp, udp, ticket } => (tcp, udp, ticket),
            FromServer::Refused { reason } => return Err(Error::Refused(reason)),
            _ => return Err(Error::Protocol("it was not ready".to_owned())),
        };
        self.place().at(|| self.sockets(test, tcp, udp, &ticket))?
    }

    fn sockets(&self, test: &ServeTest, tcp: u16, udp: Option<u16>, ticket: &str) -> Result<DataSockets> {
        let tcp = SocketAddr::new(self.address.ip(), tcp);
        let connect = |count: u32, purpose: u8| -> Result<Vec<TcpStream>> {
            (0..count)
                .map(|_| {
                    let mut stream = test.options.connect(tcp, TIMEOUT)?;
                    let mut hello = ticket.as_bytes().to_vec();
                    hello.push(purpose);
                    stream.write_all(&hello).map_err(Error::io("present the ticket"))?;
                    Ok(stream)
                })
                .collect()
        };
        let (up, down, echo) = (connect(test.up, 1)?, connect(test.down, 2)?, connect(test.echo, 3)?);
        let udp = udp.map(|port| self.datagrams(port, ticket)).transpose()?;
        Ok(DataSockets { up, down, echo, udp, tcp })
    }

    fn datagrams(&self, port: u16, ticket: &str) -> Result<UdpSocket> {
        let any: SocketAddr = if self.address.is_ipv4() { ([0; 4], 0).into() } else { ([0_u16; 8], 0).into() };
        let socket = UdpSocket::bind(any).map_err(Error::io("make a socket"))?;
        socket
            .connect(SocketAddr::new(self.address.ip(), port))
            .map_err(Error::io("set the address of the other side"))?;
        greet(&socket, ticket)?;
        Ok(socket)
    }

    /// Ends a test that has no connection whose end would tell the server.
    pub(crate) fn stop(&mut self) -> Result<()> {
        Ok(self.control.send(&FromClient::Stop, TIMEOUT)?)
    }

    /// The server's report of the test that has just ended.
    pub(crate) fn report(&mut self) -> Result<ServeReport> {
        match self.control.receive(TIMEOUT, LONGEST)? {
            FromServer::Report(report) => Ok(*report),
            FromServer::Refused { reason } => Err(Error::Refused(reason)),
            _ => Err(Error::Protocol("it did not report".to_owned())),
        }
    }
}
