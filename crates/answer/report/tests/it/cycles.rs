//! What a comparison in cycles prints: the clock once, and in every row what it is compared in.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::fixture;

use compare::{CompareOptions, FailOn};
use model::{
    BenchmarkResult, Class, CleanBatches, CpuDistance, Domain, Estimate, ExclusiveCore, Metric, Outcome, Parameters,
    ResultKey, ResultSensors, Run, Sample, SessionSensors, Share, Unit, ValueBasis,
};
use report::view::{self, CompareContext};
use report::{Csv, Markdown, ReportFormat, Terminal};

/// A run in which every result that is a time takes the same cycles as ever, at this clock.
fn at_clock(seed: u64, hertz: f64) -> Run {
    let mut run = fixture::sample_run(7, 1.0, false);
    (run.id, run.label) = (format!("run-{seed}"), Some(format!("vm {seed}")));
    run.session.started = format!("2026-11-2{seed}T09:00:00Z");
    let core = |result: &BenchmarkResult| result.metric.unit == Unit::Seconds && result.family() == "os";
    for result in run.results.iter_mut().filter(|result| core(result)) {
        let Outcome::Measured(estimate) = &mut result.outcome else { continue };
        estimate.scale(2e9 / hertz);
        result.samples = (0..20)
            .map(|round| {
                let cycles = Some(estimate.value * hertz * (1.0 + 1e-4 * f64::from(round % 5)));
                let clean = CleanBatches { cycles, clock: Some(hertz), ..CleanBatches::default() };
                Sample { round, value: estimate.value, clean: Some(clean), ..Sample::default() }
            })
            .collect();
        result.sensors = Some(ResultSensors {
            domain: Domain::Core,
            basis: ValueBasis::Cycles,
            clock: Some(hertz),
            ..ResultSensors::default()
        });
    }
    let metric = Metric::higher(Unit::PerSecond, "cycles");
    let mut clock = BenchmarkResult::unmeasured(
        ResultKey::new("cpu.clock", Parameters::default()),
        "clock",
        metric,
        Class::Compute,
    );
    (clock.flags, clock.outcome) =
        (Vec::new(), Outcome::Measured(Estimate::of_samples(hertz, (hertz * 0.999, hertz * 1.001), 0.95, 40)));
    run.results.push(clock);
    run.session.sensors = Some(SessionSensors {
        clock: Some(hertz),
        exclusive: vec![ExclusiveCore { cpus: vec![0, 1], ratio: Some(1.211), ..ExclusiveCore::default() }],
        ..SessionSensors::default()
    });
    run
}

fn drawn(format: &dyn ReportFormat, runs: &[&Run]) -> String {
    let comparison = compare::compare(runs, &CompareOptions::default()).unwrap();
    let mut out = Vec::new();
    format.render(&view::compare(&comparison, &CompareContext::default()), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The same on one line, since notes and remarks are wrapped.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn many_runs_have_one_note_on_their_clocks_and_few_on_what_disturbed_them() {
    let mut runs: Vec<Run> = (1..=20).map(|at| at_clock(at, if at == 7 { 2.5e9 } else { 2.6e9 })).collect();
    for run in runs.iter_mut().skip(1) {
        run.session.conditions.load = Some(3.0);
        run.session.conditions.cpus = Some(2);
    }
    let runs: Vec<&Run> = runs.iter().collect();
    let few = unwrapped(&drawn(&Terminal { width: 160, ..Terminal::default() }, &runs[..4]));
    assert_eq!((few.matches("CPU clock of").count(), few.matches("load before the run").count()), (3, 3), "{few}");
    let text = drawn(&Terminal { width: 160, ..Terminal::default() }, &runs);
    println!("{text}");
    let said = unwrapped(&text);
    assert_eq!((said.matches("CPU clock of").count(), said.matches("CPU clocks of 19 runs").count()), (0, 1), "{text}");
    assert!(said.contains("2.50 GHz to 2.60 GHz vs 2.60 GHz of vm 1; "), "{text}");
    assert_eq!(said.matches("load before the run").count(), 3, "{text}");
    assert!(said.contains("Also with interference: "), "{text}");
}

#[test]
fn the_clock_is_told_once_and_rows_say_what_they_are_compared_in() {
    let (a, mut b) = (at_clock(1, 2.6e9), at_clock(2, 2.5e9));
    let drawn_wide = |runs: &[&Run]| drawn(&Terminal { width: 160, ..Terminal::default() }, runs);
    let text = drawn_wide(&[&a, &b]);
    println!("{text}");
    let said = unwrapped(&text);
    assert_eq!(said.matches("CPU clock: ").count(), 1, "{text}");
    assert!(said.contains("CPU clock: 2.50 GHz vs 2.60 GHz, 1.04"), "{text}");
    assert!(said.contains("compared in cycles, so clock speed cancels out"), "{text}");
    // Each run has its own values, the ratio is theirs, and what the verdict is about is told.
    assert!(
        said.contains("clock read 18.71 ns 19.46 ns 1.040x slower 1.034 – 1.046 no change but the clock cycles"),
        "{said}"
    );
    assert!(drawn(&Markdown, &[&a, &b]).contains("basis"));
    assert!(said.contains("lies outside ±2% (±1% in cycles). No change: "), "{said}");
    // Between machines the time is told, and what it is made of.
    b.machine.fingerprint = "another".to_owned();
    let said = unwrapped(&drawn_wide(&[&a, &b]));
    assert!(said.contains("lies outside ±2%. No change: "), "{said}");
    assert!(said.contains("slower time") && said.contains("CPU clock: 2.50 GHz vs 2.60 GHz, 1.04"), "{said}");
    let csv = drawn(&Csv, &[&a, &b]);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|head| head == name).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let of = |cells: &&csv::StringRecord| {
        &cells[column("benchmark")] == "os.syscall_getppid" && &cells[column("basis")] == "clock_time"
    };
    let cells = rows.iter().find(of).unwrap();
    let number = |name: &str| cells[column(name)].parse::<f64>().unwrap();
    assert!((number("time") / (number("cycles") * number("clock")) - 1.0).abs() < 0.01);
}

#[test]
fn cpus_that_the_host_had_elsewhere_are_said_of_one_machine() {
    let at = |seed: u64, picos: u32| {
        let mut run = at_clock(seed, 2.6e9);
        let found = CpuDistance { cpus: [1, 0], picos, share: Share::ALL, elsewhere: None };
        run.session.sensors.as_mut().unwrap().distances = vec![found];
        run
    };
    let (near, mut far, busy) = (at(1, 37_100), at(2, 187_000), at(3, 58_000));
    let said = |runs: &[&Run]| unwrapped(&drawn(&Terminal { width: 160, ..Terminal::default() }, runs));
    let text = said(&[&near, &far]);
    assert!(text.contains("a cache line took 187 ns between them vs 37.1 ns"), "{text}");
    assert!(!said(&[&near, &busy]).contains("differently"), "a busy link is the same place");
    // In the rows, it is said of results of both CPUs and of no others.
    let os = |run: &Run| run.results.iter().position(|result| result.family() == "os").unwrap();
    let of_both = |run: &Run, times: f64| {
        let mut run = run.clone();
        let place = os(&run);
        let Outcome::Measured(estimate) = &mut run.results[place].outcome else { panic!() };
        estimate.scale(times);
        for sample in &mut run.results[place].samples {
            sample.value *= times;
            let clean = sample.clean.as_mut().unwrap();
            clean.cycles = clean.cycles.map(|cycles| cycles * times);
            sample.placement.seen = vec![vec![1], vec![0]];
        }
        run
    };
    let (near_both, far_both) = (of_both(&near, 1.0), of_both(&far, 2.0));
    let comparison = compare::compare(&[&near_both, &far_both], &CompareOptions::default()).unwrap();
    let elsewhere: Vec<&str> =
        comparison.rows.iter().filter(|row| row.ratios[1].elsewhere).map(|row| row.benchmark.as_str()).collect();
    assert_eq!(elsewhere, [near_both.results[os(&near_both)].benchmark.as_str()]);
    assert!(comparison.rows.iter().all(|row| !row.ratios[0].elsewhere));
    let text = said(&[&near_both, &far_both]);
    assert!(text.contains("ignore: CPUs moved") && text.contains("results that use both (§)"), "{text}");
    // A gate does not take it for a regression, nor for a pass where it hides one.
    let gate = |a: &Run, b: &Run| {
        let found = compare::compare(&[a, b], &CompareOptions::default()).unwrap();
        let mut gate = "slower:20".parse::<FailOn>().unwrap().gate(&found);
        gate.open.retain(|one| one.result.starts_with("os."));
        gate.failing.retain(|one| one.result.starts_with("os."));
        (gate.open.iter().filter_map(|one| one.reason.clone()).collect::<Vec<_>>(), gate.failing.len())
    };
    for (a, b) in [(&near_both, &far_both), (&far_both, &near_both)] {
        let (open, failing) = gate(a, b);
        assert!(failing == 0 && open.len() == 1 && open[0].contains("placed its CPUs differently"), "{open:?}");
    }
    assert_eq!(gate(&near_both, &of_both(&far, 1.0)), (Vec::new(), 0), "what stayed the same passes");
    let busy_both = of_both(&busy, 2.0);
    assert_eq!(gate(&near_both, &busy_both), (Vec::new(), 1));
    let text = said(&[&near_both, &busy_both]);
    assert!(text.contains("slower") && !text.contains("differently") && !text.contains('§'), "{text}");
    // Of another machine it is no news.
    far.machine.fingerprint = "another".to_owned();
    assert!(!said(&[&near, &far]).contains("differently"));
}

#[test]
fn what_is_decided_is_not_listed_as_open() {
    let a = at_clock(1, 2.6e9);
    let mut b = at_clock(2, 2.6e9);
    // Both modes of a hand-off take twice as long: their reason stands in the row's document and opens nothing.
    let values = |result: &mut BenchmarkResult| {
        result.outcome.scale(2.0);
        result.samples.iter_mut().for_each(|sample| sample.value *= 2.0);
    };
    b.results.iter_mut().filter(|result| matches!(result.outcome, Outcome::Modes(_))).for_each(values);
    let comparison = compare::compare(&[&a, &b], &CompareOptions::default()).unwrap();
    let row = comparison.rows.iter().find(|row| !row.ratios[1].modes.is_empty()).unwrap();
    assert!(row.ratios[1].differs(), "{row:?}");
    let reason = row.ratios[1].reason.clone().unwrap();
    let said = unwrapped(&drawn(&Terminal { width: 160, ..Terminal::default() }, &[&a, &b]));
    assert!(said.contains("; slower") && !said.contains(&reason), "{reason}: {said}");
    let same = unwrapped(&drawn(&Terminal { width: 160, ..Terminal::default() }, &[&a, &a]));
    assert!(same.contains("are the same run") && !same.contains("why inconclusive"), "{same}");
}

#[test]
fn a_clock_that_no_processor_has_is_not_printed() {
    let (mut a, b) = (at_clock(1, 2.6e9), at_clock(2, 2.6e9));
    let found = a.results.iter_mut().find(|result| result.benchmark == "cpu.clock").unwrap();
    let Outcome::Measured(estimate) = &mut found.outcome else { panic!("{found:?}") };
    (estimate.low, estimate.high) = (2.1e7, 3.4e10);
    let show = |run: &Run| {
        let mut out = Vec::new();
        let screen = Terminal { width: 300, colour: false };
        screen.render(&view::run(run, &view::RunContext::default()), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        text.lines().find(|line| line.trim_start().starts_with("clock")).unwrap().to_owned()
    };
    let said = "its readings say 21 MHz to 34 GHz, which no processor's clock does";
    assert!(show(&a).contains(&format!("not known: {said}")), "{}", show(&a));
    assert!(show(&b).contains("2.6") && !show(&b).contains("not known"), "{}", show(&b));
    for runs in [[&a, &b], [&b, &a]] {
        let text = drawn(&Terminal { width: 300, colour: false }, &runs).replace('\u{a0}', " ");
        assert!(text.contains(&format!("CPU clock of vm 1 unknown: {said}")), "{text}");
        assert!(!text.contains("CPU clock: "), "{text}");
    }
    let sound = drawn(&Terminal { width: 300, colour: false }, &[&b, &at_clock(3, 2.6e9)]);
    assert!(sound.contains("CPU clock: ") && !sound.contains("not known"), "{sound}");
}
