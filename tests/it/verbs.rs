//! The other commands through the program.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

use crate::common::{Answer, Place, TINY};

#[test]
fn help_and_versions_are_printed() {
    let place = Place::new();
    let help = place.ask(&["--help"]).fine().out;
    for name in ["run", "benchmarks", "show", "runs", "compare", "doctor", "selftest"] {
        assert!(help.contains(name), "{name} is missing from the help");
        let own = place.ask(&[name, "--help"]).fine().out;
        assert!(own.contains("Usage:") && own.lines().count() > 5, "{name}: {own}");
        assert!(own == place.ask(&["help", name]).fine().out);
    }
    assert!(help.contains("Exit codes"));
    assert!(place.ask(&["--version"]).fine().out.starts_with("prony "));
    assert_eq!(place.ask(&["fly"]).code, Some(2));
    // The first call says where to begin, and is no failure.
    let welcome = place.ask(&[]).fine();
    let bare = Answer::of(place.prony().env_remove("PRONY_STORE").output().unwrap()).fine();
    assert_eq!(bare.out, welcome.out, "options of the environment change nothing");
    assert!(welcome.out.lines().count() <= 12 && welcome.err.is_empty(), "{welcome:?}");
    for part in ["benchmarks machines", "prony doctor", "prony run --suite quick", "prony --help"] {
        assert!(welcome.out.contains(part), "{part}: {}", welcome.out);
    }
}

#[test]
fn completions_are_written_for_every_shell() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(place.ask(&["completions", shell]).fine().out.contains("selftest"), "{shell}");
    }
}

#[test]
fn the_catalogue_is_listed_and_each_benchmark_shown() {
    let place = Place::new();
    let list = place.ask(&["benchmarks", "--format=json"]).fine().json();
    let text = list.to_string();
    assert!(text.contains("memory.load_latency") && text.contains("os.syscall_write"));
    let shown = place.ask(&["benchmarks", "memory.load_latency"]).fine().out;
    assert!(shown.contains("working_set") && shown.contains("lmbench"), "{shown}");
    let some = place.ask(&["benchmarks", "latency"]).fine().out;
    assert!(some.contains("memory.load_latency") && !some.contains("os.fork_exit"), "{some}");
    let some = place.ask(&["benchmarks", "os.*"]).fine().out;
    assert!(!some.contains("memory.load_latency") && some.contains("os.fork_exit"), "{some}");
    let suites = place.ask(&["benchmarks", "--suite"]).fine().out;
    assert!(suites.contains("babar") && suites.contains("int-1"), "{suites}");
    assert!(place.ask(&["benchmarks", "--suite", "quick"]).fine().out.contains("os.syscall_write"));
    let listed = place.ask(&["benchmarks", "--suite", "--format=json"]).fine().json();
    for suite in listed.as_array().unwrap() {
        let name = suite["name"].as_str().unwrap();
        let shown = place.ask(&["benchmarks", "--suite", name]).fine().out;
        assert!(shown.contains(&format!("prony run --suite {name}")), "{shown}");
    }
    let said = place.ask(&["benchmarks", "memory.load_latencz"]).refused();
    assert!(said.contains("memory.load_latency"), "{said}");
    let said = place.ask(&["benchmarks", "--suite", "quik"]).refused();
    assert!(said.contains("similar: quick (prony benchmarks --suite lists all)"), "{said}");
}

#[test]
fn the_help_puts_every_command_in_a_group_and_is_short_where_it_is_asked_to() {
    let place = Place::new();
    let help = place.ask(&["--help"]).fine().out;
    let heads: Vec<&str> =
        help.lines().filter(|line| !line.starts_with(' ')).filter_map(|line| line.strip_suffix(':')).collect();
    assert_eq!(heads, ["Commands", "Runs and tools", "More", "Global options", "Exit codes", "Examples"], "{help}");
    assert!(help.contains("--store") && help.contains("--format") && !help.contains("worker"), "{help}");
    assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    let short = place.ask(&["-h"]).fine().out;
    assert!(short.lines().count() <= 24 && short.contains("choose") && short.contains("prony --help"), "{short}");
    // The options that few need are in the whole help alone; the global ones are named in both.
    let whole = place.ask(&["run", "--help"]).fine().out;
    let short = place.ask(&["run", "-h"]).fine().out;
    assert!(whole.contains("--max-samples") && !short.contains("--max-samples"), "{short}");
    for help in [&whole, &short] {
        assert!(help.contains("--suite") && help.contains("Global options: --store, --format, --color"), "{help}");
        assert!(!help.contains("--store <PATH>") && help.contains("Examples:"), "{help}");
    }
    assert!(short.contains("prony run --help shows all options") && short.lines().count() <= 24, "{short}");
    // What belongs to a command that is timed is no question for help.
    assert!(
        !place
            .ask(&["time", "--runs", "2", "--no-store", "--output", "t.json", "--", "true", "-h"])
            .out
            .contains("Usage:")
    );
}

#[test]
fn without_names_the_latest_runs_are_taken() {
    let place = Place::new();
    assert!(place.ask(&["show"]).refused().contains("there is no store"));
    let place = Place::with_a_run();
    let one = place.ask(&["compare"]).refused();
    assert!(one.contains("could not find run 'previous'") && one.contains("it holds 1 run"), "{one}");
    let place = Place::with_two_runs();
    let same = |words: &[&str], named: &[&str]| {
        let (short, long) = (place.ask(words).fine(), place.ask(named).fine());
        assert_eq!(short.out, long.out, "{words:?} is {named:?}");
        short.err
    };
    same(&["show"], &["show", "2"]);
    same(&["show", "previous"], &["show", "1"]);
    same(&["export", "--to", "openmetrics"], &["export", "latest", "--to", "openmetrics"]);
    same(&["report", "--format=json"], &["report", "2", "--format=json"]);
    for name in ["compare", "explain"] {
        let said = same(&[name], &[name, "1", "2"]);
        assert!(said.contains("comparing run 2 with run 1, the baseline"), "{said}");
        assert!(!place.ask(&[name, "previous", "latest"]).fine().err.contains("comparing run"), "they were named");
    }
    same(&["show", "--as", "babar"], &["show", "2", "--as", "babar"]);
    assert!(place.ask(&["runs", "label", "1", "previous"]).refused().contains("it names the latest runs"));
    place.ask(&["runs", "rm", "previous"]).fine();
    assert!(place.ask(&["show", "1"]).refused().contains('1'));
}

#[test]
fn a_run_is_written_in_every_format_and_the_tidy_one_reads_back() {
    let place = Place::with_two_runs();
    let tidy = place.ask(&["show", "1", "--format", "csv"]).fine().out;
    assert!(tidy.starts_with("run,label,machine,") && tidy.lines().count() == 3, "{tidy}");
    std::fs::write(place.file("tidy.csv"), place.ask(&["show", "1", "2", "--format", "csv"]).fine().out).unwrap();
    assert!(place.ask(&["import", "tidy.csv"]).fine().out.contains("Imported 2 runs with 4 results"));
    assert_eq!(place.ask(&["show", "1", "2", "--format=json"]).fine().json().as_array().map(Vec::len), Some(2));
    assert!(place.ask(&["show", "1", "--format", "markdown"]).fine().out.contains('|'));
    for format in ["terminal", "markdown", "html"] {
        assert!(place.ask(&["show", "1", "2", "--format", format]).refused().contains("prony compare"), "{format}");
    }
    assert!(place.ask(&["export", "1", "--to", "openmetrics"]).fine().out.contains("# EOF"));
}

#[test]
fn runs_are_listed_labelled_and_removed() {
    let place = Place::new();
    assert!(place.ask(&["runs"]).fine().out.contains("No run is stored yet"));
    // The results do not matter, even if there are none: each run is kept.
    let brief = [TINY, &["--time-limit", "0.1s"]].concat();
    place.ask(&brief);
    place.ask(&brief);
    place.ask(&["runs", "label", "2", "second"]).fine();
    // A label is removed by those who say so.
    assert_eq!(place.ask(&["runs", "label", "2"]).code, Some(2));
    assert!(place.ask(&["runs"]).fine().out.contains("second"));
    assert!(place.ask(&["runs", "label", "2", ""]).fine().out.contains("Removed the label of run 2"));
    assert!(!place.ask(&["runs"]).fine().out.contains("second"));
    place.ask(&["runs", "rm", "1", "1"]).fine();
    let left = place.ask(&["runs", "--format=json"]).fine().json();
    assert_eq!(left.as_array().unwrap().len(), 1);
    let said = place.ask(&["show", "1"]).refused();
    assert!(said.contains('1'), "{said}");
    place.ask(&brief);
    assert!(place.ask(&["runs"]).fine().out.contains('3'), "numbers are not given again");
    assert!(place.ask(&["runs", "--published"]).fine().out.contains("cyberlife"));
}

#[test]
fn truncated_newer_and_foreign_documents_get_one_line() {
    let place = Place::with_a_run();
    let text = std::fs::read_to_string(place.file("a.json")).unwrap();
    let bad = [
        ("cut.json", text[..text.len() / 2].to_owned(), "line"),
        ("new.json", text.replacen("\"schema\":1", "\"schema\":99", 1), "its schema is 99"),
        ("other.json", "[1, 2, 3]".to_owned(), "other.json"),
        ("empty.json", String::new(), "empty.json"),
        ("binary.json", "\u{0}\u{1}\u{2}".to_owned(), "binary.json"),
    ];
    for (name, content, hint) in bad {
        std::fs::write(place.file(name), content).unwrap();
        let said = place.ask(&["show", &format!("./{name}")]).refused();
        assert!(said.contains(hint), "{name}: {said}");
    }
    let said = place.ask(&["show", "./missing.json"]).refused();
    assert!(said.contains("missing.json"), "{said}");
}

#[test]
fn the_simulated_self_test_claims_nothing_between_equals() {
    let place = Place::new();
    let found = place.ask(&["selftest", "--simulate", "--pairs", "6", "--seed", "3", "--format=json"]).fine().json();
    assert_eq!(found["pairs"], 6);
    let share = found["different"].as_f64().unwrap() / found["results"].as_f64().unwrap();
    assert!(share <= 0.05, "{found}");
    assert!(!place.file("runs.sqlite").exists());
    let again = place.ask(&["selftest", "--simulate", "--pairs", "6", "--seed", "3", "--format=json"]).fine().json();
    assert_eq!(found, again, "a seed makes it the same");
}

#[test]
fn runs_that_were_measured_with_other_rules_say_so() {
    let place = Place::with_a_run();
    let listed = place.ask(&["selftest", "--rules", "--format=json"]).fine().json();
    let near = listed.as_array().unwrap().iter().find(|rule| rule["name"] == "quality.near").unwrap();
    assert!(["unit", "reason", "source"].iter().all(|part| !near[part].as_str().unwrap().is_empty()), "{near}");
    let mut other: serde_json::Value = place.ask(&["show", "1", "--format=json"]).fine().json();
    assert_eq!(other["rules"]["quality.near"], near["value"], "a run holds the rules of its measurement");
    other["id"] = "another-session".into();
    other["session"]["started"] = "2026-11-25T03:00:00Z".into();
    let said = |other: &serde_json::Value| {
        std::fs::write(place.file("other.json"), other.to_string()).unwrap();
        let out = place.ask(&["compare", "1", "./other.json"]).out;
        out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(!said(&other).contains("other rules"), "{}", said(&other));
    other["rules"]["quality.near"] = 0.07.into();
    let found = said(&other);
    assert!(found.contains("was measured with other rules than"), "{found}");
    assert!(found.contains(&format!("quality.near 0.07 instead of {}", near["value"])), "{found}");
    other.as_object_mut().unwrap().remove("rules");
    assert!(!said(&other).contains("other rules"), "nothing is known of what holds none");
}

#[test]
fn the_self_test_takes_stored_sessions_of_one_machine() {
    let place = Place::with_a_run();
    assert!(place.ask(&["selftest", "1"]).refused().contains("one run makes no pair"));
    assert!(place.ask(&["selftest", "1", "1"]).refused().contains("the same run"));
    assert!(place.ask(&["selftest", "1", "--pairs", "3"]).err.contains("cannot be used with"));
    let mut other: serde_json::Value = place.ask(&["show", "1", "--format=json"]).fine().json();
    other["id"] = "another-session".into();
    std::fs::write(place.file("other.json"), other.to_string()).unwrap();
    assert!(place.ask(&["selftest", "1", "./other.json"]).refused().contains("the same run"), "an id is no session");
    other["session"]["started"] = "2026-11-25T03:00:00Z".into();
    std::fs::write(place.file("other.json"), other.to_string()).unwrap();
    let found = place.ask(&["selftest", "1", "./other.json", "--format=json"]).fine().json();
    assert_eq!((found["pairs"].as_u64(), found["different"].as_u64()), (Some(1), Some(0)), "{found}");
    assert!(found["results"].as_u64() > Some(0), "{found}");
    other["machine"]["fingerprint"] = "another machine".into();
    std::fs::write(place.file("other.json"), other.to_string()).unwrap();
    assert!(place.ask(&["selftest", "1", "./other.json"]).refused().contains("not known to be of one machine"));
    let printed = place.ask(&["selftest", "published:cyberlife-2004"]).refused();
    assert!(printed.contains("not known to be of one machine"), "two machines without a fingerprint: {printed}");
}

#[test]
fn the_doctor_checks_the_machine_and_the_harness() {
    let place = Place::new();
    let found = place.ask(&["doctor", "--format=json"]).fine().json();
    let subjects: Vec<&str> =
        found["findings"].as_array().unwrap().iter().map(|finding| finding["subject"].as_str().unwrap()).collect();
    for subject in ["clock", "loop", "worker", "frequency governor", "huge pages", "other processes", "core clock"] {
        assert!(subjects.contains(&subject), "{subjects:?}");
    }
    let said = place.ask(&["doctor"]).fine().out;
    let answers = ["OK to measure: yes", "OK to measure: no. "];
    assert!(answers.iter().any(|answer| said.starts_with(answer)), "{said}");
    assert!(said.lines().filter(|line| line.trim().starts_with("fine ")).count() <= 1, "{said}");
}

#[test]
fn colour_is_off_when_piped_and_on_when_asked_and_a_closed_pipe_is_no_failure() {
    let place = Place::with_a_run();
    assert!(!place.ask(&["show", "1"]).fine().out.contains('\u{1b}'));
    assert!(place.ask(&["show", "1", "--color", "always"]).fine().out.contains('\u{1b}'));
    let program = env!("CARGO_BIN_EXE_prony");
    let script = format!("{program} benchmarks | head -n 1; exit ${{PIPESTATUS[0]}}");
    let output = std::process::Command::new("bash").args(["-c", &script]).output();
    match output {
        Ok(output) => assert!(Answer::of(output).err.is_empty()),
        Err(error) => testing::skip!("no bash to close a pipe with: {error}"),
    }
}

#[test]
fn a_published_table_is_recomputed_and_its_slips_are_named() {
    let place = Place::new();
    let table = ["compare", "published:ams02-2002", "--results", "ams02.test*"];
    let said = place.ask(&table).fine().out;
    assert!(said.contains("says 1.06 for ams02.test4"), "{said}");
    let athlon = "published:ams02-2002/amd-athlon-1800mp-dual-cpu-1.53-ghz";
    let table = ["compare", athlon, "published:ams02-2002", "--results", "ams02.test*"];
    let said = place.ask(&table).fine();
    assert!(said.out.contains("says 228 for the geometric mean"), "{}", said.out);
    let found = place.ask(&[&table[..], &["--format=json", "--ratio"]].concat()).fine().json();
    assert_eq!(found["machines"].as_array().unwrap().iter().filter(|one| one["run"] == athlon).count(), 1);
    let worst = found["geometric_means"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|mean| mean["family"].is_null())
        .map(|mean| mean["value"].as_f64().unwrap())
        .fold(0.0, f64::max);
    assert!((worst - 2.49).abs() < 0.05, "the slowest machine of table 4: {worst}");
}

#[test]
fn a_compressed_document_is_imported_as_it_is_shown() {
    let place = Place::new();
    place.ask(&["time", "--runs", "2", "--no-store", "--output", "t.json.zst", "true"]);
    place.ask(&["show", "t.json.zst"]).fine();
    assert!(place.ask(&["import", "t.json.zst"]).fine().out.starts_with("Imported 1 run with "));
    let bytes = std::fs::read(place.file("t.json.zst")).unwrap();
    std::fs::write(place.file("cut.json.zst"), &bytes[..bytes.len() / 2]).unwrap();
    let refused = place.ask(&["import", "cut.json.zst"]).refused();
    assert!(refused.contains("could not import cut.json.zst: it is damaged"), "{refused}");
    std::fs::write(place.file("t.json.gz"), [0x1f, 0x8b, 8, 0]).unwrap();
    let refused = place.ask(&["import", "t.json.gz"]).refused();
    assert!(refused.contains("run gunzip on it first"), "{refused}");
}

#[test]
fn a_time_below_the_clock_resolution_is_no_result() {
    let place = Place::new();
    let file = place.file("below.json");
    std::fs::write(&file, r#"{"results":[{"command":"x","mean":-3,"median":-3,"min":-3,"max":-2,"times":[-3,-2]}]}"#)
        .unwrap();
    let said = place.ask(&["import", file.to_str().unwrap()]).fine().out;
    assert!(said.starts_with("Imported 1 run with 1 result\n"), "{said}");
    let shown = place.ask(&["show", "1", "--format=json"]).fine().json();
    assert!(shown["results"][0]["outcome"]["failed"].is_string(), "{shown:#}");
    std::fs::write(&file, "nothing that anybody writes").unwrap();
    let refused = place.ask(&["import", file.to_str().unwrap()]).refused();
    assert!(refused.contains("--input-format") && refused.contains("prony import --list"), "{refused}");
}

#[test]
fn disturbances_of_a_run_are_printed_before_its_results() {
    let place = Place::with_a_run();
    let text = std::fs::read_to_string(place.file("a.json")).unwrap();
    let mut run: serde_json::Value = serde_json::from_str(&text).unwrap();
    run["id"] = "another".into();
    run["label"] = "loaded".into();
    run["session"]["started"] = "2026-01-01T00:00:00Z".into();
    run["session"]["conditions"] =
        serde_json::json!({ "load": 3.1, "cpus": 2, "steal": { "seconds": 4.0, "of": 100.0 } });
    std::fs::write(place.file("b.json"), run.to_string()).unwrap();
    let said = place.ask(&["compare", "1", "./b.json"]).fine().out;
    let first = said.lines().filter(|line| line.contains("loaded: the load before the run was 3.1 on 2 CPUs")).count();
    assert_eq!(first, 1, "{said}");
    let place_of = |text: &str| said.find(text).unwrap_or(usize::MAX);
    assert!(place_of("loaded: the load") < place_of("SLOWER"), "{said}");
    let found = place.ask(&["compare", "1", "./b.json", "--format=json"]).fine().json();
    let kinds: Vec<&str> = found["machines"][1]["disturbances"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["load", "steal"]);
}
