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
                "OUT OF REACH: {} {} up to {:.1} spans of the data beyond them, more than a third: the interval supposes that the \
                 growth of {} to {} goes on, which no data show.",
                list(&years),
                if years.len() == 1 { "lies" } else { "lie" },
                farthest.extrapolation,
                date(self.span.0),
                date(self.span.1)
            ));
        }
        for fit in &self.fits {
            sentences.push(growth_in_words(fit));
            if let Some(since) = fit.ended {
                sentences.push(format!(
                    "No value after {} is a record, and by {} that growth would have brought one: it has ended.",
                    date(since),
                    date(self.span.1)
                ));
            }
            if let Some(broken) = fit.broken.as_ref().filter(|broken| broken.significant) {
                sentences.push(format!(
                    "The growth of the {} changed between {} and {} (p {}): {} before, {} after. One line \
                     through both says little of what comes.",
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
            sentences.push(format!("No projection to {}: the line leaves the range of numbers.", list(&years)));
        }
        if let Some(later) = &self.later {
            let lost = later
                .lost_from
                .map_or_else(String::new, |from| format!(", most of them outside from {} on", date(from)));
            sentences.push(format!(
                "Of {} later values {} lie inside the interval{lost}; by {} the fit was {} times too {}.",
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
        let flag = if projection.out_of_reach { " (OUT OF REACH)" } else { "" };
        let shown = |value: f64| quantity(value, self.unit());
        let came = projection.came.map_or_else(String::new, |(value, ratio)| {
            let (factor, word) = if ratio >= 1.0 { (ratio, "high") } else { (1.0 / ratio, "low") };
            format!("; what came was {}: {} times too {word}", shown(value), digits(factor))
        });
        let wide = projection.wide.filter(|_| projection.out_of_reach).map_or_else(String::new, |(low, high)| {
            format!("; if the growth rate goes on changing as it did, between {} and {}", shown(low), shown(high))
        });
        let would = format!("The {} would be {} in {}", word(curve), shown(projection.value), date(projection.time));
        if !projection.scatter_is_known() {
            return format!(
                "{would}{flag}{came}; all values lie on the line, so that nothing shows how far one lies from it."
            );
        }
        let (low, high) = (shown(projection.low), shown(projection.high));
        format!("{would}, one value between {low} and {high}{flag}{wide}{came}.")
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
        None => format!("{what} shows no growth that can be told from none."),
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
