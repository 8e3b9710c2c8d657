//! `prony predict`, `choose` and `trend` through the program.

#![allow(clippy::unwrap_used, reason = "tests and their helpers")]

use std::path::{Path, PathBuf};

use crate::common::Place;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/examples").join(name)
}

fn chosen(place: &Place, name: &str) -> serde_json::Value {
    let path = example(name);
    place.ask(&["choose", path.to_str().unwrap(), "--format=json"]).fine().json()
}

#[test]
fn the_networks_of_the_event_builder() {
    let found = chosen(&Place::new(), "babar-network.toml");
    let plan = &found["answer"]["plan"];
    assert_eq!(plan["plan"], serde_json::json!([{ "offer": "Fast Ethernet", "count": 37 }]));
    // 37 ports at $400 and cards at $225 in the middle; even with the most expensive cards Fast Ethernet remains ahead.
    assert!((plan["costs"]["total"].as_f64().unwrap() - 37.0 * 625.0).abs() < 1.0);
    assert_eq!(plan["probability_best"], 1.0);
}

#[test]
fn the_nodes_of_a_production_say_that_prices_are_placeholders() {
    let place = Place::new();
    let found = chosen(&place, "ams-nodes.toml");
    assert_eq!(found["answer"]["plan"]["plan"][0]["offer"], "dual Athlon MP 1800+");
    let path = example("ams-nodes.toml");
    let said = place.ask(&["choose", path.to_str().unwrap()]).fine().out;
    assert!(said.contains("PLACEHOLDERS") && said.contains("Take "), "{said}");
    // The note states no spread, which is not the same as a spread of zero.
    assert!(said.contains("NO ERROR BARS: the rate of reconstruction on \"dual Athlon MP 1800+\""), "{said}");
    assert_eq!(found["problem"]["offers"][0]["unknown_spread"][0], "reconstruction");
}

#[test]
fn a_cloud_choice_is_the_same_twice_and_names_what_to_find_out() {
    let place = Place::new();
    let found = chosen(&place, "cloud.toml");
    // Fewer draws for what does not depend on their number.
    let brief = std::fs::read_to_string(example("cloud.toml")).unwrap();
    let (path, brief) = (place.file("brief.toml"), brief.replace("draws = 500", "draws = 20"));
    std::fs::write(&path, brief).unwrap();
    let chosen_briefly = || place.ask(&["choose", path.to_str().unwrap(), "--format=json"]).fine().json();
    assert_eq!(chosen_briefly(), chosen_briefly());
    let plan = &found["answer"]["plan"];
    assert!(plan["information"][0]["value"].as_f64().unwrap() > 0.0, "{plan:#}");
    assert!(plan["reaches"].as_f64().unwrap() >= 0.95);
    assert_eq!(found["excluded"][0]["offer"], "bought, next year's");
    for format in ["markdown", "csv", "terminal"] {
        place.ask(&["choose", path.to_str().unwrap(), "--format", format]).fine();
    }
    // The plan comes first, with the names of offers in quotation marks, and little stands before the table.
    let said = |more: &[&str]| place.ask(&[&["choose", path.to_str().unwrap()], more].concat()).fine().out;
    let (brief, whole) = (said(&[]), said(&["--details"]));
    let items: Vec<&str> = brief.lines().filter(|line| line.trim_start().starts_with('·')).collect();
    assert!(items[0].contains("Take ") && items[0].contains("\"bought, 32 cores\"") && items.len() <= 6, "{brief}");
    assert!(!brief.contains("Pareto") && whole.contains("Pareto") && whole.contains("at the purchase"), "{whole}");
}

#[test]
fn bad_offers_are_refused_by_line_and_impossible_demands_answered() {
    let place = Place::new();
    let text = std::fs::read_to_string(example("babar-network.toml")).unwrap();
    let file = place.file("offers.toml");
    let ask = |text: &str| {
        std::fs::write(&file, text).unwrap();
        place.ask(&["choose", file.to_str().unwrap(), "--format=json"])
    };
    let bad = ask(&text.replacen("\"400 USD\"", "\"400 EUR\"", 1));
    assert!(bad.code == Some(2) && bad.err.contains("line 22") && bad.err.contains("USD"), "{}", bad.err);
    let unknown = ask(&text.replacen("port =", "prot =", 1));
    assert!(
        unknown.code == Some(2) && unknown.err.contains("line 22") && unknown.err.contains("prot"),
        "{}",
        unknown.err
    );
    let tight = ask(&text.replacen("nodes = 37", "nodes = 37\nbudget = \"10000 USD\"", 1)).fine().json();
    let shortage = &tight["answer"]["impossible"];
    let budget = shortage.as_array().unwrap().iter().find(|s| s["condition"] == "the budget").unwrap();
    assert!((budget["needed"].as_f64().unwrap() - 23_125.0).abs() < 1.0, "{shortage:#}");
    let absent = place.ask(&["choose", "nowhere.toml"]);
    assert!(absent.code == Some(2) && absent.err.contains("nowhere.toml"), "{}", absent.err);
}

#[test]
fn a_printed_program_is_predicted() {
    let place = Place::new();
    let found = place
        .ask(&[
            "predict",
            "ams02.test3",
            "--from",
            "published:ams02-2002",
            "--on",
            "AMD Athlon 1.2 GHz",
            "--format=json",
        ])
        .fine()
        .json();
    let forecast = &found["forecasts"][0];
    assert_eq!(forecast["machine"], "AMD Athlon 1.2 GHz");
    // Printed: 3.67 s. The machine itself is not in the training set.
    let (low, high) = (forecast["low"].as_f64().unwrap(), forecast["high"].as_f64().unwrap());
    assert!(low < 3.67 && 3.67 < high, "{forecast:#}");
    let unknown = place.ask(&["predict", "nothing", "--from", "published:ams02-2002"]);
    assert!(unknown.code == Some(2) && unknown.err.contains("application.session_cpu"), "{}", unknown.err);
    let empty = place.ask(&["predict", "anything"]);
    assert!(empty.code == Some(2) && empty.err.contains("anything"), "{}", empty.err);
}

#[test]
fn the_fit_of_1998_does_not_reach_2015() {
    let place = Place::new();
    // Values that double every 1.56 years, about as processors did.
    let dated: String = (0..53)
        .map(|at| {
            let (year, scatter) = (1990.0 + f64::from(at) / 6.0, 1.0 + 0.04 * f64::from(at * 7 % 5 - 2));
            format!("{year:.3} {:.4}\n", scatter * ((year - 1990.0) / 1.56).exp2())
        })
        .collect();
    std::fs::write(place.file("dated.dat"), dated).unwrap();
    let path = "dated.dat";
    let arguments = ["trend", path, "--years", "1990..1998.8", "--project", "2008", "2015"];
    let found = place.ask(&[arguments.as_slice(), &["--format=json"]].concat()).fine().json();
    let fit = &found["fits"][0];
    assert!((fit["doubling"]["value"].as_f64().unwrap() - 1.56).abs() < 0.02);
    assert!(fit["projections"].as_array().unwrap().iter().all(|projection| projection["out_of_reach"] == true));
    let said = place.ask(&arguments).fine().out;
    assert!(said.contains("too far to trust"), "{said}");
}

#[test]
fn a_result_keeps_its_unit_in_a_trend_and_its_best_values_are_the_lowest_times() {
    let place = Place::with_a_run();
    let mut run: serde_json::Value = serde_json::from_slice(&std::fs::read(place.file("a.json")).unwrap()).unwrap();
    let results = run["results"].as_array().unwrap();
    let at = results.iter().position(|result| result["benchmark"] == "os.syscall_write").unwrap();
    let mut names = Vec::new();
    for (year, nanos) in (2000..).zip([400.0, 210.0, 250.0, 105.0, 140.0, 52.0, 25.0]) {
        run["id"] = format!("of-{year}").into();
        run["session"]["started"] = format!("{year}-06-01T00:00:00Z").into();
        let value = nanos * 1e-9;
        run["results"][at]["outcome"] = serde_json::json!({ "measured": { "value": value, "low": value, "high": value,
            "level": 0.0, "samples": 1, "batches": 1, "method": "none" } });
        run["results"][at]["samples"] = serde_json::json!([]);
        let name = format!("./of-{year}.json");
        std::fs::write(place.file(&name), run.to_string()).unwrap();
        names.push(name);
    }
    let mut arguments: Vec<&str> =
        vec!["trend", "--results", "os.syscall_write", "--project", "2008", "--years", "2000.."];
    arguments.extend(names.iter().map(String::as_str));
    let said = place.ask(&arguments).fine().out;
    let line = |begin: &str| said.lines().find(|line| line.trim_start().starts_with(begin)).unwrap_or_default();
    assert!(line("· Projected median for 2008: ").contains(" ns (95% prediction interval "), "{said}");
    assert!(line("median 2008").contains("ns"), "{said}");
    let found = place.ask(&[&arguments[..], &["--format=json"]].concat()).fine().json();
    assert_eq!((&found["metric"]["unit"], &found["fits"][1]["curve"]), (&"seconds".into(), &"frontier".into()));
    assert_eq!(found["fits"][1]["points"], 5, "400, 210, 105, 52 and 25 ns were records: {found}");
}

#[test]
fn an_id_that_stands_for_several_results_has_no_trend() {
    let place = Place::new();
    // Tables of 2004 have reads of 1 KiB to 64 MiB, and those of 1998 of memory alone.
    let several = place.ask(&["trend", "published", "--results", "memory.read"]);
    assert!(
        several.code == Some(2) && several.err.contains("results, at different sets of parameters"),
        "{}",
        several.err
    );
    let one = several.err.split("--results ").nth(1).unwrap_or_default().split(": ").next().unwrap_or_default();
    assert!(one.starts_with("memory.read"), "{}", several.err);
    let asked = place.ask(&["trend", "published", "--results", one]);
    assert!(!asked.err.contains("at different sets of parameters"), "{}", asked.err);
}

/// One name of several results is no rate, and an exact one is.
#[test]
fn a_result_of_several_points_is_not_guessed() {
    let place = Place::new();
    let mut table = String::from("machine,cpu,benchmark (1/s),job:threads=1 (s),job:threads=4 (s)\n");
    for at in 0..6_i32 {
        let speed = 100.0 * 1.2_f64.powi(at);
        table.push_str(&format!("m{at},Intel Xeon E5-26{at}0,{speed:.3},{:.4},{:.4}\n", 400.0 / speed, 100.0 / speed));
    }
    std::fs::write(place.file("t.csv"), table).unwrap();
    place.ask(&["import", "t.csv"]).fine();
    let choose = |result: &str| {
        let text = format!(
            "currency = \"EUR\"\n[demand]\nrate = \"10 jobs/s\"\nyears = \"1 year\"\n[[demand.application]]\n\
             name = \"job\"\nresult = \"{result}\"\n[[offer]]\nname = \"a\"\nruns = \"1\"\nprice = \"1000 EUR\"\n"
        );
        std::fs::write(place.file("o.toml"), text).unwrap();
        place.ask(&["choose", "o.toml", "--format=json"])
    };
    let several = choose("table.job").refused();
    assert!(several.contains("table.job:threads=1, table.job:threads=4"), "{several}");
    // A job takes a second there.
    let exact = choose("table.job:threads=4").fine().json();
    assert_eq!(exact["answer"]["plan"]["plan"], serde_json::json!([{ "offer": "a", "count": 10 }]));
}

#[test]
fn invalid_dates_are_named_by_line() {
    let place = Place::new();
    let file = place.file("dated.txt");
    std::fs::write(&file, "1998 10\n1999 soon\n").unwrap();
    let bad = place.ask(&["trend", file.to_str().unwrap()]);
    assert!(bad.code == Some(2) && bad.err.contains("line 2") && bad.err.contains("soon"), "{}", bad.err);
    let result = place.ask(&["trend", "published"]);
    assert!(result.code == Some(2) && result.err.contains("--results"), "{}", result.err);
}

#[test]
fn a_rating_is_worth_more_within_a_family_than_across() {
    let place = Place::new();
    let arguments = ["app", "fit", "os.fork_exit", "published:babar-cpu-1998", "--against", "os.fork_shell"];
    let found = place.ask(&[arguments.as_slice(), &["--format=json"]].concat()).fine().json();
    let spread = |name: &str| found[name]["spread"]["value"].as_f64().unwrap();
    assert!(spread("within") < spread("across"), "{found:#}");
    assert!(found["fits"].as_array().unwrap().len() > 3);
    let said = place.ask(&arguments).fine().out;
    assert!(said.contains("Within a family, the rating predicts") && said.contains("Residuals"), "{said}");
    let alone = place.ask(&["app", "fit", "os.fork_exit", "published:babar-cpu-1998", "--against", "nothing"]);
    assert!(alone.code == Some(2) && alone.err.contains("nothing"), "{}", alone.err);
}

/// The newest of several runs of one machine counts, and a note mentions the others.
#[test]
fn the_newest_of_several_runs_of_a_machine_counts() {
    let place = Place::new();
    let import = |name: &str, row: &str| {
        std::fs::write(place.file(name), format!("machine,date,job (s),rating (score)\n{row}\n")).unwrap();
        place.ask(&["import", name]).fine();
    };
    for (name, row) in
        [("1.csv", "a,2024-06-01,2,3"), ("2.csv", "a,2024-01-01,1,9"), ("3.csv", "a,,5,7"), ("4.csv", "b,,1,6")]
    {
        import(name, row);
    }
    let choose = |runs: &str| {
        let text = format!(
            "currency = \"EUR\"\n[demand]\nrate = \"10 jobs/s\"\nyears = \"1 year\"\n[[demand.application]]\n\
             name = \"job\"\nresult = \"table.job\"\n[[offer]]\nname = \"node\"\nruns = {runs}\nprice = \"1000 EUR\"\n"
        );
        std::fs::write(place.file("o.toml"), text).unwrap();
        place.ask(&["choose", "o.toml"]).fine().out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    // A job takes two seconds there.
    for runs in ["[\"1\", \"2\", \"3\"]", "[\"3\", \"2\", \"1\"]"] {
        let said = choose(runs);
        assert!(said.contains("20 × \"node\"") && said.contains("the newest of 3 runs that have it"), "{said}");
        assert!(said.contains("The others differ by −60% to +100%"), "{said}");
    }
    let said = choose("\"2\"");
    assert!(said.contains("10 × \"node\"") && !said.contains("newest"), "{said}");
    let fit = ["app", "fit", "table.job", "1", "2", "3", "4", "--against", "table.rating"];
    let found = place.ask(&[&fit[..], &["--format=json"]].concat()).fine().json();
    assert_eq!(found["fits"][0]["machines"].as_u64(), Some(2), "{found:#}");
    assert_eq!(found["pairs"][0]["rating"]["value"].as_f64(), Some(3.0), "{found:#}");
    let said = place.ask(&fit).fine().out;
    assert!(said.contains("2 machines") && said.contains("4 runs have these results"), "{said}");
    let one = place.ask(&["app", "fit", "table.job", "1", "2", "--against", "table.rating"]).refused();
    assert!(one.contains("fewer than two machines have both"), "{one}");
}

#[test]
fn a_report_holds_what_other_verbs_find() {
    let place = Place::new();
    let dated = place.file("dated values.txt");
    let values: String = (0..20)
        .map(|year| format!("{} {}\n", 1990 + year, 1.5_f64.powi(year) * (1.0 + 0.02 * f64::from(year % 3))))
        .collect();
    std::fs::write(&dated, values).unwrap();
    let offers = example("babar-network.toml");
    let arguments = [
        "report".to_owned(),
        "published:babar-cpu-1998".to_owned(),
        "--with=predict ams02.test3 --from published:ams02-2002 --on 'AMD Athlon 1.2 GHz'".to_owned(),
        format!("--with=choose {}", offers.display()),
        "--with=trend 'dated values.txt' --project 2015".to_owned(),
        "--with=app fit os.fork_exit published:babar-cpu-1998 --against os.fork_shell".to_owned(),
    ];
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    place.ask(&[arguments.as_slice(), &["--output", "whole.html"]].concat()).fine();
    let html = std::fs::read_to_string(place.file("whole.html")).unwrap();
    for part in ["AMD Athlon 1.2 GHz", "Fast Ethernet", "dated values", "Within a family, the rating"] {
        assert!(html.contains(part), "{part} is missing from the report");
    }
    let found = place.ask(&[arguments.as_slice(), &["--format=json"]].concat()).fine().json();
    let with = found["with"].as_array().unwrap();
    assert_eq!(with.len(), 4);
    assert_eq!(with[0]["findings"]["forecasts"][0]["machine"], "AMD Athlon 1.2 GHz");
    assert!(with.iter().all(|part| part["findings"].is_object()));
    let alone = place.ask(&["report", "--with", "trend 'dated values.txt'", "--output", "alone.html"]).fine();
    assert!(alone.out.contains("alone.html"));
    for (command, reason) in [
        ("run", "predict, choose, trend"),
        ("trend nowhere.txt", "nowhere.txt"),
        ("fly", "fly"),
        ("trend 'x", "quotation"),
    ] {
        let refused = place.ask(&["report", "--with", command]);
        assert!(refused.code == Some(2) && refused.err.contains(reason), "{command}: {refused:?}");
    }
}
