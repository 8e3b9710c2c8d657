//! Recorded sessions: the values of all samples of thirteen benchmarks.

use std::collections::BTreeMap;

use rand::Rng;

/// One recorded session.
pub(crate) struct Session {
    pub(crate) name: String,
    /// Sample values by benchmark in the order of time, nanoseconds an operation. Paired benchmarks are the median of
    /// the differences of neighbouring batches.
    pub(crate) results: BTreeMap<String, Vec<f64>>,
}

/// Benchmarks with one process on one CPU, or two processes pinned to one CPU.
pub(crate) const PINNED: [&str; 9] =
    ["chase_l2", "chase_mem", "ctxpair", "fault", "loop", "looppair", "null", "pipe_same", "triad"];

/// Pinned CPU and kernel benchmarks, without large memory, a second process, or a paired difference.
pub(crate) const STABLE: [&str; 4] = ["chase_l2", "fault", "loop", "null"];

/// Default standard deviation between sessions for the class of a benchmark, as a logarithm.
pub(crate) fn class_floor(benchmark: &str) -> f64 {
    match benchmark {
        "triad" => 0.01,
        "pipe_same" | "ctxpair" => 0.02,
        "chase_mem" | "forkexec" => 0.05,
        "fcreate" => 0.30,
        _ => 0.005,
    }
}

impl Session {
    /// Whether both sessions had the same scheduling policy: names of those with real-time priority start with F.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.name.starts_with('F') == other.name.starts_with('F')
    }
}

/// All recorded sessions.
pub(crate) fn sessions() -> Vec<Session> {
    let mut sessions: Vec<Session> = Vec::new();
    for line in testing::recording("samples.txt").lines() {
        let mut fields = line.split(' ');
        let (name, benchmark) = (fields.next().unwrap(), fields.next().unwrap());
        if fields.next() != Some("all") {
            continue;
        }
        if sessions.last().is_none_or(|last| last.name != name) {
            sessions.push(Session { name: name.to_owned(), results: BTreeMap::new() });
        }
        let values = fields.map(|value| value.parse().unwrap()).collect();
        sessions.last_mut().unwrap().results.insert(benchmark.to_owned(), values);
    }
    assert_eq!(sessions.len(), 4);
    sessions
}

/// `count` values drawn with replacement: independent samples.
pub(crate) fn resample(values: &[f64], count: usize, rng: &mut impl Rng) -> Vec<f64> {
    (0..count).map(|_| values[rng.random_range(0..values.len())]).collect()
}

/// `count` consecutive values from position `start`, wrapping around: samples as recorded.
pub(crate) fn consecutive(values: &[f64], count: usize, start: usize) -> Vec<f64> {
    (0..count).map(|i| values[(start + i) % values.len()]).collect()
}

/// Logarithms. A paired difference that is negative in a disturbed sample counts as the smallest positive number:
/// nothing is dropped, and rank methods are insensitive to its size.
pub(crate) fn logs(values: &[f64]) -> Vec<f64> {
    values.iter().map(|v| v.max(1e-9).ln()).collect()
}
