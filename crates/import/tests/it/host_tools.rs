//! What scripts that measure a whole host print.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{estimate, fixture, import, import_fixture, keys, near, noted, read_as, refused_as, unread, value};
use model::{Catalogue, EstimateMethod};

fn text(file: &str) -> String {
    String::from_utf8(fixture(file)).unwrap()
}

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
    let runs = read_as("yabs", &[&one[..], &one.replace("100.25", "300.25")].concat());
    let read = estimate(&runs[0], "yabs.disk_read:block=4KiB");
    assert_eq!((runs.len(), read.launches), (1, 2));
    let other = one.replace("/dev/vdb9", "/dev/vda1");
    assert_eq!(read_as("yabs", &[&one[..], &other].concat()).len(), 2, "another disk");
    let other = one.replace("Example CPU 8", "Example CPU 9");
    let runs = import("x.txt", [&one[..], &other].concat().as_bytes(), None, &Catalogue::default()).unwrap();
    assert_ne!(runs[0].machine.name, runs[1].machine.name, "another processor is another machine");
    // Printed with its JSON behind it, and with the progress that a terminal overwrites.
    let both = [&one.replace("fio Disk", "Running fio...\r\x1b[0Kfio Disk")[..], &text("yabs.json")].concat();
    assert_eq!((keys(&read_as("yabs", &both)[0]), unread("yabs", &both)), (keys(&read_as("yabs", &one)[0]), 0));
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
