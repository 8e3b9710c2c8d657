//! Streams that differ by a planted cost per call or per byte: the fitted line identifies which.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::common::{from_values, rate, run, time};
use explain::{Explanation, explain};
use model::{BenchmarkResult, Class, Metric, Run, Unit};

/// Ten samples around a value, with a spread of 1%.
fn samples(value: f64) -> Vec<f64> {
    [0.3, -0.6, 0.9, -0.2, 0.5, -0.9, 0.1, -0.4, 0.7, -0.5].iter().map(|x| value * (1.0 + 0.01 * x)).collect()
}

fn streams(session: &str, window: &str, call: f64, bandwidth: f64) -> Run {
    let bytes = Metric { unit: Unit::BytesPerSecond, ..rate("bytes") };
    let made = |benchmark: &str, parameters: &str, metric: Metric, value: f64| -> BenchmarkResult {
        from_values(benchmark, parameters, metric, Class::Network, &samples(value))
    };
    let mut results: Vec<BenchmarkResult> = [1_u64, 64, 1024, 65_536]
        .into_iter()
        .map(|record| {
            let value = record as f64 / (call + record as f64 / bandwidth);
            made("network.tcp_stream", &format!("window={window},record={record}B"), bytes.clone(), value)
        })
        .collect();
    let parameters = format!("window={window}");
    results.push(made("network.tcp_write_overhead", &parameters, time("call"), call));
    results.push(made("network.tcp_write_bandwidth", &parameters, bytes, bandwidth));
    run(session, "one machine", session, results)
}

fn between(a: &Run, b: &Run) -> Explanation {
    explain(a, b, &crate::options()).unwrap()
}

#[test]
fn a_planted_cost_per_call_differs_from_one_per_byte() {
    let base = streams("2026-01-01T00:00:00Z", "auto", 0.41e-6, 1.5e9);
    let later = |window: &str, call: f64, bandwidth: f64| streams("2026-01-02T00:00:00Z", window, call, bandwidth);
    let call = between(&base, &later("auto", 0.62e-6, 1.5e9));
    assert!(call.difference && call.lines[0].call_differs && !call.lines[0].byte_differs, "{:?}", call.lines);
    assert!(call.lines[0].misses.unwrap() < 1.05);
    let said = call.sentences().join(" ");
    assert!(said.contains("ns a call against 62") && said.contains("the cost of bytes is the same"), "{said}");
    let byte = between(&base, &later("8KiB", 0.41e-6, 0.3e9));
    let said = byte.sentences().join(" ");
    assert!(!byte.lines[0].call_differs && byte.lines[0].byte_differs, "{:?}", byte.lines);
    assert!(said.contains("window auto against 8KiB") && said.contains("the cost of a call is the same"), "{said}");
    assert!(byte.causes.is_empty() && byte.unmeasured.is_empty(), "{said}");
    let both = between(&base, &later("auto", 0.62e-6, 1.0e9));
    assert!(both.sentences().join(" ").contains("B the call makes most of the difference"), "{:?}", both.sentences());
    assert!(!between(&base, &later("auto", 0.412e-6, 1.51e9)).lines[0].differs());
}
