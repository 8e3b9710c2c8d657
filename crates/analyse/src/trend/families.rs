//! Growth by family of CPU: one line each, against the growth that all others have in common.
//!
//! Families at different levels, mixed over the years, look like growth that none of them has; so the common rate is that
//! of parallel lines, each family at its own level (analysis of covariance, Fisher, Statistical Methods for Research
//! Workers, 1932).

use model::percent;
use std::collections::BTreeMap;

use stats::fit::exponential::exponential;

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
            Err(_) => left_out.push((family, points.len())),
        }
    }
    if fitted.is_empty() {
        let points = data.iter().filter(|point| within(point, options)).count();
        return Err(Error::NoFamily { points, needed: FEWEST });
    }
    // The level of each family's interval, so that all together have the requested one.
    let level = 1.0 - (1.0 - options.level) / fitted.len() as f64;
    let sums: Vec<(f64, f64)> = fitted.iter().map(|(_, found)| sums(&found.data)).collect();
    let slope = |without: Option<usize>| {
        let kept = sums.iter().enumerate().filter(|(i, _)| Some(*i) != without);
        let (xy, xx) = kept.fold((0.0, 0.0), |(xy, xx), (_, (a, b))| (xy + a, xx + b));
        (xx > 0.0).then_some(xy / xx)
    };
    let differs = |place: usize, data: &[Dated]| {
        let (times, values): (Vec<f64>, Vec<f64>) = data.iter().map(|point| (point.time, point.value)).unzip();
        let own = exponential(&times, &values).map(|growth| growth.rate(level).interval);
        own.zip(slope(Some(place))).is_some_and(|(own, others)| !own.contains(others))
    };
    let differing: Vec<bool> = fitted.iter().enumerate().map(|(i, (_, found))| differs(i, &found.data)).collect();
    Ok(FamilyTrends {
        level: options.level,
        common: slope(None).map_or(0.0, |slope| slope.exp_m1().min(f64::MAX)),
        families: fitted
            .into_iter()
            .zip(differing)
            .map(|((family, trend), differs)| FamilyTrend { family, trend, differs })
            .collect(),
        left_out,
    })
}

/// Sums of products of time and logarithm, and of squared times, about their means.
fn sums(data: &[Dated]) -> (f64, f64) {
    let n = data.len() as f64;
    let time = data.iter().map(|point| point.time).sum::<f64>() / n;
    let log = data.iter().map(|point| point.value.ln()).sum::<f64>() / n;
    let products = data.iter().map(|point| {
        let apart = point.time - time;
        (apart * (point.value.ln() - log), apart * apart)
    });
    products.fold((0.0, 0.0), |(xy, xx), (a, b)| (xy + a, xx + b))
}

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
