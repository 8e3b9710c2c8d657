//! Simulated samples of equal machines: the altered node is found, and no other.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr, reason = "a test that cannot go on fails")]

use crate::common::{from_values, run, time};
use compare::CompareOptions;
use compare::fleet::{FleetSpread, spread};
use model::{Class, Run};
use rand::Rng;
use stats::simulate::{Noise, generator};

const RESULTS: usize = 30;

/// Nodes whose sessions differ by the floor of each class, one of them slower by a factor in some results.
fn fleet(nodes: usize, outlier: Option<(usize, f64, usize)>, seed: u64) -> (Vec<Run>, Vec<String>) {
    let mut random = generator(seed);
    let names: Vec<String> = (1..=nodes).map(|node| format!("n{node}")).collect();
    let runs = (0..nodes).map(|node| {
        let results = (0..RESULTS).map(|number| {
            // Sessions differ by a uniform shift with the session noise as its standard deviation.
            let floor = Class::Compute.session_noise() * 3f64.sqrt();
            let session = random.random_range(-floor..floor);
            let slow = outlier
                .filter(|(who, _, some)| *who == node && number < *some)
                .map_or(0.0, |(_, factor, _)| f64::ln(factor));
            let centre = 1e-6 * (number + 1) as f64 * f64::exp(session + slow);
            let values: Vec<f64> = Noise::stable(centre)
                .batches(14, 3, &mut random)
                .iter()
                .map(|one| stats::median(one).unwrap())
                .collect();
            from_values(&format!("cpu.test_{number}"), "", time("op"), Class::Compute, &values)
        });
        run(&names[node], &names[node], &format!("session {node}"), results.collect())
    });
    (runs.collect(), names)
}

fn look(runs: &[Run], names: &[String]) -> FleetSpread {
    spread(&runs.iter().collect::<Vec<_>>(), names, &CompareOptions::default()).unwrap()
}

#[test]
fn the_odd_node_is_found_and_named() {
    for seed in 0..10 {
        let (runs, names) = fleet(5, Some((3, 1.4, 6)), seed);
        let found = look(&runs, &names);
        let [outlier] = &found.outliers[..] else { panic!("seed {seed}: {:?}", found.outliers) };
        assert_eq!(outlier.node, "n4");
        assert_ne!(found.typical, "n4");
        eprintln!("seed {seed}: outlier in {} of 6 results that are 40% slower", outlier.results.len());
        let slowed: Vec<String> = (0..6).map(|number| format!("cpu.test_{number}")).collect();
        assert!(outlier.results.len() >= 4 && outlier.results.iter().all(|one| slowed.contains(&one.result.benchmark)));
        assert!(outlier.results.iter().all(|one| one.worse && (1.1..1.9).contains(&(1.0 / one.gain))));
    }
}

#[test]
fn equal_nodes_are_rarely_called_odd() {
    let fleets = 40;
    let wrong = (0..fleets)
        .filter(|seed| {
            let (runs, names) = fleet(5, None, 1000 + seed);
            !look(&runs, &names).outliers.is_empty()
        })
        .count();
    // 5% of the reports may be wrong; 8 of 40 would have a probability of 1 in 2000.
    assert!(wrong < 8, "{wrong} of {fleets} fleets of equal nodes have an outlier one");
}

#[test]
fn of_two_nodes_neither_is_odd_and_one_node_has_no_spread() {
    let (runs, names) = fleet(2, Some((1, 1.5, RESULTS)), 1);
    let found = look(&runs, &names);
    assert!(found.outliers.is_empty() && found.results.iter().all(|result| result.different.len() == 1));
    assert!(found.results.iter().all(|result| result.range > 0.2 && result.values.len() == 2));
    let (runs, names) = fleet(1, None, 1);
    assert!(look(&runs, &names).results.is_empty());
    assert!(spread(&[], &[], &CompareOptions::default()).is_err());
}
