//! Growth by family of CPU: one line each, against the growth that all others have in common.
//!
//! Families at different levels, mixed over the years, look like growth that none of them has. The common rate is
//! therefore that of parallel lines, each family at its own level (analysis of covariance, Fisher, Statistical Methods
//! for Research Workers, 1932).

use model::percent;
use std::collections::BTreeMap;

use stats::distribution::student_t_quantile;
use stats::fit::exponential::exponential;

use super::error::Error;
use super::fit::{FEWEST, TrendOptions, trend, within};
use super::result::{Dated, FamilyTrend, FamilyTrends};
use predict::cpu_family;

/// Fits each family that the values name, else that of their names; values without either are a family of their own.
///
/// # Errors
/// When no family has four values at different dates in the window.
pub fn families(data: &[Dated], options: &TrendOptions) -> Result<FamilyTrends, Error> {
    let mut groups: BTreeMap<String, Vec<Dated>> = BTreeMap::new();
    for point in data {
        let by_name = || point.name.as_deref().map_or_else(|| "without a name".to_owned(), cpu_family);
        let family = point.family.clone().unwrap_or_else(by_name);
        groups.entry(family).or_default().push(point.clone());
    }
    let mut left_out = Vec::new();
    let (mut fitted, mut slopes) = (Vec::new(), Vec::new());
    for (family, points) in groups {
        let found = trend(&points, options).ok().and_then(|found| Some((FamilySlope::of(&found.data)?, found)));
        match found {
            Some((slope, found)) => {
                slopes.push(slope);
                fitted.push((family, found));
            }
            None => left_out.push((family, points.iter().filter(|point| within(point, options)).count())),
        }
    }
    if fitted.is_empty() {
        let points = data.iter().filter(|point| within(point, options)).count();
        return Err(Error::NoFamily { points, needed: FEWEST });
    }
    // The level of each family's test, so that all together have the requested one.
    let level = 1.0 - (1.0 - options.level) / fitted.len() as f64;
    pool(&mut slopes);
    let differing: Vec<bool> = (0..slopes.len()).map(|place| differs(&slopes, place, level)).collect();
    let (common, _) = common(&slopes, None);
    Ok(FamilyTrends {
        level: options.level,
        common: common.map_or(0.0, |slope| slope.exp_m1().min(f64::MAX)),
        families: fitted
            .into_iter()
            .zip(differing)
            .map(|((family, trend), differs)| FamilyTrend { family, trend, differs })
            .collect(),
        left_out,
    })
}

/// Growth of one family: its slope with variance and degrees of freedom, corrected for values that correlate in time,
/// and the sum of squares of its times about their mean.
struct FamilySlope {
    slope: f64,
    squares: f64,
    variance: f64,
    degrees: f64,
    /// Number of values.
    values: f64,
    /// By what their correlation makes the variance larger.
    inflation: f64,
}

impl FamilySlope {
    /// Of dated values at two dates or more, at least three.
    fn of(data: &[Dated]) -> Option<Self> {
        let times: Vec<f64> = data.iter().map(|point| point.time).collect();
        let values: Vec<f64> = data.iter().map(|point| point.value).collect();
        let line = exponential(&times, &values)?.line;
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        let squares = times.iter().map(|time| (time - mean).powi(2)).sum();
        let (variance, inflation) = (line.slope_variance(), line.inflation());
        Some(Self { slope: line.slope, squares, variance, degrees: line.degrees, values: data.len() as f64, inflation })
    }
}

/// Least degrees of freedom of a family.
const LEAST_DEGREES: f64 = 2.0;

/// Gives each family the mean inflation of all: few values show badly how alike neighbours are, and those of all
/// families together show it better.
fn pool(slopes: &mut [FamilySlope]) {
    let values: f64 = slopes.iter().map(|one| one.values).sum();
    let mean = slopes.iter().map(|one| one.values * one.inflation).sum::<f64>() / values;
    for one in slopes {
        one.variance *= mean / one.inflation;
        one.degrees = (one.values / mean - 2.0).max(LEAST_DEGREES).min(one.values - 2.0);
        one.inflation = mean;
    }
}

/// A variance as a sum of estimated ones, each with its degrees of freedom.
type VarianceParts = Vec<(f64, f64)>;

/// The slope that parallel lines through all families but one have, and its variance. `None` without any time between
/// values.
fn common(slopes: &[FamilySlope], without: Option<usize>) -> (Option<f64>, VarianceParts) {
    let kept = || slopes.iter().enumerate().filter(|(at, _)| Some(*at) != without).map(|(_, one)| one);
    let squares: f64 = kept().map(|one| one.squares).sum();
    let parts = kept().map(|one| ((one.squares / squares).powi(2) * one.variance, one.degrees)).collect();
    let slope = kept().map(|one| one.squares * one.slope).sum::<f64>() / squares;
    ((squares > 0.0).then_some(slope), parts)
}

/// Whether a family's growth differs from that of all others: zero is outside the interval of their difference, which
/// includes the uncertainty of the others' growth. Degrees of freedom by Welch and Satterthwaite (Biometrika 34, 1947).
fn differs(slopes: &[FamilySlope], place: usize, level: f64) -> bool {
    let own = &slopes[place];
    let (Some(others), mut parts) = common(slopes, Some(place)) else { return false };
    parts.push((own.variance, own.degrees));
    let variance: f64 = parts.iter().map(|part| part.0).sum();
    let spent: f64 = parts.iter().map(|(part, degrees)| part * part / degrees).sum();
    let away = (own.slope - others).abs();
    // Values that lie on their lines except for rounding do not show how far others would lie from them.
    let quantile = if spent > 0.0 { student_t_quantile(0.5 + level / 2.0, variance * variance / spent) } else { 0.0 };
    away > (quantile * variance.sqrt()).max(ROUNDING)
}

/// Growth a year, as a logarithm, that rounding may feign.
const ROUNDING: f64 = 1e-9;

impl FamilyTrends {
    /// The result in words.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = vec![format!("Common growth of all families: {} a year.", percent(self.common))];
        for family in self.families.iter().filter(|family| family.differs) {
            let growth = family.trend.fits.first().map_or(0.0, |fit| fit.growth);
            sentences.push(format!("{} differs: it grows by {} a year.", family.family, percent(growth)));
        }
        if !self.families.iter().any(|family| family.differs) && self.families.len() > 1 {
            sentences.push("No family grows at a different rate.".to_owned());
        }
        if !self.left_out.is_empty() {
            let named: Vec<String> =
                self.left_out.iter().map(|(family, points)| format!("{family} ({points})")).collect();
            sentences.push(format!("Too few values: {}.", model::words::list(&named)));
        }
        sentences
    }
}
