use super::*;

/// Evidence of laboratories with a planted limit, as it was recorded on a busy machine: name, limit, evidence.
const RECORDED: &str = include_str!("limit_evidence.json");

fn recorded() -> Vec<(String, LimitKind, Evidence)> {
    serde_json::from_str(RECORDED).unwrap()
}

fn of(name: &str) -> Evidence {
    recorded().into_iter().find(|(one, ..)| one == name).unwrap().2
}

/// What others do on the machine, and drops that cost nothing, must not be taken for the limit.
#[test]
fn recorded_limits_are_named_with_decoys_beside_them() {
    for (name, kind, evidence) in recorded() {
        assert_eq!(limit(&evidence).kind, kind, "{name}: {}", limit(&evidence).text);
        let mut decoys = evidence.clone();
        decoys.receiver.soft_interrupts = 0.6;
        decoys.sender.socket_drops += 40;
        decoys.used = [[1.0, 0.9]; 2];
        decoys.copy = Some(1e12);
        if decoys.tcp.as_ref().is_some_and(|tcp| tcp.lost == 0.0) {
            decoys.queue_drops += 3;
            decoys.receiver.interface_drops += 1;
        }
        assert_eq!(limit(&decoys).kind, kind, "{name} with decoys: {}", limit(&decoys).text);
    }
}

#[test]
fn each_evidence_that_no_laboratory_gives_is_named() {
    let end = |ran: f64| EndEvidence { cpus: vec![0, 1], threads: 1, ran, all_ran: ran, ..EndEvidence::default() };
    let base = Evidence { rate: 1e9, streams: 1, payload: 1 << 30, ..Evidence::default() };
    let named = |evidence: &Evidence| limit(evidence).kind;
    let busy = Evidence { sender: end(0.95), receiver: end(0.4), ..base.clone() };
    assert_eq!(named(&busy), LimitKind::SendingThread);
    assert_eq!(named(&Evidence { copy: Some(1.2e9), ..busy.clone() }), LimitKind::Memory);
    assert_eq!(named(&Evidence { server_limit: Some(1.1e9), ..busy.clone() }), LimitKind::ServerLimit);
    let mut soft = Evidence { sender: end(0.3), receiver: end(0.4), ..base.clone() };
    assert_eq!(named(&soft), LimitKind::Unknown, "no evidence reaches its threshold");
    soft.receiver.soft_interrupts = 0.97;
    assert_eq!(named(&soft), LimitKind::SoftInterrupts);
    // A device reports the rate of its link, and the counters of the interface include the headers.
    let mut link = Evidence { sender: end(0.3), receiver: end(0.4), ..base.clone() };
    (link.sender.link, link.sender.interface_bytes[1]) = (Some(1.08e9), (1.05 * link.payload as f64) as u64);
    assert_eq!(named(&link), LimitKind::Link);
    let idle = TcpEvidence { busy: 0.3, round_trip: [1e-3; 2], congestion_window: 1e9, ..TcpEvidence::default() };
    let idle = Evidence { sender: end(0.1), receiver: end(0.1), tcp: Some(idle), ..base.clone() };
    assert_eq!(named(&idle), LimitKind::SlowSender);
    let window = TcpEvidence { busy: 1.0, round_trip: [1e-3; 2], congestion_window: 1e6, ..TcpEvidence::default() };
    let mut window = Evidence { sender: end(0.1), receiver: end(0.1), tcp: Some(window), ..base };
    assert_eq!(named(&window), LimitKind::CongestionWindow);
    // Losses that would allow a thousand times the rate are no limit, and those that halve windows are.
    let tcp = window.tcp.as_mut().unwrap();
    (tcp.lost, tcp.segment) = (1e-6, 1448.0e3);
    assert_eq!(named(&window), LimitKind::CongestionWindow);
    let tcp = window.tcp.as_mut().unwrap();
    (tcp.lost, tcp.segment) = (0.01, 1448.0);
    window.receiver.socket_drops = 9;
    assert_eq!(named(&window), LimitKind::SocketDrops);
}

#[test]
fn a_window_that_is_full_while_its_reader_sleeps_is_no_window_limit() {
    let slow = of("slow sink");
    assert_eq!(limit(&slow).kind, LimitKind::SlowReader);
    let mut long = slow.clone();
    // The same rate over a long way would be all that the window carries.
    long.tcp.as_mut().unwrap().round_trip = [long.tcp.as_ref().unwrap().window / slow.rate; 2];
    assert_eq!(limit(&long).kind, LimitKind::ReceiveWindow);
    let mut working = slow;
    (working.receiver.ran, working.receiver.waited) = (0.6, 0.35);
    assert_eq!(limit(&working).kind, LimitKind::ReceivingThread);
    assert!(limit(&working).text.contains("waited for a CPU 35%"), "{}", limit(&working).text);
}
