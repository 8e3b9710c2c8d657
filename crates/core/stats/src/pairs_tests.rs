//! Two programs of a second each on a noisy host, run in blocks, alternating, and simultaneously. The table shows how
//! often equal ones are called different, and how often a difference of 2% is found.

use rand::Rng;

use super::{EquivalenceVerdict, Floor, RatioEstimate, compare, compare_pairs, verdict};
use crate::simulate::{generator, standard_normal};

/// Effects of a host on two CPUs, as standard deviations of logarithms.
#[derive(Debug, Clone, Copy)]
struct HostNoise {
    /// To both alike: the clock, memory.
    common: f64,
    /// Noise of each one alone: neighbours.
    own: f64,
    /// Correlation of successive executions.
    persistence: f64,
}

impl HostNoise {
    /// Effects on both CPUs during executions in a row. One in ten is disturbed on one CPU, by 10% on average of `own`
    /// 5%.
    fn draw(&self, executions: usize, rng: &mut impl Rng) -> Vec<[f64; 2]> {
        let fresh = (1.0 - self.persistence * self.persistence).sqrt();
        let mut levels: [f64; 3] = std::array::from_fn(|_| standard_normal(rng));
        let mut row = Vec::with_capacity(executions);
        for _ in 0..executions {
            for level in &mut levels {
                *level = self.persistence * *level + fresh * standard_normal(rng);
            }
            let mut disturbed =
                || if rng.random::<f64>() < 0.1 { -2.0 * self.own * (1.0 - rng.random::<f64>()).ln() } else { 0.0 };
            row.push([1, 2].map(|at| self.common * levels[0] + self.own * levels[at] + disturbed()));
        }
        row
    }
}

/// How two things are compared in the time of 2 n executions after each other.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Procedure {
    /// Alternating in random order within each round; all samples of one are compared with all of the other.
    Turns,
    /// The same, by differences within rounds.
    TurnsByRound,
    /// Simultaneously, two executions a sample, with sides changed; one CPU is 3% slower.
    Duet,
}

fn estimate(procedure: Procedure, noise: HostNoise, planted: f64, samples: usize, rng: &mut impl Rng) -> RatioEstimate {
    let row = noise.draw(2 * samples, rng);
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for two in row.chunks_exact(2) {
        if procedure == Procedure::Duet {
            let turn = |[here, there]: [f64; 2], slower: f64| planted + there - here + slower;
            let [one, other] = [two[0], [two[1][1], two[1][0]]];
            first.push(0.0);
            second.push((turn(one, 0.03) + turn(other, -0.03)) / 2.0);
        } else {
            let at = usize::from(rng.random::<bool>());
            // The scheduler puts an execution on either CPU.
            let mut on = |effects: [f64; 2]| effects[usize::from(rng.random::<bool>())];
            first.push(on(two[at]));
            second.push(planted + on(two[1 - at]));
        }
    }
    let differences: Vec<f64> = first.iter().zip(&second).map(|(first, second)| second - first).collect();
    match procedure {
        Procedure::Turns => compare(&first, &second, Floor::NONE, 0.95).unwrap(),
        Procedure::TurnsByRound | Procedure::Duet => compare_pairs(&differences, 0.95).unwrap(),
    }
}

/// Share of runs that find a difference, and the median half-width of the interval.
fn found(procedure: Procedure, noise: HostNoise, planted: f64, samples: usize) -> (f64, f64) {
    const RUNS: u32 = 400;
    const BAND: f64 = 0.01;
    let mut rng = generator(u64::from(RUNS) + samples as u64);
    let mut widths = Vec::new();
    let mut different = 0;
    for _ in 0..RUNS {
        let estimate = estimate(procedure, noise, planted, samples, &mut rng);
        widths.push(estimate.interval.half_width());
        different += u32::from(verdict(&estimate, estimate.p_value, BAND) == EquivalenceVerdict::Different);
    }
    (f64::from(different) / f64::from(RUNS), crate::median(&widths).unwrap())
}

#[test]
fn side_by_side_finds_two_percent_where_the_noise_is_common_and_calls_equals_different_nowhere() {
    const SAMPLES: usize = 20;
    let noise = |common, own, persistence| HostNoise { common, own, persistence };
    for (name, noise) in [
        ("common", noise(0.05, 0.002, 0.0)),
        ("common, persistent", noise(0.05, 0.002, 0.9)),
        ("own", noise(0.002, 0.03, 0.0)),
        ("own, persistent", noise(0.002, 0.03, 0.9)),
        ("both, persistent", noise(0.05, 0.01, 0.9)),
        ("quiet", noise(0.002, 0.002, 0.0)),
    ] {
        let row = [Procedure::Turns, Procedure::TurnsByRound, Procedure::Duet].map(|procedure| {
            let (alarms, half) = found(procedure, noise, 0.0, SAMPLES);
            let (power, _) = found(procedure, noise, 0.02, SAMPLES);
            println!(
                "TABLE {name}, {procedure:?}: equal called different {alarms:.3}, 2% found {power:.2}, ±{:.2}%",
                half * 100.0
            );
            assert!(alarms <= 0.05, "{name}, {procedure:?}: {alarms} of equal things are called different");
            (power, half)
        });
        let [turns, by_round, duet] = row;
        if name.starts_with("common") {
            assert!(duet.0 >= 0.95 && duet.1 * 5.0 < by_round.1, "{name}: {row:?}");
        }
        assert!(by_round.1 <= 1.15 * turns.1, "{name}: rounds lose nothing that matters: {row:?}");
        assert!(duet.1 <= 1.15 * by_round.1, "{name}: neither does a duet: {row:?}");
    }
}
