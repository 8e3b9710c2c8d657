//! From a table to forecasts.

use model::percent;
use model::words::list;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use stats::{benchmark_weighting, median, mixture};

use super::difficulty::Difficulty;
use super::error::Error;
use super::interval::IntervalBasis;
use super::leave_out::{BlendedMethods, FEWEST, choose, relative_errors};
use super::matrix::{Matrix, Novelty, count};
use super::method::PredictMethod;
use super::prior::{footprint_shares, prior};
use super::result::{BehaviourShare, Forecast, ForecastStanding, LeftOutError, Prediction};
use super::scope::scope;
use super::suspect::{SuspectValue, suspect_application, suspect_values};
use super::table::PredictorTable;

/// Options of a prediction.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictOptions {
    /// Confidence level of intervals, 0 to 1.
    pub level: f64,
}

impl Default for PredictOptions {
    fn default() -> Self {
        Self { level: 0.9 }
    }
}

/// The part of a forecast that is common to all machines with the same columns.
pub(crate) struct Model {
    pub(crate) matrix: Matrix,
    /// The methods with models left out.
    pub(crate) near: BlendedMethods,
    /// The methods with the groups of each novelty left out, where those are enough.
    far: [OnceCell<Option<BlendedMethods>>; 3],
    prior: Vec<f64>,
    /// Weights of the robust weighting.
    pub(crate) weights: Vec<f64>,
    difficulty: Difficulty,
    /// Values of the application that are off and were left out.
    pub(crate) suspects: Vec<SuspectValue>,
}

impl Model {
    /// Fits a model to `known` machines with the columns of `target`; `None` if they have none in common.
    pub(crate) fn learn(table: &PredictorTable, known: &[usize], target: usize) -> Option<Self> {
        let (known, suspects) = credible(table, known);
        let matrix = Matrix::of(table, &known, target);
        let prior = prior(table, &matrix.columns);
        let near = choose(&matrix, &prior, &matrix.models)?;
        let weights = benchmark_weighting(&matrix.measured(), &matrix.targets, Some(&prior))?.weights;
        let difficulty = Difficulty::of(table, &matrix);
        Some(Self { matrix, near, far: Default::default(), prior, weights, difficulty, suspects })
    }

    /// The methods with the groups of a novelty left out; `None` for a known family and with too few groups.
    fn far(&self, novelty: Novelty) -> Option<&BlendedMethods> {
        let groups = self.matrix.groups(novelty);
        if novelty == Novelty::Family || count(groups) < FEWEST {
            return None;
        }
        self.far[novelty as usize].get_or_init(|| choose(&self.matrix, &self.prior, groups)).as_ref()
    }

    fn blend(&self, novelty: Novelty) -> &BlendedMethods {
        self.far(novelty).unwrap_or(&self.near)
    }

    fn family(&self, table: &PredictorTable, target: usize) -> Option<usize> {
        let family = &table.machines[target].family;
        let place = self.matrix.machines.iter().position(|&m| table.machines[m].family == *family)?;
        Some(self.matrix.families[place])
    }

    /// Speed of the application on a machine that has the columns of the model.
    pub(crate) fn speed(&self, table: &PredictorTable, target: usize) -> f64 {
        let row = self.matrix.row(table, target);
        self.blend(self.matrix.novelty(table, target)).fit.predict(&row, self.family(table, target))
    }

    /// The forecast for a machine that has the columns of the model; `off` are its own excluded values.
    pub(crate) fn forecast(
        &self,
        table: &PredictorTable,
        target: usize,
        off: &[&SuspectValue],
        options: &PredictOptions,
    ) -> Forecast {
        let row = self.matrix.row(table, target);
        let family = self.family(table, target);
        let novelty = self.matrix.novelty(table, target);
        let speed = self.speed(table, target);
        let basis = IntervalBasis {
            matrix: &self.matrix,
            difficulty: &self.difficulty,
            near: &self.near,
            own: self.far(novelty),
            novelty,
        };
        let ends = basis.interval(speed, &row, family, options.level);
        let scope = scope(table, &self.matrix, &self.near, &self.weights, target);
        let mut reasons = scope.reasons;
        reasons.extend(off.iter().map(|suspect| format!("{}, and was left out", suspect.words())));
        let standing = match (&scope.refusal, reasons.is_empty()) {
            (Some(_), _) => ForecastStanding::Refused,
            (None, false) => ForecastStanding::Widened,
            (None, true) => ForecastStanding::Sound,
        };
        if ends.is_none() {
            reasons.push(format!("too few machines for an interval of {}", percent(options.level)));
        }
        reasons.splice(0..0, scope.refusal);
        let answer = (standing != ForecastStanding::Refused).then_some(());
        let end = |pick: fn(&(f64, f64)) -> f64| {
            let (low, high, _) = ends?;
            let (low, high) = (speed - scope.widening * (speed - low), speed + scope.widening * (high - speed));
            let values = (table.value(low), table.value(high));
            answer.map(|()| pick(&values))
        };
        let blend = self.blend(novelty);
        Forecast {
            machine: table.machines[target].name.clone(),
            model: table.machines[target].model.clone(),
            value: answer.map(|()| table.value(speed)),
            low: end(|(a, b)| a.min(*b)),
            high: end(|(a, b)| a.max(*b)),
            level: options.level,
            interval: ends.map(|(_, _, method)| method),
            methods: blend.methods.iter().filter(|(_, weight)| *weight >= 0.01).copied().collect(),
            error: self.error(blend),
            columns: self.matrix.columns.len(),
            standing,
            reasons,
        }
    }

    fn error(&self, blend: &BlendedMethods) -> Option<LeftOutError> {
        let (median_error, worst_tenth) = relative_errors(blend).filter(|_| self.matrix.model_count() >= FEWEST)?;
        Some(LeftOutError { median: median_error, worst_tenth, rating_median: self.rating_error() })
    }

    fn rating_error(&self) -> Option<f64> {
        let even = vec![1.0 / self.matrix.columns.len() as f64; self.matrix.columns.len()];
        let models = &self.matrix.models;
        let errors: Vec<f64> = (0..self.matrix.model_count())
            .filter_map(|model| {
                Some((model, PredictMethod::Rating.fit(&self.matrix.without(models, &[model]), &even)?))
            })
            .flat_map(|(model, fit)| {
                (0..self.matrix.rows.len()).filter(move |&i| self.matrix.models[i] == model).map(move |i| {
                    let said = fit.predict(&self.matrix.rows[i], Some(self.matrix.families[i]));
                    (said - self.matrix.targets[i]).exp_m1().abs()
                })
            })
            .collect();
        median(&errors)
    }

    /// Shares of the application's behaviour by label, largest first.
    fn behaves_like(&self, table: &PredictorTable) -> Vec<BehaviourShare> {
        /// Misfits of a few percent outweigh the weighting as a prior guess.
        const STRENGTH: f64 = 0.03;
        let shares = mixture(&self.matrix.measured(), &self.matrix.targets, &self.weights, STRENGTH)
            .unwrap_or_else(|| self.weights.clone());
        let mut labels: BTreeMap<&str, f64> = BTreeMap::new();
        for (share, &k) in shares.iter().zip(&self.matrix.columns) {
            *labels.entry(table.columns[k].label.as_str()).or_default() += share;
        }
        let mut shares: Vec<BehaviourShare> =
            labels.into_iter().map(|(label, share)| BehaviourShare { label: label.to_owned(), share }).collect();
        shares.sort_by(|a, b| b.share.total_cmp(&a.share).then_with(|| a.label.cmp(&b.label)));
        shares
    }
}

/// The machines whose values of the application are credible, and the values that are off.
pub(crate) fn credible(table: &PredictorTable, known: &[usize]) -> (Vec<usize>, Vec<SuspectValue>) {
    let suspects = suspect_application(table, known);
    let credible = known.iter().copied().filter(|&m| !suspects.iter().any(|suspect| suspect.place == m)).collect();
    (credible, suspects)
}

/// Predicts the application on `targets`, positions of machines in the table. If it ran on a target, all machines with
/// that model of CPU are excluded from training.
///
/// # Errors
/// When the application was not measured anywhere.
pub fn predict(table: &PredictorTable, targets: &[usize], options: &PredictOptions) -> Result<Prediction, Error> {
    let known = table.known();
    if known.is_empty() {
        return Err(Error::NoApplication { name: table.application.name.clone(), known: String::new() });
    }
    let mut models: Vec<&str> = known.iter().map(|&m| table.machines[m].model.as_str()).collect();
    models.sort_unstable();
    models.dedup();
    let mut prediction = Prediction {
        application: table.application.name.clone(),
        metric: table.application.metric.clone(),
        measured_on: known.iter().map(|&m| table.machines[m].name.clone()).collect(),
        models: models.len(),
        behaves_like: Vec::new(),
        footprint_used: footprint_shares(table).is_some(),
        forecasts: Vec::new(),
        notes: Vec::new(),
    };
    let suspects = suspect_values(table);
    let table = &table.without(&suspects);
    let (mut told, mut lacking) = (Vec::new(), BTreeSet::new());
    for &target in targets {
        let own = &table.machines[target].model;
        let others: Vec<usize> = known.iter().copied().filter(|&m| table.machines[m].model != *own).collect();
        let from = if table.machines[target].application.is_some() { &others } else { &known };
        let Some(model) = Model::learn(table, from, target) else {
            prediction.forecasts.push(refused(table, from, target, options));
            continue;
        };
        if prediction.behaves_like.is_empty() {
            prediction.behaves_like = model.behaves_like(table);
        }
        let learnt = suspects.iter().filter(|suspect| from.contains(&suspect.place));
        for suspect in learnt.chain(&model.suspects) {
            // Targets have different training machines, and so slightly different expected values.
            if !told.contains(&(suspect.place, suspect.column)) {
                told.push((suspect.place, suspect.column));
                prediction.notes.push(format!("{}; it was left out", suspect.words()));
            }
        }
        lacking.extend(&model.matrix.left_out);
        let off: Vec<&SuspectValue> = suspects.iter().filter(|suspect| suspect.place == target).collect();
        prediction.forecasts.push(model.forecast(table, target, &off, options));
    }
    prediction.notes.extend(lacking_in_words(table, &lacking));
    Ok(prediction)
}

/// Names the machines that were excluded from training: `a, b and 3 others lack benchmarks ...`.
fn lacking_in_words(table: &PredictorTable, lacking: &BTreeSet<usize>) -> Option<String> {
    const NAMED: usize = 4;
    let mut names: Vec<String> = lacking.iter().take(NAMED).map(|&m| table.machines[m].name.clone()).collect();
    let (lack, were) = if lacking.len() == 1 { ("lacks", "was") } else { ("lack", "were") };
    match lacking.len().saturating_sub(NAMED) {
        0 => {}
        1 => names.push("1 other".to_owned()),
        others => names.push(format!("{others} others")),
    }
    (!names.is_empty()).then(|| format!("{} {lack} benchmarks that the others have, and {were} left out", list(&names)))
}

fn refused(table: &PredictorTable, known: &[usize], target: usize, options: &PredictOptions) -> Forecast {
    let measured = |m: usize, k: &usize| !table.columns[*k].fact && table.speed(m, *k).is_some();
    let shared = |&m: &usize| (0..table.columns.len()).any(|k| measured(m, &k) && measured(target, &k));
    let why = if known.is_empty() {
        "all training machines have this same CPU model"
    } else if !(0..table.columns.len()).any(|k| measured(target, &k)) {
        "no benchmark was measured on it"
    } else if known.iter().any(shared) {
        "the training machines have too few of its benchmarks"
    } else {
        "it has no benchmark in common with the training machines"
    };
    Forecast {
        machine: table.machines[target].name.clone(),
        model: table.machines[target].model.clone(),
        value: None,
        low: None,
        high: None,
        level: options.level,
        interval: None,
        methods: Vec::new(),
        error: None,
        columns: 0,
        standing: ForecastStanding::Refused,
        reasons: vec![why.to_owned()],
    }
}
