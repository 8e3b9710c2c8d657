//! A relay between client and server that tampers with what passes through it.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use channel::AcceptorLimits;

use crate::common::{EchoServer, LONG, ask, connect};

/// The change that a relay makes to one unit: a greeting, a message of the handshake, or a frame.
#[derive(Debug, Clone, PartialEq)]
enum Tampering {
    Flip(usize),
    Repeat,
    Leave,
    /// The next one goes first.
    Swap,
    /// Half of it, and then the connection ends.
    Cut,
    /// Half of it, and then nothing more.
    Stall,
    /// The unit at this position of another connection of the same client to the same server.
    Foreign(Vec<u8>),
}

/// Direction of a unit.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Heading {
    ToServer,
    ToClient,
}

type TamperingPlan = Option<(Heading, usize, Tampering)>;

/// The next unit of a stream; `place` is its position.
fn unit(from: &mut TcpStream, way: Heading, place: usize) -> std::io::Result<Vec<u8>> {
    let read = |from: &mut TcpStream, head: usize, length: &dyn Fn(&[u8]) -> usize| {
        let mut bytes = vec![0; head];
        from.read_exact(&mut bytes)?;
        let more = length(&bytes);
        bytes.resize(head + more, 0);
        from.read_exact(&mut bytes[head..])?;
        Ok(bytes)
    };
    match (way, place) {
        (Heading::ToClient, 0) => read(from, 4, &|head| u32::from_be_bytes(head.try_into().unwrap()) as usize),
        (Heading::ToClient, 1) => read(from, 49, &|_| 0),
        (Heading::ToServer, 0) => read(from, 48, &|_| 0),
        _ => read(from, 2, &|head| usize::from(u16::from_be_bytes(head.try_into().unwrap()))),
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, way: Heading, plan: &TamperingPlan, record: &Mutex<Vec<Vec<u8>>>) {
    let mut held: Option<Vec<u8>> = None;
    for place in 0.. {
        let Ok(bytes) = unit(&mut from, way, place) else { break };
        record.lock().unwrap().push(bytes.clone());
        let tampering =
            plan.as_ref().filter(|(on, at, _)| *on == way && *at == place).map(|(_, _, tampering)| tampering.clone());
        let out = match tampering {
            None => bytes,
            Some(Tampering::Flip(bit)) => {
                let mut bytes = bytes;
                let bit = bit % (8 * bytes.len());
                bytes[bit / 8] ^= 1 << (bit % 8);
                bytes
            }
            Some(Tampering::Repeat) => [&bytes[..], &bytes].concat(),
            Some(Tampering::Leave) => Vec::new(),
            Some(Tampering::Swap) => {
                held = Some(bytes);
                continue;
            }
            Some(Tampering::Foreign(other)) => other,
            Some(Tampering::Cut) => {
                let _ = to.write_all(&bytes[..bytes.len() / 2]);
                break;
            }
            Some(Tampering::Stall) => {
                let _ = to.write_all(&bytes[..bytes.len() / 2]);
                // The other side closes the connection.
                let _ = to.read(&mut [0; 1]);
                break;
            }
        };
        if to.write_all(&[out, held.take().unwrap_or_default()].concat()).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

/// A relay for one connection. Returns the units that passed to the server and to the client.
fn relay(server: SocketAddr, plan: TamperingPlan) -> (SocketAddr, std::thread::JoinHandle<[Vec<Vec<u8>>; 2]>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let work = move || {
        let (client, _) = listener.accept().unwrap();
        let server = TcpStream::connect(server).unwrap();
        let (up, down) = (Arc::new(Mutex::default()), Arc::new(Mutex::default()));
        let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        let (plan_up, record) = (plan.clone(), Arc::clone(&up));
        let other = std::thread::Builder::new()
            .name("relay".to_owned())
            .spawn(move || pass(from, to, Heading::ToServer, &plan_up, &record))
            .unwrap();
        pass(server, client, Heading::ToClient, &plan, &down);
        other.join().unwrap();
        [up, down].map(|record| std::mem::take(&mut *record.lock().unwrap()))
    };
    (address, std::thread::Builder::new().name("relay".to_owned()).spawn(work).unwrap())
}

const JOBS: [&str; 3] = ["job 1", "job 2", "job 3"];

/// Asks for all jobs through a relay. Returns the replies before the first error, that error, and the units that
/// passed.
fn session(
    server: &EchoServer,
    jobs: &[&str],
    plan: TamperingPlan,
    patience: Duration,
) -> (Vec<String>, Option<String>, [Vec<Vec<u8>>; 2]) {
    let (address, relay) = relay(server.address, plan);
    let (mut came, mut wrong) = (Vec::new(), None);
    match connect(address, patience) {
        Ok(mut channel) => {
            for job in jobs {
                match ask(&mut channel, job, patience) {
                    Ok(answer) => came.push(answer),
                    Err(error) => {
                        wrong = Some(error.to_string());
                        break;
                    }
                }
            }
        }
        Err(error) => wrong = Some(error.to_string()),
    }
    (came, wrong, relay.join().unwrap())
}

#[test]
fn a_passive_relay_sees_no_clear_text() {
    let server = EchoServer::start(AcceptorLimits::default(), LONG);
    let (came, wrong, passed) = session(&server, &JOBS, None, LONG);
    assert_eq!((came.as_slice(), wrong), (&JOBS.map(str::to_owned)[..], None));
    // Neither the messages nor the token pass in clear text.
    for text in ["job", "the token of"] {
        let seen = passed.iter().flatten().any(|unit| unit.windows(text.len()).any(|part| part == text.as_bytes()));
        assert!(!seen, "{text} was seen");
    }
    assert_eq!([passed[0].len(), passed[1].len()], [4, 5]);
}

#[test]
fn only_sent_messages_are_received_whatever_a_relay_does() {
    let short = Duration::from_millis(300);
    let server = EchoServer::start(AcceptorLimits { deadline: short, ..AcceptorLimits::default() }, short);
    let patient = EchoServer::start(AcceptorLimits::default(), LONG);
    let (came, _, recorded) = session(&patient, &["evil 1", "evil 2", "evil 3"], None, LONG);
    assert_eq!(came.len(), 3);
    let [up, down] = &recorded;
    assert_eq!([up.len(), down.len()], [4, 5]);
    let mut plans = Vec::new();
    for (way, units) in [(Heading::ToServer, up), (Heading::ToClient, down)] {
        for (place, foreign) in units.iter().enumerate() {
            let flips = [0, 7, 9, 20, 100, 300, 1_000_003].map(Tampering::Flip);
            let others = [
                Tampering::Repeat,
                Tampering::Leave,
                Tampering::Swap,
                Tampering::Cut,
                Tampering::Stall,
                Tampering::Foreign(foreign.clone()),
            ];
            // No reader is left for a unit that is repeated after the last reply.
            let unread = |tampering: &Tampering| *tampering == Tampering::Repeat && place + 1 == units.len();
            plans.extend(flips.into_iter().chain(others).map(|one| (unread(&one), (way, place, one))));
        }
    }
    // Sessions wait for what does not come: several at a time.
    let (next, sent) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let number = next.fetch_add(1, Ordering::Relaxed)
            && let Some((unread, plan)) = plans.get(number)
        {
            let jobs = JOBS.map(|job| format!("{job} of session {number}"));
            let (came, wrong, _) = session(&server, &jobs.each_ref().map(String::as_str), Some(plan.clone()), short);
            let what = format!("{plan:?}: {came:?} {wrong:?}");
            assert!(jobs.starts_with(&came), "{what}");
            assert!(wrong.is_some() || *unread, "{what}: nothing was noticed");
            let one_line = wrong.as_ref().is_none_or(|wrong| wrong.starts_with("could not ") && !wrong.contains('\n'));
            assert!(one_line, "{what}");
            sent.lock().unwrap().push((number, jobs, what, wrong.is_some()));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..8 {
            std::thread::Builder::new().name("session".to_owned()).spawn_scoped(scope, work).unwrap();
        }
    });
    let sent = sent.into_inner().unwrap();
    let refused = sent.iter().filter(|(.., refused)| *refused).count();
    assert!(refused >= 110, "{refused}");
    let received = &server.seen.lock().unwrap().messages;
    let mut known = 0;
    for (number, jobs, what, _) in &sent {
        let end = format!("session {number}");
        let of_it: Vec<&String> = received.iter().filter(|message| message.ends_with(&end)).collect();
        assert!(jobs.iter().take(of_it.len()).eq(of_it.iter().copied()), "{what}: the server received {of_it:?}");
        known += of_it.len();
    }
    assert_eq!(received.len(), known, "the server received what was never sent: {received:?}");
}
