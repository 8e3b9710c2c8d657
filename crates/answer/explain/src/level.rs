//! The level of memory that a block size measures.
//!
//! The steps of a bandwidth or latency curve are better evidence than the sizes that a machine reports: a block belongs
//! to the last plateau that it is on. Three levels have names, nearest first, and everything after the last step is
//! memory.

use std::collections::HashMap;

use model::{BenchmarkResult, Catalogue, Primitive, Run};

/// A step of at least this factor between neighbouring sizes begins another level.
const STEP: f64 = 1.4;
/// Fewest sizes of a curve.
const CURVE: usize = 6;

/// Sizes and values of the curves of a run, by benchmark and parameters without the size.
pub(crate) struct Levels {
    curves: HashMap<String, Vec<(u64, f64)>>,
    caches: Vec<u64>,
}

impl Levels {
    pub(crate) fn new(run: &Run) -> Self {
        let mut curves: HashMap<String, Vec<(u64, f64)>> = HashMap::new();
        for result in &run.results {
            if let (Some(curve), Ok(size), Some(estimate)) =
                (curve_name(result), result.parameters.bytes("working_set"), result.outcome.estimate())
            {
                curves.entry(curve).or_default().push((size, estimate.value));
            }
        }
        for curve in curves.values_mut() {
            curve.sort_by_key(|(size, _)| *size);
        }
        let size = |name: &str| run.machine.number(name).filter(|bytes| *bytes >= 1.0).map(|bytes| bytes as u64);
        let caches =
            ["cache.l1d.size", "cache.l2.size", "cache.l3.size"].iter().filter_map(|name| size(name)).collect();
        Self { curves, caches }
    }

    /// Whether a result is a set of parameters of a curve over block sizes.
    pub(crate) fn on_curve(&self, result: &BenchmarkResult) -> bool {
        curve_name(result).and_then(|name| self.curves.get(&name)).is_some_and(|curve| curve.len() >= CURVE)
    }

    /// The level that a result of the memory hierarchy measures: by the steps of its curve, else by the cache sizes of
    /// the facts. `None` for other results and without evidence.
    pub(crate) fn primitive(&self, result: &BenchmarkResult) -> Option<Primitive> {
        if !walks_memory(result) {
            return None;
        }
        let size = result.parameters.bytes("working_set").ok()?;
        let (level, levels) = self.by_steps(result, size).or_else(|| self.by_facts(size))?;
        let latency = matches!(result.stresses.first(), Some(Primitive::CacheLatency | Primitive::DramLatency));
        let writes = result.stresses.contains(&Primitive::DramWrite);
        let behind = level + 1 == levels;
        Some(match level {
            _ if behind && latency => Primitive::DramLatency,
            _ if behind && !writes => Primitive::DramRead,
            _ if behind => Primitive::DramWrite,
            0 => Primitive::L1,
            _ if latency => Primitive::CacheLatency,
            1 => Primitive::L2,
            _ => Primitive::L3,
        })
    }

    fn by_steps(&self, result: &BenchmarkResult, size: u64) -> Option<(usize, usize)> {
        let curve = self.curves.get(&curve_name(result)?).filter(|curve| curve.len() >= CURVE)?;
        let steps: Vec<u64> = curve
            .windows(2)
            .filter(|pair| (pair[1].1 / pair[0].1).ln().abs() > STEP.ln())
            .map(|pair| pair[1].0)
            .collect();
        let level = steps.iter().filter(|step| **step <= size).count();
        // A curve without a step stays on its first level, which is then unknown.
        (!steps.is_empty()).then_some((level, steps.len() + 1))
    }

    fn by_facts(&self, size: u64) -> Option<(usize, usize)> {
        let level = self.caches.iter().filter(|cache| **cache < size).count();
        (!self.caches.is_empty()).then_some((level, self.caches.len() + 1))
    }
}

/// Levels of the memory hierarchy.
const HIERARCHY: &[Primitive] = &[
    Primitive::L1,
    Primitive::L2,
    Primitive::L3,
    Primitive::CacheLatency,
    Primitive::DramLatency,
    Primitive::DramRead,
    Primitive::DramWrite,
];

/// Whether a result's size decides which level of memory it measures: its benchmark declares the hierarchy first. A
/// context switch has a working set too, but does not.
fn walks_memory(result: &BenchmarkResult) -> bool {
    let first = || result.stresses.first().is_some_and(|primitive| HIERARCHY.contains(primitive));
    result.parameters.get("working_set").is_some() && first()
}

fn curve_name(result: &BenchmarkResult) -> Option<String> {
    walks_memory(result).then(|| format!("{}:{}", result.benchmark, result.parameters.clone().without("working_set")))
}

/// The primitive that a result measures, among those that it stresses. For a result of the hierarchy it is the level of
/// memory; else the one that the catalogue's benchmark measures if the result stresses it too, else the first. `None`
/// if it stresses none.
pub(crate) fn measures(result: &BenchmarkResult, levels: &Levels, catalogue: &Catalogue) -> Option<Primitive> {
    let own = |primitive: &Primitive| result.stresses.contains(primitive);
    let memory = (result.parameters.get("level") == Some("memory")).then_some(Primitive::DramLatency).filter(own);
    let declared = || catalogue.get(&result.benchmark)?.stresses.first().copied().filter(own);
    levels.primitive(result).or(memory).or_else(declared).or_else(|| result.stresses.first().copied())
}
