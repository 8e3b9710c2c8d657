//! How a result grows with the threads that work on it.

use model::{BenchmarkResult, Better, CpuSet, Parameters, Primitive, ResultKey, Run};

/// A further thread must add at least this share of what one alone does, else the curve has its knee.
const WORTH: f64 = 0.5;
/// Part of the missing share, on a logarithmic scale, that a falling clock must make up for to be named.
const EXPLAINED: f64 = 0.5;

/// How threads are spread over a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ThreadSpread {
    /// As close together as they go.
    Compact,
    /// As far apart as they go.
    Scatter,
}

/// One set of parameters of a curve.
#[derive(Debug, Clone, PartialEq)]
pub struct ScalingPoint {
    /// Threads.
    pub threads: usize,
    /// Key of the result in the run.
    pub key: ResultKey,
    /// Its value and the ends of its interval.
    pub value: f64,
    low: f64,
    high: f64,
    /// Share of the ideal, which is the rate of one thread times their number.
    pub share: f64,
    /// Median clock of its samples in hertz, from sensors or from the kernel.
    pub clock: Option<f64>,
}

/// Possible limits of a curve beyond its knee. Only recorded ones are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScalingLimit {
    /// A control group gives less CPU time than the threads could use.
    Quota,
    /// The result works in the memory that all threads share.
    Memory,
    /// The knee is at the number of cores, whose hardware threads share them.
    SharedCores,
    /// The knee is at the number of cores of the fastest class.
    SlowerCores,
    /// The clock fell enough to explain most of the missing rate.
    Clock,
    /// Nothing that was recorded, in a guest, whose host may place two of its CPUs on one core.
    HiddenCores,
    /// Nothing that was recorded.
    Unknown,
}

impl ScalingLimit {
    /// In words.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Quota => "the control group's quota of CPU time",
            Self::Memory => "memory bandwidth",
            Self::SharedCores => "hardware threads share their cores",
            Self::SlowerCores => "the further cores are of a slower class",
            Self::Clock => "the clock, which falls as more cores work",
            Self::HiddenCores => "not known; the host may place two CPUs of this guest on one core",
            Self::Unknown => "not known",
        }
    }
}

/// A result over threads.
#[derive(Debug, Clone, PartialEq)]
pub struct ScalingCurve {
    /// The benchmark.
    pub benchmark: String,
    /// What people call it.
    pub title: String,
    /// The other parameters.
    pub parameters: Parameters,
    /// How its threads are spread.
    pub spread: ThreadSpread,
    /// By rising threads, one thread first.
    pub points: Vec<ScalingPoint>,
    /// Threads beyond which a further one adds less than half of the first one's rate; `None` where the curve grows to
    /// its end.
    pub knee: Option<usize>,
    /// Possible limits beyond the knee; empty without one.
    pub limits: Vec<ScalingLimit>,
}

impl ScalingCurve {
    /// The clock on the most threads relative to that on one, where both are known.
    #[must_use]
    pub fn clock_ratio(&self) -> Option<f64> {
        Some(self.points.last()?.clock? / self.points.first()?.clock?)
    }
}

/// The curves of a run with at least two sets of parameters that begin at one thread. Only rates that add up over
/// threads count.
#[must_use]
pub fn scaling(run: &Run) -> Vec<ScalingCurve> {
    let mut families: Vec<(&str, Parameters)> = Vec::new();
    for result in run.results.iter().filter(|result| result.metric.better == Better::Higher) {
        let rest = rest(&result.parameters);
        let known =
            families.iter().any(|(benchmark, parameters)| *benchmark == result.benchmark && *parameters == rest);
        if result.parameters.get("threads").is_some() && !known {
            families.push((&result.benchmark, rest));
        }
    }
    let spreads = [ThreadSpread::Compact, ThreadSpread::Scatter];
    let all = families.iter().flat_map(|family| spreads.map(|spread| (family, spread)));
    let curves = all.filter_map(|((benchmark, rest), spread)| curve(run, benchmark, rest, spread));
    // Few threads far apart and close together are the same where there is but one way.
    curves
        .filter(|curve| {
            curve.spread == ThreadSpread::Compact || curve.points.iter().any(|p| is_scattered(&p.key.parameters))
        })
        .collect()
}

/// A set of parameters without the parameter of the curve, which includes sizes that follow the threads.
fn rest(parameters: &Parameters) -> Parameters {
    parameters.clone().without("threads").without("working_set")
}

fn is_scattered(parameters: &Parameters) -> bool {
    parameters.get("threads").is_some_and(|word| word.ends_with("_scatter"))
}

/// Threads of a result: from its parameters, or the number of CPUs of its samples.
fn threads(result: &BenchmarkResult) -> Option<usize> {
    let word = result.parameters.get("threads")?;
    let placed = || result.samples.iter().map(|sample| sample.placement.asked.len()).max().filter(|count| *count > 0);
    word.trim_end_matches("_scatter").parse().ok().or_else(placed)
}

/// Median clock of the samples of a result in hertz: from sensors, else from the kernel.
fn clock(result: &BenchmarkResult) -> Option<f64> {
    let read = |sample: &model::Sample| sample.clean.and_then(|clean| clean.clock);
    let median = |of: &dyn Fn(&model::Sample) -> Option<f64>| {
        let mut clocks: Vec<f64> = result.samples.iter().filter_map(of).collect();
        clocks.sort_by(f64::total_cmp);
        clocks.get(clocks.len() / 2).copied()
    };
    median(&read).or_else(|| median(&|sample| sample.frequency.map(|(_, after)| after)))
}

fn curve(run: &Run, benchmark: &str, wanted: &Parameters, spread: ThreadSpread) -> Option<ScalingCurve> {
    let mut points: Vec<ScalingPoint> = Vec::new();
    let results =
        run.results.iter().filter(|result| result.benchmark == benchmark && rest(&result.parameters) == *wanted);
    let mut last: Option<&BenchmarkResult> = None;
    for result in results {
        let word = result.parameters.get("threads")?;
        // One thread, all cores and all threads are the same however they are spread.
        let common = ["1", "cores", "all"].contains(&word);
        let fits = common || is_scattered(&result.parameters) == (spread == ThreadSpread::Scatter);
        let (Some(threads), Some(estimate)) = (threads(result), result.outcome.estimate()) else { continue };
        if fits && points.iter().all(|parameters| parameters.threads != threads) {
            let (value, low, high) = (estimate.value, estimate.low, estimate.high);
            points.push(ScalingPoint {
                threads,
                key: result.key(),
                value,
                low,
                high,
                share: 1.0,
                clock: clock(result),
            });
            last = Some(result);
        }
    }
    let last = last?;
    points.sort_by_key(|parameters| parameters.threads);
    let alone = points.first().filter(|parameters| parameters.threads == 1 && parameters.value > 0.0)?.value;
    if points.len() < 2 {
        return None;
    }
    for parameters in &mut points {
        parameters.share = parameters.value / (alone * parameters.threads as f64);
    }
    let mut found = ScalingCurve {
        benchmark: benchmark.to_owned(),
        title: last.title.clone(),
        parameters: wanted.clone(),
        spread,
        knee: knee(&points, alone),
        points,
        limits: Vec::new(),
    };
    if let Some(knee) = found.knee {
        found.limits = limits(run, &found, knee, last);
    }
    Some(found)
}

/// The first point after which a further thread adds too little, over the rest of the curve. One slow point between two
/// others is no knee, nor is anything within the intervals.
fn knee(points: &[ScalingPoint], alone: f64) -> Option<usize> {
    let may_be_worth = |from: &ScalingPoint, to: &ScalingPoint| {
        (to.high - from.low) / (alone * (to.threads - from.threads) as f64) >= WORTH
    };
    let at = (0..points.len() - 1).find(|at| points[at + 1..].iter().all(|to| !may_be_worth(&points[*at], to)))?;
    Some(points[at].threads)
}

/// Causes of a knee that the run's records allow.
fn limits(run: &Run, curve: &ScalingCurve, knee: usize, result: &BenchmarkResult) -> Vec<ScalingLimit> {
    let Some(last) = curve.points.last() else { return Vec::new() };
    let machine = run.machine.topology.as_ref();
    let cores = machine.map(|machine| machine.cores.len());
    let fastest = machine.filter(|machine| machine.classes.len() > 1).map(|machine| {
        let class = &machine.classes[0].cpus;
        machine.cores.iter().filter(|core| !core.and(class).is_empty()).count()
    });
    let is = |limit: ScalingLimit, holds: bool| holds.then_some(limit);
    let explains = |ratio: f64| ratio < 1.0 && last.share < 1.0 && ratio.ln() / last.share.ln() >= EXPLAINED;
    let mut found: Vec<ScalingLimit> = [
        is(ScalingLimit::Quota, run.machine.number("cgroup.cpus").is_some_and(|quota| quota < last.threads as f64)),
        is(ScalingLimit::Memory, walks_memory(run, result) && cores.is_none_or(|cores| knee < cores)),
        is(ScalingLimit::SharedCores, cores.is_some_and(|cores| knee >= cores && last.threads > cores)),
        is(ScalingLimit::SlowerCores, fastest.zip(cores).is_some_and(|(fast, all)| knee >= fast && knee < all)),
        is(ScalingLimit::Clock, curve.clock_ratio().is_some_and(explains)),
    ]
    .into_iter()
    .flatten()
    .collect();
    if found.is_empty() {
        found.push(if run.machine.is_guest() { ScalingLimit::HiddenCores } else { ScalingLimit::Unknown });
    }
    found
}

/// Whether a result works in memory: its benchmark says so, and its data exceed the caches of its CPUs.
fn walks_memory(run: &Run, result: &BenchmarkResult) -> bool {
    let memory = [Primitive::DramRead, Primitive::DramWrite, Primitive::DramLatency];
    let placed = result.samples.iter().flat_map(|sample| &sample.placement.asked).map(|cpu| *cpu as usize);
    let cpus: CpuSet = placed.collect();
    let caches = run.machine.topology.as_ref().and_then(|machine| machine.last_level_bytes(&cpus));
    let fits = result.parameters.bytes("working_set").ok().zip(caches).is_some_and(|(set, caches)| set <= caches);
    result.stresses.iter().any(|primitive| memory.contains(primitive)) && !fits
}

#[cfg(test)]
mod tests {
    use model::{Class, Estimate, EstimateMethod, Metric, Outcome, Unit};

    use super::*;

    fn result(benchmark: &str, threads: &str, value: f64, stresses: &[Primitive]) -> BenchmarkResult {
        let key = ResultKey::new(benchmark, format!("working_set=256MiB,threads={threads}").parse().unwrap());
        let metric = Metric::higher(Unit::BytesPerSecond, "bytes read");
        let mut result = BenchmarkResult::unmeasured(key, "read", metric, Class::Bandwidth).stressing(stresses);
        let method = EstimateMethod::OrderStatistic;
        let estimate = Estimate { value, low: value, high: value, level: 0.95, samples: 14, batches: 280, method };
        result.outcome = Outcome::Measured(estimate);
        result
    }

    fn run(results: Vec<BenchmarkResult>) -> Run {
        let mut run = model::parse_run(
            r#"{"schema":1,"id":"r","machine":{"name":"m"},"session":{"started":"2026-11-21T00:00:00Z"},
            "plan":{"suite":"scaling","seed":1,"level":0.95,"target":0.02,"checkpoints":[10],"batches":20,"batch_nanos":1000000,"band":0.02,"entries":[]},"results":[]}"#,
        )
        .unwrap();
        run.results = results;
        run
    }

    #[test]
    fn memory_has_its_knee_where_a_thread_adds_less_than_half_of_one() {
        let memory = [Primitive::DramRead];
        let values = [
            ("1", 10.0),
            ("2", 20.0),
            ("4", 38.0),
            ("8", 60.0),
            ("16", 66.0),
            ("2_scatter", 20.0),
            ("4_scatter", 40.0),
        ];
        let results = values.map(|(threads, value)| result("memory.read", threads, value, &memory));
        let found = scaling(&run(results.into()));
        assert_eq!(found.len(), 2);
        let compact = &found[0];
        assert_eq!((compact.spread, compact.knee), (ThreadSpread::Compact, Some(8)));
        assert_eq!(compact.limits, [ScalingLimit::Memory]);
        let shares: Vec<f64> = compact.points.iter().map(|parameters| (parameters.share * 100.0).round()).collect();
        assert_eq!(shares, [100.0, 100.0, 95.0, 75.0, 41.0]);
        assert_eq!(
            (found[1].points.len(), found[1].knee),
            (3, None),
            "one thread is on both curves, and it grows to its end"
        );
    }

    #[test]
    fn a_dip_is_no_knee_and_hardware_threads_are() {
        let values = [("1", 1.0), ("2", 1.4), ("4", 4.0), ("8", 4.2)];
        let results = values.map(|(threads, value)| result("cpu.fma_peak", threads, value, &[Primitive::Vector]));
        let mut whole = run(results.into());
        let cores = (0..4).map(|cpu| CpuSet::from([cpu, cpu + 4].as_slice())).collect();
        whole.machine.topology = Some(model::Topology { cores, ..model::Topology::unknown(&[0, 1, 2, 3, 4, 5, 6, 7]) });
        let found = scaling(&whole);
        assert_eq!((found[0].knee, found[0].limits.as_slice()), (Some(4), &[ScalingLimit::SharedCores][..]));
        assert!(
            scaling(&run(vec![result("cpu.fma_peak", "1", 1.0, &[])])).is_empty(),
            "one set of parameters is not a curve"
        );
    }

    #[test]
    fn causes_are_named_only_where_the_run_recorded_them() {
        let values = [("1", 1.0), ("2", 2.0), ("4", 2.2)];
        let results: Vec<BenchmarkResult> =
            values.map(|(threads, value)| result("cpu.sha256", threads, value, &[Primitive::Vector])).into();
        let limits = |whole: &Run| {
            let found = scaling(whole);
            assert_eq!(found[0].knee, Some(2));
            found[0].limits.clone()
        };
        let mut whole = run(results.clone());
        assert_eq!(limits(&whole), [ScalingLimit::Unknown]);
        let fact = |name: &str, value: model::FactValue| model::Fact::new(name, value, "", &[]);
        whole.machine.facts = vec![fact("virtual.hypervisor", model::FactValue::Text("kvm".to_owned()))];
        assert_eq!(limits(&whole), [ScalingLimit::HiddenCores]);
        whole.machine.facts.push(fact("cgroup.cpus", model::FactValue::Number(2.0)));
        assert_eq!(limits(&whole), [ScalingLimit::Quota]);
        // A clock that falls by a tenth is not why half is missing; one that halves is.
        let mut clocked = run(results);
        for (clock, named) in [(2.7e9, ScalingLimit::Unknown), (1.7e9, ScalingLimit::Clock)] {
            for (result, clock) in clocked.results.iter_mut().zip([3e9, 3e9, clock]) {
                result.samples = vec![model::Sample { frequency: Some((clock, clock)), ..model::Sample::default() }];
            }
            assert_eq!(limits(&clocked), [named]);
        }
        // An interval that leaves room for half a thread more leaves the knee open.
        if let Outcome::Measured(estimate) = &mut clocked.results[2].outcome {
            estimate.high = 3.1;
        }
        assert_eq!(scaling(&clocked)[0].knee, None);
    }
}
