//! Takes pushed runs into the store. One thread writes, and commits whatever has arrived meanwhile at once; nobody is
//! answered before the commit is durable.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use model::Run;
use serde::{Deserialize, Serialize};
use store::{Detail, RunFilter, Store};

/// Runs of one commit.
const BATCH: usize = 64;

/// What became of a pushed run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Taken {
    /// It is new here.
    New,
    /// The same run was here already.
    Known,
    /// It replaces an earlier part of itself.
    Continued,
}

/// The acknowledgement of a pushed run: it is on the disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// Its number at the site.
    pub run: u64,
    /// Its id.
    pub id: String,
    /// SHA-256 of the bytes that were sent, in hexadecimal.
    pub sha256: String,
    /// What became of it.
    pub taken: Taken,
}

/// Why a run was not taken: a status of HTTP, and the reason.
pub(crate) type Refusal = (u16, String);

type Answer = Result<(u64, Taken), Refusal>;

struct Order {
    run: Run,
    answer: SyncSender<Answer>,
}

/// The way to the writing thread, which ends when this is dropped.
pub(crate) struct Intake {
    orders: Option<SyncSender<Order>>,
    thread: Option<JoinHandle<()>>,
}

impl Intake {
    pub(crate) fn start(store: Box<dyn Store>) -> Self {
        let (orders, incoming) = sync_channel(BATCH);
        let thread = std::thread::spawn(move || write(store, &incoming));
        Self { orders: Some(orders), thread: Some(thread) }
    }

    /// Stores a run, and returns when it is on the disk.
    pub(crate) fn take(&self, run: Run) -> Answer {
        let (answer, answered) = sync_channel(1);
        let sent = self.orders.as_ref().is_some_and(|orders| orders.send(Order { run, answer }).is_ok());
        let ended = || (503, "this site is stopping; push again later".to_owned());
        if sent { answered.recv().unwrap_or_else(|_| Err(ended())) } else { Err(ended()) }
    }
}

impl Drop for Intake {
    fn drop(&mut self) {
        drop(self.orders.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn write(mut store: Box<dyn Store>, incoming: &Receiver<Order>) {
    let mut next = incoming.recv().ok();
    while let Some(first) = next.take() {
        let mut fresh: Vec<Order> = Vec::new();
        let mut order = Some(first);
        while let Some(one) = order.take() {
            if fresh.iter().any(|other| other.run.id == one.run.id) {
                // The earlier one decides what this is.
                next = Some(one);
                break;
            }
            match known(store.as_ref(), &one.run) {
                Ok(None) => fresh.push(one),
                Ok(Some(answer)) => answered(&one, answer),
                Err(refusal) => answered(&one, Err(refusal)),
            }
            if fresh.len() < BATCH {
                order = incoming.try_recv().ok();
            }
        }
        commit(store.as_mut(), fresh);
        if next.is_none() {
            next = incoming.recv().ok();
        }
    }
}

/// A client that has gone away asks again.
fn answered(order: &Order, answer: Answer) {
    let _ = order.answer.send(answer);
}

/// What becomes of a run whose id the store has; `None` where it is to be written.
fn known(store: &dyn Store, run: &Run) -> Result<Option<Answer>, Refusal> {
    let Some(summary) = store.page(&RunFilter::Id(&run.id), 1, 0).map_err(unavailable)?.pop() else { return Ok(None) };
    let held = store.get(&run.id, Detail::Whole).map_err(unavailable)?;
    if is_same(&held, run) {
        return Ok(Some(Ok((summary.number, Taken::Known))));
    }
    if continues(&held, run) {
        return Ok(None);
    }
    let reason = format!("run {} is here already with other content; a run is changed only by resuming it", run.id);
    Err((409, reason))
}

/// Whether two documents differ in their label at most, which each store may change.
fn is_same(a: &Run, b: &Run) -> bool {
    let unlabelled = |run: &Run| Run { label: None, ..run.clone() };
    unlabelled(a) == unlabelled(b)
}

/// Whether a run is a later part of one that the store has.
fn continues(before: &Run, after: &Run) -> bool {
    let (a, b) = (&before.session, &after.session);
    let further = b.rounds > a.rounds || (b.rounds == a.rounds && a.ended.is_none() && b.ended.is_some());
    before.machine_identity() == after.machine_identity() && a.started == b.started && further
}

fn unavailable(error: store::Error) -> Refusal {
    (503, error.to_string())
}

/// Writes runs in one commit; if that fails, each by itself, so that none keeps the others out.
fn commit(store: &mut dyn Store, orders: Vec<Order>) {
    if orders.is_empty() {
        return;
    }
    let (runs, answers): (Vec<Run>, Vec<_>) = orders.into_iter().map(|order| (order.run, order.answer)).unzip();
    let is_here =
        |store: &dyn Store, run: &Run| store.page(&RunFilter::Id(&run.id), 1, 0).is_ok_and(|all| !all.is_empty());
    let taken: Vec<Taken> =
        runs.iter().map(|run| if is_here(store, run) { Taken::Continued } else { Taken::New }).collect();
    let numbers: Vec<Result<u64, store::Error>> = match store.put_all(&runs) {
        Ok(numbers) => numbers.into_iter().map(Ok).collect(),
        Err(error) if runs.len() == 1 => vec![Err(error)],
        Err(_) => runs.iter().map(|run| store.put(run)).collect(),
    };
    for ((number, taken), answer) in numbers.into_iter().zip(taken).zip(answers) {
        let said = number.map(|number| (number, taken)).map_err(|error| match error {
            store::Error::Unsavable { .. } => (422, error.to_string()),
            _ => unavailable(error),
        });
        let _ = answer.send(said);
    }
}
