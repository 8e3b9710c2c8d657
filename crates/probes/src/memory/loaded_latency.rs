//! Load latency while other CPUs stream.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use sys::kernel::ring::ChasePattern;
use sys::kernel::stream::{self, Stores, StreamKind, Variant, Width};
use sys::memory::{Arena, Pages};

use super::chase::Chase;
use crate::prelude::*;

/// Working set of the chain: larger than most caches.
const SET: u64 = 64 * MIB;
/// Bytes that each streaming CPU copies back and forth, source and destination together.
const STREAMED: u64 = 64 * MIB;
/// Words of a copy after which a streaming CPU counts and checks whether to end: 1 MiB.
const PIECE: usize = (MIB / 8) as usize;

pub(super) static PROBE: Probe = Probe {
    id: "memory.loaded_latency",
    title: "load latency under load",
    about: "Load latency along a random cycle through 64 MiB while none, half or all of the other CPUs copy 64 MiB each as fast \
            as they can. A batch is at least one full lap.",
    metric: ProbeMetric::lower(Unit::Seconds, "load"),
    class: Class::MemoryLatency,
    stresses: &[Primitive::DramLatency, Primitive::DramRead, Primitive::DramWrite],
    sources: &[DefinitionSource::new("multichase", "multiload", "github.com/google/multichase")],
    axes: &[Axis::choice("load", &["none", "half", "all"], &["all"])],
    prepare: |at, context| {
        let own = context.cpu(0);
        let others: Vec<usize> = context.allowed().iter().copied().filter(|cpu| Some(*cpu) != own).collect();
        let wanted = match at.choice("load")? {
            "none" => 0,
            "half" => others.len() / 2,
            _ => others.len(),
        };
        if wanted == 0 && at.get("load") != Some("none") {
            return Err(Unsupported::new(format!("{} other CPUs are available, too few for this load", others.len())));
        }
        let chase = Chase::new(at, SET, ChasePattern::Random, context.seed())?;
        let load = Load::start(&others[..wanted])?;
        for (member, tid) in load.tids().into_iter().enumerate() {
            context.watch(member + 1, tid);
        }
        Ok(Trial::one(Loaded { chase, load, seen: Vec::new(), idle: 0 }))
    },
    ..Probe::BLANK
};

/// CPUs that stream until it is dropped.
struct Load {
    over: Arc<AtomicBool>,
    members: Vec<(i32, Arc<AtomicU64>, Option<JoinHandle<()>>)>,
}

impl Load {
    fn start(cpus: &[usize]) -> Result<Self, Unsupported> {
        let (wanted, available) = (cpus.len() as u64 * STREAMED, sys::memory::available_bytes()?);
        if wanted > available / 2 {
            let [wanted, available] = [2 * wanted, available / MIB * MIB].map(model::format_size);
            return Err(Unsupported::new(format!(
                "its streams need {wanted} of free memory, and {available} are available"
            )));
        }
        let copies = |width: Width| stream::find(StreamKind::Copy, width, Stores::Normal, 1);
        let widest = [Width::Vector512, Width::Vector256, Width::Vector128].into_iter().find_map(copies);
        let variant =
            widest.or_else(|| copies(Width::Compiled)).ok_or_else(|| Unsupported::new("nothing copies here"))?;
        let mut load = Self { over: Arc::default(), members: Vec::new() };
        for cpu in cpus {
            load.join(*cpu, variant)?;
        }
        Ok(load)
    }

    fn join(&mut self, cpu: usize, variant: &'static Variant) -> Result<(), Unsupported> {
        let (sender, receiver) = std::sync::mpsc::channel();
        let (over, copied) = (Arc::clone(&self.over), Arc::new(AtomicU64::new(0)));
        let count = Arc::clone(&copied);
        let body = move || {
            let made = sys::affinity::pin(&[cpu]).and_then(|()| Arena::populated(STREAMED as usize, Pages::Base));
            match made {
                Err(error) => drop(sender.send(Err(Unsupported::from(error)))),
                Ok(mut arena) => {
                    // The receiver exists: the starting thread waits for this.
                    let _ = sender.send(Ok(sys::process::raw::gettid()));
                    copy_until(&over, &count, variant, &mut arena);
                }
            }
        };
        let handle = std::thread::Builder::new().name(format!("stream {cpu}")).spawn(body)?;
        let tid =
            receiver.recv().map_err(|_| Unsupported::new("a streaming thread ended during its preparation"))??;
        self.members.push((tid, copied, Some(handle)));
        Ok(())
    }

    fn tids(&self) -> Vec<i32> {
        self.members.iter().map(|(tid, _, _)| *tid).collect()
    }

    /// Pieces that each of them has copied.
    fn copied(&self) -> Vec<u64> {
        self.members.iter().map(|(_, copied, _)| copied.load(Ordering::Relaxed)).collect()
    }
}

fn copy_until(over: &AtomicBool, count: &AtomicU64, variant: &Variant, arena: &mut Arena) {
    let (to, from) = arena.doubles_mut().split_at_mut(STREAMED as usize / 16);
    loop {
        for (to, from) in to.chunks_mut(PIECE).zip(from.chunks(PIECE)) {
            if over.load(Ordering::Relaxed) {
                return;
            }
            variant.run(to, from, &[], 0.0, 1);
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for (_, _, handle) in &mut self.members {
            if let Some(handle) = handle.take() {
                // The check has detected a thread that panicked: it streams no more.
                let _ = handle.join();
            }
        }
    }
}

/// Batches without progress of a stream after which the load counts as missing.
const MOST_IDLE: u32 = 3;

struct Loaded {
    chase: Chase,
    load: Load,
    seen: Vec<u64>,
    idle: u32,
}

impl Kernel for Loaded {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, ProbeError> {
        self.chase.batch(ops)
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), ProbeError> {
        self.chase.check(done)?;
        let now = self.load.copied();
        // Another process may delay a stream for a moment.
        let stuck = self.seen.iter().zip(&now).any(|(before, after)| before == after);
        self.idle = if stuck { self.idle + 1 } else { 0 };
        if self.idle > MOST_IDLE {
            return Err(ProbeError::new("a CPU that should stream does not"));
        }
        Ok(())
    }

    fn ready(&mut self, ops: u64) -> Result<(), ProbeError> {
        self.seen = self.load.copied();
        self.chase.ready(ops)
    }

    fn granule(&self) -> u64 {
        self.chase.granule()
    }

    fn declared(&self) -> Option<DeclaredCost> {
        self.chase.declared()
    }
}
