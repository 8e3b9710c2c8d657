//! Streams and round trips over loopback, and everything that a stranger may try.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::too_many_lines,
    reason = "a test that cannot go on fails, and says what it skips"
)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use fleet::round_trip::{Kind, RoundTrip};
use fleet::serve::message::{FromClient, FromServer, LONGEST, encode, receive, send};
use fleet::serve::{Datagrams, Limits, Role, Server, Settings, Test, Token};
use fleet::stream::{Direction, Stream};
use fleet::{Client, Cpus, Path};

const SOON: Duration = Duration::from_secs(10);

fn server(limits: Limits) -> Server {
    Server::start(Settings { limits, ..Settings::local().unwrap() }).unwrap()
}

fn path(server: &Server) -> Path {
    Path::new(Client::connect(server.address(), server.token()).unwrap(), "loopback", Cpus::default())
}

fn small() -> Stream {
    Stream { record: 8_192, warmup: 0.01, block: 0.01, blocks: 4, ..Stream::default() }
}

/// A control connection up to the challenge's nonce.
fn challenged(server: &Server) -> (TcpStream, String) {
    let mut control = TcpStream::connect(server.address()).unwrap();
    let FromServer::Challenge { nonce, .. } = receive(&mut control, SOON, 4096).unwrap() else {
        panic!("no challenge")
    };
    (control, nonce)
}

/// A control connection whose turn it is.
fn admitted(server: &Server) -> TcpStream {
    let (mut control, nonce) = challenged(server);
    let proof = server.token().proof(Role::Client, &nonce, "me").unwrap();
    send(&mut control, &FromClient::Proof { nonce: "me".to_owned(), proof }, SOON).unwrap();
    assert!(matches!(receive(&mut control, SOON, 4096).unwrap(), FromServer::Welcome { .. }));
    assert!(matches!(receive(&mut control, SOON, 4096).unwrap(), FromServer::Granted));
    control
}

/// Whether the other side has closed, within some seconds.
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
    let server = server(Limits::default());
    let path = path(&server);
    for direction in [Direction::Up, Direction::Down, Direction::Both] {
        let seen = Stream { direction, ..small() }.once(&path).unwrap();
        assert!(seen.blocks.len() >= 3, "{direction:?}: {} blocks", seen.blocks.len());
        let in_blocks: u64 = seen.blocks.iter().map(|(_, bytes)| *bytes).sum();
        assert!(in_blocks > 0 && in_blocks <= 2 * seen.written.0, "{direction:?}: {seen:?}");
        assert_eq!(seen.cut, None);
        assert!(seen.effective_window().is_some_and(|window| window > 0), "{direction:?}");
    }
    let two = Stream { streams: 2, ..small() }.once(&path).unwrap();
    assert!(two.written.1 > 0);
}

#[test]
fn round_trips_of_every_kind_are_counted() {
    let server = server(Limits::default());
    let path = path(&server);
    let short = RoundTrip { warmup: 0.01, block: 0.01, blocks: 4, ..RoundTrip::default() };
    for kind in [Kind::Tcp, Kind::Udp, Kind::Connect] {
        let trips = RoundTrip { kind, ..short.clone() }.once(&path).unwrap();
        assert!(trips.latency.count() > 3 && trips.latency.min() > Some(0), "{kind:?} {trips:?}");
        let in_blocks: u64 = trips.blocks.iter().map(|(_, count)| *count).sum();
        assert!(in_blocks <= trips.latency.count());
    }
    let open = RoundTrip { rate: Some(500.0), ..short.clone() }.once(&path).unwrap();
    // 0.04 s at 500 a second, whatever the machine does: those that are late are not left out.
    assert!((15..=25).contains(&open.latency.count()), "{}", open.latency.count());
    let loaded = RoundTrip { load: (1, 1), size: 64, ..short }.once(&path).unwrap();
    assert!(loaded.latency.count() > 0);
}

#[test]
fn no_token_a_wrong_token_and_a_replay_stay_outside() {
    let server = server(Limits::default());
    let (mut mute, _) = challenged(&server);
    send(&mut mute, &FromClient::Test(Test { up: 1, record: 1, seconds: 1.0, ..Test::default() }), SOON).unwrap();
    assert!(matches!(receive(&mut mute, SOON, 4096), Ok(FromServer::Denied { .. })));
    assert!(closed(&mut mute));
    let wrong = Client::connect(server.address(), &Token::draw().unwrap()).unwrap_err();
    assert!(wrong.to_string().contains("token"), "{wrong}");
    // What got in once does not get in again: the server's nonce is another one.
    let (mut first, nonce) = challenged(&server);
    let proof =
        FromClient::Proof { nonce: "me".to_owned(), proof: server.token().proof(Role::Client, &nonce, "me").unwrap() };
    send(&mut first, &proof, SOON).unwrap();
    assert!(matches!(receive(&mut first, SOON, 4096), Ok(FromServer::Welcome { .. })));
    let (mut second, _) = challenged(&server);
    send(&mut second, &proof, SOON).unwrap();
    assert!(matches!(receive(&mut second, SOON, 4096), Ok(FromServer::Denied { .. })));
    // A server's own proof, sent back to it, proves nothing.
    let (mut third, nonce) = challenged(&server);
    let proof = server.token().proof(Role::Server, &nonce, "me").unwrap();
    send(&mut third, &FromClient::Proof { nonce: "me".to_owned(), proof }, SOON).unwrap();
    assert!(matches!(receive(&mut third, SOON, 4096), Ok(FromServer::Denied { .. })));
}

#[test]
fn a_client_notices_a_server_that_does_not_know_the_token() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let impostor = std::thread::spawn(move || {
        let (mut control, _) = listener.accept().unwrap();
        send(&mut control, &FromServer::Challenge { version: 1, nonce: "x".to_owned() }, SOON).unwrap();
        let _: FromClient = receive(&mut control, SOON, 4096).unwrap();
        let welcome = FromServer::Welcome { proof: "00".repeat(32), limits: Limits::default() };
        send(&mut control, &welcome, SOON).unwrap();
    });
    let error = Client::connect(address, &Token::draw().unwrap()).unwrap_err();
    assert!(error.to_string().contains("does not know the token"), "{error}");
    impostor.join().unwrap();
}

#[test]
fn oversized_truncated_slow_and_meaningless_messages_are_cut_off() {
    let server = server(Limits { idle: 1.0, ..Limits::default() });
    for bytes in [
        u32::MAX.to_be_bytes().to_vec(),
        (LONGEST as u32 + 1).to_be_bytes().to_vec(),
        // More than who is not let in yet may say.
        2_000_u32.to_be_bytes().to_vec(),
        [&5_u32.to_be_bytes()[..], b"hello"].concat(),
        [&2_u32.to_be_bytes()[..], b"{}"].concat(),
    ] {
        let (mut stranger, _) = challenged(&server);
        stranger.write_all(&bytes).unwrap();
        assert!(closed(&mut stranger), "{bytes:?}");
    }
    // Truncated, then silence; and a byte a moment for ever.
    let (mut truncated, _) = challenged(&server);
    truncated.write_all(&100_u32.to_be_bytes()).unwrap();
    let (mut slow, _) = challenged(&server);
    let dripping = std::thread::spawn(move || {
        slow.write_all(&900_u32.to_be_bytes()).unwrap();
        (0..300).any(|_| {
            std::thread::sleep(Duration::from_millis(100));
            slow.write_all(b" ").is_err()
        })
    });
    assert!(closed(&mut truncated));
    assert!(dripping.join().unwrap(), "a dripping client was heard for ever");
    // Who was let in and says nothing loses the turn.
    let mut idle = admitted(&server);
    assert!(closed(&mut idle));
    let mut deep = admitted(&server);
    let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    deep.write_all(&(nested.len() as u32).to_be_bytes()).unwrap();
    deep.write_all(nested.as_bytes()).unwrap();
    assert!(closed(&mut deep));
    path(&server);
}

#[test]
fn thousands_of_connections_leave_the_server_alive() {
    let server = server(Limits { connections: 8, ..Limits::default() });
    let mut open: Vec<TcpStream> = Vec::new();
    for _ in 0..2_000 {
        if let Ok(stream) = TcpStream::connect(server.address()) {
            open.push(stream);
        }
        // No more than a test may have open.
        if open.len() > 200 {
            open.clear();
        }
    }
    drop(open);
    let began = Instant::now();
    loop {
        match Client::connect(server.address(), server.token()) {
            Ok(_) => break,
            Err(error) => assert!(began.elapsed() < Duration::from_secs(120), "{error}"),
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_stranger_on_the_data_port_gets_nothing() {
    let server = server(Limits::default());
    let mut control = admitted(&server);
    let test = Test { down: 1, record: 1000, seconds: 2.0, ..Test::default() };
    send(&mut control, &FromClient::Test(test), SOON).unwrap();
    let FromServer::Ready { tcp, nonce, .. } = receive(&mut control, SOON, 4096).unwrap() else { panic!("not ready") };
    let data = SocketAddr::new(server.address().ip(), tcp);
    let mut strangers: Vec<TcpStream> = (0..20).map(|_| TcpStream::connect(data).unwrap()).collect();
    strangers[0].write_all(&[b'0'; 33]).unwrap();
    strangers[1].write_all(&nonce.as_bytes()[..31]).unwrap();
    strangers[2].write_all(format!("{nonce}\u{9}").as_bytes()).unwrap();
    let mut wanted = TcpStream::connect(data).unwrap();
    wanted.write_all(format!("{nonce}\u{2}").as_bytes()).unwrap();
    let mut some = [0; 1000];
    wanted.read_exact(&mut some).unwrap();
    drop(wanted);
    for stranger in &mut strangers {
        stranger.set_read_timeout(Some(SOON)).unwrap();
        let mut got = Vec::new();
        let _ = stranger.read_to_end(&mut got);
        assert!(got.is_empty(), "a stranger received {} bytes", got.len());
    }
    let FromServer::Report(report) = receive(&mut control, SOON, LONGEST).unwrap() else { panic!("no report") };
    assert!(report.bytes_down >= 1000);
}

#[test]
fn datagrams_go_to_who_said_the_nonce_and_to_nobody_else() {
    let server = server(Limits::default());
    let mut control = admitted(&server);
    let test = Test { datagrams: Some(Datagrams::Echo), record: 100, seconds: 5.0, ..Test::default() };
    send(&mut control, &FromClient::Test(test), SOON).unwrap();
    let FromServer::Ready { udp: Some(port), nonce, .. } = receive(&mut control, SOON, 4096).unwrap() else {
        panic!("not ready")
    };
    let at = SocketAddr::new(server.address().ip(), port);
    let socket = |patience: u64| {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(patience))).unwrap();
        socket
    };
    // A reflection attempt: no answer to who does not know the nonce, before and after somebody does.
    let (stranger, friend) = (socket(300), socket(5_000));
    let mut answer = [0; 2000];
    stranger.send_to(&[7; 1000], at).unwrap();
    assert!(stranger.recv_from(&mut answer).is_err());
    friend.send_to(nonce.as_bytes(), at).unwrap();
    let (length, _) = friend.recv_from(&mut answer).unwrap();
    assert!(length <= nonce.len(), "the answer is longer than the question");
    stranger.send_to(nonce.as_bytes(), at).unwrap();
    stranger.send_to(&[7; 1000], at).unwrap();
    assert!(stranger.recv_from(&mut answer).is_err());
    friend.send_to(b"there", at).unwrap();
    assert_eq!(friend.recv_from(&mut answer).unwrap().0, 5);
    send(&mut control, &FromClient::Stop, SOON).unwrap();
    assert!(matches!(receive(&mut control, SOON, LONGEST).unwrap(), FromServer::Report(_)));
}

#[test]
fn limits_hold() {
    let limits = Limits { seconds: 1.0, bytes: 50_000_000, streams: 2, ..Limits::default() };
    let server = server(limits);
    let good = Test { up: 1, record: 10, seconds: 0.5, ..Test::default() };
    for bad in [
        Test { up: 3, ..good.clone() },
        Test { up: u32::MAX, down: u32::MAX, ..good.clone() },
        Test { seconds: 2.0, ..good.clone() },
        Test { seconds: f64::INFINITY, ..good.clone() },
        Test { record: 0, ..good.clone() },
        Test { record: u32::MAX, ..good.clone() },
        Test { blocks: u32::MAX, block: 1e-9, ..good.clone() },
        Test { up: 0, ..good.clone() },
        Test { options: fleet::Options { window: Some(u32::MAX), ..Default::default() }, ..good.clone() },
        Test { options: fleet::Options { congestion: Some("../x".to_owned()), ..Default::default() }, ..good.clone() },
    ] {
        let mut control = admitted(&server);
        // JSON has no infinity: that one does not even arrive.
        let _ = send(&mut control, &FromClient::Test(bad.clone()), SOON);
        let answer = receive::<FromServer>(&mut control, SOON, LONGEST);
        assert!(matches!(answer, Ok(FromServer::Refused { .. }) | Err(_)), "{bad:?}: {answer:?}");
    }
    // A test that takes too much is cut: too many bytes, or too long.
    let mut control = admitted(&server);
    let cut = |control: &mut TcpStream| {
        send(control, &FromClient::Test(Test { down: 1, record: 65_536, seconds: 0.9, ..Test::default() }), SOON)
            .unwrap();
        let FromServer::Ready { tcp, nonce, .. } = receive(control, SOON, 4096).unwrap() else { panic!("not ready") };
        let mut data = TcpStream::connect(SocketAddr::new(server.address().ip(), tcp)).unwrap();
        data.write_all(format!("{nonce}\u{2}").as_bytes()).unwrap();
        let mut sink = vec![0; 1 << 20];
        while data.read(&mut sink).is_ok_and(|count| count > 0) {}
        let FromServer::Report(report) = receive(control, SOON, LONGEST).unwrap() else { panic!("no report") };
        report.cut.unwrap_or_default()
    };
    let reason = cut(&mut control);
    assert!(reason.contains("more than") || reason.contains("longer than"), "{reason}");
}

#[test]
fn rates_are_limited() {
    let server = server(Limits { bytes_per_second: Some(2_000_000), ..Limits::default() });
    let path = path(&server);
    for direction in [Direction::Up, Direction::Down] {
        let stream = Stream { direction, warmup: 0.3, block: 0.2, blocks: 3, ..small() };
        let seen = stream.once(&path).unwrap();
        let bytes: u64 = seen.blocks.iter().map(|(_, bytes)| *bytes).sum();
        let nanos: u64 = seen.blocks.iter().map(|(nanos, _)| *nanos).sum();
        // Socket buffers smear it.
        assert!((bytes as f64) < 2.0 * 2e6 * nanos as f64 * 1e-9, "{direction:?}: {bytes} in {nanos}");
    }
}

#[test]
fn clients_are_served_one_after_the_other() {
    let server = server(Limits::default());
    let first = admitted(&server);
    let (address, token) = (server.address(), server.token().clone());
    let second = std::thread::spawn(move || Client::connect(address, &token).map(|_| Instant::now()));
    std::thread::sleep(Duration::from_millis(300));
    assert!(!second.is_finished(), "two clients had their turn at once");
    let freed = Instant::now();
    drop(first);
    assert!(second.join().unwrap().unwrap() >= freed);
}

#[test]
fn loopback_by_default_and_a_token_always() {
    let settings = Settings::local().unwrap();
    assert!(settings.address.is_loopback() && settings.token.reveal().len() == 32);
    assert!(encode(&FromClient::Stop).unwrap().len() < 100);
}
