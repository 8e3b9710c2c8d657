//! The part of the table without missing values that a prediction can use.

use std::collections::BTreeMap;

use super::family::maker;
use super::table::PredictorTable;

/// Columns and machines without missing values, as speeds.
#[derive(Debug, Clone)]
pub(crate) struct Matrix {
    /// Positions of the columns in the table.
    pub(crate) columns: Vec<usize>,
    /// Positions of the machine facts in the table; without any measured column they are the columns instead.
    pub(crate) facts: Vec<usize>,
    /// Positions of the machines with the application.
    pub(crate) machines: Vec<usize>,
    /// Speeds of the columns on each of them, then the facts.
    pub(crate) rows: Vec<Vec<f64>>,
    /// Speeds of the application on each of them.
    pub(crate) targets: Vec<f64>,
    /// Number of each one's model of CPU.
    pub(crate) models: Vec<usize>,
    /// Number of each one's family of CPU.
    pub(crate) families: Vec<usize>,
    /// Number of each one's maker.
    pub(crate) makers: Vec<usize>,
    /// Machines with the application that lack too many columns.
    pub(crate) left_out: Vec<usize>,
}

/// Share of the target's columns that a machine must have to be used.
const SHARE: f64 = 0.5;
/// With fewer common columns than this, machines are dropped to gain columns, if this share of them and this many
/// models of CPU remain. Fewer models hurt the fit more than fewer columns: measured on two public tables with gaps.
const FEW_COLUMNS: usize = 3;
const REMAINING: f64 = 0.75;
const MODELS: usize = 9;

/// How new a machine is to the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Novelty {
    /// It ran on the family.
    Family,
    /// It ran on another family of the maker.
    Maker,
    /// It ran on no machine of the maker.
    New,
}

impl Novelty {
    pub(crate) const ALL: [Self; 3] = [Self::Family, Self::Maker, Self::New];
}

impl Matrix {
    /// The matrix for predicting `target` from `known` machines: their common columns. A machine that lacks more than
    /// half of the target's columns is dropped instead of these columns. If each of the target's columns is missing
    /// somewhere, the machines and columns that lack most are dropped. The same holds if one or two columns are common
    /// to many machines and most of these have more.
    pub(crate) fn of(table: &PredictorTable, known: &[usize], target: usize) -> Self {
        let has_target = |k: &usize| table.speed(target, *k).is_some();
        let measured = |k: &usize| !table.columns[*k].fact;
        let (wanted, facts): (Vec<usize>, Vec<usize>) = (0..table.columns.len()).filter(has_target).partition(measured);
        let has = |m: usize| wanted.iter().filter(|&&k| table.speed(m, k).is_some()).count();
        let enough = |m: &usize| has(*m) as f64 >= SHARE * wanted.len() as f64;
        let mut machines: Vec<usize> = known.iter().copied().filter(enough).collect();
        let common = |of: &[usize], machines: &[usize]| -> Vec<usize> {
            of.iter().copied().filter(|&k| machines.iter().all(|&m| table.speed(m, k).is_some())).collect()
        };
        let mut columns = common(&wanted, &machines);
        if columns.len() < FEW_COLUMNS.min(wanted.len()) {
            let (fewer, complete) = largest_complete(table, &machines, &wanted);
            let models = || count(&numbered(fewer.iter().map(|&m| table.machines[m].model.as_str())));
            let enough = || fewer.len() as f64 >= REMAINING * machines.len() as f64 && models() >= MODELS;
            if complete.len() > columns.len() && (columns.is_empty() || enough()) {
                (machines, columns) = (fewer, complete);
            }
        }
        let mut facts = common(&facts, &machines);
        if columns.is_empty() {
            std::mem::swap(&mut columns, &mut facts);
        }
        let left_out = known.iter().copied().filter(|m| !machines.contains(m)).collect();
        let rows = machines.iter().map(|&m| row(table, m, &columns, &facts)).collect();
        let targets = machines.iter().filter_map(|&m| table.application_speed(m)).collect();
        let models = numbered(machines.iter().map(|&m| table.machines[m].model.as_str()));
        let families = numbered(machines.iter().map(|&m| table.machines[m].family.as_str()));
        let makers = numbered(machines.iter().map(|&m| maker(&table.machines[m].family)));
        Self { columns, facts, machines, rows, targets, models, families, makers, left_out }
    }

    /// Values of another machine that has the columns.
    pub(crate) fn row(&self, table: &PredictorTable, machine: usize) -> Vec<f64> {
        row(table, machine, &self.columns, &self.facts)
    }

    /// The measured columns of the rows.
    pub(crate) fn measured(&self) -> Vec<Vec<f64>> {
        self.rows.iter().map(|row| row[..self.columns.len()].to_vec()).collect()
    }

    /// Number of models of CPU.
    pub(crate) fn model_count(&self) -> usize {
        count(&self.models)
    }

    /// Numbers of the groups in which machines are left out to imitate a novelty.
    pub(crate) fn groups(&self, novelty: Novelty) -> &[usize] {
        match novelty {
            Novelty::Family => &self.models,
            Novelty::Maker => &self.families,
            Novelty::New => &self.makers,
        }
    }

    /// How new a machine is.
    pub(crate) fn novelty(&self, table: &PredictorTable, machine: usize) -> Novelty {
        let family = &table.machines[machine].family;
        let known = || self.machines.iter().map(|&m| &table.machines[m].family);
        if known().any(|own| own == family) {
            Novelty::Family
        } else if known().any(|own| maker(own) == maker(family)) {
            Novelty::Maker
        } else {
            Novelty::New
        }
    }

    /// The rows whose group is not among `out`.
    pub(crate) fn without(&self, groups: &[usize], out: &[usize]) -> Self {
        let keep: Vec<usize> = (0..self.rows.len()).filter(|&i| !out.contains(&groups[i])).collect();
        fn pick<T: Clone>(values: &[T], keep: &[usize]) -> Vec<T> {
            keep.iter().map(|&i| values[i].clone()).collect()
        }
        Self {
            columns: self.columns.clone(),
            facts: self.facts.clone(),
            machines: pick(&self.machines, &keep),
            rows: pick(&self.rows, &keep),
            targets: pick(&self.targets, &keep),
            models: pick(&self.models, &keep),
            families: pick(&self.families, &keep),
            makers: pick(&self.makers, &keep),
            left_out: Vec::new(),
        }
    }
}

/// Number of groups.
pub(crate) fn count(groups: &[usize]) -> usize {
    let mut seen = groups.to_vec();
    seen.sort_unstable();
    seen.dedup();
    seen.len()
}

/// Machines and columns without missing values: the one that lacks the largest share is dropped, one at a time. Of a
/// machine and a column that lack equally much, the column goes.
fn largest_complete(table: &PredictorTable, machines: &[usize], columns: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let (mut machines, mut columns) = (machines.to_vec(), columns.to_vec());
    let lacks = |m: usize, k: usize| table.speed(m, k).is_none();
    let mut by_machine: Vec<usize> =
        machines.iter().map(|&m| columns.iter().filter(|&&k| lacks(m, k)).count()).collect();
    let mut by_column: Vec<usize> =
        columns.iter().map(|&k| machines.iter().filter(|&&m| lacks(m, k)).count()).collect();
    // The first of equal ones, so that only the table decides.
    let worst = |counts: &[usize]| (0..counts.len()).rev().max_by_key(|&place| counts[place]);
    while let Some((machine, column)) = worst(&by_machine).zip(worst(&by_column)) {
        if by_machine[machine] == 0 {
            break;
        }
        // Shares of the columns and of the machines, without dividing.
        if by_machine[machine] * machines.len() > by_column[column] * columns.len() {
            let gone = machines.remove(machine);
            by_machine.remove(machine);
            by_column.iter_mut().zip(&columns).for_each(|(count, &k)| *count -= usize::from(lacks(gone, k)));
        } else {
            let gone = columns.remove(column);
            by_column.remove(column);
            by_machine.iter_mut().zip(&machines).for_each(|(count, &m)| *count -= usize::from(lacks(m, gone)));
        }
    }
    (machines, columns)
}

/// Speeds of a machine that has all of the columns, then its facts.
fn row(table: &PredictorTable, machine: usize, columns: &[usize], facts: &[usize]) -> Vec<f64> {
    columns.iter().chain(facts).filter_map(|&k| table.speed(machine, k)).collect()
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

#[cfg(test)]
mod tests {
    use super::super::table::PredictorMachine;
    use super::*;

    /// Machines and columns that remain of six columns if the first `lacking` machines lack `each` columns of their
    /// own.
    fn kept(machines: usize, lacking: usize, each: usize) -> (usize, usize) {
        let machine = |m: usize| PredictorMachine {
            name: format!("m{m}"),
            runs: Vec::new(),
            model: format!("model {m}"),
            family: "family".to_owned(),
            benchmarks: (0..6).map(|k| (m >= lacking || k / each != m).then_some(m as f64)).collect(),
            application: Some(1.0),
        };
        let table = PredictorTable::simulated(6, (0..=machines).map(machine).collect());
        let found = Matrix::of(&table, &(0..machines).collect::<Vec<_>>(), machines);
        (found.machines.len(), found.columns.len())
    }

    #[test]
    fn one_or_two_common_columns_are_no_reason_to_forget_what_most_machines_have() {
        assert_eq!((kept(20, 4, 1), kept(20, 5, 1)), ((16, 6), (15, 6)));
        // Three common columns are enough to keep every machine.
        assert_eq!(kept(20, 3, 1), (20, 3));
        // More than a quarter of the machines are too many to lose, and so are two of ten: eight are left.
        assert_eq!((kept(17, 5, 1), kept(10, 2, 2), kept(11, 2, 2)), ((17, 1), (10, 2), (9, 6)));
    }
}
