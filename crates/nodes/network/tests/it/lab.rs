//! The switch laboratory: it works, is isolated, loses as the relation predicts, and is removed completely.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails, and says what it skips"
)]

use measure::Stopper;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lab::{Lab, LabShape, labs, means};
use network::serve::{ListenSettings, Server};
use network::udp::Datagram;
use network::{Client, Cpus, Path};

/// A laboratory, or `None` with the reason reported as a skip.
fn lab(shape: LabShape) -> Option<Lab> {
    match means().and_then(|_| Lab::up(shape)) {
        Ok(lab) => Some(lab),
        Err(reason) => {
            testing::skip!("{reason}");
            None
        }
    }
}

fn bind(host: usize) -> UdpSocket {
    let socket = UdpSocket::bind(SocketAddr::from((Lab::address(host), 7000))).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    socket
}

#[test]
fn hosts_reach_each_other_and_nothing_else() {
    let Some(lab) = lab(LabShape { hosts: 3, ..LabShape::default() }) else { return };
    let server = lab.spawn(0, || {
        let socket = bind(0);
        let mut buffer = [0; 100];
        let (length, from) = socket.recv_from(&mut buffer).unwrap();
        socket.send_to(&buffer[..length], from).unwrap();
    });
    let answer = lab.at(2, || {
        let socket = bind(2);
        // The server may not be listening yet.
        for _ in 0..50 {
            let _ = socket.send_to(b"hello", (Lab::address(0), 7000));
            socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
            let mut buffer = [0; 100];
            if let Ok((length, _)) = socket.recv_from(&mut buffer) {
                return buffer[..length].to_vec();
            }
        }
        Vec::new()
    });
    assert_eq!(answer.unwrap(), b"hello");
    server.unwrap().join().unwrap().unwrap();
    let out = lab.at(1, || UdpSocket::bind("0.0.0.0:0").unwrap().connect("192.0.2.1:9").is_err()).unwrap();
    assert!(out, "the laboratory is not isolated");
    assert!(lab.at(7, || ()).is_err());
    let links = lab.run(1, "ip", &["-o", "link"]).unwrap();
    assert_eq!(String::from_utf8_lossy(&links.output).lines().count(), 2, "lo and eth0");
}

#[test]
fn a_port_drops_what_its_buffer_does_not_hold_and_a_card_queues() {
    // At 1 Mbit/s a frame takes 12 ms, so that sending at once fills the queue.
    let shape = LabShape { hosts: 2, bits_per_second: 1_000_000, host_queue: 1_000_000, ..LabShape::default() };
    let Some(lab) = lab(shape) else { return };
    let before = lab.drops().unwrap();
    lab.at(1, || {
        let socket = bind(1);
        for _ in 0..20 {
            socket.send_to(&[0; 1472], (Lab::address(0), 7000)).unwrap();
        }
    })
    .unwrap();
    // 20 frames take 240 ms; the sender may have to wait for a CPU.
    testing::attempts(20, || {
        let packets = lab.drops().unwrap().since(&before).ports[0].packets;
        testing::hold!(packets >= 15, "{packets} packets");
        Ok(())
    });
    let after = lab.drops().unwrap().since(&before);
    // One sender at the port's own rate loses nothing, whatever the buffers.
    assert_eq!((after.at_ports(), after.at_cards()), (0, 0), "{after:?}");
    assert!(after.ports[0].bytes / after.ports[0].packets > 1400, "{after:?}");
}

#[test]
fn shapes_that_make_no_sense_are_refused() {
    for shape in [
        LabShape { hosts: 0, ..LabShape::default() },
        LabShape { hosts: 100_000, ..LabShape::default() },
        LabShape { bits_per_second: 1, ..LabShape::default() },
        LabShape { port_buffer: 100, ..LabShape::default() },
        LabShape { mtu: 100_000, ..LabShape::default() },
    ] {
        assert!(Lab::up(shape).unwrap_err().to_string().starts_with("could not "), "{shape:?}");
    }
}

#[test]
fn the_design_of_22_and_15_comes_up_and_goes_down() {
    let Some(lab) = lab(LabShape { hosts: 37, ..LabShape::default() }) else { return };
    let own = std::process::id() as i32;
    assert!(labs().unwrap().iter().any(|entry| entry.owner == own && entry.hosts == 37));
    assert_eq!(lab.drops().unwrap().ports.len(), 37);
    drop(lab);
    assert!(!labs().unwrap().iter().any(|entry| entry.owner == own && entry.hosts == 37));
}

/// Data and acknowledgements share one medium and collide: a stream gets clearly less of it than of a switch.
#[test]
fn a_common_medium_carries_less_than_links_in_both_directions() {
    let rate = |half_duplex: bool| -> Option<f64> {
        // Slow, so that a thread that carries frames keeps up with the medium under other load.
        let shape = LabShape { bits_per_second: 10_000_000, half_duplex, ..LabShape::default() };
        let lab = lab(shape)?;
        let listener = lab.at(0, || TcpListener::bind((Lab::address(0), 7001)).unwrap()).unwrap();
        let receiver = lab.spawn(0, move || {
            let (mut stream, _) = listener.accept().unwrap();
            let (mut buffer, mut sum, mut began) = (vec![0; 1 << 16], 0, Instant::now());
            while let Ok(length @ 1..) = stream.read(&mut buffer) {
                // The beginning is slow start.
                if sum < 200_000 && sum + length >= 200_000 {
                    began = Instant::now();
                }
                sum += length;
            }
            (sum - 200_000) as f64 / began.elapsed().as_secs_f64()
        });
        lab.at(1, || {
            let mut stream = TcpStream::connect((Lab::address(0), 7001)).unwrap();
            for _ in 0..25 {
                stream.write_all(&[0; 65_536]).unwrap();
            }
        })
        .unwrap();
        Some(receiver.unwrap().join().unwrap().unwrap())
    };
    testing::attempts(4, || {
        let (Some(full), Some(half)) = (rate(false), rate(true)) else { return Ok(()) };
        println!("full duplex {:.3} MB/s, half duplex {:.3} MB/s at 10 Mbit/s", full * 1e-6, half * 1e-6);
        // The medium carries 1.18 MB/s of payload, whatever the load.
        testing::hold!(half < 1.19e6 && full < 1.25e6, "more than the link carries: {full} {half}");
        testing::hold!(half < 0.97 * full, "{half} B/s against {full} B/s");
        Ok(())
    });
}

#[test]
fn datagrams_that_a_link_holds_back_are_no_loss_and_no_rate_of_their_own() {
    // A full frame takes 12.1 ms, and the sender's socket holds some dozens.
    let shape = LabShape { hosts: 2, bits_per_second: 1_000_000, ..LabShape::default() };
    let Some(lab) = lab(shape).map(Arc::new) else { return };
    let settings = ListenSettings { address: Lab::address(0).into(), ..ListenSettings::local().unwrap() };
    let server = lab.at(0, || Server::start(settings)).unwrap().unwrap();
    let client = Client::connect_from(&lab, 1, server.address(), server.token()).unwrap();
    let path = Path::new(client, "lab", Cpus::default());
    testing::attempts(5, || {
        let counts = Datagram { size: 1472, rate: 10_000.0, seconds: 0.2, segments: 1 }
            .measure_once(&path, &Stopper::default())
            .unwrap();
        assert!(counts.kept(10_000.0) < 0.5, "{counts:?}");
        // A receiver that waited for a CPU saw the first ones late.
        testing::hold!(counts.received == counts.offered, "{counts:?}");
        testing::hold!(counts.received_per_second() < 1.1 * 1e6 / (8.0 * 1514.0), "{counts:?}");
        Ok(())
    });
}
