//! What the suites for clusters print: sizes behind each figure, tests that did not run, checks, copies at once.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{
    self, estimate, import_fixture, import_repeats, keys, named, near, read_as, read_repeats, refused_as, unread, value,
};

#[test]
fn sizes_of_hpcc_define_its_figures_and_tests_that_did_not_run_have_none() {
    let runs = import_repeats("hpcc-stream.txt");
    assert_eq!(runs.len(), 1);
    let run = &runs[0];
    let expected = [
        "hpcc.hpl_tflops:n=2000,nb=80,p=2,q=2,processes=4",
        "hpcc.mpifft_gflops:n=524288,processes=4,ranks=2",
        "hpcc.mpirandomaccess_gups:n=8388608,processes=4",
        "hpcc.starstream_triad:n=69033984,threads=1,processes=4",
        "hpcc.starstream_triad:n=83333,threads=1,processes=4",
    ];
    let sorted = |keys: Vec<String>| {
        let order = |key: &String| {
            let (probe, point) = key.split_once(':').unwrap();
            let mut axes: Vec<&str> = point.split(',').collect();
            axes.sort_unstable();
            format!("{probe}:{}", axes.join(","))
        };
        let mut keys: Vec<String> = keys.iter().map(order).collect();
        keys.sort();
        keys
    };
    assert_eq!(sorted(keys(run)), sorted(expected.map(str::to_owned).into()), "runs of two sizes are no launches");
    for words in ["a test failed", "StarDGEMM_Gflops is -1", "PTRANS_GBs is 0", "of the 2 systems that it solved"] {
        assert!(run.session.notes.iter().any(|note| note.contains(words)), "{words}: {:?}", run.session.notes);
    }
    // 20 stands for 20.0000, and 9.5e-05 for 9.50000e-05.
    for figure in &run.figures {
        assert!(near(figure.rounding.unwrap(), 5e-6), "{:?}", figure.key());
    }
    let other = common::text("hpcc-stream.txt").replacen("'node1'", "'node2'", 1);
    let names: Vec<String> = read_repeats("hpcc", &other).into_iter().map(|run| run.machine.name).collect();
    assert_eq!(names, ["node2", "node1"]);
    let nameless = common::text("hpcc-stream.txt").replace("Hostname:", "");
    assert_eq!(
        read_repeats("hpcc", &nameless.repeat(2))[0].figures[0].values().len(),
        2,
        "a host without a name is one host"
    );
    assert!(refused_as("hpcc", &other.replace("End of Summary section.", "")).contains("no summary at line 2"));
}

#[test]
fn every_residual_of_linpack_counts() {
    let run = &import_fixture("hpl-1.txt")[0];
    let of = |variant: &str| run.figures.iter().find(|figure| figure.point.get("variant") == Some(variant));
    let tcp = of("WR13R2C4").unwrap();
    assert!(near(tcp.outcome.estimate().unwrap().value, 7.5e9), "{:?}", keys(run));
    assert!(near(tcp.rounding.unwrap(), 0.0005 / 7.5), "the exponent is no decimal: {:?}", tcp.rounding);
    let vendor = of("WC0").unwrap();
    assert!(near(vendor.outcome.estimate().unwrap().value, 12.68e9));
    assert_eq!(run.figures.len(), 2, "one of three residuals failed");
    assert!(run.session.notes.iter().any(|note| note.contains("the result at line 14 failed its residual check")));
}

#[test]
fn copies_and_sets_of_workloads_define_scores_of_the_hep_suite() {
    let run = &import_fixture("hep-benchmark-suite-summary.json")[0];
    assert!(near(value(run, "hep.hepscore:workloads=HEPscore19"), 870.5), "{:?}", keys(run));
    assert!(near(value(run, "hep.hs06_32:benchmarks=453.povray,copies=48"), 520.5));
    assert!(near(value(run, "hep.hs06_64:benchmarks=all_cpp,copies=24"), 300.5));
    let gen_part = named(run, "hep.workload");
    assert_eq!(gen_part.values(), [103.0, 101.0], "the first of three runs failed");
    assert!(gen_part.notes.iter().any(|note| note.contains("1 of its 3 runs state no score")));
    assert!(near(value(run, "hep.workload:workload=gen-bmk,part=gen,copies=16,threads=4"), 102.0));
    assert!(near(value(run, "hep.workload:workload=sim-bmk,part=sim"), 1.5), "its runs are not stated");
    assert_eq!(run.figures.len(), 5);
    let number = |name| run.machine.number(name);
    assert_eq!(
        (number("cpu.clock.max"), number("cpu.sockets"), number("cpu.count")),
        (Some(3.2e9), Some(2.0), Some(48.0))
    );
    assert!(run.session.notes.iter().any(|note| note == "profile hepscore: failed"));
}

#[test]
fn trials_of_mkl_linpack_are_averaged_by_size_and_checked() {
    let run = &import_fixture("mkl-linpack.txt")[0];
    let small = estimate(run, "mkl_linpack.flops:size=1000,leading=1000,alignment=4KiB,threads=16");
    assert!(near(small.value, 110e9) && near(small.low, 66e9) && near(small.high, 134e9) && small.batches == 3);
    assert!(near(value(run, "mkl_linpack.flops:size=5000,leading=5008,alignment=4KiB,threads=16"), 208.5e9));
    assert_eq!(run.session.started, "2026-11-21T02:00:00Z");
    let count = |name: &str| run.machine.number(name);
    assert_eq!((count("cpu.sockets"), count("cpu.cores"), count("cpu.clock")), (Some(2.0), Some(16.0), Some(3.25e9)));
    let text = common::text("mkl-linpack.txt");
    assert_eq!(unread("mkl-linpack", &text), 0);
    let key = "mkl_linpack.flops:size=1000,leading=1000,alignment=4KiB,threads=16";
    // Without its summary, and with a trial that failed, the trials that passed are averaged.
    let cut = &text[..text.find("Performance Summary").unwrap()];
    let failed =
        text.replacen("66.0000  9.000000e-13 3.000000e-02   pass", "66.0000  9.000000e-13 3.000000e-02   fail", 1);
    assert!(near(value(&read_as("mkl-linpack", cut)[0], key), 110e9));
    let failed = &read_as("mkl-linpack", &failed)[0];
    assert!(near(value(failed, key), 132e9));
    assert!(named(failed, "mkl_linpack.flops").notes.iter().any(|note| note.contains("1 trials failed")));
    let other = text.replace("Number of threads: 16", "Number of threads: 8");
    let both = &read_as("mkl-linpack", &[&text[..], &other].concat())[0];
    assert_eq!(both.figures.len(), 4, "{:?}", keys(both));
    let machines = [&text[..], &text.replace("Number of cores: 16", "Number of cores: 8")].concat();
    assert!(refused_as("mkl-linpack", &machines).contains("different machines"));
    assert!(
        refused_as("mkl-linpack", &text.replace("GFlops ", "TFlops "))
            .contains("column 'TFlops' is not known at line 22")
    );
    assert!(
        refused_as("mkl-linpack", &text.replacen("   pass", "", 1)).contains("7 values and its heading 8 at line 23")
    );
}

#[test]
fn threads_and_parts_of_hpcg_define_its_figures() {
    let run = |threads: u32, size: u32, rate: &str| {
        format!(
            "HPCG-Benchmark\nversion=3.1\nMachine Summary=\nMachine Summary::Distributed Processes=2\n\
             Machine Summary::Threads per processes={threads}\nGlobal Problem Dimensions::Global nx=208\n\
             Local Domain Dimensions=\nLocal Domain Dimensions::nx={size}\nLocal Domain Dimensions::ny=16\n\
             Local Domain Dimensions::Upper ipz=0\nLocal Domain Dimensions::nz=16\nSetup Information::Setup Time=0.5\n\
             Final Summary::HPCG result is VALID with a GFLOP/s rating of={rate}\n"
        )
    };
    let text = [run(1, 16, "2.5"), run(48, 16, "9.5"), run(48, 104, "7.5"), run(48, 104, "7.7")].concat();
    let run = &read_repeats("hpcg", &text)[0];
    assert!(near(value(run, "hpcg.flops:processes=2,threads=1,part=16x16x16"), 2.5e9), "{:?}", keys(run));
    assert!(near(value(run, "hpcg.flops:processes=2,threads=48,part=16x16x16"), 9.5e9));
    assert!(near(value(run, "hpcg.flops:processes=2,threads=48,part=104x16x16"), 7.6e9), "two runs are launches");
    assert_eq!(unread("hpcg", &text), 0);
}
