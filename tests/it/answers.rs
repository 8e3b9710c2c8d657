//! The answer of a command that has done something, and the next command that it suggests.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

use crate::common::{Answer, Place};

#[test]
fn every_command_answers_in_json_or_refuses_it_in_one_line() {
    let place = Place::with_two_runs();
    let label = place.ask(&["runs", "label", "2", "second", "--format=json"]).fine().json();
    assert_eq!((label["run"].as_u64(), label["label"].as_str()), (Some(2), Some("second")), "{label}");
    assert!(label["id"].as_str().is_some_and(|id| !id.is_empty()), "{label}");
    let none = place.ask(&["runs", "label", "2", "", "--format=json"]).fine().json();
    assert!(none["label"].is_null(), "{none}");
    assert!(place.ask(&["runs", "label", "2", "third"]).fine().out.contains("Labelled run 2 \"third\""));
    let removed = place.ask(&["runs", "rm", "1", "third", "--format=json"]).fine().json();
    let numbers: Vec<_> = removed.as_array().unwrap().iter().map(|run| run["run"].as_u64()).collect();
    assert_eq!(numbers, [Some(1), Some(2)]);
    let wrote = place.ask(&["app", "init", "mine.toml", "--format=json"]).fine().json();
    assert!(wrote["wrote"] == "mine.toml" && place.file("mine.toml").exists(), "{wrote}");
    let said = place.ask(&["app", "init", "other.toml"]).fine().out;
    assert!(said.contains("Wrote other.toml") && said.contains("prony app run other.toml"), "{said}");
    let input = place.ask(&["farm", "input", "in", "--events", "4", "--chunk", "2", "--format=json"]).fine().json();
    assert_eq!((input["ntuples"].as_u64(), input["directory"].as_str()), (Some(2), Some("in")), "{input}");
    let serve = place.ask(&["net", "serve", "--time-limit", "0.1s", "--format=json"]).fine().json();
    assert!(serve["address"].as_str().unwrap().starts_with("127.0.0.1:") && serve["token"].is_string(), "{serve}");
    for words in [&["completions", "bash"][..], &["app", "init", "-"], &["export", "./a.json", "--to", "openmetrics"]] {
        for format in [&["--format=json"][..], &["--format", "csv"]] {
            let refused = place.ask(&[words, format].concat());
            assert!(refused.out.is_empty(), "{words:?}: {refused:?}");
            assert_eq!(refused.refused().lines().count(), 1, "{words:?}");
        }
    }
    let said = place.ask(&["export", "./a.json", "--to", "openmetrics", "--format=json"]).refused();
    assert!(said.contains("prony show ./a.json --format json"), "{said}");
    assert!(place.ask(&["export", "./a.json", "--to", "openmetrics"]).fine().out.contains("# EOF"));
    // A result that a gauge cannot hold is reported.
    let mut run: serde_json::Value = serde_json::from_slice(&std::fs::read(place.file("a.json")).unwrap()).unwrap();
    run["results"][0]["outcome"] = serde_json::json!({ "not_measured": "no such thing here" });
    std::fs::write(place.file("part.json"), run.to_string()).unwrap();
    let part = place.ask(&["export", "./part.json", "--to", "openmetrics"]).fine();
    assert!(part.err.contains(" of 2 results ") && part.err.contains(" no sample: "), "{}", part.err);
}

#[test]
fn a_report_goes_where_it_is_asked_to_in_every_format() {
    let place = Place::with_two_runs();
    let read = |name: &str| std::fs::read_to_string(place.file(name)).unwrap();
    for (format, begins) in
        [("html", "<!DOCTYPE"), ("markdown", "# "), ("json", "{"), ("csv", "run,"), ("terminal", "Run 1")]
    {
        let answer = place.ask(&["report", "1", "--format", format, "--output", format]).fine();
        assert_eq!(answer.out, format!("Wrote {format}\n"));
        assert!(read(format).starts_with(begins), "{format}: {}", read(format));
        let printed = place.ask(&["report", "1", "--format", format]).fine().out;
        assert!(printed.starts_with(begins), "{format}: {printed}");
        let dash = place.ask(&["report", "1", "--format", format, "--output", "-"]).fine().out;
        assert!(dash.starts_with(begins), "{format}");
    }
    let reports = || -> Vec<String> {
        let names = std::fs::read_dir(place.file(".")).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter_map(|name| name.into_string().ok()).filter(|name| name.starts_with("prony-")).collect()
    };
    assert_eq!(reports(), [""; 0]);
    let said = place.ask(&["report", "1", "2"]).fine().out;
    let [name] = reports().try_into().unwrap();
    assert_eq!(name, "prony-1-vs-2.html");
    let path = place.file(&name).canonicalize().unwrap();
    assert_eq!(said, format!("Wrote {name}: file://{}\n", path.display()));
    assert!(read(&name).starts_with("<!DOCTYPE"));
    place.ask(&["report", "1", "--format=json", "--output", "one.json"]).fine();
    assert!(read("one.json").starts_with('{'));
}

#[test]
fn a_report_has_the_name_of_its_run_and_replaces_that_of_no_other() {
    let place = Place::with_two_runs();
    let name = |run: &str| {
        let said = place.ask(&["report", run]).fine().out;
        said.strip_prefix("Wrote ").and_then(|rest| rest.split_once(": file://")).unwrap().0.to_owned()
    };
    assert_eq!(name("1"), "prony-1.html");
    place.ask(&["runs", "label", "1", "before it"]).fine();
    assert_eq!(name("1"), "prony-before-it.html");
    let first = std::fs::read(place.file("prony-before-it.html")).unwrap();
    assert_eq!(name("1"), "prony-before-it.html", "that of the same run is replaced");
    // Two runs may have one label.
    place.ask(&["runs", "label", "2", "before it"]).fine();
    let second = name("2");
    let ids: serde_json::Value = place.ask(&["runs", "--format=json"]).fine().json();
    assert!(ids.to_string().contains(second.strip_prefix("prony-").unwrap().strip_suffix(".html").unwrap()));
    assert!(std::fs::read(place.file("prony-before-it.html")).unwrap() == first, "it is as it was");
    // A file that is no report stays, too.
    std::fs::write(place.file(&second), "mine").unwrap();
    let refused = place.ask(&["report", "2"]);
    assert!(refused.code == Some(2) && refused.err.contains("which holds something else; name a file with --output"));
    assert_eq!(std::fs::read(place.file(&second)).unwrap(), b"mine");
}

#[test]
fn a_report_is_opened_where_that_is_asked_for() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::with_a_run();
    let bin = place.file("bin");
    std::fs::create_dir(&bin).unwrap();
    let opener = bin.join("xdg-open");
    std::fs::write(&opener, "#!/bin/sh\necho \"$1\" > opened\n").unwrap();
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).unwrap();
    let open = |words: &[&str], search: &std::path::Path| {
        Answer::of(place.prony().args(["report", "--open"]).args(words).env("PATH", search).output().unwrap())
    };
    assert!(open(&[], &bin).fine().err.is_empty());
    assert_eq!(std::fs::read_to_string(place.file("opened")).unwrap(), "prony-1.html\n");
    // Without a desktop the report is there all the same.
    let said = open(&["--output", "one.html"], &place.file("nowhere")).fine();
    assert!(said.err.contains("could not open one.html with xdg-open") && place.file("one.html").exists(), "{said:?}");
    assert!(open(&["--output", "-"], &bin).refused().contains("leave --open out"));
}

#[test]
fn headings_of_the_help_hold_what_stands_below_them() {
    let place = Place::new();
    let below = |command: &[&str], heading: &str| {
        let help = place.ask(&[command, &["--help"]].concat()).fine().out;
        let section = help.split(&format!("\n{heading}:\n")).nth(1).unwrap_or_else(|| panic!("{heading}: {help}"));
        section.split("\n\n").next().unwrap().to_owned()
    };
    for (command, heading, own, elsewhere) in [
        (&["net", "build"][..], "Nodes", "--ssh", &["--time-limit", "--label", "--link"][..]),
        (&["net", "rr"], "Switch of --lab", "--link", &["--server", "--target", "--label", "--quiet"]),
        (&["run"], "Sampling", "--max-samples", &["--suite", "--label", "--quiet", "--copies"]),
        (&["fleet", "run"], "Nodes", "--parallel", &["--suite", "--benchmark", "--fail-on"]),
        (&["farm", "run"], "Nodes", "--jobs", &["--ledger", "--verify", "--lease", "--label"]),
        (&["farm", "run"], "Input files", "--stage-sums", &["--quiet", "--label", "--no-store"]),
    ] {
        let under = below(command, heading);
        assert!(under.contains(own), "{command:?} {heading}: {under}");
        for option in elsewhere {
            assert!(!under.contains(&format!("{option} ")), "{command:?}: {option} stands below {heading}");
            assert!(place.ask(&[command, &["--help"]].concat()).out.contains(option), "{command:?}: {option}");
        }
    }
}

#[test]
fn what_is_suggested_after_an_import_works() {
    let place = Place::with_a_run();
    std::fs::write(place.file("one.csv"), "machine,triad (GB/s)\nnode-a,61.5\n").unwrap();
    std::fs::write(place.file("two.csv"), "machine,compile (s)\nnode-a,182\nnode-b,170\n").unwrap();
    let alone = place.ask(&["import", "one.csv"]).fine().out;
    assert!(alone.contains("Next: prony show 2\n"), "nothing in the store has its result: {alone}");
    let both = place.ask(&["import", "one.csv", "two.csv"]).fine().out;
    assert!(both.contains("Next: prony show 2\n"), "no other has the result of the first: {both}");
    let pair = place.ask(&["import", "two.csv", "one.csv"]).fine().out;
    assert!(pair.contains("prony compare 3 4"), "{pair}");
    place.ask(&["compare", "3", "4"]).fine();
}

#[test]
fn refusals_name_what_there_is_to_do() {
    let place = Place::with_two_runs();
    place.ask(&["runs", "label", "1", "old"]).fine();
    place.ask(&["runs", "label", "2", "new"]).fine();
    let said = place.ask(&["compare", "old", "new", "--price", "old=0.31/h"]).refused();
    assert!(said.contains("new has no price; give one with --price new=AMOUNT"), "{said}");
    for (name, label) in [("true", "t"), ("sh -c true", "s")] {
        place.ask(&["time", name, "--runs", "3", "--label", label]).fine();
    }
    let said = place.ask(&["compare", "t", "s"]).refused();
    assert!(said.contains("--across command"), "{said}");
    place.ask(&["compare", "t", "s", "--across", "command"]).fine();
    let half = place.ask(&["time", "true", "false", "--runs", "3"]);
    assert_eq!(half.code, Some(2));
    assert!(half.err.contains(" of 4 results failed") && !half.err.contains("nothing"), "{half:?}");
    let all = place.ask(&["time", "false", "--runs", "3"]);
    assert!(all.err.contains("nothing could be measured"), "{all:?}");
}
