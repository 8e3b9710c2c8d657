//! The number of independent samples that correlated ones are worth, and the cost of the difference.

use model::RULES;

use crate::autocorrelation::{lag1, variance_inflation};
use crate::distribution::student_t_quantile;

/// The effect of correlation on the interval of a shift.
///
/// Correlated samples are worth fewer independent ones, and fewer samples show their scatter with fewer degrees of
/// freedom. With only the factor on the standard error, 11% of equal pairs of fourteen samples that correlate by 0.7
/// are significant at 5%.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Persistence {
    /// Factor on the standard error.
    inflated: f64,
    /// Number of independent samples that these are worth, for the degrees of freedom.
    worth: f64,
    /// Degrees of freedom if all were independent.
    all: f64,
}

/// One sample in the order of time.
struct SampleWorth {
    samples: f64,
    /// Factor by which the correlation of neighbours inflates the variance of its location.
    inflation: f64,
    /// How many independent samples it is worth where the correlation is shown, else all.
    independent: f64,
}

impl SampleWorth {
    fn of(sample: &[f64]) -> Self {
        let (samples, inflation) = (sample.len() as f64, variance_inflation(sample));
        let shown = lag1(sample).is_some_and(|found| found.p_value <= RULES.noise.shown);
        Self { samples, inflation, independent: if shown { samples / inflation } else { samples } }
    }
}

impl Persistence {
    /// Factor on the half-width of an interval at `level` for samples in the order of time whose errors add, which
    /// never narrows it. Stricter levels use the factor of the report's level: there Student's quantiles would make the
    /// one pair in ten that looks correlated by chance unable to show anything.
    pub(crate) fn stretch(samples: &[&[f64]], level: f64) -> f64 {
        Self::of(samples).map_or(1.0, |found| found.factor(level))
    }

    /// The correlation of samples in the order of time whose errors add; `None` if none of them shows any.
    fn of(samples: &[&[f64]]) -> Option<Self> {
        let sizes: Vec<SampleWorth> = samples.iter().map(|one| SampleWorth::of(one)).collect();
        if sizes.iter().all(|size| size.inflation <= 1.0) {
            return None;
        }
        let variance = |worth: &dyn Fn(&SampleWorth) -> f64| sizes.iter().map(|size| 1.0 / worth(size)).sum::<f64>();
        // Welch and Satterthwaite (Biometrika 34, 1947), of samples of these effective sizes.
        let welch = |worth: &dyn Fn(&SampleWorth) -> f64| {
            let spent = |size| worth(size).powi(-2) / (worth(size) - 1.0).max(RULES.noise.least_degrees);
            variance(worth).powi(2) / sizes.iter().map(spent).sum::<f64>()
        };
        let inflated = (variance(&|size| size.samples / size.inflation) / variance(&|size| size.samples)).sqrt();
        let (worth, all) = (welch(&|size| size.independent), welch(&|size| size.samples));
        Some(Self { inflated, worth: worth.min(all), all })
    }

    /// Factor on the half-width of an interval at `level` of independent samples.
    fn factor(&self, level: f64) -> f64 {
        let quantile = |degrees| student_t_quantile(0.5 + level / 2.0, degrees);
        let ratio = quantile(self.worth) / quantile(self.all);
        // At a level of nothing both quantiles are 0, and at one that is 1 but for rounding infinite.
        self.inflated * if ratio.is_finite() { ratio.max(1.0) } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_samples_that_resemble_their_neighbours_cost_anything() {
        let mixed = [1.0, 7.0, 3.0, 9.0, 2.0, 8.0, 4.0, 6.0, 0.0, 5.0];
        assert!(Persistence::of(&[&mixed, &mixed]).is_none());
        let climbing: Vec<f64> = (0..20).map(|at| f64::from(at / 4)).collect();
        let shown = Persistence::of(&[&climbing, &climbing]).unwrap();
        assert!(shown.worth < 5.0 && shown.all > 30.0 && shown.inflated > 2.0, "{shown:?}");
        // Student's quantile of few degrees grows faster with the level: intervals nest.
        let factors: Vec<f64> = [0.0, 0.5, 0.95, 0.999, 1.0].map(|level| shown.factor(level)).to_vec();
        assert!(factors.windows(2).take(3).all(|pair| pair[0] <= pair[1]), "{factors:?}");
        assert!(factors.iter().all(|factor| factor.is_finite() && *factor >= shown.inflated), "{factors:?}");
        // The correlation belongs to one side only: next to many independent samples it costs less.
        let beside = Persistence::of(&[&climbing, &mixed.repeat(4)]).unwrap();
        assert!(beside.worth < beside.all && beside.factor(0.95) > 1.5);
    }
}
