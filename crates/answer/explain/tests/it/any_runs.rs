//! Comparing and explaining any runs returns a result or an error; neither panics nor prints NaN or infinity.
#![allow(clippy::unwrap_used, reason = "helpers of tests, which Clippy does not recognise as such")]

use crate::common::{rate, result, run, time};
use compare::{CompareOptions, FailOn, GateAnswer, GeometricMean, Normalise, compare};
use explain::explain;
use model::{BenchmarkResult, Class, Estimate, EstimateMethod, Mode, Outcome, Primitive, Run, Sample};
use proptest::prelude::*;

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => 1e-9..1e9_f64,
        1 => Just(0.0),
        1 => -1e3..0.0_f64,
        1 => prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(1e-320), Just(f64::MAX)],
    ]
}

fn estimate() -> impl Strategy<Value = Estimate> {
    (number(), 0.0..0.5_f64, prop_oneof![Just(0.0), Just(0.95), Just(1.0)], 0_u32..50).prop_map(
        |(value, half, level, samples)| {
            let (low, high) = (value * (1.0 - half), value * (1.0 + half));
            let method = if level == 0.0 { EstimateMethod::None } else { EstimateMethod::Stated };
            Estimate { value, low: low.min(high), high: low.max(high), level, samples, batches: 1, method }
        },
    )
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        6 => estimate().prop_map(Outcome::Measured),
        1 => number().prop_map(|bound| Outcome::Below { bound }),
        1 => prop::collection::vec((0.0..1.0_f64, estimate()), 0..4)
            .prop_map(|modes| Outcome::Modes(modes.into_iter().map(|(share, estimate)| Mode { share, estimate }).collect())),
        1 => Just(Outcome::NotMeasured("no".into())),
        1 => Just(Outcome::Failed("hung".into())),
    ]
}

const BENCHMARKS: [&str; 10] = [
    "cpu.arithmetic",
    "memory.read",
    "os.pipe_switch",
    "os.fork_exit",
    "os.exec",
    "shell.script",
    "shell.compile",
    "file.write",
    "ipc.pipe_latency",
    "odd",
];

fn any_result(index: usize) -> impl Strategy<Value = BenchmarkResult> {
    let points = prop_oneof![
        Just(""),
        Just("working_set=4KiB"),
        Just("placement=free"),
        Just("placement=same_cpu"),
        Just("concurrent=0")
    ];
    let stresses = prop::sample::subsequence(vec![Primitive::Exec, Primitive::DramRead, Primitive::Pipe], 0..3);
    (outcome(), points, any::<bool>(), stresses, prop::collection::vec(number(), 0..14)).prop_map(
        move |(outcome, at, higher, stresses, values)| {
            let metric = if higher { rate("loops") } else { time("loop") };
            let mut made = result(BENCHMARKS[index], at, metric, Class::Process, &stresses, outcome);
            made.samples =
                values.into_iter().map(|value| Sample { value, nanos: vec![1, 0, 7], ..Sample::default() }).collect();
            made
        },
    )
}

fn any_run(id: &'static str) -> impl Strategy<Value = Run> {
    let results = (0..BENCHMARKS.len()).map(any_result).collect::<Vec<_>>();
    (results, prop::bool::ANY).prop_map(move |(results, now)| run(id, "m", if now { "now" } else { id }, results))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testing::trials(60, 200) as u32))]

    #[test]
    fn answers_or_refuses(a in any_run("a"), b in any_run("b"), c in any_run("c"), gain in any::<bool>()) {
        let normalise = if gain { Normalise::Gain } else { Normalise::Ratio };
        let across = vec!["placement".to_owned()];
        if let Ok(found) = compare(&[&a, &b, &c], &CompareOptions { normalise, across, ..CompareOptions::default() }) {
            for ratio in found.rows.iter().flat_map(|row| &row.ratios) {
                if let (Some(value), Some(low), Some(high)) = (ratio.value, ratio.low, ratio.high) {
                    prop_assert!(low <= value * (1.0 + 1e-9) && value <= high * (1.0 + 1e-9), "{ratio:?}");
                }
                prop_assert!(!ratio.differs() || ratio.low.is_some() || !ratio.modes.is_empty());
                prop_assert!(ratio.value.is_none_or(f64::is_finite), "{ratio:?}");
                if let Some(rank) = ratio.rank {
                    prop_assert!(1 <= rank.low && rank.low <= rank.high && rank.high <= 3);
                }
            }
            let gate = "slower:3".parse::<FailOn>().unwrap().gate(&found);
            prop_assert!(gate.answer != GateAnswer::Pass || gate.tested > 0);
            for mean in &found.geometric_means {
                let ends = [mean.low.unwrap_or(mean.value), mean.value, mean.high.unwrap_or(mean.value)];
                prop_assert!(ends.is_sorted() && ends.iter().all(|x| x.is_finite() && *x > 0.0), "{mean:?}");
                prop_assert!(mean.benchmarks <= mean.results && mean.results > 0, "{mean:?}");
            }
            let mut names: Vec<&str> = found.machines.iter().map(|machine| machine.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            prop_assert_eq!(names.len(), 3);
            prop_assert!(serde_json::to_string(&found).is_ok());
        }
        // With the runs swapped, every gain is the inverse and every verdict the opposite.
        let turned = compare(&[&b, &a], &CompareOptions::default());
        if let Ok(found) = compare(&[&a, &b], &CompareOptions::default()) {
            let turned = turned.unwrap();
            prop_assert_eq!(found.tests, turned.tests);
            for row in &found.rows {
                let back = turned.rows.iter().find(|other| other.key() == row.key()).unwrap();
                let (x, y) = (&row.ratios[1], &back.ratios[1]);
                match (x.direction(), y.direction()) {
                    (Some(one), Some(other)) => prop_assert!(one.is_worse() != other.is_worse(), "{:?} {:?}", x, y),
                    _ => prop_assert_eq!(x.verdict, y.verdict, "{:?} {:?}", x, y),
                }
                prop_assert_eq!(x.differs(), y.differs(), "{:?} {:?}", x, y);
                let inverse = |p: Option<f64>, q: Option<f64>| match (p, q) {
                    (Some(p), Some(q)) => (p.ln() + q.ln()).abs() < 1e-6 * (1.0 + p.ln().abs()),
                    (p, q) => p.is_none() && q.is_none(),
                };
                let ends = inverse(x.low, y.high) && inverse(x.high, y.low);
                prop_assert!(inverse(x.value, y.value) && ends, "{x:?} {y:?}");
            }
            let mean = |found: &compare::Comparison| {
                let other = |mean: &&GeometricMean| mean.family.is_none() && mean.machine != found.reference;
                found.geometric_means.iter().find(other).map(|mean| mean.value.ln())
            };
            let (x, y) = (mean(&found), mean(&turned));
            prop_assert!(x.zip(y).is_none_or(|(x, y)| (x + y).abs() < 1e-6 * (1.0 + x.abs())), "{x:?} {y:?}");
        } else {
            prop_assert!(turned.is_err());
        }
        if let Ok(found) = explain(&a, &b, &crate::options()) {
            let said = found.sentences().join("\n") + &found.arithmetic().join("\n");
            prop_assert!(!said.contains("NaN") && !said.contains("inf "), "{said}");
            prop_assert!(serde_json::from_str::<explain::Explanation>(&serde_json::to_string(&found).unwrap()).is_ok());
        }
    }
}
