//! Prior weights of columns, before the application is considered.
//!
//! Most applications are near the machine's common factor. A column far from it (a whole-machine result among
//! single-thread ones, a disk) has a small weight unless the application's data require more. A measured footprint
//! shifts the weight between core, memory and kernel.

use std::collections::BTreeMap;

use stats::quantile::{median, scaled_mad};

use super::table::{PredictorTable, ResourceKind};

/// Spread about the common factor at which a column's prior weight is a quarter, as a logarithm.
const SPREAD: f64 = 0.2;
/// Least share of any kind of resource by a footprint, since counters are incomplete.
const LEAST_SHARE: f64 = 0.05;
/// Typical cost of a miss of the last-level cache, seconds (Drepper, What every programmer should know about memory,
/// 2007).
const MISS_SECONDS: f64 = 80e-9;

/// Weights of the columns, summing to 1, from the whole store without the application, and from its footprint.
pub(crate) fn prior(table: &PredictorTable, columns: &[usize]) -> Vec<f64> {
    let mut weights = unconditional(table, columns);
    if let Some(shares) = footprint_shares(table) {
        by_footprint(&mut weights, table, columns, &shares);
    }
    weights
}

/// Weights of the columns, summing to 1, whatever the application is.
pub(crate) fn unconditional(table: &PredictorTable, columns: &[usize]) -> Vec<f64> {
    let common = common_factor(table, columns);
    let mut tools: BTreeMap<&str, f64> = BTreeMap::new();
    for &k in columns {
        *tools.entry(table.columns[k].tool.as_str()).or_default() += 1.0;
    }
    let weight = |&k: &usize| {
        let apart: Vec<f64> = common.iter().enumerate().filter_map(|(m, c)| Some(table.speed(m, k)? - (*c)?)).collect();
        let spread = if apart.len() < 3 { 0.0 } else { scaled_mad(&apart).unwrap_or(0.0) };
        let closeness = SPREAD * SPREAD / (spread * spread + SPREAD * SPREAD);
        let crowd = tools.get(table.columns[k].tool.as_str()).copied().unwrap_or(1.0);
        closeness * closeness / crowd.sqrt()
    };
    let mut weights: Vec<f64> = columns.iter().map(weight).collect();
    normalise(&mut weights);
    weights
}

/// Each machine's speed relative to the columns' typical ones, as a logarithm: the median over its columns.
fn common_factor(table: &PredictorTable, columns: &[usize]) -> Vec<Option<f64>> {
    let typical: Vec<Option<f64>> = columns
        .iter()
        .map(|&k| median(&(0..table.machines.len()).filter_map(|m| table.speed(m, k)).collect::<Vec<_>>()))
        .collect();
    (0..table.machines.len())
        .map(|m| {
            let apart: Vec<f64> = columns
                .iter()
                .zip(&typical)
                .filter_map(|(&k, typical)| Some(table.speed(m, k)? - (*typical)?))
                .collect();
            median(&apart)
        })
        .collect()
}

/// Shares of the application's time by kind, from its measured footprint.
pub(crate) fn footprint_shares(table: &PredictorTable) -> Option<BTreeMap<ResourceKind, f64>> {
    let footprint = table.application.footprint.as_ref()?;
    let (user, system) = (footprint.user_seconds?, footprint.system_seconds?);
    let total = user + system;
    if total <= 0.0 || total.is_nan() {
        return None;
    }
    let misses = footprint.hardware.as_ref().and_then(|hardware| hardware.cache_misses);
    let memory = misses.map_or(0.0, |misses| (misses as f64 * MISS_SECONDS).min(0.9 * user));
    Some(BTreeMap::from([
        (ResourceKind::Core, (user - memory) / total),
        (ResourceKind::Memory, memory / total),
        (ResourceKind::Kernel, system / total),
    ]))
}

fn by_footprint(weights: &mut [f64], table: &PredictorTable, columns: &[usize], shares: &BTreeMap<ResourceKind, f64>) {
    let kind = |k: usize| table.columns[k].stresses.first().map(|&primitive| ResourceKind::of(primitive));
    let mut mass: BTreeMap<ResourceKind, f64> = BTreeMap::new();
    for (weight, &k) in weights.iter().zip(columns) {
        if let Some(kind) = kind(k) {
            *mass.entry(kind).or_default() += weight;
        }
    }
    // Columns without a declaration keep their weight.
    for (weight, &k) in weights.iter_mut().zip(columns) {
        if let Some(kind) = kind(k) {
            let share = shares.get(&kind).copied().unwrap_or(0.0).max(LEAST_SHARE);
            *weight *= share / mass[&kind].max(f64::MIN_POSITIVE);
        }
    }
    normalise(weights);
}

fn normalise(weights: &mut [f64]) {
    let total: f64 = weights.iter().sum();
    let even = 1.0 / weights.len().max(1) as f64;
    weights.iter_mut().for_each(|weight| *weight = if total > 0.0 { *weight / total } else { even });
}
