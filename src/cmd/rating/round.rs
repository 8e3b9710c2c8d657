//! Samples of all components of a set. A round's geometric mean is one value of the set. The rating is its median over
//! rounds, with the interval of order statistics.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::Result;
use application::{CopyReport, LaunchSpec, ProcessEnd, Starter};
use measure::{Host, Reply, SampleError, Stopper, Subject, WorkerStep};
use model::{Invalid, Run};
use rating::{Component, RatingSet};

use super::document::{launched, results};
use crate::cmd::app::starter;

/// Seconds after which a component counts as hung; the reference takes less than one.
const PATIENCE: f64 = 120.0;

/// One set with a number of copies.
struct RateSet {
    set: RatingSet,
    copies: u32,
    /// Place of the geometric mean among the results; the components follow it.
    result: usize,
    /// Whether its results were noted what their programs were built by.
    noted: bool,
}

/// The reading from a sample of a component.
struct RateReading {
    ratio: f64,
    build: String,
    optimised: bool,
}

/// Frozen sets as a subject of a session.
pub(super) struct Rating {
    parts: Vec<RateSet>,
    program: String,
    starter: Starter,
    /// Seconds that the run may take, if it has a limit.
    limit: Option<f64>,
    /// The moment at which the first sample began: the clock of the run began before it.
    began: Option<Instant>,
    /// Whether the components were built for use.
    pub(super) optimised: bool,
}

/// A set with a number of copies, to be measured.
pub(super) struct RatingPart {
    pub(super) set: RatingSet,
    pub(super) copies: u32,
    /// `speed` or `rate`: what its results are called.
    pub(super) mode: &'static str,
}

impl Rating {
    /// Adds the results of the parts to a run that has none yet; `program` does the work, for `limit` seconds at most.
    pub(super) fn new(run: &mut Run, parts: &[RatingPart], program: String, limit: Option<f64>) -> Result<Self> {
        let mut sets = Vec::new();
        for RatingPart { set, copies, mode } in parts {
            sets.push(RateSet { set: *set, copies: *copies, result: run.results.len(), noted: false });
            results(run, *set, mode, *copies);
        }
        Ok(Self { parts: sets, program, starter: starter()?, limit, began: None, optimised: true })
    }

    /// Seconds on the reference machine until every set has two samples, which an interval needs.
    pub(super) fn least_seconds(&self) -> f64 {
        2.0 * self.parts.iter().flat_map(|part| part.set.components()).map(|component| component.reference).sum::<f64>()
    }

    /// Seconds that a component of this round may take. The limit of the run cuts its first round, whose results have
    /// no interval. Later rounds are whole, as everywhere: cutting slow samples would keep the fast ones.
    fn patience(&mut self, round: u32) -> f64 {
        let began = *self.began.get_or_insert_with(Instant::now);
        let limit = self.limit.filter(|_| round == 0);
        limit.map_or(PATIENCE, |limit| (limit - began.elapsed().as_secs_f64()).clamp(0.0, PATIENCE))
    }
}

impl RateSet {
    fn results(&self) -> std::ops::RangeInclusive<usize> {
        self.result..=self.result + self.set.components().count()
    }
}

impl Host for Rating {}

impl Subject for Rating {
    /// One sample of every component of a part, and the mean of their ratios: it counts whole or not at all.
    fn launch(&mut self, step: &WorkerStep, stopper: &Stopper) -> Result<Vec<Reply>, SampleError> {
        let asked = step.tasks.first().and_then(|task| self.part_of(task.result));
        let Some(place) = asked else { return Ok(vec![Reply::Done]) };
        let RateSet { set, copies, result, noted } = self.parts[place];
        let mut values: Vec<(RateReading, CopyReport)> = Vec::new();
        for component in set.components() {
            let patience = self.patience(step.round);
            if patience <= 0.0 {
                return Ok(vec![Reply::Done]);
            }
            let report = match self.launch_component(component, copies, patience, stopper) {
                Ok(report) => report,
                Err(application::Error::Stopped) => return Err(SampleError::Stopped),
                Err(error) => return Ok(invalid(&self.parts[place], values.len(), &error.to_string(), None)),
            };
            let cut = patience < PATIENCE && report.copies.iter().any(|copy| matches!(copy.how, ProcessEnd::TimedOut));
            match reading(component, &report) {
                Err(_) if cut => return Ok(vec![Reply::Done]),
                Ok(reading) => values.push((reading, report)),
                Err(reason) => return Ok(invalid(&self.parts[place], values.len(), &reason, Some(&report))),
            }
        }
        let mean = (values.iter().map(|(reading, _)| reading.ratio.ln()).sum::<f64>() / values.len() as f64).exp();
        let wall = values.iter().map(|(_, report)| report.wall()).sum();
        let disturbed: Option<Invalid> = values.iter().find_map(|(_, report)| report.disturbed());
        let mut replies = vec![launched(result, step.round, wall, mean, None, disturbed.clone())];
        for (at, (reading, report)) in values.iter().enumerate() {
            let wall = report.wall();
            replies.push(launched(result + 1 + at, step.round, wall, reading.ratio, Some(report), disturbed.clone()));
            self.optimised &= reading.optimised;
        }
        if let (false, Some((reading, _))) = (noted, values.first()) {
            let note = format!("built by {}", reading.build);
            replies.extend(self.parts[place].results().map(|result| Reply::Noted { result, note: note.clone() }));
            self.parts[place].noted = true;
        }
        replies.push(Reply::Done);
        Ok(replies)
    }

    /// Rounds are made for the mean.
    fn leader(&self, result: usize) -> Option<usize> {
        let mean = self.parts[self.part_of(result)?].result;
        (mean != result).then_some(mean)
    }
}

impl Rating {
    fn part_of(&self, result: usize) -> Option<usize> {
        self.parts.iter().position(|part| part.results().contains(&result))
    }

    fn launch_component(
        &self,
        component: &Component,
        copies: u32,
        patience: f64,
        stopper: &Stopper,
    ) -> Result<CopyReport, application::Error> {
        let command = [&self.program, "component", component.name].map(str::to_owned).to_vec();
        let order = LaunchSpec {
            commands: vec![command; copies as usize],
            directory: std::env::temp_dir(),
            environment: BTreeMap::new(),
            patience,
            ..LaunchSpec::default()
        };
        self.starter.launch(&order, stopper)
    }
}

/// A failed component leaves its set without a rating. Its message is kept, and the other parts go on.
fn invalid(part: &RateSet, component: usize, reason: &str, report: Option<&CopyReport>) -> Vec<Reply> {
    let name = part.set.components().nth(component).map_or("", |component| component.name);
    let failed = part.result + 1 + component;
    let output = report.and_then(|report| report.copies.first()).map(application::said).unwrap_or_default();
    let mut replies: Vec<Reply> = output.into_iter().map(|note| Reply::Noted { result: failed, note }).collect();
    for result in part.results() {
        replies.push(if result == failed {
            Reply::Failed { result, reason: reason.to_owned() }
        } else if result == part.result {
            Reply::Failed { result, reason: format!("the rating is invalid: {name} {reason}") }
        } else {
            match part.noted {
                true => Reply::Abandoned { result },
                false => Reply::NotMeasured { result, reason: format!("the rating ended early: {name} is invalid") },
            }
        });
    }
    replies.push(Reply::Done);
    replies
}

/// Reference time over time, summed over the copies: what one copy does, or all together.
fn reading(component: &Component, report: &CopyReport) -> Result<RateReading, String> {
    let mut reading = RateReading { ratio: 0.0, build: String::new(), optimised: true };
    for copy in &report.copies {
        if let Some(trouble) = copy.how.trouble(PATIENCE) {
            return Err(trouble);
        }
        let field = |name: &str| copy.stdout.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        let checksum = field("checksum").unwrap_or("nothing");
        let wanted = format!("{:016x}", component.checksum);
        if checksum != wanted {
            return Err(format!("came to the checksum {checksum} where {wanted} is right"));
        }
        let seconds = field("seconds").and_then(|text| text.parse::<f64>().ok()).filter(|seconds| *seconds > 0.0);
        reading.ratio += component.reference / seconds.ok_or("printed no time")?;
        reading.build = field("build").unwrap_or("unknown").to_owned();
        reading.optimised &= field("optimised") == Some("true");
    }
    Ok(reading)
}
