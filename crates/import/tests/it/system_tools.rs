//! What the suites for operating systems print: several kernels in one summary, results without headings, quoted mails.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{
    self, estimate, import, import_fixture, import_repeats, keys, named, near, read_as, read_repeats, refused_as, value,
};
use model::{Outcome, Run};

fn unread(file: &str) -> import::UnreadNumbers {
    let bytes = common::fixture(file);
    import::import(file, &bytes, &import::ImportOptions::default(), probes::catalogue()).unwrap().unread.unwrap()
}

fn release(run: &Run) -> Option<String> {
    run.machine.text("kernel.release").or_else(|| run.machine.text("os.name"))
}

#[test]
fn rows_of_a_summary_of_lmbench_are_runs_of_their_kernel() {
    let runs = import_fixture("lmbench-summary-2.txt");
    assert_eq!(runs.iter().filter_map(release).collect::<Vec<_>>(), ["Linux 2.4.10", "Linux 2.5.10"]);
    assert_eq!(unread("lmbench-summary-2.txt").count, 1, "that of make");
    let old = &runs[0];
    assert_eq!(old.origin.as_ref().unwrap().version.as_deref(), Some("2"));
    let times = named(old, "os.fork_exit").values();
    assert!(times.len() == 2 && near(times[0], 100e-6) && near(times[1], 110e-6), "two runs of one kernel");
    assert_eq!(old.machine.number("cpu.clock"), Some(800e6), "not the clock of -1 MHz");
    assert!(near(value(old, "os.page_fault:kind=file"), 2.05e-6), "{:?}", keys(old));
    assert!(near(value(old, "memory.load_latency_strided"), 151e-9));
    assert!(old.figures.iter().all(|figure| figure.probe != "memory.load_latency"), "version 2 has no such column");
    assert!(near(value(&runs[1], "lmbench.open_close"), 4.5e-6));
    let call = named(&runs[1], "os.syscall_getppid");
    assert!(matches!(call.outcome, Outcome::Below { bound } if near(bound, 0.005e-6)), "0.00 is less than 0.005");
    let rounding = named(&runs[1], "lmbench.null_io").rounding.unwrap();
    assert!(near(rounding, 0.005 / 0.6), "{rounding}");
}

#[test]
fn headings_of_lmbenchs_summary_are_checked() {
    let text = common::text("lmbench-summary-2.txt");
    let error = refused_as("lmbench", &text.replace("L1 $   L2 $ ", "L2 $   L1 $ "));
    assert!(error.contains("the heading 'Mhz L2 $ L1 $ Main mem Guesses' of 'Memory latencies in nanos"), "{error}");
    let error = refused_as("lmbench", &text.replace("----- ------    --------    -------", "----- ------    --------"));
    assert!(error.contains("groups of dashes stand under a heading of"), "{error}");
}

#[test]
fn versions_1_of_lmbenchs_summary_are_read_or_refused_by_their_headings() {
    let summary = |version: &str, heading: &str| {
        format!(
            "L M B E N C H  {version}   S U M M A R Y\n\nProcessor, Processes - times in microseconds - smaller is better\n\
             {heading}\n--------- ------------- ---- ---- ---- ---- ---- ----- ---- ---- ---- ---- ----\n\
             indy           IRIX 6.2  180  2.9  10.0  88  110 2.44K  6.2   36 7.0K  19K  32K\n\
             \u{20}                                                                      ^^^\n"
        )
    };
    let heading = "Host                 OS  Mhz null null      open selct sig  sig  fork exec sh  \n\
                   \u{20}                            call  I/O stat clos       inst hndl proc proc proc";
    let run = &read_as("lmbench", &summary("1 . 9", heading))[0];
    assert_eq!(run.origin.as_ref().unwrap().version.as_deref(), Some("1"));
    assert!(near(value(run, "lmbench.select"), 2.44e-3), "{:?}", keys(run));
    assert!(near(value(run, "os.fork_exit"), 7e-3));
    let oldest = "Host OS  Mhz Null sig  sig  fork exec sh  \n call inst hndl Proc Proc Proc";
    let error = refused_as("lmbench", &summary("1 . 1", oldest));
    assert!(error.contains("the heading 'Mhz Null sig sig fork exec sh call inst hndl Proc Proc Proc' of"), "{error}");
}

#[test]
fn cut_names_of_systems_and_copies_at_once_are_no_launches() {
    let text = common::text("lmbench-summary-2.txt").replace(" Linux 2.4.10", "Linux 2.4.10-");
    let run = &read_repeats("lmbench", &text)[0];
    assert!(near(value(run, "os.fork_exit:occurrence=2"), 110e-6), "{:?}", keys(run));
    assert!(run.session.notes.iter().any(|note| note.contains("'Linux 2.4.10-' may be cut")));
    let heading = "L M B E N C H  3 . 0   S U M M A R Y\n\nBasic system parameters\n----\n\
        Host                 OS Description              Mhz  tlb  cache  mem   scal\n\
        \u{20}                                                    pages line   par   load\n\
        \u{20}                                                          bytes\n\
        --------- ------------- ----------------------- ---- ----- ----- ------ ----\n\
        two         Linux 6.1.0       x86_64-linux-gnu  2600    64   128 1.5000    4\n\n";
    let run = &read_repeats("lmbench", heading)[0];
    assert!(near(value(run, "lmbench.memory_parallelism:copies=4"), 1.5), "{:?}", keys(run));
    let raw = |name: &str, copies: u32, time: f64| {
        format!("[lmbench3.0 results for {name}]\n[SYNC_MAX: {copies}]\nProcess fork+exit: {time:.4} microseconds\n")
    };
    let text = [raw("Linux a", 1, 100.0), raw("Linux a", 1, 110.0), raw("Linux a", 4, 300.0), raw("Linux b", 1, 50.0)];
    let runs = read_repeats("lmbench", &text.concat());
    let times = named(&runs[0], "os.fork_exit").values();
    assert!(times.len() == 2 && near(times[0], 100e-6) && near(times[1], 110e-6), "{times:?}");
    assert!(near(value(&runs[0], "os.fork_exit:copies=4"), 300e-6), "{:?}", keys(&runs[0]));
    assert!(near(value(&runs[1], "os.fork_exit"), 50e-6));
}

#[test]
fn pairs_without_a_heading_are_of_no_test_of_lmbench() {
    let run = &import_fixture("lmbench-run-all.txt")[0];
    assert!(near(value(run, "lmbench.file_write_bandwidth"), 30e6), "{:?}", keys(run));
    assert!(near(value(run, "file.delete:size=1KiB"), 4500.0));
    assert!(near(value(run, "lmbench.integer_add_parallelism"), 1.5));
    assert_eq!((run.figures.len(), unread("lmbench-run-all.txt").count), (13, 2), "{:?}", keys(run));
    let socket = |unit: &str| {
        format!("Simple syscall: 0.1 microseconds\nSocket bandwidth using localhost\n0.000064 90.50 {unit}\n")
    };
    assert!(near(
        value(&read_as("lmbench", &socket("KB/sec"))[0], "ipc.tcp_bandwidth:message=64B,congestion=system"),
        90.5e3
    ));
    assert!(refused_as("lmbench", &socket("Mbit")).contains("the unit 'Mbit' is not known at line 3"));
}

#[test]
fn systems_of_bytes_benchmark_are_runs_and_quoted_and_broken_lines_are_read() {
    let runs = import_repeats("byte4-kernels.txt");
    assert_eq!(runs.iter().filter_map(release).collect::<Vec<_>>(), ["2.4.10", "2.5.10"]);
    let version = |run: &Run| run.origin.as_ref().unwrap().version.clone().unwrap();
    assert_eq!((version(&runs[0]), version(&runs[1])), ("3.11".to_owned(), "4.1.0".to_owned()));
    assert_eq!(runs[0].session.started, "2002-09-04T22:00:00Z");
    let read = named(&runs[0], "file.read");
    assert_eq!(read.values(), [1_500_000.0 * 1024.0, 1_510_000.0 * 1024.0], "{:?}", keys(&runs[0]));
    assert_eq!(estimate(&runs[0], "os.exec:linking=dynamic").launches, 2);
    let expected = [
        "cpu.arithmetic:type=overhead",
        "file.write:buffer=1KiB,durability=none",
        "os.exec:linking=dynamic",
        "shell.script:concurrent=8,placement=free",
    ];
    assert_eq!(keys(&runs[1]), expected, "what another mail compares is no result");
    assert!(near(value(&runs[1], expected[1]), 99_000.0 * 1024.0));
    for run in &runs {
        assert!(run.session.notes.iter().any(|note| note.contains("its index is not read")));
        assert!(run.figures.iter().all(|figure| figure.rounding.is_some()));
    }
    assert!(import("x", b"BYTE UNIX Benchmarks (Version 3.11)\n", None, probes::catalogue()).is_err());
}
