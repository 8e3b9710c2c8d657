//! Written runs are read back, and texts for other tools follow their grammar.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use export::{export, formats};
use import::{ImportOptions, import, published};
use model::{
    BenchmarkResult, Better, Class, Estimate, EstimateMethod, Flag, Metric, Mode, Outcome, Parameters, Primitive,
    QuantileEstimate, Run, Sample, Unit,
};
use proptest::prelude::*;

fn written(runs: &[Run], format: &str) -> String {
    let mut out = Vec::new();
    match format {
        "csv" | "json" => {
            report::by_name(format, 100, false).unwrap().render(&report::view::several(runs), &mut out).unwrap();
        }
        _ => export(runs, format, &mut out).unwrap(),
    }
    String::from_utf8(out).unwrap()
}

fn read(text: &str) -> Vec<Run> {
    import("export", text.as_bytes(), &ImportOptions::default(), benchmarks::catalogue()).unwrap().runs
}

fn everything_published() -> Vec<Run> {
    let listings = published::list().unwrap();
    listings.iter().flat_map(|listing| published::get(&listing.name, benchmarks::catalogue()).unwrap()).collect()
}

fn bare() -> Run {
    published::get("cyberlife-2004/beastie.lab", benchmarks::catalogue()).unwrap().remove(0)
}

/// The part of a result that tidy CSV keeps: all but batches, footprints and details of single samples.
fn kept(result: &BenchmarkResult) -> BenchmarkResult {
    let sample = |(round, value): (u32, &f64)| Sample { round, value: *value, ..Sample::default() };
    // Intervals of a low level are written as ranges.
    let named = |estimate: &Estimate| {
        let method = if estimate.is_range() { EstimateMethod::Range } else { estimate.method };
        Estimate { method, ..*estimate }
    };
    let outcome = match &result.outcome {
        Outcome::Measured(estimate) => Outcome::Measured(named(estimate)),
        other => other.clone(),
    };
    BenchmarkResult {
        outcome,
        samples: (0..).zip(&result.values()).map(sample).collect(),
        footprint: model::Footprint::default(),
        ops: 0,
        amount: 1.0,
        ..result.clone()
    }
}

fn words() -> impl Strategy<Value = String> {
    "[ -{}~\u{e4}\u{b5}\n\"]{0,12}"
}

fn estimate() -> impl Strategy<Value = Estimate> {
    (1.0..1e12_f64, 0.0..1.0_f64, 0.01..1.0_f64, 1..100_u32).prop_map(|(value, width, level, samples)| Estimate {
        batches: 20,
        ..Estimate::of_samples(value, (value - width, value + width / 2.0), level, samples)
    })
}

fn outcome() -> impl Strategy<Value = Outcome> {
    let mode = (0.0..1.0_f64, estimate()).prop_map(|(share, estimate)| Mode { share, estimate });
    prop_oneof![
        estimate().prop_map(Outcome::Measured),
        (1e-12..1.0_f64).prop_map(|bound| Outcome::Below { bound }),
        prop::collection::vec(mode, 1..3).prop_map(Outcome::Modes),
        words().prop_map(Outcome::NotMeasured),
        words().prop_map(Outcome::Failed),
    ]
}

prop_compose! {
    fn result()(
        outcome in outcome(),
        title in words(),
        parameter in "[a-z_]{1,8}",
        value in "[a-zA-Z0-9.=\"\\\\ ]{1,8}[a-z]",
        notes in prop::collection::vec("[a-z,\"\n]{1,8}", 0..3),
        values in prop::collection::vec(1e-12..1e12_f64, 0..4),
        better in prop::sample::select(vec![Better::Lower, Better::Higher]),
        unit in prop::sample::select(vec![Unit::Seconds, Unit::BytesPerSecond, Unit::Count, Unit::Ratio]),
        quantile in prop::option::of(estimate()),
    ) -> BenchmarkResult {
        let mut result = bare().results.remove(0);
        result.outcome = outcome;
        result.title = title;
        result.parameters = Parameters::none().with(parameter, value.trim_start().to_owned());
        result.notes = notes;
        result.metric = Metric { unit, per: "thing, or \"other\"".into(), better };
        result.class = Class::Ipc;
        result.stresses = vec![Primitive::L1, Primitive::DramRead];
        result.flags = vec![Flag::Noisy, Flag::Drift];
        result.resolution = Some(1e-9);
        result.samples = values.iter().map(|value| Sample { value: *value, ..Sample::default() }).collect();
        result.quantiles = quantile.map(|estimate| QuantileEstimate { quantile: 0.99, estimate }).into_iter().collect();
        result
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testing::trials(16, 64) as u32, ..ProptestConfig::default() })]

    #[test]
    fn tidy_csv_is_read_back_with_the_same_results(mut results in prop::collection::vec(result(), 1..5)) {
        for (at, result) in results.iter_mut().enumerate() {
            result.benchmark = format!("family.benchmark{at}");
        }
        let run = Run { results, ..bare() };
        let back = read(&written(std::slice::from_ref(&run), "csv"));
        prop_assert_eq!(back.len(), 1);
        prop_assert_eq!((&back[0].id, &back[0].label, &back[0].origin), (&run.id, &run.label, &run.origin));
        prop_assert_eq!(&back[0].results, &run.results.iter().map(kept).collect::<Vec<_>>());
    }

    #[test]
    fn texts_for_other_tools_follow_their_grammar(results in prop::collection::vec(result(), 1..5)) {
        let run = Run { results, ..bare() };
        open_metrics(&written(&[run.clone(), run.clone()], "openmetrics"));
        benchmark_lines(&written(std::slice::from_ref(&run), "benchstat"));
    }
}

#[test]
fn a_value_below_zero_is_no_result_of_tidy_csv() {
    let mut run = bare();
    run.results.truncate(1);
    run.results[0].outcome = Outcome::Measured(Estimate::without_spread(-2.5));
    let text = written(&[run], "csv");
    let refused = import("export", text.as_bytes(), &ImportOptions::default(), benchmarks::catalogue());
    let said = refused.map(drop).unwrap_err().to_string();
    assert!(said.contains("the value is below 0"), "{said}");
}

#[test]
fn json_is_read_back_unchanged() {
    let runs = everything_published();
    assert_eq!(read(&written(&runs, "json")), runs);
    assert!(read(&written(&[], "json")).is_empty());
}

#[test]
fn everything_published_survives_tidy_csv() {
    let runs = everything_published();
    let back = read(&written(&runs, "csv"));
    let with_results: Vec<&Run> = runs.iter().filter(|run| !run.results.is_empty()).collect();
    assert_eq!(back.len(), with_results.len());
    for (back, run) in back.iter().zip(with_results) {
        assert_eq!((&back.id, &back.results), (&run.id, &run.results.iter().map(kept).collect()));
    }
    open_metrics(&written(&runs, "openmetrics"));
    benchmark_lines(&written(&runs, "benchstat"));
}

#[test]
fn one_sample_is_one_line_for_benchstat() {
    let mut run = bare();
    run.results.retain(|result| result.benchmark == "cpu.dhrystone");
    run.results.truncate(1);
    run.results[0].samples = [1.0, 2.0, 3.0].map(|value| Sample { value, ..Sample::default() }).to_vec();
    let text = written(&[run], "benchstat");
    assert_eq!(text.lines().filter(|line| line.starts_with("BenchmarkCpu.dhrystone")).count(), 3, "{text}");
    assert!(text.starts_with("Unit op/s better=higher\n"), "{text}");
}

#[test]
fn unknown_formats_are_refused_with_the_known_ones() {
    let error = export(&[], "xlsx", &mut Vec::new()).unwrap_err().to_string();
    assert!(error.contains("'xlsx'") && formats().iter().all(|format| error.contains(format.name)), "{error}");
}

/// The grammar of OpenMetrics for gauges and info families.
fn open_metrics(text: &str) {
    assert!(text.ends_with("# EOF\n"));
    let (mut family, mut kind) = (String::new(), String::new());
    let mut families = std::collections::HashSet::new();
    let mut samples = std::collections::HashSet::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, of) = rest.split_once(' ').unwrap();
            assert!(families.insert(name.to_owned()), "family {name} twice");
            (family, kind) = (name.to_owned(), of.to_owned());
        } else if let Some(rest) = line.strip_prefix("# UNIT ") {
            let (name, unit) = rest.split_once(' ').unwrap();
            assert!(name == family && name.ends_with(&format!("_{unit}")), "{line}");
        } else if let Some(rest) = line.strip_prefix("# HELP ") {
            assert!(rest.starts_with(&format!("{family} ")), "{line}");
        } else if line != "# EOF" {
            let (name, rest) = line.split_once('{').unwrap();
            let suffix = if kind == "info" { "_info" } else { "" };
            assert_eq!(name, format!("{family}{suffix}"), "{line}");
            assert!(
                name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                    && !name.starts_with(|c: char| c.is_ascii_digit())
            );
            let (labels, value) = rest.rsplit_once("} ").unwrap();
            assert!(value.parse::<f64>().unwrap().is_finite());
            assert!(samples.insert((name.to_owned(), labels.to_owned())), "{line} twice");
            label_names(labels);
        }
    }
}

/// Names of labels follow the grammar and are unique; values are quoted and escaped.
fn label_names(labels: &str) {
    let mut names = std::collections::HashSet::new();
    let mut rest = labels;
    while !rest.is_empty() {
        let (name, tail) = rest.split_once("=\"").unwrap();
        assert!(
            name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && names.insert(name),
            "{name} in {labels}"
        );
        assert!(!name.starts_with(|c: char| c.is_ascii_digit()) && !name.starts_with("__"));
        let mut escaped = false;
        let end = tail.char_indices().find_map(|(at, c)| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends.then_some(at)
        });
        let after = &tail[end.unwrap() + 1..];
        rest = after.strip_prefix(',').unwrap_or(after);
        assert!(after.is_empty() || after.starts_with(','), "{labels}");
    }
}

fn benchmark_lines(text: &str) {
    for line in text.lines().filter(|line| line.starts_with("Benchmark")) {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(words.len(), 4, "{line}");
        assert!(words[0].chars().nth(9).is_some_and(char::is_uppercase), "{line}");
        assert!(words[1].parse::<u64>().unwrap() > 0 && words[2].parse::<f64>().unwrap().is_finite());
    }
}
