//! Streams and round trips over loopback, and attacks by clients without the token.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails, and says what it skips"
)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use channel::{Channel, LONGEST, Token};
use launcher::Error;
use measure::Stopper;
use network::round_trip::{RoundTripKind, RoundTripPlan};
use network::serve::{Datagrams, FromClient, FromServer, ListenSettings, SERVICE, ServeLimits, ServeTest, Server};
use network::stream::{StreamDirection, StreamPlan};
use network::udp::Datagram;
use network::{Client, Cpus, Path};

pub(crate) const SOON: Duration = Duration::from_secs(10);

pub(crate) fn server(limits: ServeLimits) -> Server {
    Server::start(ListenSettings { limits, ..ListenSettings::local().unwrap() }).unwrap()
}

pub(crate) fn path(server: &Server) -> Path {
    Path::new(Client::connect(server.address(), server.token()).unwrap(), "loopback", Cpus::default())
}

pub(crate) fn small() -> StreamPlan {
    StreamPlan { record: 8_192, warmup: 0.01, block: 0.05, blocks: 4, ..StreamPlan::default() }
}

/// A control connection after the welcome.
fn welcomed(server: &Server) -> Channel {
    let stream = TcpStream::connect(server.address()).unwrap();
    let mut control = Channel::connect(stream, server.token(), &SERVICE, SOON).unwrap();
    assert!(matches!(control.receive(SOON, LONGEST).unwrap(), FromServer::Welcome { .. }));
    control
}

/// A control connection that has the lease.
pub(crate) fn admitted(server: &Server) -> Channel {
    let mut control = welcomed(server);
    // The server may not have noticed yet that the previous client has disconnected.
    loop {
        match control.receive(SOON, LONGEST).unwrap() {
            FromServer::Queued { .. } => {}
            FromServer::Granted => return control,
            other => panic!("no lease but {other:?}"),
        }
    }
}

/// A connection that sends nothing.
fn silent(server: &Server) -> TcpStream {
    TcpStream::connect(server.address()).unwrap()
}

/// Whether the server has ended a channel, after any messages.
fn is_ended(control: &mut Channel) -> bool {
    (0..10)
        .any(|_| control.receive::<FromServer>(SOON, LONGEST).is_err_and(|error| !error.to_string().contains("slow")))
}

/// Whether the other side closes the connection within some seconds.
fn closed(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(SOON)).unwrap();
    let mut rest = Vec::new();
    match stream.read_to_end(&mut rest) {
        Ok(_) => true,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    }
}

#[test]
fn streams_go_all_ways_and_bytes_agree() {
    let server = server(ServeLimits::default());
    let path = path(&server);
    for direction in [StreamDirection::Up, StreamDirection::Down, StreamDirection::Both] {
        let seen = StreamPlan { direction, ..small() }.measure_once(&path, &Stopper::default()).unwrap();
        // Four blocks were requested; on a busy machine samples come late, and blocks are longer and fewer.
        assert!(!seen.blocks.is_empty(), "{direction:?}: no block");
        let in_blocks: u64 = seen.blocks.iter().map(|(_, bytes)| *bytes).sum();
        assert!(in_blocks > 0 && in_blocks <= 2 * seen.written.0, "{direction:?}: {seen:?}");
        assert_eq!(seen.cut, None);
        assert!(seen.effective_window().is_some_and(|window| window > 0), "{direction:?}");
    }
    let two = StreamPlan { streams: 2, ..small() }.measure_once(&path, &Stopper::default()).unwrap();
    assert!(two.written.1 > 0);
}

/// Each would take an hour. A connection whose test was left takes no other.
#[test]
fn a_stop_ends_what_is_measured_within_it() {
    let server = server(ServeLimits { seconds: 1e6, ..ServeLimits::default() });
    let stopper = Stopper::default();
    stopper.stop();
    let stream = StreamPlan { block: 3600.0, ..small() }.measure_once(&path(&server), &stopper);
    assert!(matches!(stream, Err(Error::Stopped)), "{stream:?}");
    let trips = RoundTripPlan { block: 3600.0, ..RoundTripPlan::default() }.measure_once(&path(&server), &stopper);
    assert!(matches!(trips, Err(Error::Stopped)), "{trips:?}");
    let step = Datagram { size: 64, rate: 100.0, seconds: 3600.0, segments: 1 }.measure_once(&path(&server), &stopper);
    assert!(matches!(step, Err(Error::Stopped)), "{step:?}");
}

#[test]
fn round_trips_of_every_kind_are_counted() {
    let server = server(ServeLimits::default());
    let path = path(&server);
    let short = RoundTripPlan { warmup: 0.01, block: 0.05, blocks: 4, ..RoundTripPlan::default() };
    for kind in [RoundTripKind::Tcp, RoundTripKind::Udp, RoundTripKind::Connect] {
        // Without CPU time no round trip is made.
        testing::attempts(5, || {
            let trips = RoundTripPlan { kind, ..short.clone() }.measure_once(&path, &Stopper::default()).unwrap();
            testing::hold!(trips.latency.count() > 0, "{kind:?} {trips:?}");
            assert!(trips.latency.min() > Some(0), "{kind:?} {trips:?}");
            let in_blocks: u64 = trips.blocks.iter().map(|(_, count)| *count).sum();
            assert!(in_blocks <= trips.latency.count());
            Ok(())
        });
    }
    let open = RoundTripPlan { rate: Some(500.0), ..short.clone() }.measure_once(&path, &Stopper::default()).unwrap();
    // 0.2 s at 500 a second, whatever the machine does: late messages are not left out.
    assert!((99..=101).contains(&open.latency.count()), "{}", open.latency.count());
    testing::attempts(5, || {
        let loaded =
            RoundTripPlan { load: (1, 1), size: 64, ..short.clone() }.measure_once(&path, &Stopper::default()).unwrap();
        testing::hold!(loaded.latency.count() > 0, "{loaded:?}");
        Ok(())
    });
}

#[test]
fn clients_without_the_token_are_refused() {
    let server = server(ServeLimits::default());
    let wrong = Client::connect(server.address(), &Token::draw().unwrap()).unwrap_err();
    assert_eq!(wrong.to_string(), "could not connect: the token is wrong");
    // A test requested in clear text, as in versions before channels.
    let mut mute = silent(&server);
    let test =
        serde_json::to_vec(&FromClient::Test(ServeTest { up: 1, record: 1, seconds: 1.0, ..ServeTest::default() }))
            .unwrap();
    mute.write_all(&[&(test.len() as u32).to_be_bytes()[..], &test].concat()).unwrap();
    assert!(closed(&mut mute));
    // The token is valid for network tests alone.
    let farm = channel::Service { name: "farm", ..SERVICE };
    let other = Channel::connect(silent(&server), server.token(), &farm, SOON).unwrap_err();
    assert!(other.to_string().contains("it is prony's service 'net', not 'farm'"), "{other}");
}

#[test]
fn silent_connections_keep_no_client_out() {
    let server = server(ServeLimits { connections: 2, ..ServeLimits::default() });
    let silent: Vec<TcpStream> = (0..200).map(|_| silent(&server)).collect();
    Client::connect(server.address(), server.token()).unwrap();
    drop(silent);
}

#[test]
fn clients_beyond_the_limit_are_refused() {
    let server = server(ServeLimits { connections: 1, ..ServeLimits::default() });
    let first = admitted(&server);
    let refused = Client::connect(server.address(), server.token()).unwrap_err();
    assert!(refused.to_string().contains("1 clients are connected already"), "{refused}");
    drop(first);
}

#[test]
fn clients_that_leave_the_queue_make_room_for_others() {
    let server = server(ServeLimits { connections: 3, ..ServeLimits::default() });
    let holder = admitted(&server);
    let until = Instant::now() + Duration::from_secs(60);
    for _ in 0..3 {
        // Each of these waits, gives up, and leaves its place to the next one.
        let mut waiting = [0, 1].map(|_| {
            loop {
                let stream = TcpStream::connect(server.address()).unwrap();
                let mut control = Channel::connect(stream, server.token(), &SERVICE, SOON).unwrap();
                match control.receive(SOON, LONGEST) {
                    Ok(FromServer::Welcome { .. }) => break control,
                    _ => assert!(Instant::now() < until, "those who left keep their places"),
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        for control in &mut waiting {
            assert!(matches!(control.receive(SOON, LONGEST).unwrap(), FromServer::Queued { ahead: 1.. }));
        }
    }
    drop(holder);
    while let Err(error) = Client::connect(server.address(), server.token()) {
        assert!(Instant::now() < until, "{error}");
    }
}

#[test]
fn oversized_slow_and_malformed_messages_end_the_connection() {
    let server = server(ServeLimits { idle: 1.0, ..ServeLimits::default() });
    // An authenticated client that sends nothing loses its lease.
    assert!(is_ended(&mut admitted(&server)));
    let deep = (0..1_000).fold(serde_json::Value::Null, |inner, _| serde_json::Value::Array(vec![inner]));
    for meaningless in [serde_json::json!("hello"), serde_json::json!({}), deep] {
        let mut control = admitted(&server);
        control.send(&meaningless, SOON).unwrap();
        assert!(is_ended(&mut control), "{meaningless:.20} was accepted");
    }
    path(&server);
}

#[test]
fn thousands_of_connections_leave_the_server_alive() {
    let server = server(ServeLimits { connections: 8, ..ServeLimits::default() });
    let mut open: Vec<TcpStream> = Vec::new();
    for _ in 0..testing::trials(500, 2_000) {
        if let Ok(stream) = TcpStream::connect(server.address()) {
            open.push(stream);
        }
        // Fewer than a test may have open.
        if open.len() > 200 {
            open.clear();
        }
    }
    Client::connect(server.address(), server.token()).unwrap();
    drop(open);
}

#[test]
fn a_data_connection_without_a_ticket_gets_nothing() {
    let server = server(ServeLimits::default());
    let mut control = admitted(&server);
    let test = ServeTest { down: 1, record: 1000, seconds: 2.0, ..ServeTest::default() };
    control.send(&FromClient::Test(test), SOON).unwrap();
    let FromServer::Ready { tcp, ticket, .. } = control.receive(SOON, 4096).unwrap() else { panic!("not ready") };
    let data = SocketAddr::new(server.address().ip(), tcp);
    let mut silent_ones: Vec<TcpStream> = (0..20).map(|_| TcpStream::connect(data).unwrap()).collect();
    silent_ones[0].write_all(&[b'0'; 33]).unwrap();
    silent_ones[1].write_all(&ticket.as_bytes()[..31]).unwrap();
    silent_ones[2].write_all(format!("{ticket}\u{9}").as_bytes()).unwrap();
    let mut wanted = TcpStream::connect(data).unwrap();
    wanted.write_all(format!("{ticket}\u{2}").as_bytes()).unwrap();
    let mut some = [0; 1000];
    wanted.read_exact(&mut some).unwrap();
    drop(wanted);
    for stranger in &mut silent_ones {
        stranger.set_read_timeout(Some(SOON)).unwrap();
        let mut got = Vec::new();
        let _ = stranger.read_to_end(&mut got);
        assert!(got.is_empty(), "a connection without a ticket received {} bytes", got.len());
    }
    let FromServer::Report(report) = control.receive(SOON, LONGEST).unwrap() else { panic!("no report") };
    assert!(report.bytes_down >= 1000);
}

#[test]
fn datagrams_go_only_to_the_client_with_the_ticket() {
    let server = server(ServeLimits::default());
    let mut control = admitted(&server);
    let test = ServeTest { datagrams: Some(Datagrams::Echo), record: 100, seconds: 5.0, ..ServeTest::default() };
    control.send(&FromClient::Test(test), SOON).unwrap();
    let FromServer::Ready { udp: Some(port), ticket, .. } = control.receive(SOON, 4096).unwrap() else {
        panic!("not ready")
    };
    let at = SocketAddr::new(server.address().ip(), port);
    let socket = |patience: u64| {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(patience))).unwrap();
        socket
    };
    // A reflection attempt: no answer without the ticket, before and after another client presents it.
    let (stranger, friend) = (socket(300), socket(5_000));
    let mut answer = [0; 2000];
    stranger.send_to(&[7; 1000], at).unwrap();
    assert!(stranger.recv_from(&mut answer).is_err());
    friend.send_to(ticket.as_bytes(), at).unwrap();
    let (length, _) = friend.recv_from(&mut answer).unwrap();
    assert!(length <= ticket.len(), "the answer is longer than the question");
    stranger.send_to(ticket.as_bytes(), at).unwrap();
    stranger.send_to(&[7; 1000], at).unwrap();
    assert!(stranger.recv_from(&mut answer).is_err());
    friend.send_to(b"there", at).unwrap();
    assert_eq!(friend.recv_from(&mut answer).unwrap().0, 5);
    control.send(&FromClient::Stop, SOON).unwrap();
    assert!(matches!(control.receive(SOON, LONGEST).unwrap(), FromServer::Report(_)));
}

#[test]
fn limits_are_enforced() {
    let limits = ServeLimits { seconds: 1.0, bytes: 50_000_000, streams: 2, ..ServeLimits::default() };
    let server = server(limits);
    let good = ServeTest { up: 1, record: 10, seconds: 0.5, ..ServeTest::default() };
    for bad in [
        ServeTest { up: 3, ..good.clone() },
        ServeTest { up: u32::MAX, down: u32::MAX, ..good.clone() },
        ServeTest { seconds: 2.0, ..good.clone() },
        ServeTest { seconds: f64::INFINITY, ..good.clone() },
        ServeTest { record: 0, ..good.clone() },
        ServeTest { record: u32::MAX, ..good.clone() },
        ServeTest { blocks: u32::MAX, block: 1e-9, ..good.clone() },
        ServeTest { up: 0, ..good.clone() },
        ServeTest { options: network::SocketOptions { window: Some(u32::MAX), ..Default::default() }, ..good.clone() },
        ServeTest {
            options: network::SocketOptions { congestion: Some("../x".to_owned()), ..Default::default() },
            ..good.clone()
        },
    ] {
        let mut control = admitted(&server);
        // JSON has no infinity: that request is not even sent.
        let _ = control.send(&FromClient::Test(bad.clone()), SOON);
        let answer = control.receive::<FromServer>(SOON, LONGEST);
        assert!(matches!(answer, Ok(FromServer::Refused { .. }) | Err(_)), "{bad:?}: {answer:?}");
    }
    // The reason is said once.
    let long = StreamPlan { block: 1.0, blocks: 8, ..small() };
    let said = long.measure_once(&path(&server), &Stopper::default()).unwrap_err().to_string();
    assert!(said.matches("refused").count() == 1 && said.ends_with(" s; 1 s are allowed"), "{said}");
    // A test that exceeds a limit is ended: too many bytes, or too long.
    let mut control = admitted(&server);
    let cut = |control: &mut Channel| {
        let test = ServeTest { down: 1, record: 65_536, seconds: 0.9, ..ServeTest::default() };
        control.send(&FromClient::Test(test), SOON).unwrap();
        let FromServer::Ready { tcp, ticket, .. } = control.receive(SOON, 4096).unwrap() else { panic!("not ready") };
        let mut data = TcpStream::connect(SocketAddr::new(server.address().ip(), tcp)).unwrap();
        data.write_all(format!("{ticket}\u{2}").as_bytes()).unwrap();
        let mut sink = vec![0; 1 << 20];
        while data.read(&mut sink).is_ok_and(|count| count > 0) {}
        let FromServer::Report(report) = control.receive(SOON, LONGEST).unwrap() else { panic!("no report") };
        report.cut.unwrap_or_default()
    };
    let reason = cut(&mut control);
    assert!(reason.contains("more than") || reason.contains("longer than"), "{reason}");
}

#[test]
fn clients_are_served_one_after_the_other() {
    let server = server(ServeLimits::default());
    let first = admitted(&server);
    let (address, token) = (server.address(), server.token().clone());
    let second = std::thread::spawn(move || Client::connect(address, &token).map(|_| Instant::now()));
    std::thread::sleep(Duration::from_millis(300));
    assert!(!second.is_finished(), "two clients had the lease at once");
    let freed = Instant::now();
    drop(first);
    assert!(second.join().unwrap().unwrap() >= freed);
}

#[test]
fn loopback_by_default_and_a_token_always() {
    let settings = ListenSettings::local().unwrap();
    assert!(settings.address.is_loopback() && settings.token.reveal().len() == 32);
}
