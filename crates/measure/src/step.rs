//! What the harness and a worker say to each other: one step as JSON on the worker's input, replies as JSON lines on its
//! output. The same pipe serves ssh and Slurm with another command in front.

use std::path::PathBuf;

use model::{Launch, Point, ReferenceLengths};
use serde::{Deserialize, Serialize};

/// Why a worker is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Find the number of operations that fills a batch.
    Calibrate,
    /// Measure.
    Measure,
}

/// One figure in a launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Index of the figure in the run.
    pub figure: usize,
    /// Id of the probe.
    pub probe: String,
    /// Where on its axes.
    pub point: Point,
    /// Operations of a batch; 0 while calibrating.
    pub ops: u64,
    /// Batches to time, at most where fewer may be enough.
    pub batches: u32,
    /// Undisturbed batches (of a difference: pairs) that are enough; 0 asks for all batches.
    pub enough: u32,
    /// Fewest batches of warm-up.
    pub warmup: u32,
    /// Variant to run, once chosen.
    pub variant: Option<String>,
    /// A CPU for each party; empty leaves the scheduler free.
    pub cpus: Vec<usize>,
}

/// What a worker must know to read the references beside its batches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReferenceSetting {
    /// Adds of either reference.
    pub lengths: ReferenceLengths,
    /// The unshared core's ratio on each CPU where it is known.
    pub unshared: Vec<(usize, f64)>,
}

impl ReferenceSetting {
    /// The unshared core's ratio on each of these CPUs; `None` where it is not known of all.
    #[must_use]
    pub fn unshared_on(&self, cpus: &[usize]) -> Option<Vec<f64>> {
        let of = |cpu: &usize| self.unshared.iter().find(|(known, _)| known == cpu).map(|(_, ratio)| *ratio);
        cpus.iter().map(of).collect()
    }
}

/// What a worker is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkerStep {
    /// Why.
    pub purpose: Purpose,
    /// Round, from 0.
    pub round: u32,
    /// Seed of this launch.
    pub seed: u64,
    /// Shortest batch, nanoseconds.
    pub batch_nanos: u64,
    /// Directory for the file figures.
    pub directory: PathBuf,
    /// Every CPU that may be used.
    pub allowed: Vec<usize>,
    /// How the references are read beside batches; `None` reads none.
    #[serde(default)]
    pub references: Option<ReferenceSetting>,
    /// Figures that share this launch.
    pub tasks: Vec<Task>,
}

/// What a worker answers, a line each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// A figure is prepared.
    Prepared {
        /// Index of the figure.
        figure: usize,
        /// What one operation counts for.
        amount: f64,
        /// Variant chosen or asked for.
        variant: Option<String>,
        /// What the reader should know.
        notes: Vec<String>,
    },
    /// A figure cannot be measured here.
    Unfit {
        /// Index of the figure.
        figure: usize,
        /// Why.
        reason: String,
    },
    /// A figure went wrong.
    Failed {
        /// Index of the figure.
        figure: usize,
        /// Why.
        reason: String,
    },
    /// Operations that fill a batch.
    Calibrated {
        /// Index of the figure.
        figure: usize,
        /// Operations of a batch.
        ops: u64,
        /// Time that such a batch took, nanoseconds.
        nanos: u64,
    },
    /// What a launch found.
    Launched {
        /// Index of the figure.
        figure: usize,
        /// The launch; `round` and `began` are the harness's to fill.
        launch: Box<Launch>,
    },
    /// What a reader of a figure should know, beside what is noted of it already.
    Noted {
        /// Index of the figure.
        figure: usize,
        /// The note.
        note: String,
    },
    /// No further launch of a figure is worth making; what its launches found stands.
    Abandoned {
        /// Index of the figure.
        figure: usize,
    },
    /// Everything is said.
    Done,
}
