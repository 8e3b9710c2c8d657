//! Reads recorded sessions: raw batches of thirteen probes, one line for each launch.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rand::Rng;
use stats::median;

/// One recorded session.
pub(crate) struct Session {
    pub(crate) name: String,
    /// Launch values by probe in the order of time, nanoseconds an operation. Paired probes are the median of the
    /// differences of neighbouring batches.
    pub(crate) figures: BTreeMap<String, Vec<f64>>,
}

/// Probes with one process on one CPU, or two processes pinned to one CPU.
pub(crate) const PINNED: [&str; 9] =
    ["chase_l2", "chase_mem", "ctxpair", "fault", "loop", "looppair", "null", "pipe_same", "triad"];

/// Pinned CPU and kernel probes, without large memory, a second process, or a paired difference.
pub(crate) const STABLE: [&str; 4] = ["chase_l2", "fault", "loop", "null"];

/// Default standard deviation between sessions for the class of a probe, as a logarithm.
pub(crate) fn class_floor(probe: &str) -> f64 {
    match probe {
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

/// All sessions of the shared directory; `None`, reported as a skip, without it.
pub(crate) fn sessions() -> Vec<Session> {
    let Some(folder) = testing::shared("noise") else { return Vec::new() };
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == "csv"))
        .collect();
    files.sort();
    files
        .iter()
        .map(|file| Session {
            name: file.file_stem().unwrap().to_string_lossy().into_owned(),
            figures: figures(&std::fs::read_to_string(file).unwrap()),
        })
        .collect()
}

fn figures(text: &str) -> BTreeMap<String, Vec<f64>> {
    let mut figures: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split(',').collect();
        let operations: f64 = fields[2].parse().unwrap();
        let batches: Vec<f64> = fields[8..].iter().filter(|f| !f.is_empty()).map(|f| f.parse().unwrap()).collect();
        let values = if fields[1].ends_with("pair") {
            batches.chunks_exact(2).map(|pair| pair[0] - pair[1]).collect()
        } else {
            batches
        };
        figures.entry(fields[1].to_owned()).or_default().push(median(&values).unwrap() / operations);
    }
    figures
}

/// `count` values drawn with replacement: independent launches.
pub(crate) fn resample(values: &[f64], count: usize, rng: &mut impl Rng) -> Vec<f64> {
    (0..count).map(|_| values[rng.random_range(0..values.len())]).collect()
}

/// `count` consecutive values from position `start`, wrapping around: launches as recorded.
pub(crate) fn consecutive(values: &[f64], count: usize, start: usize) -> Vec<f64> {
    (0..count).map(|i| values[(start + i) % values.len()]).collect()
}

/// Logarithms. A paired difference that is negative in a disturbed launch counts as the smallest positive number:
/// nothing is dropped, and rank methods are insensitive to its size.
pub(crate) fn logs(values: &[f64]) -> Vec<f64> {
    values.iter().map(|v| v.max(1e-9).ln()).collect()
}
