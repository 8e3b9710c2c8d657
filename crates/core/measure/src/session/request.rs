//! The start of a session: a new run, or one to continue.

use model::{
    BenchmarkResult, CHECKPOINTS, Class, Identity, Machine, Metric, Plan, PlanEntry, ResultKey, Run, Topology,
    USUAL_SAMPLES, Unit,
};

use crate::quality::from_runs;
use crate::{Error, document, facts, placement, sizing};

/// Everything that a session needs to begin.
#[derive(Debug, Clone)]
pub struct RunRequest {
    pub(super) run: Run,
    pub(super) allowed: Vec<usize>,
    pub(super) exclusive_before: Option<f64>,
}

impl RunRequest {
    /// A new run of a plan on this machine.
    ///
    /// # Errors
    /// When the plan is empty.
    pub fn new(mut plan: Plan, machine: Machine, identity: Identity, allowed: Vec<usize>) -> Result<Self, Error> {
        if plan.entries.is_empty() {
            return Err(Error::Empty);
        }
        let mut machine = machine;
        let topology = machine.topology.clone().unwrap_or_else(|| Topology::unknown(&allowed));
        placement::resolve(&mut plan, &topology, &allowed, facts::free_memory(&machine));
        machine.facts.extend(facts::of_devices(&plan));
        let mut run = document::begin(plan, machine, identity);
        let suite = &run.plan.suite;
        run.results = run.plan.entries.iter().map(|entry| result(suite, entry)).collect();
        Ok(Self { run, allowed, exclusive_before: None })
    }

    /// A new run whose results were made by what measures them, one for each entry of its plan.
    ///
    /// # Errors
    /// When the plan is empty, or its results are others.
    pub fn of(run: Run, allowed: Vec<usize>) -> Result<Self, Error> {
        if run.plan.entries.is_empty() {
            return Err(Error::Empty);
        }
        let planned = run.plan.entries.iter().map(|entry| (&entry.benchmark, &entry.parameters));
        if !planned.eq(run.results.iter().map(|result| (&result.benchmark, &result.parameters))) {
            return Err(Error::Parameters("the results of the run are not those of its plan".to_owned()));
        }
        Ok(Self { run, allowed, exclusive_before: None })
    }

    /// Continues an interrupted run.
    ///
    /// # Errors
    /// When it is complete, or was measured on another machine.
    pub fn resume(mut run: Run, identity: &Identity, allowed: Vec<usize>) -> Result<Self, Error> {
        if run.session.complete {
            return Err(Error::Complete(run.name().to_owned()));
        }
        if run.session.began_on.fingerprint != identity.fingerprint {
            return Err(Error::Elsewhere {
                id: run.name().to_owned(),
                there: run.session.began_on.host.clone(),
                here: identity.host.clone(),
            });
        }
        if run.session.began_on.boot != identity.boot {
            let note = "resumed after a reboot: samples of two boots stand side by side".to_owned();
            if !run.session.notes.contains(&note) {
                run.session.notes.push(note);
            }
        }
        let other = other_cpus(&run, &allowed).filter(|note| !run.session.notes.contains(note));
        run.session.notes.extend(other);
        run.session.ended = None;
        // Derived results are computed again at the end.
        run.results.truncate(run.plan.entries.len());
        // The time that the first part was given is spent; the user may set another.
        run.plan.time_limit = None;
        Ok(Self { run, allowed, exclusive_before: None })
    }

    /// Names the run.
    #[must_use]
    pub fn labelled(mut self, label: Option<String>) -> Self {
        self.run.label = label.or(self.run.label);
        self
    }

    /// The command line that asked for it.
    #[must_use]
    pub fn asked_by(mut self, command: Vec<String>) -> Self {
        self.run.session.command = command;
        self
    }

    /// Something that a reader of every result should know.
    #[must_use]
    pub fn noting(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        for note in notes {
            if !self.run.session.notes.contains(&note) {
                self.run.session.notes.push(note);
            }
        }
        self
    }

    /// Another measurement in progress on this machine, in its own words.
    #[must_use]
    pub fn with_other(mut self, other: Option<String>) -> Self {
        self.run.session.conditions.beside = other.or(self.run.session.conditions.beside);
        self
    }

    /// Begins no further round after this many seconds in all, resumed parts included; `None` sets no limit.
    #[must_use]
    pub fn limited_to(mut self, seconds: Option<f64>) -> Self {
        // Earlier measuring time counts: a new limit is for the rest.
        self.run.plan.time_limit = seconds.map(|seconds| seconds + self.run.session.seconds);
        self
    }

    /// Ends every result after this many samples: at the last checkpoint up to there, at least the first. `None` leaves
    /// it as planned; with a time limit, the largest number instead of the usual one.
    #[must_use]
    pub fn at_most(mut self, samples: Option<u32>) -> Self {
        let plan = &mut self.run.plan;
        match samples {
            Some(most) => plan.checkpoints = model::checkpoints(most),
            None if plan.time_limit.is_some() && plan.checkpoints == model::checkpoints(USUAL_SAMPLES) => {
                plan.checkpoints = CHECKPOINTS.to_vec();
            }
            None => {}
        }
        self
    }

    /// Sets another half-width at which results have converged; `None` leaves that of the plan.
    #[must_use]
    pub fn targeting(mut self, target: Option<f64>) -> Self {
        if let Some(target) = target {
            self.run.plan.target = target;
            self.run.plan.entries.iter_mut().for_each(|entry| entry.target = target);
        }
        self
    }

    /// Ratios of an exclusive core from earlier runs of this CPU model. With them a run that sees one mode may know
    /// which one it is.
    #[must_use]
    pub fn after<'a>(mut self, earlier: impl Iterator<Item = &'a Run>) -> Self {
        self.exclusive_before = from_runs(&self.run.machine, earlier);
        self
    }

    /// The run in its present state.
    #[must_use]
    pub const fn run(&self) -> &Run {
        &self.run
    }
}

fn result(suite: &str, entry: &PlanEntry) -> BenchmarkResult {
    let key = ResultKey::new(entry.benchmark.clone(), entry.parameters.clone());
    match benchmarks::find(&entry.benchmark) {
        Some(benchmark) => BenchmarkResult {
            stands_for: sizing::stands_for(suite, benchmark, &entry.parameters),
            ..BenchmarkResult::unmeasured(key, benchmark.title, benchmark.metric.model(), benchmark.class)
                .stressing(benchmark.stresses)
        },
        None => BenchmarkResult::unmeasured(
            key,
            &*entry.benchmark,
            Metric::lower(Unit::Seconds, "operation"),
            Class::Compute,
        ),
    }
}

/// The note for a resumed run whose allowed CPUs changed. It has the number of the earlier CPUs, and which of them
/// samples were pinned to.
fn other_cpus(run: &Run, allowed: &[usize]) -> Option<String> {
    let fewer_or_more = run.session.conditions.cpus.is_some_and(|before| before as usize != allowed.len());
    let mut pinned = run.results.iter().flat_map(|result| &result.samples).flat_map(|sample| &sample.placement.asked);
    let gone = pinned.any(|cpu| !allowed.contains(&(*cpu as usize)));
    (fewer_or_more || gone).then(|| {
        let allowed: Vec<String> = allowed.iter().map(usize::to_string).collect();
        format!("resumed on other CPUs ({}): samples before and after stand side by side", allowed.join(", "))
    })
}
