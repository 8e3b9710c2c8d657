//! A farm of many pilots and chunks in simulated time, with real leases and a real ledger, but without connections. It
//! shows the cost of a coordinator's state.
//!
//! ```text
//! cargo run -p prony-farm --example scale -- PILOTS CHUNKS SECONDS_OF_A_CHUNK DIRECTORY
//! ```
#![allow(clippy::print_stdout, reason = "a program that prints what it found; one run is one story")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

use farm::{
    ChunkResult, ChunkSet, ChunkVerdict, Farm, FarmJob, Invariants, LeaseAnswer, LeaseRules, Leases, Ledger,
    OfferedResult, SqliteLedger, Stamp,
};

/// Results in one transaction: those that wait while the one before is written.
const BATCH: usize = 1024;

/// Time in milliseconds, pilot, and its lease: chunk and number.
type Event = (u64, u64, Option<(u64, u64)>);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |at: usize, usual: u64| arguments.get(at).map_or(Ok(usual), |text| text.parse());
    let (pilots, chunks, length) = (number(1, 10_000)?, number(2, 1_000_000)?, number(3, 60)?);
    let folder = tempfile::tempdir_in(arguments.get(4).map_or(".", String::as_str))?;
    let job = FarmJob { name: "scale".to_owned(), seed: 1, events: chunks, chunk: 1, ..FarmJob::default() };
    let (token, key) = ("0123456789abcdef".to_owned(), "fedcba9876543210".to_owned());
    let farm = Farm {
        id: "scale".to_owned(),
        job,
        token,
        key,
        address: String::new(),
        created: 0.0,
        settings: serde_json::Value::Null,
    };
    let mut ledger = SqliteLedger::create(&folder.path().join("ledger"), &farm)?;
    let before = os::usage::anonymous_bytes()?;
    let mut leases = Leases::new(LeaseRules::default(), chunks, ChunkSet::new(chunks), 0, 1 << 40);
    let names: Vec<(String, String)> =
        (0..pilots).map(|at| (format!("node{}/{at}", at / 64), format!("node{}", at / 64))).collect();
    names.iter().for_each(|(_, node)| leases.joined(node));
    // Pilots begin within one chunk's length of each other.
    let mut events: BinaryHeap<Reverse<Event>> =
        (0..pilots).map(|at| Reverse((at * length * 1000 / pilots, at, None))).collect();
    let (mut batch, mut expired, mut asked, mut in_ledger) = (Vec::new(), 0_u64, 0_u64, 0.0);
    let began = Instant::now();
    while let Some(Reverse((at, pilot, work))) = events.pop() {
        let now = at as f64 * 1e-3;
        let (name, node) = &names[pilot as usize];
        if let Some((chunk, number)) = work {
            let done =
                ChunkResult { events: 1, digest: chunk, cpu: Some(1.0), wall: Some(1.0), ..ChunkResult::default() };
            let (of, by) = (node.clone(), name.clone());
            batch.push(OfferedResult { chunk, number, node: of, pilot: by, done, products: Vec::new(), check: false });
            leases.count(chunk, node, Some(length as f64));
        }
        if batch.len() >= BATCH || leases.finished() {
            let writing = Instant::now();
            let verdicts = ledger.record(&batch, Stamp { at: now, since: now })?;
            in_ledger += writing.elapsed().as_secs_f64();
            assert!(
                verdicts.iter().all(|one| one.verdict == ChunkVerdict::Counted && !one.again),
                "a chunk was done twice"
            );
            batch.clear();
        }
        if at / 1000 > expired {
            expired = at / 1000;
            leases.expire(now);
        }
        asked += 1;
        match leases.ask(name, node, now) {
            LeaseAnswer::Lease { chunk, number, .. } => {
                // Heartbeats keep the lease; here one is enough to have it live as long as the chunk.
                leases.renew(chunk, number, name, now + length as f64 * 1.3);
                events.push(Reverse((
                    at + length * 1000 + (chunk * 7919) % (length * 200 + 1),
                    pilot,
                    Some((chunk, number)),
                )));
            }
            LeaseAnswer::Wait { seconds } => events.push(Reverse((at + (seconds.max(4.0) * 1e3) as u64, pilot, None))),
            LeaseAnswer::Finished => {}
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    let memory = os::usage::anonymous_bytes()?.saturating_sub(before);
    let totals = ledger.totals()?;
    let broken = Invariants { planned: chunks, events: chunks, totals }.broken();
    println!(
        "{pilots} pilots, {chunks} chunks: {seconds:.1} s, {:.0} a second; of that in the ledger {in_ledger:.1} s; {asked} \
         questions; memory {:.1} MB; ledger {:.0} MB; {}",
        chunks as f64 / seconds,
        memory as f64 * 1e-6,
        std::fs::metadata(folder.path().join("ledger"))?.len() as f64 * 1e-6,
        if broken.is_empty() { "every chunk counts once".to_owned() } else { broken.join("; ") }
    );
    Ok(())
}
