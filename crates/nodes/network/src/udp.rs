//! Datagrams at rising rates: how many arrive, and where the others are lost.

use std::os::fd::AsFd;
use std::time::Duration;

use measure::Stopper;
use model::{
    BenchmarkResult, Estimate, EstimateMethod, Metric, Outcome, Primitive, Sample, Share, Unit, format_size, percent,
};

use crate::data::{HEADER, Header, start};
use crate::loss::{LossCount, LossCounts};
use crate::path::Path;
use crate::series::{EARLIER, SeriesTrial, result};
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
    /// Datagrams that one call sends (`UDP_SEGMENT`).
    pub segments: u32,
}

/// Counts of the datagrams of one step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DatagramCounts {
    /// Given to the sender's socket.
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
    /// From the first to the last arrival, seconds: longer than sending if a queue still drains.
    pub arrival: f64,
}

/// Datagrams of one call, at most: Linux allows 64, later 128.
const MOST_SEGMENTS: u32 = 64;
/// Share of a rate that a sender must have offered for its step to count as one of that rate.
const KEPT: f64 = 0.95;
/// Time for datagrams in queues to arrive, at least and at most, seconds.
const DRAIN: (f64, f64) = (0.12, 5.0);

impl DatagramCounts {
    /// Datagrams lost between the two sockets.
    #[must_use]
    pub const fn lost_on_path(&self) -> u64 {
        self.sent.saturating_sub(self.received).saturating_sub(self.socket_drops)
    }

    /// Share of the datagrams due at a rate that the sender could offer: a socket that blocks, or a busy CPU, holds it
    /// back. At an unlimited rate it is 1.
    #[must_use]
    pub fn kept(&self, rate: f64) -> f64 {
        if rate.is_finite() { (self.offered as f64 / (rate * self.seconds).max(1.0)).min(1.0) } else { 1.0 }
    }

    /// Datagrams received a second, over the time that sending or arriving took, whichever is longer.
    #[must_use]
    pub fn received_per_second(&self) -> f64 {
        self.received as f64 / self.seconds.max(self.arrival)
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
    /// When the server has disconnected or refuses, the size is invalid, or `stopper` asks to stop.
    pub fn measure_once(&self, path: &Path, stopper: &Stopper) -> Result<DatagramCounts> {
        if (self.size as usize) < HEADER || self.size > 65_507 || self.rate.is_nan() || self.rate <= 0.0 {
            return Err(Error::Usage(format!("datagrams must have {HEADER} to 65507 bytes and a rate above 0")));
        }
        if self.segments == 0 || self.segments > MOST_SEGMENTS || self.size * self.segments > 65_507 {
            return Err(Error::Usage(format!(
                "one call sends 1 to {MOST_SEGMENTS} datagrams, which have 65507 bytes together at most"
            )));
        }
        let mut client = path.client();
        let test = ServeTest {
            datagrams: Some(if self.segments > 1 { Datagrams::Gather } else { Datagrams::Count }),
            record: self.size,
            seconds: self.seconds + 10.0,
            cpu: path.cpus.server,
            ..ServeTest::default()
        };
        let data = client.open(&test)?;
        let socket = data.udp.ok_or_else(|| Error::Protocol("it named no port for datagrams".to_owned()))?;
        if self.segments > 1 {
            let set = kernels::transfer::segment_datagrams(socket.as_fd(), self.size as u16);
            set.map_err(|error| Error::Lacking(error.to_string()))?;
        }
        let cpu = path.cpus.client;
        let mut counts = std::thread::scope(|scope| {
            let sender = start(scope, cpu, || self.send(&socket, stopper))?;
            sender.join().map_err(|_| Error::Gone("a thread ended".to_owned()))
        })?;
        if stopper.asked() {
            return Err(Error::Stopped);
        }
        // Datagrams in queues may still arrive.
        kernels::timer::sleep(self.drain(&socket, &counts));
        client.stop()?;
        let report = client.report()?;
        counts.received = report.datagrams.by_step.first().copied().unwrap_or(0);
        counts.socket_drops = report.datagrams.socket_drops;
        counts.arrival = report.datagrams.nanos as f64 * 1e-9;
        Ok(counts)
    }

    /// How long the sender's queue needs to drain. If the socket held the sender back, its queue is full, and drains at
    /// the possible rate.
    fn drain(&self, socket: &std::net::UdpSocket, counts: &DatagramCounts) -> Duration {
        let buffer = socket2::SockRef::from(socket).send_buffer_size().unwrap_or(0) as f64;
        let sent = counts.sent as f64 * f64::from(self.size) / counts.seconds.max(1e-3);
        let seconds = if counts.kept(self.rate) < KEPT { buffer / sent.max(1.0) } else { 0.0 };
        Duration::from_secs_f64(seconds.clamp(DRAIN.0, DRAIN.1))
    }

    fn send(&self, socket: &std::net::UdpSocket, stopper: &Stopper) -> DatagramCounts {
        let (each, together) = (self.size as usize, u64::from(self.segments));
        let mut datagrams = vec![0x5a; each * self.segments as usize];
        let mut counts = DatagramCounts::default();
        let began = kernels::clock::now();
        let length = (self.seconds * 1e9) as u64;
        let every = 1e9 / self.rate;
        loop {
            let now = kernels::clock::now();
            if now - began >= length || stopper.asked() {
                counts.seconds = (now - began) as f64 * 1e-9;
                return counts;
            }
            // A delayed sender catches up, so that the offered rate is kept.
            if (now - began) as f64 >= counts.offered as f64 * every {
                for datagram in datagrams.chunks_mut(each) {
                    Header { step: 0, number: counts.offered }.write(datagram);
                    counts.offered += 1;
                }
                match socket.send(&datagrams) {
                    Ok(_) => counts.sent += together,
                    Err(_) => counts.refused += together,
                }
            } else if counts.offered as f64 * every - (now - began) as f64 > 2e5 {
                kernels::timer::sleep(Duration::from_micros(100));
            }
        }
    }
}

/// The share of datagrams lost at one offered rate, as a result.
pub struct DatagramTrial {
    path: Path,
    step: Datagram,
    all: DatagramCounts,
    losses: LossCounts,
}

impl DatagramTrial {
    /// Datagrams over a path; every sample adds to `losses`.
    #[must_use]
    pub fn new(path: Path, step: Datagram, losses: LossCounts) -> Self {
        Self { path, step, all: DatagramCounts::default(), losses }
    }

    fn parameters(&self) -> model::Parameters {
        let size = format_size(u64::from(self.step.size));
        let parameters = self.path.parameters().with("size", size);
        let together = Some(self.step.segments).filter(|segments| *segments > 1);
        let parameters = together.map_or(parameters.clone(), |count| parameters.with("segments", count.to_string()));
        parameters.with("offered", format!("{}", self.step.rate))
    }
}

impl SeriesTrial for DatagramTrial {
    fn result(&self) -> BenchmarkResult {
        let metric = Metric::higher(Unit::PerSecond, "datagrams received");
        let mut result = result(
            "network.udp_received",
            self.parameters(),
            "UDP received",
            metric,
            &[Primitive::UdpStack, Primitive::NetworkLink],
        );
        result.ops = 1;
        result
    }

    fn launch(&mut self, stopper: &Stopper) -> Result<Sample> {
        let counts = self.step.measure_once(&self.path, stopper)?;
        self.all.offered += counts.offered;
        self.all.sent += counts.sent;
        self.all.refused += counts.refused;
        self.all.received += counts.received;
        self.all.socket_drops += counts.socket_drops;
        self.all.seconds += counts.seconds;
        let lost = counts.offered.saturating_sub(counts.received);
        self.losses.borrow_mut().push((self.parameters(), LossCount { lost, of: counts.offered }));
        if counts.received == 0 {
            return Err(Error::Gone("no datagram arrived".to_owned()));
        }
        let nanos = (counts.seconds.max(counts.arrival) * 1e9) as u64;
        Ok(Sample {
            value: counts.received_per_second(),
            nanos: vec![nanos],
            ops: vec![counts.received],
            steady: true,
            ..Sample::default()
        })
    }

    fn notes(&self) -> Vec<String> {
        notes(&self.all, self.step.rate)
    }
}

/// Beginnings of notes, by which [`loss_free`] also knows the samples of earlier sessions.
const HELD_BACK: &str = "the sender's socket or CPU limited it";
const LOST: &str = "lost ";
const NONE: &str = "none ";

/// The outcome of all datagrams of a step, in words.
fn notes(all: &DatagramCounts, rate: f64) -> Vec<String> {
    let kept = all.kept(rate);
    let held = (kept < KEPT).then(|| format!("{HELD_BACK} to {} of the rate", percent(kept)));
    let lost = if all.received >= all.offered {
        format!("{LOST}{NONE}of {} offered", all.offered)
    } else {
        format!(
            "{LOST}{} of {} offered: {} at the sender's queue, {} on the path, {} at the receiver's socket",
            percent(all.lost_share()),
            all.offered,
            all.refused,
            all.lost_on_path(),
            all.socket_drops
        )
    };
    held.into_iter().chain([lost]).collect()
}

/// Whether a step arrived at a lower rate than it was offered at. A buffer on the path then took the rest, and would
/// have lost it in a longer step.
fn is_queued(step: &BenchmarkResult) -> bool {
    let offered = step.parameters.get("offered").and_then(|rate| rate.parse::<f64>().ok());
    step.outcome.estimate().zip(offered).is_some_and(|(received, offered)| received.high < KEPT * offered)
}

/// The highest step of a ladder that was offered in full, arrived at that rate and lost nothing in any sample, if no
/// lower step lost anything either.
#[must_use]
pub fn loss_free(results: &[BenchmarkResult]) -> Option<BenchmarkResult> {
    let mut steps = results.iter().filter(|result| result.benchmark == "network.udp_received").peekable();
    let lossless = |result: &BenchmarkResult| {
        let notes = || result.notes.iter().map(|note| note.strip_prefix(EARLIER).unwrap_or(note));
        // Earlier versions wrote 0% of it.
        let none = |share: &str| share.starts_with(NONE) || share.starts_with("0% ");
        let mut lost = notes().filter_map(|note| note.strip_prefix(LOST));
        let offered = !notes().any(|note| note.starts_with(HELD_BACK));
        lost.clone().next().is_some() && lost.all(none) && offered
    };
    let clean = |result: &BenchmarkResult| lossless(result) && !is_queued(result);
    let mut last = None;
    while let Some(step) = steps.next_if(|step| clean(step)) {
        last = Some(step);
    }
    let last = last?;
    let rate: f64 = last.parameters.get("offered")?.parse().ok()?;
    let metric = Metric::higher(Unit::PerSecond, "datagrams");
    let parameters = last.parameters.clone().without("offered");
    let mut found =
        result("network.udp_loss_free", parameters, "UDP rate without loss", metric, &[Primitive::UdpStack]);
    found.flags.clear();
    let next = match steps.peek() {
        Some(step) if lossless(step) => "the next rate filled queues",
        Some(_) => "the next rate lost some, or could not be offered",
        None => "no higher rate was tried",
    };
    found.notes = vec![format!("highest rate without loss; {next}")];
    found.outcome = Outcome::Measured(Estimate { method: EstimateMethod::None, ..Estimate::without_spread(rate) });
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::EARLIER;

    /// A step as its trial describes it after a sample with this outcome.
    fn step(rate: f64, all: DatagramCounts) -> BenchmarkResult {
        let parameters = model::Parameters::none().with("path", "x").with("offered", rate.to_string());
        let metric = Metric::higher(Unit::PerSecond, "datagrams received");
        let mut result = result("network.udp_received", parameters, "UDP received", metric, &[]);
        result.notes = notes(&all, rate);
        result
    }

    fn counts(offered: u64, received: u64) -> DatagramCounts {
        DatagramCounts { offered, sent: offered, received, seconds: 1.0, ..DatagramCounts::default() }
    }

    #[test]
    fn the_rate_without_loss_is_that_of_the_last_step_that_was_offered_and_arrived() {
        let rate = |results: &[BenchmarkResult]| {
            loss_free(results).map(|result| result.outcome.estimate().map_or(0.0, |estimate| estimate.value))
        };
        let (low, high) = (step(1000.0, counts(1000, 1000)), step(2000.0, counts(2000, 2000)));
        assert_eq!(rate(&[low.clone(), high.clone(), step(4000.0, counts(4000, 3999))]), Some(2000.0));
        assert_eq!(rate(&[low.clone(), high.clone()]), Some(2000.0));
        assert_eq!(rate(&[step(1000.0, counts(1000, 999)), high.clone()]), None);
        // A link that takes 1500 a second loses nothing of a blocked sender, and carries no 4000.
        assert_eq!(rate(&[low.clone(), step(4000.0, counts(1500, 1500))]), Some(1000.0));
        let mut earlier = high.clone();
        earlier.notes.insert(0, format!("{EARLIER}{}", step(2000.0, counts(2000, 1999)).notes[0]));
        assert_eq!(rate(&[low, earlier]), Some(1000.0), "a session before lost one");
    }

    #[test]
    fn a_step_that_a_buffer_took_is_no_rate_without_loss() {
        let arrived = |rate: f64, low: f64, high: f64| {
            let mut step = step(rate, counts(rate as u64, rate as u64));
            let value = 0.5 * (low + high);
            step.outcome = Outcome::Measured(Estimate { value, low, high, ..Estimate::without_spread(value) });
            step
        };
        // A link of 1650 a second whose buffer holds the excess of a short step of 2000 a second.
        let ladder = [arrived(1000.0, 930.0, 1000.0), arrived(1600.0, 1470.0, 1600.0), arrived(2000.0, 1570.0, 1770.0)];
        let found = loss_free(&ladder).unwrap();
        assert_eq!(found.outcome.estimate().unwrap().value, 1600.0);
        assert!(found.notes[0].ends_with("the next rate filled queues"), "{:?}", found.notes);
        assert_eq!(loss_free(&ladder[..2]).unwrap().outcome.estimate().unwrap().value, 1600.0);
    }

    #[test]
    fn what_drains_from_a_queue_after_sending_does_not_raise_the_rate() {
        let seen = DatagramCounts { arrival: 0.3, seconds: 0.2, ..counts(250, 250) };
        assert!((seen.received_per_second() - 250.0 / 0.3).abs() < 1e-9);
        assert!((counts(250, 250).received_per_second() - 250.0).abs() < 1e-9);
        assert_eq!(counts(5, 5).kept(f64::INFINITY), 1.0);
    }
}
