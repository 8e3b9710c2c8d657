//! Messages between the harness and a worker: one step as JSON on the input of the worker, replies as JSON lines on its
//! output. The same pipe works over ssh and Slurm with another command in front.

use std::path::PathBuf;
use std::time::Duration;

use model::{Parameters, Sample, SensorLengths};
use serde::{Deserialize, Serialize};

/// Purpose of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Find the number of operations that fills a batch.
    Calibrate,
    /// Measure.
    Measure,
}

/// One result in a sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Index of the result in the run.
    pub result: usize,
    /// Id of the benchmark.
    pub benchmark: String,
    /// Its parameters.
    pub parameters: Parameters,
    /// Operations per batch; 0 while calibrating.
    pub ops: u64,
    /// Batches to time; fewer if enough of them are clean.
    pub batches: u32,
    /// Number of clean batches (of a difference: pairs) that is enough; 0 requests all batches.
    pub enough: u32,
    /// Whether more than the value is measured: single operations, where the benchmark supports it, and null
    /// batches. Not in samples that only tighten an interval.
    #[serde(default)]
    pub full: bool,
    /// Fewest warm-up batches.
    pub warmup: u32,
    /// Variant to run, if chosen.
    pub variant: Option<String>,
    /// A CPU for each party; empty if they are not pinned.
    pub cpus: Vec<usize>,
    /// Bytes of the last-level caches that these reach; 0 where they are unknown.
    #[serde(default)]
    pub cache: u64,
    /// Directory for its files, if it is not that of the sample.
    #[serde(default)]
    pub directory: Option<PathBuf>,
}

/// Parameters with which a worker reads the sensors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SensorSetting {
    /// Adds of either sensor.
    pub lengths: SensorLengths,
    /// Ratio of the exclusive core on each CPU for which it is known.
    pub exclusive: Vec<(usize, f64)>,
}

impl SensorSetting {
    /// Ratio of the exclusive core on each of these CPUs; `None` if it is not known for all.
    #[must_use]
    pub fn exclusive_on(&self, cpus: &[usize]) -> Option<Vec<f64>> {
        let of = |cpu: &usize| self.exclusive.iter().find(|(known, _)| known == cpu).map(|(_, ratio)| *ratio);
        cpus.iter().map(of).collect()
    }
}

/// The task of a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkerStep {
    /// Purpose of the sample.
    pub purpose: Purpose,
    /// Round, from 0.
    pub round: u32,
    /// Seed of this sample.
    pub seed: u64,
    /// Shortest batch, nanoseconds.
    pub batch_nanos: u64,
    /// Directory for the file results.
    pub directory: PathBuf,
    /// All permitted CPUs.
    pub allowed: Vec<usize>,
    /// Parameters of the sensors; `None` to read none.
    #[serde(default)]
    pub sensors: Option<SensorSetting>,
    /// Results that share this sample.
    pub tasks: Vec<Task>,
    /// Time after which the sample counts as hung. Not for the worker, whom it may be that hangs.
    #[serde(skip)]
    pub patience: Duration,
}

/// Replies of a worker, one per line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// A result is prepared.
    Prepared {
        /// Index of the result.
        result: usize,
        /// Count of one operation in the unit of the metric.
        amount: f64,
        /// Variant that was chosen or requested.
        variant: Option<String>,
        /// Notes for the reader.
        notes: Vec<String>,
        /// Whether the notes are of all samples so far, and replace those of earlier ones.
        #[serde(default)]
        of_all: bool,
    },
    /// A result cannot be measured here.
    NotMeasured {
        /// Index of the result.
        result: usize,
        /// Why.
        reason: String,
    },
    /// Measuring a result failed.
    Failed {
        /// Index of the result.
        result: usize,
        /// Why.
        reason: String,
    },
    /// Operations that fill a batch.
    Calibrated {
        /// Index of the result.
        result: usize,
        /// Operations of a batch.
        ops: u64,
        /// Time of such a batch, nanoseconds.
        nanos: u64,
    },
    /// The result of a sample.
    Launched {
        /// Index of the result.
        result: usize,
        /// The sample; the harness fills in `round` and `began`.
        sample: Box<Sample>,
    },
    /// An additional note for the reader of a result.
    Noted {
        /// Index of the result.
        result: usize,
        /// The note.
        note: String,
    },
    /// No further samples of a result are useful; the results of its samples remain.
    Abandoned {
        /// Index of the result.
        result: usize,
    },
    /// The last reply.
    Done,
}
