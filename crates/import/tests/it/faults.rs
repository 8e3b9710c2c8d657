//! Small outputs that were misread once, each with what it states. They are typed anew; the names of hosts are invented.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use std::path::Path;

use crate::common::{self, keys, near, noted, read_as};
use import::{Error, ImportOptions, ImportedSource};
use model::{Catalogue, Run};

fn bytes(file: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults").join(file)).unwrap()
}

fn read(file: &str) -> Result<ImportedSource, Error> {
    import::import(file, &bytes(file), &ImportOptions::default(), &Catalogue::default())
}

/// A value that a source states: by its key, or as a quantile `key @ 0.99`.
fn stated(run: &Run, key: &str) -> Option<f64> {
    let (key, quantile) = key.split_once(" @ ").map_or((key, None), |(key, at)| (key, at.parse::<f64>().ok()));
    let (probe, point) = key.split_once(':').unwrap_or((key, ""));
    let figure = run.figure(&model::FigureKey::new(probe, point.parse().unwrap()))?;
    match quantile {
        Some(at) => figure.quantiles.iter().find(|found| near(found.quantile, at)).map(|found| found.estimate.value),
        None => figure.outcome.estimate().map(|estimate| estimate.value),
    }
}

/// A file, how many figures it has, some of them with their values, and words of notes.
type Fault = (&'static str, usize, &'static [(&'static str, f64)], &'static [&'static str]);

/// STREAM twice, under words that tell two machines, kernels or settings.
const TWICE: &[(&str, f64)] = &[
    ("memory.copy:working_set=1250000KiB,threads=8,output=1", 20e9),
    ("memory.copy:working_set=1250000KiB,threads=8,output=2", 40e9),
];

const APART: &str = "2 outputs state the same figures and stay apart";

const FAULTS: &[Fault] = &[
    (
        "fio-text-sync-percentiles.txt",
        4,
        &[
            ("fio.write_latency:job=job1,rw=write,bs=4096B,ioengine=sync,iodepth=1 @ 0.5", 12.608e-6),
            ("fio.write_latency:job=job1,rw=write,bs=4096B,ioengine=sync,iodepth=1 @ 1", 58e-6),
            ("fio.sync_latency:job=job1,rw=write,bs=4096B,ioengine=sync,iodepth=1", 192.48e-6),
            ("fio.sync_latency:job=job1,rw=write,bs=4096B,ioengine=sync,iodepth=1 @ 0.5", 184e-6),
        ],
        &[],
    ),
    (
        "fio-text-summary-before-next-run.txt",
        6,
        &[
            ("fio.read_operations:job=job_rr,rw=randread,bs=4096B,ioengine=psync,iodepth=1", 422e3),
            ("fio.write_operations:job=job_rw,rw=randwrite,bs=4096B,ioengine=psync,iodepth=1", 436e3),
        ],
        &["2 lines with numbers were not understood"],
    ),
    (
        "sysbench-fileio-sync-async.txt",
        12,
        &[
            ("sysbench.file_reads:block=16KiB,test=rndrw,threads=1", 400.0),
            ("sysbench.file_reads:block=16KiB,flags=directio,fsync=end,mode=asynchronous,test=rndrw,threads=1", 60e3),
        ],
        &[],
    ),
    (
        "sysbench-mutex.txt",
        1,
        &[("sysbench.latency:test=mutex,threads=1", 4.93e-3), ("sysbench.latency:test=mutex,threads=1 @ 1", 4.93e-3)],
        &[],
    ),
    (
        "sysbench-threads.txt",
        1,
        &[("sysbench.latency:locks=64,test=threads,threads=1,yields=3000 @ 0.95", 1.67e-3)],
        &[],
    ),
    (
        "sysbench-indented.txt",
        2,
        &[("sysbench.cpu_events:primes=10000,threads=4", 3120.5), ("sysbench.latency:primes=10000,threads=4", 1.28e-3)],
        &[],
    ),
    (
        "sysbench-old-oltp.txt",
        4,
        &[
            ("sysbench.read_write_requests:threads=64,queries=14 read + 5 write + 2 other", 140_554.55),
            ("sysbench.other_operations:threads=64,queries=14 read + 5 write + 2 other", 14_795.14),
        ],
        &["deadlocks: 6"],
    ),
    (
        "schbench-final-report.txt",
        4,
        &[("schbench.wakeup_latency", 7e-6), ("schbench.request_latency @ 0.99", 11_376e-6)],
        &[],
    ),
    (
        "netperf-udp-received.txt",
        4,
        &[
            ("netperf.udp_stream_received:message=65507B", 9480e6 / 8.0),
            ("netperf.udp_stream_received:message=64B", 189e6 / 8.0),
        ],
        &[],
    ),
    (
        "netperf-concurrent.txt",
        2,
        &[
            ("netperf.tcp_stream:message=16384B,output=1", 5000e6 / 8.0),
            ("netperf.tcp_stream:message=16384B,output=2", 5100e6 / 8.0),
        ],
        &[APART],
    ),
    (
        "perf-bench-futex-threads.txt",
        2,
        &[
            ("perf_bench.futex_hash:threads=8,futex=shared", 491_926.0),
            ("perf_bench.futex_hash:threads=32", 1_491_926.0),
        ],
        &[],
    ),
    (
        "headings-sysbench.txt",
        4,
        &[
            ("sysbench.cpu_events:primes=10000,threads=4,output=1", 3120.5),
            ("sysbench.cpu_events:primes=10000,threads=4,output=2", 4240.75),
        ],
        &[APART],
    ),
    ("headings-one-hash.txt", 8, TWICE, &[APART]),
    ("headings-rules.txt", 8, TWICE, &[APART]),
    ("headings-hostname.txt", 8, TWICE, &[APART]),
    ("headings-kernel-numbers.txt", 8, TWICE, &[APART]),
    ("headings-model-numbers.txt", 8, TWICE, &[APART]),
    ("headings-cpuinfo.txt", 8, TWICE, &[APART]),
    ("headings-uname.txt", 8, TWICE, &[APART]),
    (
        "cyclictest-two-kernels.txt",
        4,
        &[
            ("cyclictest.longest:thread=0,interval=200us,priority=80,output=1", 306e-6),
            ("cyclictest.longest:thread=0,interval=200us,priority=80,output=2", 8380e-6),
        ],
        &[APART],
    ),
    (
        "iperf3-udp-reverse.txt",
        3,
        &[
            ("iperf.sent:protocol=udp,streams=1,direction=reverse", 975e6 / 8.0),
            ("iperf.lost:protocol=udp,streams=1,direction=reverse", 0.79),
            ("iperf.jitter:protocol=udp,streams=1,direction=reverse", 0.038e-3),
        ],
        &[],
    ),
    ("csv-non-latin-a.txt", 1, &[("table.\u{5185}\u{5b58}\u{5e26}\u{5bbd}", 61.5)], &[]),
    ("csv-non-latin-b.txt", 1, &[("table.\u{7f16}\u{8bd1}\u{65f6}\u{95f4}", 182.5)], &[]),
    ("csv-non-latin-two.txt", 2, &[("table.\u{6d4b}\u{8bd5}", 61.5), ("table.\u{5185}\u{5b58}", 182.5)], &[]),
    ("openssl-abridged-children.txt", 2, &[("openssl.sign:key=rsa 4096 bits,processes=256", 37_194.7)], &[]),
    (
        "launches-lose-quantiles.txt",
        4,
        &[("schbench.wakeup_latency:output=1 @ 0.99", 900e-6), ("schbench.wakeup_latency:output=2 @ 0.99", 950e-6)],
        &[APART],
    ),
    (
        "redis-old-latency.txt",
        1,
        &[("redis_benchmark.requests:test=SET,clients=50,payload=3B", 83_333.33)],
        &["98.84% <= 1 milliseconds"],
    ),
    (
        "hyperfine-sigma-and-outliers.txt",
        1,
        &[("hyperfine.mean:command=bin/getargv 16383", 0.5e-3)],
        &["standard deviation over its executions 0.0 ms", "Statistical outliers were detected"],
    ),
    (
        "jmh-one-fork.txt",
        1,
        &[("jmh.throughput:benchmark=org.example.Sample.work", 1000.0)],
        &["the range is of iterations in one process"],
    ),
    ("cr-only.txt", 5, &[("hyperfine.mean:command=python .\\01.py", 167.2e-3)], &[]),
    ("same-machine-new.txt", 3, &[("go_bench.time:benchmark=FloatSub/100,threads=4,package=math/big", 78.8e-9)], &[]),
    ("same-machine-old.txt", 3, &[("go_bench.time:benchmark=FloatSub/100,threads=4,package=math/big", 115e-9)], &[]),
    (
        "stress-ng-mb-per-sec.txt",
        2,
        &[("stress_ng.write128nt_mb_per_sec:stressor=memrate,instances=4", 2190.96 * 1_048_576.0)],
        &[],
    ),
];

#[test]
fn what_was_misread_is_read() {
    let mut wrong = Vec::new();
    for (file, figures, values, notes) in FAULTS {
        let source = match read(file) {
            Ok(source) => source,
            Err(error) => {
                wrong.push(format!("{file}: {error}"));
                continue;
            }
        };
        let run = &source.runs[0];
        if run.figures.len() != *figures {
            wrong.push(format!("{file}: {} figures and not {figures}", run.figures.len()));
        }
        for (key, expected) in *values {
            if !stated(run, key).is_some_and(|found| near(found, *expected)) {
                wrong.push(format!("{file}: {key} is {:?} among {:#?}", stated(run, key), keys(run)));
            }
        }
        let said: Vec<&String> =
            run.session.notes.iter().chain(run.figures.iter().flat_map(|figure| &figure.notes)).collect();
        for words in *notes {
            if !said.iter().any(|note| note.contains(words)) {
                wrong.push(format!("{file}: no note has '{words}': {said:#?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A file that ends inside a number states another number.
#[test]
fn what_was_cut_off_is_refused_or_told() {
    let said = read("openssl-truncated.txt").unwrap_err().to_string();
    assert!(said.contains("see whether it broke off"), "{said}");
    let of = |format, text: &str| {
        let options = ImportOptions { format: Some(format), ..ImportOptions::default() };
        import::import("x", text.as_bytes(), &options, &Catalogue::default())
    };
    let sizes = "# OSU MPI Latency Test v7.0\n# Size          Latency (us)\n4  0.24\n8  0.25\n";
    let whole = of("osu", sizes).unwrap();
    assert!(whole.runs[0].session.notes.is_empty(), "{:?}", whole.runs[0].session.notes);
    assert_eq!(of("osu", sizes.trim_end()).unwrap().runs[0].figures.len(), 2, "it has the digits of the row above");
    for (format, text, line) in [
        ("osu", sizes.trim_end().trim_end_matches('5'), 4),
        ("osu", sizes.trim_end().trim_end_matches(".25"), 4),
        ("wide-csv", "machine,triad (GB/s)\nnode-a,61.5\nnode-b,18", 3),
    ] {
        let said = of(format, text).unwrap_err().to_string();
        assert!(said.contains("may be cut off") && said.ends_with(&format!("at line {line}")), "{said}");
    }
    let one = of("wide-csv", "machine,triad (GB/s)\nnode-a,61").unwrap();
    assert!(one.remarks[0].contains("may be cut off") && noted(&one.runs[0], &one.remarks[0]), "{:?}", one.remarks);
}

/// An abridged list does not say how many there were.
#[test]
fn what_is_counted_by_lines_is_unstated_where_lines_lack() {
    let text = String::from_utf8(bytes("openssl-abridged-children.txt")).unwrap();
    let run = &read_as("openssl-speed", &text.replace("openssl speed -multi 256 -seconds 30 rsa4096\n", ""))[0];
    assert!(keys(run).iter().all(|key| key.ends_with("processes=unstated")), "{:?}", keys(run));
    let sum = "[ ID] Interval           Transfer     Bitrate\n\
               [  5]   0.00-5.00   sec  1.25 GBytes  2.00 Gbits/sec    sender\n\
               [SUM]   0.00-5.00   sec  10.0 GBytes  16.0 Gbits/sec    sender\n";
    assert_eq!(keys(&read_as("iperf", sum)[0]), ["iperf.sent:streams=unstated"]);
}

/// Settings that a file states tell its figures apart; what a tool does without an option adds nothing.
#[test]
fn settings_of_files_and_of_fio_define_their_figures() {
    let text = String::from_utf8(bytes("sysbench-fileio-sync-async.txt")).unwrap();
    let (one, _) = text.split_at(text.rfind("sysbench 1.0.20").unwrap());
    let key = |from: &str, to: &str| {
        assert!(one.contains(from), "{from}");
        keys(&read_as("sysbench", &one.replacen(from, to, 1))[0])[0].clone()
    };
    let at = |axis: &str| format!("sysbench.file_fsyncs:threads=1,{axis}block=16KiB,test=rndrw");
    assert_eq!(key("128 files", "128 files"), at(""));
    assert_eq!(key("128 files", "4 files"), at("files=4,"));
    assert_eq!(key("2GiB total", "8GiB total"), at("size=8GiB,"));
    assert_eq!(key("test: 1.50", "test: 3.00"), "sysbench.file_fsyncs:threads=1,block=16KiB,ratio=3.00,test=rndrw");
    assert_eq!(
        key("each 100 requests", "each 7 requests"),
        "sysbench.file_fsyncs:threads=1,fsync=7,block=16KiB,test=rndrw"
    );
    let udp = common::text("iperf-udp.txt");
    let size = |text: &str| keys(&read_as("iperf", text)[0]).iter().filter(|key| key.contains("message=512B")).count();
    assert_eq!(size(&udp), 0);
    assert!(size(&udp.replace("Sending 1470 byte", "Sending 512 byte")) > 0);
    let document = r#"{"fio version": "fio-3.33", "global options": {"rw": "write", "fdatasync": "1"}, "jobs": [{"jobname": "a",
        "write": {"io_bytes": 4096, "bw": 8, "bw_bytes": 8192, "iops": 2.5,
                  "clat_ns": {"min": 100, "max": 300, "mean": 200, "stddev": 5, "N": 9}},
        "sync": {"total_ios": 9, "lat_ns": {"min": 1000, "max": 3000, "mean": 2000, "stddev": 50, "N": 9}}}]}"#;
    let run = &read_as("fio", document)[0];
    assert!(
        stated(run, "fio.sync_latency:job=a,rw=write,fdatasync=1").is_some_and(|mean| near(mean, 2e-6)),
        "{:?}",
        keys(run)
    );
    assert!(stated(run, "fio.write_latency:job=a,rw=write,fdatasync=1").is_some_and(|mean| near(mean, 200e-9)));
}
