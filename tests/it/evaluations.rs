//! The tables of published evaluations with a present machine added, through the program.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

use std::path::PathBuf;

use crate::common::Place;
use serde_json::{Value, json};

const EVALUATIONS: [&str; 6] = ["babar", "byte", "daisy", "ramspeed", "stream", "tape"];

/// A result of a mock run: its base unit and its outcome.
struct Mock<'a> {
    key: &'a str,
    unit: &'a str,
    outcome: Value,
}

fn measured(value: f64) -> Value {
    let estimate = json!({ "value": value, "low": value * 0.99, "high": value * 1.01, "level": 0.95, "samples": 10,
        "batches": 200, "method": "order_statistic" });
    json!({ "measured": estimate })
}

/// A run document with these results, stored in the directory of the test.
fn mock(place: &Place, name: &str, results: &[Mock<'_>]) -> String {
    let mut run = place.ask(&["show", "published:babar-cpu-1998/dec-alpha-uw-533-mhz", "--format=json"]).fine().json();
    let template = run["results"][0].clone();
    run["id"] = json!(format!("mock-{name}"));
    run["label"] = json!("mock");
    run.as_object_mut().unwrap().remove("origin");
    run["machine"]["name"] = json!("mocked");
    run["results"] = results
        .iter()
        .map(|mock| {
            let (benchmark, parameters) = mock.key.split_once(':').unwrap_or((mock.key, ""));
            let parameters: serde_json::Map<String, Value> = parameters
                .split(',')
                .filter_map(|pair| pair.split_once('='))
                .map(|(parameter, value)| (parameter.to_owned(), json!(value)))
                .collect();
            let mut result = template.clone();
            result["benchmark"] = json!(benchmark);
            result["parameters"] = Value::Object(parameters);
            result["title"] = json!(benchmark);
            result["metric"]["unit"] = json!(mock.unit);
            result["metric"]["better"] = json!(if mock.unit == "seconds" { "lower" } else { "higher" });
            result["outcome"] = mock.outcome.clone();
            result["flags"] = json!([]);
            result["notes"] = json!([]);
            result
        })
        .collect();
    let file = place.file(&format!("{name}.json"));
    std::fs::write(&file, run.to_string()).unwrap();
    format!("./{name}.json")
}

/// The rows of a table that ships with the program.
fn printed(file: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/published")).join(file);
    let mut reader = csv::Reader::from_path(path).unwrap();
    let header = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let rows = reader.records().map(|row| row.unwrap().iter().map(|cell| cell.trim().to_owned()).collect()).collect();
    (header, rows)
}

/// A table from JSON, its printed file, and the number of printed columns.
const PRINTED: &[(&str, usize, &str)] = &[
    ("babar", 0, "babar-cpu-1998/table1_memory_bandwidth.csv"),
    ("babar", 2, "babar-cpu-1998/table2_null_syscall.csv"),
    ("babar", 3, "babar-cpu-1998/table3_process_creation.csv"),
    ("babar", 4, "babar-cpu-1998/table4_signal_handling.csv"),
    ("babar", 5, "babar-cpu-1998/table5_context_switch.csv"),
    ("babar", 7, "babar-cpu-1998/table6_ipc_latency.csv"),
    ("babar", 8, "babar-cpu-1998/table7_file_operations.csv"),
    ("byte", 0, "cyberlife-2004/byte_benchmark.csv"),
    ("daisy", 0, "daisy-heat-1996/table8_bw_pipe.csv"),
    ("daisy", 1, "daisy-heat-1996/table9_bw_tcp.csv"),
    ("daisy", 2, "daisy-heat-1996/table10_cached_io.csv"),
    ("daisy", 3, "daisy-heat-1996/table11_memory_latency.csv"),
    ("ramspeed", 0, "cyberlife-2004/ramspeed.csv"),
    ("tape", 0, "ams02-2002/table6_tape_streaming.csv"),
];

fn same(cell: &Value, text: &str) -> bool {
    match cell {
        Value::String(words) => words == text,
        Value::Number(number) => text.parse::<f64>().ok() == number.as_f64(),
        Value::Null => text.is_empty(),
        _ => false,
    }
}

#[test]
fn printed_rows_and_columns_are_those_of_the_page_in_its_order() {
    let place = Place::new();
    let empty = mock(&place, "empty", &[]);
    for evaluation in EVALUATIONS {
        let shown = place.ask(&["show", &empty, "--as", evaluation, "--format=json"]).fine().json();
        for (_, index, file) in PRINTED.iter().filter(|(name, ..)| *name == evaluation) {
            let (header, rows) = printed(file);
            let table = &shown["tables"][index];
            let all: Vec<&Vec<Value>> =
                table["rows"].as_array().unwrap().iter().map(|row| row.as_array().unwrap()).collect();
            let theirs: Vec<&&Vec<Value>> = all.iter().filter(|row| row[0] != "mocked").collect();
            assert_eq!(theirs.len(), rows.len(), "{file}");
            assert!(table["columns"].as_array().unwrap().len() >= header.len(), "{file}");
            for (ours, page) in theirs.iter().zip(&rows) {
                for (cell, text) in ours.iter().zip(page) {
                    assert!(same(cell, text), "{file}: {cell} is printed as {text}");
                }
            }
        }
    }
}

/// The names of a table's rows, from the top.
fn names(shown: &Value, table: usize) -> Vec<String> {
    let rows = shown["tables"][table]["rows"].as_array().unwrap();
    rows.iter().map(|row| format!("{} {}", row[0].as_str().unwrap(), row[1].as_str().unwrap_or_default())).collect()
}

#[test]
fn a_present_machine_is_sorted_among_the_printed_ones() {
    let place = Place::new();
    let results = [
        Mock { key: "os.syscall_write", unit: "seconds", outcome: measured(3.5e-6) },
        Mock {
            key: "memory.memcpy:working_set=256MiB,piece=whole",
            unit: "bytes_per_second",
            outcome: measured(180e6),
        },
        Mock { key: "os.fork_exec:linking=dynamic,program=hello", unit: "seconds", outcome: measured(0.5e-3) },
        Mock { key: "file.delete:size=0B,durability=none,place=target", unit: "per_second", outcome: measured(10.0) },
    ];
    let run = mock(&place, "placed", &results);
    let shown = place.ask(&["show", &run, "--as", "babar", "--format=json"]).fine().json();
    let above = |table: usize| names(&shown, table).iter().position(|name| name.starts_with("mocked")).unwrap();
    // 187 and 176 MB/s are the neighbours; more is better.
    assert_eq!(above(0), 2, "{:?}", names(&shown, 0));
    // Six machines print 2 or 3 us; less is better.
    assert_eq!(above(2), 6, "{:?}", names(&shown, 2));
    assert_eq!(above(3), 0, "{:?}", names(&shown, 3));
    assert_eq!(above(8), 11, "{:?}", names(&shown, 8));
    // Without a result of the sorted column it is last.
    assert_eq!(above(4), 11, "{:?}", names(&shown, 4));
    let row = &shown["tables"][0]["rows"][2];
    assert_eq!(row[2]["unit"], "MB/s");
    assert!(
        (row[2]["value"].as_f64().unwrap() - 180.0).abs() < 1e-9 && row[2]["low"].as_f64().unwrap() < 180.0,
        "{row}"
    );
}

#[test]
fn clusters_stay_below_the_sorted_machines() {
    let place = Place::new();
    let empty = mock(&place, "none", &[]);
    let shown = place.ask(&["show", &empty, "--as", "daisy", "--format=json"]).fine().json();
    let cell = shown["tables"][0]["rows"].as_array().unwrap().iter().find(|row| row[0] == "mocked").unwrap()[2].clone();
    let complete = cell["result"].as_str().unwrap();
    let run = mock(&place, "slow", &[Mock { key: complete, unit: "bytes_per_second", outcome: measured(1e6) }]);
    let shown = place.ask(&["show", &run, "--as", "daisy", "--format=json"]).fine().json();
    // 15 published machines are sorted; those of the clusters follow as printed.
    assert!(names(&shown, 0)[15].starts_with("mocked"), "{:?}", names(&shown, 0));
    assert!(names(&shown, 0)[16].ends_with("DAISy"), "{:?}", names(&shown, 0));
}

#[test]
fn times_have_the_units_of_the_page_and_gaps_have_reasons() {
    let place = Place::new();
    let estimate = |value: f64| measured(value)["measured"].clone();
    let results = [
        Mock { key: "os.exec:linking=dynamic", unit: "seconds", outcome: measured(0.5e-3) },
        Mock { key: "shell.dc", unit: "per_second", outcome: json!({ "not_measured": "there is no dc" }) },
        Mock { key: "shell.script:concurrent=1,placement=free", unit: "per_second", outcome: measured(3.0) },
        Mock {
            key: "os.pipe_switch:placement=same_cpu",
            unit: "per_second",
            outcome: json!({ "modes": [{ "share": 0.5, "estimate": estimate(1e5) }, { "share": 0.5, "estimate": estimate(4e5) }] }),
        },
    ];
    let run = mock(&place, "gaps", &results);
    let said = place.ask(&["show", &run, "--as", "byte"]).fine().out;
    let line = |start: &str| {
        let found = said.lines().find(|line| line.trim_start().starts_with(start));
        found.unwrap_or_else(|| panic!("no line {start} in {said}")).to_owned()
    };
    let execl = line("Execl Throughput Test");
    assert!(execl.contains("lps") && execl.contains("1338.0") && execl.contains("276.6"), "{execl}");
    assert!(execl.contains("2000") && execl.contains("1980"), "{execl}");
    assert!(execl.trim_end().ends_with("– 2020"), "{execl}");
    assert!(line("Shell scripts (1 concurrent)").contains("180"), "scripts a minute: {said}");
    assert!(line("Dc: sqrt(2)").contains('—'), "{said}");
    assert!(said.contains("there is no dc") && said.contains("two modes"), "{said}");
    let switching = line("Pipe-based Context Switching");
    assert!(switching.contains('|') && !switching.contains('—'), "modes are printed, not a dash: {switching}");
    assert!(said.contains("CyberLife Labs"), "the source is named: {said}");
    let csv = place.ask(&["show", &run, "--as", "byte", "--format", "csv"]).fine().out;
    assert!(csv.starts_with("table,row,column,printed,result,unit,value,low,high,reason"), "{csv}");
    let page = place.ask(&["report", &run, "--as", "byte", "--output", "page.html"]).fine().out;
    assert!(page.contains("page.html"), "{page}");
    let html = std::fs::read_to_string(place.file("page.html")).unwrap();
    assert!(html.contains("Execl Throughput Test") && html.contains("3880692.0"), "printed digits are kept");
}

#[test]
fn results_of_near_and_other_definitions_are_marked_at_the_cell() {
    let place = Place::new();
    let results = [
        Mock { key: "os.exec:linking=dynamic", unit: "seconds", outcome: measured(0.5e-3) },
        Mock {
            key: "file.write:buffer=1KiB,place=target,durability=none",
            unit: "bytes_per_second",
            outcome: measured(2e9),
        },
        Mock {
            key: "file.write:buffer=1KiB,place=target,durability=fsync",
            unit: "bytes_per_second",
            outcome: measured(8e7),
        },
        Mock { key: "os.syscall_mix", unit: "per_second", outcome: measured(1e6) },
    ];
    let run = mock(&place, "marked", &results);
    let said = place.ask(&["show", &run, "--as", "byte"]).fine().out;
    let line = |start: &str| said.lines().find(|line| line.trim_start().starts_with(start)).unwrap().to_owned();
    assert!(line("Execl Throughput Test").contains('†'), "{said}");
    let (cache, disk) = (line("File Write (10 seconds)"), line("File Write (30 seconds)"));
    assert!(cache.contains('‡') && !disk.contains('‡') && disk.contains('†'), "{cache}\n{disk}");
    assert!(!line("System Call Overhead").contains('†'), "{said}");
    assert!(said.contains("‡ another definition") && said.contains("† nearly the same definition"), "{said}");
    let markdown = place.ask(&["show", &run, "--as", "byte", "--format", "markdown"]).fine().out;
    assert!(markdown.contains('‡') && markdown.contains('†'), "{markdown}");
    let csv = place.ask(&["show", &run, "--as", "byte", "--format", "csv"]).fine().out;
    assert!(csv.lines().next().unwrap().ends_with(",differs") && csv.contains("stays in the page cache"), "{csv}");
    let json = place.ask(&["show", &run, "--as", "byte", "--format=json"]).fine().json();
    let rows = json["tables"][0]["rows"].as_array().unwrap();
    let row = |start: &str| rows.iter().find(|row| row[0].as_str().unwrap().starts_with(start)).unwrap();
    let (cache, disk) = (&row("File Write (10")[4], &row("File Write (30")[4]);
    assert!(cache["definition"]["other"].is_string() && disk["definition"]["near"].is_string(), "{cache} {disk}");
}

#[test]
fn another_definition_is_in_no_mean_and_gets_no_verdict() {
    let place = Place::new();
    let results = |exec: &'static str| {
        [
            Mock { key: exec, unit: "seconds", outcome: measured(30e-6) },
            Mock { key: "os.syscall_mix", unit: "per_second", outcome: measured(1e6) },
            Mock { key: "cpu.hanoi", unit: "per_second", outcome: measured(1e5) },
        ]
    };
    let old = mock(&place, "old", &results("os.exec"));
    let new = mock(&place, "new", &results("os.exec:linking=dynamic"));
    let published = "published:cyberlife-2004/appserver.geo";
    let compared = |run: &str| place.ask(&["compare", published, run, "--all", "--format=json"]).fine().json();
    let rows = |json: &Value| {
        let rows = json["rows"].as_array().unwrap();
        rows.iter().map(|row| row["benchmark"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (old, with) = (compared(&old), compared(&new));
    assert!(!rows(&old).contains(&"os.exec".to_owned()), "what called a static program pairs with nothing");
    assert!(rows(&with).contains(&"os.exec".to_owned()));
    let near = with["rows"].as_array().unwrap().iter().find(|row| row["benchmark"] == "os.exec").unwrap();
    assert!(near["ratios"][1]["definition"]["near"].is_string() && near["ratios"][1]["value"].is_number(), "{near}");
    let said = place.ask(&["compare", published, &new, "--all"]).fine().out;
    assert!(said.contains("† nearly the same definition"), "{said}");
    let csv = place.ask(&["compare", published, &new, "--format", "csv"]).fine().out;
    assert!(csv.lines().next().unwrap().ends_with("definition,differs,help,detectable"), "{csv}");
}

#[test]
fn unknown_evaluations_and_several_runs_are_refused() {
    let place = Place::new();
    let empty = mock(&place, "refused", &[]);
    let said = place.ask(&["show", &empty, "--as", "lmbench"]).refused();
    assert!(said.contains("babar, byte, daisy, ramspeed, stream"), "{said}");
    let said = place.ask(&["report", &empty, &empty, "--as", "babar"]).refused();
    assert!(said.contains("one run"), "{said}");
}

#[test]
fn measuring_an_evaluation_prints_its_tables_and_keeps_the_run() {
    let mut limits = ["6s", "40s", "160s"].into_iter();
    testing::attempts(3, || {
        let place = Place::new();
        let arguments = ["run", "--suite", "ramspeed", "--target", "50", "--label", "today", "--time-limit"];
        let answer = place.ask(&[&arguments[..], &[limits.next().unwrap()]].concat());
        testing::hold!(answer.code == Some(0), "{answer:?}");
        let said = answer.out;
        for needed in ["RAMspeed (MB/s) by block size", "11650.8", "Every result of the run", "Stored as run 1"] {
            assert!(said.contains(needed), "{needed} is missing: {said}");
        }
        let again = place.ask(&["show", "today", "--as", "ramspeed", "--format=json"]).fine().json();
        let rows = again["tables"][0]["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 15);
        for row in rows {
            // On a loaded machine a result may lack samples, and then says so.
            let stands =
                |cell: &Value| cell["value"].as_f64().is_some_and(|value| value > 1.0) || cell["reason"].is_string();
            assert!(stands(&row[5]) && stands(&row[7]), "{row}");
            // On a heavily loaded one, the time limit is reached before every result was measured.
            testing::hold!(row[5]["reason"] != "this run did not measure it", "{row}");
        }
        Ok(())
    });
}
