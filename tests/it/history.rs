//! `prony history` on a store of planted nights.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

use model::{Estimate, Fact, FactValue, Outcome, Run};
use store::Access;

use crate::common::Place;

/// Night on which a kernel makes system calls slower.
const NIGHT: usize = 30;

/// A store with forty nights of one machine.
fn nights() -> Place {
    let place = Place::with_a_run();
    let measured: Run = serde_json::from_slice(&std::fs::read(place.file("a.json")).unwrap()).unwrap();
    std::fs::remove_file(place.file("runs.sqlite")).unwrap();
    let mut rng = stats::simulate::generator(4);
    let runs: Vec<Run> = (0..40)
        .map(|night| {
            let mut run = Run { id: format!("night-{night}"), ..measured.clone() };
            run.session.started = format!("2026-{:02}-{:02}T02:00:00Z", 10 + night / 28, night % 28 + 1);
            run.machine.facts.retain(|fact| fact.name != "kernel.release");
            run.machine.facts.push(Fact {
                name: "kernel.release".to_owned(),
                value: FactValue::Text(if night < NIGHT { "6.1.112" } else { "6.1.119" }.to_owned()),
                unit: None,
                source: "a test".to_owned(),
                affects: vec![model::Primitive::SyscallEntry],
            });
            for result in run.results.iter_mut().filter(|result| result.benchmark.starts_with("os.")) {
                let slower = if night >= NIGHT && result.benchmark == "os.syscall_write" { 1.31 } else { 1.0 };
                let factor = slower * (0.01 * stats::simulate::standard_normal(&mut rng)).exp();
                let mut estimate = result.outcome.estimate().copied().unwrap_or(Estimate::without_spread(1.0));
                (estimate.value, estimate.low, estimate.high) = (1e-7 * factor, 0.995e-7 * factor, 1.005e-7 * factor);
                result.outcome = Outcome::Measured(estimate);
                result.flags.clear();
            }
            run
        })
        .collect();
    store::open(&place.file("runs.sqlite"), Access::Write).unwrap().put_all(&runs).unwrap();
    place
}

#[test]
fn a_step_is_told_with_its_night_and_what_changed_with_it() {
    let place = nights();
    let said = place.ask(&["history"]).fine().out;
    let text = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("slower"), "{said}");
    assert!(text.contains("since 2026-11-03 (run 31), at the same time: kernel.release 6.1.112 -> 6.1.119"), "{said}");
    assert!(text.contains("1.3") && said.contains('█') && text.contains("no change"), "{said}");
    let json = place.ask(&["history", "--format", "json"]).fine().json();
    assert_eq!((json["events"].as_array().unwrap().len(), &json["events"][0]["run"]), (1, &serde_json::json!(30)));
    let rows = place.ask(&["history", "os.syscall_write", "--format", "csv"]).fine().out;
    assert_eq!(rows.lines().count(), 41, "{rows}");
    // Nothing happened since then.
    let later = place.ask(&["history", "--since", "2026-11-10"]).fine().out;
    assert!(later.contains("No change was found"), "{later}");
}

#[test]
fn the_page_is_one_file_without_requests() {
    let place = nights();
    place.ask(&["history", "--output", "history.html"]).fine();
    let page = std::fs::read_to_string(place.file("history.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("kernel.release"), "charts and ledger");
    assert!(!page.contains("src=\"http") && !page.contains("href=\"http"), "no request");
}

#[test]
fn what_is_not_there_is_said_in_one_line() {
    let place = nights();
    for (words, wanted) in [
        (&["history", "os.nothing"][..], "no result of"),
        (&["history", "--machine", "elsewhere"], "there is no run of a machine named elsewhere; the machines are"),
        (&["history", "--since", "yesterday"], "is not a day; write one such as 2026-11-03"),
        (&["history", "--store", "none.sqlite"], "there is no store none.sqlite"),
    ] {
        let said = place.ask(words);
        assert_eq!(said.code, Some(2), "{words:?}: {}", said.err);
        assert!(said.err.contains(wanted), "{words:?}: {}", said.err);
    }
}

#[test]
fn few_runs_have_no_verdict() {
    let place = Place::with_two_runs();
    let said = place.ask(&["history"]).fine().out;
    assert!(said.contains("No verdict: a change needs 11 runs of a metric, and there are 2 at most"), "{said}");
}
