//! What a change looks like once it is found: a step, a step that went away again, or a drift.
//!
//! A line replaces steps where it describes the same runs at least as well by the Bayesian information criterion
//! (Schwarz, Annals of Statistics 6, 1978).

use serde::{Deserialize, Serialize};

use crate::change::{Alarm, SPIKE, Series};

/// Course of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// To another level, which stayed.
    Step,
    /// To another level for a while, and back.
    Temporary,
    /// Little by little.
    Drift,
}

/// A change with its shape, as indices into the runs of a series.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shaped {
    pub(crate) shape: Shape,
    /// First run of the new level, or of the drift.
    pub(crate) at: usize,
    /// First run after it, where it went away or the drift ended.
    pub(crate) end: Option<usize>,
    /// The run after which it was found.
    pub(crate) found: usize,
    /// Change of the logarithm of the cost: positive is slower.
    pub(crate) change: f64,
    /// Its standard error.
    pub(crate) error: f64,
    /// Places where it may have begun.
    pub(crate) likely: Vec<usize>,
}

/// Runs on either side that say what a change looks like.
const AROUND: usize = 60;

/// Fewest runs of a drift: what climbs within fewer is a step.
const DRIFT_RUNS: usize = 14;

/// Most alarms that one line explains.
const DRIFT_ALARMS: usize = 24;

/// Part of a step that may remain after it went away.
const REMAINS: f64 = 0.3;

/// The changes of a series with their shapes, from the earliest.
pub(crate) fn shapes(series: &Series, alarms: &[Alarm]) -> Vec<Shaped> {
    let mut found: Vec<Shaped> = Vec::new();
    let mut at = 0;
    while at < alarms.len() {
        // The most alarms that one line explains.
        let drifting = |last: usize| Some((last, drifting(series, alarms, at, last)?));
        if let Some((last, hinge)) = (at..alarms.len().min(at + DRIFT_ALARMS)).rev().find_map(drifting) {
            found.push(drift(series, hinge, alarms[at].found));
            at = last + 1;
            continue;
        }
        let here = step(series, alarms, at);
        match found.last_mut().filter(|before| returns(before, &here) && before.end.is_none()) {
            Some(before) => {
                before.shape = Shape::Temporary;
                before.end = Some(here.at);
            }
            None => found.push(here),
        }
        at += 1;
    }
    found
}

/// Bounds of the runs around the alarms `first` to `last`: up to the neighbouring alarms or borders.
fn around(series: &Series, alarms: &[Alarm], first: usize, last: usize) -> (usize, usize) {
    let (begin, end) = (alarms[first].at, alarms[last].at);
    let before = first.checked_sub(1).map_or(0, |index| alarms[index].at);
    let after = alarms.get(last + 1).map_or(series.logs.len(), |alarm| alarm.at);
    let border = |low: usize, high: usize| {
        let borders = series.borders.iter().copied();
        let below = borders.clone().filter(|border| *border <= begin).fold(low, usize::max);
        let above = borders.filter(|border| *border > end).fold(high, usize::min);
        (below, above)
    };
    let (low, high) = border(before, after);
    (low.max(begin.saturating_sub(AROUND)), high.min(end + AROUND))
}

/// A level from `low` on that changes little by little from `begin` on.
struct Hinge {
    begin: usize,
    /// Change of the logarithm in a run.
    slope: f64,
    /// Sum of squares about it.
    squares: f64,
}

impl Hinge {
    /// The best one for the runs from `low` to `high`, beginning before `latest`.
    fn of(series: &Series, low: usize, high: usize, latest: usize) -> Option<Self> {
        let stride = ((latest - low) / 24).max(1);
        let most = SPIKE * series.scatter;
        let at = |begin: usize| {
            let x: Vec<f64> = (low..high).map(|run| run.saturating_sub(begin) as f64).collect();
            let logs = &series.logs[low..high];
            let fitted = stats::fit::line::line(&x, logs)?;
            let off = |(x, log): (&f64, &f64)| (log - fitted.intercept - fitted.slope * x).clamp(-most, most).powi(2);
            Some(Self { begin, slope: fitted.slope, squares: x.iter().zip(logs).map(off).sum() })
        };
        (low..=latest).step_by(stride).filter_map(at).min_by(|a, b| a.squares.total_cmp(&b.squares))
    }
}

/// The line that describes the runs around some alarms as well as their steps do, with the end of those runs.
fn drifting(series: &Series, alarms: &[Alarm], first: usize, last: usize) -> Option<(Hinge, usize)> {
    let (low, high) = around(series, alarms, first, last);
    let cuts = alarms[first..=last].iter().map(|alarm| alarm.at);
    let cuts: Vec<usize> = [low].into_iter().chain(cuts).chain([high]).collect();
    let steps: f64 = cuts.windows(2).map(|cut| series.squares(cut[0], cut[1])).sum();
    let count = (high - low) as f64;
    let least = (1e-3 * count * series.scatter.powi(2)).max(f64::MIN_POSITIVE);
    let criterion = |squares: f64, parameters: f64| count * squares.max(least).ln() + parameters * count.ln();
    let latest = (alarms[first].at - 1).min(high.checked_sub(DRIFT_RUNS)?);
    let hinge = Hinge::of(series, low, high, latest.max(low))?;
    let of_steps = criterion(steps, 2.0 * (last - first + 1) as f64 + 1.0);
    (high - low >= DRIFT_RUNS && criterion(hinge.squares, 3.0) <= of_steps).then_some((hinge, high))
}

fn drift(series: &Series, (hinge, end): (Hinge, usize), found: usize) -> Shaped {
    let span = (end - hinge.begin) as f64;
    let variance = hinge.squares / (span - 2.0).max(1.0);
    Shaped {
        shape: Shape::Drift,
        at: hinge.begin,
        end: Some(end).filter(|end| *end < series.logs.len()),
        found,
        change: hinge.slope * (span - 1.0),
        error: (12.0 * variance / span).sqrt(),
        likely: Vec::new(),
    }
}

fn step(series: &Series, alarms: &[Alarm], index: usize) -> Shaped {
    let (low, high) = around(series, alarms, index, index);
    // Later runs say better where it was.
    let at = series.split(low, high, alarms[index].at);
    let median = |from: usize, to: usize| stats::median(&series.logs[from..to]).unwrap_or(0.0);
    let squares = series.squares(low, at) + series.squares(at, high);
    let variance = squares / (high - low).saturating_sub(2).max(1) as f64;
    let counts = 1.0 / (at - low).max(1) as f64 + 1.0 / (high - at).max(1) as f64;
    Shaped {
        shape: Shape::Step,
        at,
        end: None,
        found: alarms[index].found,
        change: median(at, high) - median(low, at),
        error: (variance * counts).sqrt(),
        likely: series.likely_splits(low, high, at),
    }
}

/// Whether a step undoes the one before it.
fn returns(before: &Shaped, now: &Shaped) -> bool {
    let left = (before.change + now.change).abs();
    before.shape == Shape::Step
        && before.change.signum() != now.change.signum()
        && left <= (REMAINS * before.change.abs()).max(2.0 * before.error.hypot(now.error))
}
