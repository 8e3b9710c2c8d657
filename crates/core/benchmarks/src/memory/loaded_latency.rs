//! Load latency while other CPUs stream.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use kernels::memory::{Arena, Pages};
use kernels::ring::ChasePattern;
use kernels::stream::{self, Stores, StreamKind, Variant, Width};
use model::{CpuSet, Topology};
use os::topology::CpuChoice;

use super::chase::Chase;
use crate::prelude::*;

/// Working set of the chain: larger than most caches.
const SET: u64 = 64 * MIB;
/// Bytes of each streaming CPU: one half is copied to the other, again and again.
const STREAMED: u64 = 64 * MIB;
/// Words of a copy after which a streaming CPU counts and checks whether to end: 1 MiB.
const PIECE: usize = (MIB / 8) as usize;

/// Time after which a stream that copies nothing counts as missing, nanoseconds: other programs delay it for a while.
const PATIENCE: u64 = 1_000_000_000;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "memory.loaded_latency",
    title: "memory latency under load",
    about: "Load latency along a random cycle through 64 MiB while none, half or all of the other CPUs stream. With \
            `load=cores`, one CPU of every other core streams. Each streaming CPU repeatedly copies 32 MiB of its own \
            to another 32 MiB as fast as it can. A batch is a part of a lap and begins where the last one ended.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "load"),
    class: Class::MemoryLatency,
    stresses: &[Primitive::DramLatency, Primitive::DramRead, Primitive::DramWrite],
    sources: &[DefinitionSource::new("multichase", "multiload", "github.com/google/multichase")],
    // If each core has one hardware thread, `cores` is the same as `all`.
    parameters: &[Parameter {
        besides: |word| word == "cores",
        ..Parameter::choice("load", &["none", "half", "all"], &["all"])
    }],
    prepare: |at, context| {
        let machine = os::topology::read()?;
        let load = at.choice("load")?;
        let others = streaming_cpus(&machine, context.cpu(0), context.allowed(), load);
        if others.is_empty() && load != "none" {
            let other = context.allowed().len().saturating_sub(1);
            return Err(Unsupported::new(format!("{other} other CPUs are available, too few for this load")));
        }
        let core = context.cpu(0).and_then(|own| machine.core(own));
        if core.is_some_and(|core| others.iter().any(|cpu| core.contains(*cpu))) {
            context.note(
                "another hardware thread of the measured core streams too and slows the core itself; load=cores \
                 avoids this",
            );
        }
        prepare(at, context, &LoadPlace { others, node: None })
    },
    ..Benchmark::BLANK
};

/// The CPUs that stream while another CPU measures.
fn streaming_cpus(machine: &Topology, own: Option<usize>, allowed: &[usize], load: &str) -> Vec<usize> {
    let others: Vec<usize> = allowed.iter().copied().filter(|cpu| Some(*cpu) != own).collect();
    match load {
        "none" => Vec::new(),
        "half" => others[..others.len() / 2].to_vec(),
        "cores" => {
            let core = own.and_then(|own| machine.core(own)).cloned().unwrap_or_default();
            let cores =
                os::topology::plan(machine, &CpuSet::from(others.as_slice()).without(&core), CpuChoice::AllCores);
            cores.unwrap_or_default()
        }
        _ => others,
    }
}

/// The node of the loaded memory, and the loading CPUs.
pub(super) struct LoadPlace {
    /// CPUs that stream.
    pub(super) others: Vec<usize>,
    /// The NUMA node of all memory, where one is asked for.
    pub(super) node: Option<usize>,
}

/// Does something with memory from one node, or from wherever the system takes it.
fn from_node<T>(node: Option<usize>, work: impl FnOnce() -> Result<T, Unsupported>) -> Result<T, Unsupported> {
    match node {
        Some(node) => kernels::memory::on_node(node, work),
        None => work(),
    }
}

/// A chase on this thread's CPU while others stream.
pub(super) fn prepare(
    at: &Parameters,
    context: &mut BenchmarkContext,
    place: &LoadPlace,
) -> Result<Trial, Unsupported> {
    let chase = from_node(place.node, || Chase::new(at, SET, ChasePattern::Random, context))?;
    if let Some(node) = place.node {
        kernels::memory::verify_node(chase.arena(), node)?;
    }
    let load = Load::start(place)?;
    for (member, tid) in load.tids().into_iter().enumerate() {
        context.watch(member + 1, tid);
    }
    Ok(Trial::one(Loaded { chase, load }))
}

/// CPUs that stream until it is dropped.
struct Load {
    over: Arc<AtomicBool>,
    members: Vec<(i32, Arc<AtomicU64>, Option<JoinHandle<()>>)>,
}

impl Load {
    fn start(place: &LoadPlace) -> Result<Self, Unsupported> {
        let (wanted, available) = (place.others.len() as u64 * STREAMED, os::usage::available_bytes()?);
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
        for cpu in &place.others {
            load.join(*cpu, place.node, variant)?;
        }
        Ok(load)
    }

    fn join(&mut self, cpu: usize, node: Option<usize>, variant: &'static Variant) -> Result<(), Unsupported> {
        let (sender, receiver) = std::sync::mpsc::channel();
        let (over, copied) = (Arc::clone(&self.over), Arc::new(AtomicU64::new(0)));
        let count = Arc::clone(&copied);
        let body = move || {
            match streamed(cpu, node) {
                Err(error) => drop(sender.send(Err(error))),
                Ok(mut arena) => {
                    // The receiver exists: the starting thread waits for this.
                    let _ = sender.send(Ok(kernels::process::raw::gettid()));
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

    /// Waits until each of them has copied a piece from now on: one whose CPU another program had is then back on it.
    fn wait_for_all(&self) -> Result<(), BenchmarkError> {
        let (before, began) = (self.copied(), kernels::clock::now());
        while self.copied().iter().zip(&before).any(|(now, before)| now == before) {
            if kernels::clock::now() - began > PATIENCE {
                return Err(BenchmarkError::new("a CPU that should stream did nothing for a second"));
            }
            std::hint::spin_loop();
        }
        Ok(())
    }
}

/// Memory for a stream, touched on its CPU.
fn streamed(cpu: usize, node: Option<usize>) -> Result<Arena, Unsupported> {
    kernels::affinity::pin(&[cpu])?;
    let arena = from_node(node, || Ok(Arena::populated(STREAMED as usize, Pages::Base)?))?;
    if let Some(node) = node {
        kernels::memory::verify_node(&arena, node)?;
    }
    Ok(arena)
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

struct Loaded {
    chase: Chase,
    load: Load,
}

impl Kernel for Loaded {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        self.chase.batch(ops)
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        self.chase.check(done)
    }

    fn ready(&mut self, ops: u64) -> Result<(), BenchmarkError> {
        self.chase.ready(ops)?;
        self.load.wait_for_all()
    }

    fn granule(&self) -> u64 {
        self.chase.granule()
    }

    fn declared(&self) -> Option<DeclaredCost> {
        self.chase.declared()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_pauses_is_waited_for_and_one_that_ended_is_missed() {
        let load = |body: fn(&AtomicBool, &AtomicU64)| {
            let (over, copied) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
            let (theirs, count) = (Arc::clone(&over), Arc::clone(&copied));
            let handle = std::thread::Builder::new().spawn(move || body(&theirs, &count)).unwrap();
            Load { over, members: vec![(0, copied, Some(handle))] }
        };
        let pausing = load(|over, count| {
            while !over.load(Ordering::Relaxed) {
                std::thread::sleep(std::time::Duration::from_millis(20));
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        for _ in 0..5 {
            let before = pausing.copied();
            pausing.wait_for_all().unwrap();
            assert!(pausing.copied() > before);
        }
        assert!(load(|_, _| ()).wait_for_all().is_err(), "it has ended");
        Load { over: Arc::default(), members: Vec::new() }.wait_for_all().unwrap();
    }

    #[test]
    fn cores_leave_the_measured_core_out() {
        let recorded = testing::machine::RecordedMachine::named("epyc-7451");
        let machine = os::topology::of_files(&recorded.online.parse().unwrap(), &|file| recorded.read(file));
        let allowed: Vec<usize> = machine.online.iter().collect();
        let of = |load: &str| CpuSet::from(streaming_cpus(&machine, Some(95), &allowed, load).as_slice());
        assert_eq!((of("all").len(), of("half").len(), of("cores").len(), of("none").len()), (95, 47, 47, 0));
        assert!(of("all").contains(47) && !of("cores").contains(47), "47 is the other hardware thread of 95");
    }
}
