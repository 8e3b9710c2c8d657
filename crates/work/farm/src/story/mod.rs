//! Summary of a finished run from its ledger: whether the invariants hold, and the run as results.

mod presence;
mod rates;
pub(crate) mod suspects;

use model::{
    BenchmarkResult, Class, Estimate, EstimateMethod, FarmIncident, FarmNode, FarmRecord, FarmWindow, Metric, Outcome,
    Parameters, Primitive, ResultKey, Sample, Unit,
};
use serde::Serialize;

use self::presence::Presence;
use self::rates::{RatePlan, Rates};
pub use self::suspects::Suspect;
use crate::job::ChunkResult;
use crate::ledger::{Incident, Ledger, NodeTotals, Totals};
use crate::{Farm, Result};

/// Windows of the timeline, at most.
const WINDOWS: usize = 200;
/// Shortest window, seconds.
const SHORTEST: f64 = 1.0;
/// Groups of consecutive chunks; each gives one value of efficiency.
const GROUPS: usize = 200;
/// Incidents in the document of the run, at most; the ledger has all.
const INCIDENTS: usize = 10_000;
/// Nodes that get results of their own, at most.
const MAX_NODES: usize = 64;
/// Confidence level of intervals.
const LEVEL: f64 = 0.95;

/// Invariants of a finished run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Invariants {
    /// Planned chunks.
    pub planned: u64,
    /// Planned events.
    pub events: u64,
    /// Totals of the ledger.
    pub totals: Totals,
}

impl Invariants {
    /// Violated invariants, as sentences; empty when all hold.
    #[must_use]
    pub fn broken(&self) -> Vec<String> {
        let totals = &self.totals;
        let mut broken = Vec::new();
        if totals.commits != self.planned {
            broken.push(format!("{} of {} planned chunks are committed", totals.commits, self.planned));
        }
        if totals.distinct != totals.commits {
            broken.push(format!("{} chunks are committed, but only {} are distinct", totals.commits, totals.distinct));
        }
        if totals.events != self.events {
            broken.push(format!("{} of {} planned events are processed", totals.events, self.events));
        }
        broken
    }
}

/// A run's ledger as a report needs it.
#[derive(Debug, Clone)]
pub struct Story {
    /// The run.
    pub farm: Farm,
    /// Planned and counted totals.
    pub invariants: Invariants,
    /// Totals by node.
    pub nodes: Vec<NodeTotals>,
    /// Facts about nodes.
    pub descriptions: Vec<(String, serde_json::Value)>,
    /// Incidents, in the order of time.
    pub incidents: Vec<Incident>,
    /// Events over time.
    pub windows: Vec<FarmWindow>,
    /// Seconds from the begin of the run to the last commit.
    pub seconds: f64,
    /// Seconds that pilots were connected, summed over all slots.
    pub presence: f64,
    /// Nodes whose results differ from those of others.
    pub suspects: Vec<Suspect>,
    rates: Rates,
    /// Efficiency in the order of time: of all nodes, then of each.
    efficiencies: Vec<Vec<f64>>,
}

impl Story {
    /// Reads it from a ledger.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn read(ledger: &dyn Ledger) -> Result<Self> {
        let (farm, nodes, incidents) = (ledger.farm()?, ledger.nodes()?, ledger.incidents()?);
        let invariants = Invariants { planned: farm.job.chunks(), events: farm.job.events, totals: ledger.totals()? };
        let seconds = nodes.iter().map(|node| node.span.1).fold(0.0, f64::max);
        let (count, wall) = windows_of(seconds);
        let window = |index: usize| FarmWindow { began: index as f64 * wall, wall, events: vec![0; nodes.len()] };
        let mut windows: Vec<FarmWindow> = (0..count).map(window).collect();
        let group = (invariants.totals.commits as usize).div_ceil(GROUPS).max(1);
        let mut groups = vec![Groups::new(group); nodes.len() + 1];
        let presence = Presence::of(&incidents, seconds);
        let mut rates = RatePlan::read(ledger, presence.most)?;
        ledger.commits(&mut |commit| {
            let Ok(node) = nodes.binary_search_by(|node| node.node.as_str().cmp(&commit.offer.node)) else { return };
            let at = ((commit.when.since / wall) as usize).min(count.saturating_sub(1));
            if let Some(window) = windows.get_mut(at) {
                window.events[node] += commit.offer.done.events;
            }
            rates.add(commit.when.since, commit.offer.done.events);
            for index in [0, node + 1] {
                groups[index].add(&commit.offer.done);
            }
        })?;
        let descriptions = ledger.descriptions()?;
        let efficiencies = groups.into_iter().map(Groups::values).collect();
        Ok(Self {
            farm,
            invariants,
            nodes,
            descriptions,
            incidents,
            windows,
            seconds,
            presence: presence.seconds,
            suspects: suspects::find(ledger)?,
            rates: rates.end(),
            efficiencies,
        })
    }
}

/// Number of windows of a run of `seconds`, and their length. All are equally long: a shorter last window, with the
/// last results of all nodes together, would show a rate of any size.
fn windows_of(seconds: f64) -> (usize, f64) {
    if seconds <= 0.0 {
        return (0, SHORTEST);
    }
    let count = ((seconds / SHORTEST) as usize).clamp(1, WINDOWS);
    (count, seconds / count as f64)
}

/// Averages over consecutive chunks, so that a long run does not need more memory than a short one.
#[derive(Debug, Clone)]
struct Groups {
    size: usize,
    open: (usize, f64, f64),
    values: Vec<f64>,
}

impl Groups {
    const fn new(size: usize) -> Self {
        Self { size, open: (0, 0.0, 0.0), values: Vec::new() }
    }

    fn add(&mut self, done: &ChunkResult) {
        // A number that was refused is in no average.
        let (Some(own_cpu), Some(own_wall)) = (done.cpu, done.wall) else { return };
        let (count, cpu, wall) = self.open;
        self.open = (count + 1, cpu + own_cpu, wall + own_wall);
        if self.open.0 == self.size {
            self.close();
        }
    }

    fn close(&mut self) {
        if self.open.0 > 0 && self.open.2 > 0.0 {
            self.values.push(self.open.1 / self.open.2);
        }
        self.open = (0, 0.0, 0.0);
    }

    fn values(mut self) -> Vec<f64> {
        self.close();
        self.values
    }
}

impl Story {
    /// CPU time of the counted chunks over the time that pilots were connected. It includes the time lost by waiting
    /// for leases and verdicts, and by work that did not count.
    #[must_use]
    pub fn utilisation(&self) -> Option<f64> {
        (self.presence > 0.0).then(|| self.invariants.totals.cpu / self.presence)
    }

    /// Events a second from the begin of the run to the last commit.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.invariants.totals.events as f64 / self.seconds)
    }

    /// The run as results: events a second, efficiency of all nodes and of each, and use of the time that pilots were
    /// connected.
    #[must_use]
    pub fn results(&self) -> Vec<BenchmarkResult> {
        let point = Parameters::none()
            .with("work", self.farm.job.name.clone())
            .with("nodes", self.nodes.len().to_string())
            .with("chunk", self.farm.job.chunk.to_string());
        let mut results = vec![self.events(&point)];
        let all = std::iter::once(("all", &self.efficiencies[0]));
        let each = self.nodes.iter().map(|node| node.node.as_str()).zip(&self.efficiencies[1..]);
        let each = each.take(if self.nodes.len() > 1 { MAX_NODES } else { 0 });
        for (node, values) in all.chain(each) {
            let metric = Metric::higher(Unit::Ratio, "CPU time over time of counted chunks");
            let point = point.clone().with("node", node.to_owned());
            let mut result = empty("farm.efficiency", point, "efficiency (CPU time / wall time)", metric);
            result.samples =
                values.iter().map(|value| Sample { value: *value, steady: true, ..Sample::default() }).collect();
            (result.outcome, result.notes) = outcome(values);
            result.notes.extend(self.inputs(node));
            results.push(result);
        }
        let metric = Metric::higher(Unit::Ratio, "CPU time of counted chunks over the time that pilots were connected");
        let mut result = empty("farm.utilisation", point, "slot utilisation", metric);
        if let Some(value) = self.utilisation() {
            result.outcome = Outcome::Measured(Estimate::without_spread(value));
            result.notes.push("one value for the whole run, without an interval".to_owned());
        }
        results.push(result);
        results
    }

    /// The parts of a run's document that no result has.
    #[must_use]
    pub fn record(&self) -> FarmRecord {
        let node = |node: &NodeTotals| FarmNode {
            node: node.node.clone(),
            chunks: node.totals.commits,
            events: node.totals.events,
            efficiency: (node.totals.wall > 0.0).then(|| node.totals.cpu / node.totals.wall),
            refused: node.totals.refused,
            failed: node.totals.failed,
            differing: node.totals.differing,
            input: self.inputs(&node.node),
        };
        let incident = |one: &Incident| FarmIncident {
            since: one.since,
            what: one.what.clone(),
            node: one.node.clone(),
            chunk: one.chunk,
            detail: one.detail.clone(),
        };
        FarmRecord {
            nodes: self.nodes.iter().map(node).collect(),
            windows: self.windows.clone(),
            incidents: self.incidents.iter().take(INCIDENTS).map(incident).collect(),
        }
    }

    fn events(&self, point: &Parameters) -> BenchmarkResult {
        let metric = Metric::higher(Unit::PerSecond, "events");
        let mut result = empty("farm.events", point.clone(), "throughput", metric);
        let launch = |(round, window): (usize, &rates::Window)| Sample {
            round: u32::try_from(round).unwrap_or(u32::MAX),
            began: window.began,
            wall: window.wall,
            value: window.rate,
            steady: true,
            ..Sample::default()
        };
        result.samples = self.rates.windows.iter().enumerate().map(launch).collect();
        (result.outcome, result.notes) = match (self.rates.estimate(), self.rate()) {
            (Some((estimate, mut notes)), whole) => {
                notes.extend(whole.map(|rate| format!("{rate:.1} events/s including start-up and shutdown")));
                (Outcome::Measured(estimate), notes)
            }
            (None, Some(rate)) => {
                let note = "includes start-up and shutdown; use more chunks for a steady-state rate";
                (Outcome::Measured(Estimate::without_spread(rate)), vec![note.to_owned()])
            }
            (None, None) => (Outcome::NotMeasured("no chunk is committed".to_owned()), Vec::new()),
        };
        result.notes.extend(self.inputs("all"));
        result
    }

    /// Place of the input of a node and the cost of reading it; for all nodes with "all".
    #[must_use]
    pub fn inputs(&self, node: &str) -> Vec<String> {
        let mut notes = Vec::new();
        for (name, about) in self.descriptions.iter().filter(|(name, _)| node == "all" || node == name) {
            for note in about.get("notes").and_then(|notes| notes.as_array()).into_iter().flatten() {
                let note = note.as_str().unwrap_or_default();
                notes.push(if node == "all" { format!("{name}: {note}") } else { note.to_owned() });
            }
        }
        notes.truncate(MAX_NODES);
        notes
    }
}

fn empty(benchmark: &str, point: Parameters, title: &str, metric: Metric) -> BenchmarkResult {
    let key = ResultKey::new(benchmark, point);
    BenchmarkResult {
        outcome: Outcome::NotMeasured("no chunk is committed".to_owned()),
        flags: Vec::new(),
        ops: 1,
        ..BenchmarkResult::unmeasured(key, title, metric, Class::Application).stressing(&[Primitive::CoreClock])
    }
}

/// The median of values in the order of time, with its interval. If the values are too few or too dependent for the
/// usual level, the widest possible interval with its own level, and a note that says so.
fn outcome(values: &[f64]) -> (Outcome, Vec<String>) {
    if values.is_empty() || !values.iter().all(|value| value.is_finite()) {
        return (Outcome::NotMeasured("no chunk is committed".to_owned()), Vec::new());
    }
    let sure = stats::serial_median_interval(values, LEVEL);
    let Some(found) = sure.or_else(|| stats::order_statistic::median_range(values)) else {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let note = "1 sample has no interval; use more chunks";
        return (Outcome::Measured(Estimate::without_spread(mean)), vec![note.to_owned()]);
    };
    let level = found.interval.level;
    let count = values.len();
    let note = if level >= 0.01 {
        format!("{count} samples are too few for a 95% interval; use more chunks")
    } else {
        format!("{count} samples that depend on each other give no interval; use more chunks")
    };
    let estimate = found.estimate(count, 1, EstimateMethod::OrderStatistic.at(level));
    (Outcome::Measured(estimate), if sure.is_some() { Vec::new() } else { vec![note] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_a_timeline_are_equally_long_and_end_with_the_run() {
        for (seconds, expected) in [(0.2, 1), (13.2, 13), (13.000_000_1, 13), (199.9, 199), (200.5, 200), (1e6, 200)] {
            let (count, wall) = windows_of(seconds);
            assert_eq!(count, expected, "{seconds}");
            assert!((count as f64 * wall - seconds).abs() < 1e-6 * seconds, "{seconds}: {wall}");
            assert!(wall >= SHORTEST.min(seconds), "{seconds}: {wall}");
        }
        assert_eq!(windows_of(0.0).0, 0);
    }

    #[test]
    fn few_values_get_an_interval_of_lower_level_and_a_note() {
        let measured = |values: &[f64]| match outcome(values) {
            (Outcome::Measured(estimate), notes) => (estimate, notes),
            other => panic!("{other:?}"),
        };
        // Twelve drifting values give no interval of 95%, and never one of zero width.
        let drifting: Vec<f64> = (0..12).map(|i| 0.2 + 0.01 * f64::from(i)).collect();
        let (estimate, notes) = measured(&drifting);
        assert_eq!((estimate.low, estimate.high), (drifting[0], drifting[11]));
        assert!(estimate.level < 0.01, "their range has no known level, and is no interval of 0%");
        assert!(notes[0].starts_with("12 samples that depend on each other"), "{notes:?}");
        let (estimate, notes) = measured(&[0.2, 0.3, 0.25]);
        assert_eq!((estimate.value, estimate.low, estimate.high), (0.25, 0.2, 0.3));
        assert!((estimate.level - 0.75).abs() < 1e-9);
        assert_eq!(notes.len(), 1);
        let (estimate, notes) = measured(&[0.2]);
        assert!(!estimate.has_spread() && notes[0].starts_with("1 sample has no interval"), "{notes:?}");
        let mixed = [0.2, 0.4, 0.3, 0.25, 0.35, 0.22, 0.38, 0.27, 0.33, 0.29];
        let (estimate, notes) = measured(&mixed);
        assert!(estimate.level >= LEVEL && estimate.low < estimate.high && notes.is_empty());
        assert!(matches!(outcome(&[]), (Outcome::NotMeasured(_), _)));
    }
}
