//! Sizes of the levels of the memory hierarchy, as measured.

use std::cell::RefCell;

use model::{CacheKind, Topology};

use super::curve::HierarchyCurve;
use crate::benchmark::Shares;
use crate::prelude::*;

/// All results of the hierarchy share one curve a sample.
pub(super) const SHARES: Shares = Shares { key: "hierarchy", parameters: &[] };
/// A sample measures each level once: its memory is allocated once, and its placement is what differs between samples.
pub(super) const BATCH: BatchRule = BatchRule::single(1);
/// How the levels are found, for the `about` of each result.
macro_rules! found {
    ($result:literal) => {
        concat!(
            $result,
            " A level is a flat stretch of the curve of load latency over working set. A survey before the first sample finds \
             the levels, and the result's variant lists them. Every sample measures latencies and edges anew. Memory is on \
             huge pages if the system has them, to keep address translation out of the curve."
        )
    };
}
pub(super) use found;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "memory.hierarchy",
    title: "cache size",
    about: found!(
        "The size of a cache level as programs see it. It is the working set whose load latency is half-way between this level and \
         the next, on a logarithmic scale. Virtual machines often report caches that they share or do not have."
    ),
    metric: BenchmarkMetric::higher(Unit::Bytes, "level"),
    class: Class::MemoryLatency,
    stresses: &[Primitive::L1, Primitive::L2, Primitive::L3],
    sources: &[DefinitionSource::new(
        "DAISy/HEAT",
        "result 16",
        "lmbench results of the DAISy and HEAT clusters, 1996",
    )],
    parameters: &[Parameter::choice("level", &["1", "2", "3", "4"], &["1", "2", "3"])],
    batch: BATCH,
    shares: Some(SHARES),
    prepare: |at, context| {
        let level = at.count("level")? as usize;
        let curve = curve(context)?;
        let levels = curve.borrow().levels();
        if level >= levels {
            return Err(Unsupported::new(format!("the latency curve shows {} below main memory", count(levels - 1))));
        }
        context.note(reported(level, context.cpu(0)));
        reading(curve, move |curve| curve.size(level - 1))
    },
    ..Benchmark::BLANK
};

fn count(levels: usize) -> String {
    if levels == 1 { "one level".to_owned() } else { format!("{levels} levels") }
}

/// The size of a level as the operating system reports it.
fn reported(level: usize, cpu: Option<usize>) -> String {
    let machine = os::topology::read().unwrap_or_else(|_| Topology::default());
    let mut caches = cpu.into_iter().flat_map(|cpu| machine.caches(cpu)).map(|(cache, _)| cache);
    let data = caches.find(|cache| cache.level as usize == level && cache.kind != CacheKind::Instruction);
    match data.and_then(|cache| cache.bytes) {
        Some(bytes) => format!("OS reports {}", model::spoken_size(bytes)),
        None => "OS reports no size".to_owned(),
    }
}

/// The curve of this sample, prepared now or by an earlier sharer.
pub(super) fn curve(context: &mut BenchmarkContext) -> Result<Rc<RefCell<HierarchyCurve>>, Unsupported> {
    let (known, seed) = (context.variant().map(str::to_owned), context.seed());
    let helpers = context.preparation_helpers();
    let curve =
        context.shared("hierarchy", || Ok(RefCell::new(HierarchyCurve::new(known.as_deref(), seed, &helpers)?)))?;
    context.choose(curve.borrow().variant());
    Ok(curve)
}

/// One number of this sample's curve.
pub(super) fn reading(
    curve: Rc<RefCell<HierarchyCurve>>,
    number: impl Fn(&mut HierarchyCurve) -> Result<f64, BenchmarkError> + 'static,
) -> Result<Trial, Unsupported> {
    Ok(Trial::Readings(Box::new(HierarchyReading { curve, number: Box::new(number) })))
}

type CurveReading = Box<dyn Fn(&mut HierarchyCurve) -> Result<f64, BenchmarkError>>;

struct HierarchyReading {
    curve: Rc<RefCell<HierarchyCurve>>,
    number: CurveReading,
}

impl Readings for HierarchyReading {
    fn read(&mut self) -> Result<Vec<f64>, BenchmarkError> {
        Ok(vec![(self.number)(&mut self.curve.borrow_mut())?])
    }
}
