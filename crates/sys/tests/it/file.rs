//! Descriptors, direct I/O, locks, pipes and sockets work as documented on any machine.
#![allow(clippy::unwrap_used, reason = "all of this is a test")]

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;

use sys::file::{self, Advice, AlignedBuffer, Lock};
use sys::socket;

#[test]
fn bare_calls_read_what_was_written() {
    let file = tempfile::tempfile().unwrap();
    assert_eq!(file::write(&file, b"hello").unwrap(), 5);
    assert_eq!(file::write_at(&file, b"J", 0).unwrap(), 1);
    let mut back = [0u8; 8];
    assert_eq!(file::read_at(&file, &mut back, 1).unwrap(), 4);
    assert_eq!(&back[..4], b"ello");
    assert_eq!(file::read(&file, &mut back).unwrap(), 0);
    assert!(file::read_at(&file, &mut back, u64::MAX).is_err());
    file::sync(&file).unwrap();
    file::sync_data(&file).unwrap();
    file::advise(&file, Advice::DontNeed).unwrap();
    file::advise(&file, Advice::Sequential).unwrap();
    let (from, _to) = std::io::pipe().unwrap();
    assert!(file::advise(&from, Advice::Normal).is_err());
}

#[test]
fn direct_io_works_or_says_no() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("direct");
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let file = match file::open_direct(&path, &options) {
        Ok(file) => file,
        Err(reason) => {
            testing::skip!("direct I/O: {reason}");
            return;
        }
    };
    let mut buffer = AlignedBuffer::new(64 * 1024).unwrap();
    buffer.fill(7);
    assert_eq!(file::write_at(&file, &buffer, 0).unwrap(), 64 * 1024);
    buffer.fill(0);
    assert_eq!(file::read_at(&file, &mut buffer, 0).unwrap(), 64 * 1024);
    assert!(buffer.iter().all(|byte| *byte == 7));
}

#[test]
fn locks_of_one_process_do_not_exclude() {
    let file = tempfile::tempfile().unwrap();
    file::set_lock(file.as_fd(), Some(Lock::Exclusive), 0, 10).unwrap();
    file::set_lock(file.as_fd(), Some(Lock::Exclusive), 5, 0).unwrap();
    assert!(file::set_lock(file.as_fd(), Some(Lock::Shared), u64::MAX, 0).is_err());
    let read_only = std::fs::File::open("/dev/null").unwrap();
    assert!(file::set_lock(read_only.as_fd(), Some(Lock::Exclusive), 0, 1).is_err());
}

#[test]
fn a_pipe_grows() {
    let (_from, to) = std::io::pipe().unwrap();
    let wanted = 128 * 1024;
    match file::set_pipe_capacity(&to, wanted) {
        Ok(got) => assert!(got >= wanted),
        Err(reason) => testing::skip!("{reason}"),
    }
    assert!(file::set_pipe_capacity(&to, usize::MAX).is_err());
}

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
