//! One slot of a pilot: a thread that computes and a thread that talks to the coordinator. Heartbeats continue during
//! the work, and work continues while the coordinator is away.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::connection::PilotConnection;
use super::{ChunkWorkers, PilotConfig, PilotShared};
use crate::job::{Attempt, Chunk, ChunkResult, ChunkWorker, FarmJob};
use crate::ledger::ChunkVerdict;
use crate::message::{FromCoordinator, FromPilot, Lease};
use crate::products::{Product, ProductFolder};
use crate::{Error, Result};

/// A result with its files, or the reason for a failure.
type AttemptResult = std::result::Result<(ChunkResult, Vec<Product>), String>;
/// Longest cause of a failure that is sent, characters.
const REASON: usize = 2_000;
/// Pause before a result that could not be recorded is offered again.
const NOT_RECORDED_PAUSE: Duration = Duration::from_secs(1);

/// Time for the computing thread to end with its slot.
const LAST_STEPS: Duration = Duration::from_secs(2);

/// The computing thread, as the talking one sees it.
struct SlotWorkers {
    chunks: SyncSender<(Chunk, u64, Arc<AtomicBool>)>,
    outcomes: Receiver<AttemptResult>,
    thread: JoinHandle<()>,
    /// Folder of products; an error if this node does not see it.
    folder: std::result::Result<Option<ProductFolder>, String>,
}

impl SlotWorkers {
    fn start(farm: &str, job: FarmJob, factory: Arc<dyn ChunkWorkers>) -> Result<Self> {
        let ((chunks, todo), (done, outcomes)) = (sync_channel::<(Chunk, u64, Arc<AtomicBool>)>(1), sync_channel(1));
        let folder = job.products.as_deref().map(|folder| ProductFolder::join(folder, farm)).transpose();
        let folder = folder.map_err(|error| error.to_string());
        let for_work = folder.clone();
        let thread = std::thread::Builder::new()
            .name("work".to_owned())
            .spawn(move || {
                let mut worker = factory.worker(&job);
                while let Ok((chunk, number, stop)) = todo.recv() {
                    let outcome = worker
                        .as_mut()
                        .map_err(|reason| reason.clone())
                        .and_then(|worker| attempt(&mut **worker, &chunk, number, stop, &for_work));
                    if done.send(outcome).is_err() {
                        break;
                    }
                }
            })
            .map_err(Error::io("start a thread"))?;
        Ok(Self { chunks, outcomes, thread, folder })
    }

    /// Gives the computing thread the time to end, and to remove what only it needed.
    fn end(self) {
        drop(self.chunks);
        let until = Instant::now() + LAST_STEPS;
        while !self.thread.is_finished() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Publishes the files of a result that counts, or removes those of one that does not. The coordinator finishes
    /// failed parts at the end of the run.
    fn settle(&self, lease: &Lease, products: Option<&[Product]>) {
        if let Ok(Some(folder)) = &self.folder {
            let (chunk, number) = (lease.chunk.index, lease.number);
            let _ = match products {
                Some(products) => folder.publish(chunk, number, products),
                None => folder.discard(chunk, number),
            };
        }
    }
}

/// Does a chunk in a private place, whose files are on the disk afterwards.
fn attempt(
    worker: &mut dyn ChunkWorker,
    chunk: &Chunk,
    number: u64,
    stop: Arc<AtomicBool>,
    folder: &std::result::Result<Option<ProductFolder>, String>,
) -> AttemptResult {
    let Some(folder) = folder.as_ref().map_err(String::clone)? else {
        return worker.perform(chunk, &Attempt { number, out: None, stop }).map(|done| (done, Vec::new()));
    };
    let work = || {
        let out = folder.begin(chunk.index, number).map_err(|error| error.to_string())?;
        let mut done = worker.perform(chunk, &Attempt { number, out: Some(out), stop })?;
        let products = folder.collect(chunk.index, number).map_err(|error| error.to_string())?;
        done.written = Some(products.iter().map(|product| product.bytes).sum());
        Ok((done, products))
    };
    let outcome = work();
    if outcome.is_err() {
        // A place that cannot be removed now is removed at the end of the run.
        let _ = folder.discard(chunk.index, number);
    }
    outcome
}

/// Work under way.
struct CurrentWork {
    lease: Lease,
    began: Instant,
    /// Set when its result becomes unwanted.
    stop: Arc<AtomicBool>,
}

/// State of a slot when its connection is lost.
#[derive(Default)]
struct SlotState {
    farm: Option<String>,
    working: Option<CurrentWork>,
    outcome: Option<(CurrentWork, AttemptResult)>,
}

/// Serves until no chunk is left.
pub(super) fn serve(
    config: &PilotConfig,
    pilot: &str,
    speaker: bool,
    common: &PilotShared,
    factory: &Arc<dyn ChunkWorkers>,
) -> Result<()> {
    let (mut state, mut workers) = (SlotState::default(), None);
    let ended = talk(config, pilot, speaker, common, factory, (&mut state, &mut workers));
    state.working.iter().for_each(|work| work.stop.store(true, Ordering::SeqCst));
    workers.into_iter().for_each(SlotWorkers::end);
    ended
}

/// Talks to the coordinator until no chunk is left, over as many connections as necessary.
fn talk(
    config: &PilotConfig,
    pilot: &str,
    speaker: bool,
    common: &PilotShared,
    factory: &Arc<dyn ChunkWorkers>,
    (state, workers): (&mut SlotState, &mut Option<SlotWorkers>),
) -> Result<()> {
    let leave = || common.finished.load(Ordering::SeqCst);
    while let Some(mut connection) = PilotConnection::find(config, pilot, &leave)? {
        common.connections.fetch_add(1, Ordering::SeqCst);
        if state.farm.get_or_insert(connection.farm.clone()) != &connection.farm {
            return Err(Error::Refused("the coordinator now serves another run".to_owned()));
        }
        if workers.is_none() {
            *workers = Some(SlotWorkers::start(&connection.farm, connection.job.clone(), Arc::clone(factory))?);
        }
        let Some(running) = workers else { continue };
        let about = |connection: &mut PilotConnection| {
            if speaker {
                connection.ask(&FromPilot::About { facts: factory.about(&connection.job) }).map(drop)
            } else {
                Ok(())
            }
        };
        let ended = about(&mut connection)
            .and_then(|()| exchange(&mut connection, state, running, common))
            .and_then(|()| about(&mut connection));
        match ended {
            Ok(()) => {
                connection.leave();
                return Ok(());
            }
            Err(error @ (Error::Refused(_) | Error::Broken(_))) => return Err(error),
            // The connection is lost; `state` keeps the work.
            Err(_) => kernels::timer::sleep(Duration::from_millis(20)),
        }
    }
    Ok(())
}

/// Exchanges messages until no chunk is left or the connection is lost.
fn exchange(
    connection: &mut PilotConnection,
    state: &mut SlotState,
    workers: &SlotWorkers,
    common: &PilotShared,
) -> Result<()> {
    let died = || Error::Broken("the computing thread died".to_owned());
    loop {
        if let Some((work, outcome)) = state.outcome.take() {
            let decided = offer(connection, &work, &outcome, workers, common);
            if !matches!(decided, Ok(true)) {
                state.outcome = Some((work, outcome));
                decided?;
                kernels::timer::sleep(NOT_RECORDED_PAUSE);
            }
        } else if let Some(work) = state.working.take() {
            match workers.outcomes.recv_timeout(connection.beat) {
                Ok(outcome) => state.outcome = Some((work, outcome)),
                Err(RecvTimeoutError::Timeout) => {
                    let reply = connection.ask(&FromPilot::Beat { lease: work.lease.clone() });
                    if matches!(reply, Ok(FromCoordinator::Kept { wanted: false })) {
                        work.stop.store(true, Ordering::SeqCst);
                    }
                    state.working = Some(work);
                    reply?;
                }
                Err(RecvTimeoutError::Disconnected) => return Err(died()),
            }
        } else {
            match connection.ask(&FromPilot::Ask)? {
                FromCoordinator::Lease(lease) => {
                    let work = CurrentWork { lease, began: Instant::now(), stop: Arc::default() };
                    let order = (work.lease.chunk, work.lease.number, Arc::clone(&work.stop));
                    workers.chunks.send(order).map_err(|_| died())?;
                    state.working = Some(work);
                }
                FromCoordinator::Wait { seconds } => {
                    kernels::timer::sleep(Duration::from_secs_f64(seconds.clamp(0.01, 10.0)));
                }
                FromCoordinator::Finished => {
                    common.finished.store(true, Ordering::SeqCst);
                    return Ok(());
                }
                _ => return Err(Error::Refused("it did not reply to a request for work".to_owned())),
            }
        }
    }
}

/// Offers a result, and treats its files as the coordinator decides. Returns whether it decided.
fn offer(
    connection: &mut PilotConnection,
    work: &CurrentWork,
    outcome: &AttemptResult,
    workers: &SlotWorkers,
    common: &PilotShared,
) -> Result<bool> {
    let lease = work.lease.clone();
    let message = match outcome {
        // Finished work is still offered, and on record as wasted.
        Ok((done, products)) => FromPilot::Commit { lease, done: *done, products: products.clone() },
        Err(_) if work.stop.load(Ordering::SeqCst) => {
            FromPilot::Stopped { lease, seconds: work.began.elapsed().as_secs_f64() }
        }
        Err(reason) => FromPilot::Failed { lease, reason: reason.chars().take(REASON).collect() },
    };
    let mut published = None;
    let count = match (connection.ask(&message)?, &message) {
        (FromCoordinator::Recorded { verdict: ChunkVerdict::Counted }, FromPilot::Commit { products, .. }) => {
            published = Some(products.as_slice());
            &common.counted
        }
        (FromCoordinator::Recorded { .. }, _) => &common.refused,
        (FromCoordinator::Noted, FromPilot::Stopped { .. }) => &common.stopped,
        (FromCoordinator::Noted, _) => &common.failed,
        (FromCoordinator::NotRecorded, _) => return Ok(false),
        _ => return Err(Error::Refused("it did not reply to a result".to_owned())),
    };
    workers.settle(&work.lease, published);
    count.fetch_add(1, Ordering::SeqCst);
    Ok(true)
}
