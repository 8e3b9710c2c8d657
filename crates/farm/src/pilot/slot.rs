//! One chunk at a time: a thread that works, and one that talks, so that heartbeats come while the work goes on and work
//! goes on while the coordinator is away.

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
/// Longest reason of a failure that is passed on, characters.
const REASON: usize = 2_000;
/// How often a pilot asks which other coordinators there are.
const OTHERS: Duration = Duration::from_secs(2);
/// Pause before a result is offered again that could not be settled.
const UNSETTLED: Duration = Duration::from_secs(1);

/// The thread that works, as the other one sees it.
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

/// What a slot holds, whatever becomes of its connection.
#[derive(Default)]
struct SlotState {
    farm: Option<String>,
    working: Option<Lease>,
    outcome: Option<(Lease, Outcome)>,
    /// Chunks that could not be done, one after the other.
    failures: u32,
}

/// Serves until nothing is left to do.
pub(super) fn serve(
    order: &PilotConfig,
    pilot: &str,
    speaker: bool,
    common: &PilotShared,
    workshop: &Arc<dyn Workshop>,
) -> Result<()> {
    let mut state = SlotState::default();
    let mut hands: Option<SlotWorkers> = None;
    let leave = || common.finished.load(Ordering::SeqCst);
    while let Some(mut connection) = PilotConnection::find(order, &common.addresses(&order.address), pilot, &leave)? {
        common.connections.fetch_add(1, Ordering::SeqCst);
        if state.farm.get_or_insert(connection.farm.clone()) != &connection.farm {
            return Err(Error::Refused("another run took the place of this pilot's".to_owned()));
        }
        if hands.is_none() {
            hands = Some(SlotWorkers::start(connection.job.clone(), Arc::clone(workshop))?);
        }
        let Some(hands) = &hands else { continue };
        let about = |connection: &mut PilotConnection| {
            if speaker {
                connection.ask(&FromPilot::About { facts: workshop.about(&connection.job) }).map(drop)
            } else {
                Ok(())
            }
        };
        let ended = about(&mut connection)
            .and_then(|()| talk(&mut connection, &mut state, hands, common))
            .and_then(|()| about(&mut connection));
        match ended {
            Ok(()) => {
                connection.leave();
                return Ok(());
            }
            Err(error @ (Error::Refused(_) | Error::Broken(_))) => return Err(error),
            // The connection is lost, what was done is not.
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
    Ok(())
}

/// Talks until nothing is left to do, or the connection is lost.
fn talk(
    connection: &mut PilotConnection,
    state: &mut SlotState,
    hands: &SlotWorkers,
    common: &PilotShared,
) -> Result<()> {
    let died = || Error::Broken("the thread that works died".to_owned());
    let mut next = Some(Instant::now());
    loop {
        if next.is_some_and(|next| next <= Instant::now()) {
            next = others(connection, common)?;
        }
        if let Some((lease, outcome)) = state.outcome.take() {
            let settled = offer(connection, &lease, &outcome, common);
            if matches!(settled, Ok(true)) {
                state.failures = if outcome.is_ok() { 0 } else { state.failures + 1 };
                std::thread::sleep(pause(state.failures));
            } else {
                state.outcome = Some((lease, outcome));
                settled?;
                std::thread::sleep(UNSETTLED);
            }
        } else if let Some(lease) = state.working.take() {
            match hands.outcomes.recv_timeout(connection.beat) {
                Ok(outcome) => state.outcome = Some((lease, outcome)),
                Err(RecvTimeoutError::Timeout) => {
                    let heard = connection.ask(&FromPilot::Beat { lease: lease.clone() });
                    state.working = Some(lease);
                    heard?;
                }
                Err(RecvTimeoutError::Disconnected) => return Err(died()),
            }
        } else {
            match connection.ask(&FromPilot::Ask)? {
                FromCoordinator::Lease(lease) => {
                    hands.chunks.send(lease.chunk).map_err(|_| died())?;
                    state.working = Some(lease);
                }
                FromCoordinator::Wait { seconds } => {
                    std::thread::sleep(Duration::from_secs_f64(seconds.clamp(0.01, 10.0)));
                }
                FromCoordinator::Finished => {
                    common.finished.store(true, Ordering::SeqCst);
                    return Ok(());
                }
                _ => return Err(Error::Refused("it did not answer a question for work".to_owned())),
            }
        }
    }
}

/// Hears which other coordinators there are; when to ask again, if ever.
fn others(connection: &mut PilotConnection, common: &PilotShared) -> Result<Option<Instant>> {
    let FromCoordinator::Others { addresses } = connection.ask(&FromPilot::Others)? else {
        return Err(Error::Refused("it did not say who else is there".to_owned()));
    };
    Ok(addresses.map(|addresses| {
        *common.others.lock().unwrap_or_else(PoisonError::into_inner) = addresses;
        Instant::now() + OTHERS
    }))
}

/// A node on which nothing works must not take every chunk and fail it while others work: it asks ever less often.
fn pause(failures: u32) -> Duration {
    const FIRST: Duration = Duration::from_millis(200);
    const LONGEST: Duration = Duration::from_secs(5);
    if failures == 0 { Duration::ZERO } else { (FIRST * (1 << (failures - 1).min(10))).min(LONGEST) }
}

/// Offers a result. Whether it is settled, for better or worse.
fn offer(connection: &mut PilotConnection, lease: &Lease, outcome: &Outcome, common: &PilotShared) -> Result<bool> {
    let say = match outcome {
        Ok(done) => FromPilot::Commit { lease: lease.clone(), done: *done },
        Err(reason) => FromPilot::Failed { lease: lease.clone(), reason: reason.chars().take(REASON).collect() },
    };
    let count = match connection.ask(&say)? {
        FromCoordinator::Settled { verdict: ChunkVerdict::Counted } => &common.counted,
        FromCoordinator::Settled { .. } => &common.refused,
        FromCoordinator::Noted => &common.failed,
        FromCoordinator::Unsettled => return Ok(false),
        _ => return Err(Error::Refused("it did not answer an offer".to_owned())),
    };
    count.fetch_add(1, Ordering::SeqCst);
    Ok(true)
}
