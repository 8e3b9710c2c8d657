//! Number of loads that memory serves concurrently.

use kernels::memory::{Arena, Pages};
use kernels::ring::{CHAINS, ChasePattern, ChaseRing};

use super::chase::ring;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "memory.parallelism",
    title: "parallel loads",
    about: "Follows k = 1 to 16 independent chains through the working set at once. A ratio is their rate of loads \
            divided by the rate of one chain. A reading times every k twice, upwards and downwards, and keeps the \
            shorter time. Each slice begins where the one before ended. A fit by least absolute deviations finds the \
            plateau of the sixteen ratios, and its height is the result. If the ratios still rise at sixteen chains, \
            the result is a lower bound and a note says so.",
    metric: BenchmarkMetric::higher(Unit::Ratio, "loads at once"),
    class: Class::MemoryLatency,
    stresses: &[Primitive::CacheLatency, Primitive::DramLatency, Primitive::DramRead],
    sources: &[DefinitionSource::new("lmbench", "par_mem", "C. Staelin, lmbench 3")],
    // Slices with separate laps would hit lines in caches that other slices had just brought there.
    parameters: &[
        Parameter::doubling("working_set", 4 * KIB, 256 * MIB, &["64MiB"]),
        Parameter::choice("slices", &["apart"], &["apart"]),
    ],
    prepare: |at, context| {
        let mut ring = ring(at.bytes("working_set")?, Pages::Base, ChasePattern::Random, context)?;
        let began = kernels::clock::now();
        ring.chase(SAMPLE);
        let nanos = (kernels::clock::now() - began).max(1);
        let steps = (SLICE_NANOS * SAMPLE / nanos).max(64);
        let mut chains = Parallelism { ring, steps };
        if still_rises(&chains.survey()?) {
            context.note(AT_LEAST);
        }
        Ok(Trial::Readings(Box::new(chains)))
    },
    ..Benchmark::BLANK
};

/// Note of a result that more chains than these would exceed.
const AT_LEAST: &str = "lower bound (still rising at 16 chains)";

/// Loads from which the number of steps of a slice is computed.
const SAMPLE: u64 = 4096;
/// Time of a slice with one chain, nanoseconds; with more chains it takes longer.
const SLICE_NANOS: u64 = 100_000;

struct Parallelism {
    /// At the place where the next slice begins.
    ring: ChaseRing<Arena>,
    steps: u64,
}

impl Parallelism {
    /// Nanoseconds of a slice of `chains` chains. It begins where the one before ended. A single chain with a lap of
    /// its own would find half of it in a cache, left by another chain, and the ratios would come out at half.
    fn slice(&mut self, chains: usize) -> Result<f64, BenchmarkError> {
        let mut walk = self.ring.starts(chains);
        let expected: Vec<_> = walk.iter().map(|at| self.ring.position_after(*at, self.steps)).collect();
        let began = kernels::clock::now();
        self.ring.chase_parallel(&mut walk, self.steps);
        let nanos = kernels::clock::now() - began;
        BenchmarkError::unless_equal(walk.iter().map(|at| Some(*at)).collect(), expected)?;
        self.ring.go_to(walk[0]);
        Ok(nanos.max(1) as f64)
    }

    /// Ratios of 1 to [`CHAINS`] chains.
    fn ratios(&mut self) -> Result<[f64; CHAINS], BenchmarkError> {
        // The shorter of two: one slice that was interrupted for milliseconds made a hundred loads at once of ten.
        let mut nanos = [f64::INFINITY; CHAINS];
        for index in (0..CHAINS).chain((0..CHAINS).rev()) {
            nanos[index] = self.slice(index + 1)?.min(nanos[index]);
        }
        Ok(std::array::from_fn(|index| (index + 1) as f64 * nanos[0] / nanos[index]))
    }

    /// The median of a few ratios of each number of chains.
    fn survey(&mut self) -> Result<[f64; CHAINS], BenchmarkError> {
        let all = (0..SURVEY).map(|_| self.ratios()).collect::<Result<Vec<_>, _>>()?;
        let of = |index| stats::median(&all.iter().map(|ratios| ratios[index]).collect::<Vec<f64>>()).unwrap_or(1.0);
        Ok(std::array::from_fn(of))
    }
}

/// Times that each ratio is read before the first batch.
const SURVEY: usize = 5;
/// Chains between two ratios whose rise is looked at.
const APART: usize = 3;
/// Least exponent of the growth of the ratios if there is no plateau yet: 0.8 at 16 chains if memory serves 17 at once,
/// and 0 on a plateau.
const RISING: f64 = 0.4;

/// Whether ratios have no plateau yet at the last one: the median of the last rises.
fn still_rises(ratios: &[f64]) -> bool {
    let rise = |k: usize| (ratios[k - 1] / ratios[k - 1 - APART]).ln() / (k as f64 / (k - APART) as f64).ln();
    let rises: Vec<f64> = (ratios.len() - APART + 1..=ratios.len()).map(rise).collect();
    stats::median(&rises).is_some_and(|rise| rise > RISING)
}

impl Readings for Parallelism {
    fn read(&mut self) -> Result<Vec<f64>, BenchmarkError> {
        Ok(vec![plateau(&self.ratios()?)])
    }
}

/// Fewest ratios of a plateau.
const FEWEST: usize = 3;

/// Height of the plateau of ratios that first rise as a power of their number and are then constant. The two pieces
/// have the least absolute deviations from the logarithms.
fn plateau(ratios: &[f64]) -> f64 {
    let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    let fit = |first: usize| {
        let height = stats::median(&logs[first..]).unwrap_or_default();
        let slope = if first == 0 { 0.0 } else { rise(&logs[..first]) };
        let rising: f64 = (1..=first).map(|k| (logs[k - 1] - slope * (k as f64).ln()).abs()).sum();
        let flat: f64 = logs[first..].iter().map(|log| (log - height).abs()).sum();
        (rising + flat, height)
    };
    let best = (0..=ratios.len() - FEWEST).map(fit).min_by(|left, right| left.0.total_cmp(&right.0));
    best.map_or(1.0, |(_, height)| height.exp())
}

/// Slope of a line through the first parameters, the ratio 1 of one chain: the median of the slopes to the others.
fn rise(logs: &[f64]) -> f64 {
    let slopes: Vec<f64> = (2..=logs.len()).map(|k| logs[k - 1] / (k as f64).ln()).collect();
    stats::median(&slopes).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(height: f64, noise: impl Fn(usize) -> f64) -> Vec<f64> {
        (1..=16).map(|k| (k as f64 * 0.98).min(height) * if k > 1 { noise(k) } else { 1.0 / 0.98 }).collect()
    }

    #[test]
    fn the_plateau_is_not_its_highest_parameters() {
        for height in [1.0, 4.0, 9.5, 12.0] {
            let noisy = curve(height, |k| if k % 2 == 0 { 1.02 } else { 0.98 });
            assert!((plateau(&noisy) / height - 1.0).abs() < 0.03, "{height}: {}", plateau(&noisy));
            let outlier = curve(height, |k| if k == 14 { 3.0 } else { 1.0 });
            assert!((plateau(&outlier) / height - 1.0).abs() < 0.03, "{height}: {}", plateau(&outlier));
        }
        // If ratios still rise at 16 chains, the plateau is at least the last ratio.
        let endless = curve(100.0, |_| 1.0);
        assert!((12.0..16.0).contains(&plateau(&endless)), "{}", plateau(&endless));
    }

    #[test]
    fn a_plateau_that_is_not_reached_is_told() {
        // Measured with another program: 17 at 24 chains.
        let measured = |k: usize| [10.0, 10.8, 11.5, 12.2, 12.9, 13.6][k - 11];
        let rising = curve(100.0, |k| if k > 10 { measured(k) / (k as f64 * 0.98) } else { 1.0 });
        assert!(still_rises(&rising) && still_rises(&curve(100.0, |_| 1.0)));
        for height in [1.0, 4.0, 9.5, 12.0] {
            assert!(!still_rises(&curve(height, |k| if k % 2 == 0 { 1.02 } else { 0.98 })), "{height}");
            assert!(!still_rises(&curve(height, |k| if k == 14 { 3.0 } else { 1.0 })), "{height}");
        }
    }

    /// In a lap longer than all slices of a reading no chain may begin where another just was: a cache hit of a single
    /// chain is no memory latency.
    #[test]
    fn no_slice_walks_where_one_before_did() {
        let context = BenchmarkContext::new(crate::SampleSetting::within("."));
        let ring = ring(16 * MIB, Pages::Base, ChasePattern::Random, &context).unwrap();
        let (lap, steps) = (ring.lap(), 64);
        let mut walks = Parallelism { ring, steps };
        let mut walked = std::collections::HashSet::new();
        for chains in (1..=CHAINS).chain((1..=CHAINS).rev()) {
            let first = walks.ring.route().step(walks.ring.position()).unwrap();
            for (chain, at) in walks.ring.starts(chains).into_iter().enumerate() {
                let step = walks.ring.route().step(at).unwrap();
                let met = (step..step + steps).filter(|step| !walked.insert(step % lap)).count();
                assert!(chain > 0 || met == 0, "{met} of {steps} loads of {chains} chains from {first}");
            }
            walks.slice(chains).unwrap();
        }
    }
}
