//! What benchmark harnesses print in their corners: settings that define a figure, further processes, several units.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{named, near, read_as, read_repeats, refused_as, value};
use import::detect;
use model::{Better, Unit};

#[test]
fn old_and_new_perf_stat_agree_on_the_unit_of_a_time() {
    for row in [
        "250.50 msec task-clock  # 0.9 CPUs utilized",
        "250.50 task-clock (msec)  # 0.9 CPUs",
        "250.50  task-clock-msecs",
    ] {
        let text = format!(
            " Performance counter stats for 'sh -c 'exit 0'':\n\n  {row}\n  7  context-switches\n\n  0.5 seconds time elapsed\n"
        );
        let run = &read_as("perf-stat", &text)[0];
        assert!(near(value(run, "perf_stat.task_clock:command=sh -c 'exit 0'"), 0.2505), "{row}");
        assert!(near(value(run, "perf_stat.context_switches:command=sh -c 'exit 0'"), 7.0), "{row}");
    }
}

#[test]
fn a_report_of_schbench_without_a_later_runtime_is_a_further_process() {
    let report = |runtime: u32, median: u32| {
        format!(
            "Wakeup Latencies percentiles (usec) runtime {runtime} (s) (100 total samples)\n\t  50.0th: {median} (7 samples)\n\
             \t* 99.0th: 90 (2 samples)\n\t  min=1, max=99\n"
        )
    };
    let growing = &read_repeats("schbench", &[report(10, 7), report(20, 8)].concat())[0];
    assert!(near(value(growing, "schbench.wakeup_latency"), 8e-6), "the last report stands for its process");
    let again = &read_repeats("schbench", &[report(10, 7), report(20, 8), report(10, 5), report(20, 6)].concat())[0];
    assert_eq!(named(again, "schbench.wakeup_latency").values(), [8e-6, 6e-6]);
    // Of two kernels on one page the second ran longer, with fewer samples or behind other words.
    let fewer = report(20, 8).replace("(100 total", "(96 total");
    for page in
        [[report(10, 7), fewer].concat(), [&report(10, 7), "With the patch we get this:\n", &report(20, 8)].concat()]
    {
        assert_eq!(named(&read_repeats("schbench", &page)[0], "schbench.wakeup_latency").values(), [7e-6, 8e-6]);
    }
    // Columns that were added beside the tool's own are not taken for its values.
    let beside = report(10, 7).replace("50.0th: 7 (7 samples)", "50.0th: 7 9 11");
    assert!(!refused_as("schbench", &beside).is_empty());
}

#[test]
fn settings_of_perf_bench_are_not_launches_of_one_figure() {
    let messaging = |groups: u32, kind: &str, time: &str| {
        format!(
            "# Running 'sched/messaging' benchmark:\n# 20 sender and receiver {kind} per group\n\
             # {groups} groups == {} {kind} run\n\n     Total time: {time} [sec]\n\n",
            40 * groups
        )
    };
    let text =
        [messaging(10, "processes", "0.25"), messaging(20, "processes", "0.5"), messaging(10, "threads", "0.125")];
    let run = &read_as("perf-bench", &text.concat())[0];
    assert!(near(value(run, "perf_bench.sched_messaging_time:groups=10,parties=400"), 0.25));
    assert!(near(value(run, "perf_bench.sched_messaging_time:groups=20,parties=800"), 0.5));
    assert!(near(value(run, "perf_bench.sched_messaging_time:groups=10,parties=400,of=threads"), 0.125));
    let copy = |size: &str, rate: &str| format!("# Copying {size} bytes ...\n\n      {rate} GB/sec\n");
    let text = ["# Running 'mem/memcpy' benchmark:\n", &copy("1MB", "30.5"), &copy("16MB", "9.5")].concat();
    let run = &read_as("perf-bench", &text)[0];
    assert!(near(value(run, "perf_bench.mem_memcpy:size=16MB"), 9.5 * 1_073_741_824.0));
    let text = "# Running 'internals/synthesize' benchmark:\n  Average synthesis took: 2.5 ms (+- 0.5 ms)\n";
    let run = &read_as("perf-bench", text)[0];
    assert!(near(value(run, "perf_bench.internals_synthesize_average_synthesis"), 2.5e-3));
}

#[test]
fn jmh_below_sbt_keeps_its_threads_and_leaves_percentiles() {
    let table = "Benchmark Mode Cnt Score Error Units\n\
                 Sort.run thrpt 5 10.5 ± 0.5 ops/s\nSort.run:run·p0.50 sample 3.5 ms/op\nSort.at sample 10 2.5 ± 0.5 ms/op\n\
                 Sort.at·p0.99 sample 4.5 ms/op\n";
    let text: String = format!(
        "# JMH version: 1.36\n# Threads: 4 threads, will synchronize iterations\nIteration 1: 10 ops/s\n\n{table}"
    )
    .lines()
    .map(|line| format!("[info] {line}\n"))
    .collect();
    let run = &read_as("jmh", &text)[0];
    assert!(near(value(run, "jmh.throughput:benchmark=Sort.run,threads=4"), 10.5));
    assert_eq!(run.figures.len(), 2, "percentiles are other quantities");
    let error = refused_as("jmh", &text.replace("thrpt", "wonder"));
    assert!(error.contains("the mode 'wonder' is not known at line 6"), "{error}");
}

#[test]
fn what_google_benchmark_skipped_is_not_measured() {
    let text = r#"{"context": {"library_version": "v1.9.0"}, "benchmarks": [
        {"name": "Sort", "run_name": "Sort", "run_type": "iteration", "iterations": 9, "real_time": 5.0, "cpu_time": 4.0, "time_unit": "ns"},
        {"name": "Gpu", "run_name": "Gpu", "run_type": "iteration", "skipped": true, "skip_message": "no device", "iterations": 0, "real_time": 0.0, "cpu_time": 0.0, "time_unit": "ns"}]}"#;
    let run = &read_as("google-benchmark", text)[0];
    assert!(run.figures.iter().all(|figure| figure.point.to_string().contains("Sort")));
    assert!(run.session.notes.iter().any(|note| note.contains("benchmark 'Gpu' failed or was skipped")));
}

#[test]
fn changes_of_criterion_are_no_times() {
    let part = r#"{"confidence_interval": {"confidence_level": 0.95, "lower_bound": -0.1, "upper_bound": 0.1},
                   "point_estimate": 0.01, "standard_error": 0.02}"#;
    let error = refused_as("criterion", &format!(r#"{{"mean": {part}, "median": {part}}}"#));
    assert!(error.contains("no times"), "{error}");
}

#[test]
fn go_benchmarks_of_two_processes_and_of_two_machines_stand_apart() {
    let process = |cpu: &str, time: &str| {
        format!(
            "goos: linux\ngoarch: amd64\npkg: example.org/x\ncpu: {cpu}\nBenchmarkPut-8 100 {time} ns/op\nPASS\nok  \texample.org/x\t1.0s\n"
        )
    };
    let one = read_repeats("go-bench", &[process("CPU A", "250"), process("CPU A", "260")].concat());
    assert_eq!((one.len(), named(&one[0], "go_bench.time").values().len()), (1, 2));
    let two = read_repeats("go-bench", &[process("CPU A", "250"), process("CPU B", "125")].concat());
    assert_eq!(two.len(), 2);
    assert!(near(value(&two[1], "go_bench.time:benchmark=Put,threads=8,package=example.org/x"), 125e-9));
}

#[test]
fn own_metrics_of_go_benchmarks_have_units_directions_and_ids_of_their_own() {
    let line = "BenchmarkX-8 100 250 ns/op 5000 req/sec 2.5 p99-ms/op 12 MiB/s 7 time 3 iops\n";
    let run = &read_as("go-bench", line)[0];
    for (probe, expected, unit, better) in [
        ("go_bench.time", 250e-9, Unit::Seconds, Better::Lower),
        ("go_bench.req_sec", 5000.0, Unit::PerSecond, Better::Higher),
        ("go_bench.p99_ms_op", 2.5e-3, Unit::Seconds, Better::Lower),
        ("go_bench.mib_s", 12.0 * 1_048_576.0, Unit::BytesPerSecond, Better::Higher),
        ("go_bench.own_time", 7.0, Unit::Count, Better::Lower),
        ("go_bench.iops", 3.0, Unit::PerSecond, Better::Higher),
    ] {
        let figure = named(run, probe);
        assert_eq!((figure.metric.unit, figure.metric.better), (unit, better), "{probe}");
        assert!(near(value(run, &figure.key().to_string()), expected), "{probe}");
    }
}

#[test]
fn rows_of_a_table_that_contradict_each_other_on_a_machine_are_refused() {
    let error = refused_as("wide-csv", "machine,cores,x (s)\na,4,1\na,8,2\n");
    assert!(error.contains("machine 'a' has another 'cores' in an earlier row") && error.contains("line 3"), "{error}");
    assert_eq!(read_as("wide-csv", "machine,cores,x (s)\na,4,1\na,4,2\n").len(), 1);
}

#[test]
fn separators_of_a_table_stand_outside_quotes() {
    for text in ["machine,\"x; y (s)\"\na,1\n", "machine;\"x, y (s)\"\na;1\n"] {
        let figure = &read_as("wide-csv", text)[0].figures[0];
        assert_eq!((figure.probe.as_str(), figure.outcome.estimate().unwrap().value), ("table.x_y", 1.0), "{text}");
    }
}

#[test]
fn rows_of_one_machine_are_its_launches_in_their_order() {
    let rows: String = (0..3000).map(|row| format!("a,{}\n", row % 7 + 1)).collect();
    let figure = &read_as("wide-csv", &format!("machine,x (s)\n{rows}"))[0].figures[0];
    let values: Vec<f64> = figure.launches.iter().map(|launch| launch.value).collect();
    assert_eq!((values.len(), &values[..3], values[2999]), (3000, &[1.0, 2.0, 3.0][..], 4.0));
    assert_eq!(figure.outcome.estimate().unwrap().value, 4.0);
}

#[test]
fn the_first_form_of_hackbench_is_read_too() {
    let old = "Running with 10*40 (== 400) tasks.\nTime: 5.484\nRunning with 10*40 (== 400) tasks.\nTime: 4.039\n";
    assert_eq!(detect("x", old.as_bytes()).unwrap().name, "hackbench");
    let run = &read_repeats("hackbench", old)[0];
    assert_eq!(named(run, "hackbench.time").values(), [5.484, 4.039]);
    assert!(near(value(run, "hackbench.time:groups=10,descriptors=40"), (5.484 + 4.039) / 2.0));
}
