//! Evaluation on families of CPUs that are absent from training.

use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use stats::simulate::generator;

use super::family::maker;
use super::forecast::PredictOptions;
use super::summary::TriedSummary;
use super::tried::{PredictionTrial, TriedPrediction};

/// Fewest models of CPU for training.
const FEWEST: usize = 3;
/// Most models of CPU for training: a buyer does not have a hundred machines.
const MOST: usize = 30;

/// The part that a split leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SplitKind {
    /// One family; trained on all others.
    Family,
    /// One maker; trained on all others.
    Maker,
    /// All makers but one.
    AllButMaker,
}

/// Errors and intervals on one split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AtSplit {
    /// What was left out.
    pub kind: SplitKind,
    /// The family or maker; for [`SplitKind::AllButMaker`] the training one.
    pub name: String,
    /// Models of CPU in training.
    pub machines: usize,
    /// The predictions.
    pub summary: TriedSummary,
}

impl AtSplit {
    /// `POWER left out`, `from AMD alone`.
    #[must_use]
    pub fn words(&self) -> String {
        match self.kind {
            SplitKind::Family | SplitKind::Maker => format!("{} left out", self.name),
            SplitKind::AllButMaker => format!("from {} alone", self.name),
        }
    }
}

/// All splits of the tables' machines, each over all tables, and all together; kinds with one group have none.
pub(crate) fn splits(
    trials: &[PredictionTrial],
    seed: u64,
    options: &PredictOptions,
) -> (Vec<AtSplit>, Option<TriedSummary>) {
    let mut found: Vec<(SplitKind, String, usize, Vec<TriedPrediction>)> = Vec::new();
    for trial in trials {
        for (kind, name, left_out) in divisions(trial) {
            let (rest, mut from): (Vec<&Vec<usize>>, Vec<&Vec<usize>>) =
                trial.models.iter().partition(|members| left_out(&trial.table.machines[members[0]].family));
            from.shuffle(&mut generator(seed));
            from.truncate(MOST);
            if from.len() < FEWEST || rest.is_empty() {
                continue;
            }
            let from: Vec<usize> = from.iter().map(|members| members[0]).collect();
            let rest: Vec<usize> = rest.into_iter().flatten().copied().collect();
            let tried = trial.tried(&from, &rest, options);
            match found.iter_mut().find(|(k, n, ..)| *k == kind && *n == name) {
                Some((_, _, machines, all)) => {
                    *machines = (*machines).max(from.len());
                    all.extend(tried);
                }
                None => found.push((kind, name, from.len(), tried)),
            }
        }
    }
    found.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    let all: Vec<TriedPrediction> = found.iter().flat_map(|(.., tried)| tried.clone()).collect();
    let splits = found.into_iter().filter_map(|(kind, name, machines, tried)| {
        let summary = TriedSummary::of(&tried, options.level)?;
        Some(AtSplit { kind, name, machines, summary })
    });
    (splits.collect(), TriedSummary::of(&all, options.level))
}

/// A kind, a name, and whether a family is left out.
type SplitDivision = (SplitKind, String, Box<dyn Fn(&str) -> bool>);

fn divisions(trial: &PredictionTrial) -> Vec<SplitDivision> {
    let mut families: Vec<String> =
        trial.models.iter().map(|members| trial.table.machines[members[0]].family.clone()).collect();
    families.sort();
    families.dedup();
    let all: Vec<String> = families.iter().map(|family| maker(family).to_owned()).collect();
    let mut makers = all.clone();
    makers.dedup();
    let mut found: Vec<SplitDivision> = Vec::new();
    for family in families {
        let name = family.clone();
        found.push((SplitKind::Family, name, Box::new(move |own| own == family)));
    }
    for name in makers {
        let (out, only) = (name.clone(), name.clone());
        // A maker of one family was left out with it.
        if all.iter().filter(|other| **other == name).count() > 1 {
            found.push((SplitKind::Maker, name.clone(), Box::new(move |own| maker(own) == out)));
        }
        found.push((SplitKind::AllButMaker, name, Box::new(move |own| maker(own) != only)));
    }
    found
}
