//! Growth by family of CPU: one line each, against the growth that all others have in common.
//!
//! Families at different levels, mixed over the years, look like growth that none of them has; so the common rate is
//! that of parallel lines, each family at its own level (analysis of covariance, Fisher, Statistical Methods for
//! Research Workers, 1932).

use model::percent;
use std::collections::BTreeMap;

use stats::distribution::student_t_quantile;

use super::error::Error;
use super::fit::{FEWEST, TrendOptions, trend, within};
use super::result::{Dated, FamilyTrend, FamilyTrends};
use predict::cpu_family;

/// Fits each family that the values state, else that of their names; values without either are a family of their own.
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
    let mut fitted = Vec::new();
    for (family, points) in groups {
        match trend(&points, options) {
            Ok(found) => fitted.push((family, found)),
            Err(_) => left_out.push((family, points.iter().filter(|point| within(point, options)).count())),
        }
    }
    if fitted.is_empty() {
        let points = data.iter().filter(|point| within(point, options)).count();
        return Err(Error::NoFamily { points, needed: FEWEST });
    }
    // The level of each family's test, so that all together have the requested one.
    let level = 1.0 - (1.0 - options.level) / fitted.len() as f64;
    let slopes: Vec<FamilySlope> = fitted.iter().map(|(_, found)| FamilySlope::of(&found.data)).collect();
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

/// Growth of one family about its own means: sums of products of time and logarithm and of squared times, and the
/// variance of the values about their line with its degrees of freedom.
struct FamilySlope {
    products: f64,
    squares: f64,
    variance: f64,
    degrees: f64,
}

impl FamilySlope {
    fn of(data: &[Dated]) -> Self {
        let n = data.len() as f64;
        let time = data.iter().map(|point| point.time).sum::<f64>() / n;
        let log = data.iter().map(|point| point.value.ln()).sum::<f64>() / n;
        let apart = |point: &Dated| (point.time - time, point.value.ln() - log);
        let sum = |of: &dyn Fn((f64, f64)) -> f64| data.iter().map(|point| of(apart(point))).sum::<f64>();
        let (products, squares) = (sum(&|(x, y)| x * y), sum(&|(x, _)| x * x));
        let slope = if squares > 0.0 { products / squares } else { 0.0 };
        let degrees = (n - 2.0).max(1.0);
        let variance = sum(&|(x, y)| (y - slope * x).powi(2)) / degrees;
        Self { products, squares, variance, degrees }
    }
}

/// A variance as a sum of estimated ones, each with its degrees of freedom.
type VarianceParts = Vec<(f64, f64)>;

/// The slope that parallel lines through all families but one have, and its variance. `None` without any time between
/// values.
fn common(slopes: &[FamilySlope], without: Option<usize>) -> (Option<f64>, VarianceParts) {
    let kept = || slopes.iter().enumerate().filter(|(at, _)| Some(*at) != without).map(|(_, one)| one);
    let (products, squares) = kept().fold((0.0, 0.0), |(xy, xx), one| (xy + one.products, xx + one.squares));
    let parts = kept().map(|one| (one.squares * one.variance / (squares * squares), one.degrees)).collect();
    ((squares > 0.0).then_some(products / squares), parts)
}

/// Whether a family's growth is not that of all others: zero is outside the interval of their difference, in which the
/// others' growth is no more exact than it is. Degrees of freedom by Welch and Satterthwaite (Biometrika 34, 1947).
fn differs(slopes: &[FamilySlope], place: usize, level: f64) -> bool {
    let own = &slopes[place];
    let (Some(others), mut parts) = common(slopes, Some(place)) else { return false };
    parts.push((own.variance / own.squares, own.degrees));
    let variance: f64 = parts.iter().map(|part| part.0).sum();
    let spent: f64 = parts.iter().map(|(part, degrees)| part * part / degrees).sum();
    let away = (own.products / own.squares - others).abs();
    // Of values that lie on their lines but for rounding nothing tells how far others would lie from them.
    let quantile = if spent > 0.0 { student_t_quantile(0.5 + level / 2.0, variance * variance / spent) } else { 0.0 };
    away > (quantile * variance.sqrt()).max(ROUNDING)
}

/// Growth a year, as a logarithm, that rounding may feign.
const ROUNDING: f64 = 1e-9;

impl FamilyTrends {
    /// The result in words.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = vec![format!("Each family at its own level, all grow by {} a year.", percent(self.common))];
        for family in self.families.iter().filter(|family| family.differs) {
            let growth = family.trend.fits.first().map_or(0.0, |fit| fit.growth);
            sentences.push(format!(
                "{} grows by {} a year, which is not the growth of the others.",
                family.family,
                percent(growth)
            ));
        }
        if !self.families.iter().any(|family| family.differs) && self.families.len() > 1 {
            sentences.push("No family's growth can be told from that of the others.".to_owned());
        }
        if !self.left_out.is_empty() {
            let named: Vec<String> =
                self.left_out.iter().map(|(family, points)| format!("{family} ({points})")).collect();
            sentences.push(format!("Too few values of {}.", model::words::list(&named)));
        }
        sentences
    }
}
