//! Published evaluations against the printed documents.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use import::published::{PublishedTable, get, list, tables};
use model::{Definition, EstimateMethod, Outcome, ResultKey, Run, Unit, parse_run, render_run};

fn runs(name: &str) -> Vec<Run> {
    get(name, benchmarks::catalogue()).unwrap()
}

fn value(run: &Run, benchmark: &str, parameters: &str) -> Option<f64> {
    let result = run.result(&ResultKey::new(benchmark, parameters.parse().unwrap()))?;
    result.outcome.estimate().map(|estimate| estimate.value)
}

fn table(evaluation: &str, name: &str) -> PublishedTable {
    tables(evaluation).unwrap().into_iter().find(|table| table.name == name).unwrap()
}

fn near(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < 1e-12
}

#[test]
fn every_machine_is_a_run_without_spread() {
    let listings = list().unwrap();
    let names: Vec<&str> = listings.iter().map(|listing| listing.name.as_str()).collect();
    assert_eq!(
        names,
        ["ams02-2002", "babar-cpu-1998", "babar-network-1998", "cyberlife-2004", "daisy-heat-1996"]
            .map(|name| format!("published:{name}"))
    );
    let mut ids = std::collections::HashSet::new();
    for listing in listings {
        let runs = runs(&listing.name);
        assert_eq!(runs.len(), listing.machines.len());
        for (run, (id, label)) in runs.iter().zip(&listing.machines) {
            assert_eq!((&run.id, run.label.as_ref()), (id, Some(label)));
            assert!(ids.insert(run.id.clone()), "{id} twice");
            assert_eq!(run.origin.as_ref().unwrap().attribution.as_deref(), Some(listing.attribution.as_str()));
            assert_eq!(&parse_run(&render_run(run).unwrap()).unwrap(), run);
            assert_eq!(get(id, benchmarks::catalogue()).unwrap()[0], *run);
            for result in &run.results {
                assert!(result.parameters.get("occurrence").is_none(), "{} of {id} occurs twice", result.key());
                let estimate = result.outcome.estimate().unwrap();
                assert!(
                    !estimate.has_spread() && matches!(estimate.method, EstimateMethod::None | EstimateMethod::Range)
                );
                assert!(result.samples.is_empty());
            }
        }
    }
}

#[test]
fn names_are_found_as_printed_and_unknown_ones_are_refused() {
    assert_eq!(runs("published:cyberlife-2004/appserver.geo")[0].name(), "appserver.geo");
    assert_eq!(runs("babar-cpu-1998/Sun Ultra60/360 MHz")[0].machine.number("cpu.clock"), Some(360e6));
    let error = get("published:ams02-2003", benchmarks::catalogue()).unwrap_err().to_string();
    assert!(error.contains("ams02-2003") && error.contains("daisy-heat-1996"), "{error}");
    let error = get("cyberlife-2004/beast", benchmarks::catalogue()).unwrap_err().to_string();
    assert!(error.contains("'beast'") && error.contains("beastie.lab"), "{error}");
}

#[test]
fn ams_normalised_table_follows_from_the_raw_one_within_its_rounding() {
    let runs = runs("ams02-2002");
    let reference = runs.iter().find(|run| run.name() == "Intel PIII dual-CPU 933 MHz").unwrap();
    let printed = table("ams02-2002", "table2_normalised");
    for (row, cells) in printed.rows.iter().enumerate() {
        let run = runs.iter().find(|run| run.name() == cells[0]).unwrap();
        for test in ["test1", "test2", "test3", "test4"] {
            let id = format!("ams02.{test}");
            let quotient = value(run, &id, "").unwrap() / value(reference, &id, "").unwrap();
            let printed = printed.number(row, test).unwrap();
            assert!((quotient - printed).abs() <= 0.0201, "{} {test}: {quotient} against {printed}", cells[0]);
        }
    }
}

#[test]
fn ams_geometric_means_follow_from_the_raw_table() {
    let runs = runs("ams02-2002");
    let log_mean = |run: &Run| -> f64 {
        (1..=4).map(|test| value(run, &format!("ams02.test{test}"), "").unwrap().ln()).sum::<f64>() / 4.0
    };
    let reference = runs.iter().find(|run| run.name() == "AMD Athlon 1800MP dual-CPU 1.53 GHz").unwrap();
    let printed = table("ams02-2002", "table4_geometric_average");
    let mut compared = 0;
    for (row, cells) in printed.rows.iter().enumerate() {
        // The projected machine was not measured, so it has no run.
        let Some(run) = runs.iter().find(|run| run.name() == cells[0]) else { continue };
        let percent = 100.0 * (log_mean(run) - log_mean(reference)).exp();
        let stated = printed.number(row, "geometric_average_percent").unwrap();
        assert!((percent / stated - 1.0).abs() <= 0.02, "{}: {percent} against {stated}", cells[0]);
        compared += 1;
    }
    assert_eq!(compared, 11);
}

#[test]
fn babar_tables_keep_their_printed_order() {
    let runs = runs("babar-cpu-1998");
    assert_eq!(runs.len(), 13);
    let sorted = |benchmark: &str, parameters: &str, descending: bool| {
        let mut values: Vec<(f64, &str)> =
            runs.iter().filter_map(|run| Some((value(run, benchmark, parameters)?, run.name()))).collect();
        values.sort_by(|a, b| if descending { b.0.total_cmp(&a.0) } else { a.0.total_cmp(&b.0) });
        values
    };
    for (name, column, benchmark, parameters, scale, descending) in [
        ("table1_memory_bandwidth", "memcpy_libc_mb_s", "memory.memcpy", "piece=whole", 1e6, true),
        ("table2_null_syscall", "null_syscall_us", "os.syscall_write", "", 1e-6, false),
        ("table3_process_creation", "simple_process_ms", "os.fork_exec", "linking=dynamic,program=hello", 1e-3, false),
        ("table4_signal_handling", "signal_handler_us", "os.signal_handle", "", 1e-6, false),
        (
            "table5_context_switch",
            "context_switch_2proc_us",
            "os.context_switch",
            "processes=2,working_set=0B",
            1e-6,
            false,
        ),
        ("table6_ipc_latency", "tcp_us", "ipc.tcp_latency", "", 1e-6, false),
    ] {
        let printed = table("babar-cpu-1998", name);
        let ours = sorted(benchmark, parameters, descending);
        assert_eq!(ours.len(), printed.rows.len(), "{name}");
        for (row, (value, machine)) in ours.iter().enumerate() {
            let stated = printed.number(row, column).unwrap() * scale;
            assert!(near(*value, stated), "{name} row {row}: {machine} {value} against {stated}");
        }
    }
}

#[test]
fn cyberlife_results_have_the_benchmarks_ids_and_base_units() {
    let run = &runs("cyberlife-2004/appserver.geo")[0];
    assert_eq!(run.results.len(), 27 + 30);
    assert!(near(value(run, "cpu.dhrystone", "").unwrap(), 3_880_692.0));
    assert!(near(value(run, "shell.script", "concurrent=8,placement=free").unwrap(), 444.7 / 60.0));
    assert!(near(value(run, "file.write", "durability=fsync").unwrap(), 40_943e3));
    assert!(near(value(run, "memory.read", "working_set=512KiB,threads=1,width=integer").unwrap(), 853.9e6));
    assert!(near(value(run, "os.exec", "linking=dynamic").unwrap(), 1.0 / 1338.0), "an exec is a time here");
    assert_eq!(run.machine.number("cpu.clock"), Some(1.73e9));
    assert_eq!(run.machine.number("memory.total"), Some(1024.0 * 1024.0 * 1024.0));
    let read = run.results.iter().find(|result| result.benchmark == "memory.read").unwrap();
    assert!(read.notes.iter().any(|note| note.contains("no printed heading")));
}

#[test]
fn the_catalogue_decides_unit_and_title() {
    let plain = runs("cyberlife-2004/beastie.lab").remove(0);
    let exec = plain.results.iter().find(|result| result.benchmark == "os.exec").unwrap();
    assert_eq!(exec.metric.unit, Unit::Seconds);
    let source = |at: &str, definition: Definition| model::Reference {
        tool: "CyberLife".to_owned(),
        name: "execl".to_owned(),
        document: "a page".to_owned(),
        at: at.parse().unwrap(),
        definition,
    };
    let mut catalogue = benchmarks::catalogue().clone();
    let exec = catalogue.position("os.exec").unwrap();
    catalogue.benchmarks.swap(0, exec);
    catalogue.benchmarks.iter_mut().for_each(|benchmark| benchmark.sources.clear());
    catalogue.benchmarks[0].title = "Execs".to_owned();
    catalogue.benchmarks[0].metric = model::Metric::higher(Unit::PerSecond, "execs");
    catalogue.benchmarks[0].sources =
        vec![source("linking=static", Definition::Same), source("", Definition::Near("in C".to_owned()))];
    let run = get("cyberlife-2004/beastie.lab", &catalogue).unwrap().remove(0);
    assert_eq!(run.results[0].title, "Execs", "results stand in the catalogue's order");
    assert_eq!(
        run.results[0].definition,
        Definition::Near("in C".to_owned()),
        "the first source that agrees in its parameters"
    );
    assert!(run.results[1..].iter().all(|result| result.definition == Definition::Same));
    assert!(near(value(&run, "os.exec", "linking=dynamic").unwrap(), 276.6));
}

#[test]
fn daisy_and_network_evaluations_keep_their_facts() {
    let daisy = runs("daisy-heat-1996");
    let sun = daisy.iter().find(|run| run.name() == "Sun Ultra 1").unwrap();
    assert!(near(value(sun, "memory.load_latency_strided", "working_set=8MiB,stride=8KiB").unwrap(), 270e-9));
    assert!(near(value(sun, "lmbench.bw_tcp_remote", "network=100baseT").unwrap(), 9.5e6));
    let pentium = daisy.iter().find(|run| run.name() == "FreeBSD/i586 (p5-90) (DAISy)").unwrap();
    assert!(near(value(pentium, "ipc.tcp_bandwidth", "network=100baseT").unwrap(), 5.96e6));
    let alpha = daisy.iter().find(|run| run.name() == "DEC Alpha (HEAT)").unwrap();
    assert!(near(value(alpha, "ipc.tcp_bandwidth", "").unwrap(), 13.1e6));

    assert!(near(value(sun, "file.read_cached", "data=touched").unwrap(), 85e6));
    let tape = &runs("ams02-2002/LTO tape and RAID5")[0];
    assert!(near(
        value(tape, "file.sequential_read", "block=128KiB,format=plain,medium=target,length=1GiB").unwrap(),
        19e6
    ));

    let network = runs("babar-network-1998");
    let builder = &network[0];
    assert_eq!(builder.machine.number("senders"), Some(22.0));
    assert!(near(value(builder, "babar_network.loss", "senders=4,window=64kB").unwrap(), 41.0 / 60_000.0));
    let atm =
        builder.results.iter().find(|result| result.parameters.get("network") == Some("atm_classical_ip")).unwrap();
    let Outcome::Measured(estimate) = &atm.outcome else { panic!("{:?}", atm.outcome) };
    assert_eq!((estimate.low, estimate.high, estimate.level), (15e6, 16e6, 0.0));
    let ibm = network.iter().find(|run| run.name() == "IBM 43P").unwrap();
    assert_eq!(ibm.machine.number("memory.bandwidth"), Some(60e6));
}

#[test]
fn a_directory_of_the_user_is_an_evaluation_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("table1.csv", "machine,pipe_us\nBox A,26\nBox B,\n");
    let description = r#"
        title = "Two boxes"
        attribution = "A. Author"
        [[table]]
        name = "table1"
        title = "Pipes"
        machine = [{ label = "{machine}" }]
        result = [{ column = "pipe_us", id = "ipc.pipe_latency", parameters = "placement=same_cpu", unit = "us" }]
    "#;
    write("evaluation.toml", description);
    let runs = get(&folder.path().display().to_string(), benchmarks::catalogue()).unwrap();
    assert_eq!(runs.len(), 1, "a machine without a number has no run");
    assert!(near(value(&runs[0], "ipc.pipe_latency", "placement=same_cpu").unwrap(), 26e-6));

    let refused = |description: &str, wanted: &str| {
        write("evaluation.toml", description);
        let error = get(&folder.path().display().to_string(), benchmarks::catalogue()).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    };
    refused(&description.replace("\"us\"", "\"parsec\""), "'parsec'");
    refused(&description.replace("ipc.pipe_latency", "ipc.pipe_latencies"), "has no result 'ipc.pipe_latencies'");
    refused(&description.replace("\"table1\"", "\"table2\""), "table2.csv");
    refused(&description.replace("\"table1\"", "\"../secret\""), "contains a path");
    refused("title = 1", "evaluation.toml");
    refused("\n\ngarbage", "line 3: key with no value");
    refused(&format!("{description}\nsurprise = 1"), "surprise");
}

/// Each row asked all others whether they are of its machine: 60 000 rows took more than 100 s.
#[test]
fn tables_of_many_machines_are_read_in_proportion_to_their_rows() {
    let folder = tempfile::tempdir().unwrap();
    let description = r#"
        title = "Many"
        attribution = "A. Author"
        [[table]]
        name = "table1"
        title = "Pipes"
        machine = [{ label = "{machine}" }]
        result = [{ column = "us", id = "ipc.pipe_latency", parameters_if_repeated = "at={at}", unit = "us", up_to = { at = "c" } }]
    "#;
    std::fs::write(folder.path().join("evaluation.toml"), description).unwrap();
    let rows: String = (0..20_000).map(|machine| format!("m{machine},a,1\n")).collect();
    std::fs::write(folder.path().join("table1.csv"), format!("machine,at,us\nm0,b,3\n{rows}")).unwrap();
    let runs = get(&folder.path().display().to_string(), benchmarks::catalogue()).unwrap();
    assert_eq!(runs.len(), 20_000);
    let of_first: Vec<String> = runs[0].results.iter().map(|result| result.key().to_string()).collect();
    assert_eq!(of_first, ["ipc.pipe_latency:at=b", "ipc.pipe_latency:at=a"]);
    assert_eq!(runs[1].results[0].key().to_string(), "ipc.pipe_latency");
}
