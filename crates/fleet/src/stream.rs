//! Throughput against the size of one write.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use model::{
    Estimate, Figure, Footprint, Launch, Method, Metric, Outcome, Placement, Primitive, Run, Unit, format_size,
};
use stats::fit::line::weighted_line;
use stats::serial_median_interval;

use crate::data::{Blocks, Cpu, CpuWatch, Flows, Options, Snapshot, Watched, receive, send};
use crate::path::{Path, pin};
use crate::series::{Trial, figure};
use crate::serve::{Report, Test};
use crate::{Error, Result};

/// Which way data goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the client to the server.
    Up,
    /// From the server to the client.
    Down,
    /// Both at once; the value is the sum.
    Both,
}

impl Direction {
    /// As an axis names it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::Both => "both",
        }
    }
}

/// One stream to measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Stream {
    /// Bytes of one write.
    pub record: u32,
    /// Which way.
    pub direction: Direction,
    /// Connections at once in each direction.
    pub streams: u32,
    /// Of the sockets.
    pub options: Options,
    /// Seconds before the first block counts.
    pub warmup: f64,
    /// Seconds of a block.
    pub block: f64,
    /// Blocks of a connection.
    pub blocks: u32,
}

impl Default for Stream {
    fn default() -> Self {
        Self {
            record: 65_536,
            direction: Direction::Up,
            streams: 1,
            options: Options::default(),
            warmup: 0.05,
            block: 0.02,
            blocks: 8,
        }
    }
}

/// What one connection showed.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// Nanoseconds and bytes of each block.
    pub blocks: Vec<(u64, u64)>,
    /// Bytes and write calls of the senders.
    pub written: (u64, u64),
    /// Costs at this end and at the server's.
    pub cpu: (Cpu, Cpu),
    /// State of a sending connection over time.
    pub states: Vec<Snapshot>,
    /// Which limit of the server ended it early.
    pub cut: Option<String>,
}

impl Seen {
    /// Largest window that the receiver offered, bytes: the effective one.
    #[must_use]
    pub fn effective_window(&self) -> Option<u64> {
        self.states.iter().filter_map(|state| state.send_window).max()
    }
}

impl Stream {
    fn test(&self, path: &Path) -> Test {
        let ways = |on: bool| if on { self.streams } else { 0 };
        Test {
            up: ways(self.direction != Direction::Down),
            down: ways(self.direction != Direction::Up),
            record: self.record,
            seconds: self.length() + 5.0,
            warmup: self.warmup,
            block: self.block,
            blocks: self.blocks,
            options: self.options.clone(),
            cpu: path.cpus.server,
            ..Test::default()
        }
    }

    /// Seconds of one connection.
    #[must_use]
    pub fn length(&self) -> f64 {
        self.warmup + self.block * f64::from(self.blocks)
    }

    /// Measures over one fresh connection.
    ///
    /// # Errors
    /// When the server is gone or refuses.
    pub fn once(&self, path: &Path) -> Result<Seen> {
        let cpu = path.cpus.client;
        let mut client = path.client();
        let test = self.test(path);
        let data = client.open(&test)?;
        let stop = AtomicBool::new(false);
        let (up, down) = (Flows::new(data.up.len()), Flows::new(data.down.len()));
        let record = vec![0x5a; self.record as usize];
        let mut watched = Watched::new(data.up.first());
        let watch = CpuWatch::start();
        let blocks = std::thread::scope(|scope| {
            for (stream, flow) in data.up.iter().zip(up.0.iter()) {
                scope.spawn(|| {
                    pin(cpu);
                    send(stream, &record, flow, &stop);
                });
            }
            for (stream, flow) in data.down.iter().zip(down.0.iter()) {
                scope.spawn(|| {
                    pin(cpu);
                    receive(stream, flow, None);
                });
            }
            let wanted = if data.down.is_empty() { 0 } else { self.blocks };
            let mut blocks = Blocks::new(self.warmup, self.block, wanted);
            // The server counts its own blocks from about the same moment: it is given one more.
            let end = Instant::now() + Duration::from_secs_f64(self.length() + 1.5 * self.block);
            while Instant::now() < end {
                blocks.step(&down, Duration::from_millis(20).min(end.saturating_duration_since(Instant::now())));
                watched.look(false);
            }
            watched.look(true);
            stop.store(true, Relaxed);
            for stream in data.streams() {
                // Whoever waits in a call on it wakes up.
                let _ = stream.shutdown(std::net::Shutdown::Both);
            }
            blocks.finish()
        });
        let cpu = watch.stop(up.cpu_seconds() + down.cpu_seconds());
        let report = client.report()?;
        Ok(self.seen(blocks, report, cpu, (up.bytes(), up.calls()), watched.finish()))
    }

    fn seen(&self, down: Vec<(u64, u64)>, report: Report, cpu: Cpu, own: (u64, u64), states: Vec<Snapshot>) -> Seen {
        let blocks = match self.direction {
            Direction::Up => report.blocks,
            Direction::Down => down,
            Direction::Both => {
                let both = |(up, down): (&(u64, u64), &(u64, u64))| {
                    let rate = down.1 as f64 / down.0.max(1) as f64;
                    (up.0, up.1 + (rate * up.0 as f64) as u64)
                };
                report.blocks.iter().zip(&down).map(both).collect()
            }
        };
        let states = if states.is_empty() { report.states } else { states };
        let written = (own.0 + report.bytes_down, own.1 + report.writes);
        Seen { blocks, written, cpu: (cpu, report.cpu), states, cut: report.cut }
    }
}

/// A stream as a figure.
pub struct StreamTrial {
    path: Path,
    stream: Stream,
    notes: Vec<String>,
}

impl StreamTrial {
    /// Over a path.
    #[must_use]
    pub const fn new(path: Path, stream: Stream) -> Self {
        Self { path, stream, notes: Vec::new() }
    }

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn remember(&mut self, seen: &Seen) {
        if let Some(asked) = self.stream.options.window {
            self.notes.retain(|note| !note.starts_with("window asked"));
            let effective = seen.effective_window().map_or_else(|| "not told".to_owned(), |bytes| format!("{bytes} B"));
            self.note(format!("window asked {asked} B, effective {effective}"));
        }
        if seen.cpu.0.host_bound() || seen.cpu.1.host_bound() {
            self.note("host-bound: above 90% of CPU time was used in at least one connection".to_owned());
        }
        if let Some(cut) = &seen.cut {
            self.note(format!("cut off by the server: {cut}"));
        }
    }
}

/// Blocks as a launch whose value is the median rate.
pub(crate) fn launch(blocks: &[(u64, u64)], path: &Path) -> Result<Launch> {
    let rates: Vec<f64> = blocks.iter().map(|(nanos, bytes)| *bytes as f64 / (*nanos).max(1) as f64 * 1e9).collect();
    let value = stats::median(&rates)
        .filter(|rate| *rate > 0.0)
        .ok_or_else(|| Error::Gone("nothing came through within the blocks; make them longer".to_owned()))?;
    Ok(Launch {
        value,
        nanos: blocks.iter().map(|(nanos, _)| *nanos).collect(),
        ops: blocks.iter().map(|(_, bytes)| *bytes).collect(),
        steady: true,
        placement: Placement {
            asked: [path.cpus.client, path.cpus.server].into_iter().flatten().map(|cpu| cpu as u32).collect(),
            seen: Vec::new(),
        },
        ..Launch::default()
    })
}

impl Trial for StreamTrial {
    fn figure(&self) -> Figure {
        let metric = Metric::higher(Unit::BytesPerSecond, "bytes");
        let mut point = self.path.point();
        if self.stream.streams > 1 {
            point = point.with("streams", self.stream.streams.to_string());
        }
        if let Some(window) = self.stream.options.window {
            point = point.with("window", format_size(u64::from(window)));
        }
        point = point.with("direction", self.stream.direction.name());
        point = point.with("record", format_size(u64::from(self.stream.record)));
        let stresses = [Primitive::TcpStack, Primitive::KernelCopy, Primitive::NetworkLink];
        let mut figure = figure("network.tcp_stream", point, "TCP stream", metric, &stresses);
        figure.ops = 1;
        figure
    }

    fn launch(&mut self) -> Result<Launch> {
        let seen = self.stream.once(&self.path)?;
        self.remember(&seen);
        let mut launch = launch(&seen.blocks, &self.path)?;
        launch.steal = Some(seen.cpu.0.steal);
        launch.footprint = Footprint {
            operations: seen.written.0,
            // Data threads of both ends; the kernel's share is in it.
            system_seconds: Some(seen.cpu.0.threads + seen.cpu.1.threads),
            write_bytes: Some(seen.written.0),
            write_calls: Some(seen.written.1),
            ..Footprint::default()
        };
        Ok(launch)
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
}

/// Explains the streams of a run by two numbers: a write of s bytes takes `overhead + s / bandwidth`. Fitted in every
/// round, so that the intervals rest on fresh connections; one pair of figures for each set of streams that differ in
/// the record alone.
#[must_use]
pub fn two_parameters(run: &Run) -> Vec<Figure> {
    let mut sets: Vec<(model::Point, Vec<&Figure>)> = Vec::new();
    for stream in run.figures.iter().filter(|figure| figure.probe == "network.tcp_stream") {
        let rest = stream.point.clone().without("record");
        match sets.iter_mut().find(|(point, _)| *point == rest) {
            Some((_, members)) => members.push(stream),
            None => sets.push((rest, vec![stream])),
        }
    }
    sets.into_iter()
        .filter(|(_, members)| members.len() >= 4)
        .flat_map(|(point, members)| fit(&point, &members))
        .collect()
}

fn fit(point: &model::Point, members: &[&Figure]) -> Vec<Figure> {
    let rounds = members.iter().map(|figure| figure.launches.len()).min().unwrap_or(0);
    let (mut overheads, mut bandwidths) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let bytes: Vec<f64> =
            members.iter().filter_map(|figure| figure.point.bytes("record").ok()).map(|bytes| bytes as f64).collect();
        let times: Vec<f64> =
            members.iter().zip(&bytes).map(|(figure, bytes)| bytes / figure.launches[round].value).collect();
        // Equal relative errors.
        let weights: Vec<f64> = times.iter().map(|time| time.powi(-2)).collect();
        if let Some(line) = weighted_line(&bytes, &times, &weights).filter(|line| line.slope > 0.0) {
            overheads.push(line.intercept);
            bandwidths.push(1.0 / line.slope);
        }
    }
    let derived = |id: &str, title: &str, metric: Metric, values: &[f64]| {
        let found = serial_median_interval(values, 0.95)?;
        let mut figure = figure(id, point.clone(), title, metric, &[Primitive::TcpStack]);
        figure.flags.clear();
        figure.notes =
            vec![format!("from the fit of {} record sizes in each of {} rounds", members.len(), values.len())];
        figure.outcome = Outcome::Measured(Estimate {
            value: found.median,
            low: found.interval.low,
            high: found.interval.high,
            level: found.interval.level,
            launches: values.len() as u32,
            batches: 1,
            method: Method::Propagated,
        });
        Some(figure)
    };
    [
        derived(
            "network.tcp_write_overhead",
            "TCP write, overhead of a call",
            Metric::lower(Unit::Seconds, "call"),
            &overheads,
        ),
        derived(
            "network.tcp_write_bandwidth",
            "TCP write, bandwidth beyond the overhead",
            Metric::higher(Unit::BytesPerSecond, "bytes"),
            &bandwidths,
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}
