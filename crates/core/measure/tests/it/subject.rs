//! A kind of subject that the program does not have, measured in the rounds of every other run.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use measure::{
    EndReason, Host, MeasureSession, NullObserver, Reply, RunRequest, RunResult, SampleError, Saver, Stopper, Subject,
    WorkerStep, begin,
};
use model::{
    BenchmarkResult, Better, Class, Estimate, Flag, Identity, Machine, Metric, Outcome, Parameters, Plan, PlanEntry,
    ResultKey, Run, Sample, Unit,
};

/// Three results: the weight of a coin, its width from the same sample, and one that is never found.
struct Coins {
    samples: u32,
    /// Sample after which a stop is requested.
    stops: Option<u32>,
}

impl Host for Coins {}

impl Subject for Coins {
    fn launch(&mut self, step: &WorkerStep, stopper: &Stopper) -> Result<Vec<Reply>, SampleError> {
        if step.tasks[0].result == 2 {
            return Ok(vec![Reply::Abandoned { result: 2 }, Reply::Done]);
        }
        assert_eq!(step.tasks.iter().map(|task| task.result).collect::<Vec<_>>(), [0, 1], "they share their sample");
        self.samples += 1;
        if self.stops == Some(self.samples) {
            stopper.stop();
        }
        let found = |result, value| {
            let sample =
                Sample { round: step.round, wall: 1.0, value, nanos: vec![1_000_000_000], ..Sample::default() };
            Reply::Launched { result, sample: Box::new(sample) }
        };
        // The weight is the same each time, and the width is noise.
        let width = 1.0 + f64::from(self.samples * 7 % 10);
        let note = Reply::Noted { result: 0, note: "weighed".to_owned() };
        Ok(vec![found(0, 5.0), found(1, width), note, Reply::Done])
    }

    fn leader(&self, result: usize) -> Option<usize> {
        (result == 1).then_some(0)
    }

    fn conclude(&mut self, run: &mut Run) {
        let mut derived = result("coin.density");
        derived.outcome = Outcome::Measured(Estimate::without_spread(1.0));
        run.results.push(derived);
    }
}

struct Unsaved;

impl Saver for Unsaved {
    fn save(&mut self, run: &Run) -> Result<(), String> {
        assert!(run.results.len() == 3, "what follows from the results is added in the end");
        Ok(())
    }
}

fn result(benchmark: &str) -> BenchmarkResult {
    let metric = Metric { unit: Unit::Seconds, per: "coin".into(), better: Better::Lower };
    BenchmarkResult {
        ops: 1,
        ..BenchmarkResult::unmeasured(
            ResultKey::new(benchmark, Parameters::none()),
            benchmark,
            metric,
            Class::Application,
        )
    }
}

fn run() -> Run {
    let results: Vec<BenchmarkResult> = ["coin.weight", "coin.width", "coin.colour"].map(result).to_vec();
    let entry = |result: &BenchmarkResult| PlanEntry {
        benchmark: result.benchmark.clone(),
        parameters: result.parameters.clone(),
        target: 0.02,
        shares: (result.benchmark != "coin.colour").then(|| "coin".to_owned()),
    };
    let plan = Plan { entries: results.iter().map(entry).collect(), ..Plan::default() };
    Run { results, ..begin(plan, Machine::default(), Identity::default()) }
}

fn measured(order: RunRequest, stops: Option<u32>) -> RunResult {
    let mut coins = Coins { samples: 0, stops };
    MeasureSession::measure(order, &mut coins, &mut NullObserver, &mut Unsaved, Stopper::default()).unwrap()
}

#[test]
fn a_follower_ends_with_its_leader_and_keeps_its_interval() {
    let ended = measured(RunRequest::of(run(), vec![0]).unwrap(), None);
    assert_eq!(ended.ending, EndReason::Complete);
    let [weight, width, colour, density] = ended.run.results.as_slice() else { unreachable!() };
    assert!(
        !weight.has(Flag::CannotConverge) && weight.samples.len() < 40,
        "the weight is finished at an early checkpoint"
    );
    assert_eq!(weight.samples.len(), width.samples.len());
    assert!(width.outcome.estimate().unwrap().relative_half_width() > 0.1);
    assert!(!width.has(Flag::Unfinished) && !width.has(Flag::CannotConverge), "{:?}", width.flags);
    assert_eq!(weight.notes, ["weighed"]);
    assert!(colour.samples.is_empty() && colour.has(Flag::Unfinished));
    assert_eq!(density.benchmark, "coin.density");
}

#[test]
fn a_stopped_subject_resumes_and_derived_results_are_recomputed() {
    let stopped = measured(RunRequest::of(run(), vec![0]).unwrap(), Some(4));
    assert_eq!((stopped.ending, stopped.run.results.len()), (EndReason::Stopped, 4));
    let here = stopped.run.session.began_on.clone();
    let ended = measured(RunRequest::resume(stopped.run, &here, vec![0]).unwrap(), None);
    assert_eq!((ended.ending, ended.run.results.len()), (EndReason::Complete, 4));
    assert!(ended.run.results[1].samples.len() >= 10);
}

#[test]
fn results_that_are_not_those_of_the_plan_are_refused() {
    let mut other = run();
    other.results.pop();
    assert!(RunRequest::of(other, vec![0]).is_err());
}
