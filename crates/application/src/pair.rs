//! Two engines as one: a run with the figures of both, in the same rounds.

use std::time::Duration;

use measure::{Engine, EngineError, Reply, Stopper, WorkerStep};
use model::{Figure, Run};

/// Two engines whose figures stand in one run, those of the first before those of the second.
pub struct EnginePair<'a> {
    first: &'a mut dyn Engine,
    second: &'a mut dyn Engine,
    /// Place of the second engine's first figure.
    split: usize,
}

impl<'a> EnginePair<'a> {
    /// `split` is the place of the second engine's first figure in the run.
    #[must_use]
    pub fn new(first: &'a mut dyn Engine, second: &'a mut dyn Engine, split: usize) -> Self {
        Self { first, second, split }
    }
}

impl Engine for EnginePair<'_> {
    /// A step has the figures of one group, and figures share launches within their engine.
    fn launch(&mut self, step: &WorkerStep, patience: Duration, stopper: &Stopper) -> Result<Vec<Reply>, EngineError> {
        let of_second = step.tasks.first().is_some_and(|task| task.figure >= self.split);
        let engine = if of_second { &mut self.second } else { &mut self.first };
        engine.launch(step, patience, stopper)
    }

    /// The scheduler places what both of them run.
    fn place(&self, _: &Figure, _: &model::Topology, _: &[usize]) -> Result<Vec<usize>, String> {
        Ok(Vec::new())
    }

    fn leader(&self, figure: usize) -> Option<usize> {
        if figure >= self.split { self.second.leader(figure) } else { self.first.leader(figure) }
    }

    /// The second one first: it has no figures of its own to add, and the first one adds them behind all.
    fn conclude(&mut self, run: &mut Run) {
        self.second.conclude(run);
        self.first.conclude(run);
    }
}
