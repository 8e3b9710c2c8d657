//! Genuine outputs of other tools, if present: read in place, and not part of this repository.

use crate::common::import;
use model::{Catalogue, Outcome, render_run};

/// File, format (empty: must be refused), and how many figures.
const SAMPLES: &[(&str, &str, usize)] = &[
    ("criterion/benchmark.json", "", 0),
    ("criterion/estimates.json", "criterion", 2),
    ("criterion/sample.json", "criterion", 1),
    ("gbench/test1_run1.json", "google-benchmark", 28),
    ("gbench/test3_run0.json", "google-benchmark", 8),
    ("hepbench/result_profile_sample.json", "hep-benchmark-suite", 12),
    ("misc/babelstream.txt", "babelstream", 4),
    ("own/fio.json", "fio", 3),
    ("own/hyperfine.csv", "hyperfine", 2),
    ("own/hyperfine.json", "hyperfine", 2),
    ("own/iperf3.json", "iperf3", 5),
    ("own/stress-ng.txt", "stress-ng", 4),
    ("own/stress-ng.yaml", "stress-ng", 4),
    ("own/sysbench-cpu.txt", "sysbench", 2),
    ("pkb/bonnie.txt", "bonnie", 18),
    ("pkb/coremark.txt", "coremark", 1),
    ("pkb/fio.json", "fio", 15),
    ("pkb/hpcg.txt", "hpcg", 1),
    ("pkb/lmbench.out", "lmbench", 304),
    ("pkb/netperf_results.json", "netperf", 20),
    ("pkb/netperf_results.txt", "netperf", 2),
    ("pkb/osu_acc_latency.txt", "osu", 2),
    ("pkb/osu_allreduce.txt", "osu", 2),
    ("pkb/osu_bw.txt", "osu", 2),
    ("pkb/stress-ng.txt", "stress-ng", 1),
    ("pkb/sysbench-memory.txt", "sysbench", 12),
    ("pkb/sysbench-oltp.txt", "sysbench", 3),
    ("pkb/unixbench.log", "unixbench", 26),
    ("pkb/hpcc.txt", "hpcc", 31),
    ("pkb/pgbench.txt", "pgbench", 2),
    ("pkb/wrk2.txt", "wrk", 3),
    ("vc/speccpu2017_intrate.txt", "spec-cpu", 22),
    ("vc/coremark.txt", "coremark", 1),
    ("vc/hpcg.txt", "hpcg", 9),
    ("vc/hpl.txt", "hpl", 1),
    ("vc/lat_mem_rd_128.txt", "lmbench", 35),
    ("vc/lmbench_rhel_1.txt", "lmbench", 29),
    ("vc/lmbench_summary_1.txt", "lmbench", 28),
    ("vc/osu_allreduce.txt", "osu", 19),
    ("vc/osu_bw.txt", "osu", 23),
    ("vc/osu_latency.txt", "osu", 23),
    ("vc/speccpu2017_fpspeed.csv", "spec-cpu", 22),
    ("vc/speccpu2017_intrate.csv", "spec-cpu", 22),
    ("vc/stream.txt", "stream", 4),
    ("vc/stress-ng.yaml", "stress-ng", 2),
    ("vc/sysbench.txt", "sysbench", 4),
];

#[test]
fn genuine_outputs_are_read() {
    let Some(folder) = testing::shared("samples") else { return };
    let mut wrong = Vec::new();
    for (file, format, figures) in SAMPLES {
        let bytes = std::fs::read(folder.join(file)).unwrap();
        let read = import(file, &bytes, None, &Catalogue::default());
        if format.is_empty() {
            assert!(read.is_err(), "{file}");
            continue;
        }
        let runs = match read {
            Ok(runs) => runs,
            Err(error) => {
                wrong.push(format!("{file}: {error}"));
                continue;
            }
        };
        let count = runs.iter().map(|run| run.figures.len()).sum::<usize>();
        if count != *figures || !runs.iter().all(|run| run.id.starts_with(&format!("{format}-"))) {
            wrong.push(format!("{file}: {count} figures and not {figures}, {}", runs[0].id));
        }
        for run in &runs {
            render_run(run).unwrap();
            assert!(run.figures.iter().all(|figure| !matches!(figure.outcome, Outcome::Failed(_))), "{file}");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
