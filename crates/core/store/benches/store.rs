//! Speed of the stores on 1,000 runs x 80 results: `cargo bench -p prony-store`. Prints the median of several goes.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark prints, and ends when it cannot go on")]

#[path = "../tests/it/common/mod.rs"]
mod common;

use std::path::Path;
use std::time::{Duration, Instant};

use common::{Shape, TYPICAL, run};
use model::Run;
use store::{Access, Detail, Selector, Store};

const RUNS: u32 = 1000;

fn main() {
    let home = tempfile::tempdir().unwrap();
    let one = run("machine0", 0, TYPICAL);
    let text = model::render_run(&one).unwrap();
    println!(
        "one document: {} KiB of JSON, {} results, {} batches",
        text.len() >> 10,
        one.results.len(),
        batches(&one)
    );
    row("document: parse", 50, || drop(model::parse_run(&text).unwrap()));
    row("document: render and check", 50, || drop(store::render_document(&one).unwrap()));
    let file = home.path().join("one.json");
    row("document: save to a file (fsync)", 20, || store::save_document(&file, &one).unwrap());
    row("document: load from a file", 50, || drop(store::load_document(&file).unwrap()));

    let path = home.path().join("runs.sqlite");
    fill(&path);
    let size = std::fs::metadata(&path).unwrap().len();
    println!("SQLite file of {RUNS} runs x {} results: {:.1} MB", TYPICAL.results, size as f64 / 1e6);
    row("open to read", 50, || drop(store::open(&path, Access::Read).unwrap()));
    let mut store = store::open(&path, Access::Write).unwrap();
    reads(&*store);
    imports(&home.path().join("imported.sqlite"));
    row("save a round of a run (put, fsync)", 20, || assert!(store.put(&one).unwrap() > 0));
    row("label a run", 20, || store.set_label(&one.id, Some("bench")).unwrap());
    row("remove a run", 1, || store.remove(&[&one.id]).unwrap());
}

fn reads(store: &dyn Store) {
    let ids: Vec<_> = store.summaries().unwrap().into_iter().map(|run| run.id).collect();
    let mut next = (0..ids.len()).cycle().step_by(7).map(|index| ids[index].as_str());
    row("list 1,000 runs", 20, || drop(store.summaries().unwrap()));
    row("resolve a selector", 20, || assert!(Selector::new(store).unwrap().resolve("latest").is_ok()));
    row("load one run whole", 50, || drop(store.get(next.next().unwrap(), Detail::Whole).unwrap()));
    row("load one run's sample values", 50, || drop(store.get(next.next().unwrap(), Detail::Values).unwrap()));
    row("load 100 runs whole", 3, || {
        (0..100).for_each(|_| drop(store.get(next.next().unwrap(), Detail::Whole).unwrap()));
    });
    row("load 100 runs' sample values", 5, || {
        (0..100).for_each(|_| drop(store.get(next.next().unwrap(), Detail::Values).unwrap()));
    });
    let keys: Vec<_> =
        store.get(&ids[0], Detail::Values).unwrap().results.iter().map(model::BenchmarkResult::key).collect();
    for limit in [20, 100, 1000] {
        row(&format!("history of 80 results, {limit} sessions at most"), 10, || {
            drop(store.histories(&keys, "machine0-fingerprint", limit).unwrap());
        });
    }
    row("a comparison: two selectors, two runs' values, 80 histories of 20", 10, || {
        let selector = Selector::new(store).unwrap();
        for text in ["latest", "latest-1"] {
            drop(store.get(&selector.resolve(text).unwrap().id, Detail::Values).unwrap());
        }
        drop(store.histories(&keys, "machine0-fingerprint", 20).unwrap());
    });
}

fn fill(path: &Path) {
    let mut store = store::open(path, Access::Write).unwrap();
    let mut spent = Duration::ZERO;
    for begin in (0..RUNS).step_by(50) {
        // Half of the runs are of one machine, so that its history is long.
        let runs: Vec<_> =
            (begin..begin + 50).map(|n| run(&format!("machine{}", (n % 2) * (n % 7)), n, TYPICAL)).collect();
        let started = Instant::now();
        store.put_all(&runs).unwrap();
        spent += started.elapsed();
    }
    println!("{:<70} {:>9.3} ms a run", "import 1,000 runs, 50 at once", spent.as_secs_f64() * 1e3 / f64::from(RUNS));
}

/// Typical imports: a few results a run, without samples.
fn imports(path: &Path) {
    let shape = Shape { results: 20, samples: 1, batches: 1 };
    let runs: Vec<_> = (0..500).map(|number| run("machine", number, shape)).collect();
    let mut store = store::open(path, Access::Write).unwrap();
    row("import 500 runs of 20 results, 100 at once", 1, || {
        runs.chunks(100).for_each(|runs| assert_eq!(store.put_all(runs).unwrap().len(), runs.len()));
    });
    let mut next = (500..).map(|number| run("machine", number, shape));
    row("import a run of 20 results by itself (fsync)", 50, || assert!(store.put(&next.next().unwrap()).unwrap() > 0));
}

fn row(what: &str, times: usize, mut work: impl FnMut()) {
    let mut spent: Vec<_> = (0..times)
        .map(|_| {
            let started = Instant::now();
            work();
            started.elapsed()
        })
        .collect();
    spent.sort_unstable();
    println!("{what:<70} {:>9.3} ms", spent[times / 2].as_secs_f64() * 1e3);
}

fn batches(run: &Run) -> usize {
    run.results.iter().flat_map(|result| &result.samples).map(|sample| sample.nanos.len()).sum()
}
