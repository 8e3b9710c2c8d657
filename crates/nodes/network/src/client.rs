//! The client of [`serve`](crate::serve).

use std::io::Write;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use channel::{Channel, LONGEST, Token};
use lab::Lab;

use crate::data::{DataSockets, greet};
use crate::pattern;
use crate::serve::{FromClient, FromServer, SERVICE, ServeLimits, ServeReport, ServeTest};
use crate::{Error, Result};

/// Time limit of a reply that needs no measuring.
const TIMEOUT: Duration = Duration::from_secs(15);

/// An authenticated client that the server serves now.
#[derive(Debug)]
pub struct Client {
    control: Channel,
    address: SocketAddr,
    limits: ServeLimits,
    place: Option<(Arc<Lab>, usize)>,
    /// The server has not reported the last test yet.
    pending: bool,
    /// Why the connection is unusable: a late reply would count for another test.
    lost: Option<String>,
}

/// Beginning of the text of [`Error::Gone`].
const GONE: &str = "could not reach the other side: ";

/// The network of a client's sockets: its own, or that of a host of a laboratory.
#[derive(Debug, Clone, Default)]
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
    /// Connects, and waits until the server serves this client. Each side proves to the other that it knows the token.
    ///
    /// # Errors
    /// When there is no server, or it does not know the token, or it is full.
    pub fn connect(address: SocketAddr, token: &Token) -> Result<Self> {
        Self::connect_after(address, token, &mut |_| {})
    }

    /// The same as [`Client::connect`]; `queued` gets the number of clients that come first, if any.
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
        let wait = Duration::from_secs_f64(limits.lease.clamp(1.0, 1e6)) + TIMEOUT;
        loop {
            match control.receive(wait, 4096)? {
                FromServer::Queued { ahead } => queued(ahead),
                FromServer::Granted => break,
                _ => return Err(Error::Protocol("it sent something else than a lease".to_owned())),
            }
        }
        Ok(Self { control, address, limits, place: None, pending: false, lost: None })
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

    /// Rate of the links of the laboratory that the client is in, bytes a second.
    pub(crate) fn link(&self) -> Option<f64> {
        self.place.as_ref().map(|(lab, _)| lab.shape().bytes_per_second())
    }

    /// Frames dropped so far by the ports of the laboratory that the client is in.
    pub(crate) fn port_drops(&self) -> u64 {
        let ports = self.place.as_ref().filter(|(lab, _)| !lab.shape().half_duplex);
        let ports = ports.and_then(|(lab, _)| lab.port_drops().ok());
        ports.iter().flatten().map(|port| port.drops).sum()
    }

    /// Whether the server is on this machine.
    pub(crate) fn is_here(&self) -> bool {
        self.place.is_some() || self.address.ip().is_loopback()
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

    fn send(&mut self, message: &FromClient) -> Result<()> {
        if let Some(reason) = &self.lost {
            return Err(Error::Gone(reason.clone()));
        }
        self.control.send(message, TIMEOUT).map_err(|error| self.lose(error.into()))
    }

    fn receive(&mut self, most: usize) -> Result<FromServer> {
        self.control.receive(TIMEOUT, most).map_err(|error| self.lose(error.into()))
    }

    /// Notes an error after which the server's further replies are of no known test.
    fn lose(&mut self, error: Error) -> Error {
        let reason = error.to_string();
        self.lost = Some(reason.strip_prefix(GONE).unwrap_or(&reason).to_owned());
        error
    }

    /// Requests a test and connects its data sockets.
    pub(crate) fn open(&mut self, test: &ServeTest) -> Result<DataSockets> {
        if self.pending {
            // The test before failed on this side. Drops the server's late answer to that test.
            self.stop()?;
            match self.report() {
                Ok(_) | Err(Error::Refused(_)) => {}
                Err(error) => return Err(error),
            }
        }
        self.send(&FromClient::Test(test.clone()))?;
        let (tcp, udp, ticket) = match self.receive(4096)? {
            FromServer::Ready { tcp, udp, ticket } => (tcp, udp, ticket),
            FromServer::Refused { reason } => return Err(Error::Refused(reason)),
            _ => return Err(self.lose(Error::Protocol("it was not ready".to_owned()))),
        };
        self.pending = true;
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

    /// Ends a test without a connection whose end would inform the server.
    pub(crate) fn stop(&mut self) -> Result<()> {
        self.send(&FromClient::Stop)
    }

    /// The server's report of the test that has just ended.
    pub(crate) fn report(&mut self) -> Result<ServeReport> {
        let said = self.receive(LONGEST)?;
        self.pending = false;
        match said {
            FromServer::Report(report) => {
                pattern::check("client", report.wrong_up)?;
                Ok(*report)
            }
            FromServer::Refused { reason } => Err(Error::Refused(reason)),
            _ => Err(self.lose(Error::Protocol("it did not report".to_owned()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::{ListenSettings, Server};

    fn client() -> (Server, Client) {
        let server = Server::start(ListenSettings::local().unwrap()).unwrap();
        let client = Client::connect(server.address(), server.token()).unwrap();
        (server, client)
    }

    #[test]
    fn a_test_that_failed_here_leaves_no_reply_to_the_next() {
        let (_server, mut client) = client();
        let first = ServeTest { up: 1, record: 512, seconds: 5.0, ..ServeTest::default() };
        // The sample ended before it asked for the report.
        drop(client.open(&first).unwrap());
        let second = ServeTest { up: 0, down: 2, ..first };
        let data = client.open(&second).unwrap();
        assert_eq!((data.up.len(), data.down.len()), (0, 2));
        drop(data);
        assert_eq!(client.report().unwrap().bytes_up, 0);
    }

    #[test]
    fn a_server_that_did_not_answer_is_asked_no_more() {
        let (_server, mut client) = client();
        let error = client.lose(Error::Gone("it froze".to_owned()));
        let test = ServeTest { up: 1, seconds: 5.0, ..ServeTest::default() };
        let again = client.open(&test).unwrap_err();
        assert_eq!(again.to_string(), error.to_string(), "a late reply would be taken for that of another test");
    }
}
