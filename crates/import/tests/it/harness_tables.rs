//! The tables that harnesses print for machines and for people beside their JSON.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{
    estimate, import, import_fixture, keys, named, near, read_as, read_repeats, refused_as, text, unread, value,
};
use model::{Outcome, Unit};

fn detected(text: &str) -> String {
    import::detect("x", text.as_bytes()).map_or_else(|error| error.to_string(), |format| format.name.to_owned())
}

#[test]
fn separated_fields_of_perf_stat_are_read_by_their_layout() {
    let plain = "# started on Tue Nov 24 23:00:00 2026\n\n\
                 250.50,msec,task-clock,250500000,100.00,0.446,CPUs utilized\n\
                 7,,context-switches,250500000,100.00,28.0,/sec\n\
                 <not supported>,,cycles,0,100.00,,\n\
                 1234567,,instructions:u,125000000,50.00,,\n\
                 2.50,Joules,power/energy-pkg/,250500000,100.00,,\n";
    assert_eq!(detected(plain), "perf-stat");
    let run = &read_as("perf-stat", plain)[0];
    assert!(near(value(run, "perf_stat.task_clock"), 0.2505), "{:?}", keys(run));
    assert!(near(value(run, "perf_stat.context_switches"), 7.0));
    assert_eq!(named(run, "perf_stat.power_energy_pkg").metric.unit, Unit::Joules);
    let user = named(run, "perf_stat.instructions_u");
    assert!(user.notes.iter().any(|note| note.contains("counted 50% of the time")), "{:?}", user.notes);
    assert_eq!(run.figures.len(), 4);
    let several = read_as("perf-stat", "0.36;msec;task-clock;3.66%;356150;100.00;0.494;CPUs utilized\n");
    assert!(several[0].figures[0].notes.iter().any(|note| note.contains("deviation of the mean 3.66%")));
    let parts = "CPU0,5,,page-faults,51299096,100.00,97.4,/sec\nCPU1,79,,page-faults,51299096,100.00,1.5,K/sec\n\
                 S0-D0-C1,2,9,,page-faults,51299096,100.00,,\nN0,2,8,,page-faults,51299096,100.00,,\n";
    let run = &read_as("perf-stat", parts)[0];
    for (key, count) in [("cpu=0", 5.0), ("cpu=1", 79.0), ("core=S0-D0-C1", 9.0), ("node=N0", 8.0)] {
        assert!(near(value(run, &format!("perf_stat.page_faults:{key}")), count), "{key}");
    }
    // Until Linux 4.18 the clock had no unit, and there were three fields.
    assert!(near(value(&read_as("perf-stat", "459.50,,task-clock\n")[0], "perf_stat.task_clock"), 0.4595));
    let error = refused_as("perf-stat", "     0.050083242,0.51,msec,task-clock,507867,100.00,0.010,CPUs utilized\n");
    assert!(error.contains("intervals (-I)") && error.contains("line 1"), "{error}");
    let error = refused_as("perf-stat", "0.51,weeks,task-clock,507867,100.00,0.010,CPUs utilized\n");
    assert!(error.contains("the unit 'weeks' is not known"), "{error}");
}

#[test]
fn objects_of_perf_stat_are_read_by_their_members() {
    let line = |value: &str, unit: &str, event: &str, more: &str| {
        format!(
            "{{{more}\"counter-value\" : \"{value}\", \"unit\" : \"{unit}\", \"event\" : \"{event}\", \"event-runtime\" : 379586, \
             \"pcnt-running\" : 100.00, \"metric-value\" : 0.5, \"metric-unit\" : \"CPUs utilized\"}}\n"
        )
    };
    let text = [
        line("250.500000", "msec", "task-clock", ""),
        line("50.000000", "", "page-faults", "\"cpu\" : \"1\", "),
        line("<not counted>", "", "cycles", ""),
        "{\"metric-value\" : 1.5, \"metric-unit\" : \"insn per cycle\"}\n".to_owned(),
    ]
    .concat();
    assert_eq!(detected(&text), "perf-stat");
    let run = &read_as("perf-stat", &text)[0];
    assert!(near(value(run, "perf_stat.task_clock"), 0.2505));
    assert!(near(value(run, "perf_stat.page_faults:cpu=1"), 50.0));
    assert_eq!((run.figures.len(), run.session.notes.len()), (2, 0), "{:?}", run.session.notes);
    let error = refused_as("perf-stat", &line("1.0", "", "cycles", "\"interval\" : 0.05, "));
    assert!(error.contains("intervals (-I)"), "{error}");
    assert!(refused_as("perf-stat", &line("0,37", "msec", "task-clock", "")).contains("'0,37' is not a usable number"));
    assert!(!refused_as("perf-stat", &text[..80]).is_empty());
}

#[test]
fn separated_values_of_jmh_are_read_by_their_headings() {
    let heading = r#""Benchmark","Mode","Threads","Samples","Score","Score Error (99.9%)","Unit","Param: size""#;
    let rows = "\"org.example.Sort.run\",\"thrpt\",4,10,1050.500000,12.500000,\"ops/ms\",1000\n\
                \"org.example.Sort.at\",\"avgt\",1,1,2.500000,NaN,\"us/op\",\n\
                \"org.example.Sort.run:gc.alloc.rate\",\"thrpt\",4,10,9.500000,0.500000,\"MB/sec\",1000\n";
    let text = format!("{heading}\n{rows}");
    assert_eq!(detected(&text), "jmh");
    let run = &read_repeats("jmh", &text)[0];
    let throughput = named(run, "jmh.throughput");
    assert!(near(value(run, "jmh.throughput:benchmark=org.example.Sort.run,threads=4,size=1000"), 1_050_500.0));
    assert!(throughput.notes.iter().any(|note| note.contains("JMH's error at 99.9% over iterations: 12.5 ops/ms")));
    assert!(near(value(run, "jmh.average_time:benchmark=org.example.Sort.at"), 2.5e-6));
    assert_eq!(run.figures.len(), 2, "rates of a profiler are other quantities");
    let note = run.session.notes.iter().find(|note| note.contains("not understood")).unwrap();
    assert!(note.contains("1 line with numbers was not understood: line 4"), "{note}");
    let note = &read_repeats("jmh", &text.replace('\n', "\r\n"))[0].session.notes[0];
    assert!(note.contains("line 4"), "{note}");
    let twice = read_repeats("jmh", &format!("{text}{text}").replace(',', ";"));
    assert_eq!(named(&twice[0], "jmh.throughput").values().len(), 2, "appended tables are processes");
    let error = refused_as("jmh", &text.replace("Samples", "Wonders"));
    assert!(error.contains("its column 'Wonders' is not known at line 1"), "{error}");
    let error = refused_as("jmh", &text.replace("us/op", "weeks/op"));
    assert!(error.contains("the unit 'weeks/op' is not known at line 3"), "{error}");
    assert!(refused_as("jmh", &text.replace("1050.500000", "\"1050,5\"")).contains("is not a usable number"));
}

#[test]
fn where_jmh_saved_its_result_is_no_row() {
    let text = "Benchmark  (n)  Mode  Cnt  Score   Error  Units\nB.t  1  thrpt  5  2.5 ± 0.5  ops/s\n\n\
                Benchmark result is saved to ../out/result.json\n";
    assert!(near(value(&read_as("jmh", text)[0], "jmh.throughput:benchmark=B.t,n=1"), 2.5));
}

#[test]
fn the_console_of_google_benchmark_states_what_its_json_does() {
    let run = &import_fixture("google-benchmark-text.txt")[0];
    assert!(near(value(run, "google_benchmark.real_time:benchmark=BM_Sort/8"), 12.5e-9), "{:?}", keys(run));
    assert!(near(value(run, "google_benchmark.cpu_time:benchmark=BM_Sort/1024"), 2.25e-6));
    assert!(near(value(run, "google_benchmark.bytes:benchmark=BM_Sort/8"), 2.5 * f64::from(1 << 30)));
    assert!(near(value(run, "google_benchmark.bytes:benchmark=BM_Sort/1024"), 512.0 * 1_048_576.0));
    assert!(near(value(run, "google_benchmark.items:benchmark=BM_Sort/1024"), 250e3));
    let same = estimate(run, "google_benchmark.real_time:benchmark=BM_Same/repeats:3");
    assert!(near(same.value, 105e-9) && same.batches == 3 && near(same.low, 101e-9), "{same:?}");
    assert!(near(value(run, "google_benchmark.real_time:benchmark=BM_Only"), 2.5e-3), "the median of what is printed");
    let tiny = named(run, "google_benchmark.real_time");
    assert!(tiny.outcome.estimate().is_some());
    let below =
        run.figures.iter().filter(|figure| matches!(figure.outcome, Outcome::Below { bound } if near(bound, 0.5e-12)));
    assert_eq!(below.count(), 2, "0.000 ns is less than half its last digit");
    assert_eq!((run.machine.number("cpu.count"), run.machine.number("cpu.clock")), (Some(8.0), Some(2.5e9)));
    assert_eq!(
        (run.session.started.as_str(), run.session.command.as_slice()),
        ("2025-01-15T10:05:04Z", &["./sort_bench".to_owned()][..])
    );
}

#[test]
fn tables_of_two_programs_and_counters_of_their_own_are_told() {
    let dashes = "-".repeat(60);
    let table = |program: &str, row: &str| {
        format!("Running {program}\n{dashes}\nBenchmark   Time   CPU   Iterations UserCounters...\n{dashes}\n{row}\n")
    };
    let first = "BM_X<int, 4>   5.50 ns   5.25 ns   100 depth=7 bytes_per_second=1G/s";
    let second = "BM_X<int, 4>   7.50 ns   7.25 ns   100";
    let text = [table("./one", first), table("./two", second)].concat();
    let run = &read_repeats("google-benchmark-text", &text)[0];
    assert!(
        near(value(run, "google_benchmark.real_time:benchmark=BM_X<int; 4>,program=./two"), 7.5e-9),
        "{:?}",
        keys(run)
    );
    assert!(run.session.notes.iter().any(|note| note.contains("in 1 rows are not read; the first is 'depth=7'")));
    let twice = [table("./one", second), table("./one", second)].concat();
    assert_eq!(
        named(&read_repeats("google-benchmark-text", &twice)[0], "google_benchmark.real_time").values().len(),
        2
    );
    // With --benchmark_counters_tabular the heading names the counters, and a process has several tables.
    let tabular = |heading: &str, row: &str| {
        format!("{dashes}\nBenchmark   Time   CPU   Iterations {heading}\n{dashes}\n{row}\n")
    };
    let once = [
        tabular("bytes_per_second depth", "BM_A   5.50 ns   5.25 ns   100   1.5Mi/s   7"),
        tabular("", "BM_B   2.50 ns   2.25 ns   100"),
    ]
    .concat();
    let run = &read_repeats("google-benchmark-text", &once)[0];
    assert!(near(value(run, "google_benchmark.bytes:benchmark=BM_A"), 1.5 * 1_048_576.0), "{:?}", keys(run));
    assert!(near(value(run, "google_benchmark.real_time:benchmark=BM_B"), 2.5e-9));
    let run = &read_repeats("google-benchmark-text", &[once.clone(), once].concat())[0];
    assert!(run.figures.iter().all(|figure| figure.values().len() == 2), "the same again is a further process");
    let error = refused_as("google-benchmark-text", &text.replace("=1G/s", "=1Q/s"));
    assert!(error.contains("is not a rate with a known unit at line 5"), "{error}");
    assert!(import("x", second.as_bytes(), None, probes::catalogue()).is_err(), "a row without its heading is nothing");
}

#[test]
fn rows_of_tables_with_carriage_returns_are_named_by_their_own_lines() {
    for end in ["\n", "\r\n"] {
        let joined = |rows: &[&str]| rows.iter().map(|row| format!("{row}{end}")).collect::<String>();
        let error = refused_as("wide-csv", &joined(&["machine,x (s)", "a,1", "", "a,two"]));
        assert!(error.contains("'two' in column 'x (s)' is not a number at line 4"), "{error}");
        let error = refused_as("wide-csv", &joined(&["machine,x (s)", "a,1", "a,1,2"]));
        assert!(error.contains("differ in length at line 3"), "{error}");
        let error = refused_as("tidy-csv", &joined(&["run,probe,point,outcome,method", "", "r,p,,measured,none"]));
        assert!(error.contains("at line 3"), "{error}");
        let rows = ["command,mean,stddev,median,user,system,min,max", "sort,1,0,1,1,0,1,1", "sort,1,0,x,1,0,1,1"];
        let error = refused_as("hyperfine", &joined(&rows));
        assert!(error.contains("'x' is not a usable number at line 3"), "{error}");
    }
}

#[test]
fn criterion_states_throughput_and_names_on_lines_of_their_own() {
    let text = "//! Load/10 rounds\n//!     time:   [1.9000 s 2.0000 s 2.1000 s]\n//!     thrpt:  [4.7500  elem/s 5.0000  elem/s 5.2500  elem/s]\n\
                Benchmarking fs/read/64226295:\n   time:   [16.000 ms 17.000 ms 18.000 ms]\n   thrpt:  [882.00 MiB/s 935.00 MiB/s 1.0000 GiB/s]\n\
                ring/2048   time:   [1.5000 \u{b5}s 2.0000 \u{b5}s 2.5000 \u{b5}s]\n            thrpt:  [1.5000 GB/s 2.0000 GB/s 2.5000 GB/s]\n\
                \x20           change:\n            time:   [-1.5% +0.5% +2.5%] (p = 0.01 < 0.05)\n            thrpt:  [-2.5% -0.5% +1.5%]\n";
    let run = &read_as("criterion", text)[0];
    let elements = estimate(run, "criterion.throughput:benchmark=Load/10 rounds");
    assert!(near(elements.value, 5.0) && near(elements.low, 4.75), "{:?}", keys(run));
    let binary = estimate(run, "criterion.throughput:benchmark=fs/read/64226295");
    assert!(
        near(binary.value, 935.0 * 1_048_576.0) && near(binary.high, 1_073_741_824.0),
        "each has a unit: {binary:?}"
    );
    assert!(near(value(run, "criterion.throughput:benchmark=ring/2048"), 2e9), "GB are thousands");
    assert!(near(value(run, "criterion.slope_or_mean:benchmark=ring/2048"), 2e-6) && run.figures.len() == 6);
    assert_eq!(unread("criterion", text), 0);
    assert_eq!(unread("criterion", &format!("{text}\nwith 5 threads\n")), 1, "what is not understood is told");
    let error = refused_as("criterion", &text.replacen("935.00 MiB/s", "935.00 Mop/s", 1));
    assert!(error.contains("the throughput has no known unit at line 6"), "{error}");
}

#[test]
fn hyperfine_on_the_terminal_states_means_and_not_medians() {
    let run = &import_fixture("hyperfine.txt")[0];
    let one = estimate(run, "hyperfine.mean:command=./sort one");
    assert!(near(one.value, 6.5e-3) && near(one.low, 4.5e-3) && near(one.high, 10.5e-3), "{one:?}");
    assert!(near(value(run, "hyperfine.mean:command=./sort two"), 2.125), "{:?}", keys(run));
    let notes = &run.figures[0].notes;
    assert!(notes.iter().any(|note| note.contains("260 executions")), "{notes:?}");
    assert!(keys(run).iter().all(|key| !key.starts_with("hyperfine.time")), "that is the median");
    assert_eq!(unread("hyperfine", &text("hyperfine.txt")), 0);
    // Before 1.12, quoted in a mail; and a single execution.
    let mail = "> Benchmark #1: all refs: git fetch\n>   Time (mean \u{b1} \u{3c3}):     32.5 s \u{b1}  0.2 s    [User: 29.8 s, System: 5.1 s]\n\
                >   Range (min \u{2026} max):   32.0 s \u{2026} 33.0 s    2 runs\n> Benchmark #2: once\n>   Time (abs \u{2261}):        500.5 \u{b5}s\n";
    let run = &read_as("hyperfine", mail)[0];
    assert!(near(value(run, "hyperfine.mean:command=all refs: git fetch"), 32.5), "{:?}", keys(run));
    assert!(near(value(run, "hyperfine.mean:command=once"), 500.5e-6));
    let again = &read_as("hyperfine", &text("hyperfine.txt").repeat(2))[0];
    assert!(keys(again).iter().any(|key| key.contains("occurrence=2")), "it may be of another file: {:?}", keys(again));
    let error = refused_as("hyperfine", &mail.replace("500.5 \u{b5}s", "500.5 min"));
    assert!(error.contains("the time's unit 'min' is not known at line 5"), "{error}");
}

#[test]
fn a_go_benchmark_behind_another_one_is_no_repetition() {
    let rows = "BenchmarkA-8  100  10.5 ns/op\nBenchmarkA-8  100  11.5 ns/op\nBenchmarkB-8  100  20.5 ns/op\n";
    let text = format!("func = one\n{rows}func = two\n{}", rows.replace("10.5", "30.5").replace("11.5", "31.5"));
    let run = &read_as("go-bench", &text)[0];
    let first = estimate(run, "go_bench.time:benchmark=A,threads=8");
    assert!(near(first.value, 11e-9) && first.batches == 2, "repetitions follow on each other: {first:?}");
    let second = estimate(run, "go_bench.time:benchmark=A,threads=8,occurrence=2");
    assert!(near(second.value, 31e-9) && second.batches == 2 && second.launches == 1, "{second:?}");
}
