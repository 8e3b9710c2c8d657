//! What one core copies from memory to memory: the first step from memory to the network.

use std::cell::Cell;
use std::rc::Rc;

use measure::Stopper;
use model::{BenchmarkResult, Footprint, Metric, Parameters, Placement, Primitive, Sample, Unit};

use crate::Result;
use crate::data::start;
use crate::series::{SeriesTrial, result};

/// Bytes a second that one core copies, once measured.
pub type CopyRate = Rc<Cell<Option<f64>>>;

/// Bytes of each array, far above the caches that one core has for itself.
const ARRAY: usize = 32 << 20;
/// Blocks of a sample, as a connection has them.
const BLOCKS: usize = 8;

/// Copies from memory to memory as a result.
pub struct CopyTrial {
    cpu: Option<usize>,
    arrays: [Vec<u64>; 2],
    rate: CopyRate,
}

impl CopyTrial {
    /// Copies on this CPU; the rate becomes known to those that hold `rate`.
    #[must_use]
    pub fn new(cpu: Option<usize>, rate: CopyRate) -> Self {
        Self { cpu, arrays: [1, 2].map(|word| vec![word; ARRAY / 8]), rate }
    }
}

impl SeriesTrial for CopyTrial {
    fn result(&self) -> BenchmarkResult {
        let metric = Metric::higher(Unit::BytesPerSecond, "bytes");
        let stressed = [Primitive::DramRead, Primitive::DramWrite];
        let mut result =
            result("network.memory_copy", Parameters::none(), "memory copy by one core", metric, &stressed);
        result.ops = 1;
        result
    }

    fn launch(&mut self, _: &Stopper) -> Result<Sample> {
        let [to, from] = &mut self.arrays;
        let nanos: Vec<u64> = std::thread::scope(|scope| {
            let copies = move || {
                let each = |_| {
                    let began = kernels::clock::now();
                    kernels::copy::memcpy_library(to, from, 1);
                    kernels::clock::now() - began
                };
                (0..BLOCKS).map(each).collect()
            };
            let thread = start(scope, self.cpu, copies)?;
            thread.join().map_err(|_| crate::Error::Gone("a thread ended".to_owned()))
        })?;
        let rates: Vec<f64> = nanos.iter().map(|nanos| ARRAY as f64 / (*nanos).max(1) as f64 * 1e9).collect();
        let value = stats::median(&rates).unwrap_or(0.0);
        self.rate.set(Some(self.rate.get().map_or(value, |known| known.max(value))));
        Ok(Sample {
            value,
            ops: vec![ARRAY as u64; BLOCKS],
            footprint: Footprint { operations: (ARRAY * BLOCKS) as u64, ..Footprint::default() },
            nanos,
            steady: true,
            placement: Placement { asked: self.cpu.map(|cpu| cpu as u32).into_iter().collect(), seen: Vec::new() },
            ..Sample::default()
        })
    }
}
