//! Simulated nights of one machine.

use history::{History, history};
use model::{
    BenchmarkResult, Class, Estimate, EstimateMethod, Fact, FactValue, Machine, Metric, Outcome, Parameters, Primitive,
    ResultKey, Run, Unit,
};
use rand::Rng;
use stats::simulate::{generator, standard_normal};

/// Metrics of a usual night.
pub(crate) const METRICS: usize = 80;

/// Session noise of every simulated metric.
pub(crate) const NOISE: f64 = 0.01;

/// What the noise of a simulated night is like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// Normal and independent.
    Normal,
    /// Student's t with five degrees of freedom.
    Heavy,
    /// One night in fifty is slower by a multiple of the noise, mean 6.
    Spiky,
    /// Half of the variance is common to all metrics of a night.
    Common,
    /// Correlated by 0.3 with the night before.
    Correlated,
}

pub(crate) const KINDS: [Kind; 5] = [Kind::Normal, Kind::Heavy, Kind::Spiky, Kind::Common, Kind::Correlated];

/// Logarithms of costs: a series for each metric.
pub(crate) type Logs = Vec<Vec<f64>>;

pub(crate) fn logs(kind: Kind, metrics: usize, nights: usize, seed: u64) -> Logs {
    let mut rng = generator(seed);
    let common: Vec<f64> = (0..nights).map(|_| standard_normal(&mut rng)).collect();
    (0..metrics)
        .map(|_| {
            let mut last = standard_normal(&mut rng);
            (0..nights)
                .map(|night| {
                    let normal = standard_normal(&mut rng);
                    NOISE
                        * match kind {
                            Kind::Normal => normal,
                            Kind::Heavy => {
                                let squares: f64 = (0..5).map(|_| standard_normal(&mut rng).powi(2)).sum();
                                normal / (squares / 5.0).sqrt()
                            }
                            Kind::Spiky if rng.random::<f64>() < 0.02 => normal - 6.0 * rng.random::<f64>().ln(),
                            Kind::Spiky => normal,
                            Kind::Common => (normal + common[night]) / std::f64::consts::SQRT_2,
                            Kind::Correlated => {
                                last = 0.3 * last + (1.0_f64 - 0.09).sqrt() * normal;
                                last
                            }
                        }
                })
                .collect()
        })
        .collect()
}

/// The families of the metrics, each with what its members stress.
const FAMILIES: [(&str, Primitive); 4] = [
    ("os", Primitive::SyscallEntry),
    ("ipc", Primitive::ContextSwitch),
    ("memory", Primitive::DramLatency),
    ("file", Primitive::Fork),
];

/// Family of a metric: each has a quarter of them.
pub(crate) fn family(metric: usize) -> &'static str {
    FAMILIES[metric % FAMILIES.len()].0
}

/// Runs with these values, one a night. Every second metric is a rate.
pub(crate) fn runs(logs: &Logs) -> Vec<Run> {
    let mut empty: Run = serde_json::from_str(
        r#"{"schema":1,"id":"r","machine":{"name":"node-1","fingerprint":"f"},"session":{"started":"2026-01-01T00:00:00Z"},
        "plan":{"suite":"default","seed":1,"level":0.95,"target":0.02,"checkpoints":[10],"batches":20,"batch_nanos":1000000,"band":0.02,"entries":[]},"results":[]}"#,
    )
    .unwrap();
    for (name, value) in
        [("machine.id_hash", "one"), ("cpu.model", "CPU A"), ("kernel.release", "6.1.0"), ("memory.speed", "DDR5-4800")]
    {
        set(&mut empty.machine, name, value);
    }
    (0..logs[0].len())
        .map(|night| {
            let mut run = Run { id: format!("run-{night}"), ..empty.clone() };
            run.session.started =
                format!("{}-{:02}-{:02}T02:00:00Z", 2026 + night / 336, night / 28 % 12 + 1, night % 28 + 1);
            run.results = logs.iter().enumerate().map(|(metric, logs)| result(metric, logs[night])).collect();
            run
        })
        .collect()
}

fn result(metric: usize, log: f64) -> BenchmarkResult {
    let (family, stresses) = FAMILIES[metric % FAMILIES.len()];
    let (unit, value) = if metric.is_multiple_of(2) {
        (Metric::lower(Unit::Seconds, "call"), 1e-6 * log.exp())
    } else {
        (Metric::higher(Unit::BytesPerSecond, "bytes"), 1e9 / log.exp())
    };
    let key = ResultKey::new(format!("{family}.metric_{metric}"), Parameters::none());
    let mut result = BenchmarkResult::unmeasured(key, format!("metric {metric}"), unit, Class::Compute);
    result.stresses = vec![stresses];
    result.outcome = Outcome::Measured(Estimate {
        value,
        low: value * (-0.004_f64).exp(),
        high: value * 0.004_f64.exp(),
        level: 0.95,
        samples: 10,
        batches: 20,
        method: EstimateMethod::OrderStatistic,
    });
    result
}

/// Sets a fact, with what it affects.
pub(crate) fn set(machine: &mut Machine, name: &str, value: &str) {
    let affects = match name {
        "kernel.release" => {
            vec![Primitive::SyscallEntry, Primitive::ContextSwitch, Primitive::Fork, Primitive::PageFault]
        }
        "memory.speed" => vec![Primitive::DramLatency],
        _ => Vec::new(),
    };
    machine.facts.retain(|fact| fact.name != name);
    machine.facts.push(Fact {
        name: name.to_owned(),
        value: FactValue::Text(value.to_owned()),
        unit: None,
        source: "a test".to_owned(),
        affects,
    });
}

/// The history of runs.
pub(crate) fn of(runs: &[Run]) -> History {
    let named: Vec<(String, &Run)> =
        (1..).zip(runs).map(|(number, run): (u32, &Run)| (number.to_string(), run)).collect();
    history(&named)
}
