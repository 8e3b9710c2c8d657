//! Figures measured by fresh connections, in rounds, with fixed looks.
//!
//! A launch is here a fresh connection: most of the variance of throughput and latency lies between connections, so that
//! no interval is made from one. The rounds are those of every other run.

use std::time::{Duration, Instant};

use measure::{
    EndReason, Engine, EngineError, MeasureSession, Observer, Reply, RunRequest, RunResult, Saver, Stopper, WorkerStep,
};
use model::{Estimate, EstimateMethod, Figure, FigureKey, Launch, Outcome, Plan, PlanEntry, Run};
use stats::order_statistic::{launch_median_interval, launch_median_range};

use crate::{Error, Result};

/// One figure and the means to measure it once more.
pub trait SeriesTrial {
    /// The figure as it stands before any launch.
    fn figure(&self) -> Figure;

    /// Measures it over a fresh connection.
    ///
    /// # Errors
    /// What went wrong; the figure is then given up.
    fn launch(&mut self) -> Result<Launch>;

    /// What only launches could tell, such as the window that the kernel gave: of all launches so far.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// How to measure a series.
#[derive(Debug, Clone)]
pub struct SeriesRules {
    /// Name of what is measured, kept as the plan's suite.
    pub name: String,
    /// Half-width of the interval that ends a figure, relative.
    pub target: f64,
    /// Most launches of a figure; the looks are those of every run.
    pub most: u32,
    /// Seconds after which no further round begins.
    pub time_limit: Option<f64>,
    /// Seed of the order within rounds.
    pub seed: u64,
    /// Name of the run.
    pub label: Option<String>,
    /// Command line.
    pub command: Vec<String>,
}

/// Failed connections after which a figure is given up.
const FAILURES: usize = 3;

/// Trials that are measured: what a [`Session`] launches.
struct FlowSeries {
    trials: Vec<Tried>,
}

/// A trial, and what became of its launches.
struct Tried {
    trial: Box<dyn SeriesTrial>,
    amount: f64,
    launched: bool,
    failures: Vec<String>,
}

/// Measures a series to its end and keeps it after every round.
///
/// # Errors
/// When nothing was asked for, or the run cannot be kept.
pub fn measure(
    trials: Vec<Box<dyn SeriesTrial>>,
    rules: &SeriesRules,
    saver: &mut dyn Saver,
    listener: &mut dyn Observer,
    stopper: &Stopper,
) -> Result<Run> {
    let run = begin(&trials, rules)?;
    let tried = |(trial, figure): (Box<dyn SeriesTrial>, &Figure)| Tried {
        trial,
        amount: figure.amount,
        launched: false,
        failures: Vec::new(),
    };
    let mut series = FlowSeries { trials: trials.into_iter().zip(&run.figures).map(tried).collect() };
    let order = RunRequest::of(run, sys::affinity::allowed()?)?;
    let RunResult { run, ending } = MeasureSession::measure(order, &mut series, listener, saver, stopper.clone())?;
    let kept = match ending {
        EndReason::NotSaved(reason) => Err(reason),
        _ => saver.save(&run),
    };
    let lost = |reason| Error::Io { what: "keep the run".to_owned(), source: std::io::Error::other(reason) };
    kept.map_err(lost)?;
    Ok(run)
}

fn begin(trials: &[Box<dyn SeriesTrial>], rules: &SeriesRules) -> Result<Run> {
    // Every batch is one connection.
    let figures: Vec<Figure> = trials.iter().map(|trial| Figure { ops: 1, ..trial.figure() }).collect();
    let entry = |figure: &Figure| PlanEntry {
        probe: figure.probe.clone(),
        point: figure.point.clone(),
        target: rules.target,
        shares: None,
    };
    let mut plan = Plan {
        suite: rules.name.clone(),
        seed: rules.seed,
        target: rules.target,
        time_limit: rules.time_limit,
        entries: figures.iter().map(entry).collect(),
        ..Plan::default()
    };
    plan.looks.retain(|look| *look <= rules.most.max(10));
    let allowed = sys::affinity::allowed()?;
    let machine = measure::machine(&[]);
    let notes = measure::notes(&machine, &allowed);
    let order = RunRequest::new(plan, machine, measure::identity(), allowed)?
        .labelled(rules.label.clone())
        .asked_by(rules.command.clone())
        .noting(notes);
    let mut run = order.run().clone();
    run.figures = figures;
    Ok(run)
}

impl Engine for FlowSeries {
    fn launch(&mut self, step: &WorkerStep, _: Duration, _: &Stopper) -> std::result::Result<Vec<Reply>, EngineError> {
        let Some(figure) = step.tasks.first().map(|task| task.figure) else { return Ok(vec![Reply::Done]) };
        let mut replies = self.trials.get_mut(figure).map(|tried| tried.launch(figure, step.round)).unwrap_or_default();
        replies.push(Reply::Done);
        Ok(replies)
    }

    /// A path has the CPUs of its own that its trial pins.
    fn place(&self, _: &Figure, _: &[usize]) -> std::result::Result<Vec<usize>, String> {
        Ok(Vec::new())
    }

    fn tick(&self) -> u64 {
        1
    }
}

impl Tried {
    /// Launches once more. A connection that fails takes nothing away from those that did not.
    fn launch(&mut self, figure: usize, round: u32) -> Vec<Reply> {
        let began = Instant::now();
        let mut replies = Vec::new();
        match self.trial.launch() {
            Ok(mut launch) => {
                launch.round = round;
                launch.wall = began.elapsed().as_secs_f64();
                self.launched = true;
                replies.push(Reply::Launched { figure, launch: Box::new(launch) });
            }
            Err(error) => {
                let hopeless = matches!(error, Error::Refused(_) | Error::Usage(_) | Error::Lab(_));
                let reason = error.to_string();
                self.failures.push(reason.clone());
                if hopeless || self.failures.len() >= FAILURES {
                    replies.push(match (self.launched, hopeless) {
                        (true, _) => Reply::Abandoned { figure },
                        (false, true) => Reply::Unfit { figure, reason },
                        (false, false) => Reply::Failed { figure, reason },
                    });
                }
            }
        }
        // They speak of all launches so far, and replace what was said of fewer.
        let mut notes = self.trial.notes();
        if let (Some(last), true) = (self.failures.last(), self.launched) {
            notes.push(format!("{} connections failed: {last}", self.failures.len()));
        }
        replies.push(Reply::Prepared { figure, amount: self.amount, variant: None, notes });
        replies
    }
}

/// A figure worked out from one value a launch; none where there are too few values for any interval.
#[must_use]
pub fn derived(mut figure: Figure, values: &[f64], method: EstimateMethod) -> Option<Figure> {
    let found = launch_median_interval(values, 0.95).or_else(|| launch_median_range(values))?;
    figure.flags.clear();
    figure.outcome = Outcome::Measured(Estimate {
        value: found.median,
        low: found.interval.low,
        high: found.interval.high,
        level: found.interval.level,
        launches: values.len() as u32,
        batches: 1,
        method,
    });
    measure::end_follower(&mut figure, stats::stop::TARGET);
    Some(figure)
}

/// A figure with nothing measured yet.
#[must_use]
pub fn figure(
    id: &str,
    point: model::Point,
    title: &str,
    metric: model::Metric,
    stresses: &[model::Primitive],
) -> Figure {
    Figure::unmeasured(FigureKey::new(id, point), title, metric, model::Class::Network).stressing(stresses)
}
