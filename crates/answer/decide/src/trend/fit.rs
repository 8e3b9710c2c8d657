//! Fits a trend to dated values.

use model::{Better, Metric};
use stats::fit::break_test::sup_f;
use stats::fit::exponential::{Growth, exponential};
use stats::fit::frontier::records;
use stats::median;

use super::error::Error;
use super::result::{Broken, Checked, Dated, FanPoint, FittedTrend, GrowthTrend, Projection, TrendCurve};

/// Fewest points of a fit.
const FEWEST: usize = 4;
/// Permutations of the break test.
const PERMUTATIONS: usize = 999;
/// Extrapolation from which on the growth need not continue, in multiples of the span of the data.
const REACH: f64 = 1.0 / 3.0;
/// Years to double above which nothing grows.
const NEVER: f64 = 1e6;
/// Points of the fan.
const FAN: usize = 48;

/// Options of a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct TrendOptions {
    /// Fit only values of these dates, both ends included; the others are compared with the fit.
    pub window: Option<(f64, f64)>,
    /// Dates to project to, decimal years.
    pub project: Vec<f64>,
    /// Confidence level of intervals, 0 to 1.
    pub level: f64,
    /// Seed of the break test's permutations.
    pub seed: u64,
    /// Unit and direction of the values; without it they are bare numbers, of which higher is better.
    pub metric: Option<Metric>,
}

impl TrendOptions {
    fn lower_is_better(&self) -> bool {
        self.metric.as_ref().is_some_and(|metric| metric.better == Better::Lower)
    }
}

impl Default for TrendOptions {
    fn default() -> Self {
        Self { window: None, project: Vec::new(), level: 0.95, seed: 1, metric: None }
    }
}

/// Fits the growth of dated values.
///
/// # Errors
/// When fewer than four values at different dates are in the window.
pub fn trend(data: &[Dated], options: &TrendOptions) -> Result<GrowthTrend, Error> {
    let (mut fitted, outside): (Vec<&Dated>, Vec<&Dated>) = data.iter().partition(|point| within(point, options));
    fitted.sort_by(|a, b| a.time.total_cmp(&b.time));
    let times: Vec<f64> = fitted.iter().map(|point| point.time).collect();
    let values: Vec<f64> = fitted.iter().map(|point| point.value).collect();
    let too_few = || Error::TooFew { points: times.len(), window: window_in_words(options.window), needed: FEWEST };
    if times.len() < FEWEST {
        return Err(too_few());
    }
    if times.first() == times.last() {
        return Err(Error::OneDate { points: times.len(), window: window_in_words(options.window), needed: FEWEST });
    }
    let all = exponential(&times, &values).ok_or_else(too_few)?;
    let ask = TrendRequest { data, options, span: (times[0], times[times.len() - 1]) };
    let mut fits = vec![ask.fitted(TrendCurve::Median, &all, &times, &values)];
    let sign = if options.lower_is_better() { -1.0 } else { 1.0 };
    let best = records(&times, &values.iter().map(|value| sign * value).collect::<Vec<f64>>()).unwrap_or_default();
    let pick = |from: &[f64]| best.iter().map(|&i| from[i]).collect::<Vec<f64>>();
    let (best_times, best_values) = (pick(&times), pick(&values));
    if best.len() >= FEWEST
        && let Some(edge) = exponential(&best_times, &best_values)
    {
        fits.push(ask.fitted(TrendCurve::Frontier, &edge, &best_times, &best_values));
    }
    let reached: Vec<f64> = fits[0].projections.iter().map(|projection| projection.time).collect();
    Ok(GrowthTrend {
        span: ask.span,
        points: times.len(),
        level: options.level,
        metric: options.metric.clone(),
        fits,
        later: checked(&all, &outside, options.level),
        beyond: options.project.iter().copied().filter(|year| !reached.contains(year)).collect(),
        data: fitted.into_iter().cloned().collect(),
        outside: outside.into_iter().cloned().collect(),
    })
}

/// Whether a value is in the window of the fit.
fn within(point: &Dated, options: &TrendOptions) -> bool {
    options.window.is_none_or(|(from, to)| from <= point.time && point.time <= to)
}

/// Input of each fit.
struct TrendRequest<'a> {
    data: &'a [Dated],
    options: &'a TrendOptions,
    span: (f64, f64),
}

impl TrendRequest<'_> {
    fn fitted(&self, curve: TrendCurve, growth: &Growth, times: &[f64], values: &[f64]) -> FittedTrend {
        let level = self.options.level;
        let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        let broken = sup_f(times, &logs, PERMUTATIONS, self.options.seed).map(|found| {
            // A flat part neither doubles nor halves.
            let years = |slope: f64| Some(std::f64::consts::LN_2 / slope).filter(|years| years.abs() < NEVER);
            Broken {
                between: (found.after, found.before),
                p_value: found.p_value,
                doubling_before: years(found.slope_before),
                doubling_after: years(found.slope_after),
                significant: found.p_value < 0.05,
            }
        });
        let doubling = growth.doubling_time(level).map(|found| Projection {
            time: self.span.1,
            value: found.value,
            low: found.interval.low,
            high: found.interval.high,
            wide: None,
            extrapolation: 0.0,
            out_of_reach: false,
            came: None,
        });
        let span = (times[0], times[times.len() - 1]);
        FittedTrend {
            curve,
            points: times.len(),
            span,
            ended: self.has_ended(curve, growth, span.1, values[values.len() - 1]).then_some(span.1),
            growth: growth.rate(level).value.exp_m1().min(f64::MAX),
            doubling,
            spread: growth.line.residual_sd.exp().min(f64::MAX),
            broken,
            projections: self
                .options
                .project
                .iter()
                .filter_map(|&time| self.projection((curve, span), growth, time, self.wandering(&logs, times)))
                .collect(),
            fan: self.fan(span, growth, self.wandering(&logs, times).unwrap_or(0.0)),
        }
    }

    /// Whether values after the last record, at `since`, show that records stopped following the line. There must be
    /// enough of them, and by the last one the whole interval must lie beyond the best value. A single value may be of
    /// a slow machine.
    fn has_ended(&self, curve: TrendCurve, growth: &Growth, since: f64, best: f64) -> bool {
        let by_now = growth.predict(self.span.1, self.options.level).interval;
        let beyond = if self.options.lower_is_better() { by_now.high < best } else { by_now.low > best };
        let later = self.data.iter().filter(|point| since < point.time && point.time <= self.span.1).count();
        curve == TrendCurve::Frontier && later >= FEWEST && beyond
    }

    /// Projection of a fit, through points of the dates `span`, to a date. The interval is that of one new value while
    /// the growth continues. `None` where the line leaves the range of numbers.
    fn projection(
        &self,
        (curve, span): (TrendCurve, (f64, f64)),
        growth: &Growth,
        time: f64,
        wandering: Option<f64>,
    ) -> Option<Projection> {
        let said = growth.predict(time, self.options.level);
        is_number(said.interval.low, said.interval.high).then_some(())?;
        // A frontier may end before the data: values that were no records are no reason to project further.
        let (first, last) = span;
        let extrapolation = (first - time).max(time - last).max(0.0) / (last - first);
        let near: Vec<f64> =
            self.data.iter().filter(|point| (point.time - time).abs() <= 0.5).map(|point| point.value).collect();
        let best = || match self.options.lower_is_better() {
            true => near.iter().copied().fold(f64::INFINITY, f64::min),
            false => near.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        };
        let centre = match curve {
            TrendCurve::Median => median(&near),
            TrendCurve::Frontier => (!near.is_empty()).then(best),
        };
        let wide = wandering.map(|wandering| wide((said.interval.low, said.interval.high), span, time, wandering));
        Some(Projection {
            time,
            value: said.value,
            low: said.interval.low,
            high: said.interval.high,
            wide: wide.filter(|(low, high)| is_number(*low, *high)),
            extrapolation,
            out_of_reach: extrapolation > REACH,
            came: centre.map(|centre| (centre, (said.value / centre).min(f64::MAX))),
        })
    }

    fn fan(&self, span: (f64, f64), growth: &Growth, wandering: f64) -> Vec<FanPoint> {
        let (first, last) = self.span;
        let dates = self.data.iter().map(|point| point.time).chain(self.options.project.iter().copied());
        // Without projections the fan ends at the fit's reach.
        let end = dates.fold(last + REACH * (last - first), f64::max);
        (0..=FAN)
            .filter_map(|step| {
                let time = first + (end - first) * step as f64 / FAN as f64;
                let said = growth.predict(time, self.options.level);
                let (low, high) = (said.interval.low, said.interval.high);
                let (wide_low, wide_high) = wide((low, high), span, time, wandering);
                let fits = is_number(low, high) && is_number(wide_low, wide_high);
                fits.then_some(FanPoint { time, value: said.value, low, high, wide_low, wide_high })
            })
            .collect()
    }

    fn wandering(&self, logs: &[f64], times: &[f64]) -> Option<f64> {
        let change = rate_change(times, logs)?;
        Some(stats::distribution::normal_quantile(0.5 + self.options.level / 2.0) * change)
    }
}

/// Ends that also allow a change of the growth rate after the fitted values, whose dates are `span`. The two errors are
/// independent, so their squares add.
fn wide((low, high): (f64, f64), span: (f64, f64), time: f64, wandering: f64) -> (f64, f64) {
    let beyond = (span.0 - time).max(time - span.1).max(0.0);
    let (centre, half) = (f64::midpoint(low.ln(), high.ln()), (high / low).ln() / 2.0);
    let wide = half.hypot(wandering * beyond.powf(1.5));
    ((centre - wide).exp(), (centre + wide).exp())
}

/// Change of the growth rate within the data, per root of a year. It is the difference of the slopes of the two halves
/// over the root of the time between their middles. If the rate is a random walk (Harvey's smooth trend, Forecasting,
/// structural time series models and the Kalman filter, 1989), the line is off by that times the time to the power 1.5
/// over root 3.
fn rate_change(times: &[f64], logs: &[f64]) -> Option<f64> {
    let middle = times.len() / 2;
    let slope =
        |from: usize, to: usize| stats::fit::line::line(&times[from..to], &logs[from..to]).map(|line| line.slope);
    let (before, after) = (slope(0, middle)?, slope(middle, times.len())?);
    let centre = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let apart = centre(&times[middle..]) - centre(&times[..middle]);
    (apart > 0.0).then(|| (after - before).abs() / apart.sqrt() / 3.0_f64.sqrt())
}

/// Whether two ends of an interval about a positive value are numbers that can be printed.
fn is_number(low: f64, high: f64) -> bool {
    low.is_normal() && high.is_normal()
}

/// Values after the window compared with the fit, and where it lost them.
fn checked(fit: &Growth, outside: &[&Dated], level: f64) -> Option<Checked> {
    let last = fit.line.range.1;
    let mut later: Vec<&Dated> = outside.iter().copied().filter(|point| point.time > last).collect();
    if later.is_empty() {
        return None;
    }
    later.sort_by(|a, b| a.time.total_cmp(&b.time));
    let holds = |point: &&Dated| fit.predict(point.time, level).interval.contains(point.value);
    let held: Vec<bool> = later.iter().map(holds).collect();
    let lost = |from: usize| 2 * held[from..].iter().filter(|held| !**held).count() > held.len() - from;
    let lost_from = (0..held.len()).find(|&from| !held[from] && lost(from)).map(|from| later[from].time);
    let tail = &later[later.len() - later.len().div_ceil(10)..];
    let ratios: Vec<f64> = tail.iter().map(|point| fit.predict(point.time, level).value / point.value).collect();
    Some(Checked {
        points: later.len(),
        inside: held.iter().filter(|held| **held).count() as f64 / held.len() as f64,
        lost_from,
        too_high_at_the_end: median(&ratios)?.clamp(f64::MIN_POSITIVE, f64::MAX),
        end: tail[0].time,
    })
}

fn window_in_words(window: Option<(f64, f64)>) -> String {
    match window.map(|(from, to)| (from, to, from.is_finite(), to.is_finite())) {
        Some((from, to, true, true)) => format!(" between {from} and {to}"),
        Some((from, _, true, false)) => format!(" from {from} on"),
        Some((_, to, false, true)) => format!(" until {to}"),
        _ => String::new(),
    }
}
