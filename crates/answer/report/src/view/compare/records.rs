//! A comparison as tidy records: one row for each result and machine.

use compare::{Comparison, Normalise};
use model::{Definition, Outcome, code};

use crate::Records;

/// Names of the columns; new ones stand at the end.
const COLUMNS: &str = "benchmark parameters title unit better machine value reference gain low high verdict p_value adjusted_p \
                       reason assumed_low assumed_high assumed_floor reference_rounding rounding basis cycles cycles_low \
                       cycles_high time time_low time_high time_verdict clock definition differs help detectable";

pub(super) fn records(comparison: &Comparison) -> Records {
    let show = |x: Option<f64>| x.map(|x| x.to_string()).unwrap_or_default();
    let mut rows = Vec::new();
    for row in &comparison.rows {
        for ratio in &row.ratios {
            let value = ratio.outcome.as_ref().and_then(Outcome::estimate).map(|estimate| estimate.value);
            rows.push(vec![
                row.benchmark.clone(),
                ratio.parameters.as_ref().unwrap_or(&row.parameters).to_string(),
                row.title.clone(),
                code(&row.metric.unit),
                code(&row.metric.better),
                ratio.machine.clone(),
                show(value),
                comparison.reference.clone(),
                show(ratio.value),
                show(ratio.low),
                show(ratio.high),
                ratio.verdict.as_ref().map(code).unwrap_or_default(),
                show(ratio.p_value),
                show(ratio.adjusted_p),
                ratio.reason.clone().unwrap_or_default(),
                show(ratio.assumed.map(|assumed| assumed.low)),
                show(ratio.assumed.map(|assumed| assumed.high)),
                show(ratio.assumed.map(|assumed| assumed.floor)),
                show(ratio.assumed.and_then(|assumed| assumed.reference_rounding)),
                show(ratio.assumed.and_then(|assumed| assumed.rounding)),
                code(&ratio.basis),
                show(ratio.core.map(|core| core.cycles.value)),
                show(ratio.core.and_then(|core| core.cycles.low)),
                show(ratio.core.and_then(|core| core.cycles.high)),
                show(ratio.core.map(|core| core.time.value)),
                show(ratio.core.and_then(|core| core.time.low)),
                show(ratio.core.and_then(|core| core.time.high)),
                ratio.core.and_then(|core| core.time.verdict).as_ref().map(code).unwrap_or_default(),
                show(ratio.core.map(|core| core.clock.value)),
                match ratio.definition {
                    Definition::Same => "same".to_owned(),
                    Definition::Near(_) => "near".to_owned(),
                    Definition::Other(_) => "other".to_owned(),
                },
                ratio.definition.differs().unwrap_or_default().to_owned(),
                ratio.help.as_ref().map(code).unwrap_or_default(),
                show(ratio.detectable),
            ]);
        }
    }
    let ratio = |name| if name == "gain" && comparison.normalise == Normalise::Ratio { "ratio" } else { name };
    Records { header: COLUMNS.split(' ').map(ratio).collect(), rows }
}
