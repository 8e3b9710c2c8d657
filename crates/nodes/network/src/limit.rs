//! What limited a stream, named by evidence: rules from observations to one sentence, without any I/O.

use serde::{Deserialize, Serialize};

use crate::data::{EndEvidence, ReceiverWork, TcpSnapshot};

/// State of a sending connection over a test.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TcpEvidence {
    /// Share of the test with data to send.
    pub busy: f64,
    /// Shares of this time in which the receiver's window, and the send buffer, were the limit.
    pub limited: [f64; 2],
    /// Shortest and typical round trip, seconds.
    pub round_trip: [f64; 2],
    /// Largest window that the receiver offered, bytes.
    pub window: f64,
    /// Typical congestion window, bytes.
    pub congestion_window: f64,
    /// Rate at which it paced, bytes a second.
    pub pacing: f64,
    /// Most that its socket may pace at, bytes a second, if that is limited.
    pub pace: Option<f64>,
    /// Share of the segments that were lost.
    pub lost: f64,
    /// Largest segment, bytes.
    pub segment: f64,
    /// Name of the congestion control.
    pub congestion: String,
}

impl TcpEvidence {
    /// Evidence of the states of a connection; `None` without any.
    #[must_use]
    pub fn of(states: &[TcpSnapshot], congestion: Option<&str>) -> Option<Self> {
        let last = states.last()?;
        // The first half has slow start.
        let later = &states[states.len() / 2..];
        let typical = |pick: fn(&TcpSnapshot) -> Option<u64>| {
            let values: Vec<f64> = later.iter().filter_map(pick).map(|value| value as f64).collect();
            stats::median(&values).unwrap_or(0.0)
        };
        let busy = last.busy_us.unwrap_or(0) as f64;
        let share = |part: Option<u64>| if busy > 0.0 { (part.unwrap_or(0) as f64 / busy).min(1.0) } else { 0.0 };
        let segments = last.data_segments.unwrap_or(0).max(1) as f64;
        Some(Self {
            busy: (busy / last.at_us.max(1) as f64).min(1.0),
            limited: [share(last.receiver_limited_us), share(last.sender_limited_us)],
            round_trip: [last.min_rtt_us.unwrap_or(0) as f64 * 1e-6, typical(|state| state.rtt_us) * 1e-6],
            window: states.iter().filter_map(|state| state.send_window).max().unwrap_or(0) as f64,
            congestion_window: typical(|state| state.congestion_window) * last.segment.unwrap_or(0) as f64,
            pacing: typical(|state| state.pacing_rate),
            // A socket without a limit has all ones, in 32 or 64 bits.
            pace: last.max_pacing_rate.filter(|rate| *rate < u64::from(u32::MAX)).map(|rate| rate as f64),
            lost: last.losses.unwrap_or(0) as f64 / segments,
            segment: last.segment.unwrap_or(0) as f64,
            congestion: congestion.unwrap_or_default().to_owned(),
        })
    }
}

/// All that is known of a stream, or of several at once, whose data went one way.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    /// Bytes a second.
    pub rate: f64,
    /// Connections.
    pub streams: u32,
    /// Bytes sent.
    pub payload: u64,
    /// What the receiver did with them.
    pub work: ReceiverWork,
    /// The sending end.
    pub sender: EndEvidence,
    /// The receiving end.
    pub receiver: EndEvidence,
    /// The first connection.
    pub tcp: Option<TcpEvidence>,
    /// Known rate of the links between, bytes a second.
    pub link: Option<f64>,
    /// Frames that known queues between dropped.
    pub queue_drops: u64,
    /// The server's limit, bytes a second.
    pub server_limit: Option<f64>,
    /// Whether both ends are on one machine.
    pub is_one_machine: bool,
    /// Bytes a second that one core copies, where measured.
    pub copy: Option<f64>,
    /// Shares of all CPU time that were used at the sending and the receiving end, and those of other programs.
    pub used: [[f64; 2]; 2],
}

/// A kind of limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// The option of the server.
    ServerLimit,
    /// The rate of a link.
    Link,
    /// The window that the receiver offers.
    ReceiveWindow,
    /// The buffer of the sending socket.
    SendBuffer,
    /// The receiving program, which reads too slowly without using its CPU.
    SlowReader,
    /// The sending program, which has nothing to send.
    SlowSender,
    /// One receiving thread.
    ReceivingThread,
    /// One sending thread.
    SendingThread,
    /// The only CPU of both ends.
    OneCpu,
    /// Soft interrupts on one CPU.
    SoftInterrupts,
    /// The memory.
    Memory,
    /// All CPUs of an end.
    AllCpus,
    /// Drops in a queue that is known.
    QueueDrops,
    /// Drops at a socket.
    SocketDrops,
    /// Losses elsewhere.
    Loss,
    /// A congestion control that paces, or a limit of the socket.
    Pacing,
    /// The congestion window.
    CongestionWindow,
    /// No rule holds.
    Unknown,
}

/// A limit and its evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// Its kind.
    pub kind: LimitKind,
    /// The limit and its evidence in words.
    pub text: String,
}

/// A link is reached at this share of its rate: headers below the frame are not counted.
const REACHED: f64 = 0.92;
/// A thread that is ready to run for this share of the time is never blocked for long.
const READY: f64 = 0.8;
/// A limit of TCP holds for at least this share of the time with data to send: the kernel counts only the time in which
/// nothing else holds as well.
const HOLDS: f64 = 0.25;

/// The limit of a stream. Rules are tried in this order, and the first one that holds is the answer: a limit further
/// down would be hidden by one further up.
#[must_use]
pub fn limit(evidence: &Evidence) -> Limit {
    let rules: [fn(&Evidence) -> Option<Limit>; 15] = [
        server_limit,
        link,
        receiver_window,
        one_cpu,
        soft_interrupts,
        memory,
        threads,
        drops,
        loss,
        send_buffer,
        pacing,
        slow_sender,
        congestion_window,
        all_cpus,
        in_turn,
    ];
    rules.iter().find_map(|rule| rule(evidence)).unwrap_or_else(|| Limit {
        kind: LimitKind::Unknown,
        text: format!(
            "not found: threads ready {} and {} of the time, no loss, no full window",
            percent(ready(&evidence.sender)),
            percent(ready(&evidence.receiver))
        ),
    })
}

fn found(kind: LimitKind, text: String) -> Option<Limit> {
    Some(Limit { kind, text })
}

fn percent(share: f64) -> String {
    format!("{:.0}%", 100.0 * share)
}

fn megabytes(rate: f64) -> String {
    format!("{:.4} MB/s", significant(rate * 1e-6))
}

/// Three digits are enough for a sentence.
fn significant(value: f64) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let scale = 10_f64.powf(2.0 - value.abs().log10().floor());
    (value * scale).round() / scale
}

fn milliseconds(seconds: f64) -> String {
    format!("{} ms", significant(seconds * 1e3))
}

/// Share of the time in which the busiest thread of an end ran or waited for a CPU.
fn ready(end: &EndEvidence) -> f64 {
    end.ran + end.waited
}

fn server_limit(evidence: &Evidence) -> Option<Limit> {
    let limit = evidence.server_limit.filter(|limit| evidence.rate >= 0.85 * limit)?;
    found(LimitKind::ServerLimit, format!("the server allows {} (its --rate)", megabytes(limit)))
}

/// Bytes on the wire for one of payload, by the counters of an interface.
fn framing(evidence: &Evidence) -> f64 {
    let carried = evidence.receiver.interface_bytes[0].max(evidence.sender.interface_bytes[1]) as f64;
    // A header takes at most a fifth, if records are not tiny.
    if evidence.payload > 0 { (carried / evidence.payload as f64).clamp(1.0, 1.25) } else { 1.0 }
}

fn link(evidence: &Evidence) -> Option<Limit> {
    let ends = [evidence.link, evidence.sender.link, evidence.receiver.link];
    let link = ends.into_iter().flatten().min_by(f64::total_cmp)?;
    let used = evidence.rate * framing(evidence) / link;
    if used < REACHED {
        return None;
    }
    let text = format!("the link: {} of its {}", percent(used.min(1.0)), megabytes(link));
    found(LimitKind::Link, text)
}

fn receiver_window(evidence: &Evidence) -> Option<Limit> {
    let tcp = evidence.tcp.as_ref().filter(|tcp| tcp.limited[0] >= HOLDS)?;
    if ready(&evidence.receiver) >= READY {
        return one_cpu(evidence).or_else(|| receiving(evidence));
    }
    let held = percent(tcp.limited[0]);
    let product = tcp.window / tcp.round_trip[0].max(1e-6);
    let each = evidence.rate / f64::from(evidence.streams.max(1));
    if each >= 0.5 * product {
        let (window, trip) = (model::format_size(tcp.window as u64), milliseconds(tcp.round_trip[0]));
        let text = format!("receive window x round trip: {window} in {trip}, full {held} of the time");
        return found(LimitKind::ReceiveWindow, text);
    }
    let text = format!(
        "the receiving program reads too slowly: the window was full {held} of the time, its thread ran {}",
        percent(evidence.receiver.ran)
    );
    found(LimitKind::SlowReader, text)
}

fn one_cpu(evidence: &Evidence) -> Option<Limit> {
    let (sender, receiver) = (&evidence.sender, &evidence.receiver);
    let is_one = evidence.is_one_machine && sender.cpus.len() == 1 && sender.cpus == receiver.cpus;
    let (ran, wanted) = (sender.all_ran + receiver.all_ran, ready(sender).max(ready(receiver)));
    (is_one && (ran >= READY || wanted >= READY)).then(|| Limit {
        kind: LimitKind::OneCpu,
        text: format!("one CPU for both ends: CPU {}, used {}", sender.cpus[0], percent(ran.min(1.0))),
    })
}

fn soft_interrupts(evidence: &Evidence) -> Option<Limit> {
    let ends = [("sender", &evidence.sender), ("receiver", &evidence.receiver)];
    let (name, end) = ends.into_iter().max_by(|a, b| a.1.soft_interrupts.total_cmp(&b.1.soft_interrupts))?;
    let is_alone = ready(&evidence.sender).max(ready(&evidence.receiver)) < READY;
    (is_alone && end.soft_interrupts >= READY).then(|| Limit {
        kind: LimitKind::SoftInterrupts,
        text: format!("soft interrupts at the {name}: {} of one CPU", percent(end.soft_interrupts)),
    })
}

/// A thread that copies as fast as one core does.
fn memory(evidence: &Evidence) -> Option<Limit> {
    let copy = evidence.copy.filter(|_| evidence.sender.ran.max(evidence.receiver.ran) >= READY)?;
    let share = evidence.rate / f64::from(evidence.sender.threads.max(1)) / copy;
    (share >= 0.7).then(|| Limit {
        kind: LimitKind::Memory,
        text: format!(
            "memory bandwidth of one core: copies {} of the time ({})",
            percent(share.min(1.0)),
            megabytes(copy)
        ),
    })
}

fn threads(evidence: &Evidence) -> Option<Limit> {
    let (sender, receiver) = (ready(&evidence.sender), ready(&evidence.receiver));
    if receiver >= READY && receiver >= sender { receiving(evidence) } else { sending(evidence) }
}

fn receiving(evidence: &Evidence) -> Option<Limit> {
    let what = match evidence.work {
        ReceiverWork::Bytes => "the tool is the limit: one receiving core",
        ReceiverWork::Framed => "one receiving core, which takes messages apart",
        ReceiverWork::Events => "one receiving core, which builds events",
        ReceiverWork::Filtered => "one receiving core, which builds and filters events",
    };
    on_cpu(LimitKind::ReceivingThread, what, &evidence.receiver)
}

fn sending(evidence: &Evidence) -> Option<Limit> {
    on_cpu(LimitKind::SendingThread, "the tool is the limit: one sending core", &evidence.sender)
}

fn on_cpu(kind: LimitKind, what: &str, end: &EndEvidence) -> Option<Limit> {
    (ready(end) >= READY).then(|| {
        // Others need its CPU too.
        let waited = (end.waited > 0.1).then(|| format!(", and waited for a CPU {}", percent(end.waited)));
        Limit { kind, text: format!("{what} (ran {} of the time{})", percent(end.ran), waited.unwrap_or_default()) }
    })
}

/// The share of the segments that was lost, if so many losses hold back a congestion control that heeds them: it then
/// carries about segment / round trip * sqrt(1.5 / share) (Mathis, Semke, Mahdavi and Ott, Computer Communication Review
/// 27, 1997).
fn lost(evidence: &Evidence) -> Option<f64> {
    let tcp = evidence.tcp.as_ref().filter(|tcp| tcp.lost > 0.0 && !tcp.congestion.starts_with("bbr"))?;
    let carried = tcp.segment / tcp.round_trip[1].max(1e-6) * (1.5 / tcp.lost).sqrt();
    let each = evidence.rate / f64::from(evidence.streams.max(1));
    (each >= 0.3 * carried).then_some(tcp.lost)
}

fn drops(evidence: &Evidence) -> Option<Limit> {
    let lost = format!("{:.2}% of the segments", 100.0 * lost(evidence)?);
    let at_interfaces = evidence.sender.interface_drops + evidence.receiver.interface_drops;
    let at_sockets = evidence.receiver.socket_drops;
    match (evidence.queue_drops, at_interfaces, at_sockets) {
        (1.., ..) => {
            let text = format!("the queue of a port drops {} frames, {lost}", evidence.queue_drops);
            found(LimitKind::QueueDrops, text)
        }
        (_, 1.., _) => found(LimitKind::QueueDrops, format!("an interface drops {at_interfaces} packets, {lost}")),
        (.., 1..) => found(LimitKind::SocketDrops, format!("the receiving socket drops {at_sockets}, {lost}")),
        _ => None,
    }
}

fn loss(evidence: &Evidence) -> Option<Limit> {
    let lost = 100.0 * lost(evidence)?;
    found(LimitKind::Loss, format!("losses on the way: {lost:.2}% of the segments, in no queue that is known"))
}

fn pacing(evidence: &Evidence) -> Option<Limit> {
    let tcp = evidence.tcp.as_ref()?;
    let each = evidence.rate / f64::from(evidence.streams.max(1));
    if let Some(pace) = tcp.pace.filter(|pace| each >= 0.8 * pace) {
        return found(LimitKind::Pacing, format!("the socket paces at no more than {}", megabytes(pace)));
    }
    let is_paced = tcp.congestion.starts_with("bbr") && tcp.pacing > 0.0 && each >= 0.5 * tcp.pacing;
    is_paced.then(|| Limit {
        kind: LimitKind::Pacing,
        text: format!("the congestion control {} paces at {}", tcp.congestion, megabytes(tcp.pacing)),
    })
}

fn send_buffer(evidence: &Evidence) -> Option<Limit> {
    let tcp = evidence.tcp.as_ref().filter(|tcp| tcp.limited[1] >= HOLDS)?;
    let text = format!("send buffer x round trip: full {} of the time", percent(tcp.limited[1]));
    found(LimitKind::SendBuffer, text)
}

fn slow_sender(evidence: &Evidence) -> Option<Limit> {
    let tcp = evidence.tcp.as_ref().filter(|tcp| tcp.busy < 0.7 && ready(&evidence.sender) < 0.5)?;
    found(LimitKind::SlowSender, format!("the sending program: it had data to send {} of the time", percent(tcp.busy)))
}

fn congestion_window(evidence: &Evidence) -> Option<Limit> {
    let tcp = evidence.tcp.as_ref().filter(|tcp| tcp.round_trip[1] > 0.0)?;
    let product = tcp.congestion_window / tcp.round_trip[1];
    let each = evidence.rate / f64::from(evidence.streams.max(1));
    (each >= 0.5 * product && each <= 2.0 * product).then(|| Limit {
        kind: LimitKind::CongestionWindow,
        text: format!(
            "congestion window x round trip: {} in {} ({})",
            model::format_size(tcp.congestion_window as u64),
            milliseconds(tcp.round_trip[1]),
            tcp.congestion
        ),
    })
}

fn all_cpus(evidence: &Evidence) -> Option<Limit> {
    let ends = ["sender", "receiver"].into_iter().zip(evidence.used);
    let (name, [used, others]) = ends.max_by(|a, b| a.1[0].total_cmp(&b.1[0]))?;
    (used >= 0.9).then(|| Limit {
        kind: LimitKind::AllCpus,
        text: format!("all CPUs of the {name}: used {}, {} by other programs", percent(used), percent(others)),
    })
}

/// Two ends that wait for each other: neither is always ready, and nothing between them holds.
fn in_turn(evidence: &Evidence) -> Option<Limit> {
    let (sender, receiver) = (ready(&evidence.sender), ready(&evidence.receiver));
    let kind = if sender > receiver { LimitKind::SendingThread } else { LimitKind::ReceivingThread };
    let text =
        format!("one core at each end, in turn: ready {} and {} of the time", percent(sender), percent(receiver));
    (sender + receiver >= 1.0).then_some(Limit { kind, text })
}

#[cfg(test)]
#[path = "limit_tests.rs"]
mod tests;
