//! What tools of processors print in their corners: how many at once, over what, and lines that are no results.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{import_fixture, keys, named, near, read_as, read_repeats, refused_as, value};
use model::Unit;

#[test]
fn instances_of_a_stressor_are_no_launches() {
    let run = |pid: u32, count: u32, rate: &str| {
        format!(
            "stress-ng: info:  [{pid}] dispatching hogs: {count} cpu, 1 switch\n\
             stress-ng: metrc: [{pid}] stressor       bogo ops real time  usr time  sys time   bogo ops/s     bogo ops/s\n\
             stress-ng: metrc: [{pid}] cpu            2108      1.00      0.87      0.02      {rate}        2353.26\n\
             stress-ng: metrc: [{pid}] miscellaneous metrics:\n\
             stress-ng: metrc: [{pid}] switch         2500.00 nanosecs per context switch (geometric mean of 1 instances)\n"
        )
    };
    let run = &read_repeats("stress-ng", &[run(7, 1, "2107.50"), run(8, 4, "8000.50")].concat())[0];
    assert!(near(value(run, "stress_ng.bogo_ops:stressor=cpu,instances=1"), 2107.5), "{:?}", keys(run));
    assert!(near(value(run, "stress_ng.bogo_ops:stressor=cpu,instances=4"), 8000.5));
    let switch = named(run, "stress_ng.nanosecs_per_context_switch");
    assert_eq!((switch.metric.unit, switch.values()), (Unit::Seconds, vec![2.5e-6, 2.5e-6]));
}

#[test]
fn lines_of_openssls_children_are_no_algorithms() {
    let one = "Doing AES-128-GCM for 1s on 16 size blocks: 9 AES-128-GCM's in 0.99s\nversion: 3.0.19\n\
               The 'numbers' are in 1000s of bytes per second processed.\ntype             16 bytes     64 bytes\n\
               AES-128-GCM     100.50k   200.50k\n";
    let children = "Forked child 0\nForked child 1\n+DT:AES-128-GCM:1:1024\n+R:9:AES-128-GCM:1.000000\nGot: +H:1024 from 0\n\
                    Got: +F:25:AES-128-GCM:1363145728.00 from 0\nGot: +H:1024 from 1\n\
                    Got: +F:25:AES-128-GCM:1676357632.00 from 1\nversion: 3.0.19\nAES-128-GCM     3039.50k\n";
    let run = &read_repeats("openssl-speed", &[one, children, one].concat())[0];
    let expected = [
        "openssl.throughput:algorithm=aes-128-gcm,block=1024B,processes=2",
        "openssl.throughput:algorithm=aes-128-gcm,block=16B",
        "openssl.throughput:algorithm=aes-128-gcm,block=64B",
    ];
    assert_eq!(keys(run), expected);
    assert!(near(value(run, expected[0]), 3039.5e3));
    let old = "The 'numbers' are in 1000s of bytes per second processed.\ntype             16 bytes\n\
               aes-128 cbc     100.50k\naes-128-cbc     500.50k\n";
    let run = &read_repeats("openssl-speed", old)[0];
    assert!(near(value(run, "openssl.throughput:algorithm=aes-128 cbc,block=16B"), 100.5e3), "not that of -evp");
}

#[test]
fn averages_of_7_zip_over_other_dictionaries_are_other_figures() {
    let run = |first: u32, last: u32| {
        let rows: String = (first..=last)
            .map(|size| format!("{size}:      11134    79  12509   9920  |      78193   125   5061   6323\n"))
            .collect();
        format!(
            "7-Zip (z) 26.02 (x64) : Copyright (c) 1999-2026 Igor Pavlov : 2026-06-25\n\
             RAM usage:     24 MB,  # Benchmark threads:      2\n                       Compressing  |                  Decompressing\n\
             Dict     Speed Usage    R/U Rating  |      Speed Usage    R/U Rating\n{rows}\
             Avr:     13994    99  12741  12605  |      88792   144   5055   7278\nTot:             121   8898   9941\n"
        )
    };
    let run = &read_as("7zip", &[run(22, 25), run(18, 20)].concat())[0];
    assert!(near(value(run, "seven_zip.rating:threads=2"), 9941e6), "{:?}", keys(run));
    assert!(near(value(run, "seven_zip.rating:threads=2,dictionaries=18-20"), 9941e6));
}

#[test]
fn machines_of_one_page_with_7_zip_are_runs_and_indented_outputs_are_read() {
    let output = |processor: &str, memory: u32, total: u32| {
        format!(
            "    7-Zip (z) 22.01 (x64) : Copyright (c) 1999-2022 Igor Pavlov : 2022-07-15\n    {processor} (860F01) \n\
             \x20   RAM size:   {memory} MB,  # CPU hardware threads:  16\n    RAM usage:   3559 MB,  # Benchmark threads:     16\n\
             \x20   Dict     Speed Usage    R/U Rating  |      Speed Usage    R/U Rating\n\
             \x20   Avr:      5854  1092    562   6141  |      51544  1224    367   4488\n    Tot:            1158    464   {total}\n"
        )
    };
    let page = [
        output("AMD Example 7", 15415, 5315),
        output("AMD Example 9", 15415, 9000),
        output("AMD Example 9", 7000, 8000),
    ];
    let runs = read_repeats("7zip", &page.concat());
    let found: Vec<_> = runs
        .iter()
        .map(|run| (run.machine.text("cpu.model").unwrap_or_default(), value(run, "seven_zip.rating:threads=16") / 1e6))
        .collect();
    let expected = [("AMD Example 7", 5315.0), ("AMD Example 9", 9000.0), ("AMD Example 9", 8000.0)];
    assert_eq!(found, expected.map(|(name, total)| (name.to_owned(), total)));
    assert!(named(&runs[1], "seven_zip.compress_rating").values().is_empty(), "no launches of the other machine");
    let again = read_repeats("7zip", &page[0].repeat(2));
    assert_eq!((again.len(), named(&again[0], "seven_zip.rating").values().len()), (1, 2));
    let cut = page.concat();
    let cut = &cut[..cut.rfind("    Tot:").unwrap()];
    assert!(refused_as("7zip", cut).contains("has no line of totals"));
}

#[test]
fn rates_of_coremark_are_as_exact_as_their_seconds_and_of_one_build() {
    let run = |kind: &str, seconds: &str, rate: &str, flags: &str| {
        format!(
            "2K {kind} run parameters for coremark.\nCoreMark Size    : 666\nTotal time (secs): {seconds}\n\
             Iterations/Sec   : {rate}\nIterations       : 20000\nCompiler version : GCC13.2.0\nCompiler flags   : {flags}\n\
             Memory location  : STACK\n[0]crcfinal      : 0x382f\n"
        )
    };
    let text = [run("performance", "13.5", "1500.5", "-O2"), run("performance", "13.5", "1510.5", "-O2")].concat();
    let both = &read_repeats("coremark", &text)[0];
    assert_eq!((keys(both), both.figures[0].values()), (vec!["coremark.iterations".to_owned()], vec![1500.5, 1510.5]));
    let text = [run("performance", "13.5", "1500.5", "-O2"), run("performance", "13.5", "1900.5", "-O3")].concat();
    let other = &read_repeats("coremark", &text)[0];
    assert!(near(value(other, "coremark.iterations:build=GCC13.2.0 / -O3 / STACK"), 1900.5), "{:?}", keys(other));
    let text = [run("performance", "13.5", "1500.5", "-O2"), run("validation", "13.5", "1400.5", "-O2")].concat();
    assert!(near(value(&read_repeats("coremark", &text)[0], "coremark.iterations:run=2k validation"), 1400.5));
    let whole = &read_repeats("coremark", &run("performance", "13", "1538", "-O2"))[0].figures[0];
    assert!(whole.rounding.is_some_and(|rounding| near(rounding, 1.0 / 13.0)), "{:?}", whole.rounding);
    assert!(whole.notes.iter().any(|note| note.contains("up to 8% too high")), "{:?}", whole.notes);
    let none = refused_as("coremark", &run("performance", "3083", "0", "-O2"));
    assert!(none.contains("ends before any figure"), "a rate of 0 is none: {none}");
}

#[test]
fn results_of_linpack_that_were_not_checked_say_so() {
    let row =
        |n: u32, rate: &str| format!("WR11C2R4       {n}   192     2     2              10.50              {rate}\n");
    let heading = "HPLinpack 2.3  --  High-Performance Linpack benchmark\n\
                   T/V                N    NB     P     Q               Time                 Gflops\n";
    let end = "Finished      2 tests with the following results:\n              2 tests completed without checking,\n";
    let text = [heading, &row(1000, "1.5000e+02"), &row(2000, "2.5000e+02"), end].concat();
    let run = &read_as("hpl", &text)[0];
    assert!(near(value(run, "hpl.flops:variant=WR11C2R4,n=2000,nb=192,p=2,q=2"), 250e9));
    assert!(run.figures.iter().all(|figure| figure.notes.iter().any(|note| note.contains("was not checked"))));
    let error = refused_as("hpl", &[heading, &row(1000, "1.5000e+02"), &row(2000, "2.5000e+02")].concat());
    assert!(error.contains("has no residual check at line 3"), "{error}");
}

#[test]
fn fpmark_is_no_coremark_pro() {
    let run = &import_fixture("coremark-pro-fpmark.txt")[0];
    assert!(near(value(run, "fpmark.atan_1m:contexts=many"), 9.5), "{:?}", keys(run));
    assert!(near(value(run, "fpmark.nnet_test:contexts=one"), 0.5));
    assert!(near(value(run, "fpmark.mark:mark=FPv1.0. DP Small Dataset,contexts=many"), 100.5));
    assert!(run.session.notes.iter().any(|note| note.contains("the mark 'FPMark' was not computed")));
    let text = "WORKLOAD RESULTS TABLE\n  MultiCore SingleCore\ncore   4.80   1.30   3.69\nzip-test   4.80   1.30\n";
    assert!(refused_as("coremark-pro", text).contains("the row has 3 values and its heading 4 at line 4"));
}

#[test]
fn excerpts_of_coremark_that_say_they_are_valid_are_read() {
    let run = "2K performance run parameters for coremark.\nCoreMark Size    : 666\nTotal time (secs): 12.767670\n\
               Iterations/Sec   : 2349.5\nCompiler version : GCC13.2.0\n";
    assert!(refused_as("coremark", run).contains("has no checksums at line 2"));
    for end in ["Correct operation validated.\n", "CoreMark 1.0 : 2349.5 / GCC13.2.0 / STACK\n"] {
        let read = &read_repeats("coremark", &[run, end].concat())[0];
        assert!(near(value(read, "coremark.iterations"), 2349.5), "{end}");
    }
    let whole = [run, "Correct operation validated.\nCoreMark 1.0 : 2349.5 / GCC13.2.0 / STACK\n"].concat();
    assert_eq!(named(&read_repeats("coremark", &whole.repeat(2))[0], "coremark.iterations").values().len(), 2);
    // The last line alone states the rate, and how it was built.
    let last = "CoreMark 1.0 : 37034.75 / GCC13.2.0 -O3 / Static\n";
    assert!(near(value(&read_repeats("coremark", last)[0], "coremark.iterations"), 37_034.75));
    let two = read_repeats("coremark", &[last, "CoreMark 1.0 : 30000.5 / GCC13.2.0 -O2 / Static\n"].concat());
    assert!(near(value(&two[0], "coremark.iterations:build=GCC13.2.0 -O2 / Static"), 30_000.5), "{:?}", keys(&two[0]));
}
