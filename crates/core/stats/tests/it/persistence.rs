//! Usual persistence of samples, from half of the recordings: the rules `noise.persistence` and
//! `noise.persistence_weight`.

use model::RULES;
use stats::autocorrelation::lag1;

use crate::recordings::results;

/// The other half is kept for tests of what these rules do.
fn is_first_half(name: &str) -> bool {
    ["quiet_guest", "beside_builds_1", "clean_guest_1", "NB", "F1"].iter().any(|half| name.starts_with(half))
}

#[test]
fn samples_usually_persist_as_the_rules_say() {
    let mut series = Vec::new();
    for (_, values) in results().into_iter().filter(|(name, _)| is_first_half(name)) {
        let n = values.len() as f64;
        // Freed of the bias that the fitted mean leaves.
        series.extend(lag1(&values).map(|lag| ((lag.coefficient * n + 1.0) / (n - 3.0), n)));
    }
    let count = series.len() as f64;
    let mean = series.iter().map(|(rho, _)| rho).sum::<f64>() / count;
    let apart = series.iter().map(|(rho, _)| (rho - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let sampling = series.iter().map(|(_, n)| 1.0 / n).sum::<f64>() / count;
    let between = apart - sampling;
    // Mean of (1 + rho) / (1 - rho) to the second order.
    let inflation = (1.0 + mean) / (1.0 - mean) + 2.0 * between / (1.0 - mean).powi(3);
    let persistence = (inflation - 1.0) / (inflation + 1.0);
    println!(
        "TABLE {count} series: mean correlation {mean:.3}, deviation of the true ones {:.3}; persistence \
         {persistence:.3}, weight {:.1}",
        between.sqrt(),
        1.0 / between
    );
    assert!((persistence - RULES.noise.persistence).abs() < 0.01, "{persistence}");
    assert!((1.0 / between / RULES.noise.persistence_weight - 1.0).abs() < 0.1, "{}", 1.0 / between);
}
