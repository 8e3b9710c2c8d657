//! What a person sees: a run and a comparison end with an answer, and all rows are there on request.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::common::{Answer, Place};

/// More results than a table of the answer has, none of which takes long.
const MANY: &[&str] = &[
    "run",
    "--target",
    "50",
    "--max-samples",
    "8",
    "--no-rulers",
    "--benchmark",
    "os.syscall_write",
    "--benchmark",
    "os.syscall_getppid",
    "--benchmark",
    "os.clock_read",
    "--benchmark",
    "os.signal_install",
    "--benchmark",
    "cpu.arithmetic:type=int",
    "--benchmark",
    "cpu.arithmetic:type=double",
    "--benchmark",
    "cpu.multiply:type=double,what=latency",
    "--benchmark",
    "cpu.divide:type=double,what=latency",
    "--benchmark",
    "cpu.hanoi",
    "--benchmark",
    "cpu.dhrystone",
    "--benchmark",
    "cpu.whetstone",
    "--benchmark",
    "os.yield",
    "--benchmark",
    "ipc.pipe_latency:placement=same_cpu",
    "--benchmark",
    "ipc.pipe_throughput",
];

#[test]
fn a_run_ends_with_an_answer_on_one_screen() {
    let place = Place::new();
    let said = place.ask(MANY).fine().out;
    assert!(said.lines().count() <= 30, "{said}");
    for wanted in ["trust", "95% interval", "Stored as run 1", "prony show 1", "prony report 1"] {
        assert!(said.contains(wanted), "{wanted} is missing: {said}");
    }
    // Some of the published machines have some of these results.
    assert!(said.contains("No reference yet") != said.contains("better than, of other machines"), "{said}");
    let shown = place.ask(&["show", "1"]).fine().out;
    assert!(shown.lines().count() > said.lines().count(), "{shown}");
    assert!(shown.contains("samples") && !said.contains("samples\n"), "{said}");
    assert!(shown.find("results in").unwrap() < shown.find("interval").unwrap(), "{shown}");
    let notes = place.ask(&["show", "1", "--all"]).fine().out;
    assert!(notes.len() >= shown.len(), "{notes}");
    // A comparison decides in words; its rows are there on request.
    let brief = place.ask(&["compare", "1", "1"]).fine().out;
    assert!(brief.contains("SLOWER 0   FASTER 0") && !brief.contains("verdict"), "{brief}");
    let all = place.ask(&["compare", "1", "1", "--all"]).fine().out;
    assert!(all.contains("verdict") && all.lines().count() > brief.lines().count(), "{all}");
}

#[test]
fn every_result_of_a_run_is_printed_on_request() {
    let place = Place::new();
    // Whether anything is measured in that time does not matter: every result has its row.
    let all = place.ask(&[MANY, &["--all", "--time-limit", "1s"]].concat()).out;
    assert!(all.contains("operating system") && all.contains("samples"), "{all}");
    assert!(all.contains("Whetstone") && all.contains("yield"), "{all}");
}

/// What a program reads has a line for each row, whatever a terminal would hold.
#[test]
fn every_row_is_one_line_in_a_pipe() {
    let place = Place::with_two_runs();
    let piped = |arguments: &[&str]| Answer::of(place.prony().env_remove("COLUMNS").args(arguments).output().unwrap());
    let known = place.ask(&["benchmarks", "--format=json"]).fine().json();
    let known = known["benchmarks"].as_array().unwrap();
    let listed = piped(&["benchmarks"]).fine().out;
    for one in known {
        let [id, title] = ["id", "title"].map(|name| one[name].as_str().unwrap());
        let rows = listed.lines().filter(|line| line.trim_start().starts_with(&format!("{id}  ")));
        assert_eq!(rows.filter(|line| line.contains(title)).count(), 1, "{id}: {listed}");
    }
    assert!(listed.lines().all(|line| !line.starts_with("     ")), "a cell goes on below its row: {listed}");
    let compared = piped(&["compare", "1", "2", "--all"]).fine().out;
    let rows = place.ask(&["compare", "1", "2", "--all", "--format=json"]).fine().json()["rows"].clone();
    let heading = compared.lines().position(|line| line.contains("verdict")).unwrap();
    let table = || compared.lines().skip(heading + 1).take_while(|line| !line.is_empty());
    let count = table().filter(|line| line.starts_with("    ")).count();
    assert_eq!(count, rows.as_array().unwrap().len(), "{compared}");
    assert!(table().all(|line| !line.starts_with("     ")), "a cell goes on below its row: {compared}");
    let tabs = piped(&["compare", "1", "2", "--all", "--format", "tsv"]).fine().out;
    let first = tabs.split("\n\n").next().unwrap();
    assert!(first.lines().count() == 1 + count && first.lines().all(|line| line.contains('\t')), "{tabs}");
}

#[test]
fn thirteen_machines_are_a_map_of_families() {
    let place = Place::new();
    let text = place.ask(&["compare", "published:babar-cpu-1998"]).fine().out;
    assert!(text.contains("the mean of each family") && text.contains("reference"), "{text}");
    assert!(text.lines().count() <= 60, "{text}");
    let all = place.ask(&["compare", "published:babar-cpu-1998", "--all"]).fine().out;
    assert!(all.lines().count() > 2 * text.lines().count(), "{all}");
}

/// Two machines in three commands: measure here, measure there, compare with prices.
#[test]
fn two_machines_are_compared_in_three_commands() {
    let place = Place::new();
    let few =
        ["--benchmark", "os.syscall_write", "--benchmark", "os.clock_read", "--target", "50", "--max-samples", "8"];
    let mut told = Vec::new();
    for name in ["A", "B"] {
        let mut command = place.prony();
        command.args(["run", "--share", "--label", name, "--note", "measured in /home/ada by ada@example.org"]);
        let output = command.args(few).env("XDG_DATA_HOME", place.path()).env("USER", "adalovelace").output().unwrap();
        let answer = Answer::of(output).fine();
        assert!(
            answer.err.contains(&format!("Wrote {name}.prony.json")) && answer.err.contains("Taken out"),
            "{answer:?}"
        );
        told.push(std::fs::read_to_string(place.file(&format!("{name}.prony.json"))).unwrap());
    }
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let folder = place.path().display().to_string();
    for text in &told {
        for secret in ["ada@example.org", "/home/ada", &folder, "machine.hostname", "machine.id_hash", "command_line"] {
            assert!(!text.contains(secret), "{secret}");
        }
        assert!(!text.contains(&format!("\"{}\"", host.trim())), "the host's name");
    }
    // The same machine has the same salted name in both.
    let name = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap()["machine"]["fingerprint"].clone();
    assert_eq!(name(&told[0]), name(&told[1]));
    assert!(place.file("prony/share-salt").exists());

    let prices = ["--price", "A=0.31/h", "--price", "B=0.62/h"];
    let compared = place.ask(&[&["compare", "A.prony.json", "B.prony.json"][..], &prices].concat()).fine().out;
    assert!(compared.contains("Per price:") && compared.contains("at 2x the price of"), "{compared}");
    let found =
        place.ask(&[&["compare", "A.prony.json", "B.prony.json", "--format=json"][..], &prices].concat()).fine().json();
    let (mean, per) = (&found["geometric_means"], &found["per_price"][0]);
    let all = mean
        .as_array()
        .unwrap()
        .iter()
        .find(|mean| mean["family"].is_null() && mean["machine"] == per["machine"])
        .unwrap();
    for end in ["value", "low", "high"] {
        let (gain, per) = (all[end].as_f64().unwrap(), per[end].as_f64().unwrap());
        assert!((per - gain / 2.0).abs() < 1e-9 * gain, "{end}: {per} and {gain}");
    }
    for wrong in [
        &["--price", "A=0.31/h"][..],
        &["--price", "A=0.31/h", "--price", "B=0.62/month"],
        &["--price", "A=free", "--price", "B=0.62/h"],
        &["--price", "C=0.3/h", "--price", "B=0.62/h"],
    ] {
        let answer = place.ask(&[&["compare", "A.prony.json", "B.prony.json"], wrong].concat());
        assert_eq!(answer.code, Some(2), "{wrong:?}: {answer:?}");
        assert!(answer.out.is_empty() && answer.err.contains("price"), "{wrong:?}: {answer:?}");
    }
    // Full sharing keeps everything.
    let mut command = place.prony();
    command.args(["run", "--share=full", "--label", "whole"]).args(few);
    let answer = Answer::of(command.output().unwrap()).fine();
    assert!(answer.err.contains("everything else"), "{answer:?}");
    assert!(std::fs::read_to_string(place.file("whole.prony.json")).unwrap().contains("machine.hostname"));
}

#[test]
fn what_is_written_is_read_by_every_verb() {
    let place = Place::with_a_run();
    let run = place.file("a.json");
    for (file, arguments) in [
        ("shown.json", &["show", "1", "--format=json"][..]),
        ("both.json", &["show", "1", "./a.json", "--format=json"]),
        ("tidy.csv", &["show", "1", "--format", "csv"]),
    ] {
        let written = place.ask(arguments).fine().out;
        std::fs::write(place.file(file), written).unwrap();
        let path = format!("./{file}");
        if file != "both.json" {
            assert_eq!(place.ask(&["show", &path]).code, Some(0), "{file}");
            assert_eq!(place.ask(&["report", &path]).code, Some(0), "{file}");
            assert_eq!(place.ask(&["export", &path, "--to", "openmetrics"]).code, Some(0), "{file}");
        }
        assert_eq!(place.ask(&["compare", &path, "1"]).code, Some(0), "{file}");
    }
    // A broken document is refused as one, and not as something that no importer knows.
    let text = std::fs::read_to_string(run).unwrap();
    std::fs::write(place.file("cut.json"), &text[..text.len() / 2]).unwrap();
    let said = place.ask(&["show", "./cut.json"]).refused();
    assert!(said.contains("cut.json") && said.contains("run document"), "{said}");
}
