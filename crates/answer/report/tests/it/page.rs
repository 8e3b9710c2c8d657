//! The HTML report: no injection, fast rendering, and no complaint of a real browser.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::browser;
use crate::fixture;

use std::time::Instant;

use model::{FactValue, Run};
use report::view::{self, ReportInput};
use report::{Block, Chart, ChartPlot, Html, ReportFormat};

pub(crate) fn page(runs: &[&Run]) -> String {
    let comparison = (runs.len() > 1).then(|| compare::compare(runs, &compare::CompareOptions::default()).unwrap());
    let explanation =
        (runs.len() == 2).then(|| explain::explain(runs[0], runs[1], &explain::ExplainOptions::default()).unwrap());
    let input = ReportInput {
        catalogue: benchmarks::catalogue(),
        runs,
        comparison: comparison.as_ref(),
        explanation: explanation.as_ref(),
        ..ReportInput::default()
    };
    let mut out = Vec::new();
    Html.render(&view::report(&input), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

pub(crate) fn single() -> String {
    page(&[&fixture::sample_run(5, 1.0, true)])
}

pub(crate) fn two() -> String {
    page(&[&fixture::sample_run(5, 1.0, true), &fixture::rated(fixture::sample_run(6, 1.12, true), 1.12)])
}

pub(crate) fn several() -> String {
    let runs: Vec<Run> = [1.0, 1.15, 0.8, 1.4]
        .iter()
        .enumerate()
        .map(|(i, f)| fixture::rated(fixture::sample_run(i as u64 + 1, *f, true), *f))
        .chain([fixture::published_run()])
        .collect();
    page(&runs.iter().collect::<Vec<_>>())
}

fn many(number: usize) -> String {
    let runs: Vec<Run> = (0..number as u64).map(|i| fixture::sample_run(i + 1, 1.0 + i as f64 * 0.03, true)).collect();
    page(&runs.iter().collect::<Vec<_>>())
}

/// A run in which every text of foreign origin tries to inject code.
fn hostile() -> Run {
    let evil = "</script><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">\"'&<!--\u{202e}";
    let mut run = fixture::sample_run(5, 1.0, true);
    run.id = format!("id{evil}");
    run.label = Some(evil.to_owned());
    run.machine.name = evil.to_owned();
    run.machine.summary = evil.to_owned();
    run.session.notes = vec![evil.to_owned()];
    run.session.started = evil.to_owned();
    for fact in &mut run.machine.facts {
        fact.name = format!("{}{evil}", fact.name);
        fact.value = FactValue::Text(evil.to_owned());
        fact.unit = Some(evil.to_owned());
    }
    for result in &mut run.results {
        result.title = evil.to_owned();
        result.metric.per = evil.to_owned().into();
        result.notes = vec![evil.to_owned()];
        result.variant = Some(evil.to_owned());
        result.parameters = result.parameters.clone().with(evil.replace(['=', ','], ""), evil.replace(',', ""));
    }
    run
}

/// Texts of the elements of a page that begin with `start`.
fn texts<'a>(page: &'a str, start: &'a str, end: &'a str) -> impl Iterator<Item = &'a str> {
    page.split(start).skip(1).filter_map(move |rest| rest.split(end).next())
}

#[test]
fn captions_are_short_and_no_heading_has_the_old_words() {
    for page in [single(), two(), several()] {
        let captions: Vec<&str> = texts(&page, "<figcaption>", "</figcaption>")
            .flat_map(|figure| texts(figure, "<p class=\"muted\">", "</p>"))
            .chain(texts(&page, "<caption>", "</caption>"))
            .collect();
        assert!(!captions.is_empty(), "{page}");
        for caption in captions {
            assert!(caption.matches(". ").count() < 3 && caption.split(' ').count() <= 32, "{caption}");
        }
        let headings = ["<h2>", "<h3>", "<summary>"].into_iter().flat_map(|start| texts(&page, start, "</"));
        for heading in headings.chain(texts(&page, "<div class=\"card", "</div>")) {
            for word in ["against", "surely", "undecided", "by itself", "meanwhile", "normalised", "spread assumed"] {
                assert!(!heading.to_lowercase().contains(word), "{heading}");
            }
        }
    }
}

#[test]
fn a_forest_plot_has_a_legend() {
    let page = two();
    for (sign, word) in [("▲", "better"), ("▼", "worse"), ("■", "no change"), ("◆", "inconclusive or not tested")]
    {
        assert!(page.contains(&format!("{sign} </span>{word}</li>")), "{word}");
    }
    assert!(page.contains("<li>hollow: no error bars</li>"));
}

#[test]
fn texts_of_run_documents_do_not_inject() {
    let mut other = hostile();
    other.id.push('2');
    for text in [page(&[&hostile()]), page(&[&hostile(), &other])] {
        assert!(!text.contains("<img"), "an element was injected");
        assert!(!text.contains("<script>document"), "a script was injected");
        assert_eq!(text.matches("<script").count(), 3, "its own script and two blocks of data");
        assert_eq!(text.matches("</script").count(), 3);
        assert!(!text.contains("<!--"));
        assert!(!text.contains('\u{202e}'), "neighbouring text would be reversed");
    }
}

#[test]
fn the_page_makes_no_network_request() {
    for text in [single(), two(), several()] {
        for word in ["http://", "https://", "src=", "@import", "url(", "fetch("] {
            let allowed = text.matches(word).count() == 0;
            assert!(allowed, "{word} stands in the page");
        }
    }
}

#[test]
fn twenty_runs_make_a_page_of_reasonable_size() {
    let number = testing::trials(4, 20);
    let began = Instant::now();
    let text = many(number);
    eprintln!(
        "{number} runs of 137 results: {} KiB in {:.2} s, inventing them included (the promise of 2 s is for a release build)",
        text.len() / 1024,
        began.elapsed().as_secs_f64()
    );
    assert!(text.len() < number * ((8 << 20) / 20), "{} bytes", text.len());
}

/// What a page of many runs contains for download is small, and its answer stands on the first screen.
#[test]
fn a_page_of_many_runs_has_no_samples_few_notes_and_rows_for_curves() {
    let runs: Vec<Run> = (0..20u64)
        .map(|at| {
            let mut run = fixture::sample_run(at + 1, 1.0 + at as f64 * 0.03, true);
            run.machine.name = format!("node{at}");
            run.label = Some(format!("node{at}"));
            let conditions = model::Conditions { load: Some(4.0 + at as f64), cpus: Some(2), ..Default::default() };
            run.session.conditions = conditions;
            run
        })
        .collect();
    let one: Vec<&Run> = runs.iter().take(1).collect();
    let data = |runs: &[&Run]| {
        let input = ReportInput { runs, ..ReportInput::default() };
        serde_json::from_str::<serde_json::Value>(view::report(&input).data.unwrap().text()).unwrap()
    };
    let samples = |data: &serde_json::Value| data["runs"][0]["results"][0]["samples"].as_array().unwrap().len();
    assert!(samples(&data(&one)) > 0);
    let sample = data(&one)["runs"][0]["results"][0]["samples"][0].clone();
    assert!(sample["value"].as_f64().is_some() && sample["nanos"] == serde_json::json!([]), "{sample}");
    let all: Vec<&Run> = runs.iter().collect();
    assert_eq!(samples(&data(&all)), 0);
    let text = page(&all);
    let (top, rest) = text.split_once("<main>").unwrap();
    assert_eq!(top.matches("load before the run").count(), 3, "a few sentences, and the names of some others");
    assert!(top.contains("node3, node4") && top.contains("and 7 more"), "{top}");
    assert_eq!(rest.matches("load before the run").count(), 17, "the others stand among the notes");
    let tails = rest.split("<h2>Latency distributions</h2>").nth(1).unwrap().split("</section>").next().unwrap();
    assert!(!tails.contains("result class=\"small\""), "no chart of so many curves");
    assert!(tails.contains("node19") && tails.contains("p99.9"), "{tails}");
}

/// Curves of many runs over a size stand in several charts, those of one set of parameters together, and none is left
/// out.
#[test]
fn no_chart_over_sizes_has_more_curves_than_can_be_told_apart() {
    let runs: Vec<Run> = (0..20u64)
        .map(|at| Run { label: Some(format!("node{at}")), ..fixture::sample_run(at + 1, 1.0, true) })
        .collect();
    let over_size = |number: usize| {
        let some: Vec<&Run> = runs.iter().take(number).collect();
        let document = view::report(&ReportInput { runs: &some, ..ReportInput::default() });
        let sections = document.sections.into_iter().filter(|section| section.title.ends_with(" over size"));
        let charts = sections.flat_map(|section| section.blocks).filter_map(|block| match block {
            Block::Chart(chart) => Some(chart),
            _ => None,
        });
        charts.collect::<Vec<_>>()
    };
    let series = |chart: &Chart| match &chart.plot {
        ChartPlot::Curves(curves) => curves.series.clone(),
        other => panic!("{other:?}"),
    };
    let few = over_size(2);
    let kinds: usize = few.iter().map(|chart| series(chart).len()).sum::<usize>() / 2;
    assert!(kinds > 1 && few.iter().all(|chart| !chart.title.contains(" of ")), "one chart of a benchmark");
    let many = over_size(20);
    let all: Vec<String> = many.iter().flat_map(&series).map(|one| one.name).collect();
    assert_eq!(all.len(), 20 * kinds);
    assert!(many.len() > few.len() && many.iter().all(|chart| (1..=16).contains(&series(chart).len())));
    assert!(many.iter().any(|chart| chart.title.ends_with(" (2 of 4)")), "{:?}", many[0].title);
}

/// Without this test, a harness that reports nothing would pass every page.
#[test]
fn the_browser_reports_complaints() {
    let Some(browser) = browser::find() else { return };
    let page = "<!DOCTYPE html><h1>x</h1><img src='http://127.0.0.1:9/x.png'><script>console.error('no'); undefined_function()</script>";
    let seen = browser.open("broken", page);
    assert!(seen.complaints.len() >= 2, "{:?}", seen.complaints);
    assert!(seen.requests.iter().any(|url| url.contains("127.0.0.1:9")), "{:?}", seen.requests);
}

#[test]
fn a_browser_renders_it_without_complaint() {
    let Some(browser) = browser::find() else {
        testing::skip!("no chromium here, so that no page was drawn");
        return;
    };
    let mut pages = vec![("hostile", page(&[&hostile()])), ("two", two())];
    if testing::slow(
        "drawing pages of one and of several runs; those of one with hostile texts and of two stand for them",
    ) {
        pages.extend([("single", single()), ("several", several())]);
    }
    for (name, text) in pages {
        let seen = browser.open(name, &text);
        assert!(seen.complaints.is_empty(), "{name}: {:?}", seen.complaints);
        assert!(seen.dom.contains("<h1>"), "{name} was not drawn");
        assert!(!seen.dom.contains("<title>broken"), "{name}: a script of the document ran");
        assert!(seen.dom.contains("data-unpacked=\"yes\""), "{name}: the data could not be unpacked");
        assert!(seen.requests.is_empty(), "{name} asked for {:?}", seen.requests);
    }
}

#[test]
fn a_farm_has_its_timeline_its_nodes_and_its_event_log() {
    use model::{FarmIncident, FarmNode, FarmRecord, FarmWindow};
    let node =
        |name: &str| FarmNode { node: name.to_owned(), chunks: 12, efficiency: Some(0.9), ..FarmNode::default() };
    let window = |at: u32| FarmWindow { began: f64::from(at), wall: 1.0, events: vec![10, 20 + u64::from(at)] };
    let joined = FarmIncident { since: 0.4, what: "joined".to_owned(), node: "n1".to_owned(), ..Default::default() };
    let mut run = fixture::sample_run(5, 1.0, false);
    let without = page(&[&run]);
    run.session.farm = Some(FarmRecord {
        nodes: vec![node("n1"), node("n2")],
        windows: (0..6).map(window).collect(),
        incidents: vec![joined],
    });
    let with = page(&[&run]);
    for part in
        ["<h2>Throughput</h2>", "throughput over time", "<h2>Nodes</h2>", "<h2>Event log</h2>", "0.40 s: joined n1"]
    {
        assert!(with.contains(part) && !without.contains(part), "{part}");
    }
    assert_eq!(with.matches("<figure").count(), without.matches("<figure").count() + 2);
    assert!(with.contains("up to 25"), "the work of each node: {with}");
}

#[test]
fn paper_shows_what_the_page_folds() {
    let Some(browser) = browser::find() else {
        testing::skip!("no chromium here, so that no page was printed");
        return;
    };
    let folded = two();
    let without = folded.replace("<details>", "<details hidden>");
    let open = folded.replace("<details>", "<details open>");
    let [folded, without, open] =
        [("folded", folded), ("without", without), ("open", open)].map(|(name, text)| browser.sheets(name, &text));
    assert!(without < open, "{without} sheets without what is folded, {open} with it");
    assert_eq!(folded, open, "{without} sheets without what is folded");
}

/// Two runs, one of them with names longer than a line and nothing measured; the other has charts.
fn long_names() -> String {
    let mut none = fixture::sample_run(6, 1.1, true);
    none.id.push('6');
    none.label = Some("x".repeat(300));
    none.machine.name = "node.".repeat(40);
    for result in &mut none.results {
        result.outcome = model::Outcome::NotMeasured("it goes on for longer than a line has room for, ".repeat(4));
        result.samples.clear();
    }
    page(&[&none, &fixture::sample_run(5, 1.0, true)])
}

/// Plans that lie side by side at the right edge, as those of a choice do.
fn scatter() -> String {
    use model::Unit;
    let bare = |value: f64| report::PrintedQuantity::bare(value, Unit::Count);
    let parameter = |title: &str| report::ChartAxis {
        title: title.to_owned(),
        unit: Unit::Count,
        division: report::Division::Linear,
    };
    let plan = |at: usize| {
        let x = if at.is_multiple_of(3) { 10.0 - 0.01 * at as f64 } else { at as f64 };
        (format!("{at} rented, 16 cores, 6 bought, 32 cores"), bare(x), bare(8.0 + 0.1 * at as f64))
    };
    let plot = ChartPlot::Scatter(report::ScatterPlot {
        x: parameter("rate"),
        y: parameter("cost"),
        points: (0..12).map(plan).collect(),
        slope: None,
        marked: Some(9),
    });
    let mut document = report::Document::new("plans");
    let chart = Chart { title: "plans".to_owned(), about: String::new(), plot };
    document.sections.push(report::DocumentSection::of("plans", Block::Chart(chart)));
    let mut out = Vec::new();
    Html.render(&document, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn no_page_is_wider_than_its_window_and_no_text_of_a_drawing_is_cut_or_lies_over_another() {
    let Some(browser) = browser::find() else {
        testing::skip!("no chromium here, so that no page was drawn");
        return;
    };
    let broken = "<!DOCTYPE html><meta http-equiv=\"Content-Security-Policy\" content=\"\"><div style='width:3000px'>x</div>\
                  <figure><svg width='90' height='20'><text x='80' y='10'>cut</text><text x='78' y='11'>over</text></svg></figure>";
    assert_eq!(browser.layout("broken", broken, 1400).len(), 4, "{:?}", browser.layout("broken", broken, 1400));
    let mut pages = vec![("names", long_names()), ("scatter", scatter())];
    if testing::slow("the layout of further pages; those with long names and of a scatter plot stand for them") {
        pages.extend([("single", single()), ("two", two()), ("several", several()), ("hostile", page(&[&hostile()]))]);
    }
    for (name, text) in pages {
        for width in [1400, 380] {
            assert_eq!(browser.layout(name, &text, width), [""; 0], "{name} at {width}");
        }
    }
}

/// Writes the pages to the directory named by `PRONY_PAGES`, for inspection.
#[test]
fn write_pages() {
    let Some(folder) = std::env::var_os("PRONY_PAGES").map(std::path::PathBuf::from) else { return };
    for (name, text) in [
        ("single", single()),
        ("two", two()),
        ("several", several()),
        ("hostile", page(&[&hostile()])),
        ("twenty", many(20)),
    ] {
        std::fs::write(folder.join(format!("{name}.html")), text).unwrap();
    }
}
