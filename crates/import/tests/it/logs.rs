//! Outputs that other programs wrote down, and what tools write beside their results.

use import::{ImportOptions, import};

use crate::common::{keys, near, noted, read_as, read_repeats, refused_as, value};

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
    let run = import("log", log.as_bytes(), &ImportOptions::default(), probes::catalogue()).unwrap().runs.remove(0);
    assert_eq!(run.machine.name, "box");
    assert!(noted(&run, "without what a log puts before each line"), "{:?}", run.session.notes);
}

#[test]
fn lines_of_programs_beside_each_other_are_refused() {
    let both: String = IPERF.lines().map(|line| format!("client-1  | {line}\nserver-1  | {line}\n")).collect();
    let said = refused_as("iperf", &both);
    assert!(said.contains("'client-1' and 'server-1' from line 2 on") && said.contains("of its own"), "{said}");
}

#[test]
fn words_of_the_last_line_and_of_the_command_are_no_version() {
    let version = |text: &str| read_as("iperf", text).remove(0).origin.and_then(|origin| origin.version);
    assert_eq!(version(IPERF), None);
    assert_eq!(version(&format!("iperf -c 192.0.2.7 -e\n{IPERF}")), None);
    assert_eq!(version(&format!("iperf 3.16\n{IPERF}")).as_deref(), Some("3.16"));
    assert_eq!(version(&format!("iperf version 2.1.9 (1 May 2023) pthreads\n{IPERF}")).as_deref(), Some("2.1.9"));
}

#[test]
fn excerpts_without_blanks_or_protocol_are_read() {
    let text = "[ ID] Interval       Transfer     Bandwidth       Retr
[  4] 0.00-5.00sec  1.25 GBytes  2000 Mbits/sec   0  sender
";
    let run = read_as("iperf", text).remove(0);
    assert_eq!(keys(&run), ["iperf.retransmits:streams=1", "iperf.sent:streams=1"]);
    assert!(near(value(&run, "iperf.sent:streams=1"), 250e6));
}

#[test]
fn other_programs_with_the_same_title_are_not_named_as_this_one() {
    let text = "Performance counter stats for core 2, no multiplexing, kernel mode excluded:

  counter value  event name  event idx
  12,345  cycle  fixed

  5.25 seconds time elapsed
";
    let told = import("x", text.as_bytes(), &ImportOptions::default(), probes::catalogue()).unwrap_err().to_string();
    assert!(told.contains("no importer recognises"), "{told}");
    assert!(refused_as("perf-stat", text).contains("WindowsPerf"));
}

#[test]
fn json_with_values_that_are_no_numbers_is_read() {
    let text = r#"{"context": {"num_cpus": 4, "mhz_per_cpu": 2000}, "benchmarks": [
        {"name": "BM_a", "run_type": "iteration", "iterations": 7, "real_time": 2.5, "cpu_time": 2.25, "time_unit": "us",
         "share": NaN, "worst": -Infinity}]}"#;
    let run = read_as("google-benchmark", text).remove(0);
    assert!(near(value(&run, "google_benchmark.real_time:benchmark=BM_a"), 2.5e-6));
    let fenced = "```json\n{\"results\": [{\"command\": \"a\", \"mean\": 0.5, \"median\": 0.5, \"min\": 0.5, \"max\": 0.5, \
                  \"times\": [0.5]}]}\n```\n";
    assert_eq!(read_as("hyperfine", fenced)[0].figures.len(), 1);
}

#[test]
fn a_summary_without_a_mean_gives_way_to_single_results() {
    let text = "IOR-4.0.0: MPI Coordinated Test of Parallel I/O
Machine             : Linux box
api                 : POSIX
tasks               : 4
Results:
access    bw(MiB/s)  IOPS  iter
write     100.5      25.1  0
write     101.5      25.4  1
Summary of all tests:
Operation   Max(MiB)   Min(MiB)  Mean(MiB)   reps   API
write       101.50     0.00      -nan        5      POSIX
";
    let run = read_as("ior", text).remove(0);
    assert_eq!(run.figures.len(), 1);
    assert!(near(value(&run, "ior.write:api=POSIX,tasks=4"), 101.0 * 1_048_576.0));
    assert!(noted(&run, "a summary without a mean"), "{:?}", run.session.notes);
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
fn emphasis_is_no_part_of_a_benchmarks_name() {
    let run = read_as("criterion", "**sort/1000**\ntime:   [1.5 ms 1.6 ms 1.7 ms]\n").remove(0);
    assert_eq!(keys(&run), ["criterion.slope_or_mean:benchmark=sort/1000"]);
}

#[test]
fn tables_of_other_programs_may_quote_their_first_heading() {
    let text = "\"machine\";\"triad (GB/s)\"\n\"box\";61.5\n";
    let run = import("x", text.as_bytes(), &ImportOptions::default(), probes::catalogue()).unwrap().runs.remove(0);
    assert_eq!((run.machine.name.as_str(), run.figures.len()), ("box", 1));
    let said = refused_as("wide-csv", &text.replace("61.5", "61,5"));
    assert!(said.contains("'61,5'") && said.contains("decimal point"), "{said}");
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

#[test]
fn what_was_watched_names_no_command() {
    let text = |who: &str| {
        let one =
            format!(" Performance counter stats for '{who}':\n\n  5,000  cycles\n\n  2.5 seconds time elapsed\n\n");
        keys(&read_repeats("perf-stat", &format!("{one}{one}"))[0]).len()
    };
    assert_eq!((text("sort file"), text("system wide")), (2, 4));
}

/// Versions before 3.26 print 11.98 as `11.0` and 19.97 as `19.0`.
#[test]
fn a_carry_that_fio_lost_is_restored() {
    let text = |bandwidth: &str, total: &str| {
        format!(
            "fio-3.1\na: (groupid=0, jobs=1): err= 0: pid=7: Fri Oct  6 05:21:27 2017\n  write: IOPS=19.0k, \
             BW={bandwidth}(390MiB/5000msec)\n     issued rwt: total=0,{total},0, short=0,0,0, dropped=0,0,0\n"
        )
    };
    let run = read_as("fio-text", &text("77.0MiB/s (81.8MB/s)", "99850")).remove(0);
    assert!(near(value(&run, "fio.write_bandwidth:job=a"), 81.8e6));
    assert!(near(value(&run, "fio.write_operations:job=a"), 19_970.0));
    assert!(run.figures.iter().all(|figure| figure.notes.iter().any(|note| note.contains("contradict"))));
    let run = read_as("fio-text", &text("74.2MiB/s (77.8MB/s)", "95010")).remove(0);
    assert!(near(value(&run, "fio.write_bandwidth:job=a"), 74.2 * 1_048_576.0));
    assert!(near(value(&run, "fio.write_operations:job=a"), 19_000.0));
    assert!(run.figures.iter().all(|figure| figure.notes.is_empty()));
}
