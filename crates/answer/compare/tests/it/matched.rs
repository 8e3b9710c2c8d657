//! How a comparison matches runs, histories, parameters, names, and the results of a mean.

use super::simulated::planted;
use crate::common;
use crate::common::{from_values, rate, refs, run, time};
use compare::{CompareOptions, Comparison, Relation, SessionRecord, compare};
use model::{BenchmarkResult, Class, Run, Verdict};
use stats::simulate::{Noise, generator};

#[test]
fn a_run_that_is_named_twice_is_the_same_run() {
    let mut rng = generator(11);
    let runs = planted(1.0, 20, time("call"), &mut rng);
    let found = compare(&[&runs[0], &runs[0]], &CompareOptions::default()).unwrap();
    assert_eq!(found.machines[1].relation, Relation::SameRun);
    assert_eq!((found.tests, found.machines[1].tally.no_change), (0, 31));
    assert_ne!(found.machines[0].name, found.machines[1].name);
    assert!(found.rows.iter().all(|row| row.ratios[1].value == Some(1.0)));
    // The same id with other results is another document.
    let changed = Run { id: "a".into(), ..runs[1].clone() };
    assert_eq!(
        compare(&[&runs[0], &changed], &CompareOptions::default()).unwrap().machines[1].relation,
        Relation::SameSession
    );
}

#[test]
fn every_machine_and_result_has_its_own_history() {
    let day = |id: &str, machine: &str, value: f64| {
        run(id, machine, id, vec![from_values("sim.f", "", time("call"), Class::Compute, &[value; 10])])
    };
    // Three old sessions of the machine, then many of another machine, then many of this one with only another result.
    let mut runs: Vec<Run> = (0..3).map(|i| day(&format!("here {i}"), "here", 1.0 + 0.1 * f64::from(i))).collect();
    runs.extend((0..30).map(|i| day(&format!("there {i}"), "there", 1.0)));
    runs.extend((0..30).map(|i| {
        let mut other = day(&format!("later {i}"), "here", 1.0);
        other.results[0].benchmark = "sim.other".into();
        other
    }));
    let history: Vec<SessionRecord> = runs.iter().flat_map(SessionRecord::of).collect();
    let options = CompareOptions { history: &history, ..CompareOptions::default() };
    let found = compare(&[&day("a", "here", 1.0), &day("b", "here", 1.05)], &options).unwrap();
    let floor = found.rows[0].ratios[1].floor.unwrap();
    assert_eq!(floor.sessions, Some(3), "{floor:?}");
    assert!((floor.sd - 0.09).abs() < 0.01, "{floor:?}");
    // Of more than twelve sessions the newest twelve count.
    let found = compare(&[&day("a", "there", 1.0), &day("b", "there", 1.05)], &options).unwrap();
    assert_eq!(found.rows[0].ratios[1].floor.unwrap().sessions, Some(12));
}

#[test]
fn means_are_over_the_same_results_and_weigh_each_benchmark_once() {
    let mut rng = generator(12);
    let noise = Noise { between: 0.001, disturbed: 0.0, ..Noise::stable(1.0) };
    let mut result = |benchmark: &str, parameters: &str, factor: f64| {
        let values: Vec<f64> = noise.samples(20, &mut rng).iter().map(|value| value * factor).collect();
        from_values(benchmark, parameters, time("call"), Class::Compute, &values)
    };
    let a = run("a", "m", "now", vec![result("sim.f", "", 1.0), result("sim.g", "", 1.0)]);
    let b = run("b", "m", "now", vec![result("sim.f", "", 1.0), result("sim.g", "", 1.0 / 1.44)]);
    let c = run("c", "m", "now", vec![result("sim.f", "", 1.0)]);
    let mean = |found: &Comparison, name: &str| {
        found.geometric_means.iter().find(|mean| mean.machine == name && mean.family.is_none()).cloned().unwrap()
    };
    let two = compare(&[&a, &b], &CompareOptions::default()).unwrap();
    assert!((mean(&two, "b").value - 1.2).abs() < 0.01, "{:?}", mean(&two, "b"));
    let found = compare(&[&a, &b, &c], &CompareOptions::default()).unwrap();
    // C lacks the result in which B differs: on the results they have in common they are equal.
    for name in ["b", "c"] {
        let mean = mean(&found, name);
        assert!((mean.value - 1.0).abs() < 0.01, "{mean:?}");
        assert_eq!((mean.results, mean.benchmarks, mean.left_out), (1, 1, 1));
    }
    // One benchmark at twenty sets of parameters, another at one: both have the same weight.
    let many = |id: &str, factor: f64, result: &mut dyn FnMut(&str, &str, f64) -> BenchmarkResult| {
        let mut results: Vec<BenchmarkResult> = (0..20).map(|i| result("sim.f", &format!("size={i}"), 1.0)).collect();
        results.push(result("sim.g", "", 1.0 / factor));
        run(id, "m", "now", results)
    };
    let (x, y) = (many("x", 1.0, &mut result), many("y", 4.0, &mut result));
    let found = mean(&compare(&[&x, &y], &CompareOptions::default()).unwrap(), "y");
    assert!((found.value - 2.0).abs() < 0.01, "{found:?}");
    assert_eq!((found.results, found.benchmarks), (21, 2));
}

#[test]
fn parameters_are_crossed_when_asked() {
    let at = |placement: &str, value: f64| {
        from_values("ipc.pipe_latency", &format!("placement={placement}"), time("round trip"), Class::Ipc, &[value; 10])
    };
    let a = run("a", "m", "1", vec![at("same_cpu", 1.0)]);
    let b = run("b", "m", "1", vec![at("cross_cpu", 10.0)]);
    let refused = compare(&[&a, &b], &CompareOptions::default()).unwrap_err().to_string();
    assert!(refused.contains("across placement"), "{refused}");
    let across = CompareOptions { across: vec!["placement".into()], ..CompareOptions::default() };
    let found = compare(&[&a, &b], &across).unwrap();
    assert!((found.rows[0].ratios[1].value.unwrap() - 0.1).abs() < 1e-9, "a gain");
    assert_eq!(found.rows[0].ratios[1].parameters.as_ref().unwrap().get("placement"), Some("cross_cpu"));
    let both = run("c", "m", "1", vec![at("same_cpu", 1.0), at("cross_cpu", 10.0)]);
    let found = compare(&[&both, &b], &across).unwrap();
    assert_eq!(
        found.rows[0].parameters.get("placement"),
        Some("cross_cpu"),
        "what would be ambiguous is matched exactly"
    );
}

#[test]
fn names_are_unique_and_errors_list_the_known_ones() {
    let made = || run("same", "m", "1", vec![common::plain("x.y", "", time("call"), 1.0)]);
    let runs = [made(), made()];
    let found = compare(&refs(&runs), &CompareOptions::default()).unwrap();
    assert_ne!(found.machines[0].name, found.machines[1].name);
    assert!(compare(&[], &CompareOptions::default()).is_err());
    for (options, word) in [
        (CompareOptions { reference: Some("nobody".into()), ..CompareOptions::default() }, "same"),
        (CompareOptions { results: Some("z.*".into()), ..CompareOptions::default() }, "x.y"),
        (CompareOptions { sort_by: Some("z".into()), ..CompareOptions::default() }, "x.y"),
    ] {
        let error = compare(&refs(&runs), &options).unwrap_err().to_string();
        assert!(error.starts_with("could not") && error.contains(word), "{error}");
    }
    assert!(compare(&refs(&runs[..1]), &CompareOptions::default()).is_ok(), "one run is a table of its own");
}

/// A survey that missed a level of memory: three levels, and a second one between the second and the third.
#[test]
fn a_machine_does_not_lose_a_cache_from_one_run_to_the_next() {
    const FOUR: &str =
        "level over 4KiB-38656B, 65024B-1040320B, 13998016B-39592256B, 111983872B-223967744B on huge pages";
    const THREE: &str = "level over 4KiB-38656B, 65024B-874816B, 111983872B-223967744B on huge pages";
    let surveyed = |id: &str, machine: &str, variant: &str, [second, levels]: [f64; 2]| {
        let bytes = |value: f64| (0..20).map(|at| value * (1.0 + 0.002 * f64::from(at % 5))).collect::<Vec<_>>();
        let values = [
            ("memory.hierarchy", "level=1", bytes(50_650.0)),
            ("memory.hierarchy", "level=2", bytes(second)),
            ("memory.hierarchy_levels", "", vec![levels; 20]),
        ];
        let results = values.map(|(benchmark, parameters, values)| BenchmarkResult {
            variant: Some(variant.to_owned()),
            ..from_values(benchmark, parameters, rate("level"), Class::MemoryLatency, &values)
        });
        run(id, machine, id, results.into())
    };
    let (a, b) = (surveyed("a", "m", FOUR, [2.0e6, 4.0]), surveyed("b", "m", THREE, [2.66e6, 3.0]));
    let verdicts = |a: &Run, b: &Run| {
        let found = compare(&[a, b], &CompareOptions::default()).unwrap();
        found.rows.iter().map(|row| (row.ratios[1].verdict, row.ratios[1].reason.clone())).collect::<Vec<_>>()
    };
    let found = verdicts(&a, &b);
    assert!(found[0].0.is_some(), "the first level is the first level: {found:?}");
    for (verdict, reason) in &found[1..] {
        assert_eq!(*verdict, None);
        assert!(reason.as_ref().unwrap().contains("found 4 and 3 levels"), "{reason:?}");
    }
    // The same number of levels at other sizes: noise at the far end made one, and the third cache went into memory.
    const ELSEWHERE: &str = "level over 4KiB-38656B, 65024B-874816B, 83MiB-84MiB, 111983872B-223967744B on huge pages";
    let shifted = verdicts(&a, &surveyed("b", "m", ELSEWHERE, [70e6, 4.0]));
    assert!(shifted[0].0.is_some() && shifted[1].0.is_none(), "{shifted:?}");
    let reason = shifted[1].1.as_ref().unwrap();
    assert!(reason.contains("found level 3 of one machine at 14.00 to 39.59 MB and at 87.03 to 88.08 MB"), "{reason}");
    // On another machine it is a finding, and with equal surveys too.
    let other = surveyed("b", "another", THREE, [2.66e6, 3.0]);
    assert!(verdicts(&a, &other).iter().all(|(verdict, _)| verdict.is_some()));
    let larger = surveyed("b", "m", FOUR, [8e6, 4.0]);
    assert!(verdicts(&a, &larger)[1].0.is_some_and(Verdict::differs));
}
