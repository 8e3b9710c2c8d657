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
    let title = |verb: &str, a: &str, b: &str| {
        let said = place.ask(&[verb, a, b]).fine().out;
        said.lines().next().unwrap().to_lowercase()
    };
    for (a, b, names) in [("1", "2", ["run 2 ", "run 1"]), ("1", "./b.json", ["b.json ", "run 1"])] {
        for verb in ["explain", "compare"] {
            let title = title(verb, a, b);
            assert!(title.starts_with(names[0]) && title.contains(names[1]), "{verb}: {title}");
        }
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
    assert!(said.starts_with("12 runs vs baseline AMD K6/200 MHz"), "{said}");
    let row = |name: &str| {
        let found = said.lines().position(|line| line.trim_start().starts_with(name) && line.contains("x "));
        found.unwrap_or_else(|| panic!("no row of {name} in {said}"))
    };
    assert!(row("Sun Ultra60/360 MHz") < row("IBM F50/166 MHz") && row("IBM F50/166 MHz") < row("IBM 43P/200 MHz"));
    assert!(said.contains("neither result has error bars"), "{said}");
    let refused = place.ask(&[&table[..], &["--across", "colour"]].concat()).refused();
    assert!(refused.contains("could not compare across 'colour'"), "{refused}");
}

#[test]
fn a_published_machine_eleven_times_slower_is_called_slower_under_an_assumption() {
    let place = Place::new();
    let pair = ["compare", "published:cyberlife-2004/appserver.geo", "published:cyberlife-2004/beastie.lab"];
    let found = place.ask(&[&pair[..], &["--format=json"]].concat()).fine().json();
    let tally = &found["machines"][1]["tally"];
    assert!(tally["probable"].as_u64().unwrap() >= 8 && tally["slower"] == 0, "{tally}");
    let script = found["rows"].as_array().unwrap().iter().find(|row| row["benchmark"] == "shell.script").unwrap();
    let ratio = &script["ratios"][1];
    assert_eq!(ratio["verdict"], "probably slower");
    for part in ["reference_rounding", "rounding", "floor", "low", "high"] {
        assert!(ratio["assumed"][part].as_f64().unwrap() > 0.0, "{ratio}");
    }
    let brief = place.ask(&pair).fine().out;
    assert!(brief.contains("0 slower, ") && brief.contains("probably slower or faster"), "{brief}");
    let said = place.ask(&[&pair[..], &["--all"]].concat()).fine().out;
    assert!(said.starts_with("beastie.lab vs baseline appserver.geo"), "{said}");
    for words in ["probably slower", "x slower", "run-to-run variation 5%", "printed digits within"] {
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
    assert!(said.contains("are the same run") && said.contains(": the same run, margin"), "{said}");
    assert!(said.contains("2 no change") && !said.contains("NaN"), "{said}");
    let heads: Vec<&str> = said.lines().find(|line| line.contains("verdict")).unwrap().split("  ").collect();
    let heads: Vec<&str> = heads.into_iter().map(str::trim).filter(|head| !head.is_empty()).collect();
    assert!(heads.iter().enumerate().all(|(at, head)| !heads[at + 1..].contains(head)), "{heads:?}");
    assert_eq!(place.ask(&["compare", "1", "1", "--fail-on", "slower"]).code, Some(3), "nothing was tested");
}

/// A document of tests/docs.
fn recorded(name: &str) -> String {
    format!("{}/tests/docs/{name}.json.zst", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_screen_has_the_same_verdict_words() {
    let place = Place::with_two_runs();
    let [alone, loaded, quiet] = ["alone", "loaded", "quiet"].map(recorded);
    let old = "published:cyberlife-2004/appserver.geo published:cyberlife-2004/beastie.lab";
    let old: Vec<&str> = old.split(' ').collect();
    let both = [alone.as_str(), &loaded];
    let screens: Vec<Vec<&str>> = vec![
        [&["compare"], &both[..]].concat(),
        [&["compare", "--all"], &both[..]].concat(),
        [&["compare", "--all", &quiet], &both[..]].concat(),
        [&["compare", "--all"], &old[..]].concat(),
        ["compare", "--all", "1", "2"].to_vec(),
        [&["compare", "--all", "--format", "csv"], &both[..]].concat(),
        [&["compare", "--format", "json"], &both[..]].concat(),
        [&["explain"], &both[..]].concat(),
        [&["explain", "--details"], &both[..]].concat(),
        [&["report", "--output", "-"], &both[..]].concat(),
        [&["report", "--output", "-"], &old[..]].concat(),
        [&["fleet", "spread", &quiet], &both[..]].concat(),
        vec!["selftest", "--simulate", "--benchmark", "os.syscall_write"],
        vec!["time", "true", "sleep 0", "--runs", "8"],
        vec!["compare", "published:babar-cpu-1998"],
    ];
    for screen in screens {
        let said = place.ask(&screen).out;
        assert!(!said.is_empty(), "{screen:?}");
        let word = |word: &str| said.split(|c: char| !c.is_alphanumeric() && c != '_').any(|one| one == word);
        for old in ["DIFFERENT", "SAME", "UNDECIDED", "SLOWER", "FASTER", "surely", "undecided"] {
            assert!(!word(old), "{old} in {screen:?}: {said}");
        }
    }
}

#[test]
fn two_runs_without_a_difference_fill_fifteen_lines_at_most() {
    let place = Place::new();
    // All of a run but the one result that differs.
    let mut run = place.ask(&["show", &recorded("loaded"), "--format=json"]).fine().json();
    let differs = |result: &serde_json::Value| result["parameters"]["working_set"] == "32MiB";
    run["results"].as_array_mut().unwrap().retain(|result| !differs(result));
    std::fs::write(place.file("rest.json"), run.to_string()).unwrap();
    let pairs = [("quiet", "quiet"), ("quiet", "preempted")].map(|(a, b)| [recorded(a), recorded(b)]);
    for [a, b] in pairs.into_iter().chain([[recorded("alone"), "rest.json".to_owned()]]) {
        let output = place.prony().args(["compare", &a, &b]).env("COLUMNS", "80").output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.contains("0 slower, 0 faster, ") && said.lines().count() <= 15, "{said}");
    }
}

#[test]
fn an_inconclusive_result_says_what_would_help_and_what_would_have_been_seen() {
    let place = Place::new();
    let pair = [recorded("alone"), recorded("loaded")];
    let found = place.ask(&["compare", &pair[0], &pair[1], "--format=json"]).fine().json();
    let ratios = found["rows"].as_array().unwrap().iter().map(|row| &row["ratios"][1]);
    let open: Vec<_> = ratios.filter(|ratio| ratio["verdict"] == "inconclusive").collect();
    assert!(!open.is_empty());
    for ratio in open {
        let half = (ratio["high"].as_f64().unwrap() / ratio["low"].as_f64().unwrap()).ln() / 2.0;
        let size = ratio["detectable"].as_f64().unwrap().ln_1p();
        // The time of a core result is known less well than the cycles that decide.
        assert!(size > found["band"].as_f64().unwrap() / 2.0 && size < 3.0 * half + 0.02, "{ratio}");
        assert!(["longer_run", "more_runs", "idle_machine"].contains(&ratio["help"].as_str().unwrap()), "{ratio}");
    }
    let said = place.ask(&["compare", &pair[0], &pair[1]]).fine().out;
    assert!(said.contains("Smallest detectable change: ") && said.contains("What would help most: "), "{said}");
    let said = place.ask(&["compare", &pair[0], &pair[1], "--all"]).fine().out;
    assert!(said.contains("in brackets: the smallest change that would have been seen"), "{said}");
}
