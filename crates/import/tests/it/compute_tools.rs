//! What tools of processors print in their corners: how many at once, over what, and lines that are no results.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{keys, named, near, read_as, value};
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
    let run = &read_as("stress-ng", &[run(7, 1, "2107.50"), run(8, 4, "8000.50")].concat())[0];
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
    let run = &read_as("openssl-speed", &[one, children, one].concat())[0];
    let expected = [
        "openssl.throughput:algorithm=aes-128-gcm,block=1024B,processes=2",
        "openssl.throughput:algorithm=aes-128-gcm,block=16B",
        "openssl.throughput:algorithm=aes-128-gcm,block=64B",
    ];
    assert_eq!(keys(run), expected);
    assert!(near(value(run, expected[0]), 3039.5e3));
    let old = "The 'numbers' are in 1000s of bytes per second processed.\ntype             16 bytes\n\
               aes-128 cbc     100.50k\naes-128-cbc     500.50k\n";
    let run = &read_as("openssl-speed", old)[0];
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
