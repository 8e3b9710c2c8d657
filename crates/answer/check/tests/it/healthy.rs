//! Healthy machines: nothing is low.

use check::{CheckContext, PublicTable, check};
use model::Run;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::made::{context, healthy};

/// Real documents of guests: half of them were measured alone on their machine, half beside other work.
#[test]
fn nothing_is_low_in_fifty_stored_documents() {
    let documents = testing::recording("checks.jsonl");
    let runs: Vec<Run> = documents.lines().map(|line| model::parse_run(line).unwrap()).collect();
    let table = PublicTable::default();
    let (mut values, mut busy) = (0, 0);
    for (at, run) in runs.iter().enumerate() {
        let others: Vec<&Run> = runs.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, run)| run).collect();
        let as_machines = context(&others, &table);
        // As machines of one model, and as earlier runs of one machine.
        for context in [as_machines, CheckContext { past: &others, elsewhere: &[], ..as_machines }] {
            let found = check(run, &context);
            assert_eq!(found.low().count(), 0, "{:#?}", found.low().collect::<Vec<_>>());
            values += found.rows.iter().filter(|row| row.p.is_some()).count();
            busy += found.rows.iter().filter(|row| row.verdict == check::CheckVerdict::Busy).count();
        }
    }
    println!("| {} stored documents | {values} values | 0 LOW, {busy} busy |", runs.len());
    assert!(runs.len() == 50 && values > 500, "{} documents, {values} values", runs.len());
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
