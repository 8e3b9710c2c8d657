//! Conditions around a timed batch, seen by a kernel inside it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails, and says what it skips")]

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, PoisonError};

use benchmarks::{Readings, SampleSetting};
use kernels::memory::{Arena, Pages};
use model::Parameters;
use os::counters::{CounterEvent, Counters};

use super::*;

/// Open counters of this process, of hardware or kernel events, by the names of such files in the kernel (proc(5),
/// `/proc/pid/fd`).
fn counters_open() -> usize {
    let files = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let names = files.filter_map(|file| std::fs::read_link(file.path()).ok());
    names.filter(|name| name.to_string_lossy().contains("[perf_event]")).count()
}

/// Counters belong to the process: tests that open or count them run one at a time.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records inside every batch how many counters are open.
#[derive(Clone, Default)]
struct Witness {
    seen: Rc<RefCell<Vec<usize>>>,
}

impl Witness {
    fn look(&self) {
        self.seen.borrow_mut().push(counters_open());
    }
}

impl Kernel for Witness {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        self.look();
        Ok(BatchWork { ops, token: 0 })
    }

    fn check(&mut self, _: &BatchWork) -> Result<(), BenchmarkError> {
        Ok(())
    }
}

impl Readings for Witness {
    fn read(&mut self) -> Result<Vec<f64>, BenchmarkError> {
        self.look();
        Ok(vec![1e-6])
    }
}

const BATCHES: usize = 6;

fn task() -> Task {
    Task {
        result: 0,
        benchmark: "os.syscall_getppid".to_owned(),
        parameters: Parameters::none(),
        ops: 3,
        batches: BATCHES as u32,
        enough: 0,
        full: true,
        warmup: 2,
        variant: None,
        cpus: Vec::new(),
        cache: 0,
        directory: None,
    }
}

fn sample_setting() -> SampleSetting {
    SampleSetting {
        seed: 1,
        cpus: Vec::new(),
        allowed: kernels::affinity::allowed().unwrap(),
        cache: 0,
        directory: std::env::temp_dir(),
        variant: None,
        calibrating: false,
    }
}

/// A sample of this trial, from warm-up to its end, and the number of readings and batches of the witness that are
/// recorded.
fn launch(trial: Trial) -> (SampleMember, usize) {
    let (task, setting) = (task(), sample_setting());
    let benchmark = benchmarks::find(&task.benchmark).unwrap();
    let mut member = SampleMember::new(benchmark, task, BenchmarkContext::new(setting), trial, None);
    member.warm_up().unwrap();
    member.begin(None).unwrap();
    for _ in 0..BATCHES {
        member.batch(None).unwrap();
    }
    member.end().unwrap();
    let warmup = member.sample.warmup as usize;
    (member, warmup)
}

/// Batches that take far longer than any that are filtered.
struct Waiting;

impl Kernel for Waiting {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        std::thread::sleep(std::time::Duration::from_millis(10));
        Ok(BatchWork { ops, token: 0 })
    }

    fn check(&mut self, _: &BatchWork) -> Result<(), BenchmarkError> {
        Ok(())
    }
}

/// Counts its batches; each moves 24 MiB.
#[derive(Clone, Default)]
struct Moving(Rc<RefCell<u32>>);

impl Kernel for Moving {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        *self.0.borrow_mut() += 1;
        Ok(BatchWork { ops, token: 0 })
    }

    fn check(&mut self, _: &BatchWork) -> Result<(), BenchmarkError> {
        Ok(())
    }

    fn displaces(&self) -> u64 {
        8 << 20
    }
}

#[test]
fn a_turn_among_others_displaces_what_they_left_before_it_is_timed() {
    let benchmark = benchmarks::find("memory.read").unwrap();
    // A cache of 64 MiB is three batches, one of unknown size two; a large one makes longer blocks.
    for (cache, batches, lead_in, recorded) in
        [(64 << 20, 30, 3, 12), (0, 30, 2, 12), (480 << 20, 30, 20, 20), (64 << 20, 5, 3, 5)]
    {
        let kernel = Moving::default();
        let task = Task { cache, batches, ..task() };
        let trial = Trial::one(kernel.clone());
        let mut member = SampleMember::new(benchmark, task, BenchmarkContext::new(sample_setting()), trial, None);
        member.begin(None).unwrap();
        member.block(true, None).unwrap();
        assert_eq!((*kernel.0.borrow(), member.sample.nanos.len()), (lead_in + recorded, recorded as usize), "{cache}");
        while !member.is_done() {
            member.block(true, None).unwrap();
        }
        let before = *kernel.0.borrow();
        member.block(true, None).unwrap();
        assert_eq!((*kernel.0.borrow(), member.sample.nanos.len()), (before, batches as usize), "none after the last");
    }
    // A member alone follows itself; kernels that displace nothing alternate batch by batch.
    let kernel = Moving::default();
    let mut member =
        SampleMember::new(benchmark, task(), BenchmarkContext::new(sample_setting()), Trial::one(kernel.clone()), None);
    member.begin(None).unwrap();
    member.block(false, None).unwrap();
    assert_eq!(*kernel.0.borrow(), 1);
    let mut member = SampleMember::new(
        benchmark,
        task(),
        BenchmarkContext::new(sample_setting()),
        Trial::one(Witness::default()),
        None,
    );
    member.begin(None).unwrap();
    member.block(true, None).unwrap();
    assert_eq!(member.sample.nanos.len(), 1);
}

#[test]
fn a_sample_whose_batches_wait_ends_with_those_that_it_has() {
    let task = Task { batches: 100, ..task() };
    let benchmark = benchmarks::find(&task.benchmark).unwrap();
    let mut member =
        SampleMember::new(benchmark, task, BenchmarkContext::new(sample_setting()), Trial::one(Waiting), None);
    member.begin(None).unwrap();
    for made in 0..RULES.worker.enough_batches {
        assert!(!member.has_enough(), "{made} batches are too few, however long they took");
        member.batch(None).unwrap();
    }
    assert!(member.spent as f64 > RULES.worker.longest_timed && member.has_enough());
}

/// Open counters are saved and restored at every switch between processes, which costs a hand-off 6 to 17%
/// (validation/performance.md). None may be open in a recorded batch or in the warm-up before. The events here are
/// those that the kernel counts.
#[test]
fn hardware_counters_are_closed_while_batches_are_timed() {
    let _alone = alone();
    let can_count = {
        let counters = Counters::open(&[CounterEvent::PageFaults]);
        let can = counters.read_one(CounterEvent::PageFaults).is_ok();
        assert!(!can || counters_open() > 0, "an open counter must be visible to this test");
        can
    };
    let kinds: [fn(Witness) -> (Trial, usize); 3] = [
        |witness| (Trial::One(Box::new(witness)), 1),
        |witness| (Trial::Paired { work: Box::new(witness.clone()), overhead: Box::new(witness) }, 2),
        |witness| (Trial::Readings(Box::new(witness)), 1),
    ];
    for kind in kinds {
        let witness = Witness::default();
        let (trial, each) = kind(witness.clone());
        let (member, warmup) = launch(trial);
        let seen = witness.seen.borrow();
        let timed = each * (warmup + BATCHES);
        assert_eq!(seen[..timed], vec![0; timed], "batches with counters open");
        let sample = &member.sample;
        let kept = if sample.readings.is_empty() { sample.nanos.len() } else { sample.readings.len() };
        assert_eq!(kept, each * BATCHES, "batches in which events are counted are not timed");
        if !can_count {
            testing::lacks!("that events are counted after the timed batches: no counter can be opened here");
            continue;
        }
        assert_eq!(seen.len(), timed + each * COUNTED as usize);
        assert!(seen[timed..].iter().all(|open| *open > 0), "events are counted after the timed batches: {seen:?}");
        assert!(sample.footprint.hardware.is_some());
    }
    assert_eq!(counters_open(), 0, "a sample leaves no counter open");
}

/// Records its name in every batch.
struct Named(char, Rc<RefCell<String>>);

impl Kernel for Named {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        self.1.borrow_mut().push(self.0);
        // Each side has its own number of operations, which identifies its batches in the document.
        Ok(BatchWork { ops: ops + u64::from(self.0 == 'o'), token: 0 })
    }

    fn check(&mut self, _: &BatchWork) -> Result<(), BenchmarkError> {
        Ok(())
    }
}

/// Work, overhead, overhead, work, in warm-up and in recorded batches, and in the document.
#[test]
fn the_two_sides_of_a_pair_take_turns_at_coming_first() {
    let _alone = alone();
    let order = Rc::new(RefCell::new(String::new()));
    let trial = Trial::paired(Named('w', Rc::clone(&order)), Named('o', Rc::clone(&order)));
    let (member, warmup) = launch(trial);
    let seen = order.borrow().clone();
    let abba = "woow".repeat(seen.len());
    let (warm, timed) = seen.split_at(2 * warmup);
    assert_eq!(warm, &abba[..2 * warmup]);
    assert!(timed.starts_with(&abba[..2 * BATCHES]), "{timed}");
    let sample = &member.sample;
    let (work, overhead) = sample.sides(0);
    assert_eq!((work.len(), overhead.len()), (BATCHES, BATCHES));
    assert!(work.iter().all(|(ops, _)| *ops == 3) && overhead.iter().all(|(ops, _)| *ops == 4), "{sample:?}");
    // Work and overhead take no time: the difference is that of two readings of the clock, and finite.
    assert!(sample.value.is_finite());
}

const PAGES: u64 = 64;

/// Batches between readings: one more reading than batches, on each CPU that a party has, and the null batches after
/// them.
#[test]
fn references_are_read_beside_every_batch_on_the_cpus_of_all_parties() {
    let _alone = alone();
    let Ok(calibrated) = kernels::core_sensor::CoreSensors::calibrate() else {
        return testing::lacks!("no references on this machine");
    };
    let allowed = kernels::affinity::allowed().unwrap();
    let setting = SensorSetting { lengths: calibrated.lengths(), exclusive: Vec::new() };
    for parties in 1..=allowed.len().min(2) {
        let cpus = allowed[..parties].to_vec();
        let wanted = cpus.clone();
        let setting = setting.clone();
        let body = move || {
            kernels::affinity::pin(&cpus[..1]).unwrap();
            let order = Rc::new(RefCell::new(String::new()));
            let task = Task { cpus: cpus.clone(), ..task() };
            let benchmark = benchmarks::find(&task.benchmark).unwrap();
            let trial = Trial::one(Named('w', order));
            let context = BenchmarkContext::new(SampleSetting { cpus, ..sample_setting() });
            let mut member = SampleMember::new(benchmark, task, context, trial, Some(&setting));
            let mut reader = SensorReader::new(&setting);
            member.warm_up().unwrap();
            member.begin(reader.as_mut()).unwrap();
            for _ in 0..BATCHES {
                member.batch(reader.as_mut()).unwrap();
            }
            member.null_batches(reader.as_mut()).unwrap();
            let Reply::Launched { sample, .. } = member.launched(0, Some(&setting)) else { panic!("no sample") };
            sample.sensors.unwrap()
        };
        let read = std::thread::Builder::new().spawn(body).unwrap().join().unwrap();
        let of: Vec<usize> = read.tracks.iter().map(|track| track.cpu as usize).collect();
        assert_eq!(of, wanted);
        for track in &read.tracks {
            assert_eq!((track.clock.0.len(), track.contention.0.len()), (BATCHES + 1, BATCHES + 1));
            assert!(track.clock.0.iter().all(|nanos| *nanos > 1000), "{track:?}");
        }
        assert!(read.null.iter().all(|track| track.clock.0.len() > 2), "{read:?}");
        let distances = &read.distances.0;
        assert_eq!(distances.len(), 2 * (parties - 1), "before the batches and after them, between the two CPUs");
        assert!(distances.iter().all(|picos| *picos > 100), "{distances:?}");
        let looked = if parties == 1 { BATCHES } else { 0 };
        assert_eq!(read.off_cpu.0.len(), looked, "the time off the CPU is evidence where there is one party");
    }
}

/// Makes a thread that existed before the sample touch fresh pages.
struct Asking {
    ask: std::sync::mpsc::Sender<u64>,
    done: std::sync::mpsc::Receiver<()>,
}

impl Asking {
    fn new() -> Self {
        let (ask, asked) = std::sync::mpsc::channel::<u64>();
        let (tell, done) = std::sync::mpsc::channel();
        let body = move || {
            for ops in asked {
                let mut arena = Arena::reserve((ops * PAGES) as usize * 4096, Pages::Base).unwrap();
                std::hint::black_box(arena.touch(4096));
                let _ = tell.send(());
            }
        };
        std::thread::Builder::new().spawn(body).unwrap();
        Self { ask, done }
    }
}

impl Kernel for Asking {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        self.ask.send(ops).unwrap();
        self.done.recv().unwrap();
        Ok(BatchWork { ops, token: 0 })
    }

    fn check(&mut self, _: &BatchWork) -> Result<(), BenchmarkError> {
        Ok(())
    }
}

/// In tests the first hardware event of a footprint is the page faults.
#[test]
fn what_the_threads_of_a_result_do_is_in_its_footprint() {
    let _alone = alone();
    let (member, _) = launch(Trial::one(Asking::new()));
    let footprint = &member.sample.footprint;
    let faults = footprint.operations * PAGES;
    assert!(footprint.minor_faults.unwrap() >= faults, "{footprint:?}");
    match &footprint.hardware {
        Some(hardware) => assert!(hardware.cycles.unwrap() >= faults, "{footprint:?}"),
        None => testing::lacks!("events of other threads are not counted: no counter can be opened"),
    }
}

/// A rate says little of how long one operation takes: 150,000 loops a second had no quantile of 99.9%.
#[test]
fn as_many_operations_are_timed_as_their_time_allows() {
    let of_each = |nanos: u64| single_operations(&[50 * nanos, 99 * nanos, 50 * nanos], &[50, 50, 50]);
    assert_eq!([10, 7_000, 40_000, 60_000, 5_000_000].map(of_each), [4000, 1428, 1000, 166, 100]);
    assert_eq!(single_operations(&[], &[]), 100);
}
