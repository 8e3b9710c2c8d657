//! An experiment as a subject that is measured in rounds: a sample of a row is a block of samples of the metric with and
//! without the change, next to each other, in an order in which drift cancels.

use std::time::Duration;

use measure::{Description, Host, OutsideCounters, Purpose, Reply, SampleError, Stopper, Subject, Task, WorkerStep};
use model::{BenchmarkResult, Better, Identity, Sample, TakenTime, Topology};

use crate::Change;
use crate::bench::{Bench, Held};
use crate::plan::{Row, Switch};

/// Result of the metric as found: it comes along with that of the row of nothing.
const AS_FOUND: usize = 0;
/// Factor between numbers of operations from which a change has batches of its own.
const ANOTHER_ORDER: u64 = 5;

/// The subject of an experiment.
pub struct Experiment<'a> {
    bench: &'a mut dyn Bench,
    rows: Vec<Row>,
    better: Better,
    /// Operations of a batch and their nanoseconds as found, once for all rows.
    calibrated: Option<(u64, u64)>,
    /// Operations of a batch with the change of each row: durable writes are a thousand times slower.
    changed: Vec<u64>,
}

/// One sample of a block: which switches are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    on: [bool; 2],
    /// Whether its time is in the numerator of the row's value.
    above: bool,
}

impl<'a> Experiment<'a> {
    /// Samples of these rows of a metric; `better` is its direction.
    pub fn new(bench: &'a mut dyn Bench, rows: Vec<Row>, better: Better) -> Self {
        let changed = vec![0; rows.len()];
        Self { bench, rows, better, calibrated: None, changed }
    }

    fn one(&mut self, held: &[Held<'_>], step: &WorkerStep, stopper: &Stopper) -> Result<One, SampleError> {
        let (mut sample, mut others) = (None, Vec::new());
        for reply in self.bench.sample(held, of_one(step), stopper)? {
            match reply {
                Reply::Launched { sample: found, .. } => sample = Some(*found),
                Reply::Done | Reply::Prepared { .. } | Reply::Noted { .. } => {}
                other => others.push(other),
            }
        }
        Ok(sample.map_or_else(|| One::Refused(others), |sample| One::Sample(Box::new(sample))))
    }

    fn calibrate(&mut self, step: &WorkerStep, stopper: &Stopper) -> Result<Vec<Reply>, SampleError> {
        let number = row_of(step);
        let as_found = match self.calibrated {
            Some(found) => found,
            None => match self.ops(&[], step, stopper)? {
                Ok(found) => *self.calibrated.insert(found),
                Err(replies) => return Ok(for_all(step, replies)),
            },
        };
        let switches = self.rows[number - 1].switches().to_vec();
        self.changed[number - 1] = match self.ops(&held(&switches, [true; 2]), step, stopper)? {
            // Batches of equal length are compared, unless they would be of another order.
            Ok((ops, _)) if ops.max(as_found.0) / ops.min(as_found.0).max(1) < ANOTHER_ORDER => as_found.0,
            Ok((ops, _)) => ops,
            Err(replies) => return Ok(for_all(step, replies)),
        };
        let about = |task: &Task| Reply::Calibrated { result: task.result, ops: as_found.0, nanos: as_found.1 };
        Ok(step.tasks.iter().map(about).chain([Reply::Done]).collect())
    }

    /// Operations of a batch with these values and their nanoseconds, or what was said instead.
    fn ops(
        &mut self,
        held: &[Held<'_>],
        step: &WorkerStep,
        stopper: &Stopper,
    ) -> Result<Result<(u64, u64), Vec<Reply>>, SampleError> {
        let replies = self.bench.sample(held, of_one(step), stopper)?;
        let found = replies.iter().find_map(|reply| match reply {
            Reply::Calibrated { ops, nanos, .. } => Some((*ops, *nanos)),
            _ => None,
        });
        Ok(found.ok_or(replies))
    }

    fn block(&mut self, step: &WorkerStep, stopper: &Stopper) -> Result<Vec<Reply>, SampleError> {
        let number = row_of(step);
        let row = self.rows[number - 1].clone();
        let parts = order(&row, step.seed);
        let (mut samples, mut log, mut above) = (Vec::new(), 0.0, 0_u32);
        for (at, part) in (0..).zip(&parts) {
            let held = held(row.switches(), part.on);
            // Equal settings measure different layouts of memory in each of their samples.
            let mut inner = WorkerStep { seed: step.seed.wrapping_add(at), ..step.clone() };
            if part.on != [false; 2] {
                let changed = self.changed[number - 1];
                inner.tasks.iter_mut().for_each(|task| task.ops = changed);
            }
            match self.one(&held, &inner, stopper)? {
                One::Sample(sample) if sample.value > 0.0 && sample.value.is_finite() => {
                    let time = if self.better == Better::Lower { sample.value.ln() } else { -sample.value.ln() };
                    log += if part.above { time } else { -time };
                    above += u32::from(part.above);
                    samples.push(sample);
                }
                One::Sample(_) => {
                    let reason = "the metric was not above zero, so it has no ratio".to_owned();
                    return Ok(for_all(step, vec![Reply::NotMeasured { result: number, reason }]));
                }
                One::Refused(replies) => return Ok(for_all(step, replies)),
            }
        }
        // Of two pairs the mean; the interaction is one difference of differences.
        let pairs = if matches!(row, Row::Effect(_)) { f64::from(above.max(1)) } else { 1.0 };
        let mut replies = vec![launched(number, summed(&samples, step.round, (log / pairs).exp()))];
        if step.tasks.iter().any(|task| task.result == AS_FOUND) {
            let logs: Vec<f64> = samples.iter().map(|sample| sample.value.ln()).collect();
            let value = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
            let first = samples.swap_remove(0);
            replies.push(launched(AS_FOUND, Sample { value, round: step.round, ..*first }));
        }
        replies.push(Reply::Done);
        Ok(replies)
    }
}

/// Number of the row of a step, from 1.
fn row_of(step: &WorkerStep) -> usize {
    step.tasks.iter().map(|task| task.result).max().unwrap_or(AS_FOUND).max(AS_FOUND + 1)
}

/// The metric as found and the row of nothing are two tasks of one sample.
fn of_one(step: &WorkerStep) -> WorkerStep {
    WorkerStep { tasks: step.tasks.iter().take(1).cloned().collect(), ..step.clone() }
}

/// One sample, or what was said instead.
enum One {
    Sample(Box<Sample>),
    Refused(Vec<Reply>),
}

fn launched(result: usize, sample: Sample) -> Reply {
    Reply::Launched { result, sample: Box::new(sample) }
}

/// What was said about one result, said about all of the step.
fn for_all(step: &WorkerStep, replies: Vec<Reply>) -> Vec<Reply> {
    let reason = replies.into_iter().find_map(|reply| match reply {
        Reply::NotMeasured { reason, .. } => Some((reason, false)),
        Reply::Failed { reason, .. } => Some((reason, true)),
        _ => None,
    });
    let (reason, failed) = reason.unwrap_or_else(|| ("the worker sent no sample".to_owned(), true));
    let about = |result: usize| match failed {
        true => Reply::Failed { result, reason: reason.clone() },
        false => Reply::NotMeasured { result, reason: reason.clone() },
    };
    step.tasks.iter().map(|task| about(task.result)).chain([Reply::Done]).collect()
}

/// The values of the settings in one sample: what is off has the value as found, set in the same way.
fn held(switches: &[Switch], on: [bool; 2]) -> Vec<Held<'_>> {
    // More than two are switched together, so all are as the last.
    let all = switches.iter().enumerate().map(|(at, switch)| (switch, on[at.min(1)]));
    // A file as it was found is not written: its parts may have different values.
    all.filter(|(switch, on)| *on || !matches!(switch.setting.change, Change::Files(_)))
        .map(|(switch, on)| (switch.setting, if on { switch.to.as_str() } else { switch.from.as_str() }))
        .collect()
}

/// The order of a block. With and without a change: one of the two that are symmetric in time (ABBA), so that a steady
/// drift cancels. Of an interaction: any.
fn order(row: &Row, seed: u64) -> Vec<Part> {
    let with = Part { on: [true; 2], above: true };
    let without = Part { on: [false; 2], above: false };
    match row {
        Row::Effect(_) if seed.is_multiple_of(2) => vec![without, with, with, without],
        Row::Effect(_) => vec![with, without, without, with],
        Row::Interaction(_) => {
            let first = Part { on: [true, false], above: false };
            let second = Part { on: [false, true], above: false };
            let mut parts = vec![with, first, second, Part { above: true, ..without }];
            // Every order is as likely: the seed is a random number.
            let mut rest = seed;
            for at in (1..parts.len()).rev() {
                let other = (rest % (at as u64 + 1)) as usize;
                rest /= at as u64 + 1;
                parts.swap(at, other);
            }
            parts
        }
    }
}

/// The sample of a row: its value, and what disturbed any of its parts.
fn summed(samples: &[Box<Sample>], round: u32, value: f64) -> Sample {
    let total = |of: fn(&Sample) -> Option<TakenTime>| {
        samples
            .iter()
            .filter_map(|sample| of(sample))
            .reduce(|a, b| TakenTime { seconds: a.seconds + b.seconds, of: a.of + b.of })
    };
    Sample {
        round,
        value,
        wall: samples.iter().map(|sample| sample.wall).sum(),
        nanos: samples.iter().map(|sample| sample.nanos.iter().sum()).collect(),
        steady: samples.iter().all(|sample| sample.steady),
        stolen: total(|sample| sample.stolen),
        throttled: total(|sample| sample.throttled),
        invalid: samples.iter().find_map(|sample| sample.invalid.clone()),
        ..Sample::default()
    }
}

impl Host for Experiment<'_> {
    fn now(&self) -> f64 {
        self.bench.now()
    }

    fn tick(&self) -> u64 {
        self.bench.tick()
    }

    fn identity(&self) -> Identity {
        self.bench.identity()
    }

    fn rest(&mut self, time: Duration, stopper: &Stopper) {
        self.bench.rest(time, stopper);
    }

    fn outside(&self, cpus: &[usize]) -> OutsideCounters {
        self.bench.outside(cpus)
    }
}

impl Subject for Experiment<'_> {
    fn launch(&mut self, step: &WorkerStep, stopper: &Stopper) -> Result<Vec<Reply>, SampleError> {
        match step.purpose {
            Purpose::Calibrate => self.calibrate(step, stopper),
            Purpose::Measure => self.block(step, stopper),
        }
    }

    fn describe(
        &self,
        _result: &BenchmarkResult,
        _suite: &str,
        _machine: &Topology,
        _allowed: &[usize],
    ) -> Result<Description, String> {
        // Every row has equally many blocks.
        Ok(Description { stands_alone: false, remarks: Vec::new(), ..self.bench.description() })
    }

    fn leader(&self, result: usize) -> Option<usize> {
        (result == AS_FOUND).then_some(AS_FOUND + 1)
    }
}
