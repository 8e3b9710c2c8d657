//! `prony compare` through the program: stored runs, published machines, and a run against itself.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

use crate::common::{Place, TINY};

/// The comparison that the end of a run suggests is one that works.
#[test]
fn only_a_run_with_a_result_in_common_is_suggested_for_comparison() {
    let place = Place::with_a_run();
    let other = ["run", "--benchmark", "os.select", "--target", "50", "--no-rulers", "--max-samples", "8"];
    assert!(!place.ask(&other).fine().out.contains("prony compare"), "run 1 has none of its results");
    assert!(place.ask(TINY).fine().out.contains("prony compare 1 3"), "run 2 has none of its results");
}

#[test]
fn two_runs_compare_by_number_label_and_file() {
    let mut place = Place::with_two_runs();
    let mut number = 0;
    testing::attempts(5, || {
        number += 1;
        if number > 1 {
            place = Place::new();
            place.ask(&[TINY, &["--output", "a.json"]].concat()).fine();
            place.ask(TINY).fine();
        }
        place.ask(&["runs", "label", "1", "a"]).fine();
        place.ask(&["runs", "label", "2", "b"]).fine();
        for (first, second) in [("1", "2"), ("a", "b"), ("./a.json", "latest")] {
            let found = place.ask(&["compare", first, second, "--format=json"]).fine().json();
            let rows = found["rows"].as_array().unwrap();
            assert_eq!(rows.len(), 2);
            for row in rows {
                let ratio =
                    row["ratios"].as_array().unwrap().iter().find(|ratio| ratio["verdict"].is_string()).unwrap();
                // Other load may split a measurement into modes, which have no single ratio.
                let [Some(low), Some(value), Some(high)] = ["low", "value", "high"].map(|name| ratio[name].as_f64())
                else {
                    return Err(format!("no ratio: {ratio}"));
                };
                assert!(low <= value && value <= high, "{ratio}");
            }
            assert!(found["machines"].as_array().unwrap().len() == 2 && found["geometric_means"].is_array());
        }
        Ok(())
    });
    for format in ["terminal", "csv", "markdown"] {
        assert!(!place.ask(&["compare", "1", "2", "--format", format]).fine().out.is_empty());
    }
    let said = place.ask(&["compare", "1", "nobody"]).refused();
    assert!(said.contains("nobody"), "{said}");
}

#[test]
fn a_folder_names_its_documents_in_order() {
    let place = Place::new();
    let sample = include_str!("../../crates/core/model/tests/run.json");
    std::fs::create_dir_all(place.file("runs/empty")).unwrap();
    std::fs::write(place.file("runs/notes.txt"), "no run").unwrap();
    for name in ["b", "a"] {
        std::fs::write(place.file(&format!("runs/{name}.json")), sample.replace("-5d07", &format!("-{name}"))).unwrap();
    }
    for name in ["runs/", "./runs", "runs"] {
        let shown = place.ask(&["show", name, "--format=json"]).fine().json();
        let ids: Vec<_> = shown.as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap()).collect();
        assert_eq!(ids, ["20261124T231500Z-example-a", "20261124T231500Z-example-b"], "{name}");
    }
    place.ask(&["compare", "runs/"]).fine();
    let said = place.ask(&["compare", "runs/empty"]).refused();
    assert!(said.contains("there is no run document") && said.contains("runs/empty"), "{said}");
}

#[test]
fn what_explains_names_runs_as_what_compares() {
    let place = Place::with_two_runs();
    let title = |command: &str, a: &str, b: &str| {
        let said = place.ask(&[command, a, b]).fine().out;
        said.lines().next().unwrap().split(',').next().unwrap().to_lowercase()
    };
    for (a, b, head) in [("1", "2", "run 2 against run 1"), ("1", "./b.json", "b.json against run 1")] {
        assert!(title("explain", a, b).starts_with(head), "{}", title("explain", a, b));
        assert!(title("compare", a, b).starts_with(head), "{}", title("compare", a, b));
    }
}

#[test]
fn a_published_machine_is_compared_to_a_present_one() {
    let place = Place::with_a_run();
    let said =
        place.ask(&["compare", "published:babar-cpu-1998", "1", "--results", "os.syscall_write", "--all"]).fine().out;
    assert!(said.to_lowercase().contains("system call") || said.contains("syscall"), "{said}");
}

#[test]
fn many_machines_are_rows_and_sorting_moves_only_rows() {
    let place = Place::new();
    let table = ["compare", "published:babar-cpu-1998", "--results", "os.syscall_write"];
    let sorted = ["compare", "published:babar-cpu-1998/amd-k6-200-mhz", "--sort", "os.syscall_write"];
    let said = place.ask(&[&sorted[..], &table[1..]].concat()).fine().out;
    assert!(said.starts_with("12 runs against AMD K6/200 MHz"), "{said}");
    let row = |name: &str| {
        let found = said.lines().position(|line| line.trim_start().starts_with(name) && line.contains("x "));
        found.unwrap_or_else(|| panic!("no row of {name} in {said}"))
    };
    assert!(row("Sun Ultra60/360 MHz") < row("IBM F50/166 MHz") && row("IBM F50/166 MHz") < row("IBM 43P/200 MHz"));
    assert!(said.contains("neither result states a spread"), "{said}");
    let refused = place.ask(&[&table[..], &["--across", "colour"]].concat()).refused();
    assert!(refused.contains("could not compare across 'colour'"), "{refused}");
}

#[test]
fn a_published_machine_eleven_times_slower_is_called_slower_under_an_assumption() {
    let place = Place::new();
    let pair = ["compare", "published:cyberlife-2004/appserver.geo", "published:cyberlife-2004/beastie.lab"];
    let found = place.ask(&[&pair[..], &["--format=json"]].concat()).fine().json();
    let tally = &found["machines"][1]["tally"];
    assert!(tally["assumed"].as_u64().unwrap() >= 8 && tally["different"] == 0, "{tally}");
    let script = found["rows"].as_array().unwrap().iter().find(|row| row["benchmark"] == "shell.script").unwrap();
    let ratio = &script["ratios"][1];
    assert_eq!((&ratio["verdict"], &ratio["direction"]), (&"DIFFERENT_SPREAD_ASSUMED".into(), &"slower".into()));
    for part in ["reference_rounding", "rounding", "floor", "low", "high"] {
        assert!(ratio["assumed"][part].as_f64().unwrap() > 0.0, "{ratio}");
    }
    let brief = place.ask(&pair).fine().out;
    assert!(brief.contains("SLOWER 0") && brief.contains("different, spread assumed"), "{brief}");
    let said = place.ask(&[&pair[..], &["--all"]].concat()).fine().out;
    assert!(said.starts_with("beastie.lab against appserver.geo"), "{said}");
    for words in ["DIFFERENT, spread assumed", "x slower", "session floor 5%", "printed digits to within"] {
        assert!(said.contains(words), "{words} is missing from {said}");
    }
    assert!(!said.contains("times better"), "{said}");
    // No gate fails because of an assumption, and results that were not tested do not pass.
    let gate = |more: &[&str]| place.ask(&[&pair[..], &["--fail-on", "slower:50"], more].concat()).code;
    assert_eq!(gate(&[]), Some(3));
    assert_eq!(gate(&["--inconclusive", "pass"]), Some(0));
    assert_eq!(gate(&["--inconclusive", "fail"]), Some(1));
}

#[test]
fn a_run_against_itself_is_called_the_same_run() {
    let place = Place::with_a_run();
    let said = place.ask(&["compare", "1", "1", "--all"]).fine().out;
    assert!(said.contains("are the same run") && said.contains("(the same run;"), "{said}");
    assert!(said.contains("SAME 2") && !said.contains("NaN"), "{said}");
    let heads: Vec<&str> = said.lines().find(|line| line.contains("verdict")).unwrap().split("  ").collect();
    let heads: Vec<&str> = heads.into_iter().map(str::trim).filter(|head| !head.is_empty()).collect();
    assert!(heads.iter().enumerate().all(|(at, head)| !heads[at + 1..].contains(head)), "{heads:?}");
    assert_eq!(place.ask(&["compare", "1", "1", "--fail-on", "slower"]).code, Some(3), "nothing was tested");
}
