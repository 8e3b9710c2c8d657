//! One process per sample: reads a step, runs it, writes the results, ends.
//!
//! The harness is another process, so nothing here shares its heap, its threads or its failures.

pub(crate) mod calibrate;
mod footprint;
mod guard;
mod helper;
mod member;
mod reader;
mod step;
mod timer;

use std::io::{Read, Write};

use benchmarks::{BenchmarkContext, BenchmarkError, SampleSetting, Trial};

use self::member::SampleMember;
use self::reader::SensorReader;
pub use self::step::{Purpose, Reply, SensorSetting, Task, WorkerStep};

/// Largest step, bytes.
const LARGEST_STEP: u64 = 1 << 20;

/// Serves one step: reads it from `input` to its end and writes replies to `output`, one per line, [`Reply::Done`]
/// last.
///
/// # Errors
/// When the step could not be read or the replies could not be written, because the reader has ended.
pub fn serve(input: impl Read, output: &mut dyn Write) -> std::io::Result<()> {
    let mut text = String::new();
    input.take(LARGEST_STEP).read_to_string(&mut text)?;
    let step: WorkerStep = serde_json::from_str(&text)?;
    let mut say = |reply: Reply| -> std::io::Result<()> {
        serde_json::to_writer(&mut *output, &reply)?;
        output.write_all(b"\n")?;
        output.flush()
    };
    for reply in perform(&step, &mut say)? {
        say(reply)?;
    }
    say(Reply::Done)
}

fn perform(step: &WorkerStep, say: &mut dyn FnMut(Reply) -> std::io::Result<()>) -> std::io::Result<Vec<Reply>> {
    let mut members = Vec::new();
    let mut first: Option<BenchmarkContext> = None;
    for task in &step.tasks {
        match prepare(step, task, first.as_ref()) {
            Ok(member) => {
                say(member.prepared())?;
                first.get_or_insert_with(|| member.sharer(setting(step, task)));
                members.push(member);
            }
            Err(reason) => say(Reply::NotMeasured { result: task.result, reason })?,
        }
    }
    Ok(match step.purpose {
        Purpose::Calibrate => members.iter_mut().map(|member| member.calibrate(step.batch_nanos)).collect(),
        Purpose::Measure => measure(step, &mut members),
    })
}

fn setting(step: &WorkerStep, task: &Task) -> SampleSetting {
    SampleSetting {
        seed: step.seed,
        cpus: task.cpus.clone(),
        allowed: step.allowed.clone(),
        cache: task.cache,
        directory: task.directory.clone().unwrap_or_else(|| step.directory.clone()),
        variant: task.variant.clone(),
        calibrating: step.purpose == Purpose::Calibrate,
    }
}

fn prepare(step: &WorkerStep, task: &Task, first: Option<&BenchmarkContext>) -> Result<SampleMember, String> {
    let benchmark =
        benchmarks::find(&task.benchmark).ok_or_else(|| format!("this program has no benchmark {}", task.benchmark))?;
    if let Some(cpu) = task.cpus.first() {
        kernels::affinity::pin(&[*cpu]).map_err(|error| error.to_string())?;
    }
    let setting = setting(step, task);
    let mut context = match first {
        Some(first) => first.for_benchmark(setting),
        None => BenchmarkContext::new(setting),
    };
    let trial: Trial =
        (benchmark.prepare)(&task.parameters, &mut context).map_err(|not_measured| not_measured.to_string())?;
    Ok(SampleMember::new(benchmark, task.clone(), context, trial, step.sensors.as_ref()))
}

/// Warms up all members, then alternates them, so that disturbances affect all equally.
fn measure(step: &WorkerStep, members: &mut Vec<SampleMember>) -> Vec<Reply> {
    let mut replies = Vec::new();
    let mut attempt = |members: &mut Vec<SampleMember>,
                       act: &mut dyn FnMut(&mut SampleMember) -> Result<(), BenchmarkError>| {
        members.retain_mut(|member| match act(member) {
            Ok(()) => true,
            Err(fault) => {
                replies.push(member.failed(&fault));
                false
            }
        });
    };
    attempt(members, &mut SampleMember::warm_up);
    // Helpers are started after the preparation, whose children must not inherit their memory.
    let mut reader = step.sensors.as_ref().and_then(SensorReader::new);
    attempt(members, &mut |member| member.begin(reader.as_mut()));
    let others = members.len() > 1;
    while members.iter().any(|member| !member.is_done()) {
        attempt(members, &mut |member| member.block(others, reader.as_mut()));
    }
    attempt(members, &mut |member| member.null_batches(reader.as_mut()));
    attempt(members, &mut SampleMember::end);
    attempt(members, &mut SampleMember::time_each);
    replies.extend(members.iter_mut().map(|member| member.launched(step.round, step.sensors.as_ref())));
    replies
}
