//! Pinned threads that do one thing together: what `threads=all` runs on.
//!
//! The caller is the first member, so a team of one is a plain call. The others spin for their next job while a launch
//! measures, because waking a sleeping thread takes longer than many a batch; left alone they go to sleep, so that they do
//! not disturb the one-thread figures that share the launch.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{JoinHandle, Thread};
use std::time::Duration;

use crate::Unfit;

/// Looks for a job before a member goes to sleep: a few milliseconds.
const PATIENCE: u32 = 200_000;

type Job<S> = Arc<dyn Fn(&mut S) -> u64 + Send + Sync>;

struct Board<S> {
    job: Mutex<Option<Job<S>>>,
    /// Number of the job; a member that has seen a smaller one has work.
    number: AtomicU64,
    /// Members still at the present job.
    busy: AtomicUsize,
    /// Members that spin rather than sleep.
    awake: AtomicUsize,
    dismissed: AtomicBool,
    results: Vec<AtomicU64>,
}

/// Threads, one a CPU, each with a state that it made itself (so that its memory is near its CPU).
pub(crate) struct Team<S> {
    own: S,
    board: Arc<Board<S>>,
    members: Vec<(Thread, Option<JoinHandle<()>>)>,
    tids: Vec<i32>,
}

impl<S: 'static> Team<S> {
    /// A thread on each of `cpus`; the first is the caller, which is already where it should be.
    ///
    /// # Errors
    /// What the first failing `make` says, or that a thread could not be pinned or made.
    pub(crate) fn gather(
        cpus: &[usize],
        make: impl Fn(usize) -> Result<S, Unfit> + Send + Sync + 'static,
    ) -> Result<Self, Unfit> {
        let board = Arc::new(Board {
            job: Mutex::new(None),
            number: AtomicU64::new(0),
            busy: AtomicUsize::new(0),
            awake: AtomicUsize::new(0),
            dismissed: AtomicBool::new(false),
            results: cpus.iter().map(|_| AtomicU64::new(0)).collect(),
        });
        let make = Arc::new(make);
        if let Some(cpu) = cpus.first() {
            sys::affinity::pin(&[*cpu])?;
        }
        // Memory is prepared one member after another: page faults of several threads disturb each other.
        let own = make(0)?;
        let mut team = Self { own, board, members: Vec::new(), tids: Vec::new() };
        for (index, cpu) in cpus.iter().enumerate().skip(1) {
            team.enlist(index, *cpu, Arc::clone(&make) as _)?;
        }
        Ok(team)
    }

    fn enlist(
        &mut self,
        index: usize,
        cpu: usize,
        make: Arc<dyn Fn(usize) -> Result<S, Unfit> + Send + Sync>,
    ) -> Result<(), Unfit> {
        let (tell, told) = std::sync::mpsc::channel();
        let board = Arc::clone(&self.board);
        let body = move || {
            let made = sys::affinity::pin(&[cpu])
                .map_err(Unfit::from)
                .and_then(|()| make(index))
                .map(|state| (state, sys::process::raw::gettid()));
            match made {
                Ok((state, tid)) => {
                    // The team lives until its members are joined, so somebody listens.
                    let _ = tell.send(Ok(tid));
                    serve(&board, index, state);
                }
                Err(unfit) => drop(tell.send(Err(unfit))),
            }
        };
        let handle = std::thread::Builder::new().name(format!("member {index}")).spawn(body)?;
        let thread = handle.thread().clone();
        self.members.push((thread, Some(handle)));
        let tid = told.recv().map_err(|_| Unfit::new("a thread ended while it prepared"))??;
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

    /// Outside the clock: wakes every member and waits until all of them look for work.
    pub(crate) fn wake(&self) {
        while self.board.awake.load(Ordering::Acquire) < self.members.len() {
            self.members.iter().for_each(|(thread, _)| thread.unpark());
            std::thread::sleep(Duration::from_micros(20));
        }
    }

    /// Every member does the job at once; the sum of what they return, wrapping.
    pub(crate) fn run(&mut self, job: impl Fn(&mut S) -> u64 + Send + Sync + 'static) -> u64 {
        if self.members.is_empty() {
            return job(&mut self.own);
        }
        let job: Job<S> = Arc::new(job);
        *self.board.job.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&job));
        self.board.busy.store(self.members.len(), Ordering::Release);
        self.board.number.fetch_add(1, Ordering::Release);
        self.members.iter().for_each(|(thread, _)| thread.unpark());
        let own = job(&mut self.own);
        while self.board.busy.load(Ordering::Acquire) > 0 {
            std::hint::spin_loop();
        }
        let others = self.board.results.iter().skip(1);
        others.fold(own, |sum, result| sum.wrapping_add(result.load(Ordering::Relaxed)))
    }
}

impl<S> Drop for Team<S> {
    fn drop(&mut self) {
        self.board.dismissed.store(true, Ordering::Release);
        for (thread, handle) in &mut self.members {
            thread.unpark();
            if let Some(handle) = handle.take() {
                // A member's panic was already seen as a batch that never ended.
                let _ = handle.join();
            }
        }
    }
}

fn serve<S>(board: &Board<S>, index: usize, mut state: S) {
    let mut done = 0;
    board.awake.fetch_add(1, Ordering::Release);
    let mut idle = 0;
    loop {
        let number = board.number.load(Ordering::Acquire);
        if number != done {
            let job = board.job.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if let Some(job) = job {
                board.results[index].store(job(&mut state), Ordering::Relaxed);
            }
            done = number;
            idle = 0;
            board.busy.fetch_sub(1, Ordering::Release);
        } else if board.dismissed.load(Ordering::Acquire) {
            return;
        } else if idle < PATIENCE {
            idle += 1;
            std::hint::spin_loop();
        } else {
            board.awake.fetch_sub(1, Ordering::Release);
            std::thread::park();
            board.awake.fetch_add(1, Ordering::Release);
            idle = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_member_works_each_time() {
        let cpus = sys::affinity::allowed().unwrap();
        let mut team = Team::gather(&cpus, |_| Ok(0_u64)).unwrap();
        for round in 1..=50_u64 {
            team.wake();
            let sum = team.run(|state| {
                *state += 1;
                *state
            });
            assert_eq!(sum, round * cpus.len() as u64);
        }
        std::thread::sleep(Duration::from_millis(30));
        assert_eq!(team.run(|state| *state), 50 * cpus.len() as u64, "sleepers wake up for a job");
    }

    #[test]
    fn what_cannot_be_made_is_said() {
        let cpus = sys::affinity::allowed().unwrap();
        let result = Team::<u64>::gather(&cpus, |_| Err(Unfit::new("no memory")));
        assert_eq!(result.err(), Some(Unfit::new("no memory")));
    }
}
