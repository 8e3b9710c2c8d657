//! Whether a comparison passes a condition, for continuous integration: pass, fail, or inconclusive.

use std::str::FromStr;

use model::{Better, GateAnswer, Outcome, Verdict};

use super::options::Normalise;
use super::result::{CompareGate, CompareRow, Comparison, FailOn, GateResult, ModeRatio, Ratio};
use crate::Error;

impl FromStr for FailOn {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let refuse = || Error::FailOn(text.to_owned());
        let (word, percent) = text.split_once(':').map_or((text, "0"), |(word, percent)| (word, percent));
        let percent: f64 = percent.trim().trim_end_matches('%').parse().map_err(|_| refuse())?;
        let worse_only = match word.trim() {
            "slower" => true,
            "different" => false,
            _ => return Err(refuse()),
        };
        if percent.is_finite() && percent >= 0.0 { Ok(Self { worse_only, percent }) } else { Err(refuse()) }
    }
}

/// Result of one result for the condition.
#[derive(Debug, PartialEq)]
enum GateFinding {
    /// It could not be tested.
    Nothing,
    Passes,
    Meets,
    May(Option<String>),
}

impl FailOn {
    /// Tests every result against the condition. A result fails only if it is different and its whole interval is
    /// beyond the percentage, so that noise causes no failure. It passes only if its whole interval is below it, so
    /// that noise hides nothing. One that differs under an assumed spread alone does neither.
    #[must_use]
    pub fn gate(self, comparison: &Comparison) -> CompareGate {
        let (mut tested, mut failing, mut open) = (0, Vec::new(), Vec::new());
        let mut visible: Vec<f64> = Vec::new();
        let limit = (self.percent / 100.0).ln_1p().max(comparison.band);
        let asked = GateQuestion { worse_only: self.worse_only, limit, normalise: comparison.normalise };
        for row in &comparison.rows {
            let reference = row.ratio(&comparison.reference).and_then(|ratio| ratio.outcome.as_ref());
            for ratio in row.ratios.iter().filter(|ratio| ratio.machine != comparison.reference) {
                match asked.result(row, reference, ratio) {
                    GateFinding::Nothing => continue,
                    GateFinding::Passes => {}
                    GateFinding::Meets => failing.push(asked.named(row, ratio, None)),
                    GateFinding::May(reason) => {
                        let untested = reason.is_some();
                        open.push(asked.named(row, ratio, reason));
                        if untested {
                            continue;
                        }
                    }
                }
                tested += 1;
                visible.extend(asked.visible(row, ratio, comparison));
            }
        }
        let answer = match (failing.is_empty(), open.is_empty() && tested > 0) {
            (false, _) => GateAnswer::Fail,
            (true, true) => GateAnswer::Pass,
            (true, false) => GateAnswer::Inconclusive,
        };
        let largest = visible.iter().copied().fold(0.0, f64::max);
        let visible = stats::median(&visible).map(|median| (median, largest));
        CompareGate { condition: self, answer, tested, visible, failing, open }
    }
}

/// Probability with which the smallest visible change is found.
const FOUND: f64 = 0.95;

/// The condition as applied.
struct GateQuestion {
    worse_only: bool,
    /// Least change, as a logarithm.
    limit: f64,
    normalise: Normalise,
}

impl GateQuestion {
    fn result(&self, row: &CompareRow, reference: Option<&Outcome>, ratio: &Ratio) -> GateFinding {
        if !ratio.elsewhere {
            return self.judged(row, reference, ratio);
        }
        // A host that moved two CPUs can change a result of both in either direction, and so hide the opposite change.
        // Only an unchanged result passes.
        let either = Self { worse_only: false, ..*self };
        match either.judged(row, reference, ratio) {
            same @ (GateFinding::Nothing | GateFinding::Passes) => same,
            GateFinding::Meets | GateFinding::May(_) => {
                GateFinding::May(Some("the hypervisor placed its CPUs differently in the two runs".to_owned()))
            }
        }
    }

    fn judged(&self, row: &CompareRow, reference: Option<&Outcome>, ratio: &Ratio) -> GateFinding {
        let Some(verdict) = timed(ratio).verdict else { return self.one_sided(row, reference, ratio) };
        if !ratio.modes.is_empty() {
            return self.modes(row, ratio, verdict);
        }
        let time = timed(ratio);
        match (time.low.zip(time.high), verdict) {
            (Some(ends), _) => self.ends(self.losses(row, ends), verdict.differs()),
            // Comparing a run with itself tests nothing.
            (None, Verdict::NoChange) => GateFinding::Nothing,
            (None, Verdict::Probable(_)) => GateFinding::May(Some("it has no error bars".to_owned())),
            (None, _) => {
                GateFinding::May(Some(ratio.reason.clone().unwrap_or_else(|| "it has no error bars".to_owned())))
            }
        }
    }

    /// Ends of an interval of ratios as logarithms of the change in time, the smaller first.
    fn losses(&self, row: &CompareRow, ends: (f64, f64)) -> (f64, f64) {
        let (low, high) = self.normalise.rewritten_ends(&row.metric, ends, Normalise::Gain);
        (-high.ln(), -low.ln())
    }

    /// The smallest relative change that would have met the condition with a probability of [`FOUND`].
    fn visible(&self, row: &CompareRow, ratio: &Ratio, comparison: &Comparison) -> Option<f64> {
        let time = timed(ratio);
        let (low, high) = self.losses(row, time.low.zip(time.high)?);
        let half = (high - low) / 2.0;
        let least = stats::detectable_within(half, comparison.level, self.limit, FOUND, comparison.tests);
        (half > 0.0).then(|| least.exp_m1()).filter(|least| least.is_finite())
    }

    fn ends(&self, (low, high): (f64, f64), different: bool) -> GateFinding {
        let worse = different && low >= self.limit;
        let better = different && high <= -self.limit;
        let within = if self.worse_only { high <= self.limit } else { high <= self.limit && low >= -self.limit };
        match () {
            () if worse || (better && !self.worse_only) => GateFinding::Meets,
            () if within => GateFinding::Passes,
            () => GateFinding::May(None),
        }
    }

    fn modes(&self, row: &CompareRow, ratio: &Ratio, verdict: Verdict) -> GateFinding {
        let meets = |mode: &ModeRatio| {
            let ends = mode.low.zip(mode.high).filter(|_| mode.verdict.is_some_and(Verdict::differs));
            ends.is_some_and(|ends| self.ends(self.losses(row, ends), true) == GateFinding::Meets)
        };
        // How many samples are in which mode is part of how fast a result is.
        let passes = |mode: &ModeRatio| {
            let ends = mode.low.zip(mode.high).filter(|_| !mode.shares_differ && !mode.shares_apart);
            ends.is_some_and(|ends| self.ends(self.losses(row, ends), false) == GateFinding::Passes)
        };
        match verdict {
            Verdict::Different(_) if ratio.modes.iter().any(meets) => GateFinding::Meets,
            _ if ratio.modes.iter().all(passes) => GateFinding::Passes,
            Verdict::Different(_) if !self.worse_only && ratio.modes.iter().any(|mode| mode.shares_differ) => {
                GateFinding::Meets
            }
            _ => GateFinding::May(ratio.reason.clone()),
        }
    }

    /// Result for a bound on one side, or for a result that failed or could not be measured.
    fn one_sided(&self, row: &CompareRow, reference: Option<&Outcome>, ratio: &Ratio) -> GateFinding {
        let lower = row.metric.better == Better::Lower;
        match (reference, &ratio.outcome) {
            (Some(Outcome::Measured(a)), Some(Outcome::Below { bound })) if lower && a.low > 0.0 => {
                let passes = self.worse_only && (bound / a.low).ln() <= self.limit;
                if passes {
                    GateFinding::Passes
                } else {
                    GateFinding::May(Some("it is below what can be resolved".to_owned()))
                }
            }
            // A baseline with only an upper bound may have any lower value, so that no result here is certainly not
            // slower.
            (Some(Outcome::Below { .. }), Some(Outcome::Measured(_))) if lower => {
                GateFinding::May(Some("the baseline is below what can be resolved".to_owned()))
            }
            // A result that the baseline has and this run lacks does not pass.
            (Some(Outcome::Measured(_) | Outcome::Modes(_) | Outcome::Below { .. }), Some(Outcome::Failed(why))) => {
                GateFinding::May(Some(format!("it failed: {why}")))
            }
            (
                Some(Outcome::Measured(_) | Outcome::Modes(_) | Outcome::Below { .. }),
                Some(Outcome::NotMeasured(why)),
            ) => GateFinding::May(Some(format!("it was not measured: {why}"))),
            _ => GateFinding::Nothing,
        }
    }

    fn named(&self, row: &CompareRow, ratio: &Ratio, reason: Option<String>) -> GateResult {
        let gain = |value: f64| self.normalise.rewritten(&row.metric, value, Normalise::Gain);
        let time = timed(ratio);
        let ends =
            time.low.zip(time.high).map(|ends| self.normalise.rewritten_ends(&row.metric, ends, Normalise::Gain));
        GateResult {
            machine: ratio.machine.clone(),
            result: row.key().to_string(),
            title: row.title.clone(),
            gain: time.value.map(gain),
            low: ends.map(|ends| ends.0),
            high: ends.map(|ends| ends.1),
            need: ratio.need,
            reason,
        }
    }
}

/// The ratio that a condition tests: for core results times at the clock of each machine, since a lower clock is a
/// regression.
struct TimedRatio {
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    verdict: Option<Verdict>,
}

const fn timed(ratio: &Ratio) -> TimedRatio {
    match &ratio.core {
        Some(core) => TimedRatio {
            value: Some(core.time.value),
            low: core.time.low,
            high: core.time.high,
            verdict: core.time.verdict,
        },
        None => TimedRatio { value: ratio.value, low: ratio.low, high: ratio.high, verdict: ratio.verdict },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_or_refused() {
        assert_eq!("slower".parse::<FailOn>().unwrap(), FailOn { worse_only: true, percent: 0.0 });
        assert_eq!("slower:5%".parse::<FailOn>().unwrap(), FailOn { worse_only: true, percent: 5.0 });
        assert_eq!("different:2.5".parse::<FailOn>().unwrap(), FailOn { worse_only: false, percent: 2.5 });
        for text in ["", "faster", "slower:", "slower:-1", "slower:NaN", "slower:x"] {
            assert!(text.parse::<FailOn>().is_err(), "{text}");
        }
    }

    #[test]
    fn an_interval_passes_fails_or_does_neither() {
        let asked = |worse_only| GateQuestion { worse_only, limit: 0.05, normalise: Normalise::Gain };
        for (worse_only, low, high, different, said) in [
            (true, 0.06, 0.10, true, GateFinding::Meets),
            (true, 0.06, 0.10, false, GateFinding::May(None)),
            (true, 0.03, 0.10, true, GateFinding::May(None)),
            (true, -0.30, 0.04, false, GateFinding::Passes),
            (true, -0.30, -0.20, true, GateFinding::Passes),
            (false, -0.30, -0.20, true, GateFinding::Meets),
            (false, -0.04, 0.04, false, GateFinding::Passes),
            (false, -0.06, 0.04, false, GateFinding::May(None)),
        ] {
            assert_eq!(asked(worse_only).ends((low, high), different), said, "{low} {high} {different}");
        }
    }
}
