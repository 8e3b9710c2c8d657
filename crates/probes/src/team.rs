//! Pinned threads that do one thing together: what `threads=all` runs on.
//!
//! The caller is the first member, so a team of one is a plain call. A job is prepared outside the clock: every member comes
//! to the start, has the job in its hands and spins there. Starting it is one store, and its end one count, so that the clock
//! holds no lock, no system call and no waking thread. Between jobs the members sleep: they do not disturb the one-thread
//! figures that share the launch.

mod gate;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use self::gate::StartGate;
use crate::{ProbeError, Unsupported};

/// How long members spin at the start, nanoseconds: longer than the slowest of them takes to come there. The caller spins as
/// long for the end.
const AT_THE_START: u64 = 20_000_000;
/// How long a member spins for its next job before it sleeps, nanoseconds: a check follows its batch at once.
const IDLE: u64 = 20_000;
/// The call that ends a member.
const DISMISSED: u32 = u32::MAX;

type Job<S> = Arc<dyn Fn(&mut S) -> u64 + Send + Sync>;
type Make<S> = Arc<dyn Fn(usize) -> Result<S, Unsupported> + Send + Sync>;

/// What a member returned, on a cache line of its own.
#[derive(Default)]
#[repr(align(128))]
struct Returned(AtomicU64);

struct TeamResults<S> {
    /// Taken outside the clock only.
    job: Mutex<Option<Job<S>>>,
    /// Number of the job that members should come to the start for.
    called: StartGate,
    /// Members that stand at the start.
    arrived: StartGate,
    /// Twice the number of the job that runs; one more when it was called off.
    started: StartGate,
    /// Members that are done with it.
    finished: StartGate,
    returned: Vec<Returned>,
    troubled: AtomicBool,
    /// What a panic said, where there is trouble.
    panicked: Mutex<Option<String>>,
    /// How long to spin at the start and the end, nanoseconds.
    spin: u64,
}

impl<S> TeamResults<S> {
    fn members(&self) -> u32 {
        u32::try_from(self.returned.len()).unwrap_or(u32::MAX)
    }

    fn panics(&self, payload: &(dyn std::any::Any + Send)) {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        *self.panicked.lock().unwrap_or_else(PoisonError::into_inner) = text;
        self.troubled.store(true, Ordering::Release);
    }

    /// Whether no job ever panicked.
    #[inline]
    fn intact(&self) -> Result<(), ProbeError> {
        if !self.troubled.load(Ordering::Acquire) {
            return Ok(());
        }
        let text = self.panicked.lock().unwrap_or_else(PoisonError::into_inner);
        Err(ProbeError::new(format!("one of its threads panicked: {}", text.as_deref().unwrap_or("without a word"))))
    }
}

/// Threads, one a CPU, each with a state that it made itself (so that its memory is near its CPU).
pub(crate) struct ThreadTeam<S> {
    own: S,
    board: Arc<TeamResults<S>>,
    members: Vec<JoinHandle<()>>,
    tids: Vec<i32>,
    /// Number of the last job.
    number: u32,
    /// The job that members stand at the start for, and its operations.
    prepared: Option<(u64, Job<S>)>,
}

impl<S: 'static> ThreadTeam<S> {
    /// A thread on each of `cpus`; the first is the caller, which is already where it should be.
    ///
    /// # Errors
    /// What the first failing `make` says, or that a thread could not be pinned or started.
    pub(crate) fn spawn(
        cpus: &[usize],
        make: impl Fn(usize) -> Result<S, Unsupported> + Send + Sync + 'static,
    ) -> Result<Self, Unsupported> {
        // Threads that share a CPU must leave it to each other at once.
        let crowded = cpus.iter().enumerate().any(|(at, cpu)| cpus[..at].contains(cpu));
        let board = Arc::new(TeamResults {
            job: Mutex::new(None),
            called: StartGate::default(),
            arrived: StartGate::default(),
            started: StartGate::default(),
            finished: StartGate::default(),
            returned: cpus.iter().skip(1).map(|_| Returned::default()).collect(),
            troubled: AtomicBool::new(false),
            panicked: Mutex::new(None),
            spin: if crowded { 0 } else { AT_THE_START },
        });
        if let Some(cpu) = cpus.first() {
            sys::affinity::pin(&[*cpu])?;
        }
        // Memory is prepared one member after another: page faults of several threads disturb each other.
        let own = make(0)?;
        let make: Make<S> = Arc::new(make);
        let (members, tids) = (Vec::new(), Vec::new());
        let mut team = Self { own, board, members, tids, number: 0, prepared: None };
        for (index, cpu) in cpus.iter().enumerate().skip(1) {
            team.start_member(index, *cpu, Arc::clone(&make))?;
        }
        Ok(team)
    }

    fn start_member(&mut self, index: usize, cpu: usize, make: Make<S>) -> Result<(), Unsupported> {
        let (tell, told) = std::sync::mpsc::channel();
        let board = Arc::clone(&self.board);
        let body = move || {
            let made = sys::affinity::pin(&[cpu])
                .map_err(Unsupported::from)
                .and_then(|()| make(index))
                .map(|state| (state, sys::process::raw::gettid()));
            // The starter waits for this, and outlives the member.
            match made {
                Ok((state, tid)) => {
                    let _ = tell.send(Ok(tid));
                    serve(&board, index, state);
                }
                Err(unfit) => drop(tell.send(Err(unfit))),
            }
        };
        self.members.push(std::thread::Builder::new().name(format!("member {index}")).spawn(body)?);
        let tid = told.recv().map_err(|_| Unsupported::new("a thread ended while it prepared"))??;
        self.tids.push(tid);
        Ok(())
    }

    /// Thread ids of the members other than the caller.
    pub(crate) fn tids(&self) -> &[i32] {
        &self.tids
    }

    /// The caller's own state.
    pub(crate) fn own(&mut self) -> &mut S {
        &mut self.own
    }

    /// Outside the clock: gives every member the job of so many operations and waits until all of them stand at the start.
    ///
    /// # Errors
    /// When an earlier job panicked.
    pub(crate) fn prepare(
        &mut self,
        ops: u64,
        job: impl Fn(&mut S) -> u64 + Send + Sync + 'static,
    ) -> Result<(), ProbeError> {
        self.call_off();
        self.board.intact()?;
        let job: Job<S> = Arc::new(job);
        if !self.members.is_empty() {
            *self.board.job.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&job));
            // Half of the numbers, because a start has one bit more, and never the one that dismisses.
            self.number = if self.number >= DISMISSED / 2 - 1 { 1 } else { self.number + 1 };
            self.board.arrived.reset();
            self.board.finished.reset();
            self.board.called.set(self.number);
            self.board.arrived.wait(|arrived| arrived == self.board.members(), self.board.spin);
        }
        self.prepared = Some((ops, job));
        Ok(())
    }

    /// Every member does the prepared job at once; the sum of what they return, wrapping.
    ///
    /// # Errors
    /// When no job of so many operations was prepared, or it panicked in a thread.
    pub(crate) fn start(&mut self, ops: u64) -> Result<u64, ProbeError> {
        let job = self.prepared.take_if(|(prepared, _)| *prepared == ops).map(|(_, job)| job);
        let job =
            job.ok_or_else(|| ProbeError::new(format!("its threads were not at the start of {ops} operations")))?;
        if self.members.is_empty() {
            return Ok(job(&mut self.own));
        }
        self.board.started.set(2 * self.number);
        let own = catch_unwind(AssertUnwindSafe(|| job(&mut self.own)));
        self.board.finished.wait(|finished| finished == self.board.members(), self.board.spin);
        let others = self.board.returned.iter().map(|returned| returned.0.load(Ordering::Relaxed));
        let others = others.fold(0, u64::wrapping_add);
        let own = own.unwrap_or_else(|payload| {
            self.board.panics(payload.as_ref());
            0
        });
        self.board.intact().map(|()| own.wrapping_add(others))
    }

    /// Outside the clock: prepares a job and starts it.
    ///
    /// # Errors
    /// As both of them.
    pub(crate) fn run(&mut self, job: impl Fn(&mut S) -> u64 + Send + Sync + 'static) -> Result<u64, ProbeError> {
        self.prepare(1, job)?;
        self.start(1)
    }
}

impl<S> ThreadTeam<S> {
    /// Sends members away from the start of a job that will not be started.
    fn call_off(&mut self) {
        if self.prepared.take().is_some() && !self.members.is_empty() {
            self.board.started.set(2 * self.number + 1);
            self.board.finished.wait(|finished| finished == self.board.members(), self.board.spin);
        }
    }
}

impl<S> Drop for ThreadTeam<S> {
    fn drop(&mut self) {
        self.call_off();
        self.board.called.set(DISMISSED);
        for member in self.members.drain(..) {
            // A member catches what its jobs do: it ends because it was dismissed.
            let _ = member.join();
        }
    }
}

fn serve<S>(board: &TeamResults<S>, index: usize, mut state: S) {
    let mut done = 0;
    loop {
        let number = board.called.wait(|number| number != done, IDLE.min(board.spin));
        if number == DISMISSED {
            return;
        }
        let job = board.job.lock().unwrap_or_else(PoisonError::into_inner).clone();
        board.arrived.add_towards(board.members());
        let called_off = board.started.wait(|started| started / 2 == number, board.spin) % 2 == 1;
        if let Some(job) = job.filter(|_| !called_off) {
            match catch_unwind(AssertUnwindSafe(|| job(&mut state))) {
                Ok(result) => board.returned[index - 1].0.store(result, Ordering::Relaxed),
                Err(payload) => board.panics(payload.as_ref()),
            }
        }
        done = number;
        board.finished.add_towards(board.members());
    }
}

#[cfg(test)]
mod tests;
