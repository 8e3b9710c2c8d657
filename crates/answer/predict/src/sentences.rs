//! Predictions in words.

use model::{Unit, percent};

use super::evaluate::PredictionRecord;
use super::result::{BehaviourShare, Forecast, ForecastStanding, Prediction};
use super::summary::TriedSummary;
use model::words::{digits, list, seconds};

/// Smaller shares are summed up as the rest.
const SHOWN: f64 = 0.05;
/// Shares that a sentence names, at most.
const NAMED: usize = 5;

impl Prediction {
    /// The result, most important first.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences: Vec<String> =
            self.forecasts.iter().map(|forecast| self.forecast_in_words(forecast)).collect();
        if let Some(error) = self.forecasts.iter().find_map(|forecast| forecast.error) {
            sentences.push(format!(
                "Cross-validated error on unseen CPU models: {} median, {} p90.",
                percent(error.median),
                percent(error.worst_tenth),
            ));
            sentences.extend(error.rating_median.map(|rating| {
                let which = match percent(rating) == percent(error.median) {
                    true => ", as good",
                    false if rating < error.median => ", which is better here",
                    false => "",
                };
                format!("Baseline, scaling by the best single benchmark: {} median{which}.", percent(rating))
            }));
        } else if self.forecasts.iter().any(|forecast| forecast.value.is_some()) {
            sentences.push(format!(
                "Measured on {}: too few to estimate the error.",
                count(self.models, "CPU model", "CPU models")
            ));
        }
        if !self.behaves_like.is_empty() {
            sentences.push(format!("Predicted mostly from {}.", shares_in_words(&self.behaves_like)));
        }
        if self.footprint_used {
            sentences.push("Benchmarks were weighted by the application's resource use.".to_owned());
        }
        sentences.extend(self.notes.iter().map(|note| format!("{note}.")));
        sentences
    }

    fn forecast_in_words(&self, forecast: &Forecast) -> String {
        let Some(value) = forecast.value else {
            return format!("No prediction for {}: {}.", forecast.machine, list(&forecast.reasons));
        };
        let print = |value: f64| in_unit(value, self.metric.unit);
        let interval = forecast.low.zip(forecast.high).map_or_else(
            || ", without an interval".to_owned(),
            |(low, high)| format!(", {} to {} ({} interval)", print(low), print(high), percent(forecast.level)),
        );
        let why = match forecast.standing {
            ForecastStanding::Widened => format!("; widened, for {}", list(&forecast.reasons)),
            _ if !forecast.reasons.is_empty() => format!("; {}", list(&forecast.reasons)),
            _ => String::new(),
        };
        format!("{} on {}: {}{interval}{why}.", self.application, forecast.machine, print(value))
    }
}

/// `hash (weight 31%), branch (22%) and others (47%)`.
pub(crate) fn shares_in_words(shares: &[BehaviourShare]) -> String {
    let named: Vec<&BehaviourShare> = shares.iter().filter(|share| share.share >= SHOWN).take(NAMED).collect();
    let rest = 1.0 - named.iter().map(|share| share.share).sum::<f64>();
    let weight = |place: usize| if place == 0 { "weight " } else { "" };
    let mut words: Vec<String> = named
        .iter()
        .enumerate()
        .map(|(place, share)| format!("{} ({}{})", share.label, weight(place), percent(share.share)))
        .collect();
    if words.is_empty() {
        return "no benchmark in particular".to_owned();
    }
    if rest >= SHOWN {
        words.push(format!("others ({})", percent(rest)));
    }
    list(&words)
}

impl PredictionRecord {
    /// The result: one sentence for each number of training machines, and what holds on families left out.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let held = |summary: &TriedSummary| {
            summary.coverage.map_or_else(
                || "no interval at this level".to_owned(),
                |coverage| format!("{} of the {} intervals held", percent(coverage), percent(self.level)),
            )
        };
        let mut sentences: Vec<String> = self
            .sizes
            .iter()
            .map(|size| {
                let best = size.best_member().map_or_else(String::new, |best| {
                    format!(", best single method {} ({})", percent(best.median), best.method.words())
                });
                format!(
                    "Learnt from {}: error {} median, {} p90{best}; {}.",
                    count(size.machines, "machine", "machines"),
                    percent(size.summary.median_error),
                    percent(size.summary.worst_tenth),
                    held(&size.summary),
                )
            })
            .collect();
        if let Some(out) = &self.families_left_out {
            sentences.push(format!(
                "On families and makers left out: error {} median, {} p90; {}, {} were not predicted.",
                percent(out.median_error),
                percent(out.worst_tenth),
                held(out),
                percent(out.refused),
            ));
        }
        sentences.extend(self.suspects.iter().map(|suspect| format!("{}; it was left out.", suspect.words())));
        sentences
    }
}

fn count(number: usize, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}

fn in_unit(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Seconds => seconds(value),
        Unit::PerSecond | Unit::Hertz => format!("{} /s", digits(value)),
        Unit::BytesPerSecond => format!("{} MB/s", digits(value / 1e6)),
        Unit::Bytes => format!("{} MB", digits(value / 1e6)),
        Unit::Watts => format!("{} W", digits(value)),
        Unit::Joules => format!("{} J", digits(value)),
        Unit::Count | Unit::Ratio => digits(value),
    }
}
