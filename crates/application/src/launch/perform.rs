//! Starts the copies of a launch in this process and waits for them.

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use sys::signal::Signal;
use sys::usage::{Usage, Who, machine_times, peak_resident_bytes};

use super::{Copy, Ended, Order, Report};

/// Bytes kept of the beginning and of the end of what a copy prints.
const KEPT: usize = 256 * 1024;
/// How long outputs are waited for that a program's own children still hold open.
const GRACE: Duration = Duration::from_millis(500);
/// Bytes of a block of getrusage(2).
const BLOCK: u64 = 512;

/// Starts every command of an order, as close together as starting allows, and waits until all have ended.
///
/// What they used is told by the kernel of all children that this process has waited for: a process that performs one
/// order and ends reads exactly those of that order.
#[must_use]
pub fn perform(order: &Order) -> Report {
    let began = Instant::now();
    let before = Usage::of(Who::Children).unwrap_or_default();
    let times = machine_times().ok();
    let watch = sys::clock::Watch::start();
    let (tell, ends) = channel();
    let running: Vec<Running> =
        order.commands.iter().enumerate().map(|(index, argv)| start(index, argv, order, began, &tell)).collect();
    drop(tell);
    let own = peak_resident_bytes().unwrap_or(0);
    let mut ended: Vec<Option<(f64, Ended)>> = vec![None; running.len()];
    let deadline = began + Duration::from_secs_f64(order.patience);
    loop {
        match ends.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok((index, at, how)) => ended[index] = Some((at, how)),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                kill_rest(&running, &ended);
                for (index, at, _) in ends.iter() {
                    ended[index] = Some((at, Ended::TimedOut));
                }
                break;
            }
        }
    }
    let used = Usage::of(Who::Children).unwrap_or_default().since(&before);
    let steal = times.zip(machine_times().ok()).map(|(before, after)| {
        let spent = after.since(&before);
        spent.steal as f64 / (spent.busy() + spent.idle + spent.steal).max(1) as f64
    });
    let copies = running.into_iter().zip(ended).map(|(running, ended)| running.finish(ended)).collect();
    Report {
        copies,
        user_seconds: used.user_nanos as f64 * 1e-9,
        system_seconds: used.system_nanos as f64 * 1e-9,
        peak_resident: used.max_resident_bytes,
        own_resident: own,
        voluntary_switches: used.voluntary_switches,
        involuntary_switches: used.involuntary_switches,
        minor_faults: used.minor_faults,
        major_faults: used.major_faults,
        device_read: used.blocks_in * BLOCK,
        steal,
        suspended: watch.disturbed().suspended.map(|slept| slept.as_secs_f64()),
    }
}

/// A copy that was started, or could not be.
struct Running {
    started: f64,
    pid: Option<i32>,
    outputs: [Arc<Mutex<Kept>>; 2],
    open: Vec<thread::JoinHandle<()>>,
    failed: Option<String>,
}

fn start(index: usize, argv: &[String], order: &Order, began: Instant, tell: &Sender<(usize, f64, Ended)>) -> Running {
    let mut running = Running { started: 0.0, pid: None, outputs: Default::default(), open: Vec::new(), failed: None };
    let Some((program, arguments)) = argv.split_first() else {
        running.failed = Some("the command is empty".to_owned());
        return running;
    };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&order.directory).envs(&order.environment);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    running.started = began.elapsed().as_secs_f64();
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            running.failed = Some(format!("{program}: {error}"));
            return running;
        }
    };
    running.pid = i32::try_from(child.id()).ok();
    let streams: [Option<Box<dyn Read + Send>>; 2] =
        [child.stdout.take().map(|s| Box::new(s) as _), child.stderr.take().map(|s| Box::new(s) as _)];
    for (stream, kept) in streams.into_iter().zip(&running.outputs) {
        let Some(stream) = stream else { continue };
        let kept = Arc::clone(kept);
        running.open.push(thread::spawn(move || keep(stream, &kept)));
    }
    let tell = tell.clone();
    thread::spawn(move || {
        let how = wait(&mut child);
        // Nobody listens once the launch is over.
        let _ = tell.send((index, began.elapsed().as_secs_f64(), how));
    });
    running
}

fn wait(child: &mut Child) -> Ended {
    match child.wait() {
        Ok(status) => match (status.code(), status.signal()) {
            (Some(code), _) => Ended::Code(code),
            (None, signal) => Ended::Signal(signal.unwrap_or(0)),
        },
        Err(error) => Ended::NotStarted(error.to_string()),
    }
}

fn kill_rest(running: &[Running], ended: &[Option<(f64, Ended)>]) {
    for (running, ended) in running.iter().zip(ended) {
        if let (Some(pid), None) = (running.pid, ended) {
            // It may have ended this moment, which is as good.
            let _ = sys::process::send(pid, Some(Signal::Kill));
        }
    }
}

impl Running {
    fn finish(self, ended: Option<(f64, Ended)>) -> Copy {
        let until = Instant::now() + GRACE;
        while self.open.iter().any(|thread| !thread.is_finished()) && Instant::now() < until {
            thread::sleep(Duration::from_millis(1));
        }
        let [stdout, stderr] = self.outputs.map(|kept| kept.lock().unwrap_or_else(PoisonError::into_inner).text());
        let (at, how) = match (self.failed, ended) {
            (Some(reason), _) => (self.started, Ended::NotStarted(reason)),
            (None, Some(ended)) => ended,
            (None, None) => (self.started, Ended::TimedOut),
        };
        Copy { started: self.started, ended: at, how, stdout, stderr }
    }
}

/// The beginning and the end of a stream.
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

fn keep(mut stream: Box<dyn Read + Send>, kept: &Mutex<Kept>) {
    let mut piece = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = stream.read(&mut piece) {
        kept.lock().unwrap_or_else(PoisonError::into_inner).take(&piece[..read]);
    }
}
