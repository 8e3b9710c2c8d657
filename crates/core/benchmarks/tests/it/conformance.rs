//! Properties of every benchmark's literal. Its work is checked in `works.rs`.

use std::collections::HashSet;
use std::path::Path;

use benchmarks::{Parties, SUITES, all};
use model::{Parameters, Primitive, Unit};

#[test]
fn every_literal_is_complete_and_every_id_is_unique() {
    let mut ids = HashSet::new();
    for benchmark in all() {
        assert!(ids.insert(benchmark.id), "{} stands twice in the catalogue", benchmark.id);
        let (family, name) = benchmark.id.split_once('.').expect("ids are family.name");
        let snake = |text: &str| text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        assert!(snake(family) && snake(name) && !name.is_empty(), "{}", benchmark.id);
        assert!(
            !benchmark.title.is_empty() && benchmark.about.len() > 30,
            "{} needs a title and says what it does",
            benchmark.id
        );
        assert!(!benchmark.stresses.is_empty(), "{} stresses something", benchmark.id);
        assert!(!benchmark.metric.per.is_empty(), "{}: one of what?", benchmark.id);
        let bytes = benchmark.metric.unit != Unit::BytesPerSecond || benchmark.metric.per.starts_with("bytes ");
        assert!(bytes, "{}: which bytes?", benchmark.id);
        let placed = benchmark.parameters.iter().any(|parameter| parameter.name == "placement");
        assert_eq!(
            placed,
            benchmark.parties == Parties::Placed,
            "{}: parties and placement parameter disagree",
            benchmark.id
        );
        let threads = benchmark.parameters.iter().any(|parameter| parameter.name == "threads");
        assert_eq!(
            threads,
            benchmark.parties == Parties::Threads,
            "{}: parties and threads parameter disagree",
            benchmark.id
        );
        for parameter in benchmark.parameters {
            assert!(!parameter.defaults.is_empty(), "{} has no default {}", benchmark.id, parameter.name);
            assert!(
                parameter.all().iter().all(|value| parameter.accepts(value)),
                "{} {}",
                benchmark.id,
                parameter.name
            );
            assert!(
                parameter.defaults.iter().all(|value| parameter.accepts(value)),
                "{} {}",
                benchmark.id,
                parameter.name
            );
        }
        assert!(!benchmark.default_points().is_empty(), "{} has no default parameters", benchmark.id);
    }
}

#[test]
fn what_reports_and_explanations_ask_of_a_literal_is_there() {
    let catalogue = benchmarks::catalogue();
    let mut ranks = HashSet::new();
    for benchmark in all() {
        for (rank, title, at) in benchmark.key {
            let at: Parameters = at.parse().expect("a key result has a partial parameters");
            assert!(benchmark.complete(&at).is_ok(), "{}: {title} is at {at}", benchmark.id);
            assert!(ranks.insert(rank), "{}: rank {rank} stands twice", benchmark.id);
        }
        let single = benchmark.operation.iter().filter(|operation| !operation.is_mixture());
        let uses = single.flat_map(|operation| operation.uses.iter());
        let other = |(primitive, count): &(Primitive, f64)| *primitive != benchmark.stresses[0] && *count > 0.0;
        assert!(uses.clone().all(other), "{} uses {uses:?}", benchmark.id);
    }
    let measure =
        |primitive: Primitive| catalogue.measure_of(primitive, |_| true).map(|benchmark| benchmark.id.as_str());
    for primitive in Primitive::ALL.iter().copied().filter(|primitive| *primitive != Primitive::NetworkLink) {
        assert!(measure(primitive).is_some(), "nothing measures {primitive}");
    }
    // One of several that stress it, and one that another precedes.
    assert_eq!(measure(Primitive::Exec), Some("os.fork_exec"));
    assert_eq!(measure(Primitive::DramRead), Some("memory.read"));
    let data = |benchmark: &model::BenchmarkDescription| benchmark.stresses.contains(&Primitive::TcpStack);
    assert_eq!(catalogue.measure_of(Primitive::KernelCopy, data).unwrap().id, "ipc.tcp_bandwidth");
    assert!(catalogue.lacks("os.wonder") && !catalogue.lacks("os.exec") && !catalogue.lacks("other.wonder"));
}

#[test]
fn suites_name_only_what_exists() {
    for suite in SUITES {
        for (id, parameters) in suite.named() {
            let benchmark = benchmarks::find(id).unwrap_or_else(|| panic!("suite {} names {id}", suite.name));
            let parameters = parameters.parse().unwrap();
            benchmark.complete(&parameters).unwrap_or_else(|error| panic!("suite {}: {error}", suite.name));
        }
        assert!(!suite.selections().is_empty(), "{} is empty", suite.name);
    }
}

/// A file missing in the `mod.rs` of its family would never be measured, without an error.
#[test]
fn every_file_of_a_family_is_in_its_table() {
    for family in benchmarks::FAMILIES {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(family.name);
        let table = std::fs::read_to_string(folder.join("mod.rs")).unwrap();
        let mut with_benchmark = 0;
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
            if stem == "mod" {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            if text.contains("static BENCHMARK") {
                with_benchmark += 1;
                assert!(table.contains(&format!("&{stem}::BENCHMARK")), "{} is not in its table", path.display());
            }
        }
        assert_eq!(with_benchmark, family.benchmarks.len(), "{}: files and table differ", family.name);
    }
}
