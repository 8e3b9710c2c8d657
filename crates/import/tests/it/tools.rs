//! What each tool's numbers mean: columns by their headings, units, launches, what defines a figure.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{self, estimate, import, import_fixture, import_repeats, named, near, read_repeats, value};
use model::{EstimateMethod, FigureKey, Outcome, Run, Unit};

fn outcome<'a>(run: &'a Run, key: &str) -> &'a Outcome {
    let (probe, point) = key.split_once(':').unwrap_or((key, ""));
    let figure = run.figure(&FigureKey::new(probe, point.parse().unwrap()));
    &figure.unwrap_or_else(|| panic!("there is no {key}")).outcome
}

/// The message with which a changed fixture is refused.
fn refused(file: &str, from: &str, to: &str) -> String {
    let text = common::text(file);
    assert!(text.contains(from), "{file} has no '{from}'");
    let format = common::fixtures().into_iter().find(|fixture| fixture.file == file).unwrap().format;
    let changed = text.replace(from, to);
    import(file, changed.as_bytes(), Some(&format), probes::catalogue()).unwrap_err().to_string()
}

/// File, figure, and the value that the file states, in base units.
const VALUES: &[(&str, &str, f64)] = &[
    ("openssl-speed.txt", "openssl.throughput:algorithm=aes-128-cbc,block=64B", 300_000.5e3),
    ("openssl-speed.txt", "openssl.throughput:algorithm=slow-one,block=64B", 5000.25),
    ("openssl-speed.txt", "openssl.verify:key=rsa 2048 bits", 55_000.5),
    ("openssl-speed.txt", "openssl.operation:key=253 bits ecdh (X25519)", 25_000.5),
    ("go-bench.txt", "go_bench.time:benchmark=Put/n=10,threads=8,package=example.org/thing", 255e-9),
    ("go-bench.txt", "go_bench.bytes:benchmark=Copy,package=example.org/thing", 1747.63e6),
    ("pytest-benchmark.json", "pytest_benchmark.time:benchmark=tests/test_sort.py::test_sort", 0.0011),
    ("jmh.json", "jmh.throughput:benchmark=org.example.Sort.run,threads=4,size=1000", 101e3),
    ("jmh-bytes.json", "jmh.bytes:benchmark=Memory,collection=List,size=1000", 24_016.0),
    ("jmh.txt", "jmh.throughput:benchmark=Sort.run,size=10000", 9500.0),
    ("jmh.txt", "jmh.single_shot_time:benchmark=Sort.single,size=1000", 0.125),
    ("imb.txt", "imb.pingpong:size=1KiB,processes=2", 4e-6),
    ("imb.txt", "imb.pingpong_bandwidth:size=1KiB,processes=2", 256e6),
    ("imb.txt", "imb.allreduce:size=1KiB,processes=4", 6e-6),
    ("imb.txt", "imb.barrier:processes=4", 3.25e-6),
    (
        "ior.txt",
        "ior.write:api=POSIX,tasks=4,per_node=4,block=1GiB,transfer=1MiB,file_per_process=0",
        1100.0 * 1_048_576.0,
    ),
    ("mdtest.txt", "mdtest.file_creation:tasks=4,nodes=2,files=4000", 2900.5),
    ("mdtest-4.txt", "mdtest.directory_creation:tasks=1,nodes=1,files=630", 8000.25),
    ("hpcc.txt", "hpcc.hpl_tflops:n=10000,processes=4", 5e10),
    ("hpcc.txt", "hpcc.starstream_triad:n=1000000,processes=4", 5.9e9),
    ("hpcc.txt", "hpcc.maxpingponglatency_usec:processes=4", 0.384e-6),
    (
        "nccl-tests.txt",
        "nccl.bus_bandwidth:size=1MiB,place=in,type=float,operator=sum,ranks=2,collective=all_reduce",
        9.53e9,
    ),
    ("nvbandwidth.txt", "nvbandwidth.device_to_device_memcpy_read_ce:row=1,column=0", 251.5e9),
    ("nvbandwidth.txt", "nvbandwidth.host_to_device_memcpy_ce_sum", 50.75e9),
    ("geekbench.txt", "geekbench.score:cores=single,version=6", 1400.0),
    ("geekbench.txt", "geekbench.integer:cores=multi,version=6", 6000.0),
    ("geekbench.txt", "geekbench.pdf_renderer_rate:cores=single,version=6", 16.5e6),
    ("tinymembench.txt", "tinymembench.c_copy_backwards", 8400.5e6),
    ("tinymembench.txt", "tinymembench.extra_latency_dual:working_set=1MiB,pages=huge", 6.5e-9),
    ("coremark-pro.txt", "coremark_pro.mark:contexts=many", 19_000.5),
    ("coremark-pro.txt", "coremark_pro.core:contexts=one", 1.3),
    (
        "fio-text.txt",
        "fio.write_bandwidth:job=seq_write,rw=write,bs=8192B,ioengine=libaio,iodepth=4,numjobs=8",
        512.0 * 1_048_576.0,
    ),
    (
        "fio-text.txt",
        "fio.write_latency:job=seq_write,rw=write,bs=8192B,ioengine=libaio,iodepth=4,numjobs=8",
        480.25e-6,
    ),
    ("fio-text-2.txt", "fio.read_bandwidth:job=job,rw=randread,bs=4K,ioengine=libaio,iodepth=16", 66_889.0 * 1024.0),
    ("iperf.txt", "iperf.sent:protocol=tcp,streams=1", 930e6 / 8.0),
    ("iperf.txt", "iperf.received:protocol=tcp,streams=1", 920e6 / 8.0),
    ("iperf-2.txt", "iperf.sent:protocol=tcp,streams=2", 1.89e9 / 8.0),
    ("iperf-udp.txt", "iperf.received:protocol=udp,streams=1", 1.04e6 / 8.0),
    ("iperf-udp.txt", "iperf.lost:protocol=udp,streams=1", 0.00019),
    ("perf-stat.txt", "perf_stat.cycles:command=./sort 1000", 1_300_500_250.0),
    ("perf-stat.txt", "perf_stat.elapsed:command=./sort 1000", 0.52125),
    ("perf-stat-one.txt", "perf_stat.task_clock:command=true", 0.45e-3),
    ("schbench.txt", "schbench.wakeup_latency", 8e-6),
    ("schbench.txt", "schbench.requests", 3024.6),
    (
        "pgbench.txt",
        "pgbench.transactions:type=<builtin: TPC-B (sort of)>,scale=40,mode=simple,clients=10,threads=2",
        1554.21497,
    ),
    ("redis-benchmark.txt", "redis_benchmark.requests:test=GET,clients=8,payload=10B", 113_378.5),
    ("redis-benchmark.csv", "redis_benchmark.latency:test=SET", 0.047e-3),
    ("redis-benchmark-quiet.txt", "redis_benchmark.latency:test=LPOP", 2.007e-3),
    ("redis-benchmark-old.csv", "redis_benchmark.requests:test=LRANGE_100 (first 100 elements)", 19_800.75),
    ("wrk.txt", "wrk.requests:url=http://localhost:8080,threads=4,connections=128", 145_725.5),
    ("wrk.txt", "wrk.latency:url=http://localhost:8080,threads=4,connections=128", 2.5e-3),
    ("spec-cpu-raw.rsf", "spec_cpu.648_exchange2_s:tuning=base,threads=4", 12.440_278_5),
];

#[test]
fn values_of_every_new_tool_are_those_that_it_prints() {
    for (file, key, expected) in VALUES {
        let run = &import_fixture(file)[0];
        assert!(near(value(run, key), *expected), "{file} {key} is {}", value(run, key));
    }
}

#[test]
fn headings_decide_what_a_column_contains() {
    let run = &import_fixture("netperf-cpu.txt")[0];
    assert!(near(value(run, "netperf.tcp_stream:message=16384B"), 100.5 * 1_048_576.0), "-f M counts 2^20 bytes");
    assert!(
        near(value(run, "netperf.udp_unidirectional_send:message=65507B"), 8e9),
        "the rate and not the service demand"
    );
    assert!(near(value(run, "netperf.udp_unidirectional_send_received:message=65507B"), 7.95e9));
    assert!(near(value(run, "netperf.tcp_stream_local_demand:message=16384B"), 5.5e-6));
    assert!(
        run.figures.iter().all(|figure| figure.probe != "netperf.tcp_stream_remote_demand"),
        "-1 is no measurement"
    );
    let run = &import_fixture("iperf3-bidir.json")[0];
    let sent = run.figures.iter().filter(|figure| figure.probe == "iperf3.sent").collect::<Vec<_>>();
    assert_eq!(sent.len(), 2, "both directions of --bidir");
    assert!(sent.iter().any(|figure| figure.point.get("direction") == Some("reverse")));
    let error =
        refused("stream.txt", "Best Rate MB/s  Avg time     Min time     Max time", "Max MB/s  Avg MB/s  Min MB/s");
    assert!(error.contains("its column 'Max MB/s' is not known at line"), "{error}");
    let error = refused("stream.txt", "0.050000     0.060000", "272.0     265.0");
    assert!(error.contains("contradict each other"), "{error}");
    let error = refused("netperf.txt", "10^6bits/sec  ", "furlongs/sec");
    assert!(error.contains("unit 'furlongs/sec' of its heading is not known"), "{error}");
    let error = refused("netperf-omni.csv", "Trans/s", "Wonders/s");
    assert!(error.contains("its unit 'Wonders/s' is not known"), "{error}");
    for (file, from, to) in [
        ("osu.txt", "Max Latency(us)", "Max Latency(fs)"),
        ("imb.txt", "t_max[usec]", "t_max[hours]"),
        ("ior.txt", "Mean(MiB)", "Mean(XiB)"),
        ("mdtest.txt", "Std Dev", "Variance"),
        ("nccl-tests.txt", "(GB/s)  (GB/s)            (us)", "(PB/s)  (GB/s)            (us)"),
        ("nvbandwidth.txt", "(GB/s)", "(PB/s)"),
        ("openssl-speed.txt", "64 bytes", "64 words"),
        ("jmh.txt", "ops/ms", "fops/ms"),
        ("iperf.txt", "Retr\n", "Oops\n"),
        ("hpl-vendor.txt", "SWP", "XYZ"),
        ("schbench.txt", "(usec)", "(weeks)"),
        ("fio-text.txt", "512MiB/s (537MB/s)(", "512XiB/s (537MB/s)("),
        ("redis-benchmark.txt", "p99       max", "q99       max"),
        ("tinymembench.txt", "8400.5 MB/s", "8400.5 XB/s"),
        ("google-benchmark.json", "\"time_unit\": \"us\"", "\"time_unit\": \"weeks\""),
    ] {
        let error = refused(file, from, to);
        assert!(error.contains("not known") || error.contains("known unit"), "{file}: {error}");
    }
}

#[test]
fn what_defines_a_figure_is_part_of_its_key() {
    let run = &import_fixture("unixbench-partial.txt")[0];
    assert!(near(value(run, "unixbench.partial_index:tests=execl_throughput"), 1162.8));
    assert!(run.figures.iter().all(|figure| figure.probe != "unixbench.index"));
    let run = &import_fixture("spec-cpu-estimate.csv")[0];
    let speed = FigureKey::new("spec_cpu.603_bwaves_s", "tuning=base,threads=8".parse().unwrap());
    assert_eq!(run.figure(&speed).unwrap().values(), [700.5, 699.5], "threads of SPECspeed are not copies");
    assert!(run.session.notes.iter().any(|note| note.contains("estimates")));
    assert_eq!(run.session.started, "2021-03-01T00:00:00Z");
    let run = &import_fixture("spec-cpu.txt")[0];
    let rate = FigureKey::new("spec_cpu.500_perlbench_r", "tuning=peak,copies=4".parse().unwrap());
    assert_eq!(run.figure(&rate).unwrap().values(), [10.5, 10.3], "iterations once, and those that failed not");
    assert!(near(value(run, "spec_cpu.specrate2017_int_peak"), 10.5));
    assert_eq!((run.machine.name.as_str(), run.machine.number("cpu.clock")), ("Example Server", Some(2e9)));
    let run = &import_fixture("likwid-bench-4.txt")[0];
    assert!(near(value(run, "likwid_bench.bandwidth:kernel=load_avx,working_set=16000B,threads=4"), 672_443.23e6));
    let run = &import_fixture("hpl-vendor.txt")[0];
    assert!(near(value(run, "hpl.flops:variant=WRC06R8C30c,swap=211,n=86880,nb=240,p=1,q=1"), 362.5e9));
    assert!(near(value(run, "hpl.flops:variant=WR101C2R4,n=10000,nb=192,p=1,q=2"), 5e10));
    let run = &import_fixture("osu-others.txt")[0];
    assert!(near(value(run, "osu.barrier_latency"), 98.75e-6));
    assert!(near(value(run, "osu.non_blocking_allgather_latency:size=4B"), 75.5e-6));
    let run = &import_fixture("perf-bench-futex.txt")[0];
    assert!(near(value(run, "perf_bench.futex_wake:threads=4"), 37e-6));
    assert!(near(value(run, "perf_bench.futex_requeue:threads=4"), 14e-6));
    assert!(near(value(run, "perf_bench.numa_mem_runtime_byte_thread:case=RAM-bw-local"), 0.119e-9));
    let run = &import_fixture("perf-bench-all.txt")[0];
    assert!(near(value(run, "perf_bench.sched_pipe"), 2.25e-6));
    let of_all = "perf_bench.mem_find_bit_average_for_each_set_bit:bits=2,set=2";
    assert!(near(value(run, of_all), 670e-6), "not the one bit of two");
    let Outcome::Below { bound } = outcome(run, "perf_bench.breakpoint_enable_time") else {
        panic!("0.000 is no time")
    };
    assert!(near(*bound, 0.0005));
    assert!(run.session.notes.iter().any(|note| note.contains("benchmark 'epoll/ctl' has no result (line 23)")));
    let run = &import_fixture("perf-bench-numa-quiet.txt")[0];
    assert_eq!(run.figures.len(), 6);
    assert!(near(value(run, "perf_bench.numa_mem_runtime_byte_thread:case=main"), 0.125e-9));
    assert!(near(value(run, "perf_bench.numa_mem_total_speed:case=main"), 16e9));
    let run = &import_fixture("stress-ng-0.17.txt")[0];
    assert!(near(value(run, "stress_ng.bogo_ops:stressor=exec,instances=2"), 955.5));
}

#[test]
fn a_printed_zero_is_less_than_half_its_last_digit() {
    for (file, key, bound) in [
        ("osu-others.txt", "osu.non_blocking_barrier_latency_test", 0.005e-6),
        ("imb.txt", "imb.allreduce:size=0B,processes=4", 0.005e-6),
        ("tinymembench.txt", "tinymembench.extra_latency:working_set=1KiB,pages=base", 0.05e-9),
        (
            "nccl-tests.txt",
            "nccl.bus_bandwidth:size=8B,place=out,type=float,operator=sum,ranks=2,collective=all_reduce",
            0.005e9,
        ),
    ] {
        let runs = import_fixture(file);
        let Outcome::Below { bound: found } = outcome(&runs[0], key) else { panic!("{file} {key} is no bound") };
        assert!(near(*found, bound), "{file}: {found}");
    }
}

#[test]
fn processes_in_one_file_are_launches() {
    let run = &import_repeats("stream-twice.txt")[0];
    let copy = named(run, "memory.copy");
    assert_eq!((run.figures.len(), copy.values().len()), (4, 2));
    assert!(copy.point.get("occurrence").is_none());
    let run = &import_repeats("hackbench.txt")[0];
    let time = estimate(run, "hackbench.time:mode=process,groups=10,descriptors=40,messages=100,size=100B");
    assert_eq!((time.launches, time.method), (2, EstimateMethod::Range));
    assert_eq!(run.figures.len(), 2, "threads are another figure than processes");
    let run = &import_repeats("jmh.json")[0];
    assert_eq!(named(run, "jmh.throughput").values(), [100_000.0, 101_000.0, 102_000.0], "a fork is a process");
    let run = &import_repeats("wide-csv.csv")[0];
    assert_eq!(named(run, "table.triad").values(), [21.5e9, 21.7e9]);
}

/// Fixtures that do not show where a process begins, or do not state the number of its ranks.
const NOT_TWICE: &[&str] = &[
    "criterion-early.txt",
    "criterion.txt",
    "go-bench.txt",
    "hyperfine.txt",
    "lmbench-run-all.txt",
    "lmbench-summary-2.txt",
    "lmbench-summary.txt",
    "osu-others.txt",
    "osu.txt",
    "tinymembench-latencies.txt",
];

#[test]
fn outputs_that_a_page_indents_are_read_too() {
    for file in
        ["coremark-pro.txt", "openssl-speed.txt", "nvbandwidth.txt", "tinymembench.txt", "mdtest.txt", "hackbench.txt"]
    {
        let text = common::text(file);
        let indented: String = text.lines().map(|line| format!("    {line}\n")).collect();
        let figures = |text: &str| import(file, text.as_bytes(), None, probes::catalogue()).unwrap()[0].figures.len();
        assert_eq!(figures(&indented), figures(&text), "{file}");
    }
}

#[test]
fn a_file_twice_over_is_two_processes() {
    let mut wrong = Vec::new();
    for fixture in common::fixtures() {
        let (text, by_lines) = (String::from_utf8(fixture.bytes).unwrap(), fixture.file.ends_with(".txt"));
        let sheets = ["unixbench", "geekbench", "byte4", "spec-cpu"].contains(&fixture.format.as_str());
        if !by_lines || sheets || NOT_TWICE.contains(&fixture.file.as_str()) {
            continue;
        }
        let twice = format!("{text}\n{text}");
        let once = read_repeats(&fixture.format, &text);
        let runs = read_repeats(&fixture.format, &twice);
        let values = |runs: &[Run]| runs[0].figures.iter().map(|figure| figure.values().len().max(1)).sum::<usize>();
        if runs[0].figures.len() != once[0].figures.len() || values(&runs) != 2 * values(&once) {
            wrong.push(format!("{}: {} figures, {} once", fixture.file, runs[0].figures.len(), once[0].figures.len()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn anybodys_table_is_read_by_its_headings() {
    let runs = import_fixture("wide-csv.csv");
    assert_eq!(runs.iter().map(|run| run.machine.name.as_str()).collect::<Vec<_>>(), ["box1", "box2"]);
    let run = &runs[1];
    assert_eq!(run.session.started, "2025-01-15T00:00:00Z");
    assert_eq!(
        (run.machine.text("cpu.model").as_deref(), run.machine.number("cpu.cores")),
        (Some("Example CPU 8"), Some(8.0))
    );
    assert_eq!(
        (run.machine.number("cpu.clock"), run.machine.number("memory.total")),
        (Some(3.1e9), Some(32.0 * 1_073_741_824.0))
    );
    assert!(near(value(run, "memory.copy:threads=4"), 4e10));
    assert!(run.figures.iter().all(|figure| figure.probe != "table.compile"), "an empty cell is no figure");
    assert_eq!(named(run, "table.hs23").metric.unit, Unit::Ratio);
    assert!(matches!(outcome(run, "table.lost"), Outcome::Below { .. }));
    for (table, words) in [
        ("machine,triad\na,1\n", "the column 'triad' has no unit"),
        ("machine,triad (GB/fortnight)\na,1\n", "has a unit that is not known"),
        ("machine,misses (count)\na,1\n", "does not say which direction is better"),
        ("machine,x (s),x (ms)\na,1,2\n", "occurs twice"),
        ("machine,x (s)\na,1.5 s\n", "'1.5 s' in column 'x (s)' is not a number at line 2"),
        ("machine,x (s)\na,1,2\n", "differ in length at line 2"),
        ("machine,x (s)\n,1\n", "does not name its machine at line 2"),
        ("machine,memory.wonder (s)\na,1\n", "which does not exist"),
        ("machine,memory.copy (s)\na,1\n", "another unit than the figure"),
        ("machine,x (s),date\na,1,May\n", "'May' is not a date"),
        ("machine;x (s)\na;1,5\n", "'1,5' in column 'x (s)' is not a number"),
        ("machine,x (s)\na,1e308\n", "'1e308' in column 'x (s)' is too large a number at line 2"),
        ("machine,cores,x (s)\na,-4,1\n", "'-4' in column 'cores' is less than any machine has; correct it at line 2"),
        ("machine,cores,x (s)\na,1.5,1\n", "'1.5' in column 'cores' is not a whole number"),
        ("machine,year,x (s)\na,19,1\n", "'19' in column 'year' is less than any machine has"),
        ("machine,clock (GHz),x (s)\na,2400,1\n", "'2400' in column 'clock (GHz)' is more than any machine has"),
        ("machine,memory (GiB),x (s)\na,0,1\n", "'0' in column 'memory (GiB)' is less than any machine has"),
    ] {
        let error = import("t.csv", table.as_bytes(), None, probes::catalogue()).unwrap_err().to_string();
        assert!(error.contains(words), "{table:?}: {error}");
    }
    let table = "machine,cpu,label,cores,clock (GHz),l3 (MiB),x (s)\n\
                 \"rack 4, node 1\",\"Example, 2 threads\",base,4,2.4,0,1\n\"rack 4, node 1\",\"Example, 2 threads\",base,4,2.4,0,1.1\n\
                 b,,one,,,,2\nb,,two,,,,2\nb,,two,,,,2\n";
    let runs = import("t.csv", table.as_bytes(), None, probes::catalogue()).unwrap();
    let (first, second) = (&runs[0], &runs[1]);
    assert_eq!(first.machine.name, "rack 4, node 1", "only axes have no commas");
    assert_eq!(first.machine.text("cpu.model").as_deref(), Some("Example, 2 threads"));
    assert_eq!((first.label.as_deref(), first.session.notes.len()), (Some("base"), 0), "{:?}", first.session.notes);
    assert_eq!(
        (second.label.as_ref(), &second.session.notes[..]),
        (None, &["label one".to_owned(), "label two".to_owned()][..])
    );
    let semicolons = import("t.csv", b"machine;x (s)\na;1.5\n", None, probes::catalogue()).unwrap();
    assert!(near(value(&semicolons[0], "table.x"), 1.5));
}
