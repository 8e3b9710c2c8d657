//! Possible worlds, drawn from the uncertain values.

use rand::Rng;
use rand::seq::SliceRandom;
use stats::simulate::generator;

use super::problem::{ChooseProblem, WorldState};

/// Worlds, and the values behind each.
#[derive(Debug, Clone)]
pub(crate) struct Draws {
    pub(crate) values: Vec<Vec<f64>>,
    pub(crate) worlds: Vec<WorldState>,
}

impl Draws {
    /// Draws worlds by Latin hypercube sampling (McKay, Beckman and Conover, Technometrics 21, 1979): every value takes
    /// each of its equal shares once, so that a thousand worlds are as good as many thousand independent ones.
    pub(crate) fn of(problem: &ChooseProblem) -> Self {
        let mut rng = generator(problem.seed);
        let values = problem.values();
        let count = problem.draws;
        let mut drawn = vec![vec![0.0; values.len()]; count];
        for (place, (_, value)) in values.iter().enumerate() {
            let mut order: Vec<usize> = (0..count).collect();
            order.shuffle(&mut rng);
            for (world, stratum) in drawn.iter_mut().zip(order) {
                let within: f64 = rng.random_range(0.001..0.999);
                world[place] = value.at((stratum as f64 + within) / count as f64);
            }
        }
        let worlds = drawn.iter().map(|values| problem.world(values)).collect();
        Self { values: drawn, worlds }
    }
}

/// Share of time in which enough nodes are up: failures are Poisson, each lasting as long as a repair.
pub(crate) fn kept_up(problem: &ChooseProblem, plan: &[u32], worlds: &[WorldState]) -> f64 {
    let mut rng = generator(problem.seed ^ 0x5eed);
    let enough = worlds.iter().filter(|world| {
        let rate: f64 = plan
            .iter()
            .enumerate()
            .map(|(i, &count)| {
                let offer = &problem.offers[i];
                let expected = f64::from(count) * offer.failures_per_year * offer.repair_days / 365.25;
                let up = f64::from(count.saturating_sub(poisson(expected, &mut rng)));
                // The rate includes failures on average already; here they are simulated.
                let average = 1.0 - (offer.failures_per_year * offer.repair_days / 365.25).min(1.0);
                if average > 0.0 { up * world.rate[i] / average } else { 0.0 }
            })
            .sum();
        rate >= problem.demand.rate * (1.0 - 1e-9)
    });
    enough.count() as f64 / worlds.len() as f64
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
