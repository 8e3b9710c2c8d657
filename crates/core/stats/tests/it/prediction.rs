//! Accuracy of predicting applications from benchmarks on real machines, one CPU model at a time.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a data file that does not parse must fail the test, and measured numbers are printed"
)]

use rand::seq::SliceRandom;
use stats::ridge::RidgeProblem;
use stats::simulate::generator;
use stats::{LeftOut, benchmark_weighting, jackknife_plus, median, quantile};

/// Logarithms of all columns of all CPU models without missing values.
struct Table {
    names: Vec<String>,
    rows: Vec<Vec<f64>>,
}

fn table() -> Table {
    let text = testing::public_data("sparecores_by_cpu.csv");
    let mut lines = text.lines();
    // Columns: model, architecture, instances, threads a core, then numbers.
    let names = lines.next().unwrap().split(',').skip(4).map(str::to_owned).collect();
    let rows = lines
        .filter_map(|line| {
            line.rsplit(',')
                .take(71)
                .map(|f| f.parse::<f64>().ok().filter(|v| *v > 0.0).map(f64::ln))
                .collect::<Option<Vec<f64>>>()
        })
        .map(|mut row| {
            row.reverse();
            row
        })
        .collect();
    let mut table = Table { names, rows };
    // The one time among rates is inverted, so that all columns rise with speed.
    let latency = table.column("pm_me_latency");
    table.rows.iter_mut().for_each(|row| row[latency] = -row[latency]);
    table
}

impl Table {
    fn column(&self, name: &str) -> usize {
        self.names.iter().position(|n| n == name).unwrap()
    }

    /// The tool of a column: `gb1`, `bw`, `pm`, `sng`, or one compressor.
    fn tool(&self, column: usize) -> &str {
        let name = &self.names[column];
        let parts = if name.starts_with("cmp_") { 2 } else { 1 };
        name.match_indices('_').nth(parts - 1).map_or(name.as_str(), |(at, _)| &name[..at])
    }

    /// Applications: the parts of a suite, and compressors.
    fn applications(&self) -> Vec<usize> {
        let part = |n: &str| (n.starts_with("gb1_") && n != "gb1_score") || (n.starts_with("cmp_") && n.ends_with('c'));
        (0..self.names.len()).filter(|&k| part(&self.names[k])).collect()
    }

    /// Benchmarks for an application: measurements of other tools on one thread.
    fn benchmarks(&self, application: usize) -> Vec<usize> {
        (0..self.names.len()).filter(|&k| self.tool(k) != self.tool(application) && self.names[k] != "sng_N").collect()
    }

    fn pick(&self, row: usize, columns: &[usize]) -> Vec<f64> {
        columns.iter().map(|&k| self.rows[row][k]).collect()
    }
}

/// Relative errors, as |ratio - 1|, of predictions from `machines` random CPU models for all others.
fn errors(
    table: &Table,
    machines: usize,
    mut predict: impl FnMut(&[usize], &[Vec<f64>], &[f64], &[Vec<f64>]) -> Vec<f64>,
) -> Vec<f64> {
    let mut rng = generator(3);
    let mut errors = Vec::new();
    for application in table.applications() {
        let benchmarks = table.benchmarks(application);
        for _ in 0..4 {
            let mut order: Vec<usize> = (0..table.rows.len()).collect();
            order.shuffle(&mut rng);
            let (seen, unseen) = order.split_at(machines);
            let known: Vec<Vec<f64>> = seen.iter().map(|&i| table.pick(i, &benchmarks)).collect();
            let targets: Vec<f64> = seen.iter().map(|&i| table.rows[i][application]).collect();
            let asked: Vec<Vec<f64>> = unseen.iter().map(|&i| table.pick(i, &benchmarks)).collect();
            let answers = predict(&benchmarks, &known, &targets, &asked);
            errors
                .extend(answers.iter().zip(unseen).map(|(p, &i)| ((p - table.rows[i][application]).exp() - 1.0).abs()));
        }
    }
    errors
}

fn print(what: &str, errors: &[f64]) -> f64 {
    let middle = median(errors).unwrap();
    println!(
        "TABLE {what}: median error {:.1}%, 90th percentile {:.1}%",
        100.0 * middle,
        100.0 * quantile(errors, 0.9).unwrap()
    );
    middle
}

#[test]
#[ignore = "reads a public data set that is not part of this tree: PRONY_PUBLIC_DATA names its directory"]
fn benchmarks_predict_better_than_a_rating() {
    let table = table();
    println!("{} CPU models, {} applications", table.rows.len(), table.applications().len());
    let mut scaled = f64::INFINITY;
    for rating in ["sng_1", "pm_cpu_singlethread"] {
        let errors = errors(&table, 5, |benchmarks, known, targets, asked| {
            let rating = benchmarks.iter().position(|&k| table.names[k] == rating).unwrap();
            let constant = median(&known.iter().zip(targets).map(|(r, t)| t - r[rating]).collect::<Vec<_>>()).unwrap();
            asked.iter().map(|r| r[rating] + constant).collect()
        });
        scaled = scaled.min(print(&format!("scaling by {rating}, 5 machines"), &errors));
    }
    let weigh = |_: &[usize], known: &[Vec<f64>], targets: &[f64], asked: &[Vec<f64>]| -> Vec<f64> {
        let fit = benchmark_weighting(known, targets, None).unwrap();
        asked.iter().map(|r| fit.predict(r).unwrap()).collect()
    };
    let by_number: Vec<f64> = [2, 5, 20]
        .into_iter()
        .map(|n| print(&format!("benchmark weighting, {n} machines"), &errors(&table, n, weigh)))
        .collect();
    assert!(by_number[1] < scaled && by_number[2] <= by_number[0]);
    let ridge = errors(&table, 20, |_, known, targets, asked| {
        let prior = benchmark_weighting(known, targets, None).unwrap().weights;
        let fit = RidgeProblem { rows: known, targets, prior: &prior }.fit(10.0).unwrap();
        let weigh = |row: &Vec<f64>| row.iter().zip(&fit.coefficients).map(|(x, c)| x * c).sum::<f64>();
        asked.iter().map(|row| fit.intercept + weigh(row)).collect()
    });
    let ridge = print("ridge towards the weighting, 20 machines", &ridge);
    assert!(ridge <= by_number[2]);
}

#[test]
#[ignore = "reads a public data set that is not part of this tree: PRONY_PUBLIC_DATA names its directory"]
fn jackknife_plus_covers_new_models() {
    let table = table();
    let mut rng = generator(4);
    for machines in [9, 12, 20] {
        let (mut covered, mut asked) = (0, 0);
        for application in table.applications() {
            let benchmarks = table.benchmarks(application);
            for _ in 0..2 {
                let mut order: Vec<usize> = (0..table.rows.len()).collect();
                order.shuffle(&mut rng);
                let (seen, unseen) = order.split_at(machines);
                let rows: Vec<Vec<f64>> = seen.iter().map(|&i| table.pick(i, &benchmarks)).collect();
                let targets: Vec<f64> = seen.iter().map(|&i| table.rows[i][application]).collect();
                let without: Vec<_> = (0..machines)
                    .map(|out| {
                        let keep = |i: &usize| *i != out;
                        let rest: Vec<Vec<f64>> = (0..machines).filter(keep).map(|i| rows[i].clone()).collect();
                        let known: Vec<f64> = (0..machines).filter(keep).map(|i| targets[i]).collect();
                        benchmark_weighting(&rest, &known, None).unwrap()
                    })
                    .collect();
                for &new in &unseen[..20] {
                    let point = table.pick(new, &benchmarks);
                    let left_out: Vec<LeftOut> = without
                        .iter()
                        .enumerate()
                        .map(|(i, fit)| LeftOut {
                            prediction: fit.predict(&point).unwrap(),
                            residual: (targets[i] - fit.predict(&rows[i]).unwrap()).abs(),
                        })
                        .collect();
                    covered +=
                        usize::from(jackknife_plus(&left_out, 0.9).unwrap().contains(table.rows[new][application]));
                    asked += 1;
                }
            }
        }
        let share = covered as f64 / asked as f64;
        println!("TABLE jackknife+ at 90%, {machines} machines: coverage {share:.3}");
        assert!(share >= 0.85, "{machines}: {share}");
    }
}
