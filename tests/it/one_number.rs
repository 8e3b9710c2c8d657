//! One result has one value, whichever command prints it: `show`, `compare`, `report`, `fleet spread` and `export`.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;

use serde_json::Value;

use crate::common::Place;

/// Recorded runs: a machine idle and under other load, and two runs of another one whose second was preempted.
fn recorded() -> Place {
    let place = Place::with_two_runs();
    for name in ["alone", "loaded", "quiet", "preempted"] {
        let packed = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/docs/").to_owned() + name + ".json.zst";
        let document = place.ask(&["show", &packed, "--format=json"]).fine().out;
        std::fs::write(place.file(&format!("{name}.json")), document).unwrap();
    }
    place
}

const PAIRS: [[&str; 2]; 6] = [
    ["alone.json", "loaded.json"],
    ["loaded.json", "alone.json"],
    ["alone.json", "quiet.json"],
    ["quiet.json", "preempted.json"],
    ["preempted.json", "loaded.json"],
    ["1", "2"],
];

fn key(row: &Value) -> String {
    format!("{}:{}", row["benchmark"], row["parameters"])
}

/// Value, low and high of every result of a run as `show` states them, clean and raw.
fn shown(place: &Place, run: &str) -> BTreeMap<String, [Option<Value>; 2]> {
    let document = place.ask(&["show", run, "--format=json"]).fine().json();
    let ends = |estimate: &Value| {
        let three = ["value", "low", "high"].map(|name| estimate[name].clone());
        estimate.is_object().then(|| Value::from(three.to_vec()))
    };
    let of = |result: &Value| {
        let raw = ends(&result["sensors"]["raw"]);
        (key(result), [ends(&result["outcome"]["measured"]), raw])
    };
    document["results"].as_array().unwrap().iter().map(of).collect()
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64()
}

/// Whether two numbers are the same but for the last bits of their text.
fn equal(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

#[test]
fn every_output_has_the_same_value_interval_and_ratio() {
    let place = recorded();
    for [a, b] in PAIRS {
        let found = place.ask(&["compare", a, b, "--all", "--format=json"]).fine().json();
        let sides = [shown(&place, a), shown(&place, b)];
        let rows = found["rows"].as_array().unwrap();
        assert!(!rows.is_empty() && rows.iter().all(|row| !row["benchmark"].as_str().unwrap().starts_with("cpu.c")));
        for row in rows {
            let [base, other] = [&row["ratios"][0], &row["ratios"][1]];
            let on_raw = other["basis"] == "raw";
            let mut values = Vec::new();
            for (cell, side) in [base, other].into_iter().zip(&sides) {
                let Some(estimate) = cell["outcome"]["measured"].as_object() else { continue };
                let own = Value::from(["value", "low", "high"].map(|name| estimate[name].clone()).to_vec());
                let [clean, raw] = &side[&key(row)];
                let wanted = if on_raw { raw.as_ref().or(clean.as_ref()) } else { clean.as_ref() };
                assert_eq!(Some(&own), wanted, "{a} {b} {}: `show` and `compare` differ, raw: {on_raw}", key(row));
                values.push(estimate["value"].as_f64().unwrap());
            }
            // A ratio is that of the two printed values, and lies in its interval.
            if let (Some(ratio), [x, y]) = (number(&other["value"]), &values[..]) {
                let gain = if row["metric"]["better"] == "lower" { x / y } else { y / x };
                assert!(equal(ratio, gain), "{a} {b} {}: {ratio} and {gain}", key(row));
                let ends = number(&other["low"]).zip(number(&other["high"]));
                assert!(ends.is_none_or(|(low, high)| low <= ratio && ratio <= high), "{other}");
                // No verdict from fewer than eight samples.
                let few = [base, other].iter().any(|cell| number(&cell["outcome"]["measured"]["samples"]) < Some(8.0));
                assert!(!few || (ends.is_none() && other["verdict"] == "inconclusive"), "{other}");
            }
        }
        // The page holds the same comparison.
        let page = place.ask(&["report", a, b, "--format", "json"]).fine().json();
        for part in ["rows", "conditions", "geometric_means"] {
            assert_eq!(page["comparison"][part], found[part], "{a} {b}: `report` and `compare` differ in {part}");
        }
        let means = found["geometric_means"].as_array().unwrap();
        let other = |mean: &&Value| mean["machine"] != found["reference"];
        assert!(means.iter().filter(other).all(|mean| mean["low"].is_number()), "{a} {b}: a mean without an interval");
        // Tables of records have them too.
        let csv = place.ask(&["compare", a, b, "--all", "--format", "csv"]).fine().out;
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let head = reader.headers().unwrap().clone();
        let at = |name: &str| head.iter().position(|one| one == name).unwrap();
        let cells: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        let ratios = rows.iter().flat_map(|row| row["ratios"].as_array().unwrap());
        for (cell, ratio) in cells.iter().zip(ratios) {
            for (column, stated) in [
                ("value", &ratio["outcome"]["measured"]["value"]),
                ("gain", &ratio["value"]),
                ("low", &ratio["low"]),
                ("high", &ratio["high"]),
            ] {
                assert_eq!(cell[at(column)].parse::<f64>().ok(), number(stated), "{a} {b}: {column} of {cell:?}");
            }
        }
        // Fleets print the values of their nodes.
        let fleet = place.ask(&["fleet", "spread", a, b, "--format=json"]).fine().json();
        for result in fleet["spread"]["results"].as_array().unwrap() {
            for (value, side) in result["values"].as_array().unwrap().iter().zip(&sides) {
                let known = &side[&key(result)];
                let own = Value::from(["value", "low", "high"].map(|name| value[name].clone()).to_vec());
                assert!(value.is_null() || known.iter().flatten().any(|one| *one == own), "{a} {b}: {result}");
            }
        }
    }
}

/// The cells of a table as words, by its first column; rows that go on below are left out.
fn cells(text: &str) -> BTreeMap<String, Vec<String>> {
    let split =
        |line: &str| line.split("  ").map(|cell| cell.trim().to_owned()).filter(|cell| !cell.is_empty()).collect();
    let rows = text.lines().filter(|line| line.starts_with("    ") && !line.starts_with("     "));
    let rows = rows.map(split).filter(|cells: &Vec<String>| cells.len() > 2);
    rows.map(|mut cells| (cells.remove(0), cells)).collect()
}

/// The words of a page without its markup.
fn words(page: &str) -> String {
    let parts = page.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    parts.collect::<String>().replace('\u{a0}', " ")
}

/// Digits that nobody can paste, units that say nothing, and zeros before a number.
#[test]
fn printed_numbers_can_be_pasted_and_name_their_unit() {
    let place = recorded();
    for run in ["alone.json", "loaded.json", "quiet.json"] {
        let text = place.ask(&["show", run, "--all", "--format", "tsv"]).fine().out;
        for row in text.lines().map(|line| line.split('\t').collect::<Vec<_>>()).filter(|row| row.len() > 4) {
            let value = row[2];
            if !value.starts_with(|c: char| c.is_ascii_digit()) {
                continue;
            }
            let digits = value.split(' ').next().unwrap_or_default();
            assert!(!value.contains(" /s") && !value.contains("M/s"), "{run}: {row:?}");
            // Below a nanosecond there is no prefix.
            assert!(!digits.starts_with("0.0") || value.contains('%'), "{run}: {row:?}");
            assert!(value.matches(' ').count() <= 1, "{run}: a blank within digits: {row:?}");
        }
    }
    let shown = place.ask(&["show", "alone.json"]).fine().out;
    for wanted in
        [" files/s", "15 results in 22 s", " UTC", "p50", "p99.9", "same core", "IPC", "in the test directory"]
    {
        assert!(shown.contains(wanted), "{wanted}: {shown}");
    }
}

#[test]
fn people_read_the_same_digits_everywhere() {
    let place = recorded();
    for [a, b] in PAIRS {
        let read = |arguments: &[&str]| {
            let output = place.prony().args(arguments).env_remove("COLUMNS").output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        let compared = read(&["compare", a, b, "--all"]);
        let page = words(&read(&["report", a, b, "-o", "-"]));
        let tabs = [a, b].map(|run| read(&["show", run, "--format", "tsv"]));
        let spread = cells(&read(&["fleet", "spread", a, b]));
        let sides = [a, b].map(|run| cells(&read(&["show", run])));
        let mut seen = 0;
        for (name, row) in cells(&compared) {
            if row.iter().any(|cell| cell == "raw" || cell.contains("not measured"))
                || sides.iter().any(|side| !side.contains_key(&name))
            {
                continue;
            }
            // Digits and prefix of one value are the same in all tables.
            for ((value, side), tabs) in row.iter().zip(&sides).zip(&tabs) {
                assert_eq!(*value, side[&name][0], "{a} {b} {name}");
                assert!(page.contains(value), "{a} {b} {name}: the page lacks {value}");
                assert!(tabs.contains(&format!("\t{name}\t{value}\t")), "{a} {b} {name}: {value} in {tabs}");
            }
            let node = &spread[&name];
            assert!(row[..2].contains(&node[0]) && row[..2].contains(&node[2]), "{a} {b} {name}: {node:?} {row:?}");
            let change = row[2].split(' ').next().unwrap();
            assert!(page.contains(change), "{a} {b} {name}: the page lacks {change}");
            seen += 1;
        }
        assert!(seen > 0 || a == "preempted.json" || b == "preempted.json" || b == "quiet.json", "{a} {b}: {compared}");
    }
}

#[test]
fn preempted_samples_give_no_verdict_no_gate_and_no_mean() {
    let place = recorded();
    let gate = place.ask(&["compare", "quiet.json", "preempted.json", "--fail-on", "slower:5"]);
    assert_eq!(gate.code, Some(3), "{gate:?}");
    assert!(gate.out.contains("0 slower, ") && !gate.out.contains("All results"), "{gate:?}");
}

#[test]
fn a_gate_that_could_test_nothing_is_inconclusive() {
    let place = recorded();
    let only = |from: &str, to: &str, keep: &dyn Fn(&Value) -> bool, change: &dyn Fn(&mut Value)| {
        let mut run: Value = serde_json::from_slice(&std::fs::read(place.file(from)).unwrap()).unwrap();
        run["results"].as_array_mut().unwrap().retain(keep);
        run["results"].as_array_mut().unwrap().iter_mut().for_each(change);
        run["id"] = Value::from(to);
        std::fs::write(place.file(to), run.to_string()).unwrap();
    };
    let benchmark = |result: &Value| result["benchmark"].as_str().unwrap().to_owned();
    only(
        "alone.json",
        "memory.json",
        &|result| benchmark(result).starts_with("memory") || benchmark(result).starts_with("cpu"),
        &|_| (),
    );
    only(
        "loaded.json",
        "os.json",
        &|result| benchmark(result).starts_with("os") || benchmark(result).starts_with("cpu"),
        &|_| (),
    );
    let gate = place.ask(&["compare", "memory.json", "os.json", "--fail-on", "slower:5"]);
    assert_eq!(gate.code, Some(3), "the clock alone is no common result: {gate:?}");
    assert!(gate.err.contains("nothing could be tested"), "{gate:?}");
    let passed = place.ask(&["compare", "memory.json", "os.json", "--fail-on", "slower", "--inconclusive", "pass"]);
    assert_eq!(passed.code, Some(0), "{passed:?}");
}
