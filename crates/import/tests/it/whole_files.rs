//! What whole output files state beyond their tables: why a run counts less, forms with gaps, runs that broke off.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{keys, named, near, noted, read_as, read_repeats, unread, value};
use import::{ImportOptions, import};
use model::Catalogue;

#[test]
fn builds_of_linpack_and_further_lines_of_its_parameters_are_read() {
    let text = "HPL-EXAMPLE 1.5.0  -- accelerated HPL benchmark\nHPLinpack 2.1  --  High-Performance Linpack \
     benchmark\n\
                NB     :      32       40       44       64      128      144      180      210 \n             256 \n\
                \x20Prog= 1.83%\tN_left= 140096\tTime= 19.67\tTime_left= 1056.43\tiGF=  1735.19\tGF=  1735.19\n\
                T/V                N    NB     P     Q               Time                 Gflops\n\
                WR03L2L2      140960   256     2     2            2267.03              8.500e+02 \n\
                ||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=        0.0000102 ...... PASSED\n";
    let run = &read_as("hpl", text)[0];
    assert!(near(value(run, "hpl.flops:variant=WR03L2L2,n=140960,nb=256,p=2,q=2"), 850e9), "{:?}", keys(run));
    assert!(noted(run, "built as HPL-EXAMPLE 1.5.0"));
    assert_eq!(unread("hpl", text), 0);
}

#[test]
fn hosts_of_nccl_tests_define_a_rate_and_name_its_machine() {
    let run = |hosts: [&str; 2], wrong: u32, time: &str| {
        format!(
            "# Collective test starting: alltoall_perf\n# nThread 1 nGpus 1 minBytes 1024 maxBytes 1024 step: \
             2(factor)\n\
             #  Rank  0 Group  0 Pid 257 on {} device  0 [0000:1b:00] Example GPU\n\
             #  Rank  1 Group  0 Pid 349 on {} device  0 [0000:1b:00] Example GPU\n\
             #       size  type   redop     time   busbw #wrong     time   busbw #wrong\n#        \
              (B)                (us)  (GB/s)            (us)  (GB/s)\n\
             \x20      1024  double    none  {time}  22.50  {wrong}  30.5  22.25  N/A\n# Out of bounds values : \
              0 OK\n",
            hosts[0], hosts[1]
        )
    };
    let text = [run(["a", "a"], 0, "758.5"), run(["a", "b"], 0, "858.5"), run(["a", "c"], 3, "958.5")].concat();
    let all = &read_as("nccl-tests", &text)[0];
    let at = "nccl.time:size=1KiB,place=out,type=double,ranks=2,collective=alltoall";
    assert!(near(value(all, at), 758.5e-6), "{:?}", keys(all));
    assert!(near(value(all, &format!("{at},hosts=2,on=a+b")), 858.5e-6));
    assert!(near(value(all, &format!("{at},hosts=2,on=a+c")), 958.5e-6));
    assert!(noted(all, "found wrong values") && all.machine.name == "a");
    let two = &read_as("nccl-tests", &run(["a", "b"], 0, "858.5"))[0];
    assert!(near(value(two, &format!("{at},hosts=2")), 858.5e-6), "{:?}", keys(two));
    assert!(two.machine.name.starts_with("unnamed") && !noted(two, "wrong values"));
}

#[test]
fn the_rate_of_old_sysbench_is_of_its_time() {
    let text = crate::common::text("sysbench-old.txt");
    let other =
        text.replace("total time:                          5.0000s", "total time:                          4.0000s");
    let run = &read_repeats("sysbench", &[text, other].concat())[0];
    let events = named(run, "sysbench.cpu_events");
    assert_eq!(events.values(), [2000.0, 2500.0]);
    assert_eq!(events.key().to_string(), "sysbench.cpu_events:primes=10000,threads=2");
    assert!(near(events.rounding.unwrap(), 0.000_05 / 4.0), "{:?}", events.rounding);
}

#[test]
fn executions_in_a_log_of_coremark_pro_are_launches() {
    let part = |contexts: u32, times: [&str; 2], fails: u32| {
        let row = |time: &str, rate: &str| {
            format!(
                "780641437         MLT parser-125k      {contexts}   1     {fails}      {time}          1      \
                 {rate}     84059       2304\t\t\n"
            )
        };
        [
            "#UID            Suite Name                                     Ctx Wrk Fails       t(s)       \
             Iter     Iter/s  Codesize   Datasize\n",
            "#Results for verification run started at 23183:13:20:46 XCMD=-c1 -w1\n",
            &row("0.021", "47.62"),
            "#Results for performance runs started at 23183:13:20:46 XCMD=-c1 -w1\n",
            &times.map(|time| row(time, if time == "0.020" { "50.00" } else { "52.63" })).concat(),
            "#Median for final result parser-125k/\n",
            &row("0.019", "52.63"),
        ]
        .concat()
    };
    let text =
        [part(1, ["0.020", "0.019"], 0), part(4, ["0.019", "0.019"], 0), part(4, ["0.020", "0.020"], 1)].concat();
    let run = &import("x.log", text.as_bytes(), &ImportOptions::default(), &Catalogue::default()).unwrap().runs[0];
    let alone = run.figures.iter().find(|figure| figure.point.get("contexts") == Some("one")).unwrap();
    assert_eq!(alone.values(), [50.0, 52.63], "neither what verifies nor the median");
    assert!(near(alone.rounding.unwrap(), 0.000_5 / 0.019), "as exact as its shortest time: {:?}", alone.rounding);
    assert_eq!(keys(run), ["coremark_pro.parser_125k:contexts=4", "coremark_pro.parser_125k:contexts=one"]);
    assert!(noted(run, "2 executions failed"));
    assert_eq!(unread("coremark-pro", &text), 0);
}
