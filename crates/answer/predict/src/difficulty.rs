//! How hard a machine is to predict, before the application is considered.
//!
//! Columns substitute for the application. Each is predicted on machines left out, with their model, family or maker of
//! CPU, from the application's machines and from columns of other tools. If the application resembles one more column,
//! nine tenths of its errors are within the ninth decile of theirs (split conformal prediction over columns instead of
//! machines: Lei et al., Journal of the American Statistical Association 113, 2018). A machine on which columns
//! disagree is then hard for it too (errors normalised by a difficulty: Papadopoulos, Gammerman and Vovk, 2008).

use std::collections::BTreeMap;

use stats::quantile;

use super::leave_out::folds;
use super::matrix::{Matrix, Novelty};
use super::method::{FittedMethod, PredictMethod};
use super::prior::unconditional;
use super::table::PredictorTable;

/// Most columns that substitute for the application.
const STAND_INS: usize = 12;
/// Other machines on which they are tried, at most.
const TRIALS: usize = 40;
/// The ninth decile of the absolute value of a standard normal variable.
const DECILE: f64 = 1.645;
/// Weight of the typical error against a machine's own errors, in tools.
const TYPICAL: f64 = 4.0;
/// By novelty: the size of errors where no column can substitute for the application, so that only facts of the
/// machines or a single result predict it.
const UNKNOWN: [f64; 3] = [0.25, 0.4, 0.6];
/// Models of CPU from which a substitute is fitted more freely.
const MANY: usize = 8;

/// Sizes of errors to be expected, as standard deviations of logarithms.
#[derive(Debug, Clone, Default)]
pub(crate) struct Difficulty {
    stand_ins: Vec<StandIn>,
    /// Tools among them.
    tools: f64,
    /// By novelty: absolute errors of the substitutes on each row when it is left out; absent where there are too few
    /// groups.
    left_out: [Option<Vec<Vec<f64>>>; 3],
    /// By novelty: the typical size, where there are errors.
    typical: [Option<f64>; 3],
}

/// One column in place of the application.
#[derive(Debug, Clone)]
struct StandIn {
    /// Its place among the columns of the matrix.
    place: usize,
    /// Places of the columns that predict it.
    by: Vec<usize>,
    /// Their prior weights.
    prior: Vec<f64>,
    /// The fit to all rows.
    fit: FittedMethod,
}

impl Difficulty {
    /// Tests substitutes on the rows of the matrix and on the other machines of the table.
    pub(crate) fn of(table: &PredictorTable, matrix: &Matrix) -> Self {
        let weights = unconditional(table, &matrix.columns);
        let mut found = Self { stand_ins: stand_ins(table, matrix, &weights), ..Self::default() };
        if found.stand_ins.is_empty() {
            found.typical = UNKNOWN.map(Some);
            return found;
        }
        let mut tools: Vec<&str> =
            found.stand_ins.iter().map(|s| table.columns[matrix.columns[s.place]].tool.as_str()).collect();
        tools.sort_unstable();
        tools.dedup();
        found.tools = tools.len() as f64;
        let mut pooled: [Vec<f64>; 3] = Default::default();
        let others = (0..table.machines.len()).filter(|m| !matrix.machines.contains(m));
        for m in others.filter(|&m| matrix.row(table, m).len() == width(matrix)).take(TRIALS) {
            pooled[matrix.novelty(table, m) as usize].extend(found.errors_at(&matrix.row(table, m)));
        }
        for novelty in Novelty::ALL {
            found.left_out[novelty as usize] = found.left_out(matrix, matrix.groups(novelty));
            let own = found.left_out[novelty as usize].iter().flatten().flatten().copied();
            pooled[novelty as usize].extend(own);
        }
        found.typical = pooled.map(|errors| size(&errors));
        // A newer machine is not easier. If one machine is all, nothing is left out, but others were predicted.
        for level in [1, 0] {
            found.typical[level] = found.typical[level].or(found.typical[level + 1]);
        }
        for level in 1..3 {
            found.typical[level] = match (found.typical[level - 1], found.typical[level]) {
                (Some(nearer), Some(own)) => Some(own.max(nearer)),
                (nearer, own) => own.or(nearer),
            };
        }
        found
    }

    /// Expected size of the error on a machine with these values; `None` when no error is known.
    pub(crate) fn at(&self, row: &[f64], novelty: Novelty) -> Option<f64> {
        self.shrunk(&self.errors_at(row), novelty)
    }

    /// Expected size of the error on each of `rows` rows when it is left out with its group.
    pub(crate) fn of_rows(&self, novelty: Novelty, rows: usize) -> Option<Vec<f64>> {
        let nothing = Vec::new();
        let left_out = self.left_out[novelty as usize].as_ref();
        (0..rows).map(|i| self.shrunk(left_out.map_or(&nothing, |errors| &errors[i]), novelty)).collect()
    }

    fn shrunk(&self, errors: &[f64], novelty: Novelty) -> Option<f64> {
        let typical = self.typical[novelty as usize]?;
        let Some(own) = size(errors) else { return Some(typical) };
        let variance = self.tools * own * own + TYPICAL * typical * typical;
        Some((variance / (self.tools + TYPICAL)).sqrt().max(f64::MIN_POSITIVE))
    }

    fn errors_at(&self, row: &[f64]) -> Vec<f64> {
        self.stand_ins.iter().map(|s| (s.fit.predict(&s.columns(row), None) - row[s.place]).abs()).collect()
    }

    /// Errors of all substitutes on each row, predicted without its group; `None` with fewer than two groups.
    fn left_out(&self, matrix: &Matrix, groups: &[usize]) -> Option<Vec<Vec<f64>>> {
        let folds = folds(groups);
        if folds.len() < 2 {
            return None;
        }
        let mut errors: Vec<Vec<f64>> = vec![Vec::new(); matrix.rows.len()];
        for out in &folds {
            let rest = matrix.without(groups, out);
            for stand_in in &self.stand_ins {
                let fit = fitted(&rest, stand_in.place, &stand_in.by, &stand_in.prior)?;
                for i in (0..matrix.rows.len()).filter(|&i| out.contains(&groups[i])) {
                    let row = &matrix.rows[i];
                    errors[i].push((fit.predict(&stand_in.columns(row), None) - row[stand_in.place]).abs());
                }
            }
        }
        Some(errors)
    }
}

impl StandIn {
    fn columns(&self, row: &[f64]) -> Vec<f64> {
        self.by.iter().map(|&k| row[k]).collect()
    }
}

/// Size of errors as a standard deviation, from their ninth decile.
fn size(errors: &[f64]) -> Option<f64> {
    Some(quantile(errors, 0.9)? / DECILE)
}

fn width(matrix: &Matrix) -> usize {
    matrix.columns.len() + matrix.facts.len()
}

/// The heaviest columns of every tool, alternating, each predicted by columns of other tools as the application is.
/// Columns of a single tool predict each other better than any application, so they are no substitutes.
fn stand_ins(table: &PredictorTable, matrix: &Matrix, weights: &[f64]) -> Vec<StandIn> {
    let mut tools: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, &k) in matrix.columns.iter().enumerate().filter(|(_, k)| !table.columns[**k].fact) {
        tools.entry(table.columns[k].tool.as_str()).or_default().push(place);
    }
    for places in tools.values_mut() {
        places.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
    }
    let deepest = tools.values().map(Vec::len).max().unwrap_or(0);
    let in_turn = (0..deepest).flat_map(|rank| tools.values().filter_map(move |places| places.get(rank).copied()));
    in_turn
        .take(STAND_INS)
        .filter_map(|place| {
            let own = &table.columns[matrix.columns[place]];
            let of = |pick: &dyn Fn(usize) -> bool| -> Vec<usize> {
                (0..matrix.columns.len()).filter(|&other| other != place && pick(matrix.columns[other])).collect()
            };
            let by = of(&|k| table.columns[k].tool != own.tool);
            if by.is_empty() {
                return None;
            }
            let total: f64 = by.iter().map(|&k| weights[k]).sum();
            let prior: Vec<f64> = by.iter().map(|&k| weights[k] / total).collect();
            let fit = fitted(matrix, place, &by, &prior)?;
            Some(StandIn { place, by, prior, fit })
        })
        .collect()
}

fn fitted(matrix: &Matrix, place: usize, by: &[usize], prior: &[f64]) -> Option<FittedMethod> {
    let method = PredictMethod::Ridge(if matrix.model_count() < MANY { 3.0 } else { 0.3 });
    let played = Matrix {
        columns: by.to_vec(),
        facts: Vec::new(),
        rows: matrix.rows.iter().map(|row| by.iter().map(|&k| row[k]).collect()).collect(),
        targets: matrix.rows.iter().map(|row| row[place]).collect(),
        ..matrix.clone()
    };
    method.fit(&played, prior)
}
