//! Sockets work as documented on any machine.
#![allow(clippy::unwrap_used, reason = "all of this is a test")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};

use os::socket;

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (one, listener.accept().unwrap().0)
}

#[test]
fn socket_options_are_kept() {
    let (one, _two) = pair();
    for wanted in [true, false] {
        socket::set_no_delay(&one, wanted).unwrap();
        assert_eq!(one.nodelay().unwrap(), wanted);
    }
    assert!(socket::set_send_buffer(&one, 32 * 1024).unwrap() >= 32 * 1024);
    assert!(socket::set_receive_buffer(&one, 32 * 1024).unwrap() >= 32 * 1024);
    assert!(socket::set_send_buffer(&one, usize::MAX).is_err());
    let null = std::fs::File::open("/dev/null").unwrap();
    assert!(socket::set_no_delay(&null, true).is_err());
}

#[test]
fn tcp_tells_what_it_did() {
    let (mut one, mut two) = pair();
    one.write_all(&[1; 10_000]).unwrap();
    let mut back = [0; 10_000];
    two.read_exact(&mut back).unwrap();
    let info = socket::tcp_info(&two).unwrap();
    assert_eq!(info.state, Some(1));
    assert!(info.rtt_us.is_some() && info.congestion_window.unwrap() > 0);
    let name = socket::congestion(&one).unwrap();
    socket::set_congestion(&one, &name).unwrap();
    assert!(socket::set_congestion(&one, "no-such-control").unwrap_err().to_string().contains("no-such-control"));
    socket::set_pacing(&one, 1_000_000_000).unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    match socket::drops(&udp) {
        Ok(drops) => assert_eq!(drops, 0),
        Err(reason) => testing::skip!("{reason}"),
    }
    assert!(socket::effective_buffers(&udp).map_or(true, |(receive, send)| receive > 0 && send > 0));
    assert!(socket::tcp_info(&udp).is_err());
}
