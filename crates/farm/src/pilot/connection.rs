//! A pilot's way to its coordinator: found again however often it is lost.

use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use channel::{Channel, Token};

use super::PilotConfig;
use crate::job::FarmJob;
use crate::message::{COORDINATOR, FromCoordinator, FromPilot, SERVICE};
use crate::{Error, Result};

/// Time for one attempt to connect, and for any answer. A coordinator whose disk is slow answers late.
const PATIENCE: Duration = Duration::from_secs(20);
/// First and longest pause between attempts, seconds.
const PAUSE: (f64, f64) = (0.05, 3.0);

/// Times that a pilot is told that it does not fit before it believes that. Such an answer comes before any encryption:
/// somebody in between could have said it once.
const MISFITS: u32 = 4;

/// Whether another attempt will end in the same way, if it was the coordinator that answered.
fn is_misfit(error: &Error) -> bool {
    use channel::Error as Why;
    matches!(
        error,
        Error::Channel(
            Why::WrongToken | Why::Impostor | Why::Version { .. } | Why::OtherService { .. } | Why::Protocol(_)
        )
    )
}

/// A connection that is let in.
pub(crate) struct PilotConnection {
    channel: Channel,
    /// Name of the run.
    pub(crate) farm: String,
    /// What is to be done.
    pub(crate) job: FarmJob,
    /// Between heartbeats.
    pub(crate) beat: Duration,
}

impl PilotConnection {
    /// Connects once.
    pub(crate) fn open(address: &str, token: &Token, pilot: &str, node: &str) -> Result<Self> {
        let unknown = || Error::Usage(format!("there is no address {address}"));
        let place = address.to_socket_addrs().ok().and_then(|mut all| all.next()).ok_or_else(unknown)?;
        let stream =
            TcpStream::connect_timeout(&place, PATIENCE).map_err(Error::io(format!("connect to {address}")))?;
        // Where nothing listens, a kernel may choose the port itself as the source and connect the socket with itself: the
        // pilot would hear its own words, and keep the next coordinator from its port.
        if stream.local_addr().ok() == stream.peer_addr().ok() {
            return Err(Error::io(format!("connect to {address}"))(std::io::ErrorKind::ConnectionRefused.into()));
        }
        // Work is taken from nobody who does not know the token, and from nobody in between.
        let mut channel = Channel::connect(stream, token, &SERVICE, PATIENCE)?;
        channel.send(&FromPilot::Join { pilot: pilot.to_owned(), node: node.to_owned() }, PATIENCE)?;
        match channel.receive(PATIENCE, COORDINATOR)? {
            FromCoordinator::Welcome { farm, job, beat } => {
                let beat = Duration::from_secs_f64(beat.clamp(0.01, 60.0));
                Ok(Self { channel, farm, job: *job, beat })
            }
            FromCoordinator::Full { connections } => Err(Error::Full { connections }),
            FromCoordinator::Refused { reason } => Err(Error::Refused(reason)),
            _ => Err(Error::Refused("it did not answer a name".to_owned())),
        }
    }

    /// Connects, again and again with growing pauses, until it is let in, is told that it never will be, or patience
    /// ends; each attempt at the next of `addresses`, whose first is the order's. `leave` says that trying is pointless by
    /// now.
    pub(crate) fn find(
        order: &PilotConfig,
        addresses: &[String],
        pilot: &str,
        leave: &dyn Fn() -> bool,
    ) -> Result<Option<Self>> {
        let token = Token::parse(&order.token)?;
        let began = Instant::now();
        let (mut pause, mut misfits) = (PAUSE.0, 0);
        // Pilots that lost their coordinator at one moment come back at different ones.
        let share =
            0.5 + f64::from(pilot.bytes().fold(0_u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte))) / 512.0;
        for address in addresses.iter().cycle() {
            if leave() {
                return Ok(None);
            }
            let error = match Self::open(address, &token, pilot, &order.node) {
                Ok(connection) => return Ok(Some(connection)),
                Err(error @ Error::Refused(_)) if *address == order.address => return Err(error),
                Err(error) => error,
            };
            misfits = if *address == order.address && is_misfit(&error) { misfits + 1 } else { 0 };
            if misfits >= MISFITS {
                return Err(error);
            }
            let seconds = began.elapsed().as_secs_f64();
            if seconds > order.patience {
                return Err(Error::Away { address: order.address.clone(), seconds, reason: error.to_string() });
            }
            std::thread::sleep(Duration::from_secs_f64(pause * share));
            pause = (pause * 2.0).min(PAUSE.1);
        }
        Err(Error::Usage("an order names the address of a coordinator".to_owned()))
    }

    /// Says something and hears the answer.
    pub(crate) fn ask(&mut self, say: &FromPilot) -> Result<FromCoordinator> {
        self.channel.send(say, PATIENCE)?;
        match self.channel.receive(PATIENCE, COORDINATOR)? {
            FromCoordinator::Refused { reason } => Err(Error::Refused(reason)),
            answer => Ok(answer),
        }
    }

    /// Says good-bye.
    pub(crate) fn leave(mut self) {
        // Who does not hear it notices the end of the connection.
        let _ = self.channel.send(&FromPilot::Bye, PATIENCE);
    }
}
