//! A simulated fleet: bad nodes are found, and healthy ones are not named.

use std::collections::BTreeSet;

use check::{PublicTable, check_fleet};
use model::Run;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::made::{context, healthy, put, slower};

/// Results of which a bad node is slow in one, by a quarter to a factor of two.
const PARTS: [&str; 5] = ["memory.triad", "memory.load_latency", "os.syscall_getppid", "cpu.arithmetic", "file.fsync"];

#[test]
fn bad_nodes_of_a_large_fleet_are_found() {
    let count = testing::trials(150, 1000);
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let mut runs: Vec<Run> = (0..count).map(|_| healthy(&mut random)).collect();
    let mut bad = BTreeSet::new();
    for _ in 0..count / 100 {
        let node = random.random_range(0..count);
        if bad.insert(node) {
            let factor = random.random_range(1.25..2.0);
            let part = *PARTS.choose(&mut random).unwrap();
            // Bandwidth has the limits of its parts as its basis, which are wide.
            slower(&mut runs[node], part, if part == "memory.triad" { 2.0 } else { factor });
        }
    }
    let names: Vec<String> = (0..count).map(|node| node.to_string()).collect();
    let runs: Vec<&Run> = runs.iter().collect();
    let found = check_fleet(&runs, &names, &context(&[], &PublicTable::default()));
    let named: BTreeSet<usize> = found.drain.iter().map(|node| node.parse().unwrap()).collect();
    let right = named.intersection(&bad).count();
    let wrong = named.difference(&bad).count();
    let (bad_ones, healthy) = (bad.len(), count - bad.len());
    println!(
        "| {count} simulated nodes | {right} of {bad_ones} bad ones found | {wrong} of {healthy} healthy ones named |"
    );
    assert!(100 * right >= 95 * bad.len(), "{named:?} of {bad:?}");
    assert!(1000 * wrong <= healthy, "{named:?} of {bad:?}");
}

#[test]
fn what_most_nodes_share_names_none() {
    let mut random = ChaCha8Rng::seed_from_u64(12);
    let mut runs: Vec<Run> = (0..10).map(|_| healthy(&mut random)).collect();
    for run in &mut runs[..8] {
        put(&mut run.machine, "network.eth0.speed=12.5e6");
    }
    slower(&mut runs[9], "file.fsync", 4.0);
    let names: Vec<String> = (0..10).map(|node| format!("n{node}")).collect();
    let runs: Vec<&Run> = runs.iter().collect();
    let found = check_fleet(&runs, &names, &context(&[], &PublicTable::default()));
    assert_eq!(found.drain, ["n9"]);
    assert_eq!((found.shared.len(), found.shared[0].node.as_str()), (1, ""), "{:?}", found.shared);
    assert!(found.is_low() && found.says_anything());
}
