//! Starts the sessions and observes them from outside, whatever program they run.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use kernels::file::Advice;
use kernels::signal::Signal;
use measure::Stopper;
use os::process::reap_orphans;
use os::usage::{Io, Stat, thread_states};

use super::load::LoadMoment;
use super::verdict::{SessionsSeen, verdict};
use super::{FileSharing, SessionOrder, SessionReport, SessionUse};
use crate::Error;
use crate::launch::{Starter, answer, limit_of, time_allowed};

/// Sampling interval of the sessions' states, which is also the error of their times.
const INTERVAL: Duration = Duration::from_millis(10);
/// Threads of a session that are sampled, at most.
const THREADS: usize = 64;
/// Time limit for a killed session to end.
const KILLED: Duration = Duration::from_secs(5);

/// Runs all sessions once, in a helper of `starter`. If this process is killed, they end with it, and their remaining
/// processes end with each repetition.
///
/// # Errors
/// When a session cannot be started, fails or exceeds the time limit, or the user asked to stop.
pub(super) fn run_sessions(order: &SessionOrder, starter: &Starter, stopper: &Stopper) -> Result<SessionReport, Error> {
    for file in &order.files {
        if stopper.asked() {
            return Err(Error::Stopped);
        }
        prepare(file, order.cached)?;
    }
    let report: Result<SessionReport, String> = starter.ask(order, time_allowed(order.patience), stopper)?;
    report.map_err(Error::Sessions)
}

/// The helper of [`super::Sessions`]: runs the sessions specified on `input` once and writes their report to `output`.
/// If this process adopts orphans ([`os::process::adopt_orphans`]), it also counts their children that nobody waited
/// for; no other child of it may run then.
///
/// # Errors
/// When the specification cannot be read or the report cannot be written; the other side is gone then.
pub fn serve_sessions(input: impl Read, output: impl Write) -> std::io::Result<()> {
    answer(input, output, |order: SessionOrder| attend(&order))
}

/// Runs all sessions once, or says what went wrong.
fn attend(order: &SessionOrder) -> Result<SessionReport, String> {
    let cpus = kernels::affinity::allowed().map_or(1, |allowed| allowed.len());
    let before = LoadMoment::now();
    let began = Instant::now();
    let mut sessions = Vec::new();
    for index in 0..order.sessions {
        sessions.push(RunningSession::start(order, index)?);
    }
    let mut orphans = Orphans::default();
    while sessions.iter().any(|session| session.ended.is_none()) {
        if began.elapsed().as_secs_f64() > order.patience {
            return Err(format!("some were still running after {} s", order.patience));
        }
        kernels::timer::sleep(INTERVAL);
        for (index, session) in sessions.iter_mut().enumerate().filter(|(_, session)| session.ended.is_none()) {
            session.sample(index)?;
        }
        orphans.collect(&sessions);
    }
    let wall = began.elapsed().as_secs_f64();
    let (utilisation, iowait, pressure) = LoadMoment::now().since(&before);
    let part = orphans.used.part(sessions.len());
    let sessions: Vec<SessionUse> = sessions.iter().filter_map(|session| session.used(&part)).collect();
    // Sessions that end early leave CPUs idle, so their CPU time is related to the whole time.
    let cpu: f64 = sessions.iter().map(|used| used.cpu * used.wall).sum::<f64>() / wall;
    let share = |of: fn(&SessionUse) -> f64| sessions.iter().map(of).sum::<f64>() / sessions.len() as f64;
    let (verdict, because) = verdict(&SessionsSeen {
        seconds: wall,
        cpu,
        sessions: sessions.len(),
        cpus,
        online: os::usage::per_cpu_times().map_or(cpus, |each| each.len()),
        busy: utilisation,
        waiting: share(|used| used.waiting),
        ready: share(|used| used.ready),
        // For processes that outlive them neither is known.
        delegate: sessions.iter().any(|used| used.delegates) || orphans.running,
        read: sessions.iter().any(|used| used.device > 0.0),
        iowait,
        pressure,
    });
    let left_running = orphans.running;
    Ok(SessionReport { sessions, cpus, wall, utilisation, iowait, pressure, verdict, because, left_running })
}

/// Reads a file into the page cache, or evicts it.
fn prepare(path: &Path, cached: bool) -> Result<(), Error> {
    let fail = |source| Error::File { what: "read", path: path.to_owned(), source };
    let mut file = File::open(path).map_err(fail)?;
    if cached {
        return drain(&mut file).map(|_| ()).map_err(fail);
    }
    let fail = |error: kernels::Error| {
        Error::Sessions(format!("{} could not be evicted from the cache: {error}", path.display()))
    };
    // Only clean pages can be evicted.
    kernels::file::sync(&file).map_err(fail)?;
    kernels::file::advise(&file, Advice::DontNeed).map_err(fail)
}

/// A session that only reads: reads files to their ends and returns the number of bytes.
///
/// # Errors
/// When one cannot be read.
pub fn read_files(files: &[PathBuf]) -> std::io::Result<u64> {
    let mut sum = 0;
    for file in files {
        sum += drain(&mut File::open(file)?)?;
    }
    Ok(sum)
}

fn drain(file: &mut File) -> std::io::Result<u64> {
    let mut piece = vec![0; 1 << 18];
    let mut sum = 0;
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(sum),
            read => sum += read as u64,
        }
    }
}

/// A session that runs or has ended.
struct RunningSession {
    child: Child,
    pid: i32,
    began: Instant,
    samples: Samples,
    ended: Option<EndedSession>,
}

/// Resources of processes that have ended.
#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    /// CPU time, seconds.
    cpu: f64,
    /// Bytes requested, and bytes read from a device.
    asked: f64,
    device: f64,
}

impl Spent {
    /// Usage of a process that has ended and was not waited for, with the children that it waited for.
    fn of(stat: &Stat, io: &Io) -> Self {
        let cpu = (stat.user + stat.system + stat.children).as_secs_f64();
        Self { cpu, asked: io.read_chars as f64, device: io.read_bytes as f64 }
    }

    fn plus(&self, other: &Self) -> Self {
        Self { cpu: self.cpu + other.cpu, asked: self.asked + other.asked, device: self.device + other.device }
    }

    /// One of `parts` equal parts.
    fn part(&self, parts: usize) -> Self {
        let parts = parts.max(1) as f64;
        Self { cpu: self.cpu / parts, asked: self.asked / parts, device: self.device / parts }
    }
}

#[derive(Debug, Clone, Copy)]
struct EndedSession {
    wall: f64,
    /// Its own CPU time, seconds.
    own: f64,
    /// With the children that it waited for.
    spent: Spent,
}

/// Processes whose parents ended before them, which this process has adopted.
#[derive(Debug, Default)]
struct Orphans {
    used: Spent,
    /// Whether some were still running at the last check.
    running: bool,
}

impl Orphans {
    /// Waits for those that have ended.
    fn collect(&mut self, sessions: &[RunningSession]) {
        if !os::process::adopts_orphans() {
            return;
        }
        let own: Vec<i32> = sessions.iter().filter(|one| one.ended.is_none()).map(|one| one.pid).collect();
        let mut ended = |pid: i32| {
            // One that the system does not show, such as a program of another user, is not counted.
            if let Ok(stat) = Stat::of(pid) {
                self.used = self.used.plus(&Spent::of(&stat, &Io::of(pid).unwrap_or_default()));
            }
        };
        self.running = reap_orphans(&own, &mut ended).unwrap_or(false);
    }
}

/// How often a session was sampled in each state.
#[derive(Debug, Default)]
struct Samples {
    waiting: u32,
    ready: u32,
    all: u32,
}

impl RunningSession {
    fn start(order: &SessionOrder, index: usize) -> Result<Self, String> {
        let files = &order.files;
        let own: Vec<&PathBuf> = match order.sharing {
            FileSharing::Shared => {
                let from = index * files.len() / order.sessions;
                files.iter().cycle().skip(from).take(files.len()).collect()
            }
            FileSharing::Own => files.iter().skip(index).step_by(order.sessions).collect(),
        };
        let Some((program, arguments)) = order.command.split_first() else {
            return Err("the command is empty".to_owned());
        };
        let child = Command::new(program)
            .args(arguments)
            .args(own)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{program} could not be started: {error}{}", limit_of(&error)))?;
        let pid = child.id().cast_signed();
        Ok(Self { child, pid, began: Instant::now(), samples: Samples::default(), ended: None })
    }

    /// Records the usage of the session once it has ended: a zombie still has its statistics.
    fn sample(&mut self, index: usize) -> Result<(), String> {
        let stat = Stat::of(self.pid).map_err(|error| error.to_string())?;
        if stat.state != 'Z' {
            // Its threads have no states when it ends at this moment.
            let states = thread_states(self.pid, THREADS).unwrap_or_default();
            let ready = states.contains(&'R');
            self.samples.all += 1;
            self.samples.waiting += u32::from(!ready && states.contains(&'D'));
            self.samples.ready += u32::from(ready);
            return Ok(());
        }
        let wall = self.began.elapsed().as_secs_f64();
        let io = Io::of(self.pid).map_err(|error| error.to_string())?;
        let status = self.child.wait().map_err(|error| error.to_string())?;
        let own = (stat.user + stat.system).as_secs_f64();
        self.ended = Some(EndedSession { wall, own, spent: Spent::of(&stat, &io) });
        if status.success() { Ok(()) } else { Err(format!("session {} ended with {status}", index + 1)) }
    }

    /// Its usage once it has ended, with its share of the orphans'.
    fn used(&self, orphans: &Spent) -> Option<SessionUse> {
        let EndedSession { wall, own, spent } = self.ended?;
        let share = |samples: u32| f64::from(samples) / f64::from(self.samples.all.max(1));
        let spent = spent.plus(orphans);
        Some(SessionUse {
            wall,
            cpu: spent.cpu / wall,
            asked: spent.asked / wall,
            device: spent.device / wall,
            waiting: share(self.samples.waiting),
            ready: share(self.samples.ready),
            delegates: spent.cpu - own > own,
        })
    }
}

impl Drop for RunningSession {
    fn drop(&mut self) {
        if self.ended.is_none() {
            // It may have ended already. The rest of its group ends with this process.
            let _ = os::process::send(self.pid, Some(Signal::Kill));
            // One that hangs in the kernel is left behind.
            let _ = os::process::wait_within(&mut self.child, KILLED);
        }
    }
}
