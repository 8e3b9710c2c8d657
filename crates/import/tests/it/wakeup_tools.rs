//! What cyclictest prints of threads that wake up late.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{estimate, import_fixture, keys, near, noted, read_repeats, refused_as, text, value};
use model::Outcome;

#[test]
fn cyclictest_reads_lines_histograms_and_json() {
    let run = &import_fixture("cyclictest.txt")[0];
    let average = estimate(run, "cyclictest.average:thread=0,interval=1000us,priority=80");
    assert!(near(average.value, 7e-6) && near(average.low, 2e-6) && near(average.high, 45e-6), "{average:?}");
    assert_eq!((average.batches, average.launches), (1000, 1), "the display's last state counts");
    assert!(near(value(run, "cyclictest.longest:thread=1,interval=1500us,priority=80"), 55e-6));
    let key = "cyclictest.average:thread=1,interval=1500us,priority=80";
    let below = run.figures.iter().find(|figure| figure.key().to_string() == key).unwrap();
    assert!(matches!(below.outcome, Outcome::Below { bound } if near(bound, 1e-6)), "it cuts off behind the digit");
    assert!(
        noted(run, "1 thread never woke up, and states no delay") && !noted(run, "unit of its times"),
        "{:?}",
        run.session.notes
    );
    let run = &import_fixture("cyclictest-histogram.txt")[0];
    let quantiles = |run: &model::Run, key: &str| -> Vec<(f64, f64)> {
        let figure = run.figures.iter().find(|figure| figure.key().to_string() == key).unwrap();
        figure.quantiles.iter().map(|found| (found.quantile, found.estimate.value)).collect()
    };
    let known = quantiles(run, "cyclictest.average:thread=0");
    assert!(known.len() == 2 && near(known[0].1, 2e-6) && near(known[1].1, 3e-6), "others are beyond it: {known:?}");
    assert_eq!(quantiles(run, "cyclictest.average:thread=1").len(), 4, "none of its delays is beyond it");
    assert!(near(value(run, "cyclictest.longest:thread=0"), 7e-6) && noted(run, "unit of its times is not printed"));
    assert_eq!(estimate(run, "cyclictest.average:thread=0").batches, 100);
    let run = &import_fixture("cyclictest.json")[0];
    let at = "thread=0,interval=200us,priority=90,cpu=2";
    assert!(near(value(run, &format!("cyclictest.average:{at}")), 1250.5e-9), "{:?}", keys(run));
    assert!(near(value(run, "cyclictest.longest:thread=1,interval=200us,priority=90,cpu=3"), 2e-6));
    let known = quantiles(run, &format!("cyclictest.average:{at}"));
    assert!(known.len() == 1 && near(known[0].1, 1e-6), "the tail is beyond its histogram: {known:?}");
    assert_eq!((run.machine.name.as_str(), run.session.started.as_str()), ("box", "2025-02-05T09:00:00Z"));
    assert_eq!(run.machine.text("kernel.release").as_deref(), Some("6.1.0-rt9"));
}

#[test]
fn settings_and_kernels_of_cyclictest_stand_apart_and_units_are_not_guessed() {
    let row = |pid: u32, interval: u32, least: u32, columns: &str| {
        format!("T: 0 ( {pid}) P:80 I:{interval} C:   1000 Min:      {least} {columns}\n")
    };
    let micro = "Act:   10 Avg:   10 Max:      90";
    let run =
        &read_repeats("cyclictest", &[row(7, 1000, 5, micro), row(8, 1000, 6, micro), row(9, 200, 6, micro)].concat())
            [0];
    assert_eq!(estimate(run, "cyclictest.average:thread=0,interval=1000us,priority=80").launches, 2, "{:?}", keys(run));
    assert_eq!(estimate(run, "cyclictest.average:thread=0,interval=200us,priority=80").launches, 1);
    // Nanoseconds have a wider column; a command says them too.
    let nano = &read_repeats("cyclictest", &row(7, 1000, 5000, "Act:   10000 Avg:   10000 Max:   90000"))[0];
    assert!(near(value(nano, "cyclictest.average:thread=0,interval=1000us,priority=80"), 10e-6));
    let told = ["$ cyclictest -N -p80\n", &row(7, 1000, 5000, "Act: 10000 Avg: 10000 Max: 90000")].concat();
    let told = &read_repeats("cyclictest", &told)[0];
    assert!(near(value(told, "cyclictest.average:thread=0,interval=1000us,priority=80"), 10e-6));
    let refused = refused_as("cyclictest", &row(7, 1000, 5000, "Act: 10000 Avg: 10000 Max: 90000"));
    assert!(refused.contains("whether its times are microseconds or nanoseconds is not said"), "{refused}");
    let kernel = |release: &str| format!("Linux box {release} #1 SMP PREEMPT\n");
    let run = &read_repeats(
        "cyclictest",
        &[kernel("6.1"), row(7, 1000, 5, micro), kernel("6.1-rt"), row(8, 1000, 4, micro)].concat(),
    )[0];
    assert!(keys(run)[0].contains("kernel=6.1") && run.figures.len() == 4, "{:?}", keys(run));
    let once = text("cyclictest-histogram.txt");
    let run = &read_repeats("cyclictest", &[&once[..], &once].concat())[0];
    assert!(estimate(run, "cyclictest.longest:thread=0").launches == 2 && noted(run, "do not print the settings"));
    let failed = text("cyclictest.json").replace("\"return_code\": 0", "\"return_code\": 1");
    assert!(refused_as("cyclictest", &failed).contains("it ends before any figure"));
    for (from, to, expected) in [
        ("# Avg Latencies: 00002 00002", "# Avg Latencies: 00002", "differ in length at line 8"),
        ("000002 000080	000050	000130", "000002 000080	000050	000130	1", "has 4 counts and it has 2 threads"),
        ("000003 000009", "000003 x", "'x' is no count of its histogram at line 6"),
        ("# Min Latencies: 00001 00002\n", "", "its histogram ends before the latencies"),
    ] {
        let error = refused_as("cyclictest", &once.replacen(from, to, 1));
        assert!(error.contains(expected), "{to}: {error}");
    }
}
