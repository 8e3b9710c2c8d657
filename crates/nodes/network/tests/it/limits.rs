//! Limits that are planted in a laboratory are named, whatever else is there.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails, and says what it skips"
)]

use std::sync::Arc;

use lab::{Lab, LabShape};
use measure::Stopper;
use network::limit::{Evidence, LimitKind, limit};
use network::serve::{ListenSettings, ServeLimits, Server};
use network::stream::{StreamDirection, StreamPlan};
use network::{Client, Cpus, Path, ReceiverWork, SocketOptions};

/// A set-up and the limit that it has. Without a shape it goes over loopback.
struct Planted {
    name: &'static str,
    kind: LimitKind,
    shape: Option<LabShape>,
    placement: &'static str,
    server: Option<u64>,
    stream: StreamPlan,
}

fn planted(name: &'static str, kind: LimitKind) -> Planted {
    let stream = StreamPlan { warmup: 0.3, block: 0.05, ..StreamPlan::default() };
    Planted { name, kind, shape: None, placement: "cross_cpu", server: None, stream }
}

/// Links of 1 Gbit/s, far above what the set-ups let through.
fn far(delay: f64) -> LabShape {
    LabShape { bits_per_second: 1_000_000_000, port_buffer: 4_000_000, delay, ..LabShape::default() }
}

impl Planted {
    fn over(self, shape: LabShape) -> Self {
        Self { shape: Some(shape), placement: "free", ..self }
    }

    fn with(self, options: SocketOptions) -> Self {
        Self { stream: StreamPlan { options, ..self.stream }, ..self }
    }

    fn all() -> Vec<Self> {
        let options = SocketOptions::default;
        let control = |name: &str| SocketOptions { congestion: Some(name.to_owned()), ..options() };
        let slow = LabShape { bits_per_second: 50_000_000, ..LabShape::default() };
        let short =
            LabShape { bits_per_second: 20_000_000, port_buffer: 4 * 1514, delay: 0.004, ..LabShape::default() };
        let lossy = || LabShape { loss: 0.02, ..far(0.005) };
        let events = StreamPlan { work: ReceiverWork::Filtered, streams: 2, ..planted("", LimitKind::Unknown).stream };
        vec![
            planted("token bucket", LimitKind::Link).over(slow),
            planted("window and delay", LimitKind::ReceiveWindow)
                .over(far(0.01))
                .with(SocketOptions { window: Some(16_384), ..options() }),
            planted("send buffer and delay", LimitKind::SendBuffer)
                .over(far(0.01))
                .with(SocketOptions { send_buffer: Some(16_384), ..options() }),
            Planted { stream: events, ..planted("filter that takes CPU time", LimitKind::ReceivingThread) },
            Planted { placement: "same_cpu", ..planted("one CPU", LimitKind::OneCpu) },
            planted("short queue", LimitKind::QueueDrops).over(short).with(control("cubic")),
            planted("losses, cubic", LimitKind::Loss).over(lossy()).with(control("cubic")),
            planted("losses, bbr", LimitKind::Pacing)
                .over(LabShape { bits_per_second: 4_000_000_000, ..lossy() })
                .with(SocketOptions { send_buffer: Some(16 << 20), ..control("bbr") }),
            Planted { server: Some(20_000_000), ..planted("slow sink", LimitKind::SlowReader) },
            Planted {
                server: Some(20_000_000),
                stream: StreamPlan { direction: StreamDirection::Down, ..planted("", LimitKind::Unknown).stream },
                ..planted("paced socket", LimitKind::Pacing)
            },
            Planted {
                stream: StreamPlan { record: 1, ..planted("", LimitKind::Unknown).stream },
                ..planted("tiny writes", LimitKind::SendingThread)
            },
        ]
    }

    /// The evidence of one connection; `None` with the reason reported as a skip.
    fn evidence(&self) -> Option<Evidence> {
        let local = ListenSettings::local().unwrap();
        let limits = ServeLimits { bytes_per_second: self.server, ..local.limits };
        let cpus = Cpus::of(self.placement, &kernels::affinity::allowed().unwrap()).unwrap_or_default();
        let (_lab, _server, client) = match self.shape {
            Some(shape) => {
                let lab = match lab::means().and_then(|_| Lab::up(shape)) {
                    Ok(lab) => Arc::new(lab),
                    Err(reason) => {
                        testing::skip!("{reason}");
                        return None;
                    }
                };
                let settings = ListenSettings { address: Lab::address(0).into(), limits, ..local };
                let server = lab.at(0, || Server::start(settings)).unwrap().unwrap();
                let client = Client::connect_from(&lab, 1, server.address(), server.token()).unwrap();
                (Some(lab), server, client)
            }
            None => {
                let server = Server::start(ListenSettings { limits, ..local }).unwrap();
                let client = Client::connect(server.address(), server.token()).unwrap();
                (None, server, client)
            }
        };
        let path = Path::new(client, "planted", cpus);
        let seen = self.stream.measure_once(&path, &Stopper::default()).unwrap();
        // What the server tells of itself would give the answer away.
        Some(Evidence { server_limit: None, ..seen.evidence? })
    }
}

/// Prints what was found; the number of set-ups, and of those whose limit was named.
fn named(all: &[Planted]) -> (usize, usize) {
    let (mut tried, mut right) = (0, 0);
    for one in all {
        let Some(evidence) = one.evidence() else { continue };
        let found = limit(&evidence);
        println!("{}: {:?}, {} at {:.3} MB/s", one.name, found.kind, found.text, evidence.rate * 1e-6);
        if std::env::var_os("PRONY_SHOW_EVIDENCE").is_some() {
            println!("EVIDENCE {}", serde_json::to_string(&(one.name, one.kind, &evidence)).unwrap());
        }
        tried += 1;
        right += usize::from(found.kind == one.kind);
    }
    (tried, right)
}

#[test]
fn the_rate_of_a_link_and_a_small_window_are_named() {
    testing::attempts(3, || {
        let (tried, right) = named(&Planted::all()[..2]);
        testing::hold!(tried == right, "{right} of {tried}");
        Ok(())
    });
}

#[test]
fn planted_limits_are_named_in_nine_of_ten() {
    if !testing::slow("eleven laboratories") {
        return;
    }
    testing::attempts(3, || {
        let (tried, right) = named(&Planted::all());
        testing::hold!(10 * right >= 9 * tried, "{right} of {tried}");
        Ok(())
    });
}
