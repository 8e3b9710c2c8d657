//! Outcomes and flags in words.

use model::words::list;
use model::{BenchmarkResult, EstimateMethod, Flag, Metric, Mode, Outcome, ValueBasis, percent};

use crate::PrintedQuantity;

/// `61 results`, `1 result`.
#[must_use]
pub fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Whether the ends of a result that did not converge are within its target all the same: at a lower level than is
/// asked for, or as a range of few samples. It cannot be said to be wider.
#[must_use]
pub fn unconfirmed(result: &BenchmarkResult, target: f64) -> bool {
    result.outcome.estimate().is_some_and(|one| one.relative_half_width() <= target * (1.0 + 1e-9))
}

/// `two modes: 2.7 µs (31% of samples) and 63 µs (69%)`.
#[must_use]
pub fn modes(modes: &[Mode], metric: &Metric) -> String {
    let count = match modes.len() {
        0 => return "modes, but none was recorded".to_owned(),
        1 => "one mode".to_owned(),
        2 => "two modes".to_owned(),
        3 => "three modes".to_owned(),
        n => format!("{n} modes"),
    };
    let parts: Vec<String> = modes
        .iter()
        .enumerate()
        .map(|(index, mode)| {
            let of = if index == 0 { " of samples" } else { "" };
            let value = PrintedQuantity::bare(mode.estimate.value, metric.unit).in_metric(metric).short();
            format!("{value} ({}{of})", percent(mode.share))
        })
        .collect();
    format!("{count}: {}", list(&parts))
}

/// What is said of results elsewhere, so that their remarks leave it out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Told {
    /// Notes that its family states.
    pub notes: Vec<String>,
    /// Flags that are told once, with the number of their results.
    pub flags: Vec<Flag>,
    /// Only warnings: no facts such as the variant and the notes of a result.
    pub brief: bool,
}

/// Remarks on a result: flags in words, the variant, and its own notes. `target` is its target half-width.
#[must_use]
pub fn remarks(result: &BenchmarkResult, target: f64, told: &Told) -> Vec<String> {
    let in_modes = matches!(result.outcome, Outcome::Modes(_));
    let mut words: Vec<String> = result
        .flags
        .iter()
        .filter(|flag| !(in_modes && matches!(flag, Flag::Modes | Flag::CannotConverge)))
        .filter(|flag| !told.flags.contains(flag))
        .map(|flag| match flag {
            Flag::CannotConverge if unconfirmed(result, target) => format!("±{} unconfirmed", percent(target)),
            Flag::CannotConverge => format!("wider than ±{}", percent(target)),
            Flag::Steal | Flag::Throttled => {
                let taken = if *flag == Flag::Steal { result.stolen() } else { result.throttled() };
                let share = taken.share().map_or_else(String::new, |share| format!(" {}", percent(share.get())));
                format!("{}{share}", flag.about())
            }
            Flag::SharedCore => match result.basis() {
                ValueBasis::Raw(reason) => format!("{}: {reason}", flag.about()),
                _ => flag.about().to_owned(),
            },
            other => other.about().to_owned(),
        })
        .collect();
    words.extend(raw(result, told.brief));
    let method = result.outcome.estimate().map(|estimate| estimate.method);
    if matches!(result.outcome, Outcome::Measured(_)) && method == Some(EstimateMethod::Stated) {
        words.push("interval from its source".to_owned());
    }
    if !told.brief {
        // Surveyed levels are kept for the next sample; nobody can use them.
        words.extend(result.variant.clone().filter(|variant| !variant.starts_with(model::SURVEYED_LEVELS)));
        let new = |note: &&String| !told.notes.contains(note) && !note.starts_with(model::RECORD);
        words.extend(result.notes.iter().filter(new).cloned());
    }
    words
}

/// The share of the batches on which a clean value is based, and the raw value over all of them: what comparisons with
/// runs that have no clean value use. A brief row has the raw value alone, where it lies beyond the clean interval.
fn raw(result: &BenchmarkResult, brief: bool) -> Option<String> {
    let sensors = result.sensors.as_ref()?;
    if !matches!(sensors.basis, ValueBasis::Cycles | ValueBasis::Clean) {
        return None;
    }
    let clean = result.outcome.estimate();
    let beyond = |raw: f64| clean.is_none_or(|clean| raw < clean.low || raw > clean.high);
    let raw = sensors.raw.as_ref().filter(|raw| !brief || beyond(raw.value));
    let raw =
        raw.map(|raw| format!("raw {}", PrintedQuantity::of(raw, result.metric.unit).in_metric(&result.metric).text()));
    let kept = sensors.kept.filter(|_| !brief).map(|kept| format!("{} clean", percent(kept.get())));
    let said: Vec<String> = kept.into_iter().chain(raw).collect();
    (!said.is_empty()).then(|| said.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Estimate, Unit};

    #[test]
    fn sentences() {
        let mode = |share, value| Mode { share, estimate: Estimate::without_spread(value) };
        let text = modes(&[mode(0.31, 2.7e-6), mode(0.69, 63e-6)], &Metric::lower(Unit::Seconds, "call"))
            .replace('\u{a0}', " ");
        assert_eq!(text, "two modes: 2.7 µs (31% of samples) and 63 µs (69%)");
        assert_eq!(plural(1, "sample"), "1 sample");
    }
}
