//! The tails of latencies and rates: quantiles of single operations with their intervals.

use model::{BenchmarkResult, Better, QuantileEstimate, Run, percent};

use crate::words::result_label;
use crate::{Block, Cell, Column, DocumentSection, PrintedQuantity, RowGroup, Table, TableRow, Tone};

/// Quantiles of times in a table, from the median to the maximum.
const LATE: [f64; 4] = [0.5, 0.99, 0.999, 1.0];
/// Quantiles of rates, whose tail is the slow end, down to the minimum.
const SLOW: [f64; 4] = [0.5, 0.01, 0.001, 0.0];

/// A section with all distributions of a run; `None` if it has none.
pub(super) fn tails(run: &Run) -> Option<DocumentSection> {
    let groups: Vec<RowGroup> =
        run.results.iter().filter(|result| valid_quantiles(result).len() > 1).map(group).collect();
    if groups.is_empty() {
        return None;
    }
    let columns = Column::list("|#value|#interval|#level");
    let of_rates = run.results.iter().any(|result| slow(result) && valid_quantiles(result).len() > 1);
    let of_rates = if of_rates { " (of rates the slow end)" } else { "" };
    // Another tool states them of one process, however it came to them.
    let launched = |result: &BenchmarkResult| valid_quantiles(result).iter().any(|one| one.estimate.samples > 1);
    let each = match (run.origin.is_some(), run.results.iter().any(launched)) {
        (true, false) => "from the source",
        (true, true) => "from the source, medians over samples",
        (false, _) => "medians over samples",
    };
    let title = format!("Latency percentiles{of_rates}, {each}");
    Some(DocumentSection::of(title, Block::Table(Table { columns, groups })))
}

fn slow(result: &BenchmarkResult) -> bool {
    result.metric.better == Better::Higher
}

/// The quantiles of a result that are valid. Other tools may state others: with a range as their ends, above the
/// maximum, or at the fast end of a rate.
pub(super) fn valid_quantiles(result: &BenchmarkResult) -> Vec<&QuantileEstimate> {
    let all = result.quantiles.iter().filter(|one| !one.estimate.is_range());
    let tail: Vec<&QuantileEstimate> = all.filter(|one| !slow(result) || one.quantile <= 0.5).collect();
    let in_order = |one: &&QuantileEstimate| {
        let beyond = tail
            .iter()
            .filter(|other| if slow(result) { other.quantile < one.quantile } else { other.quantile > one.quantile });
        beyond.into_iter().all(|other| {
            let (near, far) = (one.estimate.value, other.estimate.value);
            if slow(result) { far <= near } else { near <= far }
        })
    };
    tail.iter().copied().filter(in_order).collect()
}

fn group(result: &BenchmarkResult) -> RowGroup {
    let found = valid_quantiles(result);
    let shown = if slow(result) { SLOW } else { LATE };
    let at = |quantile: f64| found.iter().find(|one| (one.quantile - quantile).abs() < 1e-9);
    let rows = shown.into_iter().filter_map(at).map(|one| row(one, result)).collect();
    RowGroup { title: result_label(result), note: String::new(), rows }
}

fn row(one: &QuantileEstimate, result: &BenchmarkResult) -> TableRow {
    let quantity = PrintedQuantity::of(&one.estimate, result.metric.unit);
    let level = if quantity.has_interval() { percent(one.estimate.level) } else { String::new() };
    TableRow::of(vec![
        Cell::text(name(one.quantile)),
        Cell::Value(quantity),
        Cell::Interval(quantity),
        Cell::Text(level, Tone::Muted),
    ])
}

fn name(quantile: f64) -> String {
    match quantile {
        q if q >= 1.0 => "maximum".to_owned(),
        q if q <= 0.0 => "minimum".to_owned(),
        q if (q - 0.5).abs() < 1e-9 => "median".to_owned(),
        q => percent(q),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
    use super::*;
    use model::{Class, Estimate, EstimateMethod, Metric, Parameters, ResultKey, Unit};

    fn result(metric: Metric, quantiles: &[(f64, f64, f64)]) -> BenchmarkResult {
        let mut result = BenchmarkResult::unmeasured(
            ResultKey::new("os.timer_wakeup", Parameters::none()),
            "x",
            metric,
            Class::Compute,
        );
        let of = |(quantile, value, level): &(f64, f64, f64)| QuantileEstimate {
            quantile: *quantile,
            estimate: Estimate {
                value: *value,
                low: 0.9 * value,
                high: 1.1 * value,
                level: *level,
                samples: 10,
                batches: 1,
                method: EstimateMethod::OrderStatistic,
            },
        };
        result.quantiles = quantiles.iter().map(of).collect();
        result
    }

    fn names(result: &BenchmarkResult) -> Vec<String> {
        let text = |row: &TableRow| match &row.cells[0] {
            Cell::Text(text, _) => text.clone(),
            _ => String::new(),
        };
        group(result).rows.iter().map(text).collect()
    }

    #[test]
    fn no_quantile_exceeds_the_maximum_and_no_row_is_a_range() {
        let old = [(0.5, 1.0, 0.96), (0.9, 2.0, 0.96), (0.99, 3.0, 0.0), (0.999, 8.59, 0.93), (1.0, 6.98, 0.96)];
        assert_eq!(names(&result(Metric::lower(Unit::Seconds, "wake-up"), &old)), ["median", "maximum"]);
        let sound = [(0.5, 1.0, 0.96), (0.99, 3.0, 0.92), (0.999, 4.0, 0.92), (1.0, 6.98, 0.89)];
        assert_eq!(names(&result(Metric::lower(Unit::Seconds, "wake-up"), &sound)), ["median", "99%", "99.9%"]);
    }

    #[test]
    fn what_another_tool_states_is_no_median_over_samples() {
        let mut run: Run = serde_json::from_str(
            r#"{"schema":1,"id":"r","machine":{"name":"m"},"session":{"started":"2026-11-21T00:00:00Z"},
            "plan":{"suite":"quick","seed":1,"level":0.95,"target":0.02,"checkpoints":[10],"batches":20,"batch_nanos":1000000,"band":0.02,"entries":[]},"results":[]}"#,
        )
        .unwrap();
        run.results = vec![result(Metric::lower(Unit::Seconds, "wake-up"), &[(0.5, 1.0, 0.96), (1.0, 2.0, 0.96)])];
        assert!(tails(&run).unwrap().title.ends_with("Latency percentiles, medians over samples"));
        run.origin = Some(model::Origin { tool: "fio".to_owned(), ..model::Origin::default() });
        assert!(tails(&run).unwrap().title.ends_with("from the source, medians over samples"));
        run.results[0].quantiles.iter_mut().for_each(|one| one.estimate.samples = 1);
        assert!(tails(&run).unwrap().title.ends_with("Latency percentiles, from the source"));
    }

    #[test]
    fn the_tail_of_a_rate_is_its_slow_end() {
        let metric = || Metric::higher(Unit::PerSecond, "files");
        let fast = [(0.5, 10.0, 0.96), (0.99, 20.0, 0.96), (1.0, 30.0, 0.96)];
        assert_eq!(names(&result(metric(), &fast)), ["median"]);
        let slow = [(0.0, 1.0, 0.96), (0.001, 2.0, 0.96), (0.01, 3.0, 0.96), (0.1, 5.0, 0.96), (0.5, 10.0, 0.96)];
        assert_eq!(names(&result(metric(), &slow)), ["median", "1%", "0.1%", "minimum"]);
    }
}
