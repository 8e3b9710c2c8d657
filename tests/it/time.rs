//! `prony time`: commands in turns.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

use serde_json::Value;

use crate::common::{Answer, Place};

/// Samples of a command that count.
fn samples(run: &Value, command: &str) -> usize {
    let results = run["results"].as_array().unwrap();
    let time = |result: &&Value| result["benchmark"] == "command.time" && result["parameters"]["command"] == command;
    let found = results.iter().find(time).unwrap_or_else(|| panic!("{command} is not among the results"));
    // A disturbed sample stays in the document and is repeated.
    found["samples"].as_array().unwrap().iter().filter(|sample| sample["invalid"].is_null()).count()
}

fn timed(place: &Place, words: &[&str]) -> Answer {
    place.ask(&[&["time", "--quiet"], words].concat())
}

#[test]
fn two_sleeps_are_told_apart_and_the_run_is_kept() {
    let place = Place::new();
    let said = timed(&place, &["sleep 0.01", "sleep 0.2"]).fine().out;
    assert!(said.contains("'sleep 0.01' is ") && said.contains("faster"), "{said}");
    for column in ["time", "interval", "min … max", "user", "system", "runs"] {
        assert!(said.contains(column), "{said}");
    }
    assert!(!said.contains("peak memory"), "a small program is smaller than what starts it: {said}");
    let shown = place.ask(&["show", "latest"]).fine().out;
    assert!(shown.contains("'sleep 0.01' is "), "{shown}");
    assert!(place.ask(&["show", "latest", "--format", "markdown"]).fine().out.contains("| sleep 0.01"));
}

/// The document of timed commands in the usual way: the tests set a spacing for all others.
fn in_bursts(place: &Place, words: &[&str]) -> Value {
    let output =
        place.prony().env_remove("PRONY_SPACING").args(["time", "--format=json", "--quiet"]).args(words).output();
    Answer::of(output.unwrap()).fine().json()
}

/// Samples of a result.
fn of<'a>(run: &'a Value, benchmark: &str, command: &str) -> Vec<&'a Value> {
    let results = run["results"].as_array().unwrap();
    let result =
        results.iter().find(|result| result["benchmark"] == benchmark && result["parameters"]["command"] == command);
    result.map_or_else(Vec::new, |result| result["samples"].as_array().unwrap().iter().collect())
}

/// Seconds of the executions of a sample that count.
fn executions(sample: &Value) -> Vec<f64> {
    sample["nanos"].as_array().unwrap().iter().map(|nanos| nanos.as_f64().unwrap() * 1e-9).collect()
}

#[test]
fn executions_follow_one_another_in_bursts_and_the_first_is_apart() {
    let place = Place::new();
    let run = in_bursts(&place, &["true", "sleep 0.01", "--label", "bursts"]);
    assert_eq!(run["plan"]["spacing"], 0.2);
    for command in ["true", "sleep 0.01"] {
        let bursts = of(&run, "command.time", command);
        assert!((8..=30).contains(&bursts.len()), "{} bursts of {command}", bursts.len());
        // A burst takes a tenth of a second, but on a machine on which one execution does.
        let many = bursts.iter().filter(|burst| executions(burst).len() > 1).count();
        assert!(2 * many > bursts.len(), "{many} bursts of {} are several executions", bursts.len());
        for burst in &bursts {
            let seconds = executions(burst);
            let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
            assert!((burst["value"].as_f64().unwrap() / mean - 1.0).abs() < 1e-3, "the mean of the burst: {burst}");
        }
        assert!(!of(&run, "command.cold", command).is_empty(), "first executions of {command}");
    }
    let shown = place.ask(&["show", "bursts"]).fine().out;
    assert!(["cold", "runs"].iter().all(|column| shown.contains(column)), "{shown}");
    assert!(shown.contains("'true' is "), "{shown}");
}

#[test]
fn a_number_of_executions_is_divided_over_bursts() {
    let place = Place::new();
    let run = in_bursts(&place, &["true", "--runs", "30"]);
    let bursts = of(&run, "command.time", "true");
    assert_eq!(bursts.len(), 20);
    assert_eq!(bursts.iter().map(|burst| executions(burst).len()).sum::<usize>(), 30);
    // A command with a preparation is executed once per sample.
    let run = in_bursts(&place, &["true", "--runs", "3", "--prepare", "true"]);
    assert_eq!((of(&run, "command.time", "true").len(), of(&run, "command.cold", "true").len()), (3, 0));
}

#[test]
fn a_spacing_asks_for_single_executions() {
    let place = Place::new();
    let run = in_bursts(&place, &["true", "--runs", "3", "--spacing", "0.3s"]);
    let samples = of(&run, "command.time", "true");
    let began = |sample: &Value| sample["began"].as_f64().unwrap();
    // The round in which they begin may be late for the first of them.
    assert!(samples.len() >= 3 && began(samples[2]) - began(samples[0]) >= 0.3, "{samples:?}");
    assert!(samples.iter().all(|sample| executions(sample).len() == 1) && of(&run, "command.cold", "true").is_empty());
    assert_eq!(in_bursts(&place, &["true", "--time-limit", "2s"])["plan"]["spacing"], 0.1);
}

/// The report of a run of commands has the terminal's answer.
#[test]
fn the_report_names_all_commands_and_the_verdict() {
    let place = Place::new();
    let said = timed(&place, &["--runs=8", "sleep 0.01", "sleep 0.2"]).fine().out;
    let verdict = said.lines().find(|line| line.starts_with("'sleep 0.01' is ")).unwrap_or_else(|| panic!("{said}"));
    place.ask(&["report", "latest", "--output", "page.html"]).fine();
    let page = std::fs::read_to_string(place.file("page.html")).unwrap();
    let answer = page.find("'sleep 0.01' is ").unwrap_or_else(|| panic!("no verdict"));
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&page[answer..]).starts_with(&words(verdict)), "{verdict}");
    let table = &page[..answer];
    assert!(table.contains(">sleep 0.01<") && table.contains(">sleep 0.2<"), "both commands stand before the verdict");
}

/// One execution has no interval: a script sees this in the exit code.
#[test]
fn a_limit_that_leaves_no_two_executions_measures_nothing() {
    let place = Place::new();
    let answer = timed(&place, &["sleep 0.3", "--time-limit", "10ms"]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert!(answer.err.contains("nothing could be measured"), "{answer:?}");
}

/// Compared commands alternate to the end, however few samples the limit allows.
#[test]
fn a_short_limit_leaves_all_commands_the_same_executions() {
    let place = Place::new();
    let answer = timed(&place, &["sleep 0.5", "sleep 0.51", "sleep 0.52", "--time-limit", "4s", "--format=json"]);
    let run: Value = serde_json::from_str(&answer.out).unwrap();
    let times = run["results"].as_array().unwrap().iter().filter(|result| result["benchmark"] == "command.time");
    let samples: Vec<usize> = times.map(|result| result["samples"].as_array().map_or(0, Vec::len)).collect();
    assert!(samples.len() >= 3 && samples.iter().all(|made| *made == samples[0]), "{samples:?}");
}

#[test]
fn a_number_of_runs_is_kept_to_and_parameters_are_filled_in() {
    let place = Place::new();
    let run = timed(&place, &["--runs=3", "-L", "delay", "0.001,0.003", "--format=json", "sleep {delay}"]);
    let run = run.fine().json();
    for command in ["sleep 0.001", "sleep 0.003"] {
        assert_eq!(samples(&run, command), 3);
    }
    let run =
        timed(&place, &["-r2", "-L", "x", "a,b", "-n", "first", "--format=json", "echo {x} | grep {x}"]).fine().json();
    assert_eq!((samples(&run, "first"), samples(&run, "echo b | grep b")), (2, 2));
    let alike = timed(&place, &["-r2", "--format=json", "true", "true", "-n", "a", "-n", "a", "-n", "a (2)", ":"])
        .fine()
        .json();
    assert_eq!(["a", "a (2)", "a (2) (2)"].map(|name| samples(&alike, name)), [2; 3]);
    let one = timed(&place, &["--max-samples", "10", "--format=json", "--", "true"]).fine().json();
    assert!(samples(&one, "true") >= 10);
}

#[test]
fn what_cannot_be_done_is_told_before_anything_is_timed() {
    let place = Place::new();
    let unused = timed(&place, &["-r2", "-L", "jobs", "1,2", "touch ran; true {job}"]).refused();
    assert!(unused.contains("no command uses the parameter 'jobs'; write {jobs}"), "{unused}");
    timed(&place, &["-r2", "-L", "jobs", "1,2", "--prepare", "true {jobs}", "true"]).fine();
    for words in [&["touch ran", "no-such-program x"][..], &["--", "no-such-program"], &["./missing"]] {
        let missing = timed(&place, &[&["-r2"], words].concat()).refused();
        assert!(missing.contains("could not use the command '"), "{missing}");
    }
    assert!(!place.file("ran").exists());
    assert_eq!(
        place.ask(&["runs", "--format=json"]).fine().json().as_array().unwrap().len(),
        1,
        "none but that of above"
    );
    // The setup may create the program.
    let make = format!("cp /bin/true {}", place.file("made").display());
    timed(&place, &["-r2", "--setup", &make, "./made"]).fine();
}

#[test]
fn a_run_in_which_nothing_was_launched_is_not_kept() {
    let place = Place::new();
    let document = place.file("failed.json").display().to_string();
    let failed = timed(&place, &["-r2", "--output", &document, "exit 3", "no-such-program; exit 127"]);
    assert!(failed.code == Some(2) && failed.out.contains("ended with status 127"), "{}", failed.out);
    assert!(failed.err.contains("nothing is kept") && !failed.out.contains("Next:"), "{} {}", failed.out, failed.err);
    assert!(place.ask(&["runs"]).fine().out.contains("No run is stored yet") && !place.file("failed.json").exists());
    timed(&place, &["-r2", "exit 3", "true"]);
    assert_eq!(
        place.ask(&["runs", "--format=json"]).fine().json().as_array().unwrap().len(),
        1,
        "what was measured is"
    );
}

#[test]
fn two_commands_of_too_few_samples_are_said_to_be_inconclusive() {
    let place = Place::new();
    // The faster one is named last, and neighbours must not decide which it is.
    for runs in ["--runs=2", "--runs=7"] {
        let said = timed(&place, &[runs, "sleep 0.01", "sleep 0.6"]).fine().out;
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("Inconclusive: 'sleep 0.01' vs 'sleep 0.6': a verdict needs 8 runs of each"), "{said}");
    }
}

#[test]
fn what_runs_around_an_execution_runs_as_often_as_it_should() {
    let place = Place::new();
    let log = place.file("log").display().to_string();
    let note = |what: &str| format!("echo {what} >> {log}");
    let (setup, prepare, conclude, cleanup) = (note("setup"), note("prepare"), note("conclude"), note("cleanup"));
    let around = ["-s", &setup, "-p", &prepare, "--conclude", &conclude, "-c", &cleanup, "-w", "2", "-r", "3"];
    timed(&place, &[&around[..], &["true", "false || true"]].concat()).fine();
    let text = std::fs::read_to_string(&log).unwrap();
    let count = |what: &str| text.lines().filter(|line| *line == what).count();
    assert_eq!([count("setup"), count("prepare"), count("conclude"), count("cleanup")], [2, 10, 10, 2], "{text}");
}

#[test]
fn a_command_that_fails_is_named_with_its_output_and_counts_only_when_asked() {
    let place = Place::new();
    let failed = timed(&place, &["-r2", "echo out of luck; exit 3", "true"]);
    assert_eq!(failed.code, Some(2), "{}", failed.out);
    assert!(failed.out.contains("ended with status 3") && failed.out.contains("out of luck"), "{}", failed.out);
    let counted = timed(&place, &["-r2", "-i", "--format=json", "exit 3"]).fine().json();
    assert_eq!(samples(&counted, "exit 3"), 2);
    let aside = timed(&place, &["-r2", "--prepare", "exit 4", "true"]);
    assert!(aside.out.contains("--prepare 'exit 4' ended with status 4"), "{}", aside.out);
}

#[test]
fn a_shell_is_used_as_asked_and_bad_lines_are_refused() {
    let place = Place::new();
    timed(&place, &["-r2", "f() { true; }; f"]).fine();
    timed(&place, &["-r2", "--shell", "bash", "for i in {1..10}; do echo test; done"]).fine();
    timed(&place, &["-r2", "-S", "none", "grep -c 'a b' /etc/hostname /dev/null", "-i"]).fine();
    for (words, wanted) in [
        (&["-S", "none", "grep 'a"][..], "its quotes do not match"),
        (&[" "][..], "it is empty"),
        (&["-L", "n", "1", "-L", "n", "2", "sleep {n}"][..], "the parameter 'n' has two lists of values"),
        (&["-p", "true", "-p", "true", "a", "b", "c"][..], "--prepare is given 2 times for 3 commands"),
    ] {
        let said = timed(&place, words).refused();
        assert!(said.contains(wanted), "{words:?}: {said}");
    }
}

#[test]
fn two_commands_side_by_side_are_judged_by_their_ratio() {
    let place = Place::new();
    if std::thread::available_parallelism().is_ok_and(|count| count.get() < 2) {
        return testing::lacks!("a second CPU");
    }
    let said = timed(&place, &["--duet=force", "-r16", "--label=pair", "sleep 0.02", "sleep 0.2"]).fine().out;
    assert!(said.contains("'sleep 0.02' is ") && said.contains("They ran at the same time"), "{said}");
    assert!(place.ask(&["show", "pair"]).fine().out.contains("They ran at the same time"));
    let run = place.ask(&["show", "pair", "--format=json"]).fine().json();
    assert_eq!((samples(&run, "sleep 0.02"), samples(&run, "sleep 0.2")), (8, 8), "two executions a sample");
    let ratio =
        run["results"].as_array().unwrap().iter().find(|result| result["benchmark"] == "command.ratio").unwrap();
    assert_eq!(ratio["parameters"], serde_json::json!({ "command": "sleep 0.2", "against": "sleep 0.02" }));
    assert!(ratio["samples"].as_array().unwrap().iter().all(|sample| sample["nanos"].as_array().unwrap().len() == 4));
}

#[test]
fn a_duet_that_cannot_be_is_refused_by_its_reason() {
    let place = Place::new();
    let said = timed(&place, &["--duet", "true", "true", "true"]).refused();
    assert!(said.contains("--duet takes two commands, and 3 were given"), "{said}");
    // It runs on a machine with two cores. If the CPUs are one core, or busy, it says so.
    let plain = timed(&place, &["--duet", "-r4", "true", "false || true"]);
    let why = "could not run two commands at once: ";
    assert!(plain.code == Some(0) || plain.code == Some(2) && plain.err.contains(why), "{} {}", plain.out, plain.err);
    let failed = timed(&place, &["--duet=force", "-r4", "exit 3", "true"]);
    if !failed.err.contains(why) {
        assert!(
            failed.out.contains("ended with status 3") && failed.out.contains("the other command failed"),
            "{}",
            failed.out
        );
    }
}
