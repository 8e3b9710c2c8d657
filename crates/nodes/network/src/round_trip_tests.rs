//! Round trips with a server that does not answer, or answers something else.

use std::net::TcpListener;

use socket2::{Domain, Protocol, Socket, Type};

use super::*;

/// A server that has stopped: the kernel still makes connections to it, and nothing answers on them.
fn frozen(kind: RoundTripKind, patience: Duration, stopper: &Stopper) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let tcp = listener.local_addr().unwrap();
    let connections = |count: usize| (0..count).map(|_| TcpStream::connect(tcp).unwrap()).collect::<Vec<_>>();
    let echo = connections(usize::from(kind == RoundTripKind::Tcp));
    let data = DataSockets { up: connections(1), down: connections(1), echo, udp: None, tcp };
    let plan = RoundTripPlan { kind, ..RoundTripPlan::default() };
    match plan.over(&data, (None, &SocketNetwork::default()), patience, stopper) {
        Ok(trips) => format!("{trips:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_sample_that_nothing_answers_ends() {
    for kind in [RoundTripKind::Tcp, RoundTripKind::Connect] {
        let said = frozen(kind, Duration::from_millis(300), &Stopper::default());
        assert!(said.contains("no answer within 0.3 s"), "{kind:?}: {said}");
        // Long before that when the user asks to stop.
        let asked = Stopper::default();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(100));
                asked.stop();
            });
            let said = frozen(kind, Duration::from_secs(3_600), &asked);
            assert!(!said.contains("no answer within"), "{kind:?}: {said}");
        });
    }
}

/// A listener whose queue is full: the kernel drops all further requests, as a filter in between does.
#[cfg(target_os = "linux")]
fn deaf() -> (Socket, SocketAddr, Vec<TcpStream>) {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP)).unwrap();
    socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    socket.listen(0).unwrap();
    let address = socket.local_addr().unwrap().as_socket().unwrap();
    let try_once = |_| TcpStream::connect_timeout(&address, Duration::from_millis(300)).ok();
    let filling = (0..64).map_while(try_once).collect::<Vec<_>>();
    assert!(filling.len() < 64, "a queue of 64");
    (socket, address, filling)
}

#[cfg(target_os = "linux")]
#[test]
fn a_request_to_connect_that_nothing_answers_ends() {
    let (_listener, tcp, _filling) = deaf();
    let plan = RoundTripPlan { kind: RoundTripKind::Connect, ..RoundTripPlan::default() };
    let data = DataSockets { up: vec![], down: vec![], echo: vec![], udp: None, tcp };
    let sample = |patience: Duration| {
        let began = Instant::now();
        let said = plan.over(&data, (None, &SocketNetwork::default()), patience, &Stopper::default());
        (said.unwrap_err().to_string(), began.elapsed())
    };
    // The sample is given up, and where its own end comes first, the request is: Linux would repeat it for 127 s.
    let (said, took) = sample(Duration::from_millis(300));
    assert!(said.contains("no answer within 0.3 s") && took < Duration::from_secs(60), "{said} {took:?}");
    let (said, took) = sample(Duration::from_secs(3_600));
    assert!(took < Duration::from_secs(60), "{said} {took:?}");
}

#[test]
fn only_the_same_datagram_is_an_answer() {
    let [here, there] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
    here.connect(there.local_addr().unwrap()).unwrap();
    there.connect(here.local_addr().unwrap()).unwrap();
    here.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let mut line = RoundTripSocket::datagrams(&here, 16);
    let sent = |number: u64| [&number.to_le_bytes()[..], &[0x33; 8]].concat();
    // A late one, a shorter, a longer one, and then the answer.
    for answer in [sent(6), sent(7)[..15].to_vec(), [sent(7), vec![0]].concat(), sent(7)] {
        there.send(&answer).unwrap();
    }
    assert!(line.trip(&mut [0x33; 16], 7).unwrap());
    assert!(!line.trip(&mut [0x33; 16], 8).unwrap(), "no answer, and none of the others is left");
}
