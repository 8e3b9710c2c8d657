//! A stream as a result.

use measure::Stopper;
use model::{BenchmarkResult, Footprint, Metric, Placement, Primitive, Sample, Unit, format_size, percent};

use super::{ConnectionCost, ConnectionCosts, ConnectionSeen, CopyRate, STREAM, StreamPlan};
use crate::data::ReceiverWork;
use crate::limit::{Evidence, Limit, LimitKind, limit};
use crate::path::Path;
use crate::series::{SeriesTrial, result};
use crate::{Error, Result};

/// A stream as a result.
pub struct StreamTrial {
    path: Path,
    stream: StreamPlan,
    seen: Vec<ConnectionSeen>,
    costs: ConnectionCosts,
    /// Repeated connections.
    empty: u32,
    /// If its limit is named: what one core copies, once that is measured.
    copy: Option<CopyRate>,
}

/// Connections of a sample within whose blocks nothing arrives, before the last one, and how much longer the blocks of
/// the next one are: a busy host may run one side alone for that long.
const ATTEMPTS: u32 = 2;
const LONGER: f64 = 4.0;

impl StreamTrial {
    /// A stream over a path; the costs of its connections are added to `costs`.
    #[must_use]
    pub fn new(path: Path, stream: StreamPlan, costs: ConnectionCosts) -> Self {
        Self { path, stream, seen: Vec::new(), costs, empty: 0, copy: None }
    }

    /// The same, with a note on what limited it.
    #[must_use]
    pub fn naming_limits(self, copy: &CopyRate) -> Self {
        Self { copy: Some(CopyRate::clone(copy)), ..self }
    }

    /// The limit of most connections, with the evidence of the last of these.
    fn limit(&self, copy: &CopyRate) -> Option<String> {
        let of = |seen: &ConnectionSeen| Some(limit(&Evidence { copy: copy.get(), ..seen.evidence.clone()? }));
        let limits: Vec<Limit> = self.seen.iter().filter_map(of).collect();
        let count = |kind: LimitKind| limits.iter().filter(|limit| limit.kind == kind).count();
        let most = limits.iter().max_by_key(|limit| count(limit.kind))?;
        let (of, text) = (count(most.kind), limits.iter().rfind(|limit| limit.kind == most.kind)?.text.clone());
        let share =
            if of < limits.len() { format!(", in {of} of {} connections", limits.len()) } else { String::new() };
        Some(format!("{LIMIT}{text}{share}"))
    }
}

impl StreamPlan {
    /// One connection that received something, its sample, and the number of those before it that did not: their
    /// blocks were shorter.
    pub(crate) fn measure_some(&self, path: &Path, stopper: &Stopper) -> Result<(ConnectionSeen, Sample, u32)> {
        let mut plan = self.clone();
        for empty in 0..ATTEMPTS {
            let seen = plan.measure_once(path, stopper)?;
            if let Ok(sample) = sample(&seen.blocks, path) {
                return Ok((seen, sample, empty));
            }
            plan.block = plan.block.max((LONGER * plan.block).min(1.0));
        }
        let seen = plan.measure_once(path, stopper)?;
        let sample = sample(&seen.blocks, path)?;
        Ok((seen, sample, ATTEMPTS))
    }
}

/// Beginning of the note that names the limit of a stream, as reports look for it.
const LIMIT: &str = "limit: ";
/// Least share of time that is reported.
const REPORTED_SHARE: f64 = 0.1;

/// Notes on the connections so far: windows, limits, losses, load.
fn remarks(asked: Option<u32>, seen: &[ConnectionSeen]) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(asked) = asked {
        let windows = || seen.iter().filter_map(ConnectionSeen::effective_window);
        let effective = match (windows().min(), windows().max()) {
            (Some(low), Some(high)) if low == high => format!("{high} B"),
            (Some(low), Some(high)) => format!("{low} B to {high} B"),
            _ => "unknown".to_owned(),
        };
        notes.push(format!("window requested {asked} B, effective {effective}"));
    }
    let held: Vec<[f64; 2]> = seen.iter().filter_map(ConnectionSeen::limited_shares).collect();
    for (index, by) in ["the receiver's window", "the send buffer"].into_iter().enumerate() {
        let shares: Vec<f64> = held.iter().map(|shares| shares[index]).collect();
        if let Some(share) = stats::median(&shares).filter(|share| *share > REPORTED_SHARE) {
            notes.push(format!("limited by {by} {} of the time", percent(share)));
        }
    }
    let [lost, needless] =
        seen.iter().map(ConnectionSeen::retransmitted).fold([0, 0], |sum, one| [sum[0] + one[0], sum[1] + one[1]]);
    if lost + needless > 0 {
        notes.push(format!("retransmitted segments: {lost} lost, {needless} unnecessary"));
    }
    let bound = seen.iter().filter(|one| one.cpu.0.host_bound() || one.cpu.1.host_bound()).count();
    if bound > 0 {
        notes.push(format!("CPU-bound in {bound} of {} connections (more than 90% of a CPU used)", seen.len()));
    }
    if let Some(cut) = seen.iter().find_map(|one| one.cut.as_ref()) {
        notes.push(format!("ended early by the server: {cut}"));
    }
    notes
}

/// A sample from blocks; its value is the median rate.
fn sample(blocks: &[(u64, u64)], path: &Path) -> Result<Sample> {
    let rates: Vec<f64> = blocks.iter().map(|(nanos, bytes)| *bytes as f64 / (*nanos).max(1) as f64 * 1e9).collect();
    let value = stats::median(&rates)
        .filter(|rate| *rate > 0.0)
        .ok_or_else(|| Error::Gone("no bytes arrived within the blocks; make them longer".to_owned()))?;
    Ok(Sample {
        value,
        nanos: blocks.iter().map(|(nanos, _)| *nanos).collect(),
        ops: blocks.iter().map(|(_, bytes)| *bytes).collect(),
        steady: true,
        placement: Placement {
            asked: [path.cpus.client, path.cpus.server].into_iter().flatten().map(|cpu| cpu as u32).collect(),
            seen: Vec::new(),
        },
        ..Sample::default()
    })
}

impl SeriesTrial for StreamTrial {
    fn result(&self) -> BenchmarkResult {
        let metric = Metric::higher(Unit::BytesPerSecond, "bytes");
        let mut parameters = self.path.parameters();
        if self.stream.streams > 1 {
            parameters = parameters.with("streams", self.stream.streams.to_string());
        }
        let window = self.stream.options.window;
        parameters =
            parameters.with("window", window.map_or_else(|| "auto".to_owned(), |bytes| format_size(u64::from(bytes))));
        parameters = parameters.with("direction", self.stream.direction.name());
        if let Some(api) = self.stream.api {
            parameters = parameters.with("api", api.name());
        }
        if let Some(read) = self.stream.read {
            parameters = parameters.with("read", format_size(u64::from(read)));
        }
        if self.stream.work != ReceiverWork::Bytes {
            parameters = parameters.with("work", self.stream.work.name());
        }
        parameters = parameters.with("record", format_size(u64::from(self.stream.record)));
        let stresses = [Primitive::TcpStack, Primitive::KernelCopy, Primitive::NetworkLink];
        let mut result = result(STREAM, parameters, "TCP stream", metric, &stresses);
        result.ops = 1;
        result
    }

    fn launch(&mut self, stopper: &Stopper) -> Result<Sample> {
        let (seen, mut sample, empty) = self.stream.measure_some(&self.path, stopper)?;
        self.empty += empty;
        sample.stolen = seen.cpu.0.stolen();
        sample.verified_bytes = Some(seen.verified);
        sample.footprint = Footprint {
            operations: seen.written.0,
            // CPU time of the data threads of both ends, including the kernel's.
            system_seconds: Some(seen.cpu.0.threads + seen.cpu.1.threads),
            write_bytes: Some(seen.written.0),
            write_calls: Some(seen.written.1),
            ..Footprint::default()
        };
        let costs = ConnectionCost::of(&self.result(), self.stream.direction, &seen, &sample);
        self.costs.borrow_mut().extend(costs);
        self.seen.push(ConnectionSeen { blocks: Vec::new(), ..seen });
        Ok(sample)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = remarks(self.stream.options.window, &self.seen);
        if self.empty > 0 {
            notes.push(format!("connections repeated because nothing arrived: {}", self.empty));
        }
        notes.extend(self.copy.as_ref().and_then(|copy| self.limit(copy)));
        if self.seen.iter().filter_map(|seen| seen.evidence.as_ref()).any(|evidence| evidence.sender.copied) {
            notes.push("the kernel copied what was to be sent without a copy, as it does on one machine".to_owned());
        }
        notes
    }
}
