//! What tools of single requests print: to a disk, to a store of keys, to another node.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{
    estimate, import_fixture, import_repeats, keys, named, near, noted, read_as, read_repeats, refused_as, text, value,
};
use model::Outcome;

#[test]
fn ioping_keeps_pauses_apart() {
    let run = &import_fixture("ioping.txt")[0];
    let paced = estimate(run, "ioping.latency:direction=read,size=4KiB,pace=with pauses");
    assert!(near(paced.value, 150.5e-6) && near(paced.high, 200.5e-6) && paced.batches == 2, "{paced:?}");
    let busy = "direction=read,pace=one after the other";
    let latency = estimate(run, &format!("ioping.latency:{busy}"));
    assert!(near(latency.value, 90e-6) && near(latency.high, 5.05e-3) && latency.batches == 10_000);
    assert!(near(value(run, &format!("ioping.operations:{busy}")), 11_100.0));
    assert!(near(value(run, &format!("ioping.data:{busy}")), 43.4 * 1_048_576.0));
    assert_eq!(run.figures.len(), 4, "with pauses there is no rate");
    assert_eq!(run.machine.text("device.target").as_deref(), Some("/data (ext4 /dev/sdx 100 GiB)"));
    let run = &import_fixture("ioping.json")[0];
    let at = "direction=write,size=64KiB,pace=one after the other";
    assert!(near(value(run, &format!("ioping.latency:{at}")), 200e-6), "{:?}", keys(run));
    assert!(near(value(run, &format!("ioping.data:{at}")), 327_680_000.0) && noted(run, "is not printed"));
    // Before 1.0: one unit for all times, and no amount.
    let old = "--- . (ext4 /dev/sda3) ioping statistics ---\n5 requests completed in 4794.0 ms, 364 iops, 1.4 MiB/s\n\
               min/avg/max/mdev = 0.2/2.8/12.7/5.0 ms\n";
    let old = estimate(&read_as("ioping", old)[0], "ioping.latency:pace=with pauses");
    assert!(near(old.value, 2.8e-3) && near(old.low, 0.2e-3) && near(old.high, 12.7e-3), "{old:?}");
    let one = text("ioping.txt");
    for (from, to, expected) in [
        ("in 301.0 us", "in 301.0 fs", "the unit 'fs' is not known at line 6"),
        ("26.0 MiB/s", "26.0 MB/s", "the unit 'MB/s' is not known at line 6"),
        ("6.64 k iops", "6.64 x iops", "the unit 'x' is not known at line 6"),
        ("100.5 us / 150.5 us", "150.5 us", "its times are not four at line 8"),
    ] {
        let error = refused_as("ioping", &one.replacen(from, to, 1));
        assert!(error.contains(expected), "{to}: {error}");
    }
}

#[test]
fn memtier_reads_its_tables_by_kind_and_run() {
    let run = &import_repeats("memtier.txt")[0];
    let at = "clients=8,threads=2";
    assert!(near(value(run, &format!("memtier.operations:type=sets,{at},run=best")), 1000.5), "{:?}", keys(run));
    assert!(near(value(run, &format!("memtier.data:type=gets,{at},run=average")), 1000.5 * 1024.0));
    let latency = estimate(run, &format!("memtier.latency:type=gets,{at},run=average"));
    assert!(near(latency.value, 2.5e-3) && latency.batches == 2, "the average of two runs: {latency:?}");
    let sets = named(run, "memtier.latency");
    let tails: Vec<f64> = sets.quantiles.iter().map(|found| found.quantile).collect();
    assert!(tails.len() == 2 && near(tails[1], 0.999) && near(sets.quantiles[1].estimate.value, 20.5e-3), "{tails:?}");
    assert!(run.figures.iter().any(|figure| figure.notes.iter().any(|note| note.contains("75.0% of its gets"))));
    assert!(keys(run).iter().all(|key| !key.contains("waits")), "nothing waited");
    let one = text("memtier.txt");
    let run = &read_repeats("memtier", &one.repeat(2))[0];
    assert_eq!(estimate(run, "memtier.operations:type=sets,clients=8,threads=2,run=best").launches, 2);
    assert!(noted(run, "pipelining, payload and the ratio"));
    for (from, to, expected) in [
        ("p50 Latency", "p50 Delay", "its column 'p50 Delay' is not known at line 9"),
        ("2.25000        20.50000", "2.25000", "the row has 7 values and its heading 8 at line 11"),
    ] {
        let error = refused_as("memtier", &one.replacen(from, to, 1));
        assert!(error.contains(expected), "{to}: {error}");
    }
}

#[test]
fn qperf_reads_rates_and_latencies_by_size() {
    let run = &import_repeats("qperf.txt")[0];
    for (key, expected) in [
        ("qperf.tcp_bw:size=64KiB", 1.25e9),
        ("qperf.tcp_bw_messages:size=64KiB", 19_100.0),
        ("qperf.tcp_lat:size=1B", 20.5e-6),
        ("qperf.udp_bw_sent", 1e9),
        ("qperf.udp_bw_received", 500e6),
    ] {
        assert!(near(value(run, key), expected), "{key} {:?}", keys(run));
    }
    assert_eq!((run.figures.len(), run.machine.name.as_str()), (5, "node-a"));
    assert!(noted(run, "udp_lat had no answer"), "{:?}", run.session.notes);
    assert_eq!(run.machine.text("cpu.model").as_deref(), Some("Example CPU @ 2.00GHz"));
    let one = text("qperf.txt");
    let run = &read_repeats("qperf", &[&one[..], &one.replace("1.25 GB", "1.35 GB")].concat())[0];
    assert_eq!(estimate(run, "qperf.tcp_bw:size=64KiB").launches, 2);
    let run = &read_repeats("qperf", &[&one[..], &one.replace("node-a", "node-c")].concat())[0];
    assert!(run.machine.text("cpu.model").is_none(), "results of two nodes are not of the first one");
    for (from, to, expected) in [
        ("1.25 GB/sec", "1.25 GiB/sec", "the unit 'GiB/sec' is not known at line 2"),
        ("20.5 us", "20.5 ticks", "the unit 'ticks' is not known at line 9"),
        ("64 KiB (65,536)", "64 pages", "the unit 'pages' is not known at line 4"),
    ] {
        let error = refused_as("qperf", &one.replacen(from, to, 1));
        assert!(error.contains(expected), "{to}: {error}");
    }
}

#[test]
fn the_json_of_memtier_states_what_its_table_does_and_the_settings() {
    let run = &import_repeats("memtier.json")[0];
    let at = "clients=8,keys=R:R,payload=64B,pipeline=4,protocol=memcache_text,ratio=1:10,threads=2";
    assert!(near(value(run, &format!("memtier.operations:type=sets,{at}")), 1000.5), "{:?}", keys(run));
    assert!(near(value(run, &format!("memtier.data:type=gets,{at}")), 2000.5 * 1024.0), "KB of 1024 bytes");
    assert!(near(value(run, &format!("memtier.latency:type=sets,{at}")), 2.5e-3), "milliseconds");
    let sets = run.figures.iter().find(|figure| figure.key().to_string().contains("memtier.latency:type=sets"));
    let quantiles: Vec<(f64, f64)> =
        sets.unwrap().quantiles.iter().map(|found| (found.quantile, found.estimate.value)).collect();
    assert_eq!(quantiles.len(), 3, "its histogram is none: {quantiles:?}");
    assert!(near(quantiles[1].0, 0.99) && near(quantiles[1].1, 9.25e-3), "in order: {quantiles:?}");
    let gets = run.figures.iter().find(|figure| figure.key().to_string().contains("memtier.latency:type=gets"));
    let gets = gets.unwrap();
    assert!(matches!(gets.outcome, Outcome::Below { bound } if near(bound, 0.5e-6)), "0.000 ms is no zero");
    assert!(gets.notes.iter().any(|note| note.contains("75.0% of its gets")), "{:?}", gets.notes);
    assert!(gets.notes.iter().any(|note| note.contains("3 connections failed")), "{:?}", gets.notes);
    assert!(keys(run).iter().all(|key| !key.contains("waits")), "the percentiles of what was not done are none");
    assert_eq!(run.session.started, "2023-11-14T22:13:20Z");
    let one = text("memtier.json");
    let average = one.replace("ALL STATS", "AGGREGATED AVERAGE RESULTS (5 runs)").replace("\"R:R\"", "\"G:G\"");
    let run = &read_repeats("memtier", &[one.as_str(), &one, &average].concat())[0];
    assert_eq!(estimate(run, &format!("memtier.operations:type=sets,{at}")).launches, 2, "two files after each other");
    let of_runs = format!("memtier.operations:type=sets,{},run=average", at.replace("R:R", "G:G"));
    assert_eq!(estimate(run, &of_runs).batches, 5);
    // Before version 2 the latency has two decimals; sizes in a range are no size.
    let old = one.replace("\"Average Latency\": 0.000\n", "\"x\": 0\n").replace("\"0:0\"", "\"32-1024\"");
    let old = &read_repeats("memtier", &old.replace("\"Average Latency\": 2.500\n", "\"x\": 0\n"))[0];
    let bound = |figure: &model::Figure| matches!(figure.outcome, Outcome::Below { bound } if near(bound, 5e-6));
    assert!(old.figures.iter().any(bound) && keys(old).iter().all(|key| key.contains("payload=32-1024")));
    let error = refused_as("memtier", &one.replace("ALL STATS", "SOME STATS"));
    assert!(error.contains("its section 'SOME STATS' is not known"), "{error}");
}
