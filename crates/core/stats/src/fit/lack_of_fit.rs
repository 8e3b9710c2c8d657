//! Whether a line describes replicated points: the test for lack of fit.
//!
//! Draper and Smith, Applied Regression Analysis, 3rd ed. 1998, chapter 2: the scatter of means about the line is
//! compared with that of replicates about their means.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::line::{FitLine, weighted_line};
use crate::quantile::median;

/// Result of the test.
#[derive(Debug, Clone, PartialEq)]
pub struct LackOfFit {
    /// p-value of "the line describes the points".
    pub p_value: f64,
    /// Index of the x at which the line is furthest off.
    pub worst: usize,
    /// By how much of the value there: positive where the points lie above the line.
    pub off: f64,
}

/// Tests whether one line describes all `replicates`, which belong to the `x` of the same index, with equal relative
/// errors. `None` below three x, without replicates, or with a value that is not positive and finite.
pub fn lack_of_fit(x: &[f64], replicates: &[Vec<f64>]) -> Option<LackOfFit> {
    let count: usize = replicates.iter().map(Vec::len).sum();
    let sound = |values: &Vec<f64>| !values.is_empty() && values.iter().all(|y| y.is_finite() && *y > 0.0);
    if x.len() != replicates.len() || x.len() < 3 || count <= x.len() || !replicates.iter().all(sound) {
        return None;
    }
    let middles: Vec<f64> = replicates.iter().filter_map(|values| median(values)).collect();
    let (mut xs, mut ys, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for ((x, values), middle) in x.iter().zip(replicates).zip(&middles) {
        for y in values {
            xs.push(*x);
            ys.push(*y);
            weights.push(middle.powi(-2));
        }
    }
    let line = weighted_line(&xs, &ys, &weights)?;
    let (mut lack, mut pure) = (0.0, 0.0);
    let mut off = Vec::new();
    for ((x, values), middle) in x.iter().zip(replicates).zip(&middles) {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let relative = (mean - at(&line, *x)) / middle;
        lack += values.len() as f64 * relative * relative;
        pure += values.iter().map(|y| ((y - mean) / middle).powi(2)).sum::<f64>();
        off.push(relative);
    }
    let degrees = ((x.len() - 2) as f64, (count - x.len()) as f64);
    let ratio = (lack / degrees.0) / (pure / degrees.1);
    let p_value = match FisherSnedecor::new(degrees.0, degrees.1) {
        Ok(law) if ratio.is_finite() => law.sf(ratio),
        // Replicates that do not scatter leave no room for any departure.
        _ if lack > 0.0 => 0.0,
        _ => 1.0,
    };
    let worst = (0..off.len()).max_by(|a, b| off[*a].abs().total_cmp(&off[*b].abs()))?;
    Some(LackOfFit { p_value, worst, off: off[worst] })
}

fn at(line: &FitLine, x: f64) -> f64 {
    line.slope.mul_add(x, line.intercept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{generator, standard_normal};

    const X: [f64; 8] = [64.0, 256.0, 1024.0, 4096.0, 16384.0, 32768.0, 65536.0, 131_072.0];

    /// Times of writes with 1% scatter; `bend` is added to the time of the fourth size, as a share of it.
    fn times(bend: f64, seed: u64) -> Vec<Vec<f64>> {
        let mut rng = generator(seed);
        let one = |index: usize, x: f64, rng: &mut _| {
            let time = 2e-6 + x / 1e9;
            let bent = if index == 3 { time * (1.0 + bend) } else { time };
            (0..10).map(|_| bent * (0.01 * standard_normal(rng)).exp()).collect()
        };
        X.iter().enumerate().map(|(index, x)| one(index, *x, &mut rng)).collect()
    }

    #[test]
    fn a_line_is_rarely_refused_and_a_bend_is_found_where_it_is() {
        let trials = 400;
        let refused = |bend: f64| {
            let found = |seed| lack_of_fit(&X, &times(bend, seed)).unwrap();
            (0..trials).map(found).filter(|test| test.p_value < 0.01).count()
        };
        // 1% of 400 is 4; more than 12 would be seen in 1 of 2,000 such tests.
        assert!(refused(0.0) <= 12, "{}", refused(0.0));
        assert!(refused(0.05) >= 396, "{}", refused(0.05));
        let test = lack_of_fit(&X, &times(0.2, 1)).unwrap();
        assert!(test.worst == 3 && test.off > 0.1, "{test:?}");
    }

    #[test]
    fn what_cannot_be_tested_is_not() {
        assert!(lack_of_fit(&X[..2], &times(0.0, 1)[..2]).is_none());
        let single: Vec<Vec<f64>> = X.iter().map(|x| vec![*x]).collect();
        assert!(lack_of_fit(&X, &single).is_none());
        let exact: Vec<Vec<f64>> = X.iter().map(|x| vec![1.0 + *x; 3]).collect();
        assert!(lack_of_fit(&X, &exact).is_some_and(|test| test.off.abs() < 1e-9));
    }
}
