//! Possible worlds, drawn from the uncertain values.

use rand::Rng;
use rand::seq::SliceRandom;
use stats::distribution::normal_quantile;
use stats::simulate::generator;

use super::problem::{ChooseProblem, WorldState};

/// Worlds, and the values behind each.
#[derive(Debug, Clone)]
pub(crate) struct Draws {
    pub(crate) values: Vec<Vec<f64>>,
    pub(crate) worlds: Vec<WorldState>,
}

impl Draws {
    /// Draws worlds by Latin hypercube sampling (McKay, Beckman and Conover, Technometrics 21, 1979). Every value takes
    /// each of its equal shares once, so that a thousand worlds are as good as many thousand independent ones.
    pub(crate) fn of(problem: &ChooseProblem) -> Self {
        let mut rng = generator(problem.seed);
        let values = problem.values();
        let count = problem.draws;
        let mut drawn = vec![vec![0.0; values.len()]; count];
        let mut shares = || {
            let mut order: Vec<usize> = (0..count).collect();
            order.shuffle(&mut rng);
            let within = |stratum| (stratum as f64 + rng.random_range(0.001..0.999)) / count as f64;
            order.into_iter().map(within).collect::<Vec<f64>>()
        };
        for (place, (_, value)) in values.iter().enumerate() {
            for (world, share) in drawn.iter_mut().zip(shares()) {
                world[place] = value.at(share);
            }
        }
        if problem.offers.iter().any(|offer| !offer.common_error.is_empty()) {
            for (world, share) in drawn.iter_mut().zip(shares()) {
                problem.err_together(world, normal_quantile(share));
            }
        }
        let worlds = drawn.iter().map(|values| problem.world(values)).collect();
        Self { values: drawn, worlds }
    }

    /// The world whose nodes have the rate that each kind reaches with a confidence, at middle prices. A plan that is
    /// enough there is enough with that confidence, or more: the errors of several kinds cancel in part.
    pub(crate) fn cautious(&self, middle: &WorldState, confidence: f64) -> WorldState {
        let slow = |place: usize| {
            let mut rates: Vec<f64> = self.worlds.iter().map(|world| world.rate[place]).collect();
            rates.sort_by(f64::total_cmp);
            // The number of draws below equals the number that may miss the rate.
            let below = ((1.0 - confidence) * rates.len() as f64 + 1e-9).floor() as usize;
            rates[below.min(rates.len() - 1)]
        };
        WorldState { rate: (0..middle.rate.len()).map(slow).collect(), ..middle.clone() }
    }
}

/// Share of time in which enough nodes are up, in the worlds in which all of them together reach the rate. Failures are
/// Poisson, each lasting as long as a repair. `None` if no world is one.
pub(crate) fn kept_up(problem: &ChooseProblem, plan: &[u32], worlds: &[WorldState]) -> Option<f64> {
    let mut rng = generator(problem.seed ^ 0x5eed);
    let reaches = |world: &WorldState, up: &[u32]| {
        let of_kind = |(i, &count): (usize, &u32)| {
            let offer = &problem.offers[i];
            // The rate includes failures on average already; here they are simulated.
            let average = 1.0 - (offer.failures_per_year * offer.repair_days / 365.25).min(1.0);
            if average > 0.0 { f64::from(count) * world.rate[i] / average } else { 0.0 }
        };
        up.iter().enumerate().map(of_kind).sum::<f64>() >= problem.demand.rate * (1.0 - 1e-9)
    };
    let (mut able, mut enough) = (0_u32, 0_u32);
    for world in worlds.iter().filter(|world| reaches(world, plan)) {
        let left = |(i, &count): (usize, &u32)| {
            let offer = &problem.offers[i];
            let expected = f64::from(count) * offer.failures_per_year * offer.repair_days / 365.25;
            count.saturating_sub(poisson(expected, &mut rng))
        };
        let up: Vec<u32> = plan.iter().enumerate().map(left).collect();
        able += 1;
        enough += u32::from(reaches(world, &up));
    }
    (able > 0).then(|| f64::from(enough) / f64::from(able))
}

/// A Poisson number by products of uniform ones (Knuth, The Art of Computer Programming 2, 3.4.1); a large mean is
/// split.
fn poisson(mut mean: f64, rng: &mut impl Rng) -> u32 {
    let mut count = 0;
    while mean > 0.0 {
        let part = mean.min(30.0);
        mean -= part;
        let (mut product, limit) = (rng.random::<f64>(), (-part).exp());
        while product > limit {
            count += 1;
            product *= rng.random::<f64>();
        }
    }
    count
}
