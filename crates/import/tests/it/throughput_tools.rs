//! What tools of throughput print whose units are not what their names say: networks and graphs.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{
    estimate, import_fixture, import_repeats, keys, near, read_as, read_repeats, refused_as, text, unread, value,
};

#[test]
fn ntttcp_on_linux_prints_thousands_of_bits() {
    let run = &import_repeats("ntttcp.txt")[0];
    let at = "connections=4,role=sender,threads=4";
    assert!(near(value(run, &format!("ntttcp.throughput:{at}")), 1e9), "8.00 Gbps of 10^9 bits: {:?}", keys(run));
    assert!(near(value(run, &format!("ntttcp.retransmits:{at}")), 12.0));
    assert!(near(value(run, &format!("ntttcp.process_cpu:{at}")), 1.505), "several CPUs are more than 100%");
    assert!(near(value(run, &format!("ntttcp.cycles:{at}")), 1.25));
    assert!(near(value(run, &format!("ntttcp.round_trip:{at}")), 250e-6));
    assert_eq!(run.figures.len(), 5, "a thread alone and the throughput so far are no figures: {:?}", keys(run));
    assert_eq!(unread("ntttcp", &text("ntttcp.txt")), 0);
    let one = text("ntttcp.txt");
    // A second run with other settings is none of the first one's launches, one with the same is.
    let other = one.replace("-m 4,*", "-m 8,*").replace("8.00Gbps", "400.50Mbps");
    let run = &read_repeats("ntttcp", &[one.as_str(), &one, &other].concat())[0];
    assert_eq!(estimate(run, &format!("ntttcp.throughput:{at}")).launches, 2);
    let eight = "ntttcp.throughput:connections=4,role=sender,threads=8";
    assert!(near(value(run, eight), 400.5e6 / 8.0), "{:?}", keys(run));
    // The first version, as a receiver, without a command.
    let first = "NTTTCP for Linux 1.1.0\n13:44:25 INFO: test duration    :60.00 seconds\n13:44:25 INFO:   throughput     \
                 :37.50Kbps\n13:44:25 INFO: total cpu time   :166.50%\n";
    let run = &read_repeats("ntttcp", first)[0];
    assert!(near(value(run, "ntttcp.throughput"), 37.5e3 / 8.0) && near(value(run, "ntttcp.process_cpu"), 1.665));
    let error = refused_as("ntttcp", &one.replace("8.00Gbps", "8.00Tbps"));
    assert!(error.contains("the throughput '8.00Tbps' has no known unit at line 18"), "{error}");
    let error = refused_as("ntttcp", &one.replace("250 us", "250 ms"));
    assert!(error.contains("the round trip '250 ms' has no known unit"), "{error}");
}

#[test]
fn ntttcp_on_windows_prints_mebibytes_in_tables() {
    let run = &import_repeats("ntttcp-windows.txt")[0];
    let at = "buffer=128K,role=sender,threads=2";
    let throughput = value(run, &format!("ntttcp.throughput:{at}"));
    assert!(near(throughput, 1000.5 * 1_048_576.0), "its MB are 2^20 bytes: {:?}", keys(run));
    assert!(near(value(run, &format!("ntttcp.cpu:{at}")), 0.125), "of the whole machine");
    assert!(near(value(run, &format!("ntttcp.cycles:{at}")), 0.25) && run.figures.len() == 4);
    assert!(near(value(run, &format!("ntttcp.retransmits:{at}")), 3.0));
    assert_eq!(unread("ntttcp", &text("ntttcp-windows.txt")), 0);
    let one = text("ntttcp-windows.txt");
    let repeated = format!("{one}\nOf interest are:\n\n Throughput(MB/s)\n================\n        1000.500\n");
    let run = &read_repeats("ntttcp", &repeated)[0];
    assert_eq!(estimate(run, &format!("ntttcp.throughput:{at}")).launches, 1, "repeated alone it is no launch");
    assert_eq!(estimate(&read_repeats("ntttcp", &one.repeat(3))[0], &format!("ntttcp.throughput:{at}")).launches, 3);
    // The columns of early versions, whose heading is wider than the line below it.
    let early = "Total Bytes(MEG)   Realtime(s)   Ave Frame Size   Total Throughput(Mbit/s)\n=====   ====   ====  ====\n\
                 1342.500000         11.984         8193.550           896.000\n\
                 Total Buffers   Throughput(Buffers/s)   Pkts(sent/intr)   Intr(count/s)   Cycles/Byte\n\
                 ====    =====   ====   ====   ====\n20480.000      1708.945      1     16599.38         7.5\n";
    let run = &read_repeats("ntttcp", early)[0];
    assert!(near(value(run, "ntttcp.throughput"), 112e6) && near(value(run, "ntttcp.cycles"), 7.5), "{:?}", keys(run));
    for (from, to, expected) in [
        (
            "Avg Frame Size Throughput(MB/s)",
            "Avg Frame Size Throughput(GB/s)",
            "its column 'Throughput(GB/s)' is not known",
        ),
        ("       0.250    240016.000", "    240016.000", "the row has 2 values and its heading 3 at line 22"),
    ] {
        let error = refused_as("ntttcp", &one.replacen(from, to, 1));
        assert!(error.contains(expected), "{to}: {error}");
    }
}

#[test]
fn one_name_means_two_units_in_what_ntttcp_writes() {
    let at = "protocol=tcp,role=receiver,threads=2";
    let throughput = |text: &str| value(&read_as("ntttcp", text)[0], &format!("ntttcp.throughput:{at}"));
    let one = text("ntttcp.xml");
    // Linux, earlier: KB of 1024 bytes, bits of 2^20 bytes.
    assert!(near(throughput(&one), 3.0 * 1_048_576.0));
    // Linux, later, under the same version: thousands throughout, and bytes beside them.
    let later = one.replace("2048.000<", "2000.000<");
    assert!(near(throughput(&later), 3e6));
    let bytes = "<throughput metric=\"Bps\">3000250.500</throughput>\n\t<throughput metric=\"buffers/s\">";
    assert!(near(throughput(&later.replace("<throughput metric=\"buffers/s\">", bytes)), 3_000_250.5));
    // Windows: 10^6 bits of 2^20 bytes.
    let windows = later.replace("24.000<", "25.166<").replace("5.33-linux", "5.39");
    assert!(near(throughput(&windows), 3.0 * 1_048_576.0));
    let (of, run) = (&read_as("ntttcp", &windows)[0], &import_fixture("ntttcp.xml")[0]);
    assert!(near(value(of, &format!("ntttcp.cpu:{at}")), 0.25), "of the machine on Windows");
    assert!(near(value(run, &format!("ntttcp.process_cpu:{at}")), 0.25), "of the process on Linux");
    assert!(near(value(run, &format!("ntttcp.retransmits:{at}")), 7.0));
    assert_eq!((run.machine.name.as_str(), run.machine.text("os.name").is_some()), ("far", true));
    let untold = refused_as("ntttcp", &one.replace("2048.000<", "2.000<"));
    assert!(untold.contains("whether its MB are 2^20 or 10^6 bytes"), "{untold}");
    assert!(refused_as("ntttcp", one.split("<cycles").next().unwrap()).contains("it ends inside <ntttcpr>"));
    // The name of the system ends inside of its quotes.
    let run = &import_fixture("ntttcp.json")[0];
    let at = "family=ipv6,protocol=tcp,role=sender,threads=1";
    assert!(near(value(run, &format!("ntttcp.throughput:{at}")), 3.0 * 1_048_576.0), "{:?}", keys(run));
    assert!(near(value(run, &format!("ntttcp.process_cpu:{at}")), 1.25));
    assert!(near(value(run, &format!("ntttcp.round_trip:{at}")), 250e-6));
}

#[test]
fn random_access_is_of_the_whole_table_or_of_one_process() {
    let run = &import_fixture("random-access.txt")[0];
    assert!(near(value(run, "random_access.updates:processes=4,words=2^20"), 8.25e6), "{:?}", keys(run));
    assert_eq!((run.figures.len(), unread("random-access", &text("random-access.txt"))), (1, 0));
    // Sections of HPC Challenge without its summary: all at once, and one alone.
    let star = "Begin of StarRandomAccess section.\nMain table size   = 2^25 = 33554432 words\nNumber of updates = 134217728\n\
                CPU time used  = 5.000000 seconds\nReal time used = 5.040000 seconds\n\
                0.026625000 Billion(10^9) Updates    per second [GUP/s]\nFound 0 errors in 33554432 locations (passed).\n\
                Node(s) with error 0\nMinimum GUP/s 0.026625\nAverage GUP/s 0.029500\nMaximum GUP/s 0.032250\n\
                End of StarRandomAccess section.\nBegin of SingleRandomAccess section.\nNode(s) with error 0\nNode selected 1\n\
                Single GUP/s 0.046750\nEnd of SingleRandomAccess section.\n";
    let run = &read_as("random-access", star)[0];
    let all = estimate(run, "random_access.updates:test=StarRandomAccess,words=2^25");
    assert!(near(all.value, 29.5e6) && near(all.low, 26.625e6) && near(all.high, 32.25e6), "{all:?}");
    assert!(near(value(run, "random_access.updates:test=SingleRandomAccess"), 46.75e6), "{:?}", keys(run));
    assert_eq!((run.figures.len(), unread("random-access", star)), (2, 0), "the first of all is one of them");
    let failed = text("random-access.txt").replace("Found 0 errors", "Found 99999 errors").replace("passed", "failed");
    let run = &read_as("random-access", &failed)[0];
    assert!(run.figures[0].notes.iter().any(|note| note.contains("failed its verification: 99999 errors")));
    let error = refused_as("random-access", &failed.replacen("per second", "per hour", 1));
    assert!(error.contains("its unit 'per hour [GUP/s]' is not known at line 7"), "{error}");
}
