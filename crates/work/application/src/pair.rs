//! Two subjects as one: a run with the results of both, in the same rounds.

use measure::{Host, Reply, SampleError, Stopper, Subject, WorkerStep};
use model::Run;

/// Two subjects whose results are in one run, those of the first before those of the second.
pub struct SubjectPair<'a> {
    first: &'a mut dyn Subject,
    second: &'a mut dyn Subject,
    /// Place of the second subject's first result.
    split: usize,
}

impl<'a> SubjectPair<'a> {
    /// `split` is the place of the second subject's first result in the run.
    #[must_use]
    pub fn new(first: &'a mut dyn Subject, second: &'a mut dyn Subject, split: usize) -> Self {
        Self { first, second, split }
    }
}

impl Host for SubjectPair<'_> {}

impl Subject for SubjectPair<'_> {
    /// A step has the results of one group, and results share samples within their subject.
    fn launch(&mut self, step: &WorkerStep, stopper: &Stopper) -> Result<Vec<Reply>, SampleError> {
        let of_second = step.tasks.first().is_some_and(|task| task.result >= self.split);
        let subject = if of_second { &mut self.second } else { &mut self.first };
        subject.launch(step, stopper)
    }

    fn leader(&self, result: usize) -> Option<usize> {
        if result >= self.split { self.second.leader(result) } else { self.first.leader(result) }
    }

    /// The second one first: it adds no results, and the first one adds its results at the end.
    fn conclude(&mut self, run: &mut Run) {
        self.second.conclude(run);
        self.first.conclude(run);
    }
}
