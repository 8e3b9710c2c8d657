//! From the runs of a machine to its history.

use std::collections::{BTreeMap, HashMap, HashSet};

use model::{BenchmarkResult, Better, ResultKey, Run};

use crate::change::{Caution, Series};
use crate::event::events;
use crate::ledger::ledger;
use crate::result::{History, HistoryRun, MetricHistory, MetricPoint};

/// Expected false alarms in a year of nightly runs of [`FAMILY`] metrics. Half of what is promised, since noise is never
/// quite what a method assumes.
const FALSE_ALARMS: f64 = 0.5;

/// Series for which there is a promise: 80 metrics and their families. More series share the same false alarms.
const FAMILY: usize = 88;

/// Nights in a year.
const NIGHTS: f64 = 365.0;

/// Independent tests that a look at one series is worth. The widths overlap, and so do the looks of neighbouring
/// nights; a simulation of a year says how much.
const TESTS: f64 = 1.5;

/// Runs that the share of spikes in all metrics is worth in that of one.
const RUNS_OF_ALL: f64 = 240.0;

/// Fewest metrics of a family that have a series of their own.
const FEWEST_MEMBERS: usize = 3;

/// A series with the runs behind it.
pub(crate) struct Lane {
    pub(crate) series: Series,
    /// Index of the run of each of its values.
    pub(crate) runs: Vec<usize>,
    /// The metrics behind it: one, or those of a family.
    pub(crate) metrics: Vec<usize>,
    /// Name of the family, if it is one.
    pub(crate) family: Option<String>,
}

impl Lane {
    /// Index of the first value of that run or later.
    pub(crate) fn cut(&self, run: usize) -> usize {
        self.runs.partition_point(|own| *own < run)
    }
}

/// The history of the runs of one machine, given in the order of time with their names on a command line.
#[must_use]
pub fn history(runs: &[(String, &Run)]) -> History {
    let documents: Vec<(usize, &Run)> = runs.iter().map(|(_, run)| *run).enumerate().collect();
    let named =
        |(handle, run): &(String, &Run)| HistoryRun { handle: handle.clone(), started: run.session.started.clone() };
    told(runs.iter().map(named).collect(), &documents, metrics(&documents))
}

/// The history of one result of one machine by its values, without the documents of their runs. `machines` are runs with
/// which the machine was another one, the first run and the newest one included, each with its index.
#[must_use]
pub fn history_of(
    result: &BenchmarkResult,
    runs: Vec<HistoryRun>,
    points: Vec<MetricPoint>,
    machines: &[(usize, &Run)],
) -> History {
    told(runs, machines, vec![(MetricHistory { points, ..empty(result) }, result.class.session_noise())])
}

fn told(runs: Vec<HistoryRun>, machines: &[(usize, &Run)], mut metrics: Vec<(MetricHistory, f64)>) -> History {
    let (ledger, replaced) = ledger(machines);
    let mut lanes: Vec<Lane> =
        metrics.iter().enumerate().map(|(at, (metric, usual))| lane(at, metric, *usual, &replaced)).collect();
    let families = families(&lanes, &metrics, &replaced);
    lanes.extend(families);
    for (lane, (metric, _)) in lanes.iter().zip(&mut metrics) {
        metric.noise = lane.series.scatter;
        metric.spikes = lane.series.spikes().concat().into_iter().map(|at| lane.runs[at]).collect();
        metric.spikes.sort_unstable();
    }
    let metrics: Vec<MetricHistory> = metrics.into_iter().map(|(metric, _)| metric).collect();
    let events = events(&metrics, &lanes, &cautions(&lanes, &runs), &ledger);
    let machine = machines.last().map(|(_, run)| run.machine.name.clone()).unwrap_or_default();
    History { machine, runs, metrics, events, ledger, replaced, false_alarms: FALSE_ALARMS }
}

/// Every metric with the session noise of its class, those of the newest run first.
fn metrics(runs: &[(usize, &Run)]) -> Vec<(MetricHistory, f64)> {
    let mut places: HashMap<ResultKey, usize> = HashMap::new();
    let mut metrics: Vec<(MetricHistory, f64)> = Vec::new();
    for (_, run) in runs.iter().rev() {
        for result in run.results.iter().filter(|result| !result.is_condition()) {
            places.entry(result.key()).or_insert_with(|| {
                metrics.push((empty(result), result.class.session_noise()));
                metrics.len() - 1
            });
        }
    }
    for &(at, run) in runs {
        // A neighbour on the core says nothing about the machine.
        for result in run.results.iter().filter(|result| !result.is_shared_core()) {
            let Some(&place) = places.get(&result.key()) else { continue };
            let estimate = result.outcome.estimate().filter(|one| one.value > 0.0 && one.value.is_finite());
            metrics[place].0.points.extend(estimate.map(|one| MetricPoint {
                run: at,
                value: one.value,
                low: one.low,
                high: one.high,
            }));
        }
    }
    metrics.retain(|(metric, _)| !metric.points.is_empty());
    metrics
}

fn empty(result: &BenchmarkResult) -> MetricHistory {
    MetricHistory {
        key: result.key(),
        title: result.title.clone(),
        metric: result.metric.clone(),
        stresses: result.stresses.clone(),
        points: Vec::new(),
        spikes: Vec::new(),
        noise: 0.0,
    }
}

/// Where another machine begins in a series with these runs.
fn borders(runs: &[usize], replaced: &[usize]) -> Vec<usize> {
    replaced.iter().map(|border| runs.partition_point(|run| run < border)).collect()
}

fn lane(at: usize, metric: &MetricHistory, usual: f64, replaced: &[usize]) -> Lane {
    // What costs more time is slower, whichever way the metric counts.
    let way = if metric.metric.better == Better::Lower { 1.0 } else { -1.0 };
    let runs: Vec<usize> = metric.points.iter().map(|point| point.run).collect();
    let logs = metric.points.iter().map(|point| way * point.value.ln()).collect();
    let errors = metric.points.iter().map(|point| compare::least_error(point.low, point.high)).collect();
    let series = Series::new(logs, errors, usual, borders(&runs, replaced));
    Lane { series, runs, metrics: vec![at], family: None }
}

/// A series for each family of metrics, and one for all: the trimmed mean of their logarithms in units of their own scatter. A
/// change in many metrics is clear in it long before it is in any of them. Its own scatter says how far a session moves
/// all of them together.
fn families(lanes: &[Lane], metrics: &[(MetricHistory, f64)], replaced: &[usize]) -> Vec<Lane> {
    let mut members: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, (metric, _)) in metrics.iter().enumerate() {
        let family = metric.key.benchmark.split('.').next().unwrap_or_default();
        members.entry(format!("{family}.*")).or_default().push(at);
    }
    if members.len() > 1 {
        members.insert("all results".to_owned(), (0..metrics.len()).collect());
    }
    members
        .into_iter()
        .filter(|(_, members)| members.len() >= FEWEST_MEMBERS)
        .filter_map(|(family, members)| mean(family, members, lanes, replaced))
        .collect()
}

fn mean(family: String, members: Vec<usize>, lanes: &[Lane], replaced: &[usize]) -> Option<Lane> {
    let runs: HashSet<usize> = members.iter().flat_map(|member| lanes[*member].runs.iter().copied()).collect();
    // A metric that is missing here and there would move the mean by its absence.
    let whole = |member: &&usize| 10 * lanes[**member].runs.len() >= 9 * runs.len();
    let whole: Vec<usize> = members.iter().filter(whole).copied().collect();
    let scatters: Vec<f64> = whole.iter().map(|member| lanes[*member].series.scatter).collect();
    let typical = stats::median(&scatters).filter(|typical| *typical > 0.0)?;
    let mut scores: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (member, scatter) in whole.iter().zip(&scatters).filter(|(_, scatter)| **scatter > 0.0) {
        let Lane { series, runs, .. } = &lanes[*member];
        let bounds: Vec<usize> = [0].into_iter().chain(series.borders.iter().copied()).chain([runs.len()]).collect();
        for part in bounds.windows(2) {
            let middle = stats::median(&series.logs[part[0]..part[1]]).unwrap_or(0.0);
            for (run, log) in runs[part[0]..part[1]].iter().zip(&series.logs[part[0]..part[1]]) {
                scores.entry(*run).or_default().push((log - middle) / scatter);
            }
        }
    }
    if whole.len() < FEWEST_MEMBERS {
        return None;
    }
    let runs: Vec<usize> = scores.keys().copied().collect();
    let logs = scores.into_values().map(|scores| typical * trimmed_mean(scores)).collect();
    let series = Series::new(logs, vec![0.0; runs.len()], 0.0, borders(&runs, replaced));
    Some(Lane { series, runs, metrics: members, family: Some(family) })
}

/// Mean of the middle half, which no single metric moves.
fn trimmed_mean(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let cut = values.len().div_ceil(4).min((values.len() - 1) / 2);
    let middle = &values[cut..values.len() - cut];
    middle.iter().sum::<f64>() / middle.len() as f64
}

/// The caution that each series needs. The share of spikes in all metrics counts in each as much as [`RUNS_OF_ALL`] runs
/// of its own, and the usual correlation of neighbouring runs is assumed in all of them.
fn cautions(lanes: &[Lane], runs: &[HistoryRun]) -> Vec<Caution> {
    let days: HashSet<&str> = runs.iter().filter_map(|run| run.started.get(..10)).collect();
    let looks = NIGHTS * (runs.len() as f64 / days.len().max(1) as f64).ceil();
    let error = FALSE_ALARMS / (looks * lanes.len().max(FAMILY) as f64 * 2.0 * TESTS);
    let spikes: Vec<[f64; 2]> = lanes.iter().map(|lane| lane.series.spikes().map(|way| way.len() as f64)).collect();
    let total = lanes.iter().map(|lane| lane.runs.len() as f64).sum::<f64>() + 1.0;
    let of_all = [0, 1].map(|way| (spikes.iter().map(|spikes| spikes[way]).sum::<f64>() + 0.5) / total);
    let correlations: Vec<f64> = lanes.iter().map(|lane| lane.series.correlation().unwrap_or(0.0)).collect();
    let usual = stats::median(&correlations).unwrap_or(0.0).max(0.0);
    let of = |(lane, own): (&Lane, &[f64; 2])| Caution {
        error,
        spikes: [0, 1].map(|way| (own[way] + RUNS_OF_ALL * of_all[way]) / (lane.runs.len() as f64 + RUNS_OF_ALL)),
        correlation: usual,
    };
    lanes.iter().zip(&spikes).map(of).collect()
}
