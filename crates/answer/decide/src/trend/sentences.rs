//! A trend in words.

use super::result::{FittedTrend, GrowthTrend, Projection, TrendCurve};
use model::percent;
use model::words::{digits, list, quantity};

impl GrowthTrend {
    /// The result, most important first.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        let first = self.fits.first();
        let beyond: Vec<&Projection> =
            first.iter().flat_map(|fit| &fit.projections).filter(|projection| projection.out_of_reach).collect();
        if let Some(farthest) = beyond.iter().max_by(|a, b| a.extrapolation.total_cmp(&b.extrapolation)) {
            let years: Vec<String> = beyond.iter().map(|projection| date(projection.time)).collect();
            sentences.push(format!(
                "{} {} too far to trust: {:.1} times the span of the data beyond its end. Nothing shows that the growth of {} \
                 to {} continues.",
                list(&years),
                if years.len() == 1 { "is" } else { "are" },
                farthest.extrapolation,
                date(self.span.0),
                date(self.span.1)
            ));
        }
        for fit in &self.fits {
            sentences.push(growth_in_words(fit));
            if let Some(since) = fit.ended {
                sentences.push(format!(
                    "No value after {} is a record. The growth would have brought one by {}, so it has ended.",
                    date(since),
                    date(self.span.1)
                ));
            }
            if let Some(broken) = fit.broken.as_ref().filter(|broken| broken.significant) {
                sentences.push(format!(
                    "The growth of the {} changed between {} and {} (p {}): {} before, {} after. A single line through both \
                     predicts little.",
                    word(fit.curve),
                    date(broken.between.0),
                    date(broken.between.1),
                    probability(broken.p_value),
                    doubling(broken.doubling_before),
                    doubling(broken.doubling_after),
                ));
            }
            sentences.extend(fit.projections.iter().map(|projection| self.projection_in_words(fit.curve, projection)));
        }
        if !self.beyond.is_empty() {
            let years: Vec<String> = self.beyond.iter().map(|year| date(*year)).collect();
            sentences
                .push(format!("No projection for {}: the value is too large or too small for a number.", list(&years)));
        }
        if let Some(later) = &self.later {
            let lost =
                later.lost_from.map_or_else(String::new, |from| format!("; from {} on most lie outside", date(from)));
            sentences.push(format!(
                "{} later values: {} inside the interval{lost}. By {} the fit was {} times too {}.",
                later.points,
                percent(later.inside),
                date(later.end),
                digits(later.too_high_at_the_end.max(1.0 / later.too_high_at_the_end)),
                if later.too_high_at_the_end >= 1.0 { "high" } else { "low" },
            ));
        }
        sentences
    }

    fn projection_in_words(&self, curve: TrendCurve, projection: &Projection) -> String {
        let flag = if projection.out_of_reach { " Too far to trust." } else { "" };
        let shown = |value: f64| quantity(value, self.unit());
        let came = projection.came.map_or_else(String::new, |(value, ratio)| {
            let (factor, word) = if ratio >= 1.0 { (ratio, "high") } else { (1.0 / ratio, "low") };
            format!(" The real value was {}, so the projection was {} times too {word}.", shown(value), digits(factor))
        });
        let wide = projection.wide.filter(|_| projection.out_of_reach).map_or_else(String::new, |(low, high)| {
            format!(" With a drifting growth rate: {}–{}.", shown(low), shown(high))
        });
        let would = format!("Projected {} for {}: {}", word(curve), date(projection.time), shown(projection.value));
        if !projection.scatter_is_known() {
            return format!("{would} (no interval: all values lie exactly on the line).{flag}{came}");
        }
        let (low, high) = (shown(projection.low), shown(projection.high));
        format!("{would} ({} prediction interval {low}–{high}).{flag}{wide}{came}", percent(self.level))
    }
}

/// How fast the values of a fit grow.
fn growth_in_words(fit: &FittedTrend) -> String {
    let (from, to) = (date(fit.span.0), date(fit.span.1));
    let what = format!("The {} of {from} to {to} ({} values)", word(fit.curve), fit.points);
    match &fit.doubling {
        Some(doubling) => {
            let verb = if doubling.value > 0.0 { "doubles" } else { "halves" };
            let (a, b) = (doubling.low.abs(), doubling.high.abs());
            // For values of one day two decimals of a year would be zero.
            let years = |years: f64| if years < 0.095 { digits(years) } else { format!("{years:.2}") };
            format!(
                "{what} {verb} in {} years ({} to {}).",
                years(doubling.value.abs()),
                years(a.min(b)),
                years(a.max(b))
            )
        }
        None => format!("{what} shows no clear growth."),
    }
}

const fn word(curve: TrendCurve) -> &'static str {
    match curve {
        TrendCurve::Median => "median",
        TrendCurve::Frontier => "frontier",
    }
}

fn doubling(years: Option<f64>) -> String {
    match years {
        Some(years) if years > 0.0 => format!("doubling in {} years", digits(years)),
        Some(years) => format!("halving in {} years", digits(-years)),
        None => "no growth".to_owned(),
    }
}

fn probability(p: f64) -> String {
    if p <= 0.001 { "at most 0.001".to_owned() } else { format!("{p:.3}") }
}

/// A decimal year, with one decimal unless it is whole.
fn date(time: f64) -> String {
    if (time - time.round()).abs() < 0.05 { format!("{time:.0}") } else { format!("{time:.1}") }
}
