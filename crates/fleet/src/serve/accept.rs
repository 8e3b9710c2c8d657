//! Data connections: only those that say the test's nonce first.

use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use super::token::same;
use crate::{Error, Result};

/// Characters of a nonce.
pub(crate) const NONCE: usize = 32;
/// Time for a data connection to come and say its nonce.
const PATIENCE: Duration = Duration::from_secs(10);
/// Strangers that may be waiting to say something at one time; more are turned away.
const STRANGERS: usize = 64;

/// What a data connection is for, said in the byte after the nonce.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    Up = 1,
    Down = 2,
    Echo = 3,
}

impl Use {
    fn read(byte: u8) -> Option<Self> {
        [Self::Up, Self::Down, Self::Echo].into_iter().find(|one| *one as u8 == byte)
    }
}

struct Guest {
    stream: TcpStream,
    said: [u8; NONCE + 1],
    length: usize,
    came: Instant,
}

/// Takes the wanted numbers of connections (up, down, echo). Strangers are closed, however slowly they speak.
pub(super) fn take(listener: &TcpListener, nonce: &str, mut wanted: [u32; 3]) -> Result<Vec<(Use, TcpStream)>> {
    let deadline = Instant::now() + PATIENCE;
    let mut guests: Vec<Guest> = Vec::new();
    let mut taken = Vec::new();
    listener.set_nonblocking(true).map_err(Error::io("wait for data connections"))?;
    while wanted.iter().any(|count| *count > 0) {
        if Instant::now() > deadline {
            return Err(Error::Gone("its data connections did not come".to_owned()));
        }
        while let Ok((stream, _)) = listener.accept() {
            if guests.len() < STRANGERS && stream.set_nonblocking(true).is_ok() {
                guests.push(Guest { stream, said: [0; NONCE + 1], length: 0, came: Instant::now() });
            }
        }
        let mut waiting = Vec::new();
        for mut guest in guests {
            match listen_to(&mut guest) {
                Some(true) => {
                    let (said, code) = (&guest.said[..NONCE], guest.said[NONCE]);
                    if let (true, Some(purpose)) = (same(said, nonce.as_bytes()), Use::read(code)) {
                        let left = &mut wanted[purpose as usize - 1];
                        if *left > 0 && guest.stream.set_nonblocking(false).is_ok() {
                            *left -= 1;
                            taken.push((purpose, guest.stream));
                        }
                    }
                }
                Some(false) if guest.came.elapsed() < PATIENCE / 4 => waiting.push(guest),
                _ => {}
            }
        }
        guests = waiting;
        std::thread::sleep(Duration::from_micros(200));
    }
    Ok(taken)
}

/// Whether a guest has said all: `None` when it is gone.
fn listen_to(guest: &mut Guest) -> Option<bool> {
    while guest.length < guest.said.len() {
        match guest.stream.read(&mut guest.said[guest.length..]) {
            Ok(0) => return None,
            Ok(count) => guest.length += count,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return Some(false),
            Err(_) => return None,
        }
    }
    Some(true)
}
