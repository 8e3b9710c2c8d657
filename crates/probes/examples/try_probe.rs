//! Tries one probe while it is being written: `cargo run --release --example try_probe -- os.pipe_switch placement=same_cpu`.
//!
//! `in=PATH` names the target directory, or a device for the sequential figures.
//!
//! One process, one launch, no interval: what it prints is for the eye and never for a report.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example talks to its user")]

use std::path::PathBuf;
use std::process::ExitCode;

use model::{PairOrder, Point};
use probes::{Kernel, LaunchSetting, Parties, Probe, ProbeContext, ProbeError, Recorder, Trial};

const BATCHES: usize = 20;
const BATCH_NANOS: u64 = 1_000_000;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let id = arguments.next().unwrap_or_default();
    let (place, part): (Vec<_>, Vec<_>) = arguments.partition(|argument| argument.starts_with("in="));
    let place = place.first().map_or_else(|| PathBuf::from("."), |place| PathBuf::from(&place["in=".len()..]));
    let part = part.join(",");
    let Some(probe) = probes::find(&id) else {
        probes::all().for_each(|probe| eprintln!("{}", probe.id));
        return ExitCode::from(2);
    };
    let tried = part.parse().map_err(|error: model::Error| error.to_string()).and_then(|part: Point| {
        let point = probe.complete(&part)?.remove(0);
        attempt(probe, &point, place)
    });
    match tried {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{id}: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn attempt(probe: &Probe, point: &Point, place: PathBuf) -> Result<(), String> {
    let mut bench = ProbeContext::new(setting(probe, point, place)?);
    if let Some(cpu) = bench.cpu(0) {
        sys::affinity::pin(&[cpu]).map_err(|error| error.to_string())?;
    }
    let began = sys::clock::now();
    let trial = (probe.prepare)(point, &mut bench).map_err(|unfit| format!("not measured: {unfit}"))?;
    println!("{} at {point}: prepared in {:.1} ms", probe.id, (sys::clock::now() - began) as f64 / 1e6);
    bench.notes().iter().for_each(|note| println!("  note: {note}"));
    measure(probe, trial).map_err(|fault| format!("failed: {fault}"))
}

fn measure(probe: &Probe, trial: Trial) -> Result<(), ProbeError> {
    let value = |per_op: f64, amount: f64| probe.metric.model().value(amount, per_op);
    match trial {
        Trial::One(mut kernel) => {
            let ops = fill(probe, kernel.as_mut())?;
            let nanos = median(batches(kernel.as_mut(), ops)?);
            println!("  {} ({ops} operations a batch)", show(probe, value(nanos, kernel.amount())));
            let mut record = Recorder::with_room(20_000);
            kernel.each(&mut record)?;
            quantiles(probe, record.nanos().iter().map(|nanos| value(*nanos as f64, kernel.amount())).collect());
        }
        Trial::Paired { mut work, mut overhead } => {
            let ops = fill(probe, work.as_mut())?;
            let (work, overhead) = pairs(work.as_mut(), overhead.as_mut(), ops)?;
            println!("  work {} - overhead {}", show(probe, value(work, 1.0)), show(probe, value(overhead, 1.0)));
            println!("  {} ({ops} operations a batch)", show(probe, value(work - overhead, 1.0)));
        }
        Trial::Readings(mut readings) => {
            let mut all = Vec::new();
            for _ in 0..BATCHES {
                all.extend(readings.read()?);
            }
            quantiles(probe, all);
        }
    }
    Ok(())
}

/// Operations that fill a batch.
fn fill(probe: &Probe, kernel: &mut dyn Kernel) -> Result<u64, ProbeError> {
    let granule = kernel.granule();
    let mut ops = probe.batch.least.next_multiple_of(granule);
    once(kernel, ops)?;
    while once(kernel, ops)?.0 < BATCH_NANOS && ops < probe.batch.most.min(10_000_000) {
        ops *= 2;
    }
    Ok(ops.min((probe.batch.most / granule).max(1).saturating_mul(granule)))
}

/// Nanoseconds of an operation, batch by batch, after some of warm-up.
fn batches(kernel: &mut dyn Kernel, ops: u64) -> Result<Vec<f64>, ProbeError> {
    for _ in 0..8 {
        once(kernel, ops)?;
    }
    (0..BATCHES).map(|_| once(kernel, ops).map(|(nanos, done)| nanos as f64 / done as f64)).collect()
}

/// Median nanoseconds of an operation of work and of its overhead, either first in every second pair, as in a launch.
fn pairs(work: &mut dyn Kernel, overhead: &mut dyn Kernel, ops: u64) -> Result<(f64, f64), ProbeError> {
    let each = |kernel: &mut dyn Kernel| once(kernel, ops).map(|(nanos, done)| nanos as f64 / done as f64);
    let (mut works, mut overheads) = (Vec::new(), Vec::new());
    for pair in 0..8 + BATCHES {
        if PairOrder::Abba.work_first(pair) {
            works.push(each(work)?);
            overheads.push(each(overhead)?);
        } else {
            overheads.push(each(overhead)?);
            works.push(each(work)?);
        }
    }
    Ok((median(works.split_off(8)), median(overheads.split_off(8))))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

fn once(kernel: &mut dyn Kernel, ops: u64) -> Result<(u64, u64), ProbeError> {
    kernel.ready(ops)?;
    let began = sys::clock::now();
    let done = kernel.batch(ops)?;
    let nanos = sys::clock::now() - began;
    kernel.check(&done)?;
    Ok((nanos, done.ops))
}

fn quantiles(probe: &Probe, mut values: Vec<f64>) {
    values.sort_unstable_by(f64::total_cmp);
    if let Some(last) = values.len().checked_sub(1) {
        let at = |share: f64| show(probe, values[(share * last as f64) as usize]);
        println!("  single: p50 {}, p99 {}, p99.9 {}, max {}", at(0.5), at(0.99), at(0.999), at(1.0));
    }
}

fn show(probe: &Probe, value: f64) -> String {
    match probe.metric.unit {
        model::Unit::Seconds => format!("{:.4} us", value * 1e6),
        model::Unit::BytesPerSecond => format!("{:.1} MB/s", value / 1e6),
        _ => format!("{value:.1} {}", probe.metric.per),
    }
}

fn setting(probe: &Probe, point: &Point, place: PathBuf) -> Result<LaunchSetting, String> {
    let allowed = sys::affinity::allowed().map_err(|error| error.to_string())?;
    let (first, last) = (allowed[0], *allowed.last().unwrap_or(&0));
    let cpus = match (probe.parties, point.get("placement").or(point.get("threads"))) {
        (Parties::One, _) | (Parties::Threads, Some("1")) => vec![last],
        (Parties::Placed, Some("same_cpu")) => vec![last; 64],
        (Parties::Placed, Some("cross_cpu")) => [last, first].repeat(32),
        (Parties::Threads, _) => allowed.clone(),
        _ => vec![],
    };
    let directory = place.canonicalize().map_err(|error| format!("{}: {error}", place.display()))?;
    Ok(LaunchSetting { seed: 1, cpus, allowed, directory, variant: None, calibrating: true })
}
