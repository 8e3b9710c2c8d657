//! Usage of one process from `/proc/PID` (proc(5)).

use std::path::Path;
use std::time::Duration;

use kernels::text;

use crate::error::{Error, Result};
use crate::usage::{of_ticks, ticks_per_second};

/// Bytes and calls of input and output of a process (`/proc/PID/io`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Io {
    /// Bytes requested by read-like calls, cached or not.
    pub read_chars: u64,
    /// Bytes passed to write-like calls.
    pub write_chars: u64,
    /// Read-like calls.
    pub read_calls: u64,
    /// Write-like calls.
    pub write_calls: u64,
    /// Bytes fetched from storage.
    pub read_bytes: u64,
    /// Bytes that are to be written to storage.
    pub write_bytes: u64,
}

impl Io {
    /// Total so far, of this process.
    pub fn own() -> Result<Self> {
        Self::read("/proc/self/io")
    }

    /// Total so far, of a process of the same user.
    pub fn of(pid: i32) -> Result<Self> {
        Self::under(Path::new("/"), pid)
    }

    /// The same from a copy of a machine's `/proc`.
    pub fn under(root: &Path, pid: i32) -> Result<Self> {
        Self::read(&root.join(format!("proc/{pid}/io")).display().to_string())
    }

    fn read(path: &str) -> Result<Self> {
        let text = text::read(path)?;
        let get = |key| {
            text::field_number(&text, key)
                .ok_or_else(|| Error::refused(format!("read {path}"), format!("it has no {key}")))
        };
        Ok(Self {
            read_chars: get("rchar")?,
            write_chars: get("wchar")?,
            read_calls: get("syscr")?,
            write_calls: get("syscw")?,
            read_bytes: get("read_bytes")?,
            write_bytes: get("write_bytes")?,
        })
    }

    /// Difference to `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            read_chars: self.read_chars.saturating_sub(before.read_chars),
            write_chars: self.write_chars.saturating_sub(before.write_chars),
            read_calls: self.read_calls.saturating_sub(before.read_calls),
            write_calls: self.write_calls.saturating_sub(before.write_calls),
            read_bytes: self.read_bytes.saturating_sub(before.read_bytes),
            write_bytes: self.write_bytes.saturating_sub(before.write_bytes),
        }
    }
}

/// Selected fields of `/proc/PID/stat`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// Process number.
    pub pid: i32,
    /// Name of the program, at most 15 bytes.
    pub name: String,
    /// `R` running, `S` sleeping, `D` waiting for a device, `Z` ended but not waited for, `T` stopped ...
    pub state: char,
    /// Parent.
    pub parent: i32,
    /// Process group.
    pub group: i32,
    /// Page faults served without I/O, of all its threads.
    pub minor_faults: u64,
    /// Page faults that needed I/O, of all its threads.
    pub major_faults: u64,
    /// CPU time in user mode, counted in steps of [`crate::usage::clock_tick`].
    pub user: Duration,
    /// CPU time in kernel mode, counted in the same steps.
    pub system: Duration,
    /// CPU time in both modes of children that it waited for.
    pub children: Duration,
    /// Nice value: -20 is the highest priority, 19 the lowest.
    pub nice: i32,
    /// Number of threads.
    pub threads: u32,
    /// Start time, clock ticks after boot; together with `pid` it identifies a process permanently.
    pub started_ticks: u64,
    /// CPU it last ran on.
    pub processor: usize,
    /// Scheduling policy: 0 other, 1 FIFO, 2 round robin, 3 batch, 5 idle, 6 deadline.
    pub policy: u32,
}

impl Stat {
    /// The fields of a process or thread.
    pub fn of(pid: i32) -> Result<Self> {
        Self::under(Path::new("/"), pid)
    }

    /// The same from a copy of a machine's `/proc`.
    pub fn under(root: &Path, pid: i32) -> Result<Self> {
        Self::read(&root.join(format!("proc/{pid}/stat")))
    }

    /// The fields of this process.
    pub fn own() -> Result<Self> {
        Self::read(Path::new("/proc/self/stat"))
    }

    fn read(path: &Path) -> Result<Self> {
        Self::parse(&text::read(path)?, ticks_per_second())
            .ok_or_else(|| Error::refused(format!("read {}", path.display()), "it is not in the form of proc(5)"))
    }

    fn parse(text: &str, ticks: u64) -> Option<Self> {
        // The name may contain spaces and parentheses: it ends at the last closing one.
        let (pid, rest) = text.split_once(" (")?;
        let (name, rest) = rest.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        // proc(5) numbers fields from 1, and the state is the third.
        let field = |number: usize| fields.get(number - 3).copied();
        let time = |number: usize| Some(of_ticks(field(number)?.parse().ok()?, ticks));
        Some(Self {
            pid: pid.parse().ok()?,
            name: name.to_owned(),
            state: field(3)?.chars().next()?,
            parent: field(4)?.parse().ok()?,
            group: field(5)?.parse().ok()?,
            minor_faults: field(10)?.parse().ok()?,
            major_faults: field(12)?.parse().ok()?,
            user: time(14)?,
            system: time(15)?,
            children: time(16)? + time(17)?,
            nice: field(19)?.parse().ok()?,
            threads: field(20)?.parse().ok()?,
            started_ticks: field(22)?.parse().ok()?,
            processor: field(39)?.parse().ok()?,
            policy: field(41)?.parse().ok()?,
        })
    }
}

/// Context switches of a process's main thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Switches {
    /// Yielded the CPU to wait.
    pub voluntary: u64,
    /// Preempted.
    pub involuntary: u64,
}

/// Context switches so far of another process (`/proc/PID/status`), from `/` or a copy of a machine's `/proc`.
pub fn switches_under(root: &Path, pid: i32) -> Result<Switches> {
    let path = root.join(format!("proc/{pid}/status"));
    let text = text::read(&path)?;
    let get = |key| {
        text::field_number(&text, key)
            .ok_or_else(|| Error::refused(format!("read {}", path.display()), format!("it has no {key}")))
    };
    Ok(Switches { voluntary: get("voluntary_ctxt_switches")?, involuntary: get("nonvoluntary_ctxt_switches")? })
}

/// Time on a CPU so far of a process's main thread, to the nanosecond (the first number of `/proc/PID/schedstat`), from
/// `/` or a copy of a machine's `/proc`.
pub fn cpu_time_under(root: &Path, pid: i32) -> Result<Duration> {
    let path = root.join(format!("proc/{pid}/schedstat"));
    let text = text::read(&path)?;
    let nanos = text.split_whitespace().next().and_then(|first| first.parse().ok());
    nanos
        .map(Duration::from_nanos)
        .ok_or_else(|| Error::refused(format!("read {}", path.display()), "it does not begin with a time"))
}

/// Peak resident memory of this program, bytes. In contrast to that of getrusage(2) it starts at zero after execve(2).
pub fn peak_resident_bytes() -> Result<u64> {
    let text = text::read("/proc/self/status")?;
    let kib: u64 = text::field_number(&text, "VmHWM")
        .ok_or_else(|| Error::refused("read /proc/self/status", "it has no VmHWM"))?;
    Ok(kib * 1024)
}

/// Private resident memory of this process: pages without a file, in bytes (`RssAnon`, Linux 4.5).
pub fn anonymous_bytes() -> Result<u64> {
    let text = text::read("/proc/self/status")?;
    let kib: u64 = text::field_number(&text, "RssAnon")
        .ok_or_else(|| Error::refused("read /proc/self/status", "it has no RssAnon"))?;
    Ok(kib * 1024)
}

/// The current threads of a process, the first one first (`/proc/PID/task`).
pub fn threads_of(pid: i32) -> Result<Vec<i32>> {
    threads_under(Path::new("/"), pid)
}

/// States of at most `most` current threads of a process, as [`Stat::state`] has them (`/proc/PID/task/TID/stat`). The
/// state of the process alone is that of its first thread, which may wait for others that work.
pub fn thread_states(pid: i32, most: usize) -> Result<Vec<char>> {
    let threads = threads_of(pid)?;
    // A thread that has ended since has no state.
    let state = |thread: i32| Stat::read(Path::new(&format!("/proc/{pid}/task/{thread}/stat"))).ok();
    Ok(threads.into_iter().take(most).filter_map(state).map(|stat| stat.state).collect())
}

fn threads_under(root: &Path, pid: i32) -> Result<Vec<i32>> {
    let path = root.join(format!("proc/{pid}/task"));
    let entries = std::fs::read_dir(&path).map_err(|error| Error::os(format!("read {}", path.display()), error))?;
    let number = |entry: std::io::Result<std::fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse().ok();
    Ok(entries.filter_map(number).collect())
}

/// Migrations between CPUs of the current threads of a process (`nr_migrations` of `/proc/PID/task/TID/sched`; kernels
/// without scheduler debugging do not have the file).
pub fn migrations_of(pid: i32) -> Result<u64> {
    migrations_under(Path::new("/"), pid)
}

/// The same from a copy of a machine's `/proc`.
pub fn migrations_under(root: &Path, pid: i32) -> Result<u64> {
    let threads = threads_under(root, pid)?;
    threads.into_iter().map(|thread| migrations_in(&root.join(format!("proc/{pid}/task/{thread}/sched")))).sum()
}

fn migrations_in(path: &Path) -> Result<u64> {
    let text = text::read(path)?;
    text::field_number(&text, "se.nr_migrations")
        .or_else(|| text::field_number(&text, "nr_migrations"))
        .ok_or_else(|| Error::refused(format!("read {}", path.display()), "it has no nr_migrations"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_blanks() {
        let line = "42 (a) b (c)) R 1 42 42 0 -1 4194304 100 0 0 0 7 8 0 0 20 -5 3 0 12345 1000 10 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 5 0 2 0 0 0";
        let stat = Stat::parse(line, 250).unwrap();
        assert_eq!((stat.pid, stat.name.as_str(), stat.state, stat.parent), (42, "a) b (c)", 'R', 1));
        assert_eq!((stat.user, stat.system), (Duration::from_millis(28), Duration::from_millis(32)));
        assert_eq!((stat.nice, stat.threads), (-5, 3));
        assert_eq!((stat.started_ticks, stat.processor, stat.policy), (12345, 5, 2));
        for cut in 0..line.len() - 8 {
            let _ = Stat::parse(&line[..cut], 100);
        }
    }

    #[test]
    fn own_results_are_there() {
        let me = std::process::id() as i32;
        assert_eq!(Stat::own().unwrap().pid, me);
        assert!(switches_under(Path::new("/"), me).is_ok());
        assert!((1..=peak_resident_bytes().unwrap()).contains(&anonymous_bytes().unwrap()));
        let before = Io::own();
        if let Err(reason) = &before {
            testing::lacks!("the I/O counts: {reason}");
        } else {
            std::fs::write("/dev/null", vec![0u8; 1000]).unwrap();
            assert!(Io::own().unwrap().since(&before.unwrap()).write_chars >= 1000);
        }
        if let Err(reason) = migrations_of(me) {
            testing::lacks!("migrations: {reason}");
        }
    }

    #[test]
    fn every_thread_of_a_process_counts() {
        let me = std::process::id() as i32;
        let (tell, told) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let body = move || {
            tell.send(kernels::process::raw::gettid()).unwrap();
            let _ = ended.recv();
        };
        let thread = std::thread::Builder::new().spawn(body).unwrap();
        let threads = threads_of(me).unwrap();
        assert!(threads.contains(&me) && threads.contains(&told.recv().unwrap()), "{threads:?}");
        let states = thread_states(me, usize::MAX).unwrap();
        assert!(states.len() >= 2 && states.contains(&'R'), "this thread runs: {states:?}");
        assert_eq!(thread_states(me, 1).unwrap().len(), 1);
        drop(end);
        thread.join().unwrap();

        let root = tempfile::tempdir().unwrap();
        for (thread, moves) in [(7, 3), (8, 40)] {
            let folder = root.path().join(format!("proc/7/task/{thread}"));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("sched"), format!("x (7, #threads: 2)\nse.nr_migrations : {moves}\n")).unwrap();
        }
        assert_eq!(migrations_under(root.path(), 7).unwrap(), 43);
        std::fs::remove_file(root.path().join("proc/7/task/8/sched")).unwrap();
        assert!(migrations_under(root.path(), 7).is_err(), "a part is not the whole");
    }

    #[test]
    fn no_such_process_is_an_error() {
        assert!(Stat::of(i32::MAX).is_err());
        assert!(switches_under(Path::new("/"), i32::MAX).is_err());
    }
}
