//! Healthy machines: nothing is low.

use check::{PublicTable, check};
use model::Run;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::made::{context, healthy};

#[test]
fn nothing_is_low_in_fifty_healthy_documents() {
    let mut random = ChaCha8Rng::seed_from_u64(13);
    let runs: Vec<Run> = (0..50).map(|_| healthy(&mut random)).collect();
    for (at, run) in runs.iter().enumerate() {
        // As a document, and back.
        let run = model::parse_run(&model::render_run(run).unwrap()).unwrap();
        let others: Vec<&Run> = runs.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, run)| run).collect();
        let found = check(&run, &context(&others, &PublicTable::default()));
        assert_eq!(found.low().count(), 0, "{:#?}", found.low().collect::<Vec<_>>());
        assert!(found.says_anything() && found.look.is_empty(), "{:?}", found.look);
    }
}

#[test]
fn the_machine_that_is_alone_and_tells_nothing_has_no_expectation() {
    let mut random = ChaCha8Rng::seed_from_u64(14);
    let mut run = healthy(&mut random);
    run.machine.facts.clear();
    run.results.retain(|result| result.benchmark.starts_with("os."));
    let found = check(&run, &context(&[], &PublicTable::default()));
    assert!(!found.says_anything() && found.low().count() == 0 && found.rows.len() == 3);
}
