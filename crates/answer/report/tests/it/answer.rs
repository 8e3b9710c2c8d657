//! The answer first: what a run and a comparison come to, on one screen.
#![allow(clippy::unwrap_used, reason = "tests")]

use compare::quality::{QualityLevel, flag_counts, quality};
use compare::{CompareOptions, FailOn, NeededSamples, compare};
use model::{
    Better, Conditions, Direction, EstimateMethod, Flag, Invalid, Metric, Outcome, Run, TakenTime, Unit, Verdict,
};
use report::view::{self, CompareContext, RunContext};
use report::{Block, Document, Html, JsonFormat, Markdown, ReportFormat, Terminal, Tone};

use crate::fixture;

fn screen(document: &Document, width: usize) -> String {
    let mut out = Vec::new();
    Terminal { width, colour: false }.render(document, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// A run of a default suite with the key results.
fn whole() -> Run {
    let mut run = fixture::sample_run(3, 1.0, false);
    let second = fixture::metric(Unit::Seconds, "operation");
    let key = |benchmark: &str, parameters: &str, value: f64| {
        let estimate = fixture::estimate(value, value * 0.99, value * 1.01, 14);
        fixture::result(benchmark, benchmark, parameters, second.clone(), Outcome::Measured(estimate))
    };
    run.results.extend([
        key("memory.hierarchy_latency", "level=memory", 133e-9),
        key("cpu.arithmetic", "type=int", 0.4e-9),
        key("cpu.arithmetic", "type=double", 0.8e-9),
        key("file.fsync", "", 92.7e-6),
    ]);
    run
}

fn context() -> RunContext {
    let catalogue = benchmarks::catalogue();
    RunContext { catalogue, handle: Some("7".into()), previous: Some("6".into()), stored: true, brief: true }
}

#[test]
fn the_answer_fits_one_screen_and_says_what_to_do_next() {
    let mut run = whole();
    for result in &mut run.results {
        result.flags = vec![Flag::Steal, Flag::SharedCore, Flag::Noisy, Flag::Drift, Flag::Repeated];
    }
    let text = screen(&view::answer(&run, &context()), 80);
    assert!(text.lines().count() <= 24, "{} lines: {text}", text.lines().count());
    for wanted in
        ["memory latency", "one core, integer", "append + fsync", "Quality: ", "prony show 7", "prony compare 6"]
    {
        assert!(text.contains(wanted), "{wanted} is missing: {text}");
    }
    assert!(!text.contains("note") && !text.contains("drift"), "details are in `show`: {text}");
}

#[test]
fn a_screen_has_nine_results_and_three_commands_at_most() {
    let mut run = whole();
    let one = |at: usize| {
        let estimate = fixture::estimate(1.0, 0.99, 1.01, 14);
        let second = fixture::metric(Unit::Seconds, "operation");
        fixture::result(&format!("os.own{at}"), &format!("own {at}"), "", second, Outcome::Measured(estimate))
    };
    run.results = (0..9).map(one).collect();
    run.session.complete = false;
    let rows = |text: &str| text.lines().filter(|line| line.contains("own ")).count();
    let nine = screen(&view::answer(&run, &context()), 80);
    assert_eq!(rows(&nine), 9, "{nine}");
    run.results.push(one(9));
    assert_eq!(rows(&screen(&view::answer(&run, &context()), 80)), 9);
    assert_eq!(view::answer(&run, &context()).next.len(), 3);
}

#[test]
fn the_suite_quick_has_the_key_results() {
    let mut run = whole();
    let result = |one: benchmarks::BenchmarkSelection| {
        let estimate = fixture::estimate(1e-6, 0.99e-6, 1.01e-6, 14);
        let second = fixture::metric(Unit::Seconds, "operation");
        let parameters = one.parameters.to_string();
        fixture::result(one.benchmark.id, one.benchmark.title, &parameters, second, Outcome::Measured(estimate))
    };
    run.results = benchmarks::suite("quick").unwrap().selections().into_iter().map(result).collect();
    let text = screen(&view::answer(&run, &context()), 80);
    assert!(text.lines().count() <= 24, "{text}");
    for wanted in [
        "memory bandwidth",
        "memory latency",
        "one core, integer",
        "one core, floating point",
        "system call",
        "start a program",
        "context switch",
        "TCP round trip",
        "append + fsync",
    ] {
        let rows = text.lines().filter(|line| line.contains(wanted)).count();
        assert_eq!(rows, 1, "{wanted}: {text}");
    }
    // A cache as large as the working set moves it.
    let latency = run.results.iter_mut().find(|result| result.parameters.get("working_set") == Some("64MiB")).unwrap();
    latency.parameters = latency.parameters.clone().with("working_set", "512MiB");
    let text = screen(&view::answer(&run, &context()), 80);
    assert!(text.contains("memory latency, 512 MiB"), "{text}");
}

#[test]
fn what_most_results_have_is_counted_once() {
    let mut run = whole();
    for result in &mut run.results {
        result.flags = vec![Flag::CannotConverge, Flag::Noisy];
    }
    run.results[0].flags.push(Flag::Drift);
    let text = screen(&view::run(&run, &context()), 100);
    assert_eq!(text.matches("noisy").count(), 1, "{text}");
    assert_eq!(text.matches("wider than").count(), 0, "the count of wider results says it: {text}");
    // What one result has stands in its row, and in the count.
    assert_eq!(text.matches("drifts over time").count(), 2, "{text}");
    assert!(text.find("results in").unwrap() < text.find("interval").unwrap(), "the summary comes first: {text}");
    assert!(text.find("notes").unwrap() > text.find("interval").unwrap(), "details come last: {text}");
}

/// The badge of a run: its colour and its text.
fn badge(run: &Run) -> Option<(Tone, String)> {
    let document = view::answer(run, &context());
    let mut blocks = document.sections.into_iter().flat_map(|section| section.blocks);
    blocks.find_map(|block| match block {
        Block::Badge(badge) => Some((badge.tone, format!("{} {}", badge.head(), badge.text))),
        _ => None,
    })
}

#[test]
fn quality_has_one_reason_and_one_advice() {
    let mut run = whole();
    run.results.retain(|result| result.outcome.estimate().is_some());
    run.results.iter_mut().for_each(|result| result.flags.clear());
    run.plan.target = 0.5;
    run.session.conditions = Conditions { load: Some(0.0), cpus: Some(2), ..Conditions::default() };
    let (tone, text) = badge(&run).unwrap();
    assert_eq!(tone, Tone::Good);
    assert!(text.starts_with("Quality: GOOD. No interference was seen. 9 of 10 numbers are good to "), "{text}");
    // Other processes took more than the hypervisor did; the smaller reason is a detail.
    run.session.conditions.others = Some(TakenTime { seconds: 31.0, of: 100.0 });
    run.session.conditions.steal = Some(TakenTime { seconds: 4.0, of: 100.0 });
    let (tone, text) = badge(&run).unwrap();
    assert_eq!(tone, Tone::Caution);
    assert!(text.starts_with("Quality: FAIR. Other processes used 31% of the CPUs."), "{text}");
    assert!(text.ends_with(" Stop other processes and run again."), "nothing is wide: {text}");
    assert!(!text.contains("steal"), "one reason: {text}");
    let shown = screen(&view::run(&run, &context()), 100);
    assert_eq!(shown.matches("steal time was 4%").count(), 1, "{shown}");
    // Wide results: a longer run helps too.
    run.plan.target = 1e-9;
    run.plan.time_limit = Some(16.0);
    let (tone, text) = badge(&run).unwrap();
    assert_eq!(tone, Tone::Bad);
    assert!(text.starts_with("Quality: POOR. Other processes used 31% of the CPUs."), "{text}");
    assert!(text.ends_with(" Stop other processes and run again, or add --time-limit 10m."), "{text}");
    // What disturbs hardly explains no wide result.
    run.session.conditions.others = None;
    run.plan.time_limit = Some(900.0);
    let (_, text) = badge(&run).unwrap();
    assert!(text.contains("results did not reach") && text.ends_with("with --time-limit 45m."), "{text}");
    let level = |run: &Run| quality(run).level;
    run.results.iter_mut().for_each(|result| result.outcome = Outcome::NotMeasured("no".into()));
    assert_eq!(level(&run), QualityLevel::Unknown);
    assert_eq!(level(&fixture::published_run()), QualityLevel::Unknown, "another tool measured it");
    assert_eq!(badge(&fixture::published_run()), None);
}

#[test]
fn the_margin_holds_nine_results_of_ten() {
    let mut run = whole();
    let one = |at: usize, half: f64| {
        let estimate = fixture::estimate(1.0, 1.0 - half, 1.0 + half, 14);
        let second = fixture::metric(Unit::Seconds, "operation");
        fixture::result(&format!("os.own{at}"), "own", "", second, Outcome::Measured(estimate))
    };
    run.results = (1..=10).map(|at| one(at, 0.01 * at as f64)).collect();
    assert!((quality(&run).margin.unwrap() - 0.09).abs() < 1e-9);
    for result in run.results.iter_mut().take(2) {
        result.outcome = Outcome::Modes(Vec::new());
    }
    assert_eq!(quality(&run).margin, None, "two of ten have no interval");
}

/// Every format has the same level, reason and advice.
#[test]
fn every_format_states_the_quality() {
    let mut run = whole();
    run.session.conditions.others = Some(TakenTime { seconds: 62.0, of: 200.0 });
    run.session.conditions.cpus = Some(2);
    let drawn = |format: &dyn ReportFormat, document: &Document| {
        let mut out = Vec::new();
        format.render(document, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let document = view::run(&run, &context());
    let level = quality(&run).level.word();
    let head = format!("Quality: {}.", level.to_uppercase());
    let reason = "Other processes used 31% of the CPUs.";
    for text in [drawn(&Markdown, &document), drawn(&Html, &document), screen(&document, 160)] {
        assert!(text.contains(&head) && text.contains(reason), "{text}");
    }
    let coloured = drawn(&Terminal { width: 100, colour: true }, &document);
    assert!(coloured.contains(&format!("m{head}\u{1b}[0m {reason}")), "{coloured}");
    let page =
        view::report(&view::ReportInput { runs: &[&run], catalogue: benchmarks::catalogue(), ..Default::default() });
    assert!(drawn(&Html, &page).contains(reason));
    let json: serde_json::Value = serde_json::from_str(&drawn(&JsonFormat, &document)).unwrap();
    assert_eq!(json["quality"]["level"], level);
    assert_eq!(json["quality"]["reasons"][0], "other processes used 31% of the CPUs");
    assert!(json["quality"]["advice"].as_str().unwrap().starts_with("Stop other processes"));
    let back: Run = serde_json::from_value(json).unwrap();
    assert_eq!(back, run, "the document is read as before");
}

#[test]
fn repeated_samples_are_counted_by_reason() {
    let mut run = whole();
    run.results[0].samples[0].invalid = Some(Invalid::SharedCore { batches: 1, of: 9 });
    run.results[1].samples[0].invalid = Some(Invalid::Suspended(2.0));
    run.results[1].samples[1].invalid = Some(Invalid::Suspended(2.0));
    run.results[1].flags.push(Flag::Repeated);
    let text = screen(&view::run(&run, &context()), 200);
    let wanted = "3 samples repeated: the machine slept 2, busy sibling hyperthread or clock change 1";
    assert!(text.contains(wanted), "{text}");
    assert!(flag_counts(&run).iter().all(|count| count.flag != Flag::Repeated));
}

fn compared(runs: &[Run], width: usize) -> String {
    let runs: Vec<&Run> = runs.iter().collect();
    let comparison = compare(&runs, &CompareOptions::default()).unwrap();
    let handles = (1..=runs.len()).map(|n| n.to_string()).collect();
    screen(&view::compare(&comparison, &CompareContext { handles, brief: true, ..Default::default() }), width)
}

#[test]
fn a_gate_says_what_the_other_run_lacks() {
    let said = |lost: usize| {
        let (a, mut b) = (fixture::sample_run(1, 1.0, false), fixture::sample_run(2, 1.0, false));
        b.results.drain(..lost);
        let mut comparison = compare(&[&a, &b], &CompareOptions::default()).unwrap();
        comparison.gate = Some("slower:5".parse::<FailOn>().unwrap().gate(&comparison));
        let text = screen(&view::compare(&comparison, &CompareContext { brief: true, ..Default::default() }), 900);
        text.lines().find(|line| line.trim_start().starts_with("Gate")).unwrap().to_owned()
    };
    assert!(!said(0).contains("missing"), "{}", said(0));
    assert!(said(1).ends_with(" 1 baseline result is missing from the new run."), "{}", said(1));
    assert!(said(3).ends_with(" 3 baseline results are missing from the new run."), "{}", said(3));
}

/// The gate of two runs, the second slower by a factor, as it is printed.
fn gate(condition: &str, band: f64, slower: f64) -> String {
    let (a, b) = (fixture::sample_run(1, 1.0, false), fixture::sample_run(2, slower, false));
    let mut comparison = compare(&[&a, &b], &CompareOptions { band, ..Default::default() }).unwrap();
    comparison.gate = Some(condition.parse::<FailOn>().unwrap().gate(&comparison));
    let text = screen(&view::compare(&comparison, &CompareContext { brief: true, ..Default::default() }), 900);
    text.lines().find(|line| line.trim_start().starts_with("Gate")).unwrap().to_owned()
}

#[test]
fn a_gate_says_its_limit_and_its_results_exactly() {
    assert!(gate("slower", 0.07, 1.5).contains("more than 7% slower"), "{}", gate("slower", 0.07, 1.5));
    assert!(gate("slower:12.5", 0.02, 1.5).contains("more than 12.5% slower"));
    let said = gate("slower:5", 0.02, 1.5).replace('\u{a0}', " ");
    let named = said.split_once('(').map_or("", |(_, rest)| rest);
    assert!(named.starts_with("copy (read + written), 256 MiB, 1 thread,"), "three results are titled copy: {said}");
}

#[test]
fn a_gate_of_several_runs_says_what_one_of_them_lacks() {
    let runs = [1, 2, 3, 4].map(|seed| fixture::sample_run(seed, 1.0, false));
    let said = |lost: usize| {
        let mut runs = runs.clone();
        runs[2].results.drain(..lost);
        let runs: Vec<&Run> = runs.iter().collect();
        let mut comparison = compare(&runs, &CompareOptions::default()).unwrap();
        comparison.gate = Some("slower:5".parse::<FailOn>().unwrap().gate(&comparison));
        let text = screen(&view::compare(&comparison, &CompareContext { brief: true, ..Default::default() }), 900);
        text.lines().find(|line| line.trim_start().starts_with("Gate")).unwrap().to_owned()
    };
    assert!(!said(0).contains("missing"), "{}", said(0));
    assert!(said(1).ends_with(" 1 baseline result is missing from vm 3."), "{}", said(1));
    assert!(said(2).ends_with(" 2 baseline results are missing from vm 3."), "{}", said(2));
}

/// What machines did meanwhile (their clock, their neighbours) is no gain, whichever results the machines share.
#[test]
fn conditions_are_in_no_mean() {
    let with = |seed: u64, shared: f64| {
        let mut run = fixture::sample_run(seed, 1.0, false);
        let metric = Metric::lower(Unit::Ratio, "time");
        let outcome = Outcome::Measured(fixture::estimate(shared, shared * 0.9, shared * 1.1, 12));
        run.results.push(fixture::result(model::CORE_SHARED, "time in which the core was shared", "", metric, outcome));
        run
    };
    let (a, b) = (with(1, 0.001), with(2, 0.9));
    let only = |seed: u64, family: &str| {
        let mut run = fixture::sample_run(seed, 1.0, false);
        run.results.retain(|result| result.family() == family);
        run
    };
    // Two machines that lack different results: no mean is of all, and every row is of what it shares.
    let text = compared(&[a.clone(), b.clone(), only(3, "memory"), only(4, "os")], 200);
    let map = text.split("speed-up over").nth(1).unwrap_or_else(|| panic!("{text}"));
    let row = map.lines().find(|line| line.trim_start().starts_with("vm 2")).unwrap_or_else(|| panic!("{text}"));
    assert!(!row.contains("worse"), "nine hundred times the neighbours are no loss of speed: {text}");
    let two = compared(&[a, b], 200);
    let mean = two.lines().find(|line| line.contains("Mean of all results:")).unwrap_or_else(|| panic!("{two}"));
    assert!(!mean.contains("worse") && !mean.contains("better"), "all of its results are times and rates: {mean}");
}

#[test]
fn a_comparison_decides_first_and_counts_what_its_rows_say() {
    let (a, b) = (fixture::sample_run(1, 1.0, false), fixture::sample_run(2, 1.6, false));
    let text = compared(&[a.clone(), b.clone()], 80);
    assert!(text.lines().count() <= 30, "{text}");
    let comparison = compare(&[&a, &b], &CompareOptions::default()).unwrap();
    let slower = Some(Verdict::Different(Some(Direction::Slower)));
    let count = comparison.rows.iter().filter(|row| row.ratios[1].verdict == slower).count();
    assert!(count > 8, "{count}");
    assert!(text.contains(&format!("{count} slower, 0 faster, ")), "{text}");
    assert!(
        text.contains("Mean of all results:") && text.contains("--all") && text.contains("prony explain 1 2"),
        "{text}"
    );
    // By the size of the effect, as far as the digits say.
    let factors: Vec<f64> = text
        .lines()
        .filter(|line| line.starts_with("    "))
        .filter_map(|line| line.split_once("x slower  ")?.0.split_whitespace().last()?.parse().ok())
        .collect();
    assert!(factors.len() > 3 && factors.windows(2).all(|pair| pair[0] > pair[1] - 0.01), "{factors:?}: {text}");
}

/// Every inconclusive result is counted in what would decide it, or has no interval.
#[test]
fn what_would_decide_adds_up() {
    let (a, b) = (fixture::sample_run(1, 1.0, false), fixture::sample_run(4, 1.0, false));
    let mut comparison = compare(&[&a, &b], &CompareOptions::default()).unwrap();
    let needs = [Some(NeededSamples::Samples(3)), None, None];
    let rows = comparison.rows.iter_mut();
    for (row, need) in rows.zip(needs) {
        let ratio = &mut row.ratios[1];
        (ratio.verdict, ratio.need) = (Some(Verdict::Inconclusive), need);
    }
    let text = screen(&view::compare(&comparison, &CompareContext { brief: true, ..Default::default() }), 900);
    let line = text.lines().find(|line| line.contains("Inconclusive: ")).unwrap_or_else(|| panic!("{text}"));
    assert!(
        line.contains("need a longer run (up to ") && line.contains("have no interval to test (fewer than 8 samples"),
        "{line}"
    );
}

#[test]
fn equal_runs_are_not_slower_or_faster() {
    let run = fixture::sample_run(1, 1.0, false);
    let other = Run { id: "other".into(), ..fixture::sample_run(4, 1.0, false) };
    let text = compared(&[run, other], 80);
    assert!(text.contains("0 slower, 0 faster, "), "{text}");
}

#[test]
fn many_machines_are_ranked_by_family() {
    let runs: Vec<Run> = (0..6)
        .map(|at| {
            let mut run = fixture::sample_run(at + 1, 1.0 + 0.5 * at as f64, false);
            run.machine.name = format!("node{at}");
            run.machine.fingerprint = format!("f{at}");
            run.label = Some(format!("node{at}"));
            run
        })
        .collect();
    let text = compared(&runs, 120);
    assert!(text.contains("rank") && text.contains("memory") && text.contains("baseline"), "{text}");
    let order: Vec<usize> = (0..6).map(|at| text.find(&format!("  node{at} ")).unwrap()).collect();
    assert!(order.windows(2).all(|pair| pair[0] < pair[1]), "the best first: {text}");
    assert!(text.contains("slower") && text.contains("not comparable"), "{text}");
}

/// A suggested command is one that can be typed.
#[test]
fn every_result_of_many_runs_is_asked_for_in_one_short_line() {
    let runs: Vec<Run> = (0..40)
        .map(|at| {
            let mut run = fixture::sample_run(at + 1, if at == 7 { 3.0 } else { 1.0 }, false);
            run.machine.fingerprint = format!("f{at}");
            run
        })
        .collect();
    let next = |runs: &[Run], handle: &dyn Fn(usize) -> String| {
        let runs: Vec<&Run> = runs.iter().collect();
        let comparison = compare(&runs, &CompareOptions::default()).unwrap();
        let handles = (0..runs.len()).map(handle).collect();
        let context = CompareContext { handles, brief: true, ..Default::default() };
        view::compare(&comparison, &context).next.pop().unwrap()
    };
    assert_eq!(next(&runs, &|at| (at + 3).to_string()), "prony compare $(seq 3 42) --all");
    assert_eq!(next(&runs[..3], &|at| (2 * at).to_string()), "prony compare 0 2 4 --all");
    // Those that differ most, where all of them are too many to type.
    assert_eq!(next(&runs, &|at| (2 * at).to_string()), "prony compare 0 14 --all");
    // Two names are typed however long they are, as in the command that explains them.
    let long = |at: usize| format!("published:some-evaluation-2004/machine of the name {at}");
    let both = format!("prony compare '{}' '{}' --all", long(0), long(1));
    assert_eq!(next(&runs[..2], &long), both);
    // What was compared with which is asked again.
    let options = CompareOptions { reference: Some(runs[1].id.clone()), ..CompareOptions::default() };
    let comparison = compare(&[&runs[0], &runs[1]], &options).unwrap();
    let context = CompareContext { handles: vec!["a".into(), "b".into()], brief: true, ..Default::default() };
    assert!(view::compare(&comparison, &context).next.contains(&"prony compare b a --all".to_owned()));
}

/// A run whose first result rose from sample to sample, so that it has no interval, beside one of every run.
fn drifting(seed: u64, factor: f64) -> Run {
    let mut run = fixture::sample_run(seed, factor, false);
    let mut shared = run.results[0].clone();
    shared.benchmark = model::CORE_SHARED.to_owned();
    shared.metric = Metric { unit: Unit::Ratio, per: "time".into(), better: Better::Lower };
    shared.parameters = model::Parameters::default();
    run.results.push(shared);
    for result in &mut run.results {
        result.samples.clear();
        if let Outcome::Measured(estimate) = &mut result.outcome {
            (estimate.method, estimate.samples) = (EstimateMethod::Stated, 10);
        }
    }
    if let Outcome::Measured(estimate) = &mut run.results[0].outcome {
        (estimate.level, estimate.samples, estimate.method) = (1e-9, 5, EstimateMethod::Range);
        (estimate.low, estimate.high) = (0.98 * estimate.value, 1.02 * estimate.value);
    }
    run
}

#[test]
fn counts_are_of_what_was_asked_for_and_no_interval_is_without_ends() {
    let (a, b) = (drifting(1, 1.0), drifting(2, 1.6));
    let asked = a.results.iter().filter(|result| !result.is_condition()).count();
    let text = compared(&[a.clone(), b.clone()], 100);
    assert!(text.contains(&format!("(of {asked})")) && !text.contains("core was shared"), "{text}");
    assert!(text.contains("Mean of all results: ") && !text.contains("e−") && !text.contains("0.00 –"), "{text}");
    let three = compared(&[a, b, fixture::sample_run(3, 1.3, false)], 140);
    assert!(three.contains("rank") && three.contains("share a rank"), "{three}");
    let table = three.split("\nresults vs").next().unwrap();
    assert_eq!(
        table.lines().filter(|line| line.contains("x worse") || line.contains("x slower")).count(),
        2,
        "{three}"
    );
}
