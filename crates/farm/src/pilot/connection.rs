//! A pilot's way to its coordinator: found again however often it is lost.

use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use fleet::serve::message::{receive, send};
use fleet::serve::{Role, Token, nonce};

use super::Order;
use crate::job::Job;
use crate::message::{COORDINATOR, FromCoordinator, FromPilot, VERSION, bound};
use crate::{Error, Result};

/// Time for one attempt to connect, and for any answer. A coordinator whose disk is slow answers late.
const PATIENCE: Duration = Duration::from_secs(20);
/// First and longest pause between attempts, seconds.
const PAUSE: (f64, f64) = (0.05, 3.0);

/// A connection that is let in.
pub(crate) struct Connection {
    stream: TcpStream,
    /// Name of the run.
    pub(crate) farm: String,
    /// What is to be done.
    pub(crate) job: Job,
    /// Between heartbeats.
    pub(crate) beat: Duration,
}

impl Connection {
    /// Connects once.
    pub(crate) fn open(address: &str, token: &Token, pilot: &str, node: &str) -> Result<Self> {
        let unknown = || Error::Usage(format!("there is no address {address}"));
        let place = address.to_socket_addrs().ok().and_then(|mut all| all.next()).ok_or_else(unknown)?;
        let mut stream =
            TcpStream::connect_timeout(&place, PATIENCE).map_err(Error::io(format!("connect to {address}")))?;
        // Where nobody listens, a kernel may give the port itself to who tries to reach it, and connect it with itself: it
        // would wait for its own words, and keep the next coordinator from its port.
        if stream.local_addr().ok() == stream.peer_addr().ok() {
            return Err(Error::io(format!("connect to {address}"))(std::io::ErrorKind::ConnectionRefused.into()));
        }
        stream.set_nodelay(true).map_err(Error::io("set a connection up"))?;
        let own = nonce()?;
        let FromCoordinator::Challenge { version, nonce: theirs } = receive(&mut stream, PATIENCE, COORDINATOR)? else {
            return Err(Error::Refused("it did not begin with a challenge".to_owned()));
        };
        if version != VERSION {
            return Err(Error::Refused(format!("it speaks version {version} of the protocol, not {VERSION}")));
        }
        let proof = token.proof(Role::Client, &bound(&theirs), &bound(&own))?;
        let say = FromPilot::Proof { nonce: own.clone(), proof, pilot: pilot.to_owned(), node: node.to_owned() };
        send(&mut stream, &say, PATIENCE)?;
        match receive(&mut stream, PATIENCE, COORDINATOR)? {
            FromCoordinator::Welcome { proof, farm, job, beat } => {
                // Work is taken from nobody who does not know the token.
                if !token.holds(&proof, Role::Server, &bound(&theirs), &bound(&own)) {
                    return Err(Error::Refused("it does not know the token".to_owned()));
                }
                let beat = Duration::from_secs_f64(beat.clamp(0.01, 60.0));
                Ok(Self { stream, farm, job: *job, beat })
            }
            FromCoordinator::Denied { reason } => Err(Error::Refused(reason)),
            _ => Err(Error::Refused("it did not answer a proof".to_owned())),
        }
    }

    /// Connects, again and again with growing pauses, until it is let in, is told that it never will be, or patience
    /// ends; each attempt at the next of `addresses`, whose first is the order's. `leave` says that trying is pointless by
    /// now.
    pub(crate) fn find(
        order: &Order,
        addresses: &[String],
        pilot: &str,
        leave: &dyn Fn() -> bool,
    ) -> Result<Option<Self>> {
        let token = Token::parse(&order.token)?;
        let began = Instant::now();
        let mut pause = PAUSE.0;
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
        send(&mut self.stream, say, PATIENCE)?;
        match receive(&mut self.stream, PATIENCE, COORDINATOR)? {
            FromCoordinator::Refused { reason } => Err(Error::Refused(reason)),
            answer => Ok(answer),
        }
    }

    /// Says good-bye.
    pub(crate) fn leave(mut self) {
        // Who does not hear it notices the end of the connection.
        let _ = send(&mut self.stream, &FromPilot::Bye, PATIENCE);
    }
}
