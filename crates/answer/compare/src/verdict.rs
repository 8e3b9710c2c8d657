//! From the estimates of a result to its verdict.

use model::{Better, Direction, Metric, Verdict};
use stats::EquivalenceVerdict;
use stats::distribution::normal_quantile;

use super::assumed::Assumed;
use super::modes::ModePair;
use super::options::Normalise;
use super::ratio_basis::{CoreRatio, RatioBasis, RatioEnds};
use super::result::{AssumedSpread, Help, ModeRatio, NeededSamples, Ratio, VerdictCounts};
use super::shift::{CompareShift, CoreShifts, FARTHEST, UNBOUNDED};

/// Reason for a run that is compared with itself.
const ITSELF: &str = "it is the same run";

/// Probability with which the proposed effort shall decide.
const POWER: f64 = 0.8;

/// Estimates of one machine's result, before the verdicts.
#[derive(Debug, Clone)]
pub(crate) enum ResultFinding {
    Single(CompareShift),
    Modes(Vec<ModePair>),
    Nothing(String),
    /// The same result of the same run.
    Itself,
}

impl ResultFinding {
    /// The p-values for the family of the report; NaN if nothing was tested.
    pub(crate) fn p_values(&self) -> Vec<f64> {
        let of = |shift: &CompareShift| shift.known.as_ref().map_or(f64::NAN, |known| known.p_value);
        match self {
            Self::Single(shift) => vec![of(shift)],
            Self::Modes(pairs) => {
                pairs.iter().flat_map(|pair| [pair.shift.as_ref().map_or(f64::NAN, of), pair.share_p]).collect()
            }
            Self::Nothing(_) | Self::Itself => Vec::new(),
        }
    }
}

/// Form of ratios, and the rules of verdicts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judge<'a> {
    pub(crate) metric: &'a Metric,
    pub(crate) normalise: Normalise,
    pub(crate) band: f64,
    /// The same for cycles.
    pub(crate) cycles_band: f64,
    pub(crate) level: f64,
    /// Tests in the family of the report.
    pub(crate) tests: usize,
}

impl Judge<'_> {
    /// Fills in what follows from a finding and its adjusted p-values.
    pub(crate) fn fill(&self, ratio: &mut Ratio, finding: ResultFinding, adjusted: &[f64]) {
        match finding {
            ResultFinding::Single(shift) => {
                let band = if ratio.basis == RatioBasis::Cycles { self.cycles_band } else { self.band };
                self.single(ratio, &shift, adjusted[0], band);
            }
            ResultFinding::Modes(pairs) => self.modes(ratio, &pairs, adjusted),
            ResultFinding::Nothing(reason) => ratio.reason = Some(reason),
            ResultFinding::Itself => {
                ratio.value = ratio.outcome.as_ref().and_then(model::Outcome::estimate).map(|_| 1.0);
                ratio.verdict = Some(Verdict::NoChange);
                ratio.reason = Some(ITSELF.to_owned());
            }
        }
    }

    /// Both readings of core results. `time_p` is that of the time where the cycles decide.
    pub(crate) fn core(&self, ratio: &Ratio, core: &CoreShifts, time_p: Option<f64>) -> CoreRatio {
        let ends = |shift: &CompareShift, verdict: Option<Verdict>| {
            let (value, low, high) = self.written(shift);
            RatioEnds { value, low, high, verdict }
        };
        let verdict = |p: f64| self.verdict(&core.time, p, self.band);
        let (cycles, time) = match time_p {
            Some(p) => (ratio.verdict, Some(verdict(p))),
            None => (None, ratio.verdict),
        };
        // A clock makes a time shorter and a rate higher.
        let way = if self.metric.unit.is_rate() { 1.0 } else { -1.0 };
        let (log, half) = (way * core.clock.0, normal_quantile(0.5 + self.level / 2.0) * core.clock.1);
        let (a, b) = (self.ratio(log - half), self.ratio(log + half));
        let clock = RatioEnds { value: self.ratio(log), low: Some(a.min(b)), high: Some(a.max(b)), verdict: None };
        CoreRatio { cycles: ends(&core.cycles, cycles), time: ends(&core.time, time), clock }
    }

    fn single(&self, ratio: &mut Ratio, shift: &CompareShift, adjusted: f64, band: f64) {
        let (value, low, high) = self.written(shift);
        ratio.value = Some(value);
        (ratio.low, ratio.high) = (low, high);
        ratio.method = shift.method;
        ratio.reason.clone_from(&shift.reason);
        ratio.verdict = Some(self.verdict(shift, adjusted, band));
        if let Some(known) = &shift.known {
            ratio.p_value = Some(known.p_value).filter(|p| p.is_finite());
            ratio.adjusted_p = Some(adjusted).filter(|p| p.is_finite());
            if shift.bounded().is_none() {
                ratio.reason = Some(UNBOUNDED.to_owned());
            } else if ratio.verdict == Some(Verdict::Inconclusive) {
                let need = self.need(known, band);
                (ratio.need, ratio.help) = (Some(need), Some(help(need, known)));
                ratio.detectable = Some(stats::detectable(known, band, POWER, self.tests).exp_m1());
            }
        }
        if let Some(assumed) = &shift.assumed {
            self.assume(ratio, shift.log, assumed);
        }
    }

    /// Verdict on a published value under an assumed spread.
    fn assume(&self, ratio: &mut Ratio, log: f64, assumed: &Assumed) {
        let (a, b) = (self.ratio(log - assumed.half), self.ratio(log + assumed.half));
        ratio.assumed = Some(AssumedSpread {
            reference_rounding: assumed.reference_rounding,
            rounding: assumed.rounding,
            floor: assumed.floor,
            low: a.min(b),
            high: a.max(b),
        });
        if assumed.is_exceeded(log) {
            ratio.verdict = Some(Verdict::Probable(Direction::of(self.metric, log)));
        } else if let Some(reason) = &mut ratio.reason {
            reason.push_str(", and the difference may be below 30%");
        }
    }

    /// Different if a pair of modes or their shares differ. The same if every mode has an equal counterpart and samples
    /// alone explain the difference of the shares. Else inconclusive, with the reason.
    fn modes(&self, ratio: &mut Ratio, pairs: &[ModePair], adjusted: &[f64]) {
        let significance = 1.0 - self.level;
        let mut directions = Vec::new();
        for (index, pair) in pairs.iter().enumerate() {
            let written = pair.shift.as_ref().map(|shift| self.written(shift));
            let verdict = pair.shift.as_ref().map(|shift| self.verdict(shift, adjusted[2 * index], self.band));
            if let Some(Verdict::Different(Some(direction))) = verdict {
                directions.push(direction);
            }
            ratio.modes.push(ModeRatio {
                reference_value: pair.reference.as_ref().map(|mode| mode.estimate.value),
                reference_share: pair.reference.as_ref().map_or(0.0, |mode| mode.share),
                other_value: pair.other.as_ref().map(|mode| mode.estimate.value),
                other_share: pair.other.as_ref().map_or(0.0, |mode| mode.share),
                share_p: Some(pair.share_p).filter(|p| p.is_finite()),
                shares_differ: adjusted[2 * index + 1] <= significance,
                shares_apart: pair.shares_apart,
                value: written.map(|written| written.0),
                low: written.and_then(|written| written.1),
                high: written.and_then(|written| written.2),
                verdict,
            });
        }
        let same = ratio.modes.iter().all(|mode| mode.verdict == Some(Verdict::NoChange));
        let lone = ratio.modes.iter().any(|mode| mode.verdict.is_none());
        let shares = ratio.modes.iter().any(|mode| mode.shares_differ);
        let apart = ratio.modes.iter().any(|mode| mode.shares_apart);
        directions.dedup();
        let one = if let [one] = directions.as_slice() { Some(*one) } else { None };
        let (verdict, reason) = match (directions.is_empty(), shares) {
            (false, _) => (Verdict::Different(one), "in modes; the nearest modes differ"),
            (true, true) => (Verdict::Different(None), "in modes; their shares differ"),
            (true, false) if same && apart => {
                (Verdict::Inconclusive, "in modes; the nearest modes have not changed, but their shares may have")
            }
            (true, false) if same => (Verdict::NoChange, "in modes; the nearest modes have not changed"),
            (true, false) if lone => (Verdict::Inconclusive, "in modes; one mode has no counterpart"),
            (true, false) => (Verdict::Inconclusive, "in modes; the nearest modes are inconclusive"),
        };
        ratio.verdict = Some(verdict);
        ratio.reason = Some(reason.to_owned());
    }

    fn verdict(&self, shift: &CompareShift, adjusted: f64, band: f64) -> Verdict {
        match shift.known.as_ref().map(|known| stats::verdict(known, adjusted, band)) {
            Some(EquivalenceVerdict::Different) => Verdict::Different(Some(Direction::of(self.metric, shift.log))),
            Some(EquivalenceVerdict::NoChange) => Verdict::NoChange,
            Some(EquivalenceVerdict::Inconclusive) | None => Verdict::Inconclusive,
        }
    }

    /// If only the adjustment over the report prevents a verdict, significance must reach the strictest step of Holm's
    /// procedure.
    fn need(&self, known: &stats::RatioEstimate, band: f64) -> NeededSamples {
        match stats::need(known, band, POWER) {
            stats::DecisionNeed::Samples(0) => {
                let strictest = (1.0 - self.level) / (2.0 * self.tests.max(1) as f64);
                let wanted = normal_quantile(1.0 - strictest) / normal_quantile(1.0 - known.p_value.min(0.5) / 2.0);
                let samples = known.samples as f64;
                NeededSamples::Samples((samples * (wanted * wanted - 1.0)).ceil().max(1.0) as usize)
            }
            stats::DecisionNeed::Samples(more) => NeededSamples::Samples(more),
            stats::DecisionNeed::Sessions(sessions) => NeededSamples::Sessions(sessions),
            stats::DecisionNeed::TooClose => NeededSamples::TooClose,
        }
    }

    /// Value, low and high in the comparison's form of ratios.
    fn written(&self, shift: &CompareShift) -> (f64, Option<f64>, Option<f64>) {
        let ends = shift.bounded().map(|known| {
            let (a, b) = (self.ratio(known.interval.low), self.ratio(known.interval.high));
            (a.min(b), a.max(b))
        });
        (self.ratio(shift.log), ends.map(|ends| ends.0), ends.map(|ends| ends.1))
    }

    /// A logarithm of other over reference in the comparison's form of ratios.
    fn ratio(&self, log: f64) -> f64 {
        (sign(self.metric, self.normalise) * log.clamp(-FARTHEST, FARTHEST)).exp()
    }
}

/// What would help most: where no number of samples or runs decides, less of what makes most of the interval.
fn help(need: NeededSamples, known: &stats::RatioEstimate) -> Help {
    let half = known.interval.half_width();
    match need {
        NeededSamples::Samples(_) => Help::LongerRun,
        NeededSamples::Sessions(_) => Help::MoreRuns,
        NeededSamples::TooClose if known.floor_half_width > half / std::f64::consts::SQRT_2 => Help::MoreRuns,
        NeededSamples::TooClose => Help::IdleMachine,
    }
}

/// Factor on the logarithm of other over reference that makes it what `normalise` writes.
pub(crate) const fn sign(metric: &Metric, normalise: Normalise) -> f64 {
    match (normalise, metric.better) {
        (Normalise::Ratio, _) | (Normalise::Gain, Better::Higher) => 1.0,
        (Normalise::Gain, Better::Lower) => -1.0,
    }
}

impl VerdictCounts {
    /// Results that differ, by a test.
    #[must_use]
    pub const fn different(&self) -> usize {
        self.slower + self.faster + self.changed
    }

    /// Counts one more.
    pub(super) const fn count(&mut self, verdict: Option<Verdict>) {
        let count = match verdict {
            Some(Verdict::Different(Some(direction))) if direction.is_worse() => &mut self.slower,
            Some(Verdict::Different(Some(_))) => &mut self.faster,
            Some(Verdict::Different(None)) => &mut self.changed,
            Some(Verdict::NoChange) => &mut self.no_change,
            Some(Verdict::Inconclusive) => &mut self.inconclusive,
            Some(Verdict::Probable(_)) => &mut self.probable,
            None => &mut self.not_comparable,
        };
        *count += 1;
    }
}
