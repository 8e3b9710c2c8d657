//! Payload that is changed between senders and receivers is found, whatever carries it; without a change nothing is.
//!
//! Nodes are threads of this process, over loopback. The driver's messages with the nodes' peers are rewritten: sender
//! 0 and the receiver know each other by the address of a mediator, which changes what it forwards.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::{BufReader, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use launcher::agent::{By, Hello, serve};
use launcher::{Error, Launcher, Link, StderrTail};
use measure::Stopper;
use network::build::{
    Arrivals, BuildJob, BuildOutcome, BuildRequest, DUTY, PushPattern, SizeDistribution, Transport, build,
};

/// A mediator's change to the first two messages of sender 0, which are of different events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PayloadChange {
    /// Nothing.
    Nothing,
    /// One bit of this byte of the second one's payload is another.
    Flip(usize),
    /// One bit of this byte of every payload is another.
    FlipAll(usize),
    /// Each has the other's payload.
    Swap,
    /// The first comes once more, with the payload of the second.
    Twice,
}

/// A fragment or datagram: its header and its payload.
type Message = (Vec<u8>, Vec<u8>);

impl PayloadChange {
    fn of(self, [mut first, mut second]: [Message; 2]) -> Vec<Message> {
        match self {
            Self::Nothing => vec![first, second],
            Self::Flip(place) => {
                second.1[place] ^= 0x10;
                vec![first, second]
            }
            Self::FlipAll(place) => {
                [&mut first, &mut second].into_iter().for_each(|(_, payload)| payload[place] ^= 0x10);
                vec![first, second]
            }
            Self::Swap => {
                std::mem::swap(&mut first.1, &mut second.1);
                vec![first, second]
            }
            Self::Twice => {
                let again = (first.0.clone(), second.1.clone());
                vec![first, second, again]
            }
        }
    }
}

/// Starts nodes whose way from sender 0 to the receiver is mediated.
struct Mediated {
    change: PayloadChange,
    job: BuildJob,
    /// Address of the mediator, and that of sender 0 as soon as it is known.
    addresses: Arc<Mutex<[Option<SocketAddr>; 2]>>,
    ended: Arc<AtomicBool>,
}

/// The driver's side of a node's input, in which peers are rewritten.
struct Rewriting {
    node: usize,
    inner: std::io::PipeWriter,
    line: Vec<u8>,
    mediated: Arc<Mediated>,
    ticket: usize,
}

impl Write for Rewriting {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        for byte in bytes {
            self.line.push(*byte);
            if *byte == b'\n' {
                let line = std::mem::take(&mut self.line);
                let line = self.rewrite(line);
                self.inner.write_all(&line)?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}

impl Rewriting {
    fn rewrite(&mut self, line: Vec<u8>) -> Vec<u8> {
        match serde_json::from_slice(&line) {
            Ok(BuildRequest::Be(order)) => {
                self.ticket = order.ticket.len();
                line
            }
            Ok(BuildRequest::Peers { mut peers }) if self.node == 0 => {
                peers[0] = self.mediated.begin(peers[0], self.ticket);
                said(peers)
            }
            // Datagrams are asked for by the address of their sender; connections are not.
            Ok(BuildRequest::Peers { mut peers }) if self.node == self.mediated.job.senders as usize => {
                let mut addresses = self.mediated.addresses.lock().unwrap();
                addresses[1] = Some(peers[0]);
                peers[0] = addresses[0].unwrap();
                said(peers)
            }
            _ => line,
        }
    }
}

fn said(peers: Vec<SocketAddr>) -> Vec<u8> {
    let mut line = serde_json::to_vec(&BuildRequest::Peers { peers }).unwrap();
    line.push(b'\n');
    line
}

impl Mediated {
    /// Starts the mediator to this receiver; its address.
    fn begin(&self, receiver: SocketAddr, ticket: usize) -> SocketAddr {
        let here = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0);
        let change = self.change;
        let address = if let Transport::Tcp { .. } = self.job.transport {
            let listener = TcpListener::bind(here).unwrap();
            let address = listener.local_addr().unwrap();
            std::thread::spawn(move || connection(&listener, receiver, ticket, change));
            address
        } else {
            let socket = UdpSocket::bind(here).unwrap();
            let address = socket.local_addr().unwrap();
            let (addresses, ended) = (Arc::clone(&self.addresses), Arc::clone(&self.ended));
            std::thread::spawn(move || datagrams(&socket, receiver, &addresses, change, &ended));
            address
        };
        self.addresses.lock().unwrap()[0] = Some(address);
        address
    }
}

/// Forwards a connection.
fn connection(listener: &TcpListener, receiver: SocketAddr, ticket: usize, change: PayloadChange) {
    let (mut from, _) = listener.accept().unwrap();
    let mut to = TcpStream::connect(receiver).unwrap();
    let mut read = |count: usize| {
        let mut bytes = vec![0; count];
        from.read_exact(&mut bytes).unwrap();
        bytes
    };
    to.write_all(&read(ticket + 4)).unwrap();
    let mut message = || {
        let head = read(8);
        let length = u32::from_le_bytes(*head.last_chunk().unwrap());
        (head, read(length as usize))
    };
    let mut send = |messages: Vec<Message>| {
        // A receiver that has refused a fragment is gone.
        let _ = to
            .write_all(&messages.into_iter().flat_map(|(head, payload)| [head, payload].concat()).collect::<Vec<_>>());
    };
    send(change.of([message(), message()]));
    for _ in 1..EVENTS / 2 {
        let two = [message(), message()];
        send(if let PayloadChange::FlipAll(_) = change { change.of(two) } else { two.to_vec() });
    }
    // Until the sender ends.
    let _ = from.read(&mut [0]);
}

/// Forwards datagrams of both directions.
fn datagrams(
    socket: &UdpSocket,
    receiver: SocketAddr,
    addresses: &Mutex<[Option<SocketAddr>; 2]>,
    change: PayloadChange,
    ended: &AtomicBool,
) {
    socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    let (mut kept, mut changed, mut buffer) = (Vec::new(), false, [0; 2_000]);
    while !ended.load(Relaxed) {
        let (length, from) = match socket.recv_from(&mut buffer) {
            Ok(came) => came,
            Err(error) if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()) => continue,
            Err(_) => return,
        };
        let datagram = &buffer[..length];
        if from == receiver {
            let sender = addresses.lock().unwrap()[1].unwrap();
            socket.send_to(datagram, sender).unwrap();
        } else if changed {
            let _ = socket.send_to(datagram, receiver);
        } else {
            kept.push((datagram[..16].to_vec(), datagram[16..].to_vec()));
            if let Ok(two) = <[Message; 2]>::try_from(kept.clone()) {
                changed = true;
                for (head, payload) in change.of(two) {
                    socket.send_to(&[head, payload].concat(), receiver).unwrap();
                }
            }
        }
    }
}

struct MediatedLauncher(Arc<Mediated>);

impl Drop for MediatedLauncher {
    fn drop(&mut self) {
        self.0.ended.store(true, Relaxed);
    }
}

impl Launcher for MediatedLauncher {
    fn start(&mut self, node: usize) -> launcher::Result<Link> {
        let ((hears, inner), (output, mut says)) = (std::io::pipe().unwrap(), std::io::pipe().unwrap());
        std::thread::spawn(move || serve(Box::new(BufReader::new(hears)), &mut says, By::Local, &[DUTY]));
        let input = Rewriting { node, inner, line: Vec::new(), mediated: Arc::clone(&self.0), ticket: 0 };
        Ok(Link {
            name: self.name(node),
            output: Box::new(BufReader::new(output)),
            input: Box::new(input),
            stderr: StderrTail::default(),
            keep: Box::new(()),
        })
    }

    fn name(&self, node: usize) -> String {
        format!("node {node}")
    }

    fn address(&self, _: usize, _: &Hello) -> IpAddr {
        Ipv4Addr::LOCALHOST.into()
    }
}

const EVENTS: u32 = 60;
const SENDERS: u32 = 2;

fn built(
    pattern: PushPattern,
    transport: Transport,
    fragment: u32,
    change: PayloadChange,
) -> launcher::Result<BuildOutcome> {
    let job = BuildJob {
        senders: SENDERS,
        receivers: 1,
        fragment,
        events: EVENTS,
        rate: None,
        pattern,
        transport,
        seed: 11,
        sizes: SizeDistribution::Fixed,
        arrivals: Arrivals::Regular,
    };
    let mediated = Mediated { change, job: job.clone(), addresses: Arc::default(), ended: Arc::default() };
    build(&job, &mut MediatedLauncher(Arc::new(mediated)), None, &Stopper::default())
}

/// The ways in which fragments come, and their size: of datagrams each is one.
const WAYS: [(PushPattern, Transport, u32); 3] = [
    (PushPattern::RoundRobin, Transport::Tcp { window: None }, 5_000),
    (PushPattern::Burst, Transport::Datagrams, 1_454),
    (PushPattern::Pull, Transport::Credits { credits: 4 }, 1_454),
];

#[test]
fn payload_that_is_as_it_was_sent_is_verified_and_nothing_is_found() {
    for (pattern, transport, fragment) in WAYS {
        let outcome = built(pattern, transport, fragment, PayloadChange::Nothing).unwrap();
        let receiver = &outcome.receivers[0];
        assert_eq!((outcome.built, receiver.verified.wrong, receiver.verified.first), (EVENTS, 0, None));
        let ends = u64::from(EVENTS * SENDERS * 32);
        if let Transport::Tcp { .. } = transport {
            // Some fragments are verified whole.
            assert!((ends + 1..receiver.bytes).contains(&outcome.verified()), "{receiver:?}");
        } else {
            assert_eq!(outcome.verified(), receiver.bytes + receiver.needless_bytes, "{transport:?}");
        }
        assert_eq!(receiver.bytes, u64::from(EVENTS * SENDERS * fragment), "{transport:?}");
    }
}

#[test]
fn a_flipped_bit_and_payload_of_another_event_end_a_job_and_are_named() {
    for (pattern, transport, fragment) in WAYS {
        let found = |change| match built(pattern, transport, fragment, change) {
            Err(Error::Payload(reason)) => reason,
            other => unreachable!("{transport:?}, {change:?}: {other:?}"),
        };
        // On a connection the ends of every fragment are verified, and some whole fragments.
        let place = if let Transport::Tcp { .. } = transport { 9 } else { 700 };
        let flipped = found(PayloadChange::Flip(place));
        let byte = format!("is of event 1 from sender 0, whose byte {place} was sent as 0x");
        assert!(flipped.starts_with("1 of its parts is not what was sent: at receiver 0, "), "{flipped}");
        assert!(flipped.contains(&byte), "{flipped}");
        if let Transport::Tcp { .. } = transport {
            let all = found(PayloadChange::FlipAll(700));
            assert!(all.contains("from sender 0, whose byte 700 was sent as 0x"), "{all}");
        }
        let swapped = found(PayloadChange::Swap);
        assert!(swapped.starts_with("2 of its parts are not what was sent: at receiver 0, "), "{swapped}");
        assert!(swapped.contains("is of event 0 from sender 0, whose byte "), "{swapped}");
    }
}

#[test]
fn a_fragment_that_comes_twice_with_payload_of_another_is_found() {
    for (pattern, transport, fragment) in WAYS {
        let error = built(pattern, transport, fragment, PayloadChange::Twice).unwrap_err();
        let said = error.to_string();
        if let Transport::Tcp { .. } = transport {
            let due = "sender 0 sent 5000 bytes of event 0, and event 2 was due";
            assert!(said.starts_with("could not continue without node 2: ") && said.ends_with(due), "{said}");
        } else {
            assert!(matches!(error, Error::Payload(_)), "{said}");
            assert!(said.contains("1 of its parts is not what was sent") && said.contains("event 0 from sender 0"));
        }
    }
}
