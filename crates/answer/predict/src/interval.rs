//! Prediction intervals.
//!
//! [`Difficulty`] gives the expected size of the error on a machine. The application's own errors on machines left out
//! say by which factor it is harder or easier than a column. With few errors that factor is shrunk towards 1 and has a
//! t distribution (as the moderated t of Smyth, Statistical Applications in Genetics and Molecular Biology 3, 2004).
//! The interval then has a minimum width, however well two or three machines happen to fit. With nine models of CPU and
//! more, on a family on which the application ran, the interval is jackknife+ of the errors over their expected sizes.
//! On a new family or maker, the errors are those of families or makers left out. The interval is at least as wide as
//! the application's irregularity among models of CPU.

use serde::{Deserialize, Serialize};
use stats::distribution::student_t_quantile;
use stats::{LeftOut, jackknife_plus, quantile};

use super::difficulty::Difficulty;
use super::leave_out::BlendedMethods;
use super::matrix::{Matrix, Novelty};

/// Degrees of freedom of what columns say about the application: little, for one column in ten is twice as hard to
/// predict as another.
const BEFORE: f64 = 2.0;

/// On a new family or maker an interval is at least this multiple of the application's errors on models of CPU left out
/// (the quantile of the interval's level). Families that were left out are few, and may fit by chance where the next
/// one does not. An application that is irregular among models of CPU is so among families too. All predictions on a
/// family err together, so this exceeds what nine tenths of them need. With 3, no split of the training tables holds
/// significantly fewer than 85%; with 2.5 one does.
const IRREGULAR: f64 = 3.0;

/// Method of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntervalMethod {
    /// Jackknife+ of the errors on models left out.
    JackknifePlus,
    /// The application's errors on models left out, shrunk towards those of columns.
    Moderated,
    /// The same with families left out, for a family on which the application never ran.
    FamiliesLeftOut,
    /// The same with all families of a maker left out, for a maker on whose machines it never ran.
    MakersLeftOut,
    /// Errors of other columns, predicted from the same machines.
    StoreWide,
}

/// The inputs of an interval.
pub(crate) struct IntervalBasis<'a> {
    pub(crate) matrix: &'a Matrix,
    pub(crate) difficulty: &'a Difficulty,
    /// The methods with models left out.
    pub(crate) near: &'a BlendedMethods,
    /// The methods with the groups of the novelty left out, if those are enough.
    pub(crate) own: Option<&'a BlendedMethods>,
    pub(crate) novelty: Novelty,
}

impl IntervalBasis<'_> {
    /// Ends of the interval about a prediction, as speeds, and its method; `None` when nothing says how large errors
    /// are.
    pub(crate) fn interval(
        &self,
        centre: f64,
        row: &[f64],
        family: Option<usize>,
        level: f64,
    ) -> Option<(f64, f64, IntervalMethod)> {
        // Errors on known families say nothing of how the application fares on a new one: it then counts as no easier
        // than a column.
        let (blend, novelty, told) = match self.own {
            Some(own) => (own, self.novelty, true),
            None => (self.near, Novelty::Family, self.novelty == Novelty::Family),
        };
        let here = self.difficulty.at(row, self.novelty)?;
        let sizes = self.difficulty.of_rows(novelty, self.matrix.rows.len())?;
        let ratios: Vec<f64> = blend.errors.iter().zip(&sizes).map(|((_, error), size)| error / size).collect();
        if self.novelty == Novelty::Family && self.matrix.model_count() >= 9 {
            let left_out: Vec<LeftOut> = blend
                .errors
                .iter()
                .zip(&ratios)
                .map(|(&(fold, _), ratio)| LeftOut {
                    prediction: blend.fits[fold].predict(row, family),
                    residual: ratio.abs() * here,
                })
                .collect();
            if let Some(found) = jackknife_plus(&left_out, level) {
                return Some((found.low.min(centre), found.high.max(centre), IntervalMethod::JackknifePlus));
            }
        }
        let (squares, groups) = mean_squares(&ratios, self.matrix.groups(novelty));
        let own = (BEFORE + squares) / (BEFORE + groups);
        let (factor, freedom) =
            if told { (own.sqrt(), BEFORE + groups) } else { (own.max(1.0).sqrt(), BEFORE + groups.min(BEFORE)) };
        let mut ratio = student_t_quantile(0.5 + level / 2.0, freedom) * factor;
        if told && self.novelty != Novelty::Family {
            // A family is off as a whole, and some far more than others: at least as far as the farthest that was left
            // out.
            ratio = ratio.max(farthest(&ratios, self.matrix.groups(novelty)));
        }
        let half = (ratio * here).max(self.least(level));
        let method = match self.novelty {
            _ if groups < 1.0 => IntervalMethod::StoreWide,
            Novelty::Family => IntervalMethod::Moderated,
            Novelty::Maker => IntervalMethod::FamiliesLeftOut,
            Novelty::New => IntervalMethod::MakersLeftOut,
        };
        Some((centre - half, centre + half, method))
    }

    /// The least half-width: nothing on a known family.
    fn least(&self, level: f64) -> f64 {
        if self.novelty == Novelty::Family {
            return 0.0;
        }
        let errors: Vec<f64> = self.near.errors.iter().map(|(_, error)| error.abs()).collect();
        IRREGULAR * quantile(&errors, level).unwrap_or(0.0)
    }
}

/// Sum over groups of the mean square of their ratios, and the number of groups.
fn mean_squares(ratios: &[f64], groups: &[usize]) -> (f64, f64) {
    let mut of: std::collections::BTreeMap<usize, (f64, f64)> = std::collections::BTreeMap::new();
    for (ratio, group) in ratios.iter().zip(groups) {
        let sum = of.entry(*group).or_default();
        *sum = (sum.0 + ratio * ratio, sum.1 + 1.0);
    }
    (of.values().map(|(squares, number)| squares / number).sum(), of.len() as f64)
}

/// The largest root mean square of a group's ratios.
fn farthest(ratios: &[f64], groups: &[usize]) -> f64 {
    let of = |group: &usize| {
        let own = ratios.iter().zip(groups).filter(|(_, other)| *other == group).map(|(ratio, _)| ratio * ratio);
        let (sum, number) = own.fold((0.0, 0.0), |(sum, number), square| (sum + square, number + 1.0));
        (sum / f64::max(number, 1.0)).sqrt()
    };
    groups.iter().map(of).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::super::leave_out::Blend;
    use super::super::table::{PredictorMachine, PredictorTable};
    use super::*;

    /// Eight machines of four families and a ninth.
    fn table() -> PredictorTable {
        let machine = |m: usize| PredictorMachine {
            name: format!("m{m}"),
            runs: Vec::new(),
            model: format!("model {m}"),
            family: format!("Maker{} line", m / 2),
            benchmarks: vec![Some(m as f64), Some(0.5 * m as f64)],
            application: Some(m as f64),
        };
        PredictorTable::simulated(2, (0..9).map(machine).collect())
    }

    /// Half-width where the errors on models left out are all `near`, and those on families left out none.
    fn half(novelty: Novelty, near: f64) -> f64 {
        let table = table();
        let matrix = Matrix::of(&table, &(0..8).collect::<Vec<_>>(), 8);
        let difficulty = Difficulty::of(&table, &matrix);
        let blend = |error: f64| BlendedMethods {
            methods: Vec::new(),
            fit: Blend::default(),
            errors: vec![(0, error); 8],
            fits: Vec::new(),
        };
        let (near, own) = (blend(near), blend(0.0));
        let own = (novelty != Novelty::Family).then_some(&own);
        let basis = IntervalBasis { matrix: &matrix, difficulty: &difficulty, near: &near, own, novelty };
        basis.interval(1.0, &matrix.row(&table, 8), None, 0.9).map_or(f64::NAN, |(low, high, _)| (high - low) / 2.0)
    }

    #[test]
    fn an_application_that_is_irregular_among_models_has_wide_intervals_on_new_families() {
        for novelty in [Novelty::Maker, Novelty::New] {
            // Families left out that happen to fit make no narrow interval where models do not.
            assert!((half(novelty, 1.0) - IRREGULAR).abs() < 1e-9, "{novelty:?}: {}", half(novelty, 1.0));
            // A regular application's are as wide as families differ.
            assert!(half(novelty, 0.01) < 1.0 && half(novelty, 0.01) > 0.1, "{novelty:?}: {}", half(novelty, 0.01));
        }
        assert!(half(Novelty::Family, 0.01) < 0.5);
    }
}
