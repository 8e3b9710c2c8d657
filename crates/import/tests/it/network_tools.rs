//! What tools of networks and message passing print in their corners: directions, sides, settings of a table.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{keys, near, read_as, value};

#[test]
fn runs_of_nccl_tests_are_told_apart_by_the_command_or_not_joined() {
    let run = |most: u32, time: &str| {
        format!(
            "# nThread 1 nGpus 2 minBytes 8 maxBytes {most} step: 2(factor) warmup iters: 5 iters: 20 graph: 1\n\
             #   Rank  0 Pid  100 on  box device  0 [0x1b] GPU\n\
             #  size  count  type  redop  time  algbw  busbw  error\n#  (B)  (elements)  (us)  (GB/s)  (GB/s)\n\
             1024  256  float  {time}  1.00  1.50  0e+00\n# Avg bus bandwidth    : 1.500\n"
        )
    };
    let text = [
        "$ ./build/all_gather_perf -b 8\n",
        &run(1024, "20.50"),
        "$ ./build/alltoall_perf -b 8\n",
        &run(2048, "40.50"),
    ];
    let runs = &read_as("nccl-tests", &text.concat())[0];
    let at = "size=1KiB,place=out,type=float,ranks=1,graph=yes,collective";
    assert!(near(value(runs, &format!("nccl.time:{at}=all_gather")), 20.5e-6), "{:?}", keys(runs));
    assert!(near(value(runs, &format!("nccl.time:{at}=alltoall")), 40.5e-6));
    let average = "nccl.average_bandwidth:sizes=8B-1KiB,ranks=1,graph=yes,collective=all_gather";
    assert!(near(value(runs, average), 1.5e9), "{:?}", keys(runs));
    // Without a name they may be of different collectives.
    let runs = &read_as("nccl-tests", &[run(1024, "20.50"), run(1024, "40.50")].concat())[0];
    assert!(
        near(value(runs, "nccl.time:size=1KiB,place=out,type=float,ranks=1,graph=yes"), 20.5e-6),
        "{:?}",
        keys(runs)
    );
}
