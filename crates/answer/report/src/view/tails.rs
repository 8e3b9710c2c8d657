//! The tails of latencies and rates: quantiles of single operations with their intervals.

use model::{BenchmarkResult, Better, QuantileEstimate, Run};

use crate::words::result_label;
use crate::{Block, Cell, Column, DocumentSection, PrintedQuantity, Table, TableRow};

/// Percentiles of times, from the median to the maximum.
const LATE: [(f64, &str); 4] = [(0.5, "p50"), (0.99, "p99"), (0.999, "p99.9"), (1.0, "max")];
/// Percentiles of rates, whose tail is the slow end, down to the minimum.
const SLOW: [(f64, &str); 4] = [(0.5, "p50"), (0.01, "p1"), (0.001, "p0.1"), (0.0, "min")];

/// A section with all distributions of a run, times before rates; `None` if it has none.
pub(super) fn tails(run: &Run) -> Option<DocumentSection> {
    let found = || run.results.iter().filter(|result| valid_quantiles(result).len() > 1);
    let table = |columns: &[(f64, &str); 4], rates: bool| {
        let rows: Vec<TableRow> = found().filter(|result| slow(result) == rates).map(|one| row(one, columns)).collect();
        let head = columns.iter().map(|(_, name)| Column::number(*name));
        let mut table = Table::plain(std::iter::once(Column::label("")).chain(head).collect(), rows);
        table.drop_empty();
        (table.rows().count() > 0).then_some(Block::Table(table))
    };
    let blocks: Vec<Block> = [table(&LATE, false), table(&SLOW, true)].into_iter().flatten().collect();
    // Another tool states them of one process, however it came to them.
    let launched = |result: &BenchmarkResult| valid_quantiles(result).iter().any(|one| one.estimate.samples > 1);
    let each = match (run.origin.is_some(), run.results.iter().any(launched)) {
        (true, false) => "from the source",
        (true, true) => "from the source, medians over samples",
        (false, _) => "medians over samples",
    };
    let title = format!("Percentiles of single operations, {each}");
    (!blocks.is_empty()).then_some(DocumentSection { title, blocks })
}

/// The quantiles of one result in several runs, a named row each; `None` if no run has any.
pub(super) fn of_results<'a>(named: impl Iterator<Item = (&'a str, &'a BenchmarkResult)>) -> Option<Table> {
    let found: Vec<(&str, &BenchmarkResult)> = named.filter(|(_, result)| valid_quantiles(result).len() > 1).collect();
    let (_, first) = found.first()?;
    let columns = if slow(first) { SLOW } else { LATE };
    let mut rows: Vec<TableRow> = found.iter().map(|(_, result)| row(result, &columns)).collect();
    rows.iter_mut().zip(&found).for_each(|(row, (name, _))| row.cells[0] = Cell::text(*name));
    let head = columns.iter().map(|(_, name)| Column::number(*name));
    let mut table = Table::plain(std::iter::once(Column::label("percentile")).chain(head).collect(), rows);
    table.drop_empty();
    Some(table)
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

fn row(result: &BenchmarkResult, columns: &[(f64, &str); 4]) -> TableRow {
    let found = valid_quantiles(result);
    let cell = |(quantile, _): &(f64, &str)| {
        let one = found.iter().find(|one| (one.quantile - quantile).abs() < 1e-9);
        let quantity = |one: &&QuantileEstimate| PrintedQuantity::of(&one.estimate, result.metric.unit);
        one.map_or(Cell::Empty, |one| Cell::Value(quantity(one).in_metric(&result.metric)))
    };
    TableRow::of(std::iter::once(Cell::text(result_label(result))).chain(columns.iter().map(cell)).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
    use super::*;
    use model::{Class, Estimate, Metric, Parameters, ResultKey, Unit};

    fn result(metric: Metric, quantiles: &[(f64, f64, f64)]) -> BenchmarkResult {
        let mut result = BenchmarkResult::unmeasured(
            ResultKey::new("os.timer_wakeup", Parameters::none()),
            "x",
            metric,
            Class::Compute,
        );
        let of = |(quantile, value, level): &(f64, f64, f64)| QuantileEstimate {
            quantile: *quantile,
            estimate: Estimate::of_samples(*value, (0.9 * value, 1.1 * value), *level, 10),
        };
        result.quantiles = quantiles.iter().map(of).collect();
        result
    }

    fn names(result: &BenchmarkResult) -> Vec<&'static str> {
        let columns = if slow(result) { SLOW } else { LATE };
        let row = row(result, &columns);
        let known = columns.iter().zip(&row.cells[1..]).filter(|(_, cell)| **cell != Cell::Empty);
        known.map(|((_, name), _)| *name).collect()
    }

    #[test]
    fn no_quantile_exceeds_the_maximum_and_no_row_is_a_range() {
        let old = [(0.5, 1.0, 0.96), (0.9, 2.0, 0.96), (0.99, 3.0, 0.0), (0.999, 8.59, 0.93), (1.0, 6.98, 0.96)];
        assert_eq!(names(&result(Metric::lower(Unit::Seconds, "wake-up"), &old)), ["p50", "max"]);
        let sound = [(0.5, 1.0, 0.96), (0.99, 3.0, 0.92), (0.999, 4.0, 0.92), (1.0, 6.98, 0.89)];
        assert_eq!(names(&result(Metric::lower(Unit::Seconds, "wake-up"), &sound)), ["p50", "p99", "p99.9"]);
    }

    #[test]
    fn what_another_tool_states_is_no_median_over_samples() {
        let mut run: Run = serde_json::from_str(
            r#"{"schema":1,"id":"r","machine":{"name":"m"},"session":{"started":"2026-11-21T00:00:00Z"},
            "plan":{"suite":"quick","seed":1,"level":0.95,"target":0.02,"checkpoints":[10],"batches":20,"batch_nanos":1000000,"band":0.02,"entries":[]},"results":[]}"#,
        )
        .unwrap();
        run.results = vec![result(Metric::lower(Unit::Seconds, "wake-up"), &[(0.5, 1.0, 0.96), (1.0, 2.0, 0.96)])];
        assert!(tails(&run).unwrap().title.ends_with(", medians over samples"));
        run.origin = Some(model::Origin { tool: "fio".to_owned(), ..model::Origin::default() });
        assert!(tails(&run).unwrap().title.ends_with("from the source, medians over samples"));
        run.results[0].quantiles.iter_mut().for_each(|one| one.estimate.samples = 1);
        assert!(tails(&run).unwrap().title.ends_with("operations, from the source"));
    }

    #[test]
    fn the_tail_of_a_rate_is_its_slow_end() {
        let metric = || Metric::higher(Unit::PerSecond, "files");
        let fast = [(0.5, 10.0, 0.96), (0.99, 20.0, 0.96), (1.0, 30.0, 0.96)];
        assert_eq!(names(&result(metric(), &fast)), ["p50"]);
        let slow = [(0.0, 1.0, 0.96), (0.001, 2.0, 0.96), (0.01, 3.0, 0.96), (0.1, 5.0, 0.96), (0.5, 10.0, 0.96)];
        assert_eq!(names(&result(metric(), &slow)), ["p50", "p1", "p0.1", "min"]);
    }
}
