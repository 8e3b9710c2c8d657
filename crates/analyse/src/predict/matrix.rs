//! The part of the table without missing values that a prediction can use.

use std::collections::BTreeMap;

use super::table::PredictorTable;

/// Columns and machines without missing values, as speeds.
#[derive(Debug, Clone)]
pub(crate) struct Matrix {
    /// Positions of the columns in the table.
    pub(crate) columns: Vec<usize>,
    /// Positions of the machines with the application.
    pub(crate) machines: Vec<usize>,
    /// Speeds of the columns on each of them.
    pub(crate) rows: Vec<Vec<f64>>,
    /// Speeds of the application on each of them.
    pub(crate) targets: Vec<f64>,
    /// Number of each one's model of CPU.
    pub(crate) models: Vec<usize>,
    /// Number of each one's family of CPU.
    pub(crate) families: Vec<usize>,
    /// Machines with the application that lack too many columns.
    pub(crate) left_out: Vec<usize>,
}

/// Share of the target's columns that a machine must have to be used.
const SHARE: f64 = 0.5;

impl Matrix {
    /// The matrix for predicting `target` from `known` machines: their common columns. A machine that lacks more than
    /// half of the target's columns is left out instead of all its missing columns.
    pub(crate) fn of(table: &PredictorTable, known: &[usize], target: usize) -> Self {
        let wanted: Vec<usize> = (0..table.columns.len()).filter(|&k| table.speed(target, k).is_some()).collect();
        let has = |m: usize| wanted.iter().filter(|&&k| table.speed(m, k).is_some()).count();
        let enough = |m: &usize| has(*m) as f64 >= SHARE * wanted.len() as f64;
        let (machines, left_out): (Vec<usize>, Vec<usize>) = known.iter().partition(|m| enough(m));
        let columns: Vec<usize> =
            wanted.into_iter().filter(|&k| machines.iter().all(|&m| table.speed(m, k).is_some())).collect();
        let rows = machines.iter().map(|&m| speeds(table, m, &columns)).collect();
        let targets = machines.iter().filter_map(|&m| table.application_speed(m)).collect();
        let models = numbered(machines.iter().map(|&m| table.machines[m].model.as_str()));
        let families = numbered(machines.iter().map(|&m| table.machines[m].family.as_str()));
        Self { columns, machines, rows, targets, models, families, left_out }
    }

    /// Number of models of CPU.
    pub(crate) fn model_count(&self) -> usize {
        self.models.iter().max().map_or(0, |largest| largest + 1)
    }

    /// The rows whose model is not among `models`.
    pub(crate) fn without(&self, models: &[usize]) -> Self {
        let keep: Vec<usize> = (0..self.rows.len()).filter(|&i| !models.contains(&self.models[i])).collect();
        fn pick<T: Clone>(values: &[T], keep: &[usize]) -> Vec<T> {
            keep.iter().map(|&i| values[i].clone()).collect()
        }
        Self {
            columns: self.columns.clone(),
            machines: pick(&self.machines, &keep),
            rows: pick(&self.rows, &keep),
            targets: pick(&self.targets, &keep),
            models: pick(&self.models, &keep),
            families: pick(&self.families, &keep),
            left_out: Vec::new(),
        }
    }
}

/// Speeds of a machine that has all of the columns.
pub(crate) fn speeds(table: &PredictorTable, machine: usize, columns: &[usize]) -> Vec<f64> {
    columns.iter().filter_map(|&k| table.speed(machine, k)).collect()
}

fn numbered<'a>(names: impl Iterator<Item = &'a str>) -> Vec<usize> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    names
        .map(|name| {
            let next = seen.len();
            *seen.entry(name).or_insert(next)
        })
        .collect()
}
