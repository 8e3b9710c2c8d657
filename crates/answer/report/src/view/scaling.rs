//! Results over threads: curves with their ideal, and the table of where each has its knee.

use decide::scaling::{ScalingCurve, ThreadSpread};
use model::{Run, Unit, percent};

use crate::words::parameters_words;
use crate::{
    Block, Cell, Chart, ChartAxis, ChartPlot, Column, Curves, Division, DocumentSection, PrintedQuantity, Series,
    Table, TableRow,
};

/// The section of a run; none where nothing was measured on several numbers of threads.
pub(crate) fn section(run: &Run) -> Option<DocumentSection> {
    // Two sets of parameters, such as one thread and all, make a line that says nothing of its way.
    let curves: Vec<ScalingCurve> = decide::scaling(run)
        .into_iter()
        .filter(|curve| run.plan.suite == "scaling" || curve.points.len() > 2)
        .collect();
    if curves.is_empty() {
        return None;
    }
    let mut blocks = vec![Block::Table(table(&curves))];
    let mut benchmarks: Vec<&str> = curves.iter().map(|curve| curve.benchmark.as_str()).collect();
    benchmarks.dedup();
    blocks.extend(benchmarks.into_iter().filter_map(|benchmark| chart(run, &curves, benchmark)).map(Block::Chart));
    Some(DocumentSection { title: "Scaling over threads".to_owned(), blocks })
}

fn name(curve: &ScalingCurve) -> String {
    let mut words = vec![curve.title.clone()];
    words.extend(Some(parameters_words(&curve.parameters)).filter(|words| !words.is_empty()));
    words.push(match curve.spread {
        ThreadSpread::Compact => "close together".to_owned(),
        ThreadSpread::Scatter => "far apart".to_owned(),
    });
    words.join(", ")
}

fn table(curves: &[ScalingCurve]) -> Table {
    let columns = Column::list("|#threads|#share of ideal|#clock|knee|~what limits");
    let row = |curve: &ScalingCurve| {
        let last = curve.points.last();
        let knee = curve.knee.map_or_else(|| "none".to_owned(), |knee| format!("beyond {knee} threads"));
        TableRow::of(vec![
            Cell::text(name(curve)),
            last.map_or(Cell::Empty, |parameters| Cell::Count(parameters.threads as u64)),
            last.map_or(Cell::Empty, |parameters| Cell::Printed(percent(parameters.share))),
            curve.clock_ratio().map_or(Cell::Empty, |ratio| Cell::Printed(percent(ratio))),
            Cell::text(knee),
            Cell::text(curve.limits.iter().map(|limit| limit.about()).collect::<Vec<_>>().join("; or ")),
        ])
    };
    Table::plain(columns, curves.iter().map(row).collect())
}

fn chart(run: &Run, curves: &[ScalingCurve], benchmark: &str) -> Option<Chart> {
    let of: Vec<&ScalingCurve> = curves.iter().filter(|curve| curve.benchmark == benchmark).collect();
    let first = run.results.iter().find(|result| result.benchmark == benchmark)?;
    let unit = first.metric.unit;
    let series = |(colour, curve): (usize, &&ScalingCurve)| {
        let parameters = |parameters: &decide::scaling::ScalingPoint| {
            let estimate = run.result(&parameters.key)?.outcome.estimate()?;
            Some((parameters.threads as f64, PrintedQuantity::of(estimate, unit).in_metric(&first.metric)))
        };
        Series { name: name(curve), colour, variant: 0, points: curve.points.iter().filter_map(parameters).collect() }
    };
    let mut all: Vec<Series> = of.iter().enumerate().map(series).collect();
    let most = of.iter().filter_map(|curve| curve.points.last()).map(|parameters| parameters.threads).max()?;
    let alone = of.first()?.points.first()?.value;
    let ideal = [1, most].map(|threads| (threads as f64, PrintedQuantity::bare(alone * threads as f64, unit)));
    all.push(Series { name: "ideal".to_owned(), colour: of.len(), variant: 1, points: ideal.into() });
    let x = ChartAxis::new("threads", Unit::Count, Division::Octaves);
    let y = ChartAxis { title: format!("{} a second", first.metric.per), unit, division: Division::Decades };
    let about = "All threads together, both parameters logarithmic; ideal is so many times one thread.".to_owned();
    let plot = ChartPlot::Curves(Curves { x, y, series: all, marks: Vec::new() });
    Some(Chart { title: first.title.clone(), about, plot })
}

#[cfg(test)]
mod tests {
    use model::{BenchmarkResult, Class, Estimate, EstimateMethod, Metric, Outcome, Primitive, ResultKey};

    use super::*;

    #[test]
    fn a_curve_is_a_row_with_its_knee_and_a_chart_with_its_ideal() {
        let mut run = model::parse_run(
            r#"{"schema":1,"id":"r","machine":{"name":"m"},"session":{"started":"2026-11-21T00:00:00Z"},
            "plan":{"suite":"scaling","seed":1,"level":0.95,"target":0.02,"checkpoints":[10],"batches":20,"batch_nanos":1000000,"band":0.02,"entries":[]},"results":[]}"#,
        )
        .unwrap();
        assert!(section(&run).is_none(), "nothing was measured");
        let result = |(threads, value): (&str, f64)| {
            let parameters = format!("working_set=256MiB,threads={threads}").parse().unwrap();
            let metric = Metric::higher(Unit::BytesPerSecond, "bytes read");
            let key = ResultKey::new("memory.read", parameters);
            let mut result =
                BenchmarkResult::unmeasured(key, "read", metric, Class::Bandwidth).stressing(&[Primitive::DramRead]);
            let method = EstimateMethod::OrderStatistic;
            let (low, high, level) = (value * 0.99, value * 1.01, 0.95);
            result.outcome = Outcome::Measured(Estimate { value, low, high, level, samples: 14, batches: 280, method });
            result
        };
        run.results = [("1", 10e9), ("2", 20e9), ("4", 24e9)].map(result).into();
        let section = section(&run).unwrap();
        let Block::Table(table) = &section.blocks[0] else { panic!("a table first") };
        let words: Vec<String> = table.groups[0].rows[0].cells.iter().map(|cell| format!("{cell:?}")).collect();
        for (cell, word) in
            words.iter().zip(["read, close together", "4", "60%", "Empty", "beyond 2 threads", "memory bandwidth"])
        {
            assert!(cell.contains(word), "{word}: {words:?}");
        }
        let Block::Chart(chart) = &section.blocks[1] else { panic!("a chart second") };
        let ChartPlot::Curves(curves) = &chart.plot else { panic!("of curves") };
        assert_eq!(curves.series.len(), 2, "one curve and its ideal");
        assert!((curves.series[1].points[1].1.value - 40e9).abs() < 1.0);
    }
}
