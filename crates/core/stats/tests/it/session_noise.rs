//! How far sessions of one machine lie apart, by class: the rules `noise.compute` to `noise.file_data`.
//!
//! Per result and recording it is the variance of the logarithms of the sessions' medians, less the mean variance that
//! their samples explain. The number of a class is the 80% quantile over its results: one result that moved far in one
//! recording does not raise it.

use std::collections::BTreeMap;

use model::Class;
use stats::quantile::{scaled_mad, standard_deviation};
use stats::{median, modes, quantile};

use crate::recordings::own;
use crate::session::{Session, sessions};

/// `default` runs of one program: run, benchmark, point, class, unit, and sample values.
const RUNS: [&str; 2] = [
    include_str!("../../../../answer/compare/tests/data/guest_sessions.txt"),
    include_str!("../../../../answer/compare/tests/data/guest_cycles.txt"),
];

fn class(name: &str) -> Option<Class> {
    let is = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
    Some(match name {
        _ if is(&["null", "loop", "chase_l2", "cpu.", "os.syscall", "os.signal", "os.clock"]) => Class::Compute,
        _ if is(&["fault", "os.page_fault"]) => Class::Fault,
        _ if is(&["triad", "memory.copy", "memory.read", "memory.write"]) => Class::Bandwidth,
        _ if is(&["chase_mem", "memory.load_latency"]) => Class::MemoryLatency,
        _ if is(&["forkexec", "os.fork", "os.exec", "os.thread_create", "shell."]) => Class::Process,
        _ if is(&["fcreate", "file.create", "file.delete", "file.fsync"]) => Class::FileMetadata,
        _ if is(&["file."]) => Class::FileData,
        _ if is(&["pipe_", "tcp_", "ctxpair", "ipc.", "os.context", "os.thread_switch", "os.timer"]) => Class::Ipc,
        _ => return None,
    })
}

/// The samples of a result in each session of a recording.
type Results = BTreeMap<(Class, String), Vec<Vec<f64>>>;

fn of_sessions(sessions: &[&Session]) -> Results {
    let mut results = Results::new();
    for (name, values) in sessions.iter().flat_map(|session| &session.results) {
        let Some(class) = class(name) else { continue };
        results.entry((class, name.clone())).or_default().push(values.clone());
    }
    results
}

fn of_runs(text: &str) -> Results {
    let mut results = Results::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let cells: Vec<&str> = line.split(';').collect();
        let class: Class = serde_json::from_value(cells[3].into()).unwrap();
        let values = cells[cells.len() - 1].split(' ').map(|value| value.parse().unwrap()).collect();
        results.entry((class, cells[1..=2].join(" "))).or_default().push(values);
    }
    results
}

/// How far sessions lie apart beyond what their samples explain: a standard deviation.
fn between(sessions: &[Vec<f64>]) -> Option<f64> {
    let sound = |values: &Vec<f64>| values.iter().all(|value| *value > 0.0);
    // A result in modes has no single value.
    let single = sessions.iter().filter(|values| modes(values).len() == 1).count();
    if sessions.len() < 2 || !sessions.iter().all(sound) || 2 * single <= sessions.len() {
        return None;
    }
    let logs = |values: &Vec<f64>| values.iter().map(|value| value.ln()).collect::<Vec<f64>>();
    let medians: Vec<f64> = sessions.iter().filter_map(|values| median(&logs(values))).collect();
    let inflation = (1.0 + model::RULES.noise.persistence) / (1.0 - model::RULES.noise.persistence);
    let own = |values: &Vec<f64>| {
        let error = std::f64::consts::FRAC_PI_2.sqrt() * scaled_mad(&logs(values)).unwrap_or(0.0);
        error * error * inflation / values.len() as f64
    };
    let explained = sessions.iter().map(own).sum::<f64>() / sessions.len() as f64;
    Some((standard_deviation(&medians)?.powi(2) - explained).max(0.0).sqrt())
}

#[test]
fn four_results_in_five_move_less_than_the_noise_of_their_class() {
    let (own, shared) = (own(), sessions());
    let named = |name: &str| own.iter().chain(&shared).find(|session| session.name == name).unwrap();
    let pairs =
        [["beside_builds_1", "beside_builds_2"], ["clean_guest_1", "clean_guest_2"], ["C1", "NB"], ["F1", "F2"]];
    let recordings = pairs.iter().map(|pair| of_sessions(&pair.map(named))).chain(RUNS.map(of_runs));
    let mut by_class: BTreeMap<Class, Vec<f64>> = BTreeMap::new();
    for ((class, _), sessions) in recordings.flatten() {
        by_class.entry(class).or_default().extend(between(&sessions));
    }
    for (class, found) in &by_class {
        let (middle, most) = (median(found).unwrap(), quantile(found, 0.8).unwrap());
        let rule = class.session_noise();
        println!("TABLE {class:?}: {} results, median {middle:.4}, 80% quantile {most:.4}, rule {rule}", found.len());
        // The recordings of processes are of like loads, which the rule is not for.
        let wide = *class == Class::Process || rule <= 2.0 * most;
        assert!(most <= 1.1 * rule && wide, "{class:?}: {most} is not {rule}");
    }
    assert_eq!(by_class.len(), 8);
}
