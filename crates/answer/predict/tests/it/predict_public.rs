//! Predictions on public data: CPU models by the metrics of benchmark programs. The file is read in place.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests and their helpers")]

use model::{Better, Metric, Unit};
use predict::{
    AtSize, PredictMethod, PredictOptions, PredictedApplication, PredictionTrial, PredictorColumn, PredictorMachine,
    PredictorTable, TriedPrediction, cpu_family, cpu_model, evaluate,
};

/// Header and rows of the file.
fn sheet() -> (Vec<String>, Vec<Vec<String>>) {
    let text = testing::public_data("sparecores_by_cpu.csv");
    let mut lines = text.lines().map(fields);
    (lines.next().unwrap(), lines.collect())
}

/// Fields of a line; some are quoted because they contain a comma.
fn fields(line: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => found.push(String::new()),
            _ => found.last_mut().unwrap().push(c),
        }
    }
    found
}

/// Groups of metrics of one tool; no metric predicts another of its group.
#[derive(Clone, Copy)]
enum Tool {
    /// Geekbench is one tool and each compressor is one: no metric of gzip predicts gzip, but those of zstd may.
    Program,
    /// All compressors are one tool, because they were run on the same data by one harness.
    Suite,
}

fn tool(column: &str, by: Tool) -> String {
    let parts: Vec<&str> = column.split('_').collect();
    match by {
        Tool::Program if parts[0] == "cmp" => parts[..2].join("_"),
        _ => parts[0].to_owned(),
    }
}

/// Metrics of the sheet: the columns after name, architecture, instances and threads.
fn metrics(header: &[String]) -> &[String] {
    &header[4..]
}

fn table(header: &[String], rows: &[Vec<String>], target: &str, by: Tool) -> PredictorTable {
    let direction = |name: &str| if name == "pm_me_latency" { Better::Lower } else { Better::Higher };
    let own = tool(target, by);
    let places: Vec<usize> = (4..header.len()).filter(|&k| tool(&header[k], by) != own).collect();
    let column = |&k: &usize| PredictorColumn {
        name: header[k].clone(),
        label: header[k].clone(),
        tool: tool(&header[k], Tool::Suite),
        better: direction(&header[k]),
        stresses: Vec::new(),
        working_set: None,
        fact: false,
    };
    let at = header.iter().position(|name| name == target).unwrap();
    let number = |row: &[String], k: usize| row[k].parse::<f64>().ok().map(f64::ln);
    PredictorTable {
        application: PredictedApplication {
            name: target.to_owned(),
            metric: Metric::higher(Unit::PerSecond, "score"),
            stresses: Vec::new(),
            working_set: None,
            footprint: None,
        },
        columns: places.iter().map(column).collect(),
        machines: rows
            .iter()
            .map(|row| PredictorMachine {
                name: row[0].clone(),
                runs: Vec::new(),
                model: cpu_model(&row[0]),
                family: cpu_family(&row[0]),
                benchmarks: places.iter().map(|&k| number(row, k)).collect(),
                application: number(row, at),
            })
            .collect(),
    }
}

fn targets(header: &[String]) -> Vec<String> {
    let is_target = |name: &&String| (name.starts_with("gb1_") && *name != "gb1_score") || name.starts_with("cmp_");
    metrics(header).iter().filter(is_target).cloned().collect()
}

/// All targets with one number of machines in the training set; with `only`, from that one metric alone. By default one
/// target in `brief`.
fn at_size(size: usize, repeats: usize, by: Tool, seed: u64, only: Option<&str>, brief: usize) -> AtSize {
    let (header, rows) = sheet();
    let mut all: Vec<TriedPrediction> = Vec::new();
    // A fast run checks some of the results.
    let every =
        if testing::slow(format_args!("results other than each {brief}th, which stand for them")) { 1 } else { brief };
    for (number, target) in targets(&header).iter().enumerate().step_by(every) {
        let mut table = table(&header, &rows, target, by);
        if let Some(only) = only {
            let place = table.columns.iter().position(|column| column.name == only).unwrap();
            table.columns = vec![table.columns.remove(place)];
            table.machines.iter_mut().for_each(|machine| machine.benchmarks = vec![machine.benchmarks[place]]);
        }
        let trial = PredictionTrial::of(&table);
        for repeat in 0..repeats {
            let seed = seed + (100_000 * number + 1000 * size + repeat) as u64;
            all.extend(trial.at_random(size, seed, &PredictOptions::default()));
        }
    }
    let found = AtSize::of(size, &all, 0.9).unwrap();
    let by = match by {
        Tool::Program => "program",
        Tool::Suite => "suite",
    };
    eprintln!("{by} {}: {found:?}", only.unwrap_or_default());
    found
}

#[test]
#[ignore = "reads a public data set that is not part of this tree: PRONY_PUBLIC_DATA names its directory"]
fn promised_errors_at_twelve_machines() {
    let found = at_size(12, 1, Tool::Program, 1, None, 4);
    assert!(found.summary.median_error <= 0.07 && found.summary.worst_tenth <= 0.26, "{found:?}");
    assert!((0.83..=0.98).contains(&found.summary.coverage.unwrap()), "{found:?}");
    assert!(found.summary.median_error <= 1.15 * found.best_member().unwrap().median, "{found:?}");
    // Without compressors among the substitutes prediction is harder; the test asserts what it reaches.
    if !testing::slow("predicting compressors without compressors; with them stands for it") {
        return;
    }
    let strict = at_size(12, 1, Tool::Suite, 1, None, 4);
    assert!(strict.summary.median_error <= 0.08 && strict.summary.coverage.unwrap() >= 0.85, "{strict:?}");
}

#[test]
#[ignore = "reads a public data set that is not part of this tree: PRONY_PUBLIC_DATA names its directory"]
fn more_machines_beat_the_best_single_rating() {
    let all = [(2, 2), (3, 2), (4, 3), (5, 2), (8, 1), (12, 1), (20, 1)];
    let sizes =
        if testing::slow("six more numbers of machines; twelve stand for them") { &all[..] } else { &all[5..6] };
    for &(size, repeats) in sizes {
        let found = at_size(size, repeats, Tool::Program, 7, None, 8);
        let rating = |found: &AtSize| {
            let member = found.members.iter().find(|member| member.method == PredictMethod::Rating).unwrap();
            (member.median, member.worst_tenth)
        };
        let own = (found.summary.median_error, found.summary.worst_tenth);
        assert!(own.0 < rating(&found).0 && own.1 < rating(&found).1, "{found:?}");
        // The rating that is best in hindsight, of all that belong to no group, is not better either.
        let fixed = at_size(size, 1, Tool::Program, 7, Some("pm_cpu_singlethread"), 8);
        assert!(own.0 < rating(&fixed).0 && own.1 < rating(&fixed).1, "{fixed:?}");
    }
}

#[test]
#[ignore = "reads a public data set that is not part of this tree: PRONY_PUBLIC_DATA names its directory"]
fn leave_one_model_out() {
    let (header, rows) = sheet();
    // Enough for every family to be left out.
    let table = table(&header, &rows[..30], "gb1_clang", Tool::Program);
    let found = evaluate(&[table], &[12], testing::trials(1, 2), 1, &PredictOptions::default()).unwrap();
    assert!(found.models >= 20 && !found.splits.is_empty(), "{found:?}");
    found.sentences().iter().for_each(|sentence| eprintln!("{sentence}"));
}
