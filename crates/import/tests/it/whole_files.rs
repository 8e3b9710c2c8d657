//! What whole output files state beyond their tables: why a run counts less, forms with gaps, runs that broke off.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{
    estimate, fixture, import_fixture, keys, named, near, noted, read_as, read_repeats, refused_as, unread, value,
};
use import::{ImportOptions, import};
use model::{Better, Catalogue, Run, Unit};

#[test]
fn runs_of_hpcc_that_broke_off_are_left_out_and_what_they_left_in_memory_is_no_rate() {
    let begin = |host: &str| {
        format!("This is the DARPA/DOE HPC Challenge Benchmark version 1.5.0 October 2012\nHostname: '{host}'\n")
    };
    let summary = |n: u32, depth: u32, rate: &str| {
        format!(
            "Begin of Summary section.\nSuccess=1\nCommWorldProcs=2\nHPL_Tflops={rate}\nHPL_N={n}\n\
             HPL_order=C\nHPL_depth={depth}\n\
             HPL_ctop=1\nHPL_crfact=R\nHPL_nbdiv=2\nHPL_cpfact=C\nHPL_nbmin=4\nRandomAccess_LCG_N=-1\n\
             StarRandomAccess_LCG_GUPs=6.95291e-310\nSTREAM_VectorSize=-1\nStarSTREAM_Copy=5.5\nEnd of Summary \
              section.\n"
        )
    };
    let text = [begin("a"), begin("a"), summary(200, 0, "0.001"), begin("a"), summary(200, 1, "0.002"), begin("a")];
    let run = &read_as("hpcc", &text.concat())[0];
    let expected = ["W00", "W01"]
        .map(|depth| format!("hpcc.hpl_tflops:n=200,processes=2,variant={}1R2C4", depth.replace("W0", "WC")));
    assert_eq!(keys(run), expected, "other parameters are no launches, and tests that did not run have no rate");
    for words in ["begins at line 1 has no summary and is left out, as 1 others", "StarSTREAM_Copy is 5.5"] {
        assert!(noted(run, words), "{words}: {:?}", run.session.notes);
    }
    assert!(refused_as("hpcc", &begin("a").repeat(2)).contains("no summary at line 1"));
}

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
fn whole_logs_of_unixbench_say_what_the_system_did() {
    let text = "   Version 5.1.3                      Based on the Byte Magazine Unix Benchmark\n\
                1 x Execl Throughput  1 2 3\n16 x Pipe-based Context Switching  1 2 3 4\n\
                \x20  OS: GNU/Linux -- 6.6.31-example -- #29 Tue May 28 16:35:57 JST 2024\n\
                \x20  Machine: ppc64 (Example11,2)\n\x20  CPU 14: Example(R) CPU @ 2.60GHz (5200.0 bogomips)\n\
                \x20  03:01:50 up 28 days, 10:05,  0 user,  load average: 1.97, 0.35, 0.19; runlevel \n\
                Benchmark Run: Wed Jun 26 2024 03:01:50 - 03:28:39\n1 CPU in system; running 1 parallel copy of \
                 tests\n\
                Execl Throughput                                 67.5 lps   (0.0 s, 2 samples)\n\
                System Benchmarks Index Values               BASELINE       RESULT    INDEX\n\
                System Benchmarks Index Score                                         117.5\n";
    let run = &read_as("unixbench", text)[0];
    assert_eq!(run.origin.as_ref().unwrap().version.as_deref(), Some("5.1.3"));
    let facts = ["cpu.model", "kernel.release"].map(|name| run.machine.text(name));
    assert_eq!(facts, [Some("Example(R) CPU @ 2.60GHz".to_owned()), Some("6.6.31-example".to_owned())]);
    assert_eq!(run.machine.number("cpu.count"), Some(1.0));
    assert!(noted(run, "load averages when it began: 1.97, 0.35, 0.19"), "{:?}", run.session.notes);
    let exec = run.figures.iter().find(|figure| figure.title.contains("xec")).unwrap();
    assert!(exec.notes.iter().any(|note| note.contains("not plausible")) && exec.rounding.is_some());
    assert_eq!(unread("unixbench", text), 0);
    let first = crate::common::text("unixbench.txt");
    let second = first.replace("System: box", "System: other").replace("Example CPU @ 2.60GHz", "Slow CPU");
    let runs = read_as("unixbench", &[first, second].concat());
    let facts = |run: &Run| run.machine.facts.iter().filter(|fact| fact.name == "os.name").count();
    assert_eq!((runs.len(), runs[2].machine.name.as_str(), facts(&runs[2])), (4, "other", 1));
    assert_eq!(runs[2].machine.text("cpu.model").as_deref(), Some("Slow CPU"), "not that of the log above");
    let nameless = text.replace("Example(R) CPU @ 2.60GHz ", " ");
    assert_eq!(read_as("unixbench", &nameless)[0].machine.text("cpu.model"), None);
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
    assert_eq!(events.key().to_string(), "sysbench.cpu_events:threads=2,primes=10000");
    assert!(near(events.rounding.unwrap(), 0.000_05 / 4.0), "{:?}", events.rounding);
}

#[test]
fn lines_of_lmbench_without_a_test_are_told() {
    let text = "[lmbench3.0 results for Linux a]\nSimple syscall: 0.1 microseconds\nFile /tmp/f write \
     bandwidth: 900 KB/sec\n\
                Memory load parallelism\n0.001024 8.00\n1.048576 9.50\n\n134.2177 MB in 21.7630 secs, 6.1672 \
                 MB/sec\n";
    let run = &read_as("lmbench", text)[0];
    assert!(near(value(run, "lmbench.memory_load_parallelism:size=1MiB"), 9.5), "{:?}", keys(run));
    let written = named(run, "lmbench.file_write_bandwidth");
    assert!(near(written.outcome.estimate().unwrap().value, 900e3), "wherever the file is");
    assert_eq!((written.metric.unit, unread("lmbench", text)), (Unit::BytesPerSecond, 1));
}

/// An output of IOR without its summary.
fn ior(readers: &str, transfer: &str, rows: &str) -> String {
    format!(
        "IOR-4.1.0+dev: MPI Coordinated Test of Parallel I/O\nBegan               : Fri May  3 09:25:48 2024\n\
         Machine             : Linux x7\n\nOptions: \napi                 : POSIX\naccess              : \
          file-per-process\n\
         type                : independent\nsegments            : 16\nordering in a file  : sequential\n\
         ordering inter file : {readers}\ntasks               : 640\nclients per node    : \
          8\nxfersize            : {transfer}\n\
         blocksize           : 9.46 TiB\nstonewallingTime    : 300\nstoneWallingWearOut : 1\n\nResults: \n\n\
         access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   \
          total(s)   iter\n\
         ------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   \
          --------   ----\n\
         stonewalling pairs accessed min: 78934 max: 109118 -- min data: 154.2 GiB mean data: 189.3 GiB time: \
          300.2s\n\
         WARNING: Expected aggregate file size       = 6657199308800000\n{rows}"
    )
}

#[test]
fn results_of_ior_without_a_summary_are_read() {
    let write = |rate: &str, iteration: u32| {
        format!(
            "write     {rate}     180641     0.000071    10158080000 45.91    0.007004   386.60     0.005917   \
             386.61     {iteration}   \n"
        )
    };
    let removed =
        "remove    -          -          -           -           -          -          -          -          0.1 1\n";
    let rows = [write("361270", 0), write("361290", 1), removed.to_owned()].concat();
    let run = &read_as("ior", &ior("no tasks offsets", "47008 bytes", &rows))[0];
    let key = "ior.write:api=POSIX,tasks=640,per_node=8,block=9920000MiB,transfer=47008B,file_per_process=1,\
               segments=16,\
               deadline=300s,wear_out=yes";
    let found = estimate(run, key);
    assert!(near(found.value, 361_280.0 * 1_048_576.0), "{:?}", keys(run));
    assert!(near(found.high, 361_290.0 * 1_048_576.0) && found.batches == 2);
    assert!(noted(run, "begins at line 1 has no summary") && run.machine.name == "x7");
    assert_eq!(run.session.started, "2024-05-03T09:25:48Z");
    let twice = [
        ior("no tasks offsets", "2 MiB", &write("100.5", 0)),
        ior(
            "constant task offset",
            "2 \
         MiB",
            &write("50.5", 0),
        ),
    ];
    let run = &read_as("ior", &twice.concat())[0];
    assert_eq!(run.figures.len(), 2, "who reads its own cache is another figure: {:?}", keys(run));
    assert!(keys(run).iter().any(|key| key.contains("readers=constant task offset")));
    assert!(refused_as("ior", &ior("no tasks offsets", "2 MiB", "")).contains("no result at line 1"));
    let page = crate::common::text("ior.txt") + "```\nmpirun ior -w\nread the rates above\n";
    assert_eq!(
        keys(&read_as("ior", &page)[0]),
        keys(&import_fixture("ior.txt")[0]),
        "words of a page are no \
     results"
    );
}

#[test]
fn options_and_the_date_of_mdtest_are_kept_and_its_times_are_not() {
    let text = "-- started at 05/03/2024 10:06:25 --\n\nmdtest-4.1.0+dev was launched with 80 total task(s) on \
     10 node(s)\n\
                Command line used: ./mdtest '-n' '100' '-N' '1' '-W' '300' '-r'\nV-0: Rank   0 Line  2581 \
                 Shifting ranks by 8.\n\
                80 tasks, 8000 files\n\nSUMMARY rate (in ops/sec): (of 1 iterations)\n   Operation    Max    \
                 Min   Mean   Std Dev\n\
                \x20  ---------    ---   ---   ----   -------\n   File removal   42882.5   42882.5   42882.5   \
                 0.000\n\n\
                SUMMARY time (in ms/op): (of 1 iterations)\n   Operation    Max    Min   Mean   Std Dev\n\
                \x20  ---------    ---   ---   ----   -------\n   File removal   594.5   594.5   594.5   0.000\n";
    let run = &read_as("mdtest", text)[0];
    assert_eq!(keys(run), ["mdtest.file_removal:deadline=300s,shift=1,tasks=80,nodes=10,files=8000"]);
    assert_eq!((run.session.started.as_str(), unread("mdtest", text)), ("2024-05-03T10:06:25Z", 0));
    assert!(noted(run, "its table of times is not read"));
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

#[test]
fn results_of_phoronix_as_json_are_those_of_its_xml() {
    let runs = import_fixture("phoronix-results.json");
    assert_eq!(runs.iter().map(|run| run.machine.name.as_str()).collect::<Vec<_>>(), ["box A", "box B"]);
    let run = &runs[0];
    let zip = run.figures.iter().find(|figure| figure.probe == "phoronix.compress_7zip").unwrap();
    assert_eq!(zip.key().to_string(), "phoronix.compress_7zip:test=Test: Compression Rating,version=22.01");
    assert_eq!(zip.values(), [10_000.0, 10_010.0, 10_030.0]);
    let time = named(run, "phoronix.pybench");
    assert_eq!((time.metric.unit, time.metric.better), (Unit::Seconds, Better::Lower));
    assert!(near(time.outcome.estimate().unwrap().value, 19.5));
    assert_eq!((run.session.started.as_str(), runs[1].figures.len()), ("2026-11-21T02:00:00Z", 1));
    let texts = ["cpu.governor", "kernel.release", "virtual.hypervisor"].map(|name| run.machine.text(name));
    assert_eq!(texts, ["example performance", "6.1.0 (x86_64)", "KVM"].map(|text| Some(text.to_owned())));
    let numbers = ["cpu.sockets", "cpu.cores", "cpu.count"].map(|name| run.machine.number(name));
    assert_eq!(numbers, [Some(2.0), Some(8.0), Some(16.0)]);
    let options = ImportOptions::default();
    let unread = |bytes: &[u8]| import("x", bytes, &options, &Catalogue::default()).unwrap().unread.unwrap();
    assert_eq!(unread(&fixture("phoronix-results.json")).count, 0);
    // PHP writes an empty map as a list.
    let text = crate::common::text("phoronix-results.json");
    let empty = text.replace("\"client_version\"", "\"wonders\": 7, \"client_version\"").replacen(
        "{ \"value\": \"\" }",
        "[]",
        1,
    );
    assert_eq!(unread(empty.as_bytes()).count, 1);
}

#[test]
fn what_was_measured_is_kept() {
    let text = crate::common::text("pytest-benchmark.json");
    let known = text.replace(
        r#""id": "unversioned", "dirty": false"#,
        r#""id": "c99b3b878de9", "dirty": true, "project": "example""#,
    );
    assert!(noted(&read_as("pytest-benchmark", &known)[0], "of commit c99b3b878de9 of example, with changes"));
    assert!(!noted(&read_as("pytest-benchmark", &text)[0], "of commit"));
    let run = r#"{"report": {"wl-scores": {"gen": 1016.5}}}"#;
    let text = format!(
        r#"{{"host": {{}}, "suite": {{}}, "profiles": {{"hepscore": {{"benchmarks": {{"gen-bmk": {{"version": "v1.2", "run0": {run}}}}}}}}}}}"#
    );
    assert_eq!(
        keys(&read_as("hep-benchmark-suite", &text)[0]),
        ["hep.workload:workload=gen-bmk,part=gen,version=v1.2"]
    );
}
