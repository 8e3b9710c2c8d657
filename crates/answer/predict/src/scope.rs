//! Checks whether a prediction is within the range of the benchmarks. Outside it the interval is wider or the
//! prediction refused.

use std::collections::BTreeSet;

use model::{Primitive, percent};

use super::family::is_known;
use super::leave_out::{BlendedMethods, relative_errors};
use super::matrix::{Matrix, Novelty};
use super::table::PredictorTable;

/// Widening for a resource that the application uses and no benchmark measures: an int8-matrix workload was missed by
/// 25-50% where others were predicted within 8%.
const UNSEEN: f64 = 2.0;
/// Widening for a working set beyond that of every benchmark.
const LARGER_SET: f64 = 1.5;
/// A machine faster or slower by this factor than all on which the application ran is not predicted. Intervals hold up
/// to there, since they widen with the distance: on seven public tables as often without a limit at a factor of 4 as
/// with it.
const FARTHEST: f64 = 16.0;
/// Typical relative error from which on the benchmarks explain the application poorly, and hardly at all.
const POORLY: f64 = 0.5;
const HARDLY: f64 = 1.5;
/// Fewest models of CPU for using that error, and for a sound prediction.
const BELIEVED: usize = 5;

/// Result of the checks.
#[derive(Debug, Clone, Default)]
pub(crate) struct PredictScope {
    /// Factor on the width of the interval, at least 1.
    pub(crate) widening: f64,
    /// Reason for a refusal, if there is one.
    pub(crate) refusal: Option<String>,
    /// Reasons why the prediction is less than sound.
    pub(crate) reasons: Vec<String>,
}

/// Checks one machine.
pub(crate) fn scope(
    table: &PredictorTable,
    matrix: &Matrix,
    chosen: &BlendedMethods,
    weights: &[f64],
    target: usize,
) -> PredictScope {
    let mut scope = PredictScope { widening: 1.0, ..PredictScope::default() };
    unseen_primitives(table, matrix, &mut scope);
    working_set(table, matrix, &mut scope);
    let family = &table.machines[target].family;
    match matrix.novelty(table, target) {
        Novelty::Family => {}
        Novelty::Maker => scope.reasons.push(format!("it ran on no machine of the family {family}")),
        Novelty::New if !is_known(family) => {
            scope.reasons.push(format!("the maker of its CPU ('{family}') is unknown and counts as a new one"));
        }
        Novelty::New => scope.reasons.push(format!("it ran on no machine of the maker of {family}")),
    }
    let models = matrix.model_count();
    if models < BELIEVED {
        let noun = if models == 1 { "model" } else { "models" };
        scope.reasons.push(format!("it ran on {models} {noun} of CPU, and {BELIEVED} are needed"));
    }
    if table.columns.iter().all(|column| column.fact) {
        scope.reasons.push("nothing but facts of the machines is known".to_owned());
    }
    range(matrix, weights, &matrix.row(table, target), &mut scope);
    let typical = relative_errors(chosen).filter(|_| models >= BELIEVED).map_or(0.0, |(typical, _)| typical);
    let errors = format!("this application: the typical error on unseen CPU models is {}", percent(typical));
    if typical > HARDLY {
        scope.refusal.get_or_insert(format!("the benchmarks do not explain {errors}"));
    } else if typical > POORLY {
        scope.reasons.push(format!("the benchmarks explain little of {errors}"));
    }
    scope
}

fn unseen_primitives(table: &PredictorTable, matrix: &Matrix, scope: &mut PredictScope) {
    let seen: BTreeSet<Primitive> =
        matrix.columns.iter().flat_map(|&k| table.columns[k].stresses.iter().copied()).collect();
    let wanted = &table.application.stresses;
    if seen.is_empty() || wanted.is_empty() {
        return;
    }
    let unseen: Vec<&str> = wanted.iter().filter(|p| !seen.contains(p)).map(|p| p.title()).collect();
    if unseen.is_empty() {
        return;
    }
    let reason = format!("it stresses {}, which no benchmark of these runs measures", unseen.join(", "));
    if unseen.len() == wanted.len() {
        scope.refusal = Some(reason);
    } else {
        scope.widening *= UNSEEN;
        scope.reasons.push(reason);
    }
}

fn working_set(table: &PredictorTable, matrix: &Matrix, scope: &mut PredictScope) {
    let largest = matrix.columns.iter().filter_map(|&k| table.columns[k].working_set).max();
    if let (Some(own), Some(largest)) = (table.application.working_set, largest)
        && own > largest
    {
        scope.widening *= LARGER_SET;
        let (own, largest) = (model::format_size(own), model::format_size(largest));
        scope.reasons.push(format!("its working set of {own} is beyond the largest of the benchmarks, {largest}"));
    }
}

/// The machine's speed, weighted for this application, compared with those on which it ran.
fn range(matrix: &Matrix, weights: &[f64], row: &[f64], scope: &mut PredictScope) {
    // Facts come last in a row and have no weight.
    let level = |row: &[f64]| row.iter().zip(weights).map(|(x, w)| x * w).sum::<f64>();
    let here = level(row);
    let (low, high) = matrix
        .rows
        .iter()
        .map(|row| level(row))
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    let outside = (low - here).max(here - high).max(0.0);
    let factor = outside.exp();
    // Within a tenth of the range there is no loss.
    if factor <= 1.1 {
        return;
    }
    let (word, end) = if here > high { ("faster", "fastest") } else { ("slower", "slowest") };
    let reason = format!("it is {factor:.1}x {word} than the {end} machine on which the application ran");
    if factor > FARTHEST && outside > high - low {
        scope.refusal = Some(reason);
    } else {
        scope.widening *= 1.0 + outside / (high - low).max(1.5_f64.ln());
        scope.reasons.push(reason);
    }
}
