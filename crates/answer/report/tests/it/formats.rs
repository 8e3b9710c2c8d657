//! The output of the formats, word for word, for a run whose numbers were checked by hand.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::fixture;

use model::{BenchmarkDescription, Catalogue, Class, Outcome, ParameterDescription, Primitive, Reference, Unit};
use report::view::{self, CompareContext, RunContext};
use report::{Csv, Document, JsonFormat, Markdown, ReportFormat, Terminal};

fn drawn(format: &dyn ReportFormat, document: &Document) -> String {
    let mut out = Vec::new();
    format.render(document, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn terminal(document: &Document) -> String {
    drawn(&Terminal::default(), document)
}

fn fixed() -> Document {
    let context =
        RunContext { handle: Some("3".into()), previous: Some("2".into()), stored: true, ..RunContext::default() };
    view::run(&fixture::fixed_run(), &context)
}

/// Compares a text with a file of expected texts, which `PRONY_BLESS=1` writes anew.
fn expect(name: &str, found: &str) {
    let path = format!("{}/tests/expected/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("PRONY_BLESS").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    assert_eq!(found, std::fs::read_to_string(&path).unwrap());
}

#[test]
fn the_terminal_shows_a_run() {
    expect("run.txt", &terminal(&fixed()));
}

#[test]
fn markdown_shows_a_run() {
    expect("run.md", &drawn(&Markdown, &fixed()).replace('\u{a0}', "~"));
}

#[test]
fn csv_holds_a_run_in_base_units() {
    assert_eq!(drawn(&Csv, &fixed()), include_str!("../expected/run.csv"));
}

#[test]
fn json_of_a_run_is_the_run_document() {
    let run = fixture::fixed_run();
    let text = drawn(&JsonFormat, &fixed());
    assert!(text.starts_with(&format!("{{\"schema\":{},", model::SCHEMA)));
    assert_eq!(model::parse_run(&text).unwrap(), run);
}

#[test]
fn a_published_run_has_no_known_spread() {
    let text = terminal(&view::run(&fixture::published_run(), &RunContext::default()));
    assert!(text.contains("imported from a printed evaluation, table 2"), "{text}");
    let line = text.lines().find(|line| line.contains("write 1 B to /dev/null")).unwrap();
    assert!(line.contains(" 11.6 µs ") && line.ends_with("no error bars"), "{line}");
    assert!(text.contains("14 results: 14 without error bars."), "{text}");
    assert!(!text.contains("95%"), "no interval is promised where there is none");
}

#[test]
fn incomplete_and_foreign_runs_are_marked() {
    let mut run = fixture::fixed_run();
    run.session.complete = false;
    run.session.ended_on.as_mut().unwrap().boot = "another".to_owned();
    let text = terminal(&view::run(&run, &RunContext { handle: Some("3".into()), ..RunContext::default() }));
    assert!(text.contains("the machine restarted during the run"));
    assert!(text.contains("the run was stopped before all results were finished"));
    assert!(text.contains("prony run --resume 3"));
    run.plan.time_limit = Some(run.session.seconds);
    let text = terminal(&view::run(&run, &RunContext::default()));
    assert!(text.contains("stopped at the time limit"), "{text}");
}

#[test]
fn the_parts_of_the_summary_add_up() {
    let mut run = fixture::fixed_run();
    let all = run.results.len();
    let mut clock = run.results[0].clone();
    (clock.benchmark, clock.parameters) = ("cpu.clock".to_owned(), model::Parameters::default());
    run.results.push(clock);
    let text = terminal(&view::run(&run, &RunContext::default()));
    let told = text.lines().find(|line| line.contains(" results in 1 min 47 s: ")).unwrap();
    assert!(told.contains(&format!("{all} results in")), "the clock that the run had was not asked for: {told}");
}

#[test]
fn an_empty_run_is_described_in_words() {
    let mut run = fixture::fixed_run();
    run.results.clear();
    let text = terminal(&view::run(&run, &RunContext::default()));
    assert!(text.contains("No result was measured.") && text.contains("0 results in 1 min 47 s."), "{text}");
}

#[test]
fn colour_adds_nothing_but_colour() {
    let document = view::run(&fixture::sample_run(5, 1.0, false), &RunContext::default());
    let coloured = drawn(&Terminal { width: 100, colour: true }, &document);
    assert!(coloured.contains("\u{1b}[1m"));
    let mut plain = String::new();
    let mut rest = coloured.as_str();
    while let Some(start) = rest.find("\u{1b}[") {
        plain.push_str(&rest[..start]);
        rest = &rest[start + rest[start..].find('m').unwrap() + 1..];
    }
    plain.push_str(rest);
    let trimmed: Vec<&str> = plain.lines().map(str::trim_end).collect();
    let expected = terminal(&document);
    assert_eq!(trimmed, expected.lines().collect::<Vec<_>>());
}

#[test]
fn numbers_of_one_unit_are_aligned_at_the_decimal_point() {
    let text = terminal(&view::run(&fixture::sample_run(5, 1.0, false), &RunContext::default()));
    let (mut places, mut checked) = (std::collections::BTreeMap::new(), 0);
    for line in text.lines() {
        if !line.starts_with("    ") {
            places.clear(); // Another family begins.
        }
        let units = [" GB/s ", " ns ", " µs ", " ms ", " files/s "];
        let Some((unit, name)) = units.iter().filter_map(|unit| Some((line.find(unit)?, *unit))).min() else {
            continue;
        };
        // What goes on below its row has no number of its own.
        if line.contains("modes") || line.starts_with("     ") {
            continue;
        }
        // The unit stands where the number ends; numbers of one unit have their decimal points below each other.
        let number = line[..unit].split("  ").last().unwrap().trim_start();
        let whole = number.split_once('.').map_or(number, |(whole, _)| whole);
        let end = line[..unit].chars().count() - number.chars().count() + whole.chars().count();
        assert!(number.starts_with(|c: char| c.is_ascii_digit() || c == '<'), "{number}: {line}");
        assert_eq!(*places.entry(name).or_insert(end), end, "{line}");
        checked += 1;
    }
    assert!(checked > 15, "{checked}: {text}");
}

#[test]
fn tabs_separate_the_columns_of_every_row() {
    let document = view::run(&fixture::sample_run(5, 1.0, false), &RunContext::default());
    let text = drawn(&report::Tsv, &document);
    let tables: Vec<&str> = text.split("\n\n").collect();
    assert_eq!(tables.len(), document.tables().count());
    for (lines, table) in tables.iter().zip(document.tables()) {
        let tabs: Vec<usize> = lines.lines().map(|line| line.matches('\t').count()).collect();
        assert!(tabs.iter().all(|count| *count == tabs[0]), "{lines}");
        assert_eq!(tabs.len(), 1 + table.rows().count(), "{lines}");
    }
    let value = |line: &str| line.split('\t').nth(2).map(str::to_owned);
    let call = text.lines().find(|line| line.contains("getppid")).and_then(value).unwrap();
    assert!(terminal(&document).contains(&call), "{call}: the same digits as on a terminal");
}

#[test]
fn two_runs_are_compared() {
    let mut a = fixture::sample_run(5, 1.0, false);
    let mut b = fixture::sample_run(6, 1.3, false);
    b.machine = a.machine.clone();
    let handles = vec!["2".to_owned(), "3".to_owned()];
    (a.label, b.label) = (None, None);
    let options = compare::CompareOptions { handles: handles.clone(), ..compare::CompareOptions::default() };
    let comparison = compare::compare(&[&a, &b], &options).unwrap();
    let context = CompareContext { handles, ..CompareContext::default() };
    let document = view::compare(&comparison, &context);
    let text = terminal(&document);
    assert!(text.starts_with("Run 3 vs baseline run 2: same machine, margin ±2%\n"), "{text}");
    assert!(text.contains("system call: getppid") && text.contains("slower"), "{text}");
    assert!(text.contains("all results") && text.contains("x slower") && !text.contains("times better"), "{text}");
    assert!(text.ends_with("Next: prony explain 2 3\n"), "{text}");
    let long = format!("prony explain {} other", "long-label-of-a-run".repeat(4));
    let both = Document { next: vec![long.clone(), "prony report 2".to_owned()], ..Document::new("title") };
    let wide = |width| drawn(&Terminal { width, colour: false }, &both);
    assert!(wide(60).ends_with(&format!("\nNext: {long}\n      prony report 2\n")), "{}", wide(60));
    assert!(wide(200).ends_with(&format!("\nNext: {long} · prony report 2\n")), "{}", wide(200));
    let json: serde_json::Value = serde_json::from_str(&drawn(&JsonFormat, &document)).unwrap();
    assert!(json["machines"].is_array() && json["rows"].is_array() && json["geometric_means"].is_array());
    let csv = drawn(&Csv, &document);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    assert!(reader.headers().unwrap().iter().any(|name| name == "verdict"));
    assert_eq!(reader.records().map(Result::unwrap).count(), comparison.rows.len() * 2);
    let explained = view::explain(
        &explain::explain(&a, &b, &explain::ExplainOptions::default()).unwrap(),
        &view::ExplainContext { details: true, command: None },
    );
    let text = terminal(&explained);
    assert!(text.contains("\narithmetic\n") && text.contains("common factor"), "{text}");
}

#[test]
fn five_runs_are_rows_with_their_ranks() {
    let runs: Vec<model::Run> = [1.0, 1.0, 1.3, 1.7, 2.2]
        .iter()
        .zip(5..)
        .map(|(factor, seed)| fixture::sample_run(seed, *factor, false))
        .collect();
    let runs: Vec<&model::Run> = runs.iter().collect();
    let comparison = compare::compare(&runs, &compare::CompareOptions::default()).unwrap();
    let text = terminal(&view::compare(&comparison, &CompareContext::default()));
    let last = &comparison.machines[4].name;
    let mut rows = text.lines().filter(|line| line.trim_start().starts_with(last.as_str()));
    assert!(rows.any(|line| line.contains("x slower (") && line.contains(" – ")), "no ratio with its interval: {text}");
    assert!(text.contains("\nranks\n") && text.contains(" · 5 "), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

fn described() -> BenchmarkDescription {
    BenchmarkDescription {
        id: "memory.load_latency".into(),
        title: "load latency".into(),
        about: "Follows one random cycle of pointers.".into(),
        metric: model::Metric::lower(Unit::Seconds, "load"),
        class: Class::MemoryLatency,
        stresses: vec![Primitive::CacheLatency, Primitive::DramLatency],
        usual: true,
        key: Vec::new(),
        operation: None,
        expected: Vec::new(),
        sources: vec![Reference {
            tool: "lmbench".into(),
            name: "lat_mem_rd".into(),
            document: "USENIX ATC 1996".into(),
            at: model::Parameters::none(),
            definition: model::Definition::Near("longer blocks".to_owned()),
        }],
        parameters: vec![ParameterDescription {
            name: "working_set".into(),
            values: (0..19).map(|i| model::format_size(4096 << i)).collect(),
            usual: vec!["64MiB".into()],
        }],
    }
}

#[test]
fn a_benchmark_is_explained() {
    let text = terminal(&view::benchmark(&described()));
    for words in [
        "memory.load_latency: load latency\n",
        "time per load; lower is better",
        "cache latency and DRAM latency",
        "similar to            lmbench lat_mem_rd (USENIX ATC 1996): longer blocks",
        "19 values from 4 KiB to 1 GiB",
        "Next: prony run --benchmark memory.load_latency",
    ] {
        assert!(text.contains(words), "{words} in {text}");
    }
    let text = terminal(&view::catalogue(&Catalogue { benchmarks: vec![described()] }));
    assert!(text.contains("1 benchmark") && text.contains("  memory.load_latency  load latency"), "{text}");
}

#[test]
fn markup_in_names_stays_text() {
    let mut run = fixture::fixed_run();
    run.results[0].title = "a|b <b>`x`</b> *c*\n| d".to_owned();
    run.results[1].outcome = Outcome::Failed("\u{1b}[31m| red".to_owned());
    let document = view::run(&run, &RunContext::default());
    let markdown = drawn(&Markdown, &document);
    assert!(markdown.contains(r"a\|b &lt;b&gt;\`x\`&lt;/b&gt; \*c\* \| d"), "{markdown}");
    assert!(!terminal(&document).contains('\u{1b}'));
}

#[test]
fn unknown_formats_name_the_known_ones() {
    let error = report::by_name("pdf", 100, false).err().unwrap().to_string();
    assert_eq!(error, "could not find a format named 'pdf'; choose one of terminal, json, csv, tsv, html, markdown");
    for (name, _) in report::FORMATS {
        assert!(report::by_name(name, 80, false).is_ok());
    }
}

/// Writes the expected output, which must be checked by hand before it is kept: `PRONY_EXPECTED=tests/expected cargo
/// test`.
#[test]
fn write_expectations() {
    let Some(folder) = std::env::var_os("PRONY_EXPECTED").map(std::path::PathBuf::from) else { return };
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("run.txt"), terminal(&fixed())).unwrap();
    std::fs::write(folder.join("run.md"), drawn(&Markdown, &fixed()).replace('\u{a0}', "~")).unwrap();
    std::fs::write(folder.join("run.csv"), drawn(&Csv, &fixed())).unwrap();
}

/// The fixed run with its first measured results at these levels, each as wide as its target allows.
fn at_levels(levels: &[f64]) -> model::Run {
    let mut run = fixture::fixed_run();
    let measured = run.results.iter_mut().filter(|result| result.outcome.estimate().is_some());
    for (result, level) in measured.zip(levels) {
        let Outcome::Measured(estimate) = &mut result.outcome else { unreachable!("only measured results are taken") };
        (estimate.low, estimate.high) = (0.99 * estimate.value, 1.01 * estimate.value);
        (estimate.level, estimate.samples) = (*level, 6);
        result.flags.clear();
        result.samples = vec![model::Sample::default(); 6];
    }
    run
}

#[test]
fn every_format_shows_lower_levels_and_marks_ranges() {
    for (level, words, code) in [(0.939, "at 93%", "0.939"), (0.75, "min–max", "range"), (0.0, "min–max", "range")]
    {
        let document = view::run(&at_levels(&[level]), &RunContext::default());
        for (name, text) in [
            ("terminal", drawn(&Terminal::default(), &document)),
            ("markdown", drawn(&Markdown, &document)),
            ("html", drawn(&report::Html, &document)),
        ] {
            let text = text.replace('\u{a0}', " ");
            assert!(text.contains(words), "{name} at {level}: {text}");
        }
        assert!(drawn(&Csv, &document).contains(code), "csv at {level}");
    }
    let usual = drawn(&Terminal::default(), &view::run(&at_levels(&[0.96]), &RunContext::default()));
    assert!(!usual.contains(" at ") && !usual.contains("min–max"), "{usual}");
}

#[test]
fn unconfirmed_results_are_not_counted_as_within() {
    let within = |run: &model::Run| {
        let text = terminal(&view::run(run, &RunContext::default())).replace("\n  ", " ");
        text.rsplit_once("in 1 min 47 s: ").unwrap().1.to_owned()
    };
    assert!(within(&at_levels(&[0.96, 0.99, 0.95, 0.99])).starts_with("4 within ±2%"));
    assert!(within(&at_levels(&[0.949, 0.75, 0.0, 0.99])).starts_with("1 within ±2%, 3 unconfirmed"));
    for flag in [model::Flag::Unfinished, model::Flag::CannotConverge] {
        let mut run = at_levels(&[0.96, 0.99, 0.95, 0.99]);
        let result = run.results.iter_mut().find(|result| result.outcome.estimate().is_some()).unwrap();
        result.flags.push(flag);
        let said = within(&run);
        assert!(said.starts_with("3 within ±2%"), "{said}");
        // Their ends are within it: whatever they lack, they are not wider.
        assert!(said.contains("1 unconfirmed") && !said.contains("wider"), "{said}");
    }
    // A range of few samples within the target is no proof, and no failure to reach it.
    let mut few = at_levels(&[0.75]);
    let result = few.results.iter_mut().find(|result| result.outcome.estimate().is_some()).unwrap();
    result.flags.push(model::Flag::CannotConverge);
    assert!(terminal(&view::run(&few, &RunContext::default())).contains("±2% unconfirmed"));
}
