//! No line is wider than the page and no run document causes a panic.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::fixture;

use compare::Normalise;
use model::{Estimate, EstimateMethod, Mode, Outcome, Run, Unit};
use proptest::prelude::*;
use report::view::{self, CompareContext, ReportInput, RunContext};
use report::{Cell, Csv, Document, Html, JsonFormat, Markdown, ReportFormat, Terminal};
use unicode_width::UnicodeWidthStr;

fn draw(format: &dyn ReportFormat, document: &Document) -> String {
    let mut out = Vec::new();
    format.render(document, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn fits(document: &Document, width: usize) {
    // A command is copied whole, however long it is.
    let text = draw(&Terminal { width, colour: false }, document);
    for line in text.lines().take_while(|line| !line.starts_with("Next: ")) {
        assert!(line.width() <= width, "{} columns of {width}: {line}", line.width());
    }
}

/// Labels of any origin: empty, long, wide, joined, right-to-left, with control characters.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        "[a-z ,]{0,40}",
        "[a-z]{80,200}",
        Just("漢字の長い名前、幅は二倍です".to_owned()),
        Just("👩‍👩‍👧‍👦 e\u{301}\u{301} \u{202e}evil\u{1b}[2J\t\n\u{0}".to_owned()),
        any::<String>(),
    ]
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        1e-9..1e9f64,
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(0.0),
        Just(f64::MAX),
        Just(f64::MIN_POSITIVE),
    ]
}

fn estimate() -> impl Strategy<Value = Estimate> {
    let method = prop_oneof![
        Just(EstimateMethod::OrderStatistic),
        Just(EstimateMethod::Range),
        Just(EstimateMethod::Stated),
        Just(EstimateMethod::None)
    ];
    (number(), number(), number(), number(), method).prop_map(|(value, low, high, level, method)| Estimate {
        batches: 20,
        method,
        ..Estimate::of_samples(value, (low, high), level, 10)
    })
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        4 => estimate().prop_map(Outcome::Measured),
        1 => number().prop_map(|bound| Outcome::Below { bound }),
        1 => prop::collection::vec((number(), estimate()), 0..4)
            .prop_map(|modes| Outcome::Modes(modes.into_iter().map(|(share, estimate)| Mode { share, estimate }).collect())),
        1 => text().prop_map(Outcome::NotMeasured),
        1 => text().prop_map(Outcome::Failed),
    ]
}

fn run() -> impl Strategy<Value = Run> {
    let unit = prop_oneof![
        Just(Unit::Seconds),
        Just(Unit::BytesPerSecond),
        Just(Unit::PerSecond),
        Just(Unit::Bytes),
        Just(Unit::Ratio)
    ];
    let result = (text(), text(), outcome(), unit, text(), prop::collection::vec(number(), 0..12));
    (prop::collection::vec(result, 0..12), text(), text(), number()).prop_map(|(results, label, note, seconds)| {
        let mut run = fixture::fixed_run();
        run.label = Some(label.clone());
        run.machine.summary = label;
        run.session.notes = vec![note];
        run.session.seconds = seconds;
        run.results = results
            .into_iter()
            .enumerate()
            .map(|(index, (title, per, outcome, unit, note, samples))| {
                let mut result = fixture::result("memory.x", &title, "", fixture::metric(unit, ""), outcome);
                result.metric.per = per.into();
                result.notes = vec![note];
                result.parameters = fixture::parameters(&format!("working_set={}KiB", index + 1));
                result.samples = fixture::samples(&samples);
                result
            })
            .collect();
        run
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testing::trials(32, 96) as u32))]

    #[test]
    fn any_run_fits_any_page(run in run(), width in 20usize..160) {
        let context = RunContext { handle: Some("7".into()), previous: Some("6".into()), stored: true, ..RunContext::default() };
        fits(&view::answer(&run, &context), width);
        let document = view::run(&run, &context);
        fits(&document, width);
        for format in [&JsonFormat as &dyn ReportFormat, &Csv, &Markdown, &Html, &Terminal { width, colour: true }] {
            let mut out = Vec::new();
            format.render(&document, &mut out).unwrap();
        }
    }

    #[test]
    fn any_comparison_prints_numbers_and_heads_that_differ(
        runs in prop::collection::vec(run(), 2..5),
        handles in any::<bool>(),
        ratio in any::<bool>(),
    ) {
        let runs: Vec<Run> =
            runs.into_iter().enumerate().map(|(at, run)| Run { id: format!("id{at}"), ..run }).collect();
        let runs: Vec<&Run> = runs.iter().collect();
        let handles: Vec<String> = if handles { (1..=runs.len()).map(|n| n.to_string()).collect() } else { Vec::new() };
        let normalise = if ratio { Normalise::Ratio } else { Normalise::Gain };
        let options = compare::CompareOptions { handles: handles.clone(), normalise, ..compare::CompareOptions::default() };
        if let Ok(comparison) = compare::compare(&runs, &options) {
            let document = view::compare(&comparison, &CompareContext { handles: handles.clone(), ..CompareContext::default() });
            fits(&view::compare(&comparison, &CompareContext { handles, brief: true, ..CompareContext::default() }), 60);
            for table in document.tables() {
                let mut heads: Vec<&str> = table.columns.iter().skip(1).map(|column| column.title.as_str()).collect();
                prop_assert!(heads.iter().all(|head| !head.trim().is_empty()), "{heads:?}");
                // Headings of many machines are results, whose titles a document may repeat.
                if comparison.machines.len() <= 4 {
                    heads.sort_unstable();
                    let count = heads.len();
                    heads.dedup();
                    prop_assert_eq!(heads.len(), count);
                }
                for cell in table.rows().flat_map(|row| &row.cells) {
                    if let Cell::Interval(ends) = cell {
                        let known = ends.low.is_finite() && ends.high.is_finite() && ends.low <= ends.high;
                        prop_assert!(known, "{ends:?}");
                    }
                }
                let change = table.columns.iter().position(|column| column.title == "change");
                for cell in table.rows().filter_map(|row| row.cells.get(change?)) {
                    if let Cell::Text(text, _) = cell {
                        prop_assert!(!text.contains("not a number") && !text.contains("infinite"), "{text}");
                    }
                }
            }
        }
    }

    #[test]
    fn any_run_makes_a_page(run in run(), other in run()) {
        for runs in [vec![&run], vec![&run, &other]] {
            let input = ReportInput { runs: &runs, ..ReportInput::default() };
            let page = draw(&Html, &view::report(&input));
            prop_assert_eq!(page.matches("<script").count(), page.matches("</script").count());
        }
    }
}

#[test]
fn a_pipe_gets_a_line_for_each_row() {
    let runs: Vec<Run> = (1..=2).map(|i| fixture::sample_run(i, 1.0 + 0.1 * i as f64, true)).collect();
    let all: Vec<&Run> = runs.iter().collect();
    let comparison = compare::compare(&all, &compare::CompareOptions::default()).unwrap();
    for document in [
        view::compare(&comparison, &CompareContext::default()),
        view::run(&runs[0], &RunContext { handle: Some("7".into()), ..RunContext::default() }),
    ] {
        let text = draw(&Terminal { width: Terminal::ENDLESS, colour: false }, &document);
        for table in document.tables() {
            for row in table.rows() {
                let [Cell::Text(label, _), ..] = row.cells.as_slice() else { continue };
                let label = label.replace('\u{a0}', " ");
                let whole = text.lines().filter(|line| line.trim_start().starts_with(&format!("{label}  ")));
                assert!(whole.count() > 0, "{label} has no line of its own: {text}");
            }
        }
        assert_eq!(text.lines().filter(|line| line.starts_with("Next: ")).count(), 1);
        assert!(text.lines().last().unwrap().starts_with("Next: "), "{text}");
    }
}

#[test]
fn real_reports_fit_their_page() {
    let runs: Vec<Run> =
        (1..=4).map(|i| fixture::sample_run(i, 1.0 + 0.1 * i as f64, true)).chain([fixture::published_run()]).collect();
    let all: Vec<&Run> = runs.iter().collect();
    for count in [1, 2, 5] {
        let comparison = compare::compare(&all[..count], &compare::CompareOptions::default()).unwrap();
        let documents = [
            view::compare(&comparison, &CompareContext::default()),
            view::run(all[count - 1], &RunContext::default()),
            view::report(&ReportInput { runs: &all[..count], comparison: Some(&comparison), ..ReportInput::default() }),
        ];
        for width in [20, 31, 60, 80, 100, 200] {
            for document in &documents {
                fits(document, width);
            }
        }
    }
}
