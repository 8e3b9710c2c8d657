//! `prony explain --experiment`: the settings that differ between two runs, tried here.

use anyhow::{Context, Result};
use compare::experiment::explained;
use experiment::{Row, System, rows, towards};
use model::{BenchmarkResult, Better, PlanEntry, Run, glob};

use super::experiment::{BLOCKS, Request, measure};
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::run_options::draw_seed;
use crate::run_saver::SaveOptions;

/// Tries the settings of run A that run B does not have, and prints which part of the difference each takes away.
pub(super) fn run(a: &Run, b: &Run, results: Option<&str>, system: bool, common: &CommonOptions) -> Result<ExitStatus> {
    let (entry, ratio) = largest(a, b, results).context(
        "could not try settings: the runs share no result that this program can measure; name others with --results",
    )?;
    let this = System::this();
    let mut chosen = towards(&this, [&a.machine, &b.machine], &entry, system);
    chosen.leave_out_refused(std::env::current_exe()?.as_os_str());
    let mut rows = rows(&chosen.switches);
    if chosen.switches.len() > 1 {
        rows.push(Row::Effect(chosen.switches.clone()));
    }
    let request = Request {
        metric: entry,
        rows,
        not_tried: chosen.not_tried,
        blocks: BLOCKS,
        time_limit: None,
        seed: draw_seed(),
        saving: SaveOptions::default(),
        quiet: false,
    };
    let (exit, _) = measure(&request, &this, common, &|run, context| {
        let found = compare::experiment::effects(run).context("the experiment has no results")?;
        Ok(report::view::explained(run, &found, &explained(ratio, &found), context))
    })?;
    Ok(exit)
}

/// The result that differs most for certain, as what is to be measured, with the time of B over that of A and its interval.
fn largest(a: &Run, b: &Run, results: Option<&str>) -> Option<(PlanEntry, [f64; 3])> {
    let wanted = |result: &&BenchmarkResult| {
        let key = result.key().to_string();
        let named =
            results.is_none_or(|pattern| pattern.split(',').any(|one| glob(one, &result.benchmark) || glob(one, &key)));
        named && benchmarks::find(&result.benchmark).is_some()
    };
    let pairs = a.results.iter().filter(wanted).filter_map(|first| {
        let second = b.results.iter().find(|second| second.key() == first.key())?;
        Some((first, times(first, second)?))
    });
    // Where an interval includes 1, the distance of its nearest end is negative.
    let least = |[_, low, high]: &[f64; 3]| low.ln().max(-high.ln());
    let (result, ratio) = pairs.max_by(|(_, one), (_, other)| least(one).total_cmp(&least(other)))?;
    let entry = PlanEntry {
        benchmark: result.benchmark.clone(),
        parameters: result.parameters.clone(),
        target: 0.02,
        shares: None,
    };
    Some((entry, ratio))
}

/// Time of the second over that of the first; the errors of both add in quadrature.
fn times(first: &BenchmarkResult, second: &BenchmarkResult) -> Option<[f64; 3]> {
    let [a, b] = [first, second].map(|result| result.outcome.estimate());
    let (a, b) = (a?, b?);
    let half = |one: &model::Estimate| (one.high / one.low).ln() / 2.0;
    let log = (b.value / a.value).ln();
    let log = if first.metric.better == Better::Lower { log } else { -log };
    let error = half(a).hypot(half(b));
    let ratio = [log, log - error, log + error].map(f64::exp);
    ratio.iter().all(|end| end.is_finite() && *end > 0.0).then_some(ratio)
}
