//! One sample of a metric while settings have certain values.

use std::ffi::OsString;

use measure::{Description, Host, Reply, SampleError, Stopper, Subject, WorkerStep, Workers};
use model::{BenchmarkResult, PlanEntry, Topology};

use crate::keeper::Keeper;
use crate::{Change, Setting, argument};

/// A setting and the value that it has during a sample.
pub type Held<'a> = (&'static Setting, &'a str);

/// Makes samples of one metric.
pub trait Bench: Host {
    /// One sample of the metric as `step` describes it, with these values; what they change is as before afterwards.
    ///
    /// # Errors
    /// When no complete answer came.
    fn sample(&mut self, held: &[Held<'_>], step: WorkerStep, stopper: &Stopper) -> Result<Vec<Reply>, SampleError>;

    /// How the metric is sampled.
    fn description(&self) -> Description;
}

/// Samples by fresh processes of this program.
pub struct FreshProcesses {
    program: OsString,
    metric: PlanEntry,
    machine: Topology,
    allowed: Vec<usize>,
    keeper: Option<Keeper>,
}

impl FreshProcesses {
    /// Samples of `metric` by processes `program under SETTING=VALUE...`. The keeper is needed for settings of the
    /// system and for control groups.
    #[must_use]
    pub fn new(
        program: OsString,
        metric: PlanEntry,
        machine: Topology,
        allowed: Vec<usize>,
        keeper: Option<Keeper>,
    ) -> Self {
        Self { program, metric, machine, allowed, keeper }
    }

    /// The keeper, to end it.
    pub fn keeper(&mut self) -> Option<Keeper> {
        self.keeper.take()
    }

    /// The task with the parameters and the CPUs that these values mean.
    fn place(&self, held: &[Held<'_>], step: &mut WorkerStep) -> Result<(), String> {
        let mut parameters = self.metric.parameters.clone();
        for (setting, value) in held {
            let Change::Parameter(name) = setting.change else { continue };
            // The relation of the CPUs stays as it is if any crossing was found.
            let same = *value == model::ANY_CROSSING
                && parameters.get(name).is_some_and(|found| model::CROSSINGS.contains(&found));
            if !same {
                parameters = parameters.with(name, *value);
            }
        }
        let result = BenchmarkResult { parameters: parameters.clone(), ..self.result() };
        let placed = Description::placed(&result, "", &self.machine, &self.allowed)?;
        for task in &mut step.tasks {
            task.benchmark.clone_from(&self.metric.benchmark);
            task.parameters = parameters.clone();
            task.cpus.clone_from(&placed.cpus);
            if placed.paired {
                task.batches = task.batches.next_multiple_of(2);
            }
        }
        Ok(())
    }

    fn result(&self) -> BenchmarkResult {
        let key = model::ResultKey::new(self.metric.benchmark.clone(), self.metric.parameters.clone());
        let metric = model::Metric::lower(model::Unit::Seconds, "operation");
        BenchmarkResult::unmeasured(key, "", metric, model::Class::Application)
    }

    fn hold(&mut self, held: &[Held<'_>]) -> Result<(), String> {
        for (setting, value) in held.iter().filter(|(setting, _)| matches!(setting.change, Change::Files(_))) {
            let keeper = self.keeper.as_mut().ok_or("nothing keeps what would be changed")?;
            keeper.set(setting, value).map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

impl Host for FreshProcesses {}

impl Bench for FreshProcesses {
    fn sample(
        &mut self,
        held: &[Held<'_>],
        mut step: WorkerStep,
        stopper: &Stopper,
    ) -> Result<Vec<Reply>, SampleError> {
        let result = step.tasks[0].result;
        if let Err(reason) = self.place(held, &mut step).and_then(|()| self.hold(held)) {
            return Ok(vec![Reply::NotMeasured { result, reason }, Reply::Done]);
        }
        let arguments = held.iter().filter(|(setting, _)| is_set_by_process(setting));
        let arguments = arguments.map(|(setting, value)| argument(setting, value));
        let arguments = std::iter::once("under".to_owned()).chain(arguments);
        let launched = Workers::new(self.program.clone(), arguments).launch(&step, stopper);
        if let Some(keeper) = &mut self.keeper {
            keeper.restore();
        }
        launched
    }

    fn description(&self) -> Description {
        let placed = Description::placed(&self.result(), "", &self.machine, &self.allowed).unwrap_or_default();
        // Batches of a row are samples, which are no pairs.
        Description { cpus: Vec::new(), paired: false, ..placed }
    }
}

/// Whether the fresh process sets it itself.
fn is_set_by_process(setting: &Setting) -> bool {
    matches!(setting.change, Change::Process { .. } | Change::Group | Change::Environment(_))
}
