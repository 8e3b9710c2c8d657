//! Limits of one test: rates, ends in time, counts of bytes, and their verification.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails, and says what it skips"
)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use super::serve::{SOON, admitted, path, server, small};
use channel::{Channel, LONGEST};
use measure::Stopper;
use network::serve::{Datagrams, FromClient, FromServer, SERVICE, ServeLimits, ServeTest, Server};
use network::stream::{StreamDirection, StreamPlan};

#[test]
fn rates_are_limited() {
    let server = server(ServeLimits { bytes_per_second: Some(2_000_000), ..ServeLimits::default() });
    let path = path(&server);
    for direction in [StreamDirection::Up, StreamDirection::Down] {
        let stream = StreamPlan { direction, warmup: 0.3, block: 0.2, blocks: 3, ..small() };
        let seen = stream.measure_once(&path, &Stopper::default()).unwrap();
        let bytes: u64 = seen.blocks.iter().map(|(_, bytes)| *bytes).sum();
        let nanos: u64 = seen.blocks.iter().map(|(nanos, _)| *nanos).sum();
        // Socket buffers smear the rate.
        assert!((bytes as f64) < 2.0 * 2e6 * nanos as f64 * 1e-9, "{direction:?}: {bytes} in {nanos}");
    }
}

/// Bytes that a server moved up and down in a test of some connections that the client never ends.
fn moved(server: &Server, test: &ServeTest, work: impl Fn(&FromServer)) -> network::serve::ServeReport {
    let mut control = admitted(server);
    control.send(&FromClient::Test(test.clone()), SOON).unwrap();
    let ready = control.receive::<FromServer>(SOON, 4096).unwrap();
    work(&ready);
    let FromServer::Report(report) = control.receive(SOON, LONGEST).unwrap() else { panic!("no report") };
    *report
}

/// Data connections that have shown the ticket, for one purpose.
fn data(server: &Server, ready: &FromServer, purpose: char, count: usize) -> Vec<TcpStream> {
    let FromServer::Ready { tcp, ticket, .. } = ready else { panic!("not ready") };
    let connect = |_| {
        let mut stream = TcpStream::connect(SocketAddr::new(server.address().ip(), *tcp)).unwrap();
        stream.write_all(format!("{ticket}{purpose}").as_bytes()).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(4))).unwrap();
        stream
    };
    (0..count).map(connect).collect()
}

#[test]
fn all_connections_of_a_direction_share_its_rate() {
    let server = server(ServeLimits { bytes_per_second: Some(2_000_000), ..ServeLimits::default() });
    let seconds = 1.5;
    let test = ServeTest { up: 8, record: 4096, seconds, ..ServeTest::default() };
    let report = moved(&server, &test, |ready| {
        std::thread::scope(|scope| {
            for mut stream in data(&server, ready, '\u{1}', 8) {
                scope.spawn(move || while stream.write_all(&[1; 65_536]).is_ok() {});
            }
        });
    });
    // Each connection may be one read ahead of its share.
    let most = 2e6 * seconds + 8.0 * 131_072.0;
    assert!(report.bytes_up > 0 && (report.bytes_up as f64) < 2.5 * most, "{} of {most}", report.bytes_up);
}

#[test]
fn a_rate_below_one_read_a_second_is_kept() {
    let server = server(ServeLimits { bytes_per_second: Some(1_000), ..ServeLimits::default() });
    let test = ServeTest { up: 1, record: 4096, seconds: 3.0, ..ServeTest::default() };
    let report = moved(&server, &test, |ready| {
        for mut stream in data(&server, ready, '\u{1}', 1) {
            while stream.write_all(&[1; 65_536]).is_ok() {}
        }
    });
    // One read takes 131072 B at most.
    assert!((1..=131_072).contains(&report.bytes_up), "{}", report.bytes_up);
}

#[test]
fn a_test_ends_in_time_however_much_its_client_sends() {
    let server = server(ServeLimits { seconds: 1.0, ..ServeLimits::default() });
    let test = ServeTest { up: 2, record: 4096, seconds: 0.5, ..ServeTest::default() };
    let mut control = admitted(&server);
    control.send(&FromClient::Test(test), SOON).unwrap();
    let ready = control.receive::<FromServer>(SOON, 4096).unwrap();
    let streams = data(&server, &ready, '\u{1}', 2);
    let reported = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for mut stream in streams {
            let reported = &reported;
            scope.spawn(move || {
                while !reported.load(std::sync::atomic::Ordering::SeqCst) && stream.write_all(&[1; 65_536]).is_ok() {}
            });
        }
        let answer = control.receive::<FromServer>(SOON, LONGEST);
        reported.store(true, std::sync::atomic::Ordering::SeqCst);
        assert!(matches!(&answer, Ok(FromServer::Report(report)) if report.cut.is_some()), "{answer:?}");
    });
}

#[test]
fn echoes_and_datagrams_count_as_bytes_too() {
    let server = server(ServeLimits { bytes: 200_000, ..ServeLimits::default() });
    let test = ServeTest { echo: 1, record: 1000, seconds: 20.0, ..ServeTest::default() };
    let report = moved(&server, &test, |ready| {
        let mut stream = data(&server, ready, '\u{3}', 1).remove(0);
        let mut back = [0; 1000];
        while stream.write_all(&[1; 1000]).and_then(|()| stream.read_exact(&mut back)).is_ok() {}
    });
    assert_eq!(report.cut.as_deref(), Some("more than 200000 bytes"));
    for kind in [Datagrams::Count, Datagrams::Echo] {
        let test = ServeTest { datagrams: Some(kind), record: 1000, seconds: 20.0, ..ServeTest::default() };
        let mut control = admitted(&server);
        control.send(&FromClient::Test(test), SOON).unwrap();
        let ready = control.receive(SOON, 4096).unwrap();
        let FromServer::Ready { udp: Some(port), ticket, .. } = ready else { panic!("not ready") };
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(SocketAddr::new(server.address().ip(), port)).unwrap();
        socket.send(ticket.as_bytes()).unwrap();
        socket.recv(&mut [0; 64]).unwrap();
        while !control.has_input().unwrap() {
            let _ = socket.send(&[9; 1000]);
        }
        let FromServer::Report(report) = control.receive(SOON, LONGEST).unwrap() else { panic!("no report") };
        assert_eq!(report.cut.as_deref(), Some("more than 200000 bytes"), "{kind:?}");
    }
}

#[test]
fn half_a_message_does_not_make_a_test_longer() {
    let server = server(ServeLimits { seconds: 1.0, ..ServeLimits::default() });
    let test = ServeTest { accept: true, record: 1, seconds: 1.0, ..ServeTest::default() };
    // A proxy that forwards one byte of the client's messages during the test.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let here = listener.local_addr().unwrap();
    let address = server.address();
    let (cut, held) =
        (std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false)), std::sync::mpsc::channel::<()>());
    let during = std::sync::Arc::clone(&cut);
    std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut to_server = TcpStream::connect(address).unwrap();
        let (mut back, mut to_client) = (to_server.try_clone().unwrap(), client.try_clone().unwrap());
        std::thread::spawn(move || std::io::copy(&mut back, &mut to_client));
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = client.read(&mut bytes) {
            let count = if during.load(std::sync::atomic::Ordering::SeqCst) { 1 } else { count };
            to_server.write_all(&bytes[..count]).unwrap();
        }
        let _ = held.1.recv();
    });
    let mut control = Channel::connect(TcpStream::connect(here).unwrap(), server.token(), &SERVICE, SOON).unwrap();
    while !matches!(control.receive(SOON, LONGEST).unwrap(), FromServer::Granted) {}
    control.send(&FromClient::Test(test), SOON).unwrap();
    assert!(matches!(control.receive(SOON, 4096).unwrap(), FromServer::Ready { .. }));
    let began = Instant::now();
    cut.store(true, std::sync::atomic::Ordering::SeqCst);
    control.send(&FromClient::Stop, SOON).unwrap();
    // The server waits 10 s for a message in other places.
    let report = control.receive::<FromServer>(Duration::from_secs(7), LONGEST);
    assert!(report.is_ok(), "no report within {:?}", began.elapsed());
    drop(held.0);
}

#[test]
fn what_a_client_sends_is_verified_and_its_first_wrong_byte_is_reported() {
    let server = server(ServeLimits::default());
    let test = ServeTest { up: 2, record: 4096, seconds: 20.0, ..ServeTest::default() };
    let report = moved(&server, &test, |ready| {
        for mut stream in data(&server, ready, '\u{1}', 2) {
            stream.write_all(&[1; 5_000]).unwrap();
        }
    });
    assert_eq!((report.verified_up, report.wrong_up), (10_000, Some((0, 0))), "{report:?}");
}
