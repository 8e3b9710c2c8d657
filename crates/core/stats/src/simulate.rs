//! Seeded noise like that of measured samples, for testing statistics against known truths.
//!
//! A sample value is `centre x exp(sample effect) x exp(trend)`, and a batch adds its own small effect. The
//! distributions are those of fresh processes on shared machines. Most variance lies between samples; a quiet core has
//! a heavy upper tail; neighbours correlate; sometimes there are two levels (Maricq et al., OSDI 2018; Kalibera and
//! Jones, ISMM 2013).

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::distribution::normal_quantile;

/// The random numbers of a seeded simulation; the same seed gives the same numbers on every machine.
pub fn generator(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// A standard normal number, by inversion.
pub fn standard_normal(rng: &mut impl Rng) -> f64 {
    // Open interval: a uniform number of exactly 0 would become minus infinity.
    normal_quantile((rng.random::<u32>() as f64 + 0.5) / 4_294_967_296.0)
}

/// Variation of the samples of a simulated result. Effects are standard deviations of logarithms: 0.01 is 1%.
#[derive(Debug, Clone, PartialEq)]
pub struct Noise {
    /// True value, in any unit.
    pub centre: f64,
    /// Effect of the sample.
    pub between: f64,
    /// Effect of the batch within a sample.
    pub within: f64,
    /// Correlation of the sample effects of neighbours, 0 to 1.
    pub correlation: f64,
    /// Change of the logarithm from the first to the last sample.
    pub drift: f64,
    /// Share of disturbed samples, 0 to 1.
    pub disturbed: f64,
    /// Mean of the exponential slow-down of a disturbed sample, as a logarithm.
    pub disturbance: f64,
    /// Share of samples in a second mode, 0 to 1.
    pub second_share: f64,
    /// Ratio of the second mode to the first.
    pub second_ratio: f64,
}

impl Noise {
    /// A pinned CPU or kernel result on a busy machine: 0.5% between samples, 0.2% within, one sample in ten
    /// disturbed.
    pub fn stable(centre: f64) -> Self {
        Self {
            centre,
            between: 0.005,
            within: 0.002,
            correlation: 0.0,
            drift: 0.0,
            disturbed: 0.1,
            disturbance: 0.1,
            second_share: 0.0,
            second_ratio: 1.0,
        }
    }

    /// Batches of `samples` samples, in the order of time, in the unit of `centre`.
    pub fn batches(&self, samples: usize, batches: usize, rng: &mut impl Rng) -> Vec<Vec<f64>> {
        self.samples(samples, rng)
            .into_iter()
            .map(|value| (0..batches).map(|_| value * (self.within * standard_normal(rng)).exp()).collect())
            .collect()
    }

    /// Values of `samples` samples, in the order of time, in the unit of `centre`.
    pub fn samples(&self, samples: usize, rng: &mut impl Rng) -> Vec<f64> {
        let fresh = (1.0 - self.correlation * self.correlation).max(0.0).sqrt();
        let mut effect = standard_normal(rng);
        (0..samples)
            .map(|i| {
                if i > 0 {
                    effect = self.correlation * effect + fresh * standard_normal(rng);
                }
                let mut log = self.between * effect;
                log += self.drift * (i as f64 / (samples.max(2) - 1) as f64);
                if rng.random::<f64>() < self.disturbed {
                    log -= self.disturbance * (1.0 - rng.random::<f64>()).ln();
                }
                let level = if rng.random::<f64>() < self.second_share { self.second_ratio } else { 1.0 };
                self.centre * level * log.exp()
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantile::{median, standard_deviation};

    #[test]
    fn seeds_reproduce_and_parameters_are_recovered() {
        let noise = Noise { disturbed: 0.0, ..Noise::stable(100.0) };
        let values = noise.samples(4000, &mut generator(7));
        assert_eq!(values, noise.samples(4000, &mut generator(7)));
        let logs: Vec<f64> = values.iter().map(|v| v.ln()).collect();
        assert!((median(&values).unwrap() / 100.0 - 1.0).abs() < 0.001);
        assert!((standard_deviation(&logs).unwrap() - 0.005).abs() < 0.0003);
    }

    #[test]
    fn neighbours_have_the_requested_correlation() {
        let noise = Noise { correlation: 0.6, disturbed: 0.0, ..Noise::stable(1.0) };
        let lag = crate::autocorrelation::lag1(&noise.samples(4000, &mut generator(8))).unwrap();
        assert!((lag.coefficient - 0.6).abs() < 0.05);
        assert!(lag.p_value < 1e-6);
    }

    #[test]
    fn second_mode_has_its_share_and_ratio() {
        let noise = Noise { second_share: 0.3, second_ratio: 10.0, ..Noise::stable(6.5) };
        let found = crate::modes(&noise.samples(40, &mut generator(9)));
        assert_eq!(found.len(), 2);
        assert!((found[1].centre / found[0].centre - 10.0).abs() < 0.5);
        assert_eq!(noise.batches(3, 5, &mut generator(1)).iter().map(Vec::len).collect::<Vec<_>>(), [5, 5, 5]);
    }
}
