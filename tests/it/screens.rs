//! Screens: a run and a comparison end with an answer, and all rows are there on request.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::common::{Answer, Place};

/// More results than a table of the answer has, all of them quick.
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

/// What a command prints at so many columns; no line is longer.
fn at(place: &Place, columns: usize, arguments: &[&str]) -> String {
    let mut command = place.prony();
    command.args(arguments).env("COLUMNS", columns.to_string());
    let said = Answer::of(command.output().unwrap()).fine().out;
    assert!(said.lines().all(|line| line.chars().count() <= columns), "{said}");
    said
}

/// The paragraph of the badge in one line.
fn badge(said: &str) -> String {
    let from = said.find("Quality: ").unwrap_or_else(|| panic!("no badge: {said}"));
    assert_eq!(said.matches("Quality: ").count(), 1, "{said}");
    let lines: Vec<&str> = said[from..].lines().map(str::trim).collect();
    let end = lines.iter().position(|line| line.is_empty() || line.contains(" results in ")).unwrap_or(lines.len());
    lines[..end].join(" ")
}

#[test]
fn a_run_ends_with_an_answer_on_one_screen() {
    let place = Place::new();
    let said = at(&place, 80, MANY);
    assert!(said.lines().count() <= 24, "{said}");
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for wanted in ["95% interval", "14 results in", "Stored as run 1", "prony show 1", "prony report 1"] {
        assert!(words.contains(wanted), "{wanted} is missing: {said}");
    }
    let own = badge(&said);
    assert!(["GOOD. ", "FAIR. ", "POOR. "].iter().any(|level| own[9..].starts_with(level)), "{own}");
    assert!(own.matches(". ").count() <= 3, "one reason, what the numbers are good to, one advice: {own}");
    // The same badge begins what is shown later, and the details end it.
    let shown = at(&place, 80, &["show", "1"]);
    assert!(shown.lines().count() > said.lines().count(), "{shown}");
    assert!(shown.contains("samples") && !said.contains("samples"), "{said}");
    assert!(badge(&shown) == own && shown.find("Quality: ").unwrap() < shown.find("interval").unwrap(), "{shown}");
    assert!(shown.find("results in").unwrap() < shown.find("interval").unwrap(), "{shown}");
    let notes = place.ask(&["show", "1", "--all"]).fine().out;
    assert!(notes.len() >= shown.len(), "{notes}");
    // A comparison decides in words; its rows are there on request.
    let brief = place.ask(&["compare", "1", "1"]).fine().out;
    assert!(brief.contains("0 slower, 0 faster, ") && !brief.contains("verdict"), "{brief}");
    let all = place.ask(&["compare", "1", "1", "--all"]).fine().out;
    assert!(all.contains("verdict") && all.lines().count() > brief.lines().count(), "{all}");
}

/// A machine that had nothing else to do, and the same one while another program copied memory.
#[test]
fn the_quality_of_a_run_has_one_reason_and_one_advice() {
    let place = Place::new();
    let document = |name: &str| format!("{}/tests/docs/{name}.json.zst", env!("CARGO_MANIFEST_DIR"));
    let (alone, loaded) = (document("alone"), document("loaded"));
    for columns in [80, 100, 120] {
        let clean = badge(&at(&place, columns, &["show", &alone]));
        assert!(clean.starts_with("Quality: GOOD. No interference was seen. 9 of 10 numbers are good to "), "{clean}");
        assert_eq!(clean.matches(". ").count(), 2, "nothing is to be done: {clean}");
        let shown = at(&place, columns, &["show", &loaded]);
        let disturbed = badge(&shown);
        assert!(
            disturbed.starts_with("Quality: FAIR. Other processes used 41% of the CPUs. 9 of 10 numbers "),
            "{disturbed}"
        );
        assert!(disturbed.ends_with(" Stop other processes and run again, or add --time-limit 10m."), "{disturbed}");
        assert_eq!(disturbed.matches(". ").count(), 3, "one reason and one advice: {disturbed}");
        assert!(shown.replace("\n ", "").contains("1 sample repeated: "), "details come last: {shown}");
    }
    let quality = place.ask(&["show", &loaded, "--format=json"]).fine().json()["quality"].clone();
    assert_eq!(
        (&quality["level"], &quality["reasons"][0]),
        (&"fair".into(), &"other processes used 41% of the CPUs".into())
    );
    // What another tool measured has no quality that Prony knows.
    let published = place.ask(&["show", "published:cyberlife-2004/appserver.geo"]).fine().out;
    assert!(!published.contains("Quality"), "{published}");
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
    assert!(text.contains("mean of each family") && text.contains("baseline"), "{text}");
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
    assert!(compared.contains("Performance per price: ") && compared.contains("costs 2x as much as"), "{compared}");
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
