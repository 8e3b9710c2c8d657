//! Outputs within other programs' logs, and further output of tools.

use import::{ImportOptions, import};

use crate::common::{near, noted, read_as, value};

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
