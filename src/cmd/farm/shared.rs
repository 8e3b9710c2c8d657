//! `prony farm run --shared DIR`: no coordinator; results are published by link(2).

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use ::farm::{Attempt, ChunkWorkers, FarmJob, Invariants, Linked, Published, SharedFarm};
use anyhow::{Context, Result};
use measure::Stopper;
use report::{Block, Document, EmbeddedJson};
use serde_json::json;

use super::work::{WorkerFactory, input_notes};
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::output;

/// Longest pause before looking for work again, seconds.
const PAUSE: f64 = 0.2;

pub(super) fn run(
    folder: &Path,
    job: &FarmJob,
    stale: f64,
    expected: Option<u64>,
    stopper: &Stopper,
    common: &CommonOptions,
) -> Result<ExitStatus> {
    let host = measure::identity().host;
    // In containers, hosts and numbers of processes repeat.
    let who = format!("{}-{}-{}", host.replace('/', "_"), std::process::id(), &channel::nonce()?[..8]);
    std::fs::create_dir_all(folder)?;
    let mut shared = SharedFarm::join(folder, job, &who)?;
    let (mut counted, mut duplicates) = (0_u64, 0_u64);
    let trouble = serve(&mut shared, job, &who, stale, stopper, &mut |linked| match linked {
        Linked::Counted => counted += 1,
        Linked::Duplicate => duplicates += 1,
    })?;
    if stopper.asked() {
        output::remark("stopped; finished chunks are kept; run the same command to continue");
        return Ok(ExitStatus::Stopped);
    }
    let own = OwnShare { counted, duplicates, trouble };
    report(folder, job, expected, own, common)
}

/// What this process did.
struct OwnShare {
    counted: u64,
    duplicates: u64,
    /// Why it could not do a chunk.
    trouble: Option<String>,
}

/// Reports the contents of a shared directory.
fn report(
    folder: &Path,
    job: &FarmJob,
    expected: Option<u64>,
    own: OwnShare,
    common: &CommonOptions,
) -> Result<ExitStatus> {
    let totals = SharedFarm::open(folder, "report")?.totals()?;
    let invariants = Invariants { planned: job.chunks(), events: job.events, totals };
    let mut broken = invariants.broken();
    if let Some(expected) = expected.filter(|expected| *expected != totals.digest) {
        broken.push(format!("the digest is {:016x}, not {expected:016x}", totals.digest));
    }
    let answer = if broken.is_empty() {
        format!("all {} events of {} processed exactly once", job.events, job.name)
    } else {
        format!("{} of {} events of {} processed so far", totals.events, job.events, job.name)
    };
    let mut document = Document::new(format!("Farm in {}: {answer}", folder.display()));
    document.notes = input_notes(folder);
    let items = vec![
        format!("chunks committed: {} of {}, {} distinct", totals.commits, job.chunks(), totals.distinct),
        format!("events: {} of {}", totals.events, job.events),
        format!("digest {:016x}", totals.digest),
        format!(
            "{} duplicates, {} mismatches, {:.2} s of CPU time wasted",
            totals.refused, totals.differing, totals.wasted
        ),
        format!("this process: {} chunks committed, {} duplicates", own.counted, own.duplicates),
    ];
    document.add("Integrity checks", Block::list(items));
    document.data = EmbeddedJson::of(&json!({
        "planned": job.chunks(), "totals": totals, "digest": format!("{:016x}", totals.digest), "broken": broken,
        "own": { "counted": own.counted, "refused": own.duplicates },
    }))
    .ok();
    output::print(&document, common)?;
    broken.extend(own.trouble);
    if !broken.is_empty() {
        output::remark(&format!("could not verify the result: {}", broken.join("; ")));
        return Ok(ExitStatus::Failed);
    }
    Ok(if totals.differing > 0 { ExitStatus::Found } else { ExitStatus::Fine })
}

/// Processes chunks until all have results. Returns the reason if work failed here.
fn serve(
    shared: &mut SharedFarm,
    job: &FarmJob,
    who: &str,
    stale: f64,
    stopper: &Stopper,
    tell: &mut dyn FnMut(Linked),
) -> Result<Option<String>> {
    let age = Duration::from_secs_f64(stale);
    let (give, todo) = sync_channel::<::farm::Chunk>(1);
    let (done, outcomes) = sync_channel(1);
    let copy = job.clone();
    let work = move || {
        let mut worker = WorkerFactory.worker(&copy);
        while let Ok(chunk) = todo.recv() {
            let outcome = worker.as_mut().map_err(|reason| reason.clone()).and_then(|worker| {
                let attempt = Attempt { number: 0, out: None, stop: Arc::default() };
                worker.perform(&chunk, &attempt)
            });
            if done.send(outcome).is_err() {
                break;
            }
        }
    };
    let working =
        std::thread::Builder::new().name("work".to_owned()).spawn(work).context("could not start a thread")?;
    // Processes start at different chunks, so that they rarely conflict.
    let mut from = u64::from(std::process::id()).wrapping_mul(0x9e37_79b9_7f4a_7c15) % job.chunks();
    while !stopper.asked() && shared.totals()?.commits < job.chunks() {
        let Some(chunk) = shared.take(from, age)?.and_then(|index| job.cut(index)) else {
            kernels::timer::sleep(Duration::from_secs_f64(PAUSE.min(stale / 2.0)));
            continue;
        };
        from = (chunk.index + 1) % job.chunks();
        if give.send(chunk).is_err() {
            return Ok(Some("the thread that works died".to_owned()));
        }
        let outcome = loop {
            match outcomes.recv_timeout(Duration::from_secs_f64(stale / 4.0)) {
                Ok(outcome) => break outcome,
                Err(RecvTimeoutError::Timeout) => shared.refresh(chunk.index)?,
                Err(RecvTimeoutError::Disconnected) => return Ok(Some("the thread that works died".to_owned())),
            }
            if stopper.asked() {
                return Ok(None);
            }
        };
        match outcome {
            Ok(done) => tell(shared.publish(&Published { chunk: chunk.index, node: who.to_owned(), done })?),
            Err(reason) => return Ok(Some(format!("chunk {} could not be done here: {reason}", chunk.index))),
        }
    }
    // It has nothing to do, and removes its files.
    drop(give);
    let _ = working.join();
    Ok(None)
}
