//! What holds for every probe, with no line in its own file.

use std::collections::HashSet;
use std::path::Path;

use probes::{Bench, Kernel, Parties, Probe, SUITES, Setting, Trial, Work, all};

fn setting(probe: &Probe, point: &model::Point) -> Setting {
    let allowed = sys::affinity::allowed().unwrap();
    let (first, last) = (allowed[0], *allowed.last().unwrap());
    let cpus = match probe.parties {
        Parties::One => vec![first],
        Parties::SameCpu => vec![first; 2],
        Parties::Placed => match point.get("placement") {
            Some("same_cpu") => vec![first, first],
            Some("cross_cpu") => vec![first, last],
            _ => vec![],
        },
        Parties::Threads => match point.get("threads") {
            Some("all") => allowed.clone(),
            _ => vec![first],
        },
        Parties::Free => vec![],
    };
    let directory = std::env::temp_dir();
    Setting { seed: 7, cpus, allowed, directory, variant: None, calibrating: true }
}

/// Prepares a probe at its smallest point, in a process of its own each: a worker is single-threaded when it forks.
fn prepare(probe: &Probe) -> Option<Trial> {
    let point = probe.smallest_point();
    let setting = setting(probe, &point);
    if let Some(cpu) = setting.cpus.first() {
        sys::affinity::pin(&[*cpu]).unwrap();
    }
    let mut bench = Bench::new(setting);
    match (probe.prepare)(&point, &mut bench) {
        Ok(trial) => Some(trial),
        Err(unfit) => {
            eprintln!("SKIPPED {}: not measurable here: {unfit}", probe.id);
            None
        }
    }
}

fn conform(id: &str, kernel: &mut dyn Kernel, least: u64) {
    let granule = kernel.granule().max(1);
    for asked in [least.max(1), 3 * least.max(1)] {
        let asked = asked.div_ceil(granule) * granule;
        kernel.ready(asked).unwrap_or_else(|fault| panic!("{id}: could not get ready: {fault}"));
        let done = kernel.batch(asked).unwrap_or_else(|fault| panic!("{id}: {fault}"));
        assert!(done.ops > 0, "{id} did nothing");
        kernel.check(&done).unwrap_or_else(|fault| panic!("{id}: its check refuses honest work: {fault}"));
        let forged = Work { token: done.token ^ 1, ..done };
        assert!(kernel.check(&forged).is_err(), "{id}: its check does not notice a forged token");
        let lazy = Work { ops: done.ops + granule, ..done };
        assert!(kernel.check(&lazy).is_err(), "{id}: its check does not notice operations that were never done");
        assert!(kernel.amount() > 0.0 && kernel.amount().is_finite(), "{id}");
    }
}

/// Forking probes need a single-threaded process, and a test harness has threads: every probe is tried in a child that is
/// this same executable, asked for one probe through its environment.
#[test]
fn every_probe_works_at_its_smallest_point_and_its_check_notices_tampering() {
    const ASK: &str = "PRONY_CONFORMANCE_PROBE";
    if std::env::var_os(ASK).is_some() {
        return; // the child does its work in `child`, below
    }
    let executable = std::env::current_exe().unwrap();
    let mut failures = Vec::new();
    for probe in all() {
        let output = std::process::Command::new(&executable)
            .args(["--exact", "child", "--nocapture", "--test-threads=1"])
            .env(ASK, probe.id)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        said.lines().filter(|line| line.starts_with("SKIPPED")).for_each(|line| eprintln!("{line}"));
        if !output.status.success() {
            failures.push(format!("{}: {said}{}", probe.id, String::from_utf8_lossy(&output.stdout)));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn child() {
    let Ok(id) = std::env::var("PRONY_CONFORMANCE_PROBE") else { return };
    let probe = probes::find(&id).unwrap();
    let trial = prepare(probe);
    assert!(
        trial.as_ref().is_none_or(|trial| matches!(trial, Trial::Paired { .. }) == probe.paired),
        "{id}: paired or not?"
    );
    match trial {
        None => {}
        Some(Trial::One(mut kernel)) => conform(probe.id, kernel.as_mut(), probe.batch.least),
        Some(Trial::Paired { mut work, mut overhead }) => {
            conform(probe.id, work.as_mut(), probe.batch.least);
            conform(probe.id, overhead.as_mut(), probe.batch.least);
        }
        Some(Trial::Readings(mut readings)) => {
            let values = readings.read().unwrap();
            assert!(!values.is_empty() && values.iter().all(|value| value.is_finite()), "{id}: {values:?}");
        }
    }
}

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
        let placed = probe.axes.iter().any(|axis| axis.name == "placement");
        assert_eq!(placed, probe.parties == Parties::Placed, "{}: parties and placement axis disagree", probe.id);
        let threads = probe.axes.iter().any(|axis| axis.name == "threads");
        assert_eq!(threads, probe.parties == Parties::Threads, "{}: parties and threads axis disagree", probe.id);
        for axis in probe.axes {
            assert!(!axis.usual.is_empty(), "{} has no usual {}", probe.id, axis.name);
            assert!(axis.all().iter().all(|value| axis.accepts(value)), "{} {}", probe.id, axis.name);
            assert!(axis.usual.iter().all(|value| axis.accepts(value)), "{} {}", probe.id, axis.name);
        }
        assert!(!probe.usual_points().is_empty(), "{} has no usual point", probe.id);
    }
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

/// A file that its family's `mod.rs` does not name would silently never be measured.
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
