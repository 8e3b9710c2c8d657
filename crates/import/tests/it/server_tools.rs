//! What tools of databases and servers print in their corners: which test it is, connections, mixes, zeros.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{keys, named, near, read_as, value};
use model::Outcome;

fn sysbench(test: &str, result: &str, average: &str) -> String {
    format!(
        "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nRunning the test with following options:\nNumber of threads: 1\n{test}\n\
         {result}\n\nLatency (ms):\n         min:   0.00\n         avg:   {average}\n         max:   3.00\n         sum:   9.00\n"
    )
}

#[test]
fn tests_of_sysbench_in_one_file_are_told_apart() {
    let files = |doing: &str, result: &str| sysbench(&format!("Block size 16KiB\nDoing {doing} test"), result, "0.50");
    let old = "File operations:\n    reads/s:  100.50\n    writes/s:  0.00\n\nThroughput:\n    read, MiB/s:  2.00\n    written, MiB/s:  0.00";
    let new = "Throughput:\n    read:  IOPS=300.50 4.00 MiB/s (4.19 MB/s)\n    write: IOPS=0.00 0.00 MiB/s (0.00 MB/s)\n    fsync: IOPS=0.00";
    let prepare = "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\n2 files, 8192Kb each, 16Mb total\n";
    let text = [prepare, &files("random read", old), &files("sequential read", new)].concat();
    let run = &read_as("sysbench", &text)[0];
    assert!(near(value(run, "sysbench.file_reads:threads=1,block=16KiB,test=rndrd"), 100.5), "{:?}", keys(run));
    assert!(near(value(run, "sysbench.file_reads:threads=1,block=16KiB,test=seqrd"), 300.5));
    assert!(near(value(run, "sysbench.file_read:threads=1,block=16KiB,test=seqrd"), 4.0 * 1_048_576.0));
    assert!(keys(run).iter().all(|key| !key.contains("writ") && !key.contains("fsync")), "what was not done is no 0");
    // What a transaction consists of tells the script, whose name is not printed.
    let database = |read: u32, write: u32, rate: &str| {
        format!(
            "SQL statistics:\n    queries performed:\n        read:  {read}\n        write:  {write}\n        other:  200\n\
             \x20       total:  1\n    transactions:  100    ({rate} per sec.)\n"
        )
    };
    let text = [sysbench("", &database(1400, 0, "50.50"), "0.50"), sysbench("", &database(1400, 400, "20.50"), "0.50")];
    let run = &read_as("sysbench", &text.concat())[0];
    assert!(near(value(run, "sysbench.transactions:threads=1,queries=14 read + 0 write + 2 other"), 50.5));
    assert!(near(value(run, "sysbench.transactions:threads=1,queries=14 read + 4 write + 2 other"), 20.5));
}

#[test]
fn what_sysbench_does_not_name_is_no_launch_and_its_zero_no_latency() {
    let run = &read_as("sysbench", &[sysbench("", "", "114.50"), sysbench("", "", "0.50")].concat())[0];
    assert!(near(value(run, "sysbench.latency:threads=1,output=1"), 0.1145), "{:?}", keys(run));
    assert!(near(value(run, "sysbench.latency:threads=1,output=2"), 0.5e-3));
    let run = &read_as("sysbench", &sysbench("", "CPU speed:\n    events per second:  5.50", "0.00"))[0];
    assert!(matches!(named(run, "sysbench.latency").outcome, Outcome::Below { bound } if near(bound, 0.005e-3)));
}

#[test]
fn sysbench_before_1_0_is_read() {
    let run = |version: &str, result: &str, heading: &str| {
        format!(
            "sysbench {version}:  multi-threaded system evaluation benchmark\n\nRunning the test with following options:\n\
             Number of threads: 8\n{result}\nTest execution summary:\n    total time:  0.7s\n    total number of events:  9\n\
             \x20   {heading}:\n\
             \x20        min:                 0.91ms\n         avg:                 1.50ms\n         max:                 3.00ms\n\
             \x20        approx.  95 percentile:  2.50ms\n"
        )
    };
    let old = "per-request statistics";
    let cpu = run("0.4.12", "Maximum prime number checked in CPU test: 10000", old);
    let memory = "Memory block size: 1K\nMemory operations type: write\nMemory scope type: global\n\
                  Operations performed: 1048576 (2000000.50 ops/sec)\n1024.00 MB transferred (1953.50 MB/sec)";
    let files = "Block size 16Kb\nDoing random read test\nOperations performed:  9 Read, 0 Write, 0 Other = 9 Total\n\
                 Read 1Mb  Written 0b  Total transferred 1Mb  (4.5Mb/sec)\n  300.50 Requests/sec executed";
    let text = [cpu, run("0.4.12", memory, old), run("0.5", files, "response time")].concat();
    let run = &read_as("sysbench", &text)[0];
    let cpu = named(run, "sysbench.latency");
    assert!(near(value(run, "sysbench.latency:threads=8,primes=10000"), 1.5e-3), "{:?}", keys(run));
    assert_eq!(cpu.quantiles.len(), 3, "{:?}", cpu.quantiles);
    let at = "threads=8,block=1K,operation=write,scope=global";
    assert!(near(value(run, &format!("sysbench.operations:{at}")), 2_000_000.5));
    assert!(near(value(run, &format!("sysbench.memory_transfer:{at}")), 1953.5 * 1_048_576.0));
    assert!(near(value(run, "sysbench.file_transferred:threads=8,block=16Kb,test=rndrd"), 4.5 * 1_048_576.0));
    assert!(near(value(run, "sysbench.file_requests:threads=8,block=16Kb,test=rndrd"), 300.5));
    assert!(run.session.notes.is_empty(), "{:?}", run.session.notes);
}

fn pgbench(kind: &str, above: &str, rate: &str) -> String {
    format!(
        "transaction type: {kind}\nnumber of clients: 1\nnumber of transactions actually processed: 9\nlatency average = 1.800 ms\n\
         {above}tps = {rate}\n"
    )
}

#[test]
fn connections_rates_and_mixes_define_a_run_of_pgbench() {
    let run = &read_as(
        "pgbench",
        &pgbench("x", "average connection time = 1.4 ms\n", "555.5 (including reconnection times)"),
    )[0];
    assert!(near(value(run, "pgbench.transactions:type=x,clients=1,connect=each"), 555.5));
    assert!(near(value(run, "pgbench.latency:type=x,clients=1,connect=each"), 1.8e-3));
    let old = "40.5 (including connections establishing)\ntps = 50.5 (excluding connections establishing)";
    assert!(near(value(&read_as("pgbench", &pgbench("x", "", old))[0], "pgbench.transactions:type=x,clients=1"), 50.5));
    let limited =
        pgbench("x", "rate limit schedule lag: avg 0.098 (max 0.269) ms\n", "200.5 (without initial connection time)");
    assert!(near(value(&read_as("pgbench", &limited)[0], "pgbench.transactions:type=x,clients=1,rate=limited"), 200.5));
    let mix = |weight: u32| {
        let first = format!(
            "SQL script 1: <builtin: A>\n - weight: {weight} (targets 25.0% of total)\n - 16 transactions (24.9% of total, tps = 1.5)\n"
        );
        let second = "SQL script 2: b.sql\n - weight: 3 (targets 75.0% of total)\n - statement latencies in milliseconds:\n  0.05  BEGIN;\n";
        [pgbench("multiple scripts", "", "6.5"), first, second.to_owned()].concat()
    };
    let run = &read_as("pgbench", &[mix(1), mix(2)].concat())[0];
    assert!(near(value(run, "pgbench.transactions:type=multiple scripts,clients=1,scripts=A@1+b.sql@3"), 6.5));
    assert_eq!(run.figures.len(), 4, "{:?}", keys(run));
    assert!(run.session.notes.is_empty(), "{:?}", run.session.notes);
}

#[test]
fn what_short_outputs_of_redis_benchmark_do_not_print_is_noted() {
    let quiet = "SET: 16000.50 requests per second, p50=0.063 msec\n";
    let run = &read_as("redis-benchmark", quiet)[0];
    assert!(run.figures[0].notes.iter().any(|note| note.contains("are not printed")));
    let long = "====== GET ======\n  2000 requests completed in 0.25 seconds\n  50 parallel clients\n  3 bytes payload\n  keep alive: 0\n\
                \x20 multi-thread: yes\n  threads: 2\n\nSummary:\n  throughput summary: 7968.50 requests per second\n";
    let run = &read_as("redis-benchmark", long)[0];
    let key = "redis_benchmark.requests:test=GET,clients=50,payload=3B,threads=2,keep_alive=no";
    assert!(near(value(run, key), 7968.5), "{:?}", keys(run));
}
