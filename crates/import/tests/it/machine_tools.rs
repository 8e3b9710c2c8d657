//! What tools print that people use to choose machines: matrices of memory, fabrics, parallel codes and disks.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{self, estimate, import_fixture, keys, named, near, read_as, refused_as, value};
use model::{Better, EstimateMethod, Unit};

fn text(file: &str) -> String {
    String::from_utf8(common::fixture(file)).unwrap()
}

#[test]
fn nodes_mixes_and_delays_of_mlc_define_its_figures() {
    let run = &import_fixture("mlc.txt")[0];
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
    let run = &common::import("x", text.as_bytes(), None, &model::Catalogue::default()).unwrap()[0];
    let local = estimate(run, "mlc.idle_latency:socket=0,memory=0");
    assert!(near(local.low, 70.5e-9) && near(local.high, 74.5e-9) && local.launches == 2);
    assert_eq!(estimate(run, "mlc.idle_latency:socket=0,memory=1").launches, 1, "0 is no value");
    assert!(run.session.notes.iter().any(|note| note.contains("line 4 states 0")), "{:?}", run.session.notes);
    let buffers = "Using buffer size of 0.062MiB\nEach iteration took 12.5 core clocks (2.5 ns)\n\
                   Using buffer size of 64.000MB\nEach iteration took 412.5 core clocks (92.5 ns)\n";
    let run = &read_as("mlc", buffers)[0];
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
