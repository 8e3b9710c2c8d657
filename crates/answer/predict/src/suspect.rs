//! Values that are off by a factor: one result of one machine, against all its other results.
//!
//! For every other column the difference of the two logarithms is compared with its median over machines. A value is
//! suspected if it is off against nine tenths of the other columns, in the same direction, by more than a factor of
//! three, and twice as far in logarithms as any other machine in that column. A machine without an instruction that all
//! others have is slow in every result that uses it, and a strange column is strange on several machines.

use serde::{Deserialize, Serialize};
use stats::{median, quantile};

use super::table::{PredictorTable, turned};

/// Least factor.
const LEAST: f64 = 3.0;
/// How many times further off, as a logarithm, than any machine of another model.
const ALONE: f64 = 2.0;
/// Fewest machines that can tell.
const FEWEST: usize = 4;
/// Fewest other columns: of two that differ either may be off.
const OTHERS: usize = 2;
/// Columns with which each is compared, at most.
const COMPARED: usize = 24;

/// A value that is off by a factor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SuspectValue {
    /// Name of the machine.
    pub machine: String,
    /// Name of the result.
    pub result: String,
    /// Value over the one expected from the machine's other results, in the result's own unit.
    pub factor: f64,
    /// Position of the machine in the table.
    #[serde(skip)]
    pub(crate) place: usize,
    /// Position of the column; absent for the application.
    #[serde(skip)]
    pub(crate) column: Option<usize>,
}

impl SuspectValue {
    /// Names the value: `pipe latency of box-3 is 1000 times what its other results let expect`.
    #[must_use]
    pub fn words(&self) -> String {
        let factor = self.factor.max(1.0 / self.factor);
        let digits = if factor < 10.0 { format!("{factor:.1}") } else { format!("{factor:.0}") };
        let times = if self.factor >= 1.0 { "times" } else { "times below" };
        format!("{} of {} is {digits} {times} what its other results let expect", self.result, self.machine)
    }
}

/// Measured columns' values that are off.
#[must_use]
pub fn suspect_values(table: &PredictorTable) -> Vec<SuspectValue> {
    let columns: Vec<usize> = (0..table.columns.len()).filter(|&k| !table.columns[k].fact).collect();
    let sheet = SpeedSheet::of(table, &columns, &(0..table.machines.len()).collect::<Vec<_>>(), false);
    (0..columns.len())
        .flat_map(|k| sheet.off(k).into_iter().map(move |found| (k, found)))
        .map(|(k, (machine, apart))| {
            let column = columns[k];
            SuspectValue {
                machine: table.machines[machine].name.clone(),
                result: table.columns[column].name.clone(),
                factor: turned(apart, table.columns[column].better).exp(),
                place: machine,
                column: Some(column),
            }
        })
        .collect()
}

/// The application's values on `known` machines that are off.
pub(crate) fn suspect_application(table: &PredictorTable, known: &[usize]) -> Vec<SuspectValue> {
    let columns: Vec<usize> = (0..table.columns.len()).filter(|&k| !table.columns[k].fact).collect();
    let sheet = SpeedSheet::of(table, &columns, known, true);
    let found = sheet.off(columns.len());
    found
        .into_iter()
        .map(|(machine, apart)| SuspectValue {
            machine: table.machines[machine].name.clone(),
            result: table.application.name.clone(),
            factor: turned(apart, table.application.metric.better).exp(),
            place: machine,
            column: None,
        })
        .collect()
}

impl PredictorTable {
    /// The table without suspected values.
    pub(crate) fn without(&self, suspects: &[SuspectValue]) -> Self {
        let mut clean = self.clone();
        for suspect in suspects {
            if let Some(column) = suspect.column {
                clean.machines[suspect.place].benchmarks[column] = None;
            }
        }
        clean
    }
}

/// Values as speeds, by column and machine.
struct SpeedSheet {
    machines: Vec<usize>,
    models: Vec<String>,
    columns: Vec<Vec<Option<f64>>>,
}

impl SpeedSheet {
    fn of(table: &PredictorTable, columns: &[usize], machines: &[usize], with_application: bool) -> Self {
        let mut values: Vec<Vec<Option<f64>>> =
            columns.iter().map(|&k| machines.iter().map(|&m| table.speed(m, k)).collect()).collect();
        if with_application {
            values.push(machines.iter().map(|&m| table.application_speed(m)).collect());
        }
        let models = machines.iter().map(|&m| table.machines[m].model.clone()).collect();
        Self { machines: machines.to_vec(), models, columns: values }
    }

    /// The machine whose value in a column is off, and by how much as the logarithm of a speed.
    fn off(&self, column: usize) -> Option<(usize, f64)> {
        let apart = self.apart(column);
        let (worst, far) =
            (0..apart.len()).filter_map(|m| Some((m, apart[m]?))).max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
        let another = |m: &usize| self.models[*m] != self.models[worst];
        let next = (0..apart.len()).filter(another).filter_map(|m| Some(apart[m]?.abs())).fold(0.0, f64::max);
        (far.abs() > LEAST.ln() && far.abs() > ALONE * next).then(|| (self.machines[worst], far))
    }

    /// By machine: how far its value is from what nearly all other columns let expect; absent where too few tell.
    fn apart(&self, column: usize) -> Vec<Option<f64>> {
        let others: Vec<usize> = (0..self.columns.len()).filter(|&k| k != column).collect();
        let step = others.len().div_ceil(COMPARED).max(1);
        let compared: Vec<Vec<Option<f64>>> =
            others.into_iter().step_by(step).filter_map(|other| self.against(column, other)).collect();
        (0..self.machines.len())
            .map(|m| {
                let found: Vec<f64> = compared.iter().filter_map(|against| against[m]).collect();
                if found.len() < OTHERS {
                    return None;
                }
                let sign = median(&found)?.signum();
                let towards: Vec<f64> = found.iter().map(|apart| (apart * sign).max(0.0)).collect();
                Some(sign * quantile(&towards, 0.1)?)
            })
            .collect()
    }

    /// Differences between two columns about their median; `None` with too few machines in common.
    fn against(&self, column: usize, other: usize) -> Option<Vec<Option<f64>>> {
        let differences: Vec<Option<f64>> =
            self.columns[column].iter().zip(&self.columns[other]).map(|(x, y)| Some((*x)? - (*y)?)).collect();
        let present: Vec<f64> = differences.iter().flatten().copied().collect();
        let middle = median(&present).filter(|_| present.len() >= FEWEST)?;
        Some(differences.into_iter().map(|d| Some(d? - middle)).collect())
    }
}
