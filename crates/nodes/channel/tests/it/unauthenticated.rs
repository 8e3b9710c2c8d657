//! Clients that do not know the token or do not authenticate.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use channel::{AcceptorLimits, Channel, Error, Service, Token};

use crate::common::{EchoServer, LONG, MOST, SERVICE, ask, connect, token};

/// A connection that has read the greeting, in the format of versions before channels.
fn greeted(address: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    let mut head = [0; 4];
    stream.read_exact(&mut head).unwrap();
    let mut greeting = vec![0; u32::from_be_bytes(head) as usize];
    stream.read_exact(&mut greeting).unwrap();
    let text = String::from_utf8(greeting).unwrap();
    assert!(text.starts_with(r#"{"says":"challenge","version":7,"nonce":"test-"#), "{text}");
    stream
}

/// Whether the server has closed the connection, after any reply.
fn is_closed(stream: &mut TcpStream, timeout: Duration) -> bool {
    stream.set_read_timeout(Some(timeout)).unwrap();
    match stream.read_to_end(&mut Vec::new()) {
        Ok(_) => true,
        Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
    }
}

#[test]
fn the_oldest_waiting_client_is_dropped_and_silent_ones_keep_no_client_out() {
    // No client is dropped for its age: only to make room.
    let limits = AcceptorLimits { waiting: 8, grace: Duration::from_millis(1), deadline: 10 * LONG };
    let server = EchoServer::start(limits, LONG);
    let mut silent: Vec<TcpStream> = (0..64).map(|_| greeted(server.address)).collect();
    let mut client = connect(server.address, LONG).unwrap();
    assert_eq!(ask(&mut client, "in", LONG).unwrap(), "in");
    assert!(is_closed(&mut silent[0], LONG), "the oldest client was not dropped");
    assert!(!is_closed(&mut silent[63], Duration::from_millis(50)), "the youngest client was dropped");
    let seen = server.seen.lock().unwrap();
    assert!(seen.refused.iter().filter(|why| why.contains("too many clients")).count() >= 56, "{seen:?}");
}

#[test]
fn clients_connect_during_a_flood_of_unauthenticated_connections() {
    let server = EchoServer::start(AcceptorLimits::default(), LONG);
    let (end, came) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let (ends, comes, address) = (Arc::clone(&end), Arc::clone(&came), server.address);
    let flood = move || {
        let mut open = std::collections::VecDeque::new();
        while !ends.load(Ordering::SeqCst) {
            open.extend(TcpStream::connect(address).ok());
            comes.fetch_add(1, Ordering::SeqCst);
            if open.len() > 300 {
                open.pop_front();
            }
        }
    };
    let flood = std::thread::Builder::new().name("flood".to_owned()).spawn(flood).unwrap();
    while came.load(Ordering::SeqCst) < 500 {
        std::thread::sleep(Duration::from_millis(5));
    }
    for number in 0..10 {
        // On a busy machine a client may get no CPU time within the grace period and be dropped; it retries.
        let began = Instant::now();
        let mut client = loop {
            match connect(server.address, LONG) {
                Ok(client) => break client,
                Err(error) => assert!(began.elapsed() < LONG, "{error}"),
            }
        };
        assert_eq!(ask(&mut client, &number.to_string(), LONG).unwrap(), number.to_string());
    }
    end.store(true, Ordering::SeqCst);
    flood.join().unwrap();
    eprintln!("{} connections without a token", came.load(Ordering::SeqCst));
}

#[test]
fn slow_partial_and_closed_handshakes_are_dropped() {
    let limits = AcceptorLimits { deadline: Duration::from_millis(400), ..AcceptorLimits::default() };
    let server = EchoServer::start(limits, LONG);
    let mut half = greeted(server.address);
    half.write_all(&[7; 47]).unwrap();
    let mut gone = greeted(server.address);
    gone.shutdown(Shutdown::Write).unwrap();
    let mut dripping = greeted(server.address);
    // Single bytes, and never all 48 of them.
    let ended = (0..10_000).any(|count| {
        std::thread::sleep(Duration::from_millis(20));
        count < 47 && dripping.write_all(&[7]).is_err() || is_closed(&mut dripping, Duration::from_millis(1))
    });
    assert!(ended, "an incomplete handshake was read for ever");
    assert!(is_closed(&mut half, LONG) && is_closed(&mut gone, LONG));
    server.wait_for(|seen| {
        let count = |what: &str| seen.refused.iter().filter(|why| why.contains(what)).count();
        count("in time") == 2 && count("closed the connection") == 1
    });
    assert_eq!(ask(&mut connect(server.address, LONG).unwrap(), "in", LONG).unwrap(), "in");
}

#[test]
fn a_mismatch_is_reported_in_one_line() {
    let server = EchoServer::start(AcceptorLimits::default(), LONG);
    let enter = |token: &Token, service: Service| {
        Channel::connect(TcpStream::connect(server.address).unwrap(), token, &service, LONG).unwrap_err()
    };
    let wrong = enter(&Token::draw().unwrap(), SERVICE);
    assert_eq!(wrong.to_string(), "could not connect: the token is wrong");
    let version = enter(&token(), Service { version: 8, ..SERVICE });
    assert_eq!(
        version.to_string(),
        "could not talk to the other side: it has version 7, this side has 8; use the same prony on both"
    );
    let other = enter(&token(), Service { name: "other", version: 7 });
    assert_eq!(other.to_string(), "could not talk to the other side: it is prony's service 'test', not 'other'");
    // Bytes that are no handshake.
    let mut client = greeted(server.address);
    client.write_all(b"GET / HTTP/1.1\r\nHost: somewhere.example.org\r\n\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    let _ = client.read_to_end(&mut answer);
    assert!(answer.is_empty() || answer[0] == 1 && answer[1..].iter().all(|byte| *byte == 0), "{answer:?}");
    server.wait_for(|seen| seen.refused.iter().filter(|why| why.contains("the token is wrong")).count() == 2);
    assert!(server.seen.lock().unwrap().messages.is_empty());
}

#[test]
fn a_server_without_the_token_is_refused() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let impostor = std::thread::Builder::new().name("impostor".to_owned());
    let impostor = impostor.spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let greeting = br#"{"says":"challenge","version":7,"nonce":"test-00"}"#;
        stream.write_all(&[&(greeting.len() as u32).to_be_bytes()[..], greeting].concat()).unwrap();
        stream.read_exact(&mut [0; 48]).unwrap();
        stream.write_all(&[0; 49]).unwrap();
    });
    let error = connect(address, LONG).unwrap_err();
    assert!(matches!(error, Error::Impostor), "{error}");
    impostor.unwrap().join().unwrap();
}

#[test]
fn authenticated_clients_are_bounded_too() {
    let server = EchoServer::start(AcceptorLimits::default(), LONG);
    let mut client = connect(server.address, LONG).unwrap();
    let longest = "x".repeat(MOST - 2);
    assert_eq!(ask(&mut client, &longest, LONG).unwrap(), longest);
    assert!(client.send(&"x".repeat(channel::LONGEST), LONG).is_err(), "a message above the limit was sent");
    let mut client = connect(server.address, LONG).unwrap();
    assert!(ask(&mut client, &"x".repeat(MOST), LONG).is_err());
    server.wait_for(|seen| seen.errors.iter().any(|error| error.contains("the limit is 100000")));
    // A server that receives nothing for too long ends the connection, and so does a client.
    let hasty = EchoServer::start(AcceptorLimits::default(), Duration::from_millis(100));
    let mut idle = connect(hasty.address, LONG).unwrap();
    hasty.wait_for(|seen| seen.errors.iter().any(|error| error.contains("sent nothing")));
    assert!(idle.wait(LONG).is_err());
    let mut waiting = connect(server.address, LONG).unwrap();
    assert!(!waiting.wait(Duration::from_millis(10)).unwrap() && !waiting.has_input().unwrap());
    assert!(waiting.receive::<String>(Duration::from_millis(10), MOST).is_err());
    assert_eq!(ask(&mut waiting, "after all", LONG).unwrap(), "after all");
}
