//! Starts the copies of a launch in this process and waits for them.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use model::TakenTime;
use os::process::{Stream, Supervised, Supply, adopts_orphans, reap_orphans, serve};
use os::usage::{Usage, Who, machine_times, peak_resident_bytes};

use super::{CopyOutput, CopyReport, LaunchSpec, ProcessEnd};

/// Bytes kept of the beginning, and of the end, of a copy's output.
const KEPT: usize = 256 * 1024;
/// How long output is read after a program ended, while its own children hold the pipes open.
const GRACE: Duration = Duration::from_millis(500);
/// Time limit for killed copies to end. One that cannot be killed, or hangs in the kernel, is left behind.
const KILLED: Duration = Duration::from_secs(5);
/// Longest wait for the beginning of a launch.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// Interval at which orphans that have ended are waited for while the programs run: they must not fill the table of
/// processes.
const REAP: Duration = Duration::from_secs(1);
/// Block size of getrusage(2), bytes.
const BLOCK: u64 = 512;

/// Starts all commands, as close together as possible, and waits until all have ended. It repeats them in sequence on
/// request, until one does not end by itself.
///
/// The kernel reports the resources of all children that this process has waited for. In a process that performs one
/// launch and ends, these are exactly the launch's. If it adopts orphans ([`os::process::adopt_orphans`]), it also
/// waits for the programs' own children; no other child of it may run then.
#[must_use]
pub fn perform(order: &LaunchSpec) -> CopyReport {
    let placed = place(order);
    let (began, clock) = (Instant::now(), kernels::clock::now());
    let mut before = Usage::of(Who::Children).unwrap_or_default();
    let times = machine_times().ok();
    let throttled = || os::cgroup::throttled().ok().map(|so_far| so_far.time);
    let stopped = throttled();
    let watch = kernels::clock::Watch::start();
    // Before and not while they run: what this process does then takes the CPU from them.
    let own_resident = peak_resident_bytes().unwrap_or(0);
    let adopts = adopts_orphans();
    let mut report = CopyReport { began: clock as f64 * 1e-9, own_resident, ..CopyReport::default() };
    for execution in 0..order.executions.max(1) {
        if execution == 1 && order.first_apart {
            before = Usage::of(Who::Children).unwrap_or_default();
        }
        execute(order, &placed, adopts, began, &mut report);
        if report.left_running || report.copies.iter().any(|copy| !matches!(copy.how, ProcessEnd::Code(_))) {
            break;
        }
    }
    let used = Usage::of(Who::Children).unwrap_or_default().since(&before);
    let stolen = times.zip(machine_times().ok()).map(|(before, after)| {
        let spent = after.since(&before);
        TakenTime { seconds: spent.steal.as_secs_f64(), of: spent.total().as_secs_f64() }
    });
    let throttled = throttled().zip(stopped).map(|(after, before)| {
        let seconds = after.saturating_sub(before).as_secs_f64();
        TakenTime { seconds, of: used.cpu().as_secs_f64() + seconds }
    });
    let suspended = watch.disturbed().suspended.map(|slept| slept.as_secs_f64());
    CopyReport {
        user_seconds: used.user.as_secs_f64(),
        system_seconds: used.system.as_secs_f64(),
        peak_resident: used.max_resident_bytes,
        voluntary_switches: used.voluntary_switches,
        involuntary_switches: used.involuntary_switches,
        minor_faults: used.minor_faults,
        major_faults: used.major_faults,
        device_read: used.blocks_in * BLOCK,
        stolen,
        throttled,
        suspended,
        ..report
    }
}

/// One execution of all commands, which is added to the report.
fn execute(order: &LaunchSpec, placed: &Result<(), String>, adopts: bool, began: Instant, report: &mut CopyReport) {
    let deadline = Instant::now() + order.time_allowed();
    let mut copies: Vec<RunningCopy> = Vec::new();
    let mut programs = Vec::new();
    for argv in &order.commands {
        let started = began.elapsed().as_secs_f64();
        let mut copy = RunningCopy { started, ..RunningCopy::default() };
        match placed.clone().and_then(|()| start(argv, order)) {
            Ok(program) => {
                copy.place = Some(programs.len());
                programs.push(program);
            }
            Err(reason) => copy.failed = Some(reason),
        }
        copies.push(copy);
    }
    let mut outputs: Vec<[Kept; 2]> = programs.iter().map(|_| Default::default()).collect();
    supervise(&mut programs, &mut outputs, deadline, adopts);
    // One that has not ended, since the kernel holds it, is waited for by its owner.
    let held: Vec<i32> = programs.iter().filter(|one| one.ended().is_none()).map(Supervised::pid).collect();
    report.left_running |= adopts && reap_orphans(&held, &mut |_| {}).unwrap_or(false);
    read_the_rest(&mut programs, &mut outputs);
    report.copies.extend(copies.into_iter().map(|copy| copy.report(&programs, &outputs, began, deadline)));
}

/// Takes the CPUs of the launch and waits for its beginning.
fn place(order: &LaunchSpec) -> Result<(), String> {
    if !order.cpus.is_empty() {
        kernels::affinity::pin(&order.cpus).map_err(|error| error.to_string())?;
    }
    let wait = order.begin.unwrap_or(0).saturating_sub(kernels::clock::now());
    kernels::timer::sleep(Duration::from_nanos(wait).min(LONGEST_WAIT));
    Ok(())
}

/// A copy that was started, or failed to start.
#[derive(Default)]
struct RunningCopy {
    started: f64,
    /// Its index among the programs.
    place: Option<usize>,
    failed: Option<String>,
}

fn start(argv: &[String], order: &LaunchSpec) -> Result<Supervised, String> {
    let (program, arguments) = argv.split_first().ok_or("the command is empty")?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&order.directory).envs(&order.environment);
    // It stays in this process's group, so that killing the group ends it too. Without pipes nothing wakes this process
    // while it ends, which on a busy machine takes the CPU from it.
    Supervised::start(
        &mut command,
        Supply { discard_output: order.silent, discard_errors: order.silent, ..Supply::default() },
    )
    .map_err(|error| format!("{program}: {error}{}", limit_of(&error)))
}

/// The limit of this process or its control group behind an error, as the end of a sentence; empty if there is none.
pub(crate) fn limit_of(error: &std::io::Error) -> String {
    os::process::limit_behind(error.raw_os_error()).map(|limit| format!("; {limit}")).unwrap_or_default()
}

/// Waits until all programs have ended, and kills the rest at the deadline. If this process `adopts` orphans, it waits
/// for those too.
fn supervise(programs: &mut [Supervised], outputs: &mut [[Kept; 2]], deadline: Instant, adopts: bool) {
    let own: Vec<i32> = programs.iter().map(Supervised::pid).collect();
    let mut until = deadline;
    let mut killed = false;
    while programs.iter().any(|program| program.ended().is_none()) {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() && killed {
            programs.iter_mut().for_each(Supervised::abandon);
            return;
        }
        if left.is_zero() {
            programs.iter().for_each(Supervised::kill);
            (killed, until) = (true, Instant::now() + KILLED);
            continue;
        }
        if read(programs, outputs, if adopts { left.min(REAP) } else { left }).is_err() {
            // Waiting failed: those that have ended are reported, the others count as timed out.
            return;
        }
        if adopts {
            // Those that are not waited for now are at the end.
            let _ = reap_orphans(&own, &mut |_| {});
        }
    }
}

/// Reads the last output from the pipes, which the programs' own children may hold open for ever.
fn read_the_rest(programs: &mut [Supervised], outputs: &mut [[Kept; 2]]) {
    let until = Instant::now() + GRACE;
    while programs.iter().any(|program| program.ended().is_some() && !program.over()) {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || read(programs, outputs, left).is_err() {
            return;
        }
    }
}

fn read(programs: &mut [Supervised], outputs: &mut [[Kept; 2]], time: Duration) -> std::io::Result<()> {
    serve(programs, time, &mut |place, stream, bytes| {
        let [output, errors] = &mut outputs[place];
        match stream {
            Stream::Output => output.take(bytes),
            Stream::Errors => errors.take(bytes),
        }
    })
}

impl RunningCopy {
    fn report(self, programs: &[Supervised], outputs: &[[Kept; 2]], began: Instant, deadline: Instant) -> CopyOutput {
        let [stdout, stderr] =
            self.place.map_or_else(Default::default, |place| outputs[place].each_ref().map(Kept::text));
        let ended = self.place.and_then(|place| programs[place].ended());
        let seconds = |at: Instant| at.saturating_duration_since(began).as_secs_f64();
        let (ended, how) = match (self.failed, ended) {
            (Some(reason), _) => (self.started, ProcessEnd::NotStarted(reason)),
            // A copy that ended by itself at the last moment is recognised by its time.
            (None, Some((at, status))) if at <= deadline => (seconds(at), describe(status)),
            (None, Some((at, _))) => (seconds(at), ProcessEnd::TimedOut),
            (None, None) => (seconds(Instant::now()), ProcessEnd::TimedOut),
        };
        CopyOutput { started: self.started, ended, how, stdout, stderr }
    }
}

fn describe(status: ExitStatus) -> ProcessEnd {
    match (status.code(), status.signal()) {
        (Some(code), _) => ProcessEnd::Code(code),
        (None, signal) => ProcessEnd::Signal(signal.unwrap_or(0)),
    }
}

/// Beginning and end of a stream.
#[derive(Debug, Default)]
struct Kept {
    head: Vec<u8>,
    tail: Vec<u8>,
    dropped: u64,
}

impl Kept {
    fn take(&mut self, bytes: &[u8]) {
        let room = KEPT.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        self.tail.extend_from_slice(&bytes[room..]);
        if self.tail.len() > 2 * KEPT {
            let excess = self.tail.len() - KEPT;
            self.tail.drain(..excess);
            self.dropped += excess as u64;
        }
    }

    fn text(&self) -> String {
        let head = String::from_utf8_lossy(&self.head);
        let tail = String::from_utf8_lossy(&self.tail);
        match self.dropped {
            0 => format!("{head}{tail}"),
            dropped => format!("{head}\n[{dropped} bytes left out]\n{tail}"),
        }
    }
}
