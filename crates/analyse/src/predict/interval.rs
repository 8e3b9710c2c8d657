//! Prediction intervals.
//!
//! With nine machines or more: jackknife+ of the errors on models left out. With five to eight, its largest level is
//! below the requested one, so it is stretched by the errors in the rest of the store. With fewer than five, only the
//! store is used: other columns are predicted on the same machines as if they were the application (split conformal,
//! Lei et al. 2018).

use serde::{Deserialize, Serialize};
use stats::jackknife_plus::{LeftOut, jackknife_plus, largest_level};

use super::leave_out::{BlendedMethods, choose};
use super::matrix::{Matrix, speeds};
use super::prior::prior;
use super::table::{PredictedApplication, PredictorTable};

/// Fewest machines whose own errors are used.
const OWN: usize = 5;
/// Columns that are used in place of the application, at most.
const STAND_INS: usize = 16;
/// Machines on which each of them is tried, at most.
const TRIALS: usize = 40;

/// Method of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntervalMethod {
    /// Jackknife+ of the errors on models left out.
    JackknifePlus,
    /// Jackknife+ at its largest level, stretched to the requested one.
    Stretched,
    /// Errors of other columns, predicted from the same machines.
    StoreWide,
}

/// Errors of columns used in place of the application, each with its weight: relative, as logarithms.
#[derive(Debug, Clone, Default)]
pub(crate) struct StoreWide {
    errors: Vec<(f64, f64)>,
    total: f64,
}

impl StoreWide {
    /// Predicts other columns on the machines without the application, from those with it.
    pub(crate) fn of(table: &PredictorTable, matrix: &Matrix) -> Self {
        let weights = prior(table, &matrix.columns);
        let mut order: Vec<usize> = (0..matrix.columns.len()).collect();
        order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
        let others: Vec<usize> =
            (0..table.machines.len()).filter(|m| !matrix.machines.contains(m)).take(TRIALS).collect();
        let mut found = Self::default();
        for &place in order.iter().take(STAND_INS) {
            let column = matrix.columns[place];
            for error in stand_in(table, matrix, column, &others) {
                found.errors.push((error, weights[place]));
                found.total += weights[place];
            }
        }
        found.errors.sort_by(|a, b| a.0.total_cmp(&b.0));
        found
    }

    /// The error that a share `level` of the trials does not exceed, by weight; `None` with too few.
    pub(crate) fn half_width(&self, level: f64) -> Option<f64> {
        if (self.errors.len() as f64) < 1.0 / (1.0 - level).max(1e-9) {
            return None;
        }
        let mut below = 0.0;
        self.errors
            .iter()
            .find(|(_, weight)| {
                below += weight;
                below >= level * self.total
            })
            .map(|(error, _)| *error)
    }
}

/// Errors of one column, predicted by the columns of other tools, or by the others of its own tool if there is no
/// other.
fn stand_in(table: &PredictorTable, matrix: &Matrix, column: usize, others: &[usize]) -> Vec<f64> {
    let own = &table.columns[column];
    let foreign = |k: &usize| table.columns[*k].tool != own.tool;
    let mut columns: Vec<usize> = matrix.columns.iter().copied().filter(foreign).collect();
    if columns.is_empty() {
        columns = matrix.columns.iter().copied().filter(|&k| table.columns[k].label != own.label).collect();
    }
    let rows: Vec<Vec<f64>> = matrix.machines.iter().map(|&m| speeds(table, m, &columns)).collect();
    let targets: Option<Vec<f64>> = matrix.machines.iter().map(|&m| table.speed(m, column)).collect();
    let Some(targets) = targets else { return Vec::new() };
    let played = Matrix { columns: columns.clone(), rows, targets, ..matrix.clone() };
    // The footprint is the application's, not this column's.
    let anonymous = PredictorTable {
        application: PredictedApplication { footprint: None, ..table.application.clone() },
        ..table.clone()
    };
    let Some(chosen) = choose(&played, &prior(&anonymous, &columns)) else { return Vec::new() };
    others
        .iter()
        .filter_map(|&m| {
            let row = speeds(table, m, &columns);
            let truth = table.speed(m, column)?;
            (row.len() == columns.len()).then(|| (chosen.fit.predict(&row, None) - truth).abs())
        })
        .collect()
}

/// Ends of the interval as speeds, and its method; `None` when there is none at this level.
pub(crate) fn interval(
    chosen: &BlendedMethods,
    store: &StoreWide,
    row: &[f64],
    family: Option<usize>,
    level: f64,
) -> Option<(f64, f64, IntervalMethod)> {
    let centre = chosen.fit.predict(row, family);
    let n = chosen.errors.len();
    if n < OWN {
        let half = store.half_width(level)?;
        return Some((centre - half, centre + half, IntervalMethod::StoreWide));
    }
    let left_out: Vec<LeftOut> = chosen
        .errors
        .iter()
        .map(|&(fold, error)| LeftOut { prediction: chosen.fits[fold].predict(row, family), residual: error.abs() })
        .collect();
    if let Some(found) = jackknife_plus(&left_out, level) {
        return Some((found.low.min(centre), found.high.max(centre), IntervalMethod::JackknifePlus));
    }
    let reachable = largest_level(n) - 1e-9;
    let found = jackknife_plus(&left_out, reachable)?;
    let stretch = match (store.half_width(level), store.half_width(reachable)) {
        (Some(wide), Some(narrow)) if narrow > 0.0 => wide / narrow,
        _ => {
            let t = |level: f64| stats::distribution::student_t_quantile(0.5 + level / 2.0, n as f64 - 1.0);
            t(level) / t(reachable)
        }
    };
    let stretch = stretch.max(1.0);
    let low = centre - stretch * (centre - found.low).max(0.0);
    let high = centre + stretch * (found.high - centre).max(0.0);
    Some((low, high, IntervalMethod::Stretched))
}
