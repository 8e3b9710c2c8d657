//! What benchmark harnesses print in their corners: settings that define a figure, further processes, several units.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{named, near, read_as, read_repeats, refused_as, value};

#[test]
fn a_report_of_schbench_without_a_later_runtime_is_a_further_process() {
    let report = |runtime: u32, median: u32| {
        format!(
            "Wakeup Latencies percentiles (usec) runtime {runtime} (s) (100 total samples)\n\t  50.0th: {median} (7 samples)\n\
             \t* 99.0th: 90 (2 samples)\n\t  min=1, max=99\n"
        )
    };
    let growing = &read_repeats("schbench", &[report(10, 7), report(20, 8)].concat())[0];
    assert!(near(value(growing, "schbench.wakeup_latency"), 8e-6), "the last report stands for its process");
    let again = &read_repeats("schbench", &[report(10, 7), report(20, 8), report(10, 5), report(20, 6)].concat())[0];
    assert_eq!(named(again, "schbench.wakeup_latency").values(), [8e-6, 6e-6]);
    // Of two kernels on one page the second ran longer, with fewer samples or behind other words.
    let fewer = report(20, 8).replace("(100 total", "(96 total");
    for page in
        [[report(10, 7), fewer].concat(), [&report(10, 7), "With the patch we get this:\n", &report(20, 8)].concat()]
    {
        assert_eq!(named(&read_repeats("schbench", &page)[0], "schbench.wakeup_latency").values(), [7e-6, 8e-6]);
    }
    // Columns that were added beside the tool's own are not taken for its values.
    let beside = report(10, 7).replace("50.0th: 7 (7 samples)", "50.0th: 7 9 11");
    assert!(!refused_as("schbench", &beside).is_empty());
}

#[test]
fn rows_of_one_machine_are_its_launches_in_their_order() {
    let rows: String = (0..3000).map(|row| format!("a,{}\n", row % 7 + 1)).collect();
    let figure = &read_as("wide-csv", &format!("machine,x (s)\n{rows}"))[0].figures[0];
    let values: Vec<f64> = figure.launches.iter().map(|launch| launch.value).collect();
    assert_eq!((values.len(), &values[..3], values[2999]), (3000, &[1.0, 2.0, 3.0][..], 4.0));
    assert_eq!(figure.outcome.estimate().unwrap().value, 4.0);
}
