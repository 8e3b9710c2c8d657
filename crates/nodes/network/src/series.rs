//! Results measured by fresh connections, in rounds, with fixed checkpoints.
//!
//! A sample is a fresh connection here: most of the variance of throughput and latency lies between connections, so
//! that no interval is computed from a single one. The rounds are those of every other run.

use std::time::Instant;

use measure::{Host, OutsideCounters, Reply, RunRequest, SampleError, Stopper, Subject, WorkerStep};
use model::{BenchmarkResult, Estimate, EstimateMethod, Outcome, Plan, PlanEntry, ResultKey, Run, Sample};
use stats::order_statistic::{sample_median_interval, sample_median_range};

use crate::{Error, Result};

/// One result and how to measure it.
pub trait SeriesTrial {
    /// The result before any sample.
    fn result(&self) -> BenchmarkResult;

    /// Measures the result over a fresh connection. A sample that may last longer than some seconds ends early when
    /// `stopper` asks.
    ///
    /// # Errors
    /// The error; after several the result fails. [`Error::Stopped`] is none.
    fn launch(&mut self, stopper: &Stopper) -> Result<Sample>;

    /// Notes that only samples can give, such as the window granted by the kernel; over all samples so far.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Failed connections after which a result is given up.
const FAILURES: usize = 3;

/// The trials as an engine that a [`measure::MeasureSession`] samples.
pub struct FlowSeries {
    trials: Vec<Tried>,
    cut_short: CutShort,
}

/// Results that have samples and were given up before they were finished.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CutShort {
    /// Their number.
    pub results: usize,
    /// The last error of the last one.
    pub reason: String,
}

/// A trial and the state of its samples.
struct Tried {
    trial: Box<dyn SeriesTrial>,
    amount: f64,
    launched: bool,
    failures: Vec<String>,
    /// Notes of sessions before the run was resumed.
    earlier: Vec<String>,
}

impl FlowSeries {
    /// The series of trials and its run, with the results and entries added to `plan`.
    ///
    /// # Errors
    /// When there are no trials.
    pub fn begin(trials: Vec<Box<dyn SeriesTrial>>, mut plan: Plan) -> Result<(Self, Run)> {
        // Every batch is one connection.
        let results: Vec<BenchmarkResult> =
            trials.iter().map(|trial| BenchmarkResult { ops: 1, ..trial.result() }).collect();
        let target = plan.target;
        let entry = |result: &BenchmarkResult| PlanEntry {
            benchmark: result.benchmark.clone(),
            parameters: result.parameters.clone(),
            target,
            shares: None,
        };
        plan.entries = results.iter().map(entry).collect();
        let allowed = kernels::affinity::allowed()?;
        let machine = measure::machine(&[]);
        let notes = measure::notes(&machine, &allowed);
        let order = RunRequest::new(plan, machine, measure::identity(), allowed)?.noting(notes);
        let mut run = order.run().clone();
        let tried = |(trial, result): (Box<dyn SeriesTrial>, &BenchmarkResult)| Tried {
            trial,
            amount: result.amount,
            launched: false,
            failures: Vec::new(),
            earlier: Vec::new(),
        };
        let trials = trials.into_iter().zip(&results).map(tried).collect();
        let series = Self { trials, cut_short: CutShort::default() };
        run.results = results;
        Ok((series, run))
    }

    /// The results that could not be measured to their end, if there are any.
    #[must_use]
    pub fn cut_short(&self) -> Option<&CutShort> {
        (self.cut_short.results > 0).then_some(&self.cut_short)
    }

    /// Copies the notes of an earlier session of the same trials, so that its run can be resumed.
    pub fn recall(&mut self, earlier: &Run) {
        for (tried, result) in self.trials.iter_mut().zip(&earlier.results) {
            tried.launched = !result.samples.is_empty();
            let marked = |note: &String| {
                if note.starts_with(EARLIER) { note.clone() } else { format!("{EARLIER}{note}") }
            };
            tried.earlier = result.notes.iter().map(marked).collect();
        }
    }
}

/// Prefix of notes about samples before a run was resumed.
pub const EARLIER: &str = "before it was resumed: ";

impl Host for FlowSeries {
    fn outside(&self, cpus: &[usize]) -> OutsideCounters {
        // The other end of a flow, and nodes of this host, live as long as the run.
        OutsideCounters { busy: None, ..OutsideCounters::now(cpus) }
    }

    fn tick(&self) -> u64 {
        1
    }
}

impl Subject for FlowSeries {
    fn launch(&mut self, step: &WorkerStep, stopper: &Stopper) -> std::result::Result<Vec<Reply>, SampleError> {
        let Some(result) = step.tasks.first().map(|task| task.result) else { return Ok(vec![Reply::Done]) };
        let Some(tried) = self.trials.get_mut(result) else { return Ok(vec![Reply::Done]) };
        let mut replies = tried.launch(result, step.round, stopper).map_err(|StoppedLaunch| SampleError::Stopped)?;
        if replies.iter().any(|reply| matches!(reply, Reply::Abandoned { .. })) {
            self.cut_short.results += 1;
            self.cut_short.reason = tried.failures.last().cloned().unwrap_or_default();
        }
        replies.push(Reply::Done);
        Ok(replies)
    }
}

/// A sample that ended early since the user asked to stop.
struct StoppedLaunch;

impl Tried {
    /// Samples once more. A failed connection does not affect the successful ones.
    fn launch(
        &mut self,
        result: usize,
        round: u32,
        stopper: &Stopper,
    ) -> std::result::Result<Vec<Reply>, StoppedLaunch> {
        let began = Instant::now();
        let mut replies = Vec::new();
        match self.trial.launch(stopper) {
            Ok(mut sample) => {
                sample.round = round;
                sample.wall = began.elapsed().as_secs_f64();
                self.launched = true;
                replies.push(Reply::Launched { result, sample: Box::new(sample) });
            }
            Err(Error::Stopped) => return Err(StoppedLaunch),
            Err(error) => {
                self.failures.push(error.to_string());
                replies.extend(self.end(result, &error));
            }
        }
        // Notes cover all samples so far and replace earlier ones.
        let mut notes = self.earlier.clone();
        notes.extend(self.trial.notes());
        if let (Some(last), true) = (self.failures.last(), self.launched) {
            let failed = match self.failures.len() {
                1 => "1 sample failed".to_owned(),
                count => format!("{count} samples failed, the last one"),
            };
            notes.push(format!("{failed}: {last}"));
        }
        replies.push(Reply::Prepared { result, amount: self.amount, variant: None, notes, of_all: true });
        Ok(replies)
    }

    /// How a result ends with an error; `None` if it is tried again.
    fn end(&self, result: usize, error: &Error) -> Option<Reply> {
        let reason = error.to_string();
        let hopeless = matches!(error, Error::Refused(_) | Error::Usage(_) | Error::Lab(_) | Error::Lacking(_));
        match error {
            // A failed check ends a result with samples too, as it ends that of a benchmark.
            Error::Payload(_) => Some(Reply::Failed { result, reason }),
            _ if !hopeless && self.failures.len() < FAILURES => None,
            _ if self.launched => Some(Reply::Abandoned { result }),
            _ if hopeless => Some(Reply::NotMeasured { result, reason }),
            _ => Some(Reply::Failed { result, reason }),
        }
    }
}

/// A result derived from one value for each sample; `None` if these are too few for an interval.
#[must_use]
pub fn derived(mut result: BenchmarkResult, values: &[f64], method: EstimateMethod) -> Option<BenchmarkResult> {
    let found = sample_median_interval(values, 0.95).or_else(|| sample_median_range(values))?;
    result.flags.clear();
    // A fit can give a negative intercept, but no overhead is negative.
    if found.median < 0.0 {
        result.outcome =
            Outcome::NotMeasured("it is too small to be told: what follows from the others is below 0".to_owned());
        return Some(result);
    }
    result.outcome = Outcome::Measured(Estimate {
        value: found.median,
        low: found.interval.low,
        high: found.interval.high,
        level: found.interval.level,
        samples: values.len() as u32,
        batches: 1,
        method: method.at(found.interval.level),
    });
    measure::end_follower(&mut result, stats::stop::TARGET);
    Some(result)
}

/// A result that is not measured yet.
#[must_use]
pub fn result(
    id: &str,
    parameters: model::Parameters,
    title: &str,
    metric: model::Metric,
    stresses: &[model::Primitive],
) -> BenchmarkResult {
    BenchmarkResult::unmeasured(ResultKey::new(id, parameters), title, metric, model::Class::Network)
        .stressing(stresses)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trial with these results, in their order.
    struct Scripted(Vec<Result<Sample>>);

    impl SeriesTrial for Scripted {
        fn result(&self) -> BenchmarkResult {
            let metric = model::Metric::higher(model::Unit::PerSecond, "events");
            result("network.events", model::Parameters::none(), "events built", metric, &[])
        }

        fn launch(&mut self, _: &Stopper) -> Result<Sample> {
            self.0.remove(0)
        }
    }

    /// The final reply of each sample, if it ends its result.
    fn ends(results: Vec<Result<Sample>>) -> Vec<Option<Reply>> {
        let samples = results.len();
        let trial = Box::new(Scripted(results));
        let mut tried = Tried { trial, amount: 1.0, launched: false, failures: Vec::new(), earlier: Vec::new() };
        let ending =
            |reply: &Reply| matches!(reply, Reply::Failed { .. } | Reply::NotMeasured { .. } | Reply::Abandoned { .. });
        let sample = |_| {
            let Ok(replies) = tried.launch(0, 0, &Stopper::default()) else { unreachable!() };
            replies.into_iter().find(ending)
        };
        (0..samples).map(sample).collect()
    }

    #[test]
    fn wrong_payload_fails_a_result_at_once_and_a_lost_connection_does_not() {
        let wrong = || Err(Error::Payload("a byte".to_owned()));
        let gone = || Err(Error::Gone("it ended".to_owned()));
        let failed = |reason: &str| Some(Reply::Failed { result: 0, reason: reason.to_owned() });
        let payload = "could not trust the payload: a byte";
        assert_eq!(ends(vec![wrong()]), [failed(payload)]);
        assert_eq!(ends(vec![Ok(Sample::default()), wrong()]), [None, failed(payload)]);
        let others = ends(vec![Ok(Sample::default()), gone(), gone(), gone()]);
        assert_eq!(others, [None, None, None, Some(Reply::Abandoned { result: 0 })]);
    }
}
