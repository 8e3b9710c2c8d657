//! One slot of a pilot: a thread that computes and a thread that talks to the coordinator, so that heartbeats continue
//! during the work, and work continues while the coordinator is away.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use super::connection::PilotConnection;
use super::{PilotConfig, PilotShared, Workshop};
use crate::job::{Chunk, ChunkResult, FarmJob};
use crate::ledger::ChunkVerdict;
use crate::message::{FromCoordinator, FromPilot, Lease};
use crate::{Error, Result};

type Outcome = std::result::Result<ChunkResult, String>;
/// Longest cause of a failure that is sent, characters.
const REASON: usize = 2_000;
/// Interval at which a pilot asks for the other coordinators.
const OTHERS: Duration = Duration::from_secs(2);
/// Pause before a result that could not be recorded is offered again.
const NOT_RECORDED_PAUSE: Duration = Duration::from_secs(1);

/// The computing thread, as the talking one sees it.
struct SlotWorkers {
    chunks: SyncSender<Chunk>,
    outcomes: Receiver<Outcome>,
}

impl SlotWorkers {
    fn start(job: FarmJob, workshop: Arc<dyn Workshop>) -> Result<Self> {
        let ((chunks, todo), (done, outcomes)) = (sync_channel::<Chunk>(1), sync_channel(1));
        std::thread::Builder::new()
            .name("work".to_owned())
            .spawn(move || {
                let mut worker = workshop.worker(&job);
                while let Ok(chunk) = todo.recv() {
                    let outcome =
                        worker.as_mut().map_err(|reason| reason.clone()).and_then(|worker| worker.perform(&chunk));
                    if done.send(outcome).is_err() {
                        break;
                    }
                }
            })
            .map_err(Error::io("start a thread"))?;
        Ok(Self { chunks, outcomes })
    }
}

/// What a slot keeps when its connection is lost.
#[derive(Default)]
struct SlotState {
    farm: Option<String>,
    working: Option<Lease>,
    outcome: Option<(Lease, Outcome)>,
    /// Consecutive chunks that failed.
    failures: u32,
}

/// Serves until no chunk is left.
pub(super) fn serve(
    config: &PilotConfig,
    pilot: &str,
    speaker: bool,
    common: &PilotShared,
    workshop: &Arc<dyn Workshop>,
) -> Result<()> {
    let mut state = SlotState::default();
    let mut workers: Option<SlotWorkers> = None;
    let leave = || common.finished.load(Ordering::SeqCst);
    while let Some(mut connection) = PilotConnection::find(config, &common.addresses(&config.address), pilot, &leave)? {
        common.connections.fetch_add(1, Ordering::SeqCst);
        if state.farm.get_or_insert(connection.farm.clone()) != &connection.farm {
            return Err(Error::Refused("the coordinator now serves another run".to_owned()));
        }
        if workers.is_none() {
            workers = Some(SlotWorkers::start(connection.job.clone(), Arc::clone(workshop))?);
        }
        let Some(workers) = &workers else { continue };
        let about = |connection: &mut PilotConnection| {
            if speaker {
                connection.ask(&FromPilot::About { facts: workshop.about(&connection.job) }).map(drop)
            } else {
                Ok(())
            }
        };
        let ended = about(&mut connection)
            .and_then(|()| exchange(&mut connection, &mut state, workers, common))
            .and_then(|()| about(&mut connection));
        match ended {
            Ok(()) => {
                connection.leave();
                return Ok(());
            }
            Err(error @ (Error::Refused(_) | Error::Broken(_))) => return Err(error),
            // The connection is lost; `state` keeps the work.
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
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
    let mut next = Some(Instant::now());
    loop {
        if next.is_some_and(|next| next <= Instant::now()) {
            next = others(connection, common)?;
        }
        if let Some((lease, outcome)) = state.outcome.take() {
            let decided = offer(connection, &lease, &outcome, common);
            if matches!(decided, Ok(true)) {
                state.failures = if outcome.is_ok() { 0 } else { state.failures + 1 };
                std::thread::sleep(pause(state.failures));
            } else {
                state.outcome = Some((lease, outcome));
                decided?;
                std::thread::sleep(NOT_RECORDED_PAUSE);
            }
        } else if let Some(lease) = state.working.take() {
            match workers.outcomes.recv_timeout(connection.beat) {
                Ok(outcome) => state.outcome = Some((lease, outcome)),
                Err(RecvTimeoutError::Timeout) => {
                    let reply = connection.ask(&FromPilot::Beat { lease: lease.clone() });
                    state.working = Some(lease);
                    reply?;
                }
                Err(RecvTimeoutError::Disconnected) => return Err(died()),
            }
        } else {
            match connection.ask(&FromPilot::Ask)? {
                FromCoordinator::Lease(lease) => {
                    workers.chunks.send(lease.chunk).map_err(|_| died())?;
                    state.working = Some(lease);
                }
                FromCoordinator::Wait { seconds } => {
                    std::thread::sleep(Duration::from_secs_f64(seconds.clamp(0.01, 10.0)));
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

/// Asks for the other coordinators. Returns when to ask again, if ever.
fn others(connection: &mut PilotConnection, common: &PilotShared) -> Result<Option<Instant>> {
    let FromCoordinator::Others { addresses } = connection.ask(&FromPilot::Others)? else {
        return Err(Error::Refused("it did not list the other coordinators".to_owned()));
    };
    Ok(addresses.map(|addresses| {
        *common.others.lock().unwrap_or_else(PoisonError::into_inner) = addresses;
        Instant::now() + OTHERS
    }))
}

/// Pause after failures: a node on which all chunks fail must not take every chunk from the others, so it asks less and
/// less often.
fn pause(failures: u32) -> Duration {
    const FIRST: Duration = Duration::from_millis(200);
    const LONGEST: Duration = Duration::from_secs(5);
    if failures == 0 { Duration::ZERO } else { (FIRST * (1 << (failures - 1).min(10))).min(LONGEST) }
}

/// Offers a result. Returns whether the coordinator decided about it.
fn offer(connection: &mut PilotConnection, lease: &Lease, outcome: &Outcome, common: &PilotShared) -> Result<bool> {
    let message = match outcome {
        Ok(done) => FromPilot::Commit { lease: lease.clone(), done: *done },
        Err(reason) => FromPilot::Failed { lease: lease.clone(), reason: reason.chars().take(REASON).collect() },
    };
    let count = match connection.ask(&message)? {
        FromCoordinator::Recorded { verdict: ChunkVerdict::Counted } => &common.counted,
        FromCoordinator::Recorded { .. } => &common.refused,
        FromCoordinator::Noted => &common.failed,
        FromCoordinator::NotRecorded => return Ok(false),
        _ => return Err(Error::Refused("it did not reply to a result".to_owned())),
    };
    count.fetch_add(1, Ordering::SeqCst);
    Ok(true)
}
