//! Pinned threads that run one job together, for `threads=all`.
//!
//! The caller is the first member, so a team of one is a plain call. A job is prepared outside the clock: every member
//! arrives at the start, holds the job and spins there. The start is one store and the end one count, so that no lock,
//! no system call and no wake-up of a thread is inside the clock. Between jobs the members sleep: they do not disturb
//! the one-thread results that share the sample.

mod gate;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use self::gate::StartGate;
use crate::{BenchmarkError, Unsupported};

/// Time that members spin at the start, nanoseconds: longer than the slowest of them takes to arrive. The caller spins
/// as long for the end.
const START_SPIN: u64 = 20_000_000;
/// Time that a member spins for its next job before it sleeps, nanoseconds: a check follows its batch immediately.
const IDLE_SPIN: u64 = 20_000;
/// The job number that ends a member.
const END: u32 = u32::MAX;

type Job<S> = Arc<dyn Fn(&mut S) -> u64 + Send + Sync>;
type Make<S> = Arc<dyn Fn(usize) -> Result<S, Unsupported> + Send + Sync>;

/// The result of a member, on its own cache line.
#[derive(Default)]
#[repr(align(128))]
struct Returned(AtomicU64);

struct TeamResults<S> {
    /// Locked outside the clock only.
    job: Mutex<Option<Job<S>>>,
    /// Number of the job that is being prepared.
    called: StartGate,
    /// Members at the start.
    arrived: StartGate,
    /// Twice the number of the running job; one more if it was cancelled.
    started: StartGate,
    /// Members that have finished it.
    finished: StartGate,
    returned: Vec<Returned>,
    failed: AtomicBool,
    /// Message of a panic, if there was one.
    panicked: Mutex<Option<String>>,
    /// Time to spin at the start and the end, nanoseconds.
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
        self.failed.store(true, Ordering::Release);
    }

    /// An error if a job has panicked.
    #[inline]
    fn intact(&self) -> Result<(), BenchmarkError> {
        if !self.failed.load(Ordering::Acquire) {
            return Ok(());
        }
        let text = self.panicked.lock().unwrap_or_else(PoisonError::into_inner);
        Err(BenchmarkError::new(format!("one of its threads panicked: {}", text.as_deref().unwrap_or("no message"))))
    }
}

/// Threads, one per CPU, each with a state that it created itself (so that its memory is near its CPU).
pub(crate) struct ThreadTeam<S> {
    own: S,
    shared: Arc<TeamResults<S>>,
    members: Vec<JoinHandle<()>>,
    tids: Vec<i32>,
    /// Number of the last job.
    number: u32,
    /// The job that members wait to start, and its operations.
    prepared: Option<(u64, Job<S>)>,
}

impl<S: 'static> ThreadTeam<S> {
    /// A thread on each of `cpus`; the first is the caller, which is already pinned.
    ///
    /// # Errors
    /// The first error of `make`, or when a thread could not be pinned or started.
    pub(crate) fn spawn(
        cpus: &[usize],
        make: impl Fn(usize) -> Result<S, Unsupported> + Send + Sync + 'static,
    ) -> Result<Self, Unsupported> {
        // Threads that share a CPU must not spin.
        let crowded = cpus.iter().enumerate().any(|(at, cpu)| cpus[..at].contains(cpu));
        let shared = Arc::new(TeamResults {
            job: Mutex::new(None),
            called: StartGate::default(),
            arrived: StartGate::default(),
            started: StartGate::default(),
            finished: StartGate::default(),
            returned: cpus.iter().skip(1).map(|_| Returned::default()).collect(),
            failed: AtomicBool::new(false),
            panicked: Mutex::new(None),
            spin: if crowded { 0 } else { START_SPIN },
        });
        if let Some(cpu) = cpus.first() {
            kernels::affinity::pin(&[*cpu])?;
        }
        // Members prepare memory one after another: page faults of several threads disturb each other, and each may
        // have help.
        let own = make(0)?;
        let make: Make<S> = Arc::new(make);
        let (members, tids) = (Vec::new(), Vec::new());
        let mut team = Self { own, shared, members, tids, number: 0, prepared: None };
        for (index, cpu) in cpus.iter().enumerate().skip(1) {
            team.start_member(index, *cpu, Arc::clone(&make))?;
        }
        Ok(team)
    }

    fn start_member(&mut self, index: usize, cpu: usize, make: Make<S>) -> Result<(), Unsupported> {
        let (sender, receiver) = std::sync::mpsc::channel();
        let shared = Arc::clone(&self.shared);
        let body = move || {
            let made = kernels::affinity::pin(&[cpu])
                .map_err(Unsupported::from)
                .and_then(|()| make(index))
                .map(|state| (state, kernels::process::raw::gettid()));
            // The receiver exists: the starting thread waits for this.
            match made {
                Ok((state, tid)) => {
                    let _ = sender.send(Ok(tid));
                    serve(&shared, index, state);
                }
                Err(not_measured) => drop(sender.send(Err(not_measured))),
            }
        };
        self.members.push(std::thread::Builder::new().name(format!("member {index}")).spawn(body)?);
        let tid = receiver.recv().map_err(|_| Unsupported::new("a thread ended during its preparation"))??;
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

    /// Outside the clock: passes a job of `ops` operations to every member and waits until all of them are at the
    /// start.
    ///
    /// # Errors
    /// When an earlier job panicked.
    pub(crate) fn prepare(
        &mut self,
        ops: u64,
        job: impl Fn(&mut S) -> u64 + Send + Sync + 'static,
    ) -> Result<(), BenchmarkError> {
        self.cancel();
        self.shared.intact()?;
        let job: Job<S> = Arc::new(job);
        if !self.members.is_empty() {
            *self.shared.job.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&job));
            // Half of the numbers, because `started` has one bit more, and never the number that ends members.
            self.number = if self.number >= END / 2 - 1 { 1 } else { self.number + 1 };
            self.shared.arrived.reset();
            self.shared.finished.reset();
            self.shared.called.set(self.number);
            self.shared.arrived.wait(|arrived| arrived == self.shared.members(), self.shared.spin);
        }
        self.prepared = Some((ops, job));
        Ok(())
    }

    /// Every member runs the prepared job at once. Returns the sum of the results, wrapping.
    ///
    /// # Errors
    /// When no job of `ops` operations was prepared, or it panicked in a thread.
    pub(crate) fn start(&mut self, ops: u64) -> Result<u64, BenchmarkError> {
        let job = self.prepared.take_if(|(prepared, _)| *prepared == ops).map(|(_, job)| job);
        let job = job.ok_or_else(|| BenchmarkError::new(format!("no job of {ops} operations was prepared")))?;
        if self.members.is_empty() {
            return Ok(job(&mut self.own));
        }
        self.shared.started.set(2 * self.number);
        let own = catch_unwind(AssertUnwindSafe(|| job(&mut self.own)));
        self.shared.finished.wait(|finished| finished == self.shared.members(), self.shared.spin);
        let others = self.shared.returned.iter().map(|returned| returned.0.load(Ordering::Relaxed));
        let others = others.fold(0, u64::wrapping_add);
        let own = own.unwrap_or_else(|payload| {
            self.shared.panics(payload.as_ref());
            0
        });
        self.shared.intact().map(|()| own.wrapping_add(others))
    }

    /// Outside the clock: prepares a job and starts it.
    ///
    /// # Errors
    /// As for both of them.
    pub(crate) fn run(&mut self, job: impl Fn(&mut S) -> u64 + Send + Sync + 'static) -> Result<u64, BenchmarkError> {
        self.prepare(1, job)?;
        self.start(1)
    }
}

impl<S> ThreadTeam<S> {
    /// Cancels a prepared job.
    fn cancel(&mut self) {
        if self.prepared.take().is_some() && !self.members.is_empty() {
            self.shared.started.set(2 * self.number + 1);
            self.shared.finished.wait(|finished| finished == self.shared.members(), self.shared.spin);
        }
    }
}

impl<S> Drop for ThreadTeam<S> {
    fn drop(&mut self) {
        self.cancel();
        self.shared.called.set(END);
        for member in self.members.drain(..) {
            // A member catches panics of its jobs, so this is the end that was requested.
            let _ = member.join();
        }
    }
}

fn serve<S>(shared: &TeamResults<S>, index: usize, mut state: S) {
    let mut done = 0;
    loop {
        let number = shared.called.wait(|number| number != done, IDLE_SPIN.min(shared.spin));
        if number == END {
            return;
        }
        let job = shared.job.lock().unwrap_or_else(PoisonError::into_inner).clone();
        shared.arrived.add_towards(shared.members());
        let cancelled = shared.started.wait(|started| started / 2 == number, shared.spin) % 2 == 1;
        if let Some(job) = job.filter(|_| !cancelled) {
            match catch_unwind(AssertUnwindSafe(|| job(&mut state))) {
                Ok(result) => shared.returned[index - 1].0.store(result, Ordering::Relaxed),
                Err(payload) => shared.panics(payload.as_ref()),
            }
        }
        done = number;
        shared.finished.add_towards(shared.members());
    }
}

#[cfg(test)]
mod tests;
