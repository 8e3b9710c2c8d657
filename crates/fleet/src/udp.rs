//! Datagrams at rising rates: how many arrive, and where the others are lost.

use std::time::Duration;

use model::{Figure, Launch, Metric, Primitive, Share, Unit, format_size, percent};

use crate::data::{HEADER, Header, start};
use crate::loss::{LossCount, LossCounts};
use crate::path::Path;
use crate::series::{SeriesTrial, figure};
use crate::serve::{Datagrams, ServeTest};
use crate::{Error, Result};

/// One step of a ladder of rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Datagram {
    /// Payload, bytes.
    pub size: u32,
    /// Datagrams a second; infinite: as fast as the socket accepts them.
    pub rate: f64,
    /// Duration, seconds.
    pub seconds: f64,
}

/// Counts of the datagrams of one step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Fate {
    /// Due at the rate.
    pub offered: u64,
    /// Accepted by the sender's socket.
    pub sent: u64,
    /// Refused by the sender's queue.
    pub refused: u64,
    /// Received.
    pub received: u64,
    /// Dropped by the receiving socket.
    pub socket_drops: u64,
    /// Duration of sending, seconds.
    pub seconds: f64,
}

impl Fate {
    /// Datagrams lost between the two sockets.
    #[must_use]
    pub const fn lost_on_path(&self) -> u64 {
        self.sent.saturating_sub(self.received).saturating_sub(self.socket_drops)
    }

    /// Share of the offered datagrams that did not arrive; not below zero if the network duplicates some.
    #[must_use]
    pub fn lost_share(&self) -> f64 {
        let lost = self.offered.saturating_sub(self.received);
        Share::of(lost as f64, self.offered as f64).unwrap_or_default().get()
    }
}

impl Datagram {
    /// Sends one step over a fresh pair of sockets.
    ///
    /// # Errors
    /// When the server has disconnected or refuses, or the size is invalid.
    pub fn measure_once(&self, path: &Path) -> Result<Fate> {
        if (self.size as usize) < HEADER || self.size > 65_507 || self.rate.is_nan() || self.rate <= 0.0 {
            return Err(Error::Usage(format!("datagrams must have {HEADER} to 65507 bytes and a rate above 0")));
        }
        let mut client = path.client();
        let test = ServeTest {
            datagrams: Some(Datagrams::Count),
            record: self.size,
            seconds: self.seconds + 10.0,
            cpu: path.cpus.server,
            ..ServeTest::default()
        };
        let data = client.open(&test)?;
        let socket = data.udp.ok_or_else(|| Error::Protocol("it named no port for datagrams".to_owned()))?;
        let cpu = path.cpus.client;
        let mut fate = std::thread::scope(|scope| {
            let sender = start(scope, cpu, || self.send(&socket))?;
            sender.join().map_err(|_| Error::Gone("a thread ended".to_owned()))
        })?;
        // Datagrams in queues may still arrive.
        std::thread::sleep(Duration::from_millis(120));
        client.stop()?;
        let report = client.report()?;
        fate.received = report.datagrams.by_step.first().copied().unwrap_or(0);
        fate.socket_drops = report.datagrams.socket_drops;
        Ok(fate)
    }

    fn send(&self, socket: &std::net::UdpSocket) -> Fate {
        let mut datagram = vec![0x5a; self.size as usize];
        let mut fate = Fate::default();
        let began = sys::clock::now();
        let length = (self.seconds * 1e9) as u64;
        let every = 1e9 / self.rate;
        loop {
            let now = sys::clock::now();
            if now - began >= length {
                fate.seconds = (now - began) as f64 * 1e-9;
                return fate;
            }
            // A delayed sender catches up, so that the offered rate is kept.
            if (now - began) as f64 >= fate.offered as f64 * every {
                Header { step: 0, number: fate.offered }.write(&mut datagram);
                fate.offered += 1;
                match socket.send(&datagram) {
                    Ok(_) => fate.sent += 1,
                    Err(_) => fate.refused += 1,
                }
            } else if fate.offered as f64 * every - (now - began) as f64 > 2e5 {
                std::thread::sleep(Duration::from_micros(100));
            }
        }
    }
}

/// The share of datagrams lost at one offered rate, as a figure.
pub struct DatagramTrial {
    path: Path,
    step: Datagram,
    all: Fate,
    losses: LossCounts,
}

impl DatagramTrial {
    /// Datagrams over a path; every launch adds to `losses`.
    #[must_use]
    pub fn new(path: Path, step: Datagram, losses: LossCounts) -> Self {
        Self { path, step, all: Fate::default(), losses }
    }

    fn point(&self) -> model::Point {
        let size = format_size(u64::from(self.step.size));
        self.path.point().with("size", size).with("offered", format!("{}", self.step.rate))
    }
}

impl SeriesTrial for DatagramTrial {
    fn figure(&self) -> Figure {
        let metric = Metric::higher(Unit::PerSecond, "datagrams received");
        let mut figure = figure(
            "network.udp_received",
            self.point(),
            "UDP received",
            metric,
            &[Primitive::UdpStack, Primitive::NetworkLink],
        );
        figure.ops = 1;
        figure
    }

    fn launch(&mut self) -> Result<Launch> {
        let fate = self.step.measure_once(&self.path)?;
        self.all.offered += fate.offered;
        self.all.sent += fate.sent;
        self.all.refused += fate.refused;
        self.all.received += fate.received;
        self.all.socket_drops += fate.socket_drops;
        let lost = fate.offered.saturating_sub(fate.received);
        self.losses.borrow_mut().push((self.point(), LossCount { lost, of: fate.offered }));
        if fate.received == 0 {
            return Err(Error::Gone("no datagram arrived".to_owned()));
        }
        let nanos = (fate.seconds * 1e9) as u64;
        Ok(Launch {
            value: fate.received as f64 / fate.seconds,
            nanos: vec![nanos],
            ops: vec![fate.received],
            steady: true,
            ..Launch::default()
        })
    }

    fn notes(&self) -> Vec<String> {
        let all = &self.all;
        vec![format!(
            "lost {} of {} offered: {} refused by the sender's queue, {} on the path, {} by the receiver's socket",
            percent(all.lost_share()),
            all.offered,
            all.refused,
            all.lost_on_path(),
            all.socket_drops
        )]
    }
}
