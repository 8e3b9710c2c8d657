//! Orders of machines and results.

use model::{Better, Outcome};

use super::options::Normalise;
use super::result::{CompareRow, Comparison, Ratio};
use crate::Error;

impl Comparison {
    /// Sorts by a result (machines best first, as in published tables) or by a machine (results worst first). A
    /// benchmark's id selects its result when it has one set of parameters only. Entries without a value come last;
    /// ties keep their order.
    ///
    /// # Errors
    /// When `name` is neither.
    pub fn sort_by(&mut self, name: &str) -> Result<(), Error> {
        if let Some(row) = self.row_named(name) {
            let order = self.machines_by(row);
            self.reorder(&order);
            return Ok(());
        }
        if self.machines.iter().any(|machine| machine.name == name) {
            let normalise = self.normalise;
            let gain = |row: &CompareRow| row.ratio(name).and_then(|ratio| gain(row, ratio, normalise));
            self.rows.sort_by(|a, b| ascending(gain(a), gain(b)));
            return Ok(());
        }
        let known: Vec<String> = self.machines.iter().map(|machine| machine.name.clone()).take(3).collect();
        let results = self.rows.iter().map(|row| row.key().to_string()).take(3);
        let known = known.into_iter().chain(results).collect::<Vec<_>>().join(", ");
        Err(Error::SortBy { name: name.to_owned(), known })
    }

    fn row_named(&self, name: &str) -> Option<usize> {
        let exact = self.rows.iter().position(|row| row.key().to_string() == name);
        exact.or_else(|| {
            let mut of_benchmark = (0..self.rows.len()).filter(|&row| self.rows[row].benchmark == name);
            let first = of_benchmark.next();
            if of_benchmark.next().is_none() { first } else { None }
        })
    }

    fn machines_by(&self, row: usize) -> Vec<usize> {
        let row = &self.rows[row];
        // Places are of values on one basis, which printed ones need not be.
        let placed = row.ratios.iter().any(|ratio| ratio.rank.is_some());
        let value = |machine: &usize| match &row.ratios[*machine] {
            ratio if placed => ratio.rank.map(|rank| rank.place as f64),
            Ratio { outcome: Some(Outcome::Measured(estimate)), .. } if row.metric.better == Better::Higher => {
                Some(-estimate.value)
            }
            Ratio { outcome: Some(Outcome::Measured(estimate)), .. } => Some(estimate.value),
            _ => None,
        };
        let mut order: Vec<usize> = (0..self.machines.len()).collect();
        order.sort_by(|a, b| ascending(value(a), value(b)));
        order
    }

    fn reorder(&mut self, order: &[usize]) {
        self.machines = order.iter().map(|&machine| self.machines[machine].clone()).collect();
        for row in &mut self.rows {
            row.ratios = order.iter().map(|&machine| row.ratios[machine].clone()).collect();
        }
    }
}

/// Gain over the reference, from any form of ratios.
fn gain(row: &CompareRow, ratio: &Ratio, normalise: Normalise) -> Option<f64> {
    ratio.value.map(|value| normalise.rewritten(&row.metric, value, Normalise::Gain))
}

fn ascending(a: Option<f64>, b: Option<f64>) -> std::cmp::Ordering {
    a.unwrap_or(f64::INFINITY).total_cmp(&b.unwrap_or(f64::INFINITY))
}
