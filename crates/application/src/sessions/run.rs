//! Starts the sessions and observes them from outside, whatever program they run.

use std::fs::File;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use measure::Stopper;
use sys::file::Advice;
use sys::signal::Signal;
use sys::usage::{Io, Stat, thread_states};

use super::load::LoadMoment;
use super::verdict::{SessionsSeen, verdict};
use super::{FileSharing, SessionOrder, SessionReport, SessionUse};
use crate::Error;

/// Sampling interval of the sessions' states, which is also the error of their times.
const INTERVAL: Duration = Duration::from_millis(10);
/// Threads of a session that are sampled, at most.
const THREADS: usize = 64;
/// Time limit for a killed session to end.
const KILLED: Duration = Duration::from_secs(5);

/// Runs all sessions once.
///
/// # Errors
/// When a session cannot be started, fails or exceeds the time limit, or the user asked to stop.
pub(super) fn run_sessions(order: &SessionOrder, stopper: &Stopper) -> Result<SessionReport, Error> {
    for file in &order.files {
        prepare(file, order.cached)?;
    }
    let cpus = sys::affinity::allowed().map_or(1, |allowed| allowed.len());
    let before = LoadMoment::now();
    let began = Instant::now();
    let mut sessions = Vec::new();
    for index in 0..order.sessions {
        sessions.push(RunningSession::start(order, index)?);
    }
    while sessions.iter().any(|session| session.used.is_none()) {
        if stopper.asked() {
            return Err(Error::Stopped);
        }
        if began.elapsed().as_secs_f64() > order.patience {
            return Err(Error::Sessions(format!("some were still running after {} s", order.patience)));
        }
        std::thread::sleep(INTERVAL);
        for (index, session) in sessions.iter_mut().enumerate().filter(|(_, session)| session.used.is_none()) {
            session.sample(index)?;
        }
    }
    let wall = began.elapsed().as_secs_f64();
    let (utilisation, iowait, pressure) = LoadMoment::now().since(&before);
    let sessions: Vec<SessionUse> = sessions.iter().filter_map(|session| session.used).collect();
    // Sessions that end early leave CPUs idle, so their CPU time is related to the whole time.
    let cpu: f64 = sessions.iter().map(|used| used.cpu * used.wall).sum::<f64>() / wall;
    let share = |of: fn(&SessionUse) -> f64| sessions.iter().map(of).sum::<f64>() / sessions.len() as f64;
    let (verdict, because) = verdict(&SessionsSeen {
        seconds: wall,
        cpu,
        sessions: sessions.len(),
        cpus,
        online: sys::usage::per_cpu_times().map_or(cpus, |each| each.len()),
        busy: utilisation,
        waiting: share(|used| used.waiting),
        ready: share(|used| used.ready),
        delegate: sessions.iter().any(|used| used.delegates),
        read: sessions.iter().any(|used| used.device > 0.0),
        iowait,
        pressure,
    });
    Ok(SessionReport { sessions, cpus, wall, utilisation, iowait, pressure, verdict, because })
}

/// Reads a file into the page cache, or evicts it.
fn prepare(path: &Path, cached: bool) -> Result<(), Error> {
    let fail = |source| Error::File { what: "read", path: path.to_owned(), source };
    let mut file = File::open(path).map_err(fail)?;
    if cached {
        return drain(&mut file).map(|_| ()).map_err(fail);
    }
    let fail =
        |error: sys::Error| Error::Sessions(format!("{} could not be evicted from the cache: {error}", path.display()));
    // Only clean pages can be evicted.
    sys::file::sync(&file).map_err(fail)?;
    sys::file::advise(&file, Advice::DontNeed).map_err(fail)
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
    used: Option<SessionUse>,
}

/// How often a session was sampled in each state.
#[derive(Debug, Default)]
struct Samples {
    waiting: u32,
    ready: u32,
    all: u32,
}

impl RunningSession {
    fn start(order: &SessionOrder, index: usize) -> Result<Self, Error> {
        let files = &order.files;
        let own: Vec<&PathBuf> = match order.sharing {
            FileSharing::Shared => {
                let from = index * files.len() / order.sessions;
                files.iter().cycle().skip(from).take(files.len()).collect()
            }
            FileSharing::Own => files.iter().skip(index).step_by(order.sessions).collect(),
        };
        let Some((program, arguments)) = order.command.split_first() else {
            return Err(Error::Sessions("the command is empty".to_owned()));
        };
        let child = Command::new(program)
            .args(arguments)
            .args(own)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(|error| Error::Sessions(format!("{program} could not be started: {error}")))?;
        let pid = i32::try_from(child.id()).map_err(|error| Error::Sessions(error.to_string()))?;
        Ok(Self { child, pid, began: Instant::now(), samples: Samples::default(), used: None })
    }

    /// Records what the session used once it has ended: a zombie still has its statistics.
    fn sample(&mut self, index: usize) -> Result<(), Error> {
        let stat = Stat::of(self.pid).map_err(|error| Error::Sessions(error.to_string()))?;
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
        let io = Io::of(self.pid).map_err(|error| Error::Sessions(error.to_string()))?;
        let status = self.child.wait().map_err(|error| Error::Sessions(error.to_string()))?;
        if !status.success() {
            return Err(Error::Sessions(format!("session {} ended with {status}", index + 1)));
        }
        let share = |samples: u32| f64::from(samples) / f64::from(self.samples.all.max(1));
        self.used = Some(SessionUse {
            wall,
            cpu: (stat.user + stat.system + stat.children).as_secs_f64() / wall,
            asked: io.read_chars as f64 / wall,
            device: io.read_bytes as f64 / wall,
            waiting: share(self.samples.waiting),
            ready: share(self.samples.ready),
            delegates: stat.children > stat.user + stat.system,
        });
        Ok(())
    }
}

impl Drop for RunningSession {
    fn drop(&mut self) {
        if self.used.is_none() {
            // It may have ended by itself already.
            let _ = sys::process::kill_group(self.pid, Signal::Kill);
            // One that hangs in the kernel is left behind.
            let _ = sys::process::wait_within(&mut self.child, KILLED);
        }
    }
}
