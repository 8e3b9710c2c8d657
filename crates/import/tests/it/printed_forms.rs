//! Forms in which tools print the same results for people, and what printed digits leave open.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{
    estimate, import_fixture, keys, named, near, noted, read_as, read_repeats, refused_as, text, unread, value,
};
use model::{EstimateMethod, Outcome};

#[test]
fn first_versions_of_criterion_print_intervals_alone() {
    let run = &import_fixture("criterion-early.txt")[0];
    assert_eq!(keys(run), ["criterion.time:benchmark=sum 16", "criterion.time:benchmark=sum 32"]);
    let sum = estimate(run, "criterion.time:benchmark=sum 16");
    assert!(near(sum.low, 10e-6) && near(sum.high, 10.5e-6) && near(sum.value, 10.25e-6), "{sum:?}");
    assert_eq!((sum.method, sum.level), (EstimateMethod::Stated, 0.95));
    assert!(near(value(run, "criterion.time:benchmark=sum 32"), 30.5e-6), "a change is no time");
    assert!(run.figures[0].notes.iter().any(|note| note.contains("prints no estimate")));
    let commented: String = text("criterion-early.txt").lines().map(|line| format!("// {line}\n")).collect();
    assert_eq!(keys(&read_as("criterion", &commented)[0]), keys(run));
    let broken = text("criterion-early.txt").replace("[10.000 us 10.500 us]", "[10.000 ux 10.500 us]");
    assert!(refused_as("criterion", &broken).contains("no known unit at line 15"));
    let broken = text("criterion-early.txt").replace("[10.000 us 10.500 us]", "[10.000 us]");
    assert!(refused_as("criterion", &broken).contains("does not have two values at line 15"));
}

#[test]
fn latencies_alone_of_tinymembench_are_read_where_a_mail_quotes_them() {
    let run = &import_fixture("tinymembench-latencies.txt")[0];
    assert_eq!(run.figures.len(), 10);
    for (key, expected) in [
        ("tinymembench.extra_latency:working_set=1MiB", 120.5e-9),
        ("tinymembench.extra_latency_dual:working_set=1MiB", 180.5e-9),
        ("tinymembench.extra_latency:working_set=64KiB,pages=huge", 3.5e-9),
    ] {
        assert!(near(value(run, key), expected), "{key}");
    }
    let zero = run.figures.iter().find(|figure| figure.point.get("working_set") == Some("1KiB")).unwrap();
    assert!(matches!(zero.outcome, Outcome::Below { bound } if near(bound, 0.05e-9)), "{:?}", zero.outcome);
}

#[test]
fn tables_of_hyperfine_for_documents_are_read_in_three_forms() {
    let run = &import_fixture("hyperfine.md")[0];
    let large = "section=Speed / Large files";
    let counted = estimate(run, &format!("hyperfine.mean:command=find . -name '*.c' | wc -l,{large}"));
    assert!(near(counted.value, 82.5e-3) && near(counted.low, 70.5e-3) && near(counted.high, 99.5e-3));
    assert_eq!((counted.method, counted.level), (EstimateMethod::Range, 0.0));
    assert!(near(named(run, "hyperfine.mean").rounding.unwrap(), 0.05 / 82.5));
    assert!(named(run, "hyperfine.mean").notes[0].ends_with("8.5 ms"));
    // Two commands that differ in a comma alone.
    assert!(near(value(run, &format!("hyperfine.mean:command=find . -name '*.c;*.h',{large}")), 0.165));
    assert!(near(value(run, &format!("hyperfine.mean:command=find . -name '*.c%3B*.h',{large}")), 0.33));
    let many = estimate(run, "hyperfine.mean:command=find . -name '*.c' | wc -l,section=Speed / Many files");
    assert!(near(many.value, 1.25) && near(many.low, 1.225) && near(many.high, 1.275));
    let none = run.figures.iter().find(|figure| figure.point.get("command") == Some("true")).unwrap();
    assert_eq!(none.outcome, Outcome::Below { bound: 0.000_5 });

    for file in ["hyperfine.adoc", "hyperfine.org"] {
        let run = &import_fixture(file)[0];
        assert_eq!(keys(run), ["hyperfine.mean:command=sort a | uniq", "hyperfine.mean:command=sort b"], "{file}");
        let sorted = estimate(run, "hyperfine.mean:command=sort b");
        assert!(near(sorted.value, 2.11) && near(sorted.low, 2.1055) && near(sorted.high, 2.1155), "{file}");
    }
    let table = text("hyperfine.md");
    assert!(refused_as("hyperfine", &table.replace("Min [ms]", "Min [ks]")).contains("'ks' is not known at line 5"));
    assert!(
        refused_as("hyperfine", &table.replace(" | 170.5 | 2.00 ± 0.21 |", " |"))
            .contains("the row ends early at line 8")
    );
    let more = table.replace("Relative |\n|:---|", "Relative | Wonders |\n|:---|").replace("| 1.00 |", "| 1.00 | 7 |");
    let more = more.replace("0.21 |", "0.21 | 8 |").replace("0.41 |", "0.41 | 9 |");
    assert!(noted(&read_as("hyperfine", &more)[0], "the column 'Wonders' is not hyperfine's"));
    assert_eq!(unread("hyperfine", &format!("{table}\n| Other | Table |\n|--|--|\n| a | 5 |\n")), 1);
}

#[test]
fn the_table_of_pytest_benchmark_is_read_by_its_columns() {
    let run = &import_fixture("pytest-benchmark.txt")[0];
    assert_eq!(run.origin.as_ref().unwrap().version.as_deref(), Some("5.2.3"));
    let sort = estimate(run, "pytest_benchmark.time:benchmark=test_sort[a b] (NOW),group=sorting");
    assert!(near(sort.value, 16.25e-6) && near(sort.low, 15.25e-6) && near(sort.high, 9_874.5e-6), "{sort:?}");
    assert_eq!((sort.method, sort.launches, sort.batches), (EstimateMethod::Range, 1, 15_036));
    let other = value(run, "pytest_benchmark.time:benchmark=test_sort[a;b] (0001_base),group=sorting");
    assert!(near(other, 31.5e-6));
    let once = estimate(run, "pytest_benchmark.time:benchmark=test_once,group=sorting");
    assert!(near(once.value, 20_305.5e-6) && once.method == EstimateMethod::None);
    assert!(near(value(run, "pytest_benchmark.mean:benchmark=test_read"), 0.41825), "{:?}", keys(run));
    assert!(near(named(run, "pytest_benchmark.mean").rounding.unwrap(), 0.000_05 / 418.25));
    let table = text("pytest-benchmark.txt");
    let error = refused_as("pytest-benchmark", &table.replace("(time in us)", "(time in as)"));
    assert!(error.contains("the time's unit 'as' is not known at line 10"), "{error}");
    let error = refused_as("pytest-benchmark", &table.replace("StdDev", "StdWon"));
    assert!(error.contains("its column 'StdWon' is not known at line 10"), "{error}");
    // What a decimal comma would be is no number.
    assert_eq!(unread("pytest-benchmark", &table.replace("418.2500", "418,25")), 1);
}

#[test]
fn launches_that_are_printed_alike_need_not_be_alike() {
    let table = |cells: &[&str]| {
        let rows: String = cells.iter().map(|cell| format!("a,{cell}\n")).collect();
        format!("machine,t (s)\n{rows}")
    };
    let alike = estimate(&read_as("wide-csv", &table(&["10.0"; 10]))[0], "table.t");
    assert_eq!((alike.method, alike.launches), (EstimateMethod::OrderStatistic, 10));
    assert!(near(alike.low, 9.95) && near(alike.high, 10.05), "{alike:?}");
    // The coarsest digits of all bound what is known.
    let mixed = &read_as("wide-csv", &table(&["10.0", "10.00", "10.00", "10", "10.00", "10.00", "10.00"]))[0];
    let found = estimate(mixed, "table.t");
    assert!(near(found.low, 9.5) && near(found.high, 10.5) && near(found.value, 10.0), "{found:?}");
    let few = estimate(&read_as("wide-csv", &table(&["10.0", "10.4"]))[0], "table.t");
    assert!(few.low < 9.951 && few.high > 10.449 && few.launches == 2, "{few:?}");
    let trials = "<PhoronixTestSuite><Result><Identifier>pts/a-1.0.0</Identifier><Title>A</Title><Scale>Seconds</Scale>\
                  <Data><Entry><Identifier>box</Identifier><Value>20.3</Value><RawString>20.3:20:20.3:20.3:20.3:20.3:20.3\
                  </RawString></Entry></Data></Result></PhoronixTestSuite>";
    let trials = estimate(&read_as("phoronix", trials)[0], "phoronix.a");
    assert!(trials.high > 20.349 && trials.high < 20.351, "trailing zeros are not printed: {trials:?}");
}

#[test]
fn commands_of_hyperfine_that_differ_in_a_sign_stay_two() {
    let result = |command: &str, time: f64| {
        format!(
            r#"{{"command": "{command}", "mean": {time}, "median": {time}, "min": {time}, "max": {time}, "times": [{time}]}}"#
        )
    };
    let run = |command: &str, time| {
        read_as("hyperfine", &format!(r#"{{"results": [{}]}}"#, result(command, time)))[0].clone()
    };
    let long = "x".repeat(250);
    for (one, other) in [("echo {a,b}", "echo {a;b}"), (&format!("{long}a")[..], &format!("{long}b")[..])] {
        let (one, other) = (keys(&run(one, 1.0)), keys(&run(other, 2.0)));
        assert_ne!(one, other, "they would be compared with each other");
    }
    assert_eq!(keys(&run("echo {a,b}", 1.0)), ["hyperfine.time:command=echo {a;b}"]);
}

#[test]
fn indices_of_unixbench_alone_are_results_of_so_many_copies_as_are_stated() {
    let runs = import_fixture("unixbench-excerpt.txt");
    assert_eq!(runs.len(), 3, "of before and after a change");
    for (key, expected) in [
        ("unixbench.dhrystone_2_using_register_variables:copies=unstated", 945_000_000.5),
        ("unixbench.double_precision_whetstone:copies=unstated", 210_000.5e6),
        ("unixbench.file_copy_1024_bufsize_2000_maxblocks:copies=unstated", 440_000.5 * 1024.0),
        ("unixbench.shell_scripts_8_concurrent:copies=unstated", 900.5 / 60.0),
        ("unixbench.index:copies=unstated", 9500.5),
    ] {
        assert!(near(value(&runs[0], key), expected), "{key}");
    }
    assert_eq!(runs[0].figures.len(), 6);
    assert!(near(value(&runs[1], "unixbench.execl_throughput:copies=unstated"), 45_000.5));
    assert!(
        near(value(&runs[2], "os.exec:linking=dynamic"), 1.0 / 4300.5)
            || near(value(&runs[2], "os.exec:linking=dynamic"), 4300.5)
    );
    assert!(near(value(&runs[2], "unixbench.index"), 1000.5), "{:?}", keys(&runs[2]));
    // Tables that are put together from several runs have other columns.
    let other = "System Benchmarks Index Values  INDEX  INDEX\nExecl Throughput  1296.5  941.1\n";
    assert!(refused_as("unixbench", other).contains("before any figure"));
}

#[test]
fn excerpts_of_imb_tell_their_megabyte_by_their_rows() {
    let table = |rate: &str| {
        format!(
            "# Benchmarking PingPong\n# #processes = 2\n       #bytes #repetitions      t[usec]   Mbytes/sec\n\
             \x20            8         1000         2.00         4.00\n        65536          640        12.50      {rate}\n"
        )
    };
    let at = "imb.pingpong_bandwidth:size=64KiB,processes=2";
    for rate in ["5242.88", "5000.00"] {
        let run = &read_as("imb", &table(rate))[0];
        assert!(near(value(run, at), 65_536.0 / 12.5e-6), "{rate} of 10^6 or of 2^20 bytes");
    }
    let version = format!("# Intel (R) MPI Benchmarks 4.0, MPI-1 part\n{}", table("5242.88"));
    assert!(near(value(&read_as("imb", &version)[0], at), 5242.88 * 1_048_576.0), "the version says it");
    // Two messages in a time.
    let both = "# Benchmarking Sendrecv\n# #processes = 2\n#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec] \
                Mbytes/sec\n65536 640 20.00 25.00 22.00 5242.88\n";
    assert!(near(value(&read_as("imb", both)[0], "imb.sendrecv_bandwidth:size=64KiB,processes=2"), 5242.88e6));
    let run = &read_as("imb", &table("9.99"))[0];
    assert!(noted(run, "how many bytes its megabyte has") && run.figures.len() == 2, "{:?}", keys(run));
}

#[test]
fn rates_of_openssl_in_cpu_time_are_no_launches_of_those_in_elapsed_time() {
    let part = |said: &str, rate: &str| {
        format!(
            "{said}Doing aes-128-cbc for 3s on 16 size blocks: 115261 aes-128-cbc's in 3.01s\n\
             The 'numbers' are in 1000s of bytes per second processed.\ntype             16 bytes\naes-128-cbc        {rate}k\n"
        )
    };
    let elapsed = "You have chosen to measure elapsed time instead of user CPU time.\n";
    let at = "openssl.throughput:algorithm=aes-128-cbc,block=16B";
    let run = &read_repeats("openssl-speed", &[part(elapsed, "570.50"), part("", "1570.50")].concat())[0];
    assert!(near(value(run, &format!("{at},time=elapsed")), 570_500.0), "{:?}", keys(run));
    assert!(near(value(run, &format!("{at},time=cpu")), 1_570_500.0));
    let run = &read_repeats("openssl-speed", &[part(elapsed, "570.50"), part(elapsed, "580.50")].concat())[0];
    assert_eq!((estimate(run, at).launches, run.session.notes.len()), (2, 0));
    let run = &read_repeats("openssl-speed", &part("", "570.50"))[0];
    assert!(near(value(run, at), 570_500.0) && noted(run, "per second of CPU time"));
    let device = "root@box:~# openssl speed -elapsed -evp aes-128-cbc -engine devcrypto\nEngine \"devcrypto\" set.\n";
    let run = &read_repeats("openssl-speed", &[part(device, "70.50"), part(elapsed, "580.50")].concat())[0];
    assert_eq!(keys(run), [format!("{at},engine=devcrypto"), format!("{at},engine=none")]);
}

#[test]
fn tables_of_osu_that_a_mail_quotes_or_tabs_set_are_read() {
    let text =
        "> # OSU MPI Bandwidth Test (Version 2.1)\n> # Size\t\tBandwidth (MB/s)\n> 1\t\t0.425076\n> 2\t\t0.853165\n";
    let run = &read_as("osu", text)[0];
    assert!(near(value(run, "osu.bandwidth:size=2B"), 0.853_165e6), "{:?}", keys(run));
    assert_eq!(unread("osu", text), 0);
}

#[test]
fn a_table_of_7_zip_without_its_title_does_not_state_its_threads() {
    let text = "                       Compressing  |                  Decompressing\n\
                Dict     Speed Usage    R/U Rating  |      Speed Usage    R/U Rating\n\
                \x20        KiB/s     %   MIPS   MIPS  |      KiB/s     %   MIPS   MIPS\n\n\
                22:       4500   100   4400   4390  |      51000   100   4390   4380\n\
                ----------------------------------  | ------------------------------\n\
                Avr:             100   4100   4090  |              100   4340   4330\n\
                Tot:             100   4220   4210\n";
    let run = &crate::common::import("x", text.as_bytes(), None, probes::catalogue()).unwrap()[0];
    assert!(near(value(run, "seven_zip.rating:dictionaries=22,threads=unstated"), 4210e6), "{:?}", keys(run));
}
