//! Outputs within other programs' logs, and further output of tools.

use import::{ImportOptions, import};

use crate::common::{near, noted, read_as, refused_as, value};

const IPERF: &str = "Connecting to host 192.0.2.7, port 5201
[  5] local 192.0.2.1 port 50001 connected to 192.0.2.7 port 5201
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-5.00   sec  1.25 GBytes  2.00 Gbits/sec    3             sender
[  5]   0.00-5.04   sec  1.20 GBytes  1.60 Gbits/sec                  receiver

iperf Done.
";

fn prefixed(text: &str, prefix: &str) -> String {
    text.lines().map(|line| format!("{prefix}{line}\n")).collect()
}

#[test]
fn logs_of_containers_and_journals_are_read_as_the_output() {
    for prefix in [
        "2025-02-03T10:00:00.123456789Z ",
        "client-1  | ",
        "Mon Feb  3 10:00:00 2025 ",
        "\u{1b}[36mclient-1  |\u{1b}[0m ",
        "10:00:00 DEBUG| [stdout] ",
        "   [1,0]<stdout>:",
    ] {
        let run = read_as("iperf", &prefixed(IPERF, prefix)).remove(0);
        assert!(near(value(&run, "iperf.sent:protocol=tcp,streams=1"), 250e6), "{prefix}");
        assert!(near(value(&run, "iperf.received:protocol=tcp,streams=1"), 200e6), "{prefix}");
    }
    let log = prefixed(IPERF, "Feb  3 10:00:00 box bench[77]: ");
    let run = import("log", log.as_bytes(), &ImportOptions::default(), benchmarks::catalogue()).unwrap().runs.remove(0);
    assert_eq!(run.machine.name, "box");
    assert!(noted(&run, "without what a log puts before each line"), "{:?}", run.session.notes);
}

#[test]
fn processes_that_do_not_know_of_each_other_are_refused() {
    let text = "# nThread 1 nGpus 1 minBytes 64 maxBytes 64
#  Rank  0 Pid  10 on  box-a device  0 [0x00] Example GPU
#  Rank  0 Pid  11 on  box-b device  0 [0x00] Example GPU
";
    let said = refused_as("nccl-tests", text);
    assert!(said.contains("a rank twice") && said.contains("at line 3"), "{said}");
}

#[test]
fn a_processor_whose_name_fills_a_line_is_stated() {
    let text = "7-Zip (z) 25.01 (x64) : Copyright (c) 1999-2025 Igor Pavlov : 2025-08-03
14th Gen Intel(R) Core(TM) i3-00000X
(0A06B)
RAM size:    8000 MB,  # CPU hardware threads:   4
RAM usage:    889 MB,  # Benchmark threads:      4
22:      20000   350   5700  20000  |     230000   380   5000  20000
25:      20000   350   5700  20000  |     230000   380   5000  20000
Avr:     20000   350   5700  20000  |     230000   380   5000  20000
Tot:             365   5350  20000
";
    assert_eq!(
        read_as("7zip", text)[0].machine.text("cpu.model").as_deref(),
        Some("14th Gen Intel(R) Core(TM) i3-00000X")
    );
}
