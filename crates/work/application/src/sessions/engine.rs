//! Sessions as an engine of a run: a sample is all of them once.

use measure::{Host, Reply, SampleError, Stopper, Subject, WorkerStep};
use model::{
    BenchmarkResult, Better, Class, Metric, Outcome, Parameters, PlanEntry, Primitive, RECORD, Run, Sample, Unit,
};

use super::run::run_sessions;
use super::{FileSharing, SessionOrder, SessionReport};
use crate::Error;
use crate::campaign::result;
use crate::launch::{LEFT_RUNNING, Starter};

/// Many sessions as an engine that a [`measure::MeasureSession`] samples.
pub struct Sessions {
    order: SessionOrder,
    starter: Starter,
    /// Place of its first result in the run.
    first: usize,
    warm: bool,
    reports: Vec<SessionReport>,
}

/// The value of one result in a report.
type Value = fn(&SessionReport) -> Option<f64>;

/// Result of the time for which sessions wait for storage.
const WAITING: &str = "session_waiting";

/// Id, title and metric of every result, and where its values come from. The first one decides how many samples there
/// are.
const ROWS: [(&str, &str, Unit, &str, Better, Value); 8] = [
    ("sessions_asked", "data requested by all sessions", Unit::BytesPerSecond, "bytes", Better::Higher, |report| {
        Some(together(report, |used| used.asked))
    }),
    (
        "sessions_device",
        "data from the device for all sessions",
        Unit::BytesPerSecond,
        "bytes",
        Better::Higher,
        |report| Some(together(report, |used| used.device)),
    ),
    ("session_cpu", "CPU use of a session", Unit::Ratio, "session", Better::Higher, |report| {
        mean(report, |used| used.cpu)
    }),
    ("session_asked", "data requested by a session", Unit::BytesPerSecond, "bytes", Better::Higher, |report| {
        mean(report, |used| used.asked)
    }),
    ("session_device", "data from the device for a session", Unit::BytesPerSecond, "bytes", Better::Higher, |report| {
        mean(report, |used| used.device)
    }),
    (WAITING, "time a session waits for storage", Unit::Ratio, "session", Better::Lower, |report| {
        mean(report, |used| used.waiting).filter(|_| !report.sessions.iter().any(|used| used.delegates))
    }),
    ("machine_utilisation", "machine busy", Unit::Ratio, "machine", Better::Higher, |report| report.utilisation),
    ("machine_iowait", "machine idle waiting for devices", Unit::Ratio, "machine", Better::Lower, |report| {
        report.iowait
    }),
];

impl Sessions {
    /// The engine, and `run` with its results. `reader` names what every session runs; helpers of `starter` call
    /// [`super::serve_sessions`].
    #[must_use]
    pub fn new(mut run: Run, order: SessionOrder, reader: &str, starter: Starter) -> (Self, Run) {
        let parameters = Parameters::none()
            .with("reader", reader)
            .with("sessions", order.sessions.to_string())
            .with("files", order.files.len().to_string())
            .with("sharing", if order.sharing == FileSharing::Own { "own" } else { "shared" })
            .with("cache", if order.cached { "cached" } else { "cold" });
        let first = run.results.len();
        for (id, title, unit, per, better, _) in ROWS {
            let metric = Metric { unit, per: per.into(), better };
            let mut result = result(format!("application.{id}"), parameters.clone(), title.to_owned(), metric);
            (result.class, result.stresses) = (Class::FileData, vec![Primitive::DiskRead, Primitive::PageCache]);
            let (benchmark, target, shares) =
                (result.benchmark.clone(), run.plan.target, Some(format!("sessions {parameters}")));
            run.plan.entries.push(PlanEntry { benchmark, parameters: parameters.clone(), target, shares });
            run.results.push(result);
        }
        (Self { order, starter, first, warm: false, reports: Vec::new() }, run)
    }

    /// Every sample so far.
    #[must_use]
    pub fn reports(&self) -> &[SessionReport] {
        &self.reports
    }

    fn once(&mut self, round: u32, stopper: &Stopper) -> Result<Vec<Reply>, Error> {
        let mut replies = Vec::new();
        if !self.warm {
            self.warm = true;
            // It is cold in ways that no rule of caching covers.
            let report = run_sessions(&self.order, &self.starter, stopper)?;
            let note = format!("{RECORD}first iteration discarded by rule: {:.3} s", report.wall);
            replies.push(Reply::Noted { result: self.first, note });
        }
        let report = run_sessions(&self.order, &self.starter, stopper)?;
        if report.left_running {
            replies.push(Reply::Noted { result: self.first, note: LEFT_RUNNING.to_owned() });
        }
        for (at, (.., value)) in ROWS.iter().enumerate() {
            let result = self.first + at;
            replies.push(match value(&report).filter(|value| value.is_finite()) {
                Some(value) => Reply::Launched { result, sample: Box::new(sample(&report, round, value)) },
                None => Reply::NotMeasured { result, reason: unseen(&report, ROWS[at].0).to_owned() },
            });
        }
        self.reports.push(report);
        Ok(replies)
    }
}

/// Why a report has no value of a result.
fn unseen(report: &SessionReport, id: &str) -> &'static str {
    match id == WAITING && !report.sessions.is_empty() {
        true => "child processes do the work, and their waiting is not visible",
        false => "this system does not report it",
    }
}

impl Host for Sessions {}

impl Subject for Sessions {
    fn launch(&mut self, step: &WorkerStep, stopper: &Stopper) -> Result<Vec<Reply>, SampleError> {
        let mut replies = match self.once(step.round, stopper) {
            Ok(replies) => replies,
            Err(Error::Stopped) => return Err(SampleError::Stopped),
            Err(error) => {
                let reason = error.to_string();
                (0..ROWS.len()).map(|at| Reply::Failed { result: self.first + at, reason: reason.clone() }).collect()
            }
        };
        replies.push(Reply::Done);
        Ok(replies)
    }

    /// Samples are made for the data requested.
    fn leader(&self, result: usize) -> Option<usize> {
        (result != self.first).then_some(self.first)
    }

    fn conclude(&mut self, run: &mut Run) {
        for result in run.results.iter_mut().skip(self.first).take(ROWS.len()) {
            zeros(result);
            result.notes.extend(self.reports.last().map(|report| report.because.clone()));
        }
    }
}

/// A share or a rate may be zero and has no logarithm then, so that there is no interval: the median alone.
fn zeros(result: &mut BenchmarkResult) {
    let values = result.values();
    if values.iter().any(|value| *value <= 0.0) || (values.len() == 1 && result.outcome.estimate().is_none()) {
        let middle = stats::median(&values).unwrap_or(0.0);
        result.outcome = Outcome::Measured(model::Estimate::without_spread(middle));
        result.flags.clear();
    }
}

fn sample(report: &SessionReport, round: u32, value: f64) -> Sample {
    let nanos = vec![(report.wall * 1e9) as u64];
    Sample { round, wall: report.wall, value, nanos, steady: true, ..Sample::default() }
}

fn mean(report: &SessionReport, value: impl Fn(&super::SessionUse) -> f64) -> Option<f64> {
    let count = report.sessions.len();
    (count > 0).then(|| report.sessions.iter().map(value).sum::<f64>() / count as f64)
}

/// A rate of all sessions over the whole time.
fn together(report: &SessionReport, value: impl Fn(&super::SessionUse) -> f64) -> f64 {
    report.sessions.iter().map(|used| value(used) * used.wall).sum::<f64>() / report.wall
}
