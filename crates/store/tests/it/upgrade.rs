//! Documents and databases of every older schema version are readable for ever: `tests/upgrade` keeps one of each.
#![allow(clippy::unwrap_used, reason = "tests, helpers included")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::common::history;
use crate::schema::faults;
use model::{FactValue, Figure, FigureKey, Flag, Outcome, Run, ValueBasis};
use store::{Access, Detail, SqliteStore, Store, load_document};

fn kept(extension: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/upgrade");
    let entries = std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = entries.filter(|path| path.extension().is_some_and(|found| found == extension)).collect();
    paths.sort();
    paths
}

fn named(name: &str) -> Run {
    let path = kept("json").into_iter().find(|path| path.file_name().is_some_and(|found| found == name));
    load_document(&path.unwrap_or_else(|| panic!("{name} is gone"))).unwrap()
}

#[test]
fn every_schema_has_its_document() {
    for schema in 1..=model::SCHEMA {
        assert_eq!(named(&format!("schema-{schema}.json")).schema, schema);
    }
}

#[test]
fn every_kept_document_is_read_and_goes_through_every_store() {
    for path in kept("json") {
        let run = load_document(&path).unwrap();
        let written = store::render_document(&run).unwrap();
        assert_eq!(model::parse_run(&written).unwrap(), run, "{}", path.display());
        assert!(run.figures.iter().all(|figure| !figure.probe.is_empty() && !figure.title.is_empty()));
        let home = tempfile::tempdir().unwrap();
        for place in ["runs.sqlite", "runs/"] {
            let mut store = store::open(&home.path().join(place), Access::Write).unwrap();
            store.put(&run).unwrap();
            assert_eq!(store.get(&run.id, Detail::Whole).unwrap(), run, "{}", path.display());
            assert_eq!(store.summaries().unwrap()[0].figures as usize, run.figures.len());
        }
    }
}

#[test]
fn the_first_document_is_understood() {
    let run = named("schema-1.json");
    let kinds: BTreeSet<_> = run
        .figures
        .iter()
        .map(|figure| match figure.outcome {
            Outcome::Measured(_) => "measured",
            Outcome::Below { .. } => "below",
            Outcome::Modes(_) => "modes",
            Outcome::Unfit(_) => "unfit",
            Outcome::Failed(_) => "failed",
        })
        .collect();
    assert_eq!(kinds.len(), 5, "{kinds:?}");
    let syscall = &run.figures[0];
    assert_eq!((syscall.flags.len(), syscall.has(Flag::Modes), syscall.launches.len()), (8, false, 8));
    assert_eq!(syscall.values(), [1.012e-6, 1.009e-6, 1.02e-6, 1.011e-6], "excluded launches are left out");
    let estimate = syscall.outcome.estimate().unwrap();
    assert_eq!((estimate.value, estimate.low, estimate.high, estimate.level), (1.0115e-6, 1.009e-6, 1.02e-6, 0.9375));
    assert_eq!(syscall.footprint.hardware.as_ref().unwrap().cycles, Some(3_000_000));
    assert_eq!(syscall.footprint.hardware.as_ref().unwrap().cache_misses, None);
    assert_eq!(run.figures[1].key().to_string(), "memory.copy:working_set=64MiB,threads=1");
    assert_eq!(run.plan.seed, u64::MAX);
    assert_eq!(run.machine.text("cpu.governor"), None);
    assert!(matches!(run.machine.fact("cpu.smt").unwrap().value, FactValue::Truth(true)));
    assert_eq!(run.machine.number("memory.total"), Some(8_589_934_592.0));
    let imported = named("schema-1-imported.json");
    assert_eq!(imported.origin.unwrap().attribution.as_deref(), Some("Example Laboratory, 2004"));
    assert!(imported.figures[0].outcome.estimate().is_some_and(|estimate| !estimate.has_spread()));
}

#[test]
fn the_second_document_is_understood() {
    let run = named("schema-2.json");
    let syscall = &run.figures[0];
    assert_eq!((syscall.basis(), syscall.launches.len(), syscall.counted().len()), (&ValueBasis::Cycles, 5, 4));
    let cycles = syscall.cycles().unwrap();
    assert!(cycles.iter().all(|cycles| (cycles / 3001.0 - 1.0).abs() < 0.01), "{cycles:?}");
    assert!(syscall.values().iter().all(|value| (value / 1.0003e-6 - 1.0).abs() < 0.01), "{:?}", syscall.values());
    let read = syscall.launches[0].references.as_ref().unwrap();
    assert_eq!((read.tracks[0].clock.0.len(), read.tracks[0].contention.0[0]), (21, 11_719));
    assert_eq!(run.session.references.as_ref().unwrap().samples.cpu.0, [1; 6]);
    let clock = run.figures.iter().find(|figure| figure.probe == model::CLOCK).unwrap();
    assert!(clock.is_condition() && clock.metric.unit == model::Unit::Hertz);
}

#[test]
fn the_third_document_is_understood() {
    let run = named("schema-3.json");
    let usual = run.session.references.as_ref().unwrap().distances[0];
    assert_eq!((usual.cpus, usual.picos, usual.elsewhere), ([0, 1], 40_300, Some(180_400)));
    let moved = &run.figures[3];
    assert_eq!(moved.launches[0].references.as_ref().unwrap().distances.0, [40_300, 40_100]);
    assert_eq!(moved.counted().len(), 1, "a launch whose CPUs were elsewhere does not count");
    let why = moved.launches[1].invalid.as_ref().unwrap().to_string();
    assert_eq!(why, "the host had moved its CPUs: a cache line took 180 ns between them, 40.3 ns for most of the run");
}

/// What a definition measured before it changed never stands beside what it measures now.
#[test]
fn changed_figures_of_older_documents_pair_with_none_of_today() {
    let changed = [
        ("os.exec", "", "linking=static"),
        ("os.fork_exec", "linking=static", "linking=static,program=hello"),
        ("os.fork_exec", "linking=dynamic", "linking=dynamic,program=true"),
        ("os.fork_shell", "", "linking=static"),
        ("os.page_fault", "kind=file", "kind=file_by_page"),
        ("os.mmap", "size=1MiB", "size=1MiB,laid=by_page"),
        ("memory.memcpy", "working_set=256MiB", "working_set=256MiB,piece=1MiB"),
        ("ipc.rpc_udp_latency", "placement=same_cpu", "placement=same_cpu,messages=direct"),
        ("ipc.rpc_tcp_latency", "placement=same_cpu", "placement=same_cpu,messages=direct"),
        ("file.write", "buffer=1KiB,place=target", "buffer=1KiB,place=target,durability=none"),
        ("file.copy", "buffer=1KiB,place=target", "buffer=1KiB,place=target,durability=none"),
        ("shell.compile", "program=small", "program=small,placement=free"),
        ("shell.script", "concurrent=1", "concurrent=1,placement=free"),
        ("ipc.tcp_bandwidth", "placement=same_cpu", "placement=same_cpu,congestion=system"),
    ];
    let mut old = named("schema-2.json");
    let template = old.figures[0].clone();
    let figure = |(probe, point, _): &(&str, &str, &str)| Figure {
        probe: (*probe).to_owned(),
        point: point.parse().unwrap(),
        ..template.clone()
    };
    old.figures = changed.iter().map(figure).collect();
    let read = model::parse_run(&store::render_document(&old).unwrap()).unwrap();
    for (figure, (probe, _, now)) in read.figures.iter().zip(&changed) {
        assert_eq!((figure.probe.as_str(), &figure.point), (*probe, &now.parse().unwrap()));
    }
    // An index of then still has them under their names of then.
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("runs.sqlite");
    let mut store = SqliteStore::open(&path, Access::Write).unwrap();
    store.put(&old).unwrap();
    for figure in &read.figures {
        let found = history(&store, &figure.key(), &old.machine.fingerprint, 10);
        assert_eq!(found.len(), 1, "{}", figure.key());
    }
    let today = FigureKey::new("os.exec", "linking=dynamic".parse().unwrap());
    assert!(history(&store, &today, &old.machine.fingerprint, 10).is_empty());
}

#[test]
fn documents_conform_to_the_published_schema() {
    let schema =
        std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/run.schema.json")).unwrap();
    let schema: serde_json::Value = serde_json::from_slice(&schema).unwrap();
    for path in kept("json") {
        let kept: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let written: serde_json::Value =
            serde_json::from_str(&store::render_document(&load_document(&path).unwrap()).unwrap()).unwrap();
        for document in [kept, written] {
            let faults = faults(&schema, &document);
            assert!(faults.is_empty(), "{}: {faults:?}", path.display());
        }
    }
    for (what, document) in [("no figures", r#"{"schema":1,"id":"x"}"#), ("no object", "[]")] {
        assert!(!faults(&schema, &serde_json::from_str(document).unwrap()).is_empty(), "{what}");
    }
}

#[test]
fn every_kept_database_is_migrated() {
    let dumps = kept("sql");
    assert!(!dumps.is_empty());
    for dump in dumps {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("runs.sqlite");
        let older = rusqlite::Connection::open(&path).unwrap();
        older.execute_batch(&std::fs::read_to_string(&dump).unwrap()).unwrap();
        older.close().unwrap();
        // Opening an older store for reading migrates it too.
        let mut store = SqliteStore::open(&path, Access::Read).unwrap();
        let summaries = store.summaries().unwrap();
        assert_eq!(summaries.iter().map(|run| run.number).collect::<Vec<_>>(), [1, 3], "{}", dump.display());
        assert_eq!(summaries[0].label.as_deref(), Some("given later"));
        assert!(summaries.iter().all(|run| !run.interrupted), "{}", dump.display());
        let (first, imported) = (named("schema-1.json"), named("schema-1-imported.json"));
        let relabelled = Run { label: Some("given later".to_owned()), ..first.clone() };
        assert_eq!(store.get(&first.id, Detail::Whole).unwrap(), relabelled);
        assert_eq!(store.get(&imported.id, Detail::Whole).unwrap(), imported);
        assert_eq!(store.get(&first.id, Detail::Values).unwrap().figures[0].values(), first.figures[0].values());
        let sessions = history(&store, &first.figures[0].key(), &first.machine.fingerprint, 10);
        assert_eq!(sessions.iter().map(|value| value.number).collect::<Vec<_>>(), [1]);
        assert!(store.put(&imported).is_err(), "a store opened for reading was written to");
        store = SqliteStore::open(&path, Access::Write).unwrap();
        assert_eq!(
            store.put(&Run { id: "new".to_owned(), ..first }).unwrap(),
            4,
            "number 2 was removed and must not be reused"
        );
    }
}
