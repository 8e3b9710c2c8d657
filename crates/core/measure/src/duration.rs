//! Estimated duration of a plan before measuring, from the memory that each sample prepares and walks.

use model::{Class, PlanEntry, Primitive, parse_size};

/// Seconds of a sample with little preparation: its process, warm-up and batches.
const BARE: f64 = 0.05;
/// Seconds per byte for preparation, warm-up and batches, with dependent loads and with streams.
const CHASED: f64 = 3e-9;
const STREAMED: f64 = 0.3e-9;
/// Bytes of a cache line: a walk by longer strides touches fewer lines.
const LINE: f64 = 64.0;
/// Seconds in which a thread starts and ends, and seconds per byte that several threads touch before anything is timed,
/// one after the other.
const THREAD: f64 = 100e-6;
const TOUCHED: f64 = 0.25e-9;
/// Bytes up to which a stream moves only what fills a batch, and seconds per byte of a longer one to or from a medium.
const USUAL_STREAM: f64 = 64.0 * (1 << 20) as f64;
const TO_A_MEDIUM: f64 = 4e-9;
/// Seconds of a sample that measures the whole latency curve, for each result that shares it.
const CURVE: f64 = 0.07;

/// Seconds that a sample of this result takes on a machine of today, roughly: for a remark, and for nothing that is
/// measured. The constants are those of one guest of two CPUs (validation/performance.md). `cpus` are those that may
/// be used: streams of several threads are prepared by one thread after the other.
#[must_use]
pub fn expected_seconds(entry: &PlanEntry, cpus: usize) -> f64 {
    let size = |parameter: &str| {
        entry.parameters.get(parameter).and_then(|value| parse_size(value).ok()).map(|bytes| bytes as f64)
    };
    let bytes = size("working_set").or_else(|| size("resident")).unwrap_or(0.0);
    let benchmark = benchmarks::find(&entry.benchmark);
    let threads = entry.parameters.get("threads").map_or(1, |word| match word {
        "1" => 1,
        "all" | "cores" => cpus,
        word => word.trim_end_matches("_scatter").parse().unwrap_or(cpus),
    });
    let team = if threads > 1 { THREAD * threads as f64 + TOUCHED * bytes } else { 0.0 };
    // A sample that reads wrote its data first.
    let ways = if benchmark.is_some_and(|benchmark| benchmark.stresses == [Primitive::DiskRead]) { 2.0 } else { 1.0 };
    let stream = size("length").filter(|length| *length > USUAL_STREAM).unwrap_or(0.0);
    BARE + team
        + ways * TO_A_MEDIUM * stream
        + match benchmark.map(|benchmark| (benchmark.class, benchmark.batch.batches)) {
            Some((Class::MemoryLatency, Some(1))) => CURVE,
            Some((Class::MemoryLatency, _)) => CHASED * bytes * size("stride").map_or(1.0, strided),
            _ => STREAMED * bytes,
        }
}

/// Work of a strided chase relative to a random one: fewer lines for strides beyond a line, and prefetchers help.
fn strided(stride: f64) -> f64 {
    0.1 * (LINE / stride).min(1.0)
}

#[cfg(test)]
mod tests {
    use model::Plan;

    use super::*;

    fn seconds(benchmark: &str, parameters: &str) -> f64 {
        let parameters = parameters.parse().unwrap();
        expected_seconds(&PlanEntry { benchmark: benchmark.to_owned(), parameters, target: 0.02, shares: None }, 2)
    }

    /// Results of a suite on a recorded machine, and seconds of a round of samples.
    fn round(suite: &str, name: &str) -> (usize, f64) {
        let recorded = testing::machine::RecordedMachine::named(name);
        let machine = os::topology::of_files(&recorded.online.parse().unwrap(), &|file| recorded.read(file));
        let entries = crate::select(Some(suite), &[], 0.02).unwrap();
        let mut plan = Plan { suite: suite.to_owned(), entries, ..Plan::default() };
        crate::placement::resolve(&mut plan, &machine, machine.online.as_slice(), crate::sizing::UNKNOWN);
        let cpus = machine.online.len();
        (plan.entries.len(), plan.entries.iter().map(|entry| expected_seconds(entry, cpus)).sum())
    }

    /// The table of validation/performance.md, and that large machines need not wait for hours.
    #[test]
    fn wall_time_grows_with_the_machine_within_bounds() {
        let more = testing::slow("three suites for which nothing is promised; they end");
        for suite in ["quick", "default", "scaling", "numa", "cores"].into_iter().take(if more { 5 } else { 2 }) {
            for name in ["guest-2", "epyc-9754", "epyc-9375f"].into_iter().take(if more { 3 } else { 2 }) {
                let (results, seconds) = round(suite, name);
                eprintln!(
                    "{suite} on {name}: {results} results, {seconds:.1} s a round, {:.0} s to the first checkpoint",
                    10.0 * seconds
                );
                if ["quick", "default"].contains(&suite) {
                    assert!(seconds < 60.0, "{suite} on {name}: ten rounds in ten minutes");
                }
            }
        }
    }

    #[test]
    fn eight_rounds_of_a_check_take_less_than_a_minute_on_any_machine() {
        for name in ["guest-2", "epyc-9754", "epyc-9375f"] {
            let (results, seconds) = round("check", name);
            eprintln!("check on {name}: {results} results, {:.0} s for eight rounds", 8.0 * seconds);
            assert!(8.0 * seconds < 60.0, "{name}: {seconds} s a round");
        }
    }

    #[test]
    fn what_walks_more_takes_longer() {
        assert!((seconds("os.syscall_write", "") - BARE).abs() < 1e-12);
        assert!((seconds("no.such", "working_set=word") - BARE).abs() < 1e-12);
        let [small, large] =
            ["1MiB", "1GiB"].map(|size| seconds("memory.load_latency", &format!("working_set={size}")));
        let streamed = seconds("memory.copy", "working_set=1GiB,threads=1");
        let strided = seconds("memory.load_latency_strided", "working_set=256MiB,stride=4KiB");
        assert!(
            small < 0.1 && large > 2.0 && streamed < large / 5.0 && strided < 0.2,
            "{small} {large} {streamed} {strided}"
        );
    }
}
