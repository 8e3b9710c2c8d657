//! What scripts that measure a whole host print.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{
    estimate, import, import_fixture, keys, near, noted, read_as, read_repeats, refused_as, text, unread, value,
};
use model::{Catalogue, EstimateMethod};

#[test]
fn yabs_reads_disks_places_and_scores() {
    let run = &import_fixture("yabs.txt")[0];
    for (key, expected) in [
        // Its megabytes are thousands of fio's KiB.
        ("yabs.disk_read:block=4KiB", 100_250.0 * 1024.0),
        ("yabs.disk_read_operations:block=4KiB", 25_000.0),
        ("yabs.disk_total:block=64KiB", 1_500_000.0 * 1024.0),
        ("yabs.disk_write:block=64KiB", 500.0 * 1024.0),
        ("yabs.disk_write_operations:block=64KiB", 7.0),
        ("yabs.disk_write:block=512KiB", 1_000_000.0 * 1024.0),
        ("yabs.send:provider=Example A,location=Town; XX (10G),protocol=IPv4", 1e9),
        ("yabs.receive:provider=Example B,location=City; YY (1G),protocol=IPv4", 1e4),
        ("yabs.ping:provider=Example A,location=Town; XX (10G),protocol=IPv6", 2.5e-3),
        ("geekbench.score:cores=multi,version=5", 2500.0),
        ("geekbench.score:cores=single,version=6", 1250.0),
    ] {
        assert!(near(value(run, key), expected), "{key} {:?}", keys(run));
    }
    assert!(keys(run).iter().all(|key| !key.contains("1MiB")), "a test that did nothing has no rate");
    assert!(noted(run, "no result of fio with blocks of 1MiB, and 5 more"), "{:?}", run.session.notes);
    assert_eq!(run.session.started, "2024-02-05T13:02:03Z");
    assert_eq!(run.machine.number("memory.total"), Some(1.5 * 1_073_741_824.0));
    assert_eq!((run.machine.number("cpu.count"), run.machine.number("cpu.clock")), (Some(2.0), None));
    assert_eq!(run.machine.text("virtual.hypervisor").as_deref(), Some("KVM"));
    let run = &import_fixture("yabs-dd.txt")[0];
    let write = estimate(run, "yabs.dd_write");
    assert!(near(write.value, 200e6) && write.launches == 3 && write.method == EstimateMethod::Range);
    assert!(near(estimate(run, "yabs.dd_read").high, 1.5e9), "each copy is a process of dd");
    assert!(near(value(run, "yabs.send:provider=Example A,location=Town; XX (10G),protocol=IPv4"), 125e6));
    let run = &import_fixture("yabs.json")[0];
    assert!(near(value(run, "yabs.disk_total:block=4KiB"), 3000.0 * 1024.0));
    assert!(near(value(run, "yabs.ping:provider=Example A,location=Town; XX (10G),protocol=IPv4"), 20.5e-3));
    assert!(near(value(run, "geekbench.score:cores=multi,version=6"), 9000.0));
    assert!(noted(run, "no result of Recv Speed of Example A"));
    assert_eq!(run.session.started, "2024-02-03T04:05:06Z");
    assert_eq!(run.machine.number("memory.total"), Some(1_073_741_824.0));
    assert_eq!(run.machine.text("virtual.hypervisor").as_deref(), Some("none"));
}

#[test]
fn runs_of_yabs_are_processes_of_one_machine_or_runs_of_several() {
    let one = text("yabs.txt");
    let runs = read_repeats("yabs", &[&one[..], &one.replace("100.25", "300.25")].concat());
    let read = estimate(&runs[0], "yabs.disk_read:block=4KiB");
    assert_eq!((runs.len(), read.launches), (1, 2));
    let other = one.replace("/dev/vdb9", "/dev/vda1");
    assert_eq!(read_repeats("yabs", &[&one[..], &other].concat()).len(), 2, "another disk");
    let other = one.replace("Example CPU 8", "Example CPU 9");
    let runs = import("x.txt", [&one[..], &other].concat().as_bytes(), None, &Catalogue::default()).unwrap();
    assert_ne!(runs[0].machine.name, runs[1].machine.name, "another processor is another machine");
    // Printed with its JSON behind it, and with the progress that a terminal overwrites.
    let both = [&one.replace("fio Disk", "Running fio...\r\x1b[0Kfio Disk")[..], &text("yabs.json")].concat();
    assert_eq!(
        (keys(&read_repeats("yabs", &both)[0]), unread("yabs", &both)),
        (keys(&read_repeats("yabs", &one)[0]), 0)
    );
}

#[test]
fn yabs_refuses_what_it_does_not_know() {
    let (one, json) = (text("yabs.txt"), text("yabs.json"));
    for (from, to, expected) in [
        ("100.25 MB/s", "100.25 MiB/s", "the unit 'MiB/s' is not known at line 34"),
        ("8.00 Gbits/sec", "8.00 GBytes/sec", "the unit 'GBytes/sec' is not known at line 48"),
        ("0.500 ms", "0.500 us", "the unit 'us' is not known at line 48"),
        ("| Ping ", "| Pong ", "its column 'Pong' is not known at line 46"),
        ("| 64k           (IOPS)", "| 64k           (OPS)", "its column '64k           (OPS)' is not known at line 32"),
        ("Read       | 2.00 GB/s     (3.9k) |", "Read       |", "the row has 2 values and its heading 3 at line 40"),
        ("Single Core     | 1000", "Some Cores      | 1000", "the score 'Some Cores' is not known at line 61"),
        ("1.5 GiB", "1.5 GiZ", "the unit 'GiZ' is not known at line 16"),
    ] {
        let error = refused_as("yabs", &one.replacen(from, to, 1));
        assert!(error.contains(expected), "{to}: {error}");
    }
    for (from, to, expected) in [
        ("\"KBps\"", "\"MBps\"", "the unit 'MBps' is not known at line 1"),
        ("\"ram_units\":\"KiB\"", "\"ram_units\":\"KB\"", "the unit 'KB' of its memory is not known at line 1"),
        ("\"bs\":\"4k\"", "\"bs\":\"4x\"", "'4x' is no size of blocks at line 1"),
    ] {
        let error = refused_as("yabs", &json.replacen(from, to, 1));
        assert!(error.contains(expected), "{to}: {error}");
    }
}

#[test]
fn parts_of_sbc_bench_are_read_by_the_rules_of_their_tools() {
    let run = &import_fixture("sbc-bench.txt")[0];
    for (key, expected) in [
        ("tinymembench.c_copy_backwards:cpu=cpu0", 1000.5e6),
        ("tinymembench.c_copy_backwards:cpu=cpu4", 2000.5e6),
        ("tinymembench.extra_latency_dual:working_set=64KiB,pages=huge,cpu=cpu4", 11.5e-9),
        ("sbc_bench.ramlat:working_set=1MiB,access=8xPTR,cpu=cpu4", 200.5e-9),
        ("openssl.throughput:algorithm=aes-256-cbc,block=64B,core=Cortex-X2", 400_000_500.0),
        ("seven_zip.rating:threads=1,cpu=cpu4", 900e6),
        ("seven_zip.rating:threads=6", 4100e6),
    ] {
        assert!(near(value(run, key), expected), "{key} {:?}", keys(run));
    }
    assert_eq!(estimate(run, "seven_zip.rating:threads=6").launches, 3, "all processors, three times");
    assert_eq!((run.machine.name.as_str(), run.session.started.as_str()), ("board-1", "2024-02-05T09:00:00Z"));
    assert_eq!(run.machine.text("system.model").as_deref(), Some("Example Board 7"));
    assert_eq!(run.machine.number("memory.total"), Some(1.5 * 1_073_741_824.0));
    assert!(noted(run, "rates of cpuminer are not read"));
    // With one cluster its processors need no name.
    let one =
        text("sbc-bench.txt").replace("cpu4", "cpu0").replace("on each cluster individually", "twice on cluster 0");
    let one = one.replace("(Cortex-X1)\naes", "\naes").replace("400000.50k (Cortex-X2)", "400000.50k");
    let run = &read_as("sbc-bench", &one)[0];
    assert!(near(value(run, "sbc_bench.ramlat:working_set=4KiB,access=1x32"), 1.25e-9), "{:?}", keys(run));
    assert_eq!(estimate(run, "openssl.throughput:algorithm=aes-256-cbc,block=16B").launches, 2);
}

#[test]
fn what_older_logs_of_sbc_bench_do_not_say_stands_apart_by_its_order() {
    let run = &import_fixture("sbc-bench-old.txt")[0];
    for (key, expected) in [
        ("tinymembench.c_copy_backwards:cpu=big", 900.5e6),
        ("openssl.throughput:algorithm=aes-128-cbc,block=16B,order=2", 30_000_500.0),
        ("seven_zip.rating:threads=6,order=1", 100e6),
        ("seven_zip.rating:threads=6,order=2", 300e6),
    ] {
        assert!(near(value(run, key), expected), "{key} {:?}", keys(run));
    }
    assert_eq!(estimate(run, "seven_zip.rating:threads=6").launches, 2, "their sums stand below them");
    let both = [text("sbc-bench-old.txt"), text("sbc-bench.txt")].concat();
    assert_eq!(read_as("sbc-bench", &both).len(), 2, "of another version");
    let new = text("sbc-bench.txt");
    let ended = new.replace("Tot:             102    700    900\n", "");
    assert!(noted(&read_as("sbc-bench", &ended)[0], "7-Zip did not end at line "));
    for (from, to, expected) in [
        ("results in ns", "results in cycles", "the unit of ramlat's times is not known at line 64"),
        ("1.250 2.500", "1.250", "the row has 1 values and its heading 2 at line 67"),
        ("16 bytes     64 bytes", "16 bytes     64 bits", "its column '64 bits' is not known at line 75"),
        ("1000.5 MB/s", "1000.5 MiB/s", "the unit 'MiB/s' is not known at line 36"),
    ] {
        let error = refused_as("sbc-bench", &new.replacen(from, to, 1));
        assert!(error.contains(expected), "{to}: {error}");
    }
}
