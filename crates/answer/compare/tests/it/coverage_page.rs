//! Writes `validation/coverage.md`: what intervals cover and how often equals are called different, on the recordings.
#![allow(clippy::unwrap_used, reason = "helpers of tests, which Clippy does not recognise as such")]

use std::collections::BTreeSet;
use std::fmt::Write;

use compare::SelfTest;
use stats::stop::{TARGET, decide_at_checkpoint};
use stats::{Interval, median, sample_median_interval, sample_median_range};
use time::OffsetDateTime;

use crate::{guest, recorded, same, simulated};

/// One recorded result: its sample values in the order of time.
type Results = Vec<Vec<f64>>;

fn values(fields: std::str::Split<char>) -> Vec<f64> {
    fields.map(|value| value.parse().unwrap()).collect()
}

/// Kinds of recordings, with the samples of each result. The long recording is halved to every second sample, the
/// distance of Prony's rounds.
fn recordings() -> Vec<(&'static str, Results)> {
    let results = |text: &str| -> Results {
        text.lines().map(|line| values(line[line.find(' ').unwrap() + 1..].split(' '))).collect()
    };
    let shared = testing::recording("samples.txt");
    let policy = |names: [&str; 2]| -> Results {
        let of_line = |line: &str| -> Option<Vec<f64>> {
            let mut fields = line.split(' ');
            let (name, _, part) = (fields.next()?, fields.next()?, fields.next()?);
            (names.contains(&name) && part == "all").then(|| values(fields))
        };
        shared.lines().filter_map(of_line).collect()
    };
    let both = |one: &str, two: &str| [results(one), results(two)].concat();
    let long = results(include_str!("../../../../core/stats/tests/noise/long_guest.txt"));
    vec![
        (
            "kernels, guest on a shared core, quiet and loaded",
            both(
                include_str!("../../../../core/stats/tests/noise/quiet_guest.txt"),
                include_str!("../../../../core/stats/tests/noise/loaded_guest.txt"),
            ),
        ),
        (
            "results during builds, guest, load 8 to 20",
            both(
                include_str!("../../../../core/stats/tests/noise/beside_builds_1.txt"),
                include_str!("../../../../core/stats/tests/noise/beside_builds_2.txt"),
            ),
        ),
        (
            "clean values, AMD EPYC guest, core shared 62 to 72%",
            both(
                include_str!("../../../../core/stats/tests/noise/clean_guest_1.txt"),
                include_str!("../../../../core/stats/tests/noise/clean_guest_2.txt"),
            ),
        ),
        ("13 kernels during compilation, guest, time sharing", policy(["C1", "NB"])),
        ("the same with real-time priority", policy(["F1", "F2"])),
        (
            "results 1.1 s apart, AMD EPYC guest that its host moved",
            long.iter().map(|all| all.iter().step_by(2).copied().collect()).collect(),
        ),
    ]
}

#[derive(Default)]
struct Covered {
    covered: usize,
    of: usize,
    worst: f64,
    results: usize,
    under: usize,
}

impl Covered {
    /// Share of each result's intervals, made for these starts, that contain the truth.
    fn of(results: &Results, intervals: &dyn Fn(&[f64]) -> Vec<Interval>) -> Self {
        let mut sum = Self { worst: 1.0, ..Self::default() };
        for values in results {
            let truth = median(values).unwrap();
            let all = intervals(values);
            let covered = all.iter().filter(|interval| interval.contains(truth)).count();
            if all.is_empty() {
                continue;
            }
            let share = covered as f64 / all.len() as f64;
            sum = Self {
                covered: sum.covered + covered,
                of: sum.of + all.len(),
                worst: sum.worst.min(share),
                results: sum.results + 1,
                under: sum.under + usize::from(share < 0.93),
            };
        }
        sum
    }

    fn pooled(&self) -> String {
        if self.of == 0 { "-".to_owned() } else { format!("{:.1}%", 100.0 * self.covered as f64 / self.of as f64) }
    }
}

fn consecutive(values: &[f64], count: usize, start: usize) -> Vec<f64> {
    (0..count).map(|at| values[(start + at) % values.len()]).collect()
}

/// Intervals at 95% of `count` consecutive samples from each start, for recordings with at least twice as many.
fn stated(values: &[f64], count: usize) -> Vec<Interval> {
    let starts = if values.len() >= 2 * count { values.len() } else { 0 };
    let of = |start| {
        let some = consecutive(values, count, start);
        sample_median_interval(&some, 0.95).or_else(|| sample_median_range(&some)).unwrap().interval
    };
    (0..starts).map(of).collect()
}

/// Intervals that made a result converge, in runs of up to half of the recording, in the order of time.
fn settled(values: &[f64]) -> Vec<Interval> {
    let end = |start: usize| {
        model::CHECKPOINTS.iter().map(|look| *look as usize).filter(|look| 2 * look <= values.len()).find_map(|look| {
            let seen = decide_at_checkpoint(&consecutive(values, look, start), &[], TARGET, 0.95);
            seen.interval.filter(|_| seen.converged).map(|found| found.interval)
        })
    };
    (0..values.len()).filter_map(end).collect()
}

fn alarms(name: &str, found: &SelfTest) -> String {
    let others = found.claims.iter().filter(|(_, result, _)| !result.starts_with(guest::PACED));
    let others: BTreeSet<usize> = others.map(|(pair, ..)| *pair).collect();
    let percent = |pairs: usize| 100.0 * pairs as f64 / found.pairs as f64;
    format!(
        "| {name} | {} | {:.2}% of {} | {:.1}% | {:.1}% |\n",
        found.pairs,
        100.0 * found.share(),
        found.results,
        percent(found.pairs_with_claims),
        percent(others.len()),
    )
}

/// The page with its paragraphs wrapped at 100 columns.
fn wrapped(page: &str) -> String {
    let mut text = String::new();
    for line in page.lines() {
        let mut column = 0;
        for word in line.split(' ') {
            let wraps = column > 0 && column + 1 + word.len() > 100 && !line.starts_with('|');
            text += if wraps {
                "\n"
            } else if column > 0 {
                " "
            } else {
                ""
            };
            column = if wraps { word.len() } else { column + usize::from(column > 0) + word.len() };
            text += word;
        }
        text += "\n";
    }
    text
}

#[test]
#[ignore = "writes validation/coverage.md"]
fn writes_the_coverage_page() {
    let mut page = String::from(
        "# Coverage of intervals, and false alarms\n\nWritten by `cargo test -p prony-compare --test it -- --ignored \
         writes_the_coverage_page`",
    );
    let today = OffsetDateTime::now_utc().date();
    writeln!(page, " on {today}. The recordings are of guests with two virtual CPUs, November 2026.\n").unwrap();
    page += "## Intervals at 95% in the order of time\nThe interval of each run of consecutive samples should cover \
             the median of the whole recording. The table has results whose recordings are at least twice as long. The \
             median of a recording is itself uncertain, so the pooled share is a little too high. *Under* counts results \
             with less than 93% of intervals that cover.\n\n";
    page += "| recording | samples | results | pooled | worst result | under |\n|---|---|---|---|---|---|\n";
    let recordings = recordings();
    let row = |name: &str, count: &str, found: &Covered| {
        format!(
            "| {name} | {count} | {} | {} | {:.0}% | {} |\n",
            found.results,
            found.pooled(),
            100.0 * found.worst,
            found.under
        )
    };
    for (name, results) in &recordings {
        for count in [10, 20, 40] {
            let found = Covered::of(results, &|values| stated(values, count));
            if found.results > 0 {
                page += &row(name, &count.to_string(), &found);
            }
        }
    }
    let all: Results = recordings.iter().flat_map(|(_, results)| results.clone()).collect();
    for count in [10, 20, 40] {
        page += &row("all", &count.to_string(), &Covered::of(&all, &|values| stated(values, count)));
    }
    page += "\n## Intervals at 99% of results that settled\nA run ends at the first checkpoint at which half the interval \
             is within 2%. Runs have up to half of the recorded samples.\n\n";
    page += "| recording | settled runs | results that settle | pooled | worst result | under |\n|---|---|---|---|---|---|\n";
    for (name, results) in recordings.iter().chain([&("all", all.clone())]) {
        let runs: usize = results.iter().map(Vec::len).sum();
        let found = Covered::of(results, &settled);
        writeln!(
            page,
            "| {name} | {:.0}% of {runs} | {} of {} | {} | {:.0}% | {} |",
            100.0 * found.of as f64 / runs as f64,
            found.results,
            results.len(),
            found.pooled(),
            100.0 * found.worst,
            found.under
        )
        .unwrap();
    }
    page += "\n## Equals that `compare` calls different\nAt most 5% of the results, and of the \
             pairs of runs with any. Transfers by TCP under BBR pace themselves and differ by 40% between sessions, \
             which no number of a class covers: three sessions of the machine show it.\n\n";
    page += "| pairs of runs | pairs | results that differ | pairs with any | without transfers by TCP |\n|---|---|---|---|---|\n";
    page += &alarms("simulated, one session, 60 results", &simulated::equals(60, 1));
    page += &alarms("simulated, two sessions, 60 results", &simulated::equals(60, 2));
    page += &alarms("recorded, halves of one session, 9 results", &recorded::halves());
    page += &alarms("recorded, two sessions of one policy, 9 results", &recorded::like_sessions());
    page += &alarms("recorded, six runs within 35 minutes, as observed", &guest::tried());
    page += &alarms("recorded, seven runs of one boot, in cycles", &same::tried(&same::sessions(), &[]));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../validation/coverage.md");
    std::fs::create_dir_all(concat!(env!("CARGO_MANIFEST_DIR"), "/../../validation")).unwrap();
    std::fs::write(path, wrapped(&page)).unwrap();
}
