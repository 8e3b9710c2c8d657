//! Figures measured by fresh connections, in rounds, with fixed looks.
//!
//! A launch is here a fresh connection: most of the variance of throughput and latency lies between connections, so that
//! no interval is made from one. Every round has one launch of every figure that is not settled, in a seeded random
//! order; a figure ends at a look when its interval is narrow enough.

use std::time::Instant;

use measure::{ConditionsWatch, Event, Listener, Order, Saver, Stopper, judge};
use model::{Entry, Estimate, Figure, FigureKey, Flag, Launch, Method, Outcome, Plan, Run};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use stats::order_statistic::{launch_median_interval, launch_median_range};

use crate::{Error, Result};

/// One figure and the means to measure it once more.
pub trait Trial {
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
pub struct Rules {
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

/// Measures a series to its end and keeps it after every round.
///
/// # Errors
/// When nothing was asked for, or the run cannot be kept.
pub fn measure(
    mut trials: Vec<Box<dyn Trial>>,
    rules: &Rules,
    saver: &mut dyn Saver,
    listener: &mut dyn Listener,
    stopper: &Stopper,
) -> Result<Run> {
    let mut run = begin(&trials, rules)?;
    let conditions = ConditionsWatch::begin(&run.session.conditions, &sys::affinity::allowed()?);
    let began = Instant::now();
    let mut order: Vec<usize> = (0..trials.len()).collect();
    let mut random = ChaCha8Rng::seed_from_u64(rules.seed);
    let mut active = vec![true; trials.len()];
    let mut failures: Vec<Vec<String>> = vec![Vec::new(); trials.len()];
    listener.hear(&Event::Began(&run));
    let mut round = 0;
    while active.iter().any(|one| *one) && !stopper.asked() {
        if rules.time_limit.is_some_and(|limit| began.elapsed().as_secs_f64() >= limit) {
            break;
        }
        round += 1;
        listener.hear(&Event::Round { number: round, active: active.iter().filter(|one| **one).count() });
        order.shuffle(&mut random);
        for index in order.iter().copied() {
            if !active[index] || stopper.asked() {
                continue;
            }
            let keys = [run.figures[index].key()];
            let launch = run.figures[index].launches.len() as u32 + 1;
            listener.hear(&Event::Launching { keys: &keys, launch, look: next_look(launch, &run.plan) });
            let at = began.elapsed().as_secs_f64();
            active[index] = take(&mut run, index, trials[index].as_mut(), &mut failures[index], (round - 1, at));
            if !active[index] {
                let (done, of) = (active.iter().filter(|one| !**one).count(), active.len());
                listener.hear(&Event::Finished { key: &keys[0], done, of });
            }
        }
        let converged = active.iter().filter(|one| !**one).count();
        let elapsed = began.elapsed().as_secs_f64();
        conditions.record(&mut run);
        save(&mut run, round, elapsed, saver)?;
        listener.hear(&Event::Saved { converged, of: active.len(), elapsed, left: left(elapsed, round, &run.plan) });
    }
    run.session.complete = active.iter().all(|one| !one);
    run.session.ended_on = Some(measure::identity());
    conditions.record(&mut run);
    save(&mut run, round, began.elapsed().as_secs_f64(), saver)?;
    listener.hear(&Event::Ended(&run));
    Ok(run)
}

fn begin(trials: &[Box<dyn Trial>], rules: &Rules) -> Result<Run> {
    let figures: Vec<Figure> = trials.iter().map(|trial| trial.figure()).collect();
    let entry = |figure: &Figure| Entry {
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
    let order = Order::new(plan, machine, measure::identity(), allowed)?
        .labelled(rules.label.clone())
        .asked_by(rules.command.clone())
        .noting(notes);
    let mut run = order.run().clone();
    run.figures = figures;
    Ok(run)
}

/// Failed connections after which a figure is given up.
const FAILURES: usize = 3;

/// Launches a figure once more and judges it; whether it goes on. A connection that fails takes nothing away from those
/// that did not.
fn take(
    run: &mut Run,
    index: usize,
    trial: &mut dyn Trial,
    failures: &mut Vec<String>,
    (round, at): (u32, f64),
) -> bool {
    let began = Instant::now();
    let launched = trial.launch();
    let plan = run.plan.clone();
    let figure = &mut run.figures[index];
    let goes_on = match launched {
        Ok(mut launch) => {
            launch.round = round;
            launch.began = at;
            launch.wall = began.elapsed().as_secs_f64();
            figure.launches.push(launch);
            !judge(figure, &plan, plan.target, 1)
        }
        Err(error) => {
            let hopeless = matches!(error, Error::Refused(_) | Error::Usage(_) | Error::Lab(_));
            failures.push(error.to_string());
            let goes_on = !hopeless && failures.len() < FAILURES;
            if !goes_on && figure.launches.is_empty() {
                figure.flags.retain(|flag| *flag != Flag::Unfinished);
                let reason = error.to_string();
                figure.outcome = if hopeless { Outcome::Unfit(reason) } else { Outcome::Failed(reason) };
            }
            goes_on
        }
    };
    // They speak of all launches so far, and replace what was said of fewer.
    figure.notes = trial.notes();
    if let (Some(last), false) = (failures.last(), figure.launches.is_empty()) {
        figure.notes.push(format!("{} connections failed: {last}", failures.len()));
    }
    goes_on
}

fn next_look(launch: u32, plan: &Plan) -> u32 {
    plan.looks.iter().copied().find(|look| *look >= launch).unwrap_or(launch)
}

fn left(elapsed: f64, round: u32, plan: &Plan) -> f64 {
    let until = next_look(round + 1, plan);
    elapsed / f64::from(round.max(1)) * f64::from(until.saturating_sub(round))
}

fn save(run: &mut Run, rounds: u32, seconds: f64, saver: &mut dyn Saver) -> Result<()> {
    run.session.rounds = rounds;
    run.session.seconds = seconds;
    saver
        .save(run)
        .map_err(|reason| Error::Io { what: "keep the run".to_owned(), source: std::io::Error::other(reason) })
}

/// A figure worked out from one value a launch; none where there are too few values for any interval.
#[must_use]
pub fn derived(mut figure: Figure, values: &[f64], method: Method) -> Option<Figure> {
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
