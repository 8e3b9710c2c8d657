//! Exchanging record locks.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::Ordering;

use kernels::file::{Lock, set_lock};
use kernels::memory::SharedCounters;

use crate::Scratch;
use crate::line::{PartyLine, peer_ended, pipes, receive};
use crate::peer_process::PeerProcess;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "os.file_lock",
    title: "file lock hand-off",
    about: "Two processes hand over record locks (fcntl) on one file. Each gives back a lock that the other waits \
            for, and waits for one that the other holds. A round trip is eight calls; two of them sleep.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "round trip"),
    class: Class::Ipc,
    stresses: &[Primitive::FileLock, Primitive::ContextSwitch],
    sources: &[DefinitionSource::new("lmbench", "lat_fcntl", "McVoy & Staelin, USENIX ATC 1996")],
    parameters: &[Parameter::placement(&["same_cpu"])],
    parties: Parties::Placed,
    prepare,
    ..Benchmark::BLANK
};

/// Each side has two bytes of the file, used alternately: while one is unlocked for the other side, the other one stays
/// locked.
const OURS: [u64; 2] = [0, 1];
const THEIRS: [u64; 2] = [2, 3];

fn take(file: &File, byte: u64) -> kernels::Result<()> {
    set_lock(file.as_fd(), Some(Lock::Exclusive), byte, 1)
}

fn give(file: &File, byte: u64) -> kernels::Result<()> {
    set_lock(file.as_fd(), None, byte, 1)
}

struct LockExchange {
    file: File,
    _line: PartyLine,
    _peer: PeerProcess,
    _files: Rc<Scratch>,
    /// Rounds of the peer so far.
    had: Rc<SharedCounters>,
    round: usize,
    began: u64,
}

fn prepare(_: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let files = context.scratch()?;
    let path = files.path().join("locks");
    let open = |path: &Path| File::options().read(true).write(true).create(true).truncate(false).open(path);
    let file = open(&path)?;
    for byte in OURS {
        take(&file, byte)?;
    }
    let had = Rc::new(SharedCounters::new(1)?);
    let theirs = Rc::clone(&had);
    let (near, far) = pipes()?;
    // The peer opens the file itself: closing any descriptor of it here would release all locks (fcntl(2)).
    let (peer, line) = PeerProcess::start(context, 1, near, (far, path), |(line, path)| {
        let file = open(&path)?;
        THEIRS.iter().try_for_each(|byte| take(&file, *byte))?;
        line.send(b"!")?;
        let count = theirs.get(0).ok_or_else(peer_ended)?;
        for parity in (0..2).cycle() {
            take(&file, OURS[parity])?;
            give(&file, OURS[parity])?;
            // Releases the previous lock, which is needed again in the round after the next.
            if count.fetch_add(1, Ordering::Relaxed) > 0 {
                take(&file, THEIRS[1 - parity])?;
            }
            give(&file, THEIRS[parity])?;
        }
        Ok(())
    })?;
    if !receive(&line.from, &mut [0])? {
        return Err(Unsupported::new("the file system of the target directory has no record locks"));
    }
    Ok(Trial::one(LockExchange { file, _line: line, _peer: peer, _files: files, had, round: 0, began: 0 }))
}

impl LockExchange {
    fn had(&self) -> Result<u64, BenchmarkError> {
        Ok(self.had.get(0).ok_or_else(peer_ended)?.load(Ordering::Relaxed))
    }

    #[inline]
    fn exchange(&mut self) -> Result<(), BenchmarkError> {
        let parity = self.round % 2;
        give(&self.file, OURS[parity])?;
        take(&self.file, THEIRS[parity])?;
        give(&self.file, THEIRS[parity])?;
        take(&self.file, OURS[parity])?;
        self.round += 1;
        Ok(())
    }
}

impl Kernel for LockExchange {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        self.began = self.had()?;
        for _ in 0..ops {
            self.exchange()?;
        }
        Ok(BatchWork { ops, token: self.had()? - self.began })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        // The locks of a peer that ended are free, so only its count proves its rounds.
        BenchmarkError::unless_equal(done.token, done.ops)
    }

    fn each(&mut self, record: &mut Recorder) -> Result<(), BenchmarkError> {
        while record.remaining() > 0 {
            record.time(|| self.exchange())?;
        }
        Ok(())
    }
}
