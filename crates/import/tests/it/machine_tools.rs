//! What tools print that people use to choose machines: matrices of memory, fabrics, parallel codes and disks.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{
    self, estimate, goes, import_fixture, import_repeats, keys, named, near, read_as, read_repeats, refused_as, text,
    value,
};
use model::{Better, EstimateMethod, Unit};

#[test]
fn nodes_mixes_and_delays_of_mlc_define_its_figures() {
    let run = &import_repeats("mlc.txt")[0];
    for (key, expected) in [
        ("mlc.idle_latency:node=0,memory=0,access=random", 80.5e-9),
        ("mlc.idle_latency:node=1,memory=2,access=random", 301.5e-9),
        ("mlc.idle_latency", 82.5e-9),
        ("mlc.peak_bandwidth:mix=all reads", 200_000.5e6),
        ("mlc.peak_bandwidth:mix=3:1 reads-writes", 190_000.5e6),
        ("mlc.peak_bandwidth:mix=stream-triad like", 160_000.5e6),
        ("mlc.bandwidth:node=1,memory=0,traffic=read-only", 41_000.5e6),
        ("mlc.loaded_latency:delay=100,traffic=read-only,access=random", 120.25e-9),
        ("mlc.loaded_bandwidth:delay=20000,traffic=read-only", 2000.5e6),
        ("mlc.cache_latency:state=HIT,sockets=same", 45.5e-9),
        ("mlc.cache_latency:state=HITM,sockets=two,home=writer,writer=1,reader=0", 111.5e-9),
        ("mlc.cache_latency:state=HITM,sockets=two,home=reader,writer=0,reader=1", 170.5e-9),
        ("mlc.max_bandwidth:mix=all reads,threads=one a core,options=-W2 -X", 201_000.25e6),
    ] {
        assert!(near(value(run, key), expected), "{key}");
    }
    assert_eq!(run.figures.len(), 33, "{:?}", keys(run));
    let again = estimate(run, "mlc.idle_latency:options=-b1024");
    assert_eq!((again.launches, again.method), (2, EstimateMethod::Range), "two processes with the same options");
    assert_eq!(run.origin.as_ref().unwrap().version.as_deref(), Some("3.11"));
    let better = |probe| named(run, probe).metric.better;
    assert_eq!((better("mlc.idle_latency"), better("mlc.loaded_bandwidth")), (Better::Lower, Better::Higher));
}

#[test]
fn sockets_of_old_mlc_and_excerpts_without_its_name_are_read() {
    let text = "Measuring idle latencies (in ns)...\n\tMemory node\nSocket\t     0\t     1\n     0\t  70.5\t 0.0\n\n\
                Measuring idle latencies (in ns)...\n\tMemory node\nSocket\t     0\t     1\n     0\t  74.5\t 120.5\n";
    assert_eq!(import::detect("x", text.as_bytes()).unwrap().name, "mlc");
    let run = &read_repeats("mlc", text)[0];
    let local = estimate(run, "mlc.idle_latency:socket=0,memory=0");
    assert!(goes(&local, 70.5e-9, 74.5e-9, 0.05e-9) && local.launches == 2);
    assert_eq!(estimate(run, "mlc.idle_latency:socket=0,memory=1").launches, 1, "0 is no value");
    assert!(
        run.session.notes.iter().any(|note| note.contains("line 4 states it, the first of 1")),
        "{:?}",
        run.session.notes
    );
    let buffers = "Using buffer size of 0.062MiB\nEach iteration took 12.5 core clocks (2.5 ns)\n\
                   Using buffer size of 64.000MB\nEach iteration took 412.5 core clocks (92.5 ns)\n";
    let run = &read_repeats("mlc", buffers)[0];
    assert_eq!(keys(run), ["mlc.idle_latency:buffer=0.062MiB", "mlc.idle_latency:buffer=64.000MiB"]);
}

#[test]
fn unknown_units_and_columns_of_mlc_are_refused() {
    let text = text("mlc.txt");
    for (from, to, expected) in [
        ("MB/sec (1 MB/sec = 1,000,000", "MB/sec (1 MB/sec = 1,048,576", "is not known at line 12"),
        ("Delay\t(ns)\tMB/sec", "Delay\t(us)\tMB/sec", "the units 'Delay (us) MB/sec' are not known at line 34"),
        ("Inject\tLatency", "Inject\tTime", "is not known at line 33"),
        ("\t82.5\tns)", "\t82.5\tparsecs)", "the unit 'parsecs' is not known"),
        (
            "Numa node\t     0\t     1\t     2",
            "Numa node\t     0\t     1\t     x2",
            "its column 'x2' is not known at line 7",
        ),
        ("  80.5\t 140.5\t 300.5", "  80.5\t 140.5", "the row has 3 values and its heading 4 at line 8"),
        ("250.25\t 199000.5", "250.25", "the row has 2 values and its heading 3 at line 36"),
    ] {
        let error = refused_as("mlc", &text.replacen(from, to, 1));
        assert!(error.contains(expected), "{to}: {error}");
    }
    assert_eq!(named(&import_fixture("mlc.txt")[0], "mlc.bandwidth").metric.unit, Unit::BytesPerSecond);
}

const MIB: f64 = 1_048_576.0;

#[test]
fn ends_of_a_connection_and_settings_of_perftest_stand_apart() {
    let run = &import_repeats("perftest.txt")[0];
    let client = estimate(run, "perftest.rdma_write_bw:size=64KiB,qps=1");
    assert!(goes(&client, 11_000.5 * MIB, 11_020.5 * MIB, 0.005 * MIB), "{client:?}");
    assert_eq!(client.launches, 2, "the server states the same test, which is no third launch");
    for (key, expected) in [
        ("perftest.rdma_write_bw:size=64KiB,qps=1,end=server", 11_000.5 * MIB),
        ("perftest.rdma_write_bw_peak:size=64KiB,qps=1,end=server", 11_500.5 * MIB),
        ("perftest.send_bw:size=64KiB,qps=4,connection=UC,tx_depth=64,duration=10s", 92.5 * 125e6),
        ("perftest.send_bw_messages:size=64KiB,qps=4,connection=UC,tx_depth=64,duration=10s", 176_430.0),
        ("perftest.send_bw_cpu:size=64KiB,qps=4,connection=UC,tx_depth=64,duration=10s", 0.0525),
        ("perftest.rdma_read_latency:size=2B,qps=1", 1.75e-6),
        ("perftest.rdma_read_latency_typical:size=2B,qps=1", 1.6e-6),
    ] {
        assert!(near(value(run, key), expected), "{key}");
    }
    assert!(
        keys(run).iter().all(|key| !key.starts_with("perftest.send_bw_peak")),
        "with a duration no peak is measured"
    );
    let latency = named(run, "perftest.rdma_read_latency");
    let tails: Vec<(f64, f64)> = latency.quantiles.iter().map(|tail| (tail.quantile, tail.estimate.value)).collect();
    assert!(near(tails[0].1, 1.6e-6) && near(tails[1].1, 1216.65e-6) && near(tails[2].1, 8.5e-6), "{tails:?}");
    assert_eq!((latency.metric.better, latency.outcome.estimate().unwrap().batches), (Better::Lower, 1000));
    assert_eq!(run.machine.text("network.device").as_deref(), Some("mlx9_0"));
    assert!(run.session.notes.iter().any(|note| note.contains("clocks")), "{:?}", run.session.notes);
}

#[test]
fn settings_in_which_processes_of_perftest_differ_are_axes() {
    let process = |device: &str, rate: &str| {
        format!(
            "                    RDMA_Write BW Test\n Dual-port       : OFF    Device         : {device}\n\
             \x20Number of qps   : 1    Transport type : IB\n TX depth        : 128\n Data ex. method : Ethernet\n\
             \x20#bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]\n\
             \x2065536      5000             {rate}            {rate}              0.100000\n----------\n"
        )
    };
    let run = &read_repeats("perftest", &[process("mlx9_0", "100.50"), process("mlx9_1", "50.50")].concat())[0];
    assert!(near(value(run, "perftest.rdma_write_bw:size=64KiB,qps=1,device=mlx9_1"), 50.5 * MIB), "{:?}", keys(run));
    assert_eq!(run.machine.text("network.device"), None);
    let run = &read_repeats("perftest", &[process("mlx9_0", "100.50"), process("mlx9_0", "50.50")].concat())[0];
    assert_eq!(estimate(run, "perftest.rdma_write_bw:size=64KiB,qps=1").launches, 2);
    // An end that saw nothing has no value; a rate below the last digit is a bound.
    let nothing = process("mlx9_0", "0.00").replace("0.100000", "0.000000");
    assert!(refused_as("perftest", &nothing).contains("ends before any figure"));
    let run = &read_repeats("perftest", &process("mlx9_0", "0.00"))[0];
    let bound = run.figures.iter().find(|figure| figure.probe == "perftest.rdma_write_bw").unwrap();
    assert!(
        matches!(bound.outcome, model::Outcome::Below { bound } if near(bound, 0.005 * MIB)),
        "{:?}",
        bound.outcome
    );
}

#[test]
fn excerpts_of_perftest_take_their_test_from_the_command() {
    let heading = "#bytes     #iterations    BW average[MB/sec]\n";
    let text =
        format!("$ ib_read_bw -b 10.0.0.1\n{heading} 2 100 1.50\n```\n$ ib_send_bw 10.0.0.1\n{heading} 2 100 2.50\n");
    let run = &read_as("perftest", &text)[0];
    assert!(near(value(run, "perftest.rdma_read_bidirectional_bw:size=2B"), 1.5 * MIB), "{:?}", keys(run));
    assert!(near(value(run, "perftest.send_bw:size=2B"), 2.5 * MIB));
    let run = &read_as("perftest", &format!("{heading} 2 100 1.50\n---------\n{heading} 2 100 2.50\n"))[0];
    assert_eq!(keys(run).len(), 2, "of tests without a name it is not known that they are one: {:?}", keys(run));
    for (from, to, expected) in [
        ("BW average[MB/sec]", "BW average[GB/s]", "its column 'BW average[GB/s]' is not known at line 2"),
        (" 2 100 1.50", " 2 100", "the row has 2 values and its heading 3 at line 3"),
        (" 2 100 1.50", " 2 1.5 100", "the number of iterations is not a whole number at line 3"),
    ] {
        let error = refused_as("perftest", &text.replacen(from, to, 1));
        assert!(error.contains(expected), "{to}: {error}");
    }
}

#[test]
fn runs_of_npb_that_passed_are_figures_by_class_size_and_flags() {
    let run = &import_repeats("npb.txt")[0];
    let ft = estimate(run, "npb.ft:class=S,size=64x64x64,processes=2");
    assert!(goes(&ft, 3900.5e6, 4000.5e6, 0.005e6) && ft.launches == 2, "{ft:?}");
    for (key, expected) in [
        ("npb.cg:class=A,size=14000,threads=4,fflags=-O3 -fopenmp", 5000.5e6),
        ("npb.cg:class=A,size=14000,threads=4,fflags=-O1 -fopenmp", 2000.5e6),
        ("npb.cg_time:class=A,size=14000,threads=4,fflags=-O1 -fopenmp", 0.75),
        ("npb.is:class=S,size=65536,threads=4", 65.5e6),
    ] {
        assert!(near(value(run, key), expected), "{key}");
    }
    assert!(keys(run).iter().all(|key| !key.starts_with("npb.ep")), "a failed verification is no figure");
    for words in ["EP at line", "failed its verification (UNSUCCESSFUL)", "MG that begins at line", "has no results"] {
        assert!(run.session.notes.iter().any(|note| note.contains(words)), "{words}: {:?}", run.session.notes);
    }
    // Its time is below the last digit, so that no rate was computed.
    let lu: Vec<&model::Figure> = run.figures.iter().filter(|figure| figure.probe.starts_with("npb.lu")).collect();
    assert!(matches!(lu[0].outcome, model::Outcome::Below { bound } if near(bound, 0.005)), "{:?}", lu[0].outcome);
    assert!(lu.len() == 1 && lu[0].notes.iter().any(|note| note.contains("not verified")), "{:?}", lu[0].notes);
    let (rate, time) = (named(run, "npb.is"), named(run, "npb.is_time"));
    assert_eq!((rate.metric.unit, rate.metric.better), (Unit::PerSecond, Better::Higher));
    assert_eq!((time.metric.unit, time.metric.better), (Unit::Seconds, Better::Lower));
    assert_eq!(&*rate.metric.per, "keys ranked");
    assert_eq!(run.origin.as_ref().unwrap().version.as_deref(), Some("3.4.2"));
}

#[test]
fn results_of_npb_that_end_early_are_refused_with_their_line() {
    let text = text("npb.txt");
    let first = text.find("\n\n\n Please").unwrap();
    for (cut, expected) in [
        (" Verification    =", "the results that begin here have no verification at line 14"),
        ("\n\n FT Benchmark Completed.", "the run that begins here has no results at line 1"),
    ] {
        let error = refused_as("npb", &text[..text.find(cut).unwrap()]);
        assert!(error.contains(expected), "{error}");
    }
    let block = &text[text.find(" FT Benchmark Completed.").unwrap()..first];
    let quoted: String = block.lines().map(|line| format!("> {line}\n")).collect();
    let run = &common::import("x", quoted.as_bytes(), None, probes::catalogue()).unwrap()[0];
    assert!(near(value(run, "npb.ft_time:class=S,size=64x64x64,processes=2"), 0.5), "{:?}", keys(run));
    let error = refused_as("npb", &block.replacen(" FT Benchmark", " Benchmark", 1));
    assert!(error.contains("no line says which benchmark these results are of at line 1"), "{error}");
    let error = refused_as("npb", &block.replace(" 0.50", " half"));
    assert!(error.contains("'half' is not a usable number"), "{error}");
    let error =
        refused_as("npb", &block.replace("Time in seconds", "Time in cycles").replace("Mop/s total", "Op/Kcycles"));
    assert!(error.contains("state no time and no rate at line 1"), "{error}");
}

#[test]
fn empty_columns_of_iozone_are_found_by_where_their_headings_stand() {
    let run = &import_repeats("iozone.txt")[0];
    let write = estimate(run, "iozone.write:file=100MiB,record=4KiB,mode=direct+fsync,path=/mnt/a/iozone");
    assert!(goes(&write, 50_000.0 * 1024.0, 50_010.0 * 1024.0, 512.0) && write.launches == 2);
    for (key, expected) in [
        ("iozone.random_read:file=100MiB,record=4KiB,mode=direct+fsync,path=/mnt/a/iozone", 40_005.0),
        ("iozone.random_write:file=100MiB,record=1MiB,mode=direct+fsync,path=/mnt/a/iozone", 1_380_005.0),
        ("iozone.read:file=64MiB,record=64KiB,path=/mnt/a/iozone", 3_000_003.0),
        ("iozone.bkwd_read:file=64MiB,record=64KiB,path=/mnt/a/iozone", 2_500_007.0),
        ("iozone.record_rewrite:file=64MiB,record=64KiB,path=/mnt/a/iozone", 1_100_008.0),
        ("iozone.stride_read:file=64MiB,record=64KiB,path=/mnt/a/iozone", 2_600_009.0),
        ("iozone.fread:file=64MiB,record=64KiB,path=/mnt/a/iozone", 2_700_012.0),
        ("iozone.throughput_readers:file=1GiB,record=4KiB,threads=2,path=/mnt/a/1", 800_000.5),
        ("iozone.throughput_readers_parent:file=1GiB,record=4KiB,threads=2,path=/mnt/a/1", 790_000.5),
    ] {
        assert!(near(value(run, key), expected * 1024.0), "{key}");
    }
    let operations = named(run, "iozone.throughput_initial_writers_operations");
    assert_eq!((operations.metric.unit, operations.metric.better), (Unit::PerSecond, Better::Higher));
    assert!(
        near(operations.outcome.estimate().unwrap().value, 2000.5) && operations.point.get("processes") == Some("4")
    );
    let absent = ["iozone.reread", "iozone.freread"];
    assert!(run.figures.iter().all(|figure| figure.probe != absent[1]), "0 is no value: {:?}", keys(run));
    assert_eq!(run.figures.iter().filter(|figure| figure.probe == absent[0]).count(), 1, "empty cells are no value");
    assert_eq!((run.session.started.as_str(), run.figures.len()), ("2026-11-21T02:00:00Z", 24));
}

#[test]
fn excerpts_and_cut_outputs_of_iozone_are_told() {
    let text = text("iozone.txt");
    let first = &text[..text.find("iozone test complete").unwrap()];
    let run = &read_as("iozone", first)[0];
    assert!(
        run.session.notes.iter().any(|note| note.contains("does not say that it is complete")),
        "{:?}",
        run.session.notes
    );
    let error = refused_as("iozone", &first[..first.find("370000").unwrap() + 3]);
    assert!(error.contains("the output ends inside this row at line"), "{error}");
    let table = &first[first.find("File stride").unwrap()..];
    let table = &table[table.find('\n').unwrap() + 1..];
    let shifted = table.replacen("          102400       4", "102400       4", 1);
    let error = refused_as("iozone", &shifted);
    assert!(error.contains("stands under no heading of its own at line 3"), "{error}");
    let run = &read_as("iozone", table)[0];
    assert!(run.session.notes.iter().any(|note| note.contains("no line says what")), "{:?}", run.session.notes);
    for (from, to, expected) in [
        ("kBytes/sec", "MBytes/sec", "the unit 'MBytes/sec' is not known at line"),
        ("reclen    write", "reclen    wrote", "its column 'wrote' is not known at line"),
        ("random    random     bkwd", "          random     bkwd", "two columns are named 'read'"),
        (
            "4 initial writers \t=    2000.50 ops/sec",
            "4 initial writers \t=    2000.50 furlongs",
            "'furlongs' is not known",
        ),
        ("1048576 kByte file", "many kByte file", "'many kByte' is no size in kB"),
    ] {
        let error = refused_as("iozone", &text.replacen(from, to, 1));
        assert!(error.contains(expected), "{to}: {error}");
    }
}

#[test]
fn rows_of_bonnie_are_read_by_their_version_and_what_was_too_quick_is_told() {
    let runs = import_repeats("bonnie.txt");
    let names: Vec<&str> = runs.iter().map(|run| run.machine.name.as_str()).collect();
    assert_eq!(names, ["node1", "node2", "node3", "node4"]);
    let versions: Vec<_> = runs.iter().map(|run| run.origin.as_ref().unwrap().version.clone().unwrap()).collect();
    assert_eq!(versions, ["1.97", "2.00a", "1.96", "1.03"]);
    let block = estimate(&runs[0], "bonnie.put_block:file=8GiB");
    assert!(goes(&block, 80_000.0 * 1024.0, 82_000.0 * 1024.0, 512.0) && block.launches == 2);
    for (run, key, expected) in [
        (0, "bonnie.seeks:file=8GiB", 905.5),
        (0, "bonnie.put_block_longest:file=8GiB", 1.905),
        (0, "bonnie.seq_create:files=16384", 20_500.0),
        (0, "bonnie.ran_stat_longest:files=16384", 35.5e-6),
        (1, "bonnie.get_block:file=16GiB,chunk=64k,concurrency=4", 900_000.0 * 1024.0),
        (1, "bonnie.put_block_longest:file=16GiB,chunk=64k,concurrency=4", 15.0),
        (1, "bonnie.seq_del:files=2048,largest=2000,smallest=100,folders=10,concurrency=4", 4000.0),
        (2, "bonnie.ran_del:files=61440,largest=32,smallest=32", 1250.0),
        (2, "bonnie.ran_del_longest:files=61440,largest=32,smallest=32", 9.6),
        (3, "bonnie.getc:file=3000MiB,chunk=64k", 20_000.0 * 1024.0),
        (3, "bonnie.ran_del:files=16384,largest=1000,smallest=100,folders=10", 4000.0),
    ] {
        assert!(near(value(&runs[run], key), expected), "{key}: {:?}", keys(&runs[run]));
    }
    assert!(runs[0].figures.iter().all(|figure| figure.probe != "bonnie.seq_stat"), "no figure of what was too quick");
    let note = "too quick to be measured at line 24: seq_stat, seq_del, ran_stat; a further row has such tests too";
    assert!(runs[0].session.notes.iter().any(|said| said == note), "{:?}", runs[0].session.notes);
    let better = |probe| named(&runs[0], probe).metric.better;
    assert_eq!((better("bonnie.seeks"), better("bonnie.seeks_longest")), (Better::Higher, Better::Lower));
}

#[test]
fn versions_of_bonnie_stand_apart_and_cut_rows_are_refused() {
    let text = text("bonnie.txt");
    let row = text.lines().find(|line| line.starts_with("1.97,")).unwrap();
    let both = format!("{row}\n{}\n", row.replace("1.97,1.97", "1.97,1.97b"));
    let run = &common::import("x", both.as_bytes(), None, probes::catalogue()).unwrap()[0];
    assert!(near(value(run, "bonnie.rewrite:file=8GiB,version=1.97b"), 40_000.0 * 1024.0), "{:?}", keys(run));
    for (row, expected) in [
        (
            row[..row.len() - 6].trim_end_matches(',').to_owned(),
            "the row has 47 values, and of its version 48 at line 1",
        ),
        (row.replacen("1.97,", "1.93,", 1), "version '1.93' of its rows is not known at line 1"),
        (row.replace("80000", "fast"), "'fast' is not a usable number at line 1"),
        (row.replace("1900ms", "1900hours"), "'1900hours' is no time at line 1"),
        (row.replace(",8G,", ",8 big,"), "'8 big' is no size at line 1"),
    ] {
        let error = refused_as("bonnie", &row);
        assert!(error.contains(expected), "{row}: {error}");
    }
    let table = &text[text.find("Version").unwrap()..text.find("1.97,1.97").unwrap()];
    let told = import::import(
        "x",
        format!("{row}\n{table}").as_bytes(),
        &import::ImportOptions::default(),
        probes::catalogue(),
    );
    assert!(told.unwrap().unread.unwrap().count > 3, "a table without its row is told");
}
