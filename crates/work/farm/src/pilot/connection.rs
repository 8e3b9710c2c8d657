//! A pilot's connection to its coordinator; it reconnects whenever the connection is lost.

use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use channel::{Channel, Token};

use super::PilotConfig;
use crate::job::FarmJob;
use crate::message::{COORDINATOR, FromCoordinator, FromPilot, SERVICE};
use crate::{Error, Result};

/// Time limit for one attempt to connect, and for any reply. A coordinator with a slow disk replies late.
const TIMEOUT: Duration = Duration::from_secs(20);
/// First and longest pause between attempts, seconds.
const PAUSE: (f64, f64) = (0.05, 3.0);

/// Consecutive mismatch errors after which a pilot gives up. Such errors come before encryption, so an attacker on the
/// path could have forged a single one.
const MAX_MISMATCHES: u32 = 4;

/// Whether a retry would fail in the same way, if the error came from the real coordinator.
fn is_mismatch(error: &Error) -> bool {
    use channel::Error as Why;
    matches!(
        error,
        Error::Channel(
            Why::WrongToken | Why::Impostor | Why::Version { .. } | Why::OtherService { .. } | Why::Protocol(_)
        )
    )
}

/// An established connection.
pub(crate) struct PilotConnection {
    channel: Channel,
    /// Name of the run.
    pub(crate) farm: String,
    pub(crate) job: FarmJob,
    /// Interval between heartbeats.
    pub(crate) beat: Duration,
}

impl PilotConnection {
    /// Connects once.
    pub(crate) fn open(address: &str, token: &Token, pilot: &str, node: &str) -> Result<Self> {
        let unknown = || Error::Usage(format!("there is no address {address}"));
        let place = address.to_socket_addrs().ok().and_then(|mut all| all.next()).ok_or_else(unknown)?;
        let stream = TcpStream::connect_timeout(&place, TIMEOUT).map_err(Error::io(format!("connect to {address}")))?;
        // If nothing listens, the kernel may choose the same port as source and connect the socket with itself. The
        // pilot would then receive its own messages, and keep the next coordinator from its port.
        if stream.local_addr().ok() == stream.peer_addr().ok() {
            return Err(Error::io(format!("connect to {address}"))(std::io::ErrorKind::ConnectionRefused.into()));
        }
        // The handshake proves that the other side knows the token and that the path is not tampered with.
        let mut channel = Channel::connect(stream, token, &SERVICE, TIMEOUT)?;
        channel.send(&FromPilot::Join { pilot: pilot.to_owned(), node: node.to_owned() }, TIMEOUT)?;
        match channel.receive(TIMEOUT, COORDINATOR)? {
            FromCoordinator::Welcome { farm, job, beat } => {
                let beat = Duration::from_secs_f64(beat.clamp(0.01, 60.0));
                Ok(Self { channel, farm, job: *job, beat })
            }
            FromCoordinator::Full { connections } => Err(Error::Full { connections }),
            FromCoordinator::Refused { reason } => Err(Error::Refused(reason)),
            _ => Err(Error::Refused("it did not reply to the pilot's name".to_owned())),
        }
    }

    /// Connects, with growing pauses between attempts, until the coordinator accepts, refuses for good, or `patience`
    /// ends. Returns `None` when `leave` says that the run is finished.
    pub(crate) fn find(config: &PilotConfig, pilot: &str, leave: &dyn Fn() -> bool) -> Result<Option<Self>> {
        let token = Token::parse(&config.token)?;
        let began = Instant::now();
        let (mut pause, mut mismatches) = (PAUSE.0, 0);
        // Spreads the retries of pilots that lost their coordinator at the same moment.
        let share =
            0.5 + f64::from(pilot.bytes().fold(0_u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte))) / 512.0;
        loop {
            if leave() {
                return Ok(None);
            }
            let error = match Self::open(&config.address, &token, pilot, &config.node) {
                Ok(connection) => return Ok(Some(connection)),
                Err(error @ Error::Refused(_)) => return Err(error),
                Err(error) => error,
            };
            mismatches = if is_mismatch(&error) { mismatches + 1 } else { 0 };
            if mismatches >= MAX_MISMATCHES {
                return Err(error);
            }
            let seconds = began.elapsed().as_secs_f64();
            if seconds > config.patience {
                return Err(Error::Away { address: config.address.clone(), seconds, reason: error.to_string() });
            }
            kernels::timer::sleep(Duration::from_secs_f64(pause * share));
            pause = (pause * 2.0).min(PAUSE.1);
        }
    }

    /// Sends a message and receives the reply.
    pub(crate) fn ask(&mut self, message: &FromPilot) -> Result<FromCoordinator> {
        self.channel.send(message, TIMEOUT)?;
        match self.channel.receive(TIMEOUT, COORDINATOR)? {
            FromCoordinator::Refused { reason } => Err(Error::Refused(reason)),
            answer => Ok(answer),
        }
    }

    /// Sends a farewell and closes the connection.
    pub(crate) fn leave(mut self) {
        // If the message is lost, the coordinator notices the closed connection.
        let _ = self.channel.send(&FromPilot::Bye, TIMEOUT);
    }
}
