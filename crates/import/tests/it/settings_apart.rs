//! What outputs state differently from each other, in versions, languages and headings, and runs that did nothing.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{estimate, keys, named, near, noted, read_as, read_repeats, refused_as, text, value};
use import::ImportOptions;
use model::{Catalogue, EstimateMethod, Launch};

#[test]
fn a_run_of_sysbench_without_an_event_measured_nothing() {
    let one = text("sysbench.txt");
    let runs = read_as("sysbench", &one);
    let idle = "sysbench 1.0.20 (using system LuaJIT 2.1)\n\nRunning the test with following options:\n\
                Number of threads: 16\n\nRunning memory speed test with the following options:\n  block size: 2097152KiB\n\n\
                Total operations: 0 (    0.00 per second)\n\n0.00 MiB transferred (0.00 MiB/sec)\n\n\nGeneral statistics:\n\
                \x20   total time:                          0.0008s\n    total number of events:              0\n\n\
                Latency (ms):\n         min:                                    0.00\n\
                \x20        avg:                                    0.00\n\
                \x20        max:                                    0.00\n\
                \x20        95th percentile:                        0.00\n\
                \x20        sum:                                    0.00\n\n";
    for text in [format!("{one}\n{idle}"), format!("{idle}\n{one}")] {
        let with = read_as("sysbench", &text);
        assert_eq!(with[0].figures, runs[0].figures);
        assert!(noted(&with[0], "without a single event was left out"));
    }
    assert!(refused_as("sysbench", idle).contains("before any figure"));
}

#[test]
fn versions_of_a_tool_are_no_launches_of_each_other() {
    let one = text("openssl-speed.txt");
    let run = &read_repeats("openssl-speed", &format!("{one}\n{}", one.replace("100000.00k", "120000.00k")))[0];
    assert_eq!(estimate(run, "openssl.throughput:algorithm=aes-128-cbc,block=16B").launches, 2);
    assert_eq!(run.origin.as_ref().unwrap().version.as_deref(), Some("1.1.1g"));
    let newer = one.replace("OpenSSL 1.1.1g  21 Apr 2020", "version: 3.0.2").replace("100000.00k", "120000.00k");
    let run = &read_repeats("openssl-speed", &format!("{one}\n{newer}"))[0];
    for (version, expected) in [("1.1.1g", 1e8), ("3.0.2", 1.2e8)] {
        let key = format!("openssl.throughput:algorithm=aes-128-cbc,block=16B,version={version}");
        assert!(near(value(run, &key), expected), "{:?}", keys(run));
        assert_eq!(estimate(run, &key).launches, 1);
    }
    assert_eq!(run.origin.as_ref().unwrap().version, None);
    let database = text("pgbench.txt");
    let other = format!("{database}\n{}", database.replace("pgbench (17.5", "pgbench (16.4"));
    let versions = keys(&read_repeats("pgbench", &other)[0]).iter().filter(|key| key.contains("version=16.4")).count();
    assert!(versions > 0, "{:?}", keys(&read_repeats("pgbench", &other)[0]));
}

/// Words, headings and prompts around outputs may tell machines, kernels or repetitions: Prony does not guess which.
#[test]
fn outputs_of_one_file_stay_apart_unless_the_user_says_that_they_repeat() {
    let one = text("openssl-speed.txt");
    let key = |end: &str| format!("openssl.throughput:algorithm=aes-128-cbc,block=16B{end}");
    for (first, second) in [("", ""), ("Before:", "After:"), ("# AWS", "# Hetzner"), ("[a@x ~]$ run", "b@y:~$ run")] {
        let both = format!("{first}\n{one}\n{second}\n{}", one.replace("100000.00k", "120000.00k"));
        let read = |repeats| {
            let options = ImportOptions { repeats, ..ImportOptions::default() };
            import::import("x", both.as_bytes(), &options, &Catalogue::default()).unwrap()
        };
        let apart = read(false);
        assert!(near(value(&apart.runs[0], &key(",output=1")), 1e8), "{:?}", keys(&apart.runs[0]));
        assert!(near(value(&apart.runs[0], &key(",output=2")), 1.2e8));
        let said = apart.remarks.first().unwrap();
        assert!(said.starts_with("2 outputs state the same figures") && said.contains("--repeats"), "{said}");
        assert!(noted(&apart.runs[0], said));
        let joined = read(true);
        assert_eq!((estimate(&joined.runs[0], &key("")).launches, joined.remarks.len()), (2, 0));
    }
    // What one of them alone states needs no number, and one output has none.
    let other = one.replace("aes-128-cbc", "aes-192-cbc");
    let found = keys(&read_as("openssl-speed", &format!("{one}\n{other}"))[0]);
    let told = |part: &str| found.iter().filter(|key| key.contains(part)).all(|key| key.contains("output="));
    assert!(!told("aes-128-cbc") && !told("aes-192-cbc") && told("sha256"), "{found:?}");
    assert!(keys(&read_as("openssl-speed", &one)[0]).iter().all(|key| !key.contains("output")));
}

/// Each launch keeps its quantiles; the figure states their medians.
#[test]
fn launches_keep_the_quantiles_that_all_of_them_state() {
    let report = |late: u32, more: &str| {
        format!(
            "./schbench -m 1 -t 4 -r 10\nWakeup Latencies percentiles (usec) runtime 10 (s) (100 total samples)\n\
             \x20         50.0th: 5          (50 samples)\n        * 99.0th: {late}        (15 samples)\n{more}\
             \x20         min=1, max=2000\naverage rps: 16000.00\n"
        )
    };
    let few = [report(900, "          99.9th: 990          (1 samples)\n"), report(950, "")].concat();
    let run = &read_repeats("schbench", &few)[0];
    let latency = named(run, "schbench.wakeup_latency");
    let of = |at: f64| latency.quantiles.iter().find(|found| found.quantile == at).map(|found| found.estimate);
    let own = |launch: &Launch| launch.quantiles.iter().find(|(quantile, _)| *quantile == 0.99).unwrap().1;
    let own: Vec<f64> = latency.launches.iter().map(own).collect();
    assert!(own.len() == 2 && near(own[0], 900e-6) && near(own[1], 950e-6), "{own:?}");
    assert!(of(0.999).is_none(), "the first alone states 99.9%");
    let late = of(0.99).unwrap();
    assert!(near(late.value, 925e-6) && late.launches == 2 && late.method == EstimateMethod::None, "{late:?}");
    let many: String = (0..20).map(|at| report(900 + at * 7 % 20, "")).collect();
    let run = &read_repeats("schbench", &many)[0];
    let stated = &named(run, "schbench.wakeup_latency").quantiles;
    let late = stated.iter().find(|found| found.quantile == 0.99).unwrap().estimate;
    assert!(late.method == EstimateMethod::OrderStatistic && late.low < late.value && late.value < late.high);
}

#[test]
fn what_a_tool_itself_says_is_wrong_is_no_figure() {
    let one = text("stream.txt");
    let runs = read_as("stream", &one);
    let wrong = "Failed Validation on array a[], AvgRelAbsErr > epsilon (1.000000e-13)\n\
                 Failed Validation on array b[], AvgRelAbsErr > epsilon (1.000000e-13)\n";
    let failed = format!("{one}\n{wrong}");
    assert!(refused_as("stream", &failed).contains("failed STREAM's own validation at line"));
    let kept = &read_as("stream", &format!("{one}\n{failed}"))[0];
    assert_eq!(keys(kept), keys(&runs[0]));
    assert!(kept.figures.iter().all(|figure| figure.launches.len() < 2) && noted(kept, "was left out"));
    let metrics = text("stress-ng.txt");
    let corrupted =
        format!("stress-ng: fail:  [2640] metrics-check: stressor metrics corrupted, data is compromised\n{metrics}");
    assert!(refused_as("stress-ng", &corrupted).contains("its metrics are corrupted at line 1"));
}

#[test]
fn a_run_of_wrk_that_did_nothing_or_contradicts_itself_is_no_figure() {
    let run = |requests: &str, rate: &str| {
        format!(
            "Running 5s test @ http://localhost:8081\n  2 threads and 2 connections\n  Thread Stats   Avg      Stdev     Max   +/- \
             Stdev\n    Latency     1.50us    0.25us   2.50us    75.00%\n    Req/Sec     0.00      0.00     0.00      -nan%\n  \
             {requests}, 15.11KB read\nRequests/sec:    {rate}\nTransfer/sec:      3.02KB\n"
        )
    };
    let whole = run("500 requests in 5.01s", "99.80");
    assert_eq!(read_as("wrk", &whole)[0].figures.len(), 3);
    assert_eq!(read_as("wrk", &run("50 requests in 0.51s", "98.04"))[0].figures.len(), 3, "interrupted");
    let idle = run("0 requests in 5.00s", "0.00");
    assert!(refused_as("wrk", &idle).contains("before any figure"));
    let both = &read_as("wrk", &format!("{idle}\n{whole}"))[0];
    assert_eq!(both.figures, read_as("wrk", &whole)[0].figures);
    assert!(noted(both, "no request was answered"));
    for (requests, rate) in
        [("833071 requests in 1.25ms", "663801593.63"), ("35951 requests in 307445734491.24m", "0.00")]
    {
        assert!(
            refused_as("wrk", &run(requests, rate)).contains("contradicts how long it ran at line 6"),
            "{requests}"
        );
    }
}

#[test]
fn coremark_tells_which_runs_are_invalid_and_which_are_wrong() {
    let run = |said: &str, crc: &str| {
        format!(
            "2K performance run parameters for coremark.\n{crc}CoreMark Size    : 666\nTotal ticks      : 9622\n\
             Total time (secs): 9.622000\nIterations/Sec   : 27021.409270\n{said}Iterations       : 260000\n\
             [0]crcfinal      : 0x25b5\nErrors detected\n"
        )
    };
    let short = &read_as("coremark", &run("ERROR! Must execute for at least 10 secs for a valid result!\n", ""))[0];
    assert_eq!(short.figures.len(), 1);
    assert!(noted(short, "invalid by its rules"), "{:?}", short.session.notes);
    let wrong = run("", "[0]ERROR! list crc 0x1234 - should be 0xe714\n");
    assert!(refused_as("coremark", &wrong).contains("its results are wrong at line 2"));
}
