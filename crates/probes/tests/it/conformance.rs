//! Properties of every probe's literal. Its work is checked in `works.rs`.

use std::collections::HashSet;
use std::path::Path;

use model::{Point, Primitive, Unit};
use probes::{Parties, SUITES, all};

#[test]
fn every_literal_is_complete_and_every_id_is_unique() {
    let mut ids = HashSet::new();
    for probe in all() {
        assert!(ids.insert(probe.id), "{} stands twice in the catalogue", probe.id);
        let (family, name) = probe.id.split_once('.').expect("ids are family.name");
        let snake = |text: &str| text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        assert!(snake(family) && snake(name) && !name.is_empty(), "{}", probe.id);
        assert!(!probe.title.is_empty() && probe.about.len() > 30, "{} needs a title and says what it does", probe.id);
        assert!(!probe.stresses.is_empty(), "{} stresses something", probe.id);
        assert!(!probe.metric.per.is_empty(), "{}: one of what?", probe.id);
        let bytes = probe.metric.unit != Unit::BytesPerSecond || probe.metric.per.starts_with("bytes ");
        assert!(bytes, "{}: which bytes?", probe.id);
        let placed = probe.axes.iter().any(|axis| axis.name == "placement");
        assert_eq!(placed, probe.parties == Parties::Placed, "{}: parties and placement axis disagree", probe.id);
        let threads = probe.axes.iter().any(|axis| axis.name == "threads");
        assert_eq!(threads, probe.parties == Parties::Threads, "{}: parties and threads axis disagree", probe.id);
        for axis in probe.axes {
            assert!(!axis.defaults.is_empty(), "{} has no default {}", probe.id, axis.name);
            assert!(axis.all().iter().all(|value| axis.accepts(value)), "{} {}", probe.id, axis.name);
            assert!(axis.defaults.iter().all(|value| axis.accepts(value)), "{} {}", probe.id, axis.name);
        }
        assert!(!probe.default_points().is_empty(), "{} has no default point", probe.id);
    }
}

#[test]
fn what_reports_and_explanations_ask_of_a_literal_is_there() {
    let catalogue = probes::catalogue();
    let mut ranks = HashSet::new();
    for probe in all() {
        for (rank, title, at) in probe.key {
            let at: Point = at.parse().expect("a key figure has a partial point");
            assert!(probe.complete(&at).is_ok(), "{}: {title} is at {at}", probe.id);
            assert!(ranks.insert(rank), "{}: rank {rank} stands twice", probe.id);
        }
        let single = probe.operation.iter().filter(|operation| !operation.is_mixture());
        let uses = single.flat_map(|operation| operation.uses.iter());
        let other = |(primitive, count): &(Primitive, f64)| *primitive != probe.stresses[0] && *count > 0.0;
        assert!(uses.clone().all(other), "{} uses {uses:?}", probe.id);
    }
    let measure = |primitive: Primitive| catalogue.measure_of(primitive, |_| true).map(|probe| probe.id.as_str());
    for primitive in Primitive::ALL.iter().copied().filter(|primitive| *primitive != Primitive::NetworkLink) {
        assert!(measure(primitive).is_some(), "nothing measures {primitive}");
    }
    // One of several that stress it, and one that another precedes.
    assert_eq!(measure(Primitive::Exec), Some("os.fork_exec"));
    assert_eq!(measure(Primitive::DramRead), Some("memory.read"));
    let data = |probe: &model::ProbeDescription| probe.stresses.contains(&Primitive::TcpStack);
    assert_eq!(catalogue.measure_of(Primitive::KernelCopy, data).unwrap().id, "ipc.tcp_bandwidth");
    assert!(catalogue.lacks("os.wonder") && !catalogue.lacks("os.exec") && !catalogue.lacks("other.wonder"));
}

#[test]
fn suites_name_only_what_exists() {
    for suite in SUITES {
        for (id, point) in suite.named() {
            let probe = probes::find(id).unwrap_or_else(|| panic!("suite {} names {id}", suite.name));
            let point = point.parse().unwrap();
            probe.complete(&point).unwrap_or_else(|error| panic!("suite {}: {error}", suite.name));
        }
        assert!(!suite.selections().is_empty(), "{} is empty", suite.name);
    }
}

/// A file missing in the `mod.rs` of its family would never be measured, without an error.
#[test]
fn every_file_of_a_family_is_in_its_table() {
    for family in probes::FAMILIES {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(family.name);
        let table = std::fs::read_to_string(folder.join("mod.rs")).unwrap();
        let mut with_probe = 0;
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
            if stem == "mod" {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            if text.contains("static PROBE") {
                with_probe += 1;
                assert!(table.contains(&format!("&{stem}::PROBE")), "{} is not in its table", path.display());
            }
        }
        assert_eq!(with_probe, family.probes.len(), "{}: files and table differ", family.name);
    }
}
