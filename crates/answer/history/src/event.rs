//! From the changes of single series to events: what changed at the same time is one event.

use std::collections::HashMap;

use crate::change::Caution;
use crate::ledger::LedgerEntry;
use crate::metrics::Lane;
use crate::result::{Event, Member, MetricHistory};
use crate::shape::{Shape, Shaped, shapes};

/// Runs by which drifts of one event may begin apart.
const DRIFTS_APART: usize = 15;

/// Error probability of naming a metric as part of an event that others showed (Holm over its family).
const MEMBER: f64 = 0.05;

/// Standard errors on either side of an estimate at 95%.
const SIDE: f64 = 1.96;

/// A change of one series, in runs of the machine.
struct Change<'a> {
    lane: &'a Lane,
    shaped: Shaped,
    /// First run with it.
    run: usize,
    /// Runs from which on it may have been, the first one exclusive and the last one inclusive.
    windows: Vec<(usize, usize)>,
}

impl<'a> Change<'a> {
    fn new(lane: &'a Lane, shaped: Shaped) -> Self {
        let window = |cut: &usize| (cut.checked_sub(1).map_or(0, |before| lane.runs[before]), lane.runs[*cut]);
        let windows = shaped.likely.iter().map(window).collect();
        Self { lane, run: lane.runs[shaped.at], shaped, windows }
    }

    fn is_drift(&self) -> bool {
        self.shaped.shape == Shape::Drift
    }

    /// How clear it is.
    fn strength(&self) -> f64 {
        self.shaped.change.abs() / self.shaped.error.max(f64::MIN_POSITIVE)
    }

    /// Whether it may have happened together with another change.
    fn may_be_with(&self, other: &Self) -> bool {
        if self.is_drift() || other.is_drift() {
            return self.is_drift() && other.is_drift() && self.run.abs_diff(other.run) <= DRIFTS_APART;
        }
        self.windows.iter().any(|a| other.windows.iter().any(|b| a.0 < b.1 && b.0 < a.1))
    }
}

/// All events, the newest first.
pub(crate) fn events(
    metrics: &[MetricHistory],
    lanes: &[Lane],
    cautions: &[Caution],
    ledger: &[LedgerEntry],
) -> Vec<Event> {
    let mut open: Vec<Change> = Vec::new();
    for (lane, caution) in lanes.iter().zip(cautions) {
        let found = shapes(&lane.series, &lane.series.alarms(*caution));
        open.extend(found.into_iter().map(|shaped| Change::new(lane, shaped)));
    }
    open.sort_by(|a, b| b.strength().total_cmp(&a.strength()));
    let mut events = Vec::new();
    while !open.is_empty() {
        let first = open.remove(0);
        let (mut with, apart): (Vec<Change>, Vec<Change>) = open.into_iter().partition(|one| first.may_be_with(one));
        open = apart;
        with.insert(0, first);
        events.push(event(&with, metrics, lanes, ledger));
    }
    events.sort_by_key(|event| std::cmp::Reverse(event.run));
    events
}

fn event(changes: &[Change], metrics: &[MetricHistory], lanes: &[Lane], ledger: &[LedgerEntry]) -> Event {
    let first = &changes[0];
    let run = if first.is_drift() { first.run } else { begin(changes) };
    let mut members: Vec<Member> = Vec::new();
    for change in changes.iter().filter(|change| change.lane.family.is_none()) {
        let metric = change.lane.metrics[0];
        if members.iter().all(|known| known.metric != metric) {
            members.push(member(metric, change.shaped.change, change.shaped.error));
        }
    }
    let families: Vec<&Change> = changes.iter().filter(|change| change.lane.family.is_some()).collect();
    // The narrowest family that shows it.
    let narrowest = families.iter().min_by_key(|change| change.lane.metrics.len());
    let of_families: Vec<usize> = families.iter().flat_map(|change| change.lane.metrics.iter().copied()).collect();
    let more: Vec<usize> =
        of_families.into_iter().filter(|at| members.iter().all(|known| known.metric != *at)).collect();
    if !first.is_drift() {
        members.extend(moved(run, &more, lanes));
    }
    members.sort_by(|a, b| b.slower.ln().abs().total_cmp(&a.slower.ln().abs()));
    members.dedup_by_key(|member| member.metric);
    let of_runs = |at: usize| first.lane.runs.get(at).copied();
    Event {
        shape: first.shaped.shape,
        run,
        end: first.shaped.end.and_then(of_runs),
        found: changes.iter().map(|change| change.lane.runs[change.shaped.found]).min().unwrap_or(run),
        family: narrowest.and_then(|change| change.lane.family.clone()),
        with: if first.is_drift() { Vec::new() } else { blamed(run, changes, &members, metrics, ledger) },
        members,
    }
}

/// The run with which most of the changes agree, each as clear as it is.
fn begin(changes: &[Change]) -> usize {
    let mut votes: HashMap<usize, f64> = HashMap::new();
    for change in changes {
        *votes.entry(change.run).or_default() += change.strength().powi(2).min(1e6);
    }
    let most = votes.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
    most.map_or(changes[0].run, |(run, _)| run)
}

fn member(metric: usize, change: f64, error: f64) -> Member {
    let end = |side: f64| (change + side * SIDE * error).exp();
    Member { metric, slower: change.exp(), low: end(-1.0), high: end(1.0) }
}

/// The metrics of a family that changed at a run by themselves.
fn moved(run: usize, among: &[usize], lanes: &[Lane]) -> Vec<Member> {
    let mut among = among.to_vec();
    among.sort_unstable();
    among.dedup();
    let changes: Vec<(usize, f64, f64)> = among
        .iter()
        .filter_map(|at| lanes[*at].series.change_at(lanes[*at].cut(run)).map(|c| (*at, c.0, c.1)))
        .collect();
    let p =
        |change: f64, error: f64| 2.0 * stats::distribution::normal_cdf(-(change / error.max(f64::MIN_POSITIVE)).abs());
    let adjusted = stats::holm(&changes.iter().map(|(_, change, error)| p(*change, *error)).collect::<Vec<_>>());
    let sure = changes.iter().zip(adjusted).filter(|(_, p)| *p <= MEMBER);
    sure.map(|((metric, change, error), _)| member(*metric, *change, *error)).collect()
}

/// What else was different from that run on: first what can affect the metrics, and only that if there is any. A change
/// whose place is not sure may be of a neighbouring run.
fn blamed(
    run: usize,
    changes: &[Change],
    members: &[Member],
    metrics: &[MetricHistory],
    ledger: &[LedgerEntry],
) -> Vec<usize> {
    let stresses: Vec<model::Primitive> =
        members.iter().flat_map(|member| metrics[member.metric].stresses.iter().copied()).collect();
    // A metric that was not in every run may have changed anywhere in the gap.
    let exact = |at: usize| {
        at == run
            || changes
                .iter()
                .any(|one| one.run == run && one.windows.iter().any(|w| w.1 == run && w.0 < at && at <= run))
    };
    let near = |at: usize| changes.iter().any(|one| one.windows.iter().any(|w| w.0 < at && at <= w.1));
    let mut found: Vec<(bool, bool, usize)> = (0..)
        .zip(ledger)
        .filter(|(_, entry)| near(entry.run) || exact(entry.run))
        .map(|(index, entry)| (!entry.touches(&stresses), !exact(entry.run), index))
        .collect();
    found.sort_unstable();
    // An entry of the same run that can matter makes those of neighbouring runs unlikely.
    let best = found.first().map(|(idle, far, _)| (*idle, *far));
    found.into_iter().filter(|(idle, far, _)| Some((*idle, *far)) == best).map(|(.., index)| index).collect()
}
