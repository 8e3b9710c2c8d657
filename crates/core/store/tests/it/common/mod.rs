//! Runs like those of a real machine, generated from a seed.
#![allow(dead_code, clippy::unwrap_used, reason = "each test uses its part; these are tests")]

#[cfg(feature = "postgres")]
pub(crate) mod server;

use model::{
    BenchmarkResult, Better, Class, Estimate, EstimateMethod, Fact, FactValue, Footprint, Identity, Machine, Metric,
    Outcome, Parameters, Placement, Plan, PlanEntry, Primitive, ResultKey, Run, Sample, Session, Unit,
};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use store::{SessionValue, Store};

/// Size of a run.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) results: usize,
    pub(crate) samples: usize,
    pub(crate) batches: usize,
}

/// Few numbers, for tests that do not depend on size.
pub(crate) const SMALL: Shape = Shape { results: 4, samples: 3, batches: 4 };
/// The size of a run of the default suite: 80 results, most of which end at 14 samples.
pub(crate) const TYPICAL: Shape = Shape { results: 80, samples: 14, batches: 20 };

/// The `number`th session on a machine.
pub(crate) fn run(machine: &str, number: u32, shape: Shape) -> Run {
    let mut random = ChaCha8Rng::seed_from_u64(u64::from(number));
    let (day, second) = (number / 86_400 % 28 + 1, number % 86_400);
    let started = format!("2026-11-{day:02}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60);
    let results: Vec<_> = (0..shape.results).map(|index| result(index, shape, &mut random)).collect();
    let entry = |result: &BenchmarkResult| PlanEntry {
        benchmark: result.benchmark.clone(),
        parameters: result.parameters.clone(),
        target: 0.02,
        shares: None,
    };
    Run {
        id: format!("{machine}-{number:06}"),
        machine: Machine {
            name: machine.to_owned(),
            fingerprint: format!("{machine}-fingerprint"),
            summary: "2 CPUs, 8 GiB".to_owned(),
            topology: None,
            facts: (0..120).map(|index| fact(index, &mut random)).collect(),
        },
        session: Session {
            started,
            seconds: 117.5,
            version: "0.1.0".to_owned(),
            rounds: u32::try_from(shape.samples).unwrap(),
            complete: true,
            began_on: Identity { fingerprint: format!("{machine}-fingerprint"), ..Identity::default() },
            ..Session::default()
        },
        plan: Plan {
            suite: "default".to_owned(),
            seed: number.into(),
            entries: results.iter().map(entry).collect(),
            ..Plan::default()
        },
        results,
        ..Run::default()
    }
}

fn fact(index: usize, random: &mut ChaCha8Rng) -> Fact {
    Fact {
        name: format!("topic.fact_{index}"),
        value: FactValue::Number(random.random_range(0..1_000_000_000_u64) as f64),
        unit: Some("B".to_owned()),
        source: format!("/proc/topic/fact_{index}"),
        affects: vec![Primitive::DramRead],
    }
}

fn result(index: usize, shape: Shape, random: &mut ChaCha8Rng) -> BenchmarkResult {
    let nanos = 1_000_000 + 10_000 * index as u64;
    let samples: Vec<_> = (0..shape.samples).map(|round| sample(round, nanos, shape.batches, random)).collect();
    let mut values: Vec<_> = samples.iter().map(|sample| sample.value).collect();
    values.sort_by(f64::total_cmp);
    let estimate = Estimate {
        value: values[values.len() / 2],
        low: values[0],
        high: values[values.len() - 1],
        level: 0.95,
        samples: u32::try_from(shape.samples).unwrap(),
        batches: u32::try_from(shape.batches).unwrap(),
        method: EstimateMethod::OrderStatistic,
    };
    let parameters = Parameters::none().with("working_set", format!("{}KiB", 16 << (index % 4))).with("threads", "1");
    let key = ResultKey::new(format!("family{}.benchmark_{}", index % 6, index / 4), parameters);
    let metric = Metric { unit: Unit::Seconds, per: "call".into(), better: Better::Lower };
    BenchmarkResult {
        outcome: Outcome::Measured(estimate),
        flags: Vec::new(),
        ops: 1000,
        footprint: footprint(random),
        samples,
        ..BenchmarkResult::unmeasured(key, format!("Benchmark {index}"), metric, Class::Compute)
            .stressing(&[Primitive::SyscallEntry])
    }
}

fn sample(round: usize, nanos: u64, batches: usize, random: &mut ChaCha8Rng) -> Sample {
    let nanos: Vec<u64> = (0..batches).map(|_| nanos + random.random_range(0..nanos / 50)).collect();
    let mut sorted = nanos.clone();
    sorted.sort_unstable();
    Sample {
        round: u32::try_from(round).unwrap(),
        began: round as f64 * 8.0 + random.random::<f64>(),
        wall: 0.03 + random.random::<f64>() * 1e-3,
        value: sorted[sorted.len() / 2] as f64 / 1000.0 * 1e-9,
        nanos,
        warmup: 8,
        steady: true,
        placement: Placement { asked: vec![0], seen: vec![vec![0, 0]] },
        footprint: footprint(random),
        ..Sample::default()
    }
}

fn footprint(random: &mut ChaCha8Rng) -> Footprint {
    Footprint {
        operations: 20_000,
        user_seconds: Some(random.random::<f64>() * 0.01),
        system_seconds: Some(random.random::<f64>() * 0.01),
        cpu_seconds: Some(random.random::<f64>() * 0.02),
        voluntary_switches: Some(random.random_range(0..10)),
        involuntary_switches: Some(random.random_range(0..10)),
        minor_faults: Some(random.random_range(0..1000)),
        major_faults: Some(0),
        read_bytes: Some(0),
        write_bytes: Some(20_000),
        read_calls: Some(0),
        write_calls: Some(20_000),
        forks: Some(0),
        migrations: Some(0),
        hardware: None,
    }
}

/// The history of one result on one machine.
pub(crate) fn history(store: &dyn Store, key: &ResultKey, fingerprint: &str, limit: usize) -> Vec<SessionValue> {
    store.histories(std::slice::from_ref(key), fingerprint, limit).unwrap().pop().unwrap()
}
