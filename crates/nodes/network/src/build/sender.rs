//! A sender: pushes fragments in the order of a pattern, or answers requests.

use std::collections::HashMap;
use std::io::{ErrorKind, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::control::{Control, SendReply, StartMoment, peers, start};
use super::message::{
    BuildJob, BuildOrder, BuildReply, BuildRequest, CHUNK, DatagramHeader, HEAD, NodeCounters, PushPattern, Transport,
};
use super::payload::{Part, PayloadSource};
use super::sizes::EventTimes;
use crate::{Error, Result};

/// Time limit for a receiver to take a fragment.
const WRITE_TIMEOUT: Duration = Duration::from_secs(20);

pub(super) fn work(
    index: u32,
    order: &BuildOrder,
    requests: &Receiver<BuildRequest>,
    control: &Control,
    reply: SendReply,
) -> Result<NodeCounters> {
    if let Transport::Tcp { .. } = order.job.transport {
        reply(BuildReply::Ready { address: SocketAddr::new(order.address, 0) })?;
        return connections(index, order, requests, control, reply);
    }
    let socket = UdpSocket::bind(SocketAddr::new(order.address, 0)).map_err(Error::io("make a socket"))?;
    // Requests of all receivers may arrive at once.
    os::socket::set_receive_buffer(&socket, 1 << 20)?;
    reply(BuildReply::Ready { address: socket.local_addr().map_err(Error::io("read the address of the socket"))? })?;
    let receivers = peers(requests)?;
    // A sender prepares before the start, so that all begin at once.
    let mut source = PayloadSource::new(CHUNK as usize);
    reply(BuildReply::Connected)?;
    let StartMoment { began, .. } = start(requests)?;
    let mut counters = NodeCounters::new(began, order.job.receivers as usize);
    if order.job.pattern == PushPattern::Pull {
        answer(index, &order.job, (&socket, &receivers), control, &mut source, &mut counters)?;
        counters.socket_drops = os::socket::drops(&socket).unwrap_or(0);
    } else {
        let times = EventTimes::of(&order.job);
        let later = order.job.pattern.later(index);
        for event in sequence(index, &order.job) {
            if !wait(times.due(began, event) + later, control) {
                break;
            }
            push(index, &order.job, (&socket, &receivers), event, &mut source, &mut counters);
        }
        reply(BuildReply::Sent)?;
        wait_for_end(control);
    }
    Ok(counters)
}

/// Waits for the end of the job: a node that ends early counts as lost.
fn wait_for_end(control: &Control) {
    while !control.ended() {
        kernels::timer::sleep(Duration::from_millis(5));
    }
}

/// Waits for a moment; false if the job ends first.
fn wait(moment: u64, control: &Control) -> bool {
    /// Interval at which the end of the job is looked for: rare events must not hold it up.
    const POLL_INTERVAL: Duration = Duration::from_millis(50);
    while !control.ended() {
        let left = moment.saturating_sub(kernels::clock::now());
        if left == 0 {
            return true;
        }
        kernels::timer::sleep(Duration::from_nanos(left).min(POLL_INTERVAL));
    }
    false
}

/// The events in the order in which a sender serves them.
fn sequence(index: u32, job: &BuildJob) -> Vec<u32> {
    let mut random = ChaCha8Rng::seed_from_u64(u64::from(job.seed) << 32 | u64::from(index));
    let mut all: Vec<u32> = (0..job.events).collect();
    for group in all.chunks_mut(job.receivers as usize) {
        match job.pattern {
            PushPattern::BarrelShift => group.rotate_left(index as usize % group.len()),
            PushPattern::Random => group.shuffle(&mut random),
            _ => {}
        }
    }
    all
}

/// Sends the datagrams of one fragment.
fn push(
    index: u32,
    job: &BuildJob,
    (socket, receivers): (&UdpSocket, &[SocketAddr]),
    event: u32,
    source: &mut PayloadSource,
    counters: &mut NodeCounters,
) {
    let receiver = (event % job.receivers) as usize;
    let mut head = [0; HEAD];
    for chunk in 0..job.chunks(event, index) {
        let header = DatagramHeader { seed: job.seed, event, sender: index, chunk };
        header.write(&mut head);
        let part = Part::datagram(job, header);
        match source.send(&part, &head, |datagram| socket.send_to(datagram, receivers[receiver])) {
            Ok(_) => {
                counters.sent += 1;
                counters.moved(receiver, part.length() as u64);
            }
            Err(_) => counters.queue_full += 1,
        }
    }
}

/// Answers requests of the job's own receivers, with one datagram each, until the end.
fn answer(
    index: u32,
    job: &BuildJob,
    (socket, receivers): (&UdpSocket, &[SocketAddr]),
    control: &Control,
    source: &mut PayloadSource,
    counters: &mut NodeCounters,
) -> Result<()> {
    let known: HashMap<SocketAddr, usize> = receivers.iter().enumerate().map(|(at, address)| (*address, at)).collect();
    socket.set_read_timeout(Some(Duration::from_millis(50))).map_err(Error::io("wait for requests"))?;
    let mut request = [0; HEAD + 1];
    while !control.ended() {
        let Ok((length, from)) = socket.recv_from(&mut request) else { continue };
        let Some(head) = DatagramHeader::read(&request[..length], job).filter(|head| head.sender == index) else {
            continue;
        };
        let Some(receiver) = known.get(&from).filter(|_| length == HEAD) else { continue };
        let part = Part::datagram(job, head);
        match source.send(&part, &request[..HEAD], |datagram| socket.send_to(datagram, from)) {
            Ok(_) => {
                counters.sent += 1;
                counters.moved(*receiver, part.length() as u64);
            }
            Err(_) => counters.queue_full += 1,
        }
    }
    Ok(())
}

/// Pushes over one connection to each receiver.
fn connections(
    index: u32,
    order: &BuildOrder,
    requests: &Receiver<BuildRequest>,
    control: &Control,
    reply: SendReply,
) -> Result<NodeCounters> {
    let job = &order.job;
    let receivers = peers(requests)?;
    os::process::allow_files(receivers.len());
    let connect = |to: &SocketAddr| -> Result<TcpStream> {
        let mut stream =
            TcpStream::connect_timeout(to, Duration::from_secs(10)).map_err(Error::io(format!("connect to {to}")))?;
        os::socket::set_no_delay(&stream, true)?;
        // The historical congestion control, if the kernel has it; the driver's options record the one in use.
        let _ = os::socket::set_congestion(&stream, "reno");
        stream.set_write_timeout(Some(WRITE_TIMEOUT)).map_err(Error::io("bound a write"))?;
        let hello = [order.ticket.as_bytes(), &index.to_le_bytes()].concat();
        stream.write_all(&hello).map_err(Error::io("present the ticket"))?;
        Ok(stream)
    };
    let mut streams = receivers.iter().map(connect).collect::<Result<Vec<_>>>()?;
    let mut source = PayloadSource::new(job.fragment as usize);
    reply(BuildReply::Connected)?;
    let StartMoment { began, .. } = start(requests)?;
    let mut counters = NodeCounters::new(began, job.receivers as usize);
    let (times, later) = (EventTimes::of(job), job.pattern.later(index));
    for event in sequence(index, job) {
        if !wait(times.due(began, event) + later, control) {
            break;
        }
        let part = Part::fragment(job, event, index);
        let mut head = [0; 8];
        head[..4].copy_from_slice(&event.to_le_bytes());
        head[4..].copy_from_slice(&(part.length() as u32).to_le_bytes());
        let receiver = (event % job.receivers) as usize;
        let stream = &mut streams[receiver];
        source.send(&part, &head, |message| stream.write_all(message)).map_err(|error| not_taken(receiver, &error))?;
        counters.sent += 1;
        counters.moved(receiver, part.length() as u64);
        // The window is largest at some moment during the transfer, so it is sampled.
        if counters.sent.is_multiple_of(64) {
            sample(stream, &mut counters);
        }
    }
    reply(BuildReply::Sent)?;
    wait_for_end(control);
    for stream in &streams {
        sample(stream, &mut counters);
        if let Ok(info) = os::socket::tcp_info(stream) {
            counters.retransmits += info.total_retransmits.unwrap_or(0);
            counters.losses += info.losses().unwrap_or(0);
        }
    }
    Ok(counters)
}

/// Why a receiver could not be sent a fragment. A write that ran out of time is an EAGAIN (socket(7), `SO_SNDTIMEO`).
fn not_taken(receiver: usize, error: &std::io::Error) -> Error {
    Error::Gone(match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => {
            format!("receiver {receiver} took nothing for {} s", WRITE_TIMEOUT.as_secs())
        }
        _ => format!("receiver {receiver}: {error}"),
    })
}

fn sample(stream: &TcpStream, counters: &mut NodeCounters) {
    let window = os::socket::tcp_info(stream).ok().and_then(|info| info.send_window).unwrap_or(0);
    counters.window = counters.window.max(window);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_that_takes_nothing_is_told_as_that() {
        let (mut stream, _silent) = std::os::unix::net::UnixStream::pair().unwrap();
        stream.set_write_timeout(Some(Duration::from_millis(10))).unwrap();
        let error = stream.write_all(&vec![0; 1 << 24]).unwrap_err();
        let said = not_taken(3, &error).to_string();
        assert!(said.ends_with("receiver 3 took nothing for 20 s"), "{said}");
    }
}
