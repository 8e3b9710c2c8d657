//! Predictions of tables like real ones: families of machines, values that are off or missing, and refusals.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests and their helpers")]

use super::predict::{fact, planted};
use crate::common;
use model::{Class, Estimate, FactValue, Outcome, Primitive};
use predict::{
    ForecastStanding, IntervalMethod, PredictMethod, PredictOptions, PredictionTrial, PredictorTable, evaluate,
    from_runs, predict, suspect_values,
};
use rand::Rng;
use stats::simulate::{generator, standard_normal};

/// Families of several makers whose machines run the application faster or slower by their own factors.
fn families(offset: f64, seed: u64) -> (PredictorTable, Vec<f64>) {
    let (mut table, mut truths) = planted(48, 36, &[0.4, 0.3, 0.0, 0.1, 0.2, 0.0], 0.04, seed);
    let mut rng = generator(seed + 1000);
    let names = ["AMD EPYC", "AMD Ryzen", "Intel Xeon", "Intel Core", "Arm Neoverse", "Apple", "POWER", "SPARC"];
    let own: Vec<[f64; 7]> =
        names.iter().map(|_| std::array::from_fn(|_| offset * standard_normal(&mut rng))).collect();
    for (m, machine) in table.machines.iter_mut().enumerate() {
        let family = if m < 36 { m % 6 } else { 6 + m % 2 };
        machine.family = names[family].to_owned();
        for (benchmark, apart) in machine.benchmarks.iter_mut().zip(own[family]) {
            *benchmark = benchmark.map(|benchmark| benchmark + apart);
        }
        machine.application = machine.application.map(|value| value + own[family][6]);
        truths[m] *= own[family][6].exp();
    }
    (table, truths)
}

#[test]
fn intervals_hold_on_families_that_were_left_out() {
    let seeds = testing::trials(5, 60) as u64;
    let (mut held, mut all) = (0, 0);
    for seed in 0..seeds {
        let (table, truths) = families(0.25, seed);
        let targets: Vec<usize> = (36..48).collect();
        let found = predict(&table, &targets, &PredictOptions::default()).unwrap();
        for (forecast, &m) in found.forecasts.iter().zip(&targets) {
            assert_eq!(forecast.standing, ForecastStanding::Widened, "{forecast:?}");
            assert_eq!(forecast.interval, Some(IntervalMethod::MakersLeftOut));
            assert!(forecast.reasons.join("; ").contains("maker"), "{forecast:?}");
            let (low, high) = forecast.low.zip(forecast.high).unwrap();
            all += 1;
            held += usize::from(low <= truths[m] && truths[m] <= high);
        }
    }
    let share = held as f64 / all as f64;
    eprintln!("families left out: {share:.3} of {all}");
    assert!(share >= 0.85, "{share}");
}

#[test]
fn evaluation_leaves_families_out() {
    let (mut table, truths) = families(0.25, 3);
    for (machine, truth) in table.machines.iter_mut().zip(truths) {
        machine.application = Some(truth.ln());
    }
    let found = evaluate(&[table], &[12], 2, 1, &PredictOptions::default()).unwrap();
    let names: Vec<String> = found.splits.iter().map(predict::AtSplit::words).collect();
    assert!(names.iter().any(|name| name == "POWER left out") && names.iter().any(|name| name == "from AMD alone"));
    let pooled = found.families_left_out.clone().unwrap();
    assert!(pooled.coverage.unwrap() >= 0.85 && pooled.sound == 0.0 && pooled.refused <= 0.2, "{pooled:?}");
    assert!(found.sentences().iter().any(|sentence| sentence.starts_with("On families and makers left out")));
}

#[test]
fn a_value_that_is_off_is_named_and_left_out() {
    let (clean, truths) = planted(20, 12, &[0.4, 0.3, 0.0, 0.1, 0.2, 0.0], 0.03, 11);
    assert!(suspect_values(&clean).is_empty(), "{:?}", suspect_values(&clean));
    let ask = |table: &PredictorTable| predict(table, &[15], &PredictOptions::default()).unwrap();
    // On the machine that is predicted, in either direction.
    for factor in [1000.0_f64, 1e-3] {
        let mut table = clean.clone();
        table.machines[15].benchmarks[0] = table.machines[15].benchmarks[0].map(|value| value + factor.ln());
        let found = ask(&table).forecasts.remove(0);
        assert_eq!(found.standing, ForecastStanding::Widened);
        let words = found.reasons.join("; ");
        assert!(words.contains("hash of m15 is") && words.contains("left out"), "{words}");
        let error = found.value.unwrap() / truths[15] - 1.0;
        assert!(error.abs() < 0.25, "{error}");
    }
    // On a training machine, and in the application itself.
    let mut table = clean.clone();
    table.machines[3].benchmarks[1] = table.machines[3].benchmarks[1].map(|value| value + 30.0_f64.ln());
    let notes = ask(&table).notes.join("\n");
    assert!(notes.contains("branch of m3"), "{notes}");
    let mut table = clean;
    table.machines[3].application = table.machines[3].application.map(|value| value + 1000.0_f64.ln());
    let found = ask(&table);
    assert!(found.notes.join("\n").contains("application.planted of m3"), "{:?}", found.notes);
    assert!((found.forecasts[0].value.unwrap() / truths[15] - 1.0).abs() < 0.25, "{:?}", found.forecasts[0]);
}

/// Without the machine whose value is off there is one more column, which not every machine to be predicted has.
#[test]
fn a_value_that_is_off_beside_a_missing_column_is_evaluated() {
    let (mut table, _) = planted(14, 14, &[0.5, 0.3, 0.0, 0.0, 0.2, 0.0], 0.02, 11);
    // Two of them, so that either is off only among machines without the other.
    for m in [0, 2] {
        table.machines[m].application = table.machines[m].application.map(|value| value + 1000_f64.ln());
    }
    for m in [0, 1] {
        table.machines[m].benchmarks[5] = None;
    }
    let options = PredictOptions::default();
    let trial = PredictionTrial::of(&table);
    let tried: usize = (0..20).map(|seed| trial.at_random(8, seed, &options).len()).sum();
    assert_eq!(tried, 20 * 6);
    evaluate(&[table], &[8], 4, 1, &options).unwrap();
}

/// A wrong value of the application is named by an evaluation too, and is no truth to be met.
#[test]
fn an_evaluation_names_a_value_of_the_application_that_is_off() {
    let (clean, _) = planted(14, 14, &[0.5, 0.3, 0.0, 0.0, 0.2, 0.0], 0.02, 11);
    let mut table = clean.clone();
    table.machines[4].application = table.machines[4].application.map(|value| value + 1000_f64.ln());
    // A machine that is as much faster in everything is no mistake.
    table.machines[5]
        .benchmarks
        .iter_mut()
        .for_each(|benchmark| *benchmark = benchmark.map(|value| value - 1000_f64.ln()));
    table.machines[5].application = table.machines[5].application.map(|value| value - 1000_f64.ln());
    let ask = |table: &PredictorTable| {
        evaluate(std::slice::from_ref(table), &[4, 8], 4, 1, &PredictOptions::default()).unwrap()
    };
    let found = ask(&table);
    let named: Vec<(&str, &str)> = found.suspects.iter().map(|s| (s.machine.as_str(), s.result.as_str())).collect();
    assert_eq!((named, found.models), (vec![("m4", "application.planted")], 13));
    table.machines[5] = clean.machines[5].clone();
    let worst = |found: &predict::PredictionRecord| found.sizes.last().unwrap().summary.worst_tenth;
    assert!(worst(&ask(&table)) < 0.3, "{:?}", ask(&table).sizes);
    assert!(ask(&clean).suspects.is_empty());
}

/// Values missing here and there leave no result that all machines have.
#[test]
fn missing_values_leave_a_table_to_predict_from() {
    let (mut table, truths) = planted(42, 40, &[0.5, 0.3, 0.0, 0.0, 0.2, 0.0], 0.03, 21);
    for m in (0..40).step_by(4) {
        table.machines[m].benchmarks[m / 4 % 6] = None;
    }
    let found = predict(&table, &[40, 41], &PredictOptions::default()).unwrap();
    for (forecast, truth) in found.forecasts.iter().zip(&truths[40..]) {
        assert_eq!((forecast.columns, forecast.standing), (6, ForecastStanding::Sound), "{forecast:?}");
        assert!((forecast.value.unwrap() / truth).ln().abs() < 0.15, "{forecast:?}");
    }
    let notes = found.notes.join("\n");
    assert_eq!(notes, "m0, m4, m8, m12 and 6 others lack benchmarks that the others have, and were left out");
    // A result that most lack goes, and not the machines.
    let (mut table, _) = planted(12, 10, &[0.5, 0.3, 0.0, 0.0, 0.2, 0.0], 0.03, 21);
    for m in 0..10 {
        table.machines[m].benchmarks[5] = None;
        table.machines[m].benchmarks[m % 5] = if m < 5 { None } else { table.machines[m].benchmarks[m % 5] };
    }
    let found = predict(&table, &[11], &PredictOptions::default()).unwrap();
    assert_eq!((found.forecasts[0].columns, found.notes.len()), (5, 1), "{found:?}");
}

/// A refusal gives the reason that holds.
#[test]
fn a_machine_without_a_model_to_predict_it_is_refused_for_the_true_reason() {
    let (mut table, _) = planted(4, 3, &[0.5, 0.3, 0.0, 0.0, 0.2, 0.0], 0.03, 21);
    let why = |table: &PredictorTable, target: usize| {
        predict(table, &[target], &PredictOptions::default()).unwrap().forecasts.remove(0).reasons.join("; ")
    };
    for machine in &mut table.machines[..3] {
        machine.model = "one".to_owned();
    }
    assert_eq!(why(&table, 0), "all training machines have this same CPU model");
    for machine in &mut table.machines[..3] {
        machine.benchmarks[..3].fill(None);
    }
    table.machines[3].benchmarks[3..].fill(None);
    assert!(why(&table, 3).starts_with("it has no benchmark in common"), "{}", why(&table, 3));
    table.machines[3].benchmarks.fill(None);
    assert_eq!(why(&table, 3), "no benchmark was measured on it");
}

/// A machine without training data is refused, and an evaluation counts that.
#[test]
fn an_evaluation_counts_machines_without_a_model_as_refused() {
    let (mut table, _) = planted(12, 12, &[0.5, 0.3, 0.0, 0.0, 0.2, 0.0], 0.03, 21);
    let refused = |table: &PredictorTable| {
        let found = evaluate(std::slice::from_ref(table), &[], 1, 1, &PredictOptions::default()).unwrap();
        let summary = &found.sizes.last().unwrap().summary;
        (summary.predictions, (summary.refused * summary.predictions as f64).round(), summary.median_error.is_finite())
    };
    assert_eq!(refused(&table), (12, 0.0, true));
    table.machines[5].benchmarks.fill(None);
    assert_eq!(refused(&table), (12, 1.0, true));
}

#[test]
fn facts_of_machines_predict_what_no_benchmark_measures() {
    let mut rng = generator(12);
    let runs: Vec<model::Run> = (0..16)
        .map(|m| {
            let (cores, clock): (f64, f64) = (f64::from(1 << (m % 5)), rng.random_range(2e9..4e9));
            let mut run = common::run(&format!("r{m}"), &format!("machine {m}"), "s", Vec::new());
            run.machine.facts =
                vec![fact("cpu.cores", FactValue::Number(cores)), fact("cpu.clock", FactValue::Number(clock))];
            let result = |benchmark: &str, value: f64| {
                let outcome = Outcome::Measured(Estimate::without_spread(value));
                common::result(benchmark, "", common::time("run"), Class::Compute, &[Primitive::IntegerAlu], outcome)
            };
            run.results = vec![
                result("cpu.integer", 3.0 / clock * (0.02 * standard_normal(&mut rng)).exp()),
                result("memory.load_latency", 9e-8 * (0.1 * standard_normal(&mut rng)).exp()),
                result("application.farm", 4e12 / (cores * clock) * (0.02 * standard_normal(&mut rng)).exp()),
            ];
            run
        })
        .collect();
    let runs: Vec<&model::Run> = runs.iter().collect();
    let table = from_runs(&runs, "farm").unwrap();
    assert!(table.columns.iter().any(|column| column.fact && column.label == "cores times clock"));
    let found = evaluate(&[table], &[12], 4, 1, &PredictOptions::default()).unwrap();
    let at = &found.sizes[0];
    assert!(at.summary.median_error < 0.05, "{at:?}");
    let benchmark = at.members.iter().find(|member| member.method == PredictMethod::Rating).unwrap();
    assert!(benchmark.median > 0.3, "{benchmark:?}");
}

#[test]
fn classes_of_cores_are_machines_of_their_own() {
    let run = |id: &str, class: &str, value: f64| {
        let mut run = common::run(id, "laptop", "s", Vec::new());
        run.machine.facts = vec![
            fact("cpu.model", FactValue::Text("Intel Core i9-13900K".to_owned())),
            fact("cpu.class", FactValue::Text(class.to_owned())),
        ];
        let outcome = Outcome::Measured(Estimate::without_spread(value));
        run.results = vec![common::result("cpu.integer", "", common::time("run"), Class::Compute, &[], outcome)];
        run
    };
    let runs = [run("a", "P-core", 1.0), run("b", "E-core", 2.0)];
    let refs: Vec<&model::Run> = runs.iter().collect();
    let table = from_runs(&refs, "cpu.integer").unwrap();
    assert_eq!(table.machines.len(), 2);
    assert_ne!(table.machines[0].model, table.machines[1].model);
    assert_eq!((table.machines[0].family.as_str(), table.machines[1].family.as_str()), ("Intel Core", "Intel Atom"));
    let near = predict::near_machines(&runs, "Intel Core i9-12900K");
    assert!(near.len() == 2 && near[0].contains("i9-13900K"), "{near:?}");
}
