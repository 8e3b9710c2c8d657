//! Counters from recorded texts of `/proc` and `/sys`.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::PathBuf;

use model::{Class, Metric, Parameters, ResultKey, Sample, Unit};

use super::*;

/// A copy of a machine's `/proc` and `/sys`, as text.
pub(crate) struct Tree(tempfile::TempDir);

impl Tree {
    /// A guest with two CPUs with stolen ticks, in a group that was throttled for a time.
    pub(crate) fn new(stolen: [u64; 2], throttled: Duration) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        tree.put("proc/self/cgroup", "1:cpu:/box\n");
        tree.put("proc/self/mountinfo", "31 24 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
        tree.put("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "50000\n");
        tree.put("sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000\n");
        tree.put("sys/devices/system/cpu/online", "0-1\n");
        tree.set(stolen, throttled);
        tree
    }

    /// The same machine later.
    pub(crate) fn set(&self, stolen: [u64; 2], throttled: Duration) {
        let line = |name: &str, stolen: u64| format!("{name} 4705 23 6107 150382 4303 0 119 {stolen} 0 0\n");
        let all = [line("cpu ", stolen[0] + stolen[1]), line("cpu0", stolen[0]), line("cpu1", stolen[1])];
        self.put("proc/stat", &format!("{}intr 9\nctxt 12\nprocesses 77\n", all.concat()));
        let stat = format!("nr_periods 12\nnr_throttled 5\nthrottled_time {}\n", throttled.as_nanos());
        self.put("sys/fs/cgroup/cpu/box/cpu.stat", &stat);
    }

    pub(crate) fn put(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.0.path().to_owned()
    }
}

fn tick() -> f64 {
    os::usage::clock_tick().as_secs_f64()
}

#[test]
fn one_tick_is_a_tick_and_no_share_leaves_its_range() {
    let tree = Tree::new([5, 9], Duration::from_millis(3));
    let mut before = OutsideCounters::under(&tree.root(), &[1]);
    tree.set([5, 10], Duration::from_millis(7));
    let mut after = OutsideCounters::under(&tree.root(), &[1]);
    // The clock is that of this process: the sample is assumed to have taken 35 ms.
    (before.at, after.at) = (Duration::ZERO, Duration::from_millis(35));
    let stolen = after.stolen_since(&before).unwrap();
    assert!((stolen.seconds - tick()).abs() < 1e-12 && (stolen.of - 0.035).abs() < 1e-12, "{stolen}");
    assert!(stolen.share().unwrap().get() <= 1.0);
    let throttled = after.throttled_since(&before).unwrap();
    assert_eq!(throttled.to_string(), "4.0 ms of 35 ms");
    assert_eq!((before.quota_period, before.online), (Some(Duration::from_millis(100)), Some(2)));
}

#[test]
fn only_the_cpus_under_test_count_and_each_once() {
    let tree = Tree::new([5, 9], Duration::ZERO);
    let of = |cpus: &[usize]| OutsideCounters::under(&tree.root(), cpus);
    let ticks = |counters: &OutsideCounters| (counters.stolen.unwrap().as_secs_f64() / tick()).round() as u64;
    assert_eq!((ticks(&of(&[0])), ticks(&of(&[0, 1])), ticks(&of(&[1, 1, 1]))), (5, 14, 9));
    assert_eq!((of(&[0, 1]).cpus, of(&[1, 1, 1]).cpus), (2, 1));
    assert_eq!(of(&[0, 7]).stolen, None, "a CPU that is not counted");
}

#[test]
fn what_cannot_be_read_is_unknown_and_not_nothing() {
    let empty = tempfile::tempdir().unwrap();
    let counters = OutsideCounters::under(empty.path(), &[0]);
    assert_eq!((counters.stolen, counters.throttled, counters.online), (None, None, None));
    assert_eq!(counters.stolen_since(&counters), None);
}

fn run(frequencies: &[(f64, f64)]) -> Run {
    let mut run = crate::begin(model::Plan::default(), model::Machine::default(), model::Identity::default());
    let metric = Metric::lower(Unit::Seconds, "operation");
    let mut result =
        BenchmarkResult::unmeasured(ResultKey::new("a.b", Parameters::none()), "a", metric, Class::Compute);
    let sample = |pair: &(f64, f64)| Sample { frequency: Some(*pair), ..Sample::default() };
    result.samples = frequencies.iter().map(sample).collect();
    run.results.push(result);
    run
}

#[test]
fn a_run_keeps_what_disturbed_it_and_a_resumed_one_adds_up() {
    let counters = |at: u64, stolen: u64, throttled: u64, used: u64, load: f64| OutsideCounters {
        at: Duration::from_secs(at),
        cpus: 2,
        stolen: Some(Duration::from_secs(stolen)),
        throttled: Some(Duration::from_secs(throttled)),
        used: Some(Duration::from_secs(used)),
        // Others use a tenth of a CPU.
        busy: Some(Duration::from_secs(used) + Duration::from_secs(at) / 10),
        load: Some(load),
        online: Some(4),
        quota_period: None,
    };
    let mut run = run(&[(2.0e9, 2.4e9), (3.0e9, 2.1e9)]);
    run.session.conditions.beside = Some("prony net".to_owned());
    let watch = ConditionsWatch::from(&run.session.conditions, &[0, 1], counters(100, 7, 1, 3, 0.4));
    watch.record_until(&mut run, &counters(150, 12, 25, 29, 2.0));
    // Recorded after every round: always the total since the beginning, never added twice.
    watch.record_until(&mut run, &counters(150, 12, 25, 29, 2.0));
    let seen = run.session.conditions.clone();
    assert_eq!((seen.load, seen.cpus, seen.online), (Some(0.4), Some(2), Some(4)), "the load is that before the run");
    assert_eq!(seen.steal, Some(TakenTime { seconds: 5.0, of: 100.0 }));
    assert_eq!(seen.others, Some(TakenTime { seconds: 5.0, of: 100.0 }), "without the run's own");
    let throttled = seen.throttled.unwrap();
    assert_eq!((throttled.seconds, throttled.of), (24.0, 50.0), "of what it ran and did not run");
    assert_eq!((seen.clock, seen.beside.as_deref()), (Some((2.0e9, 3.0e9)), Some("prony net")));

    let watch = ConditionsWatch::from(&run.session.conditions, &[0, 1], counters(500, 40, 30, 0, 0.1));
    watch.record_until(&mut run, &counters(510, 41, 30, 5, 0.1));
    let seen = &run.session.conditions;
    assert_eq!((seen.load, seen.steal), (Some(0.4), Some(TakenTime { seconds: 6.0, of: 120.0 })));
    assert_eq!(seen.others, Some(TakenTime { seconds: 6.0, of: 120.0 }));
    // If a subject's own processes go on, other processes cannot be told from them.
    let unknown = OutsideCounters { busy: None, ..counters(500, 40, 30, 0, 0.1) };
    assert_eq!(counters(510, 41, 30, 5, 0.1).others_since(&unknown), None);
    assert_eq!(seen.throttled, Some(TakenTime { seconds: 24.0, of: 55.0 }));
}
