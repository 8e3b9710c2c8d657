//! Results between NUMA nodes, and between cores, as matrices.

use std::collections::HashSet;

use model::{ANY_CROSSING, BenchmarkResult, CROSSINGS, Parameters, ResultKey, Run};

use crate::words::{grouped, parameter_value};
use crate::{Block, Cell, Column, DocumentSection, HeatMap, PrintedQuantity, Table, TableRow};

/// Rows of a matrix from which its results are no rows of the table of results: a page of them says less.
const MANY: usize = 9;

/// What makes a matrix.
struct MatrixAxes {
    title: &'static str,
    down: &'static str,
    across: &'static str,
    /// What the rows and the columns are, before their numbers.
    names: (&'static str, &'static str),
    about: &'static str,
    /// Whether a pair is the same in both directions.
    symmetric: bool,
}

const NODES: MatrixAxes = MatrixAxes {
    title: "Memory of every node from every node",
    down: "cpu_node",
    across: "memory_node",
    names: ("from node ", "node "),
    about: "CPUs of the node of the row, memory of the node of the column.",
    symmetric: false,
};
const CORES: MatrixAxes = MatrixAxes {
    title: "Between every two cores",
    down: "cpu",
    across: "other",
    names: ("", ""),
    about: "one CPU of each core, by its number.",
    symmetric: true,
};

/// One section for each kind of matrix that the runs have.
pub(crate) fn sections(runs: &[&Run], names: &[String]) -> Vec<DocumentSection> {
    let section = |parameters: &MatrixAxes| {
        let mut blocks = Vec::new();
        for (run, name) in runs.iter().zip(names) {
            for (members, heat) in matrices(&run.results, parameters) {
                let about = if runs.len() > 1 { format!("{name}: {}", heat.about) } else { heat.about.clone() };
                blocks.push(Block::Heat(HeatMap { about, ..heat }));
                blocks.extend(parameters.symmetric.then(|| by_relation(&members)).flatten().map(Block::Table));
            }
        }
        (!blocks.is_empty()).then(|| DocumentSection { title: parameters.title.to_owned(), blocks })
    };
    [NODES, CORES].iter().filter_map(section).collect()
}

/// Measured results of large matrices, which need no row of their own elsewhere.
pub(crate) fn keys(run: &Run) -> HashSet<ResultKey> {
    let large = [NODES, CORES]
        .into_iter()
        .flat_map(|parameters| matrices(&run.results, &parameters))
        .filter(|(_, heat)| heat.rows.len() >= MANY);
    large
        .flat_map(|(members, _)| members)
        .filter(|result| result.outcome.estimate().is_some())
        .map(BenchmarkResult::key)
        .collect()
}

fn number(result: &BenchmarkResult, parameter: &str) -> Option<usize> {
    result.parameters.get(parameter)?.parse().ok()
}

/// The parameters of a result without what differs within a matrix.
fn rest(result: &BenchmarkResult, parameters: &MatrixAxes) -> Parameters {
    result.parameters.clone().without(parameters.down).without(parameters.across).without("relation")
}

/// The matrices of some results with their members: one for each benchmark and each set of parameters of its other
/// parameters.
fn matrices<'a>(results: &'a [BenchmarkResult], parameters: &MatrixAxes) -> Vec<(Vec<&'a BenchmarkResult>, HeatMap)> {
    let is_in = |result: &&BenchmarkResult| {
        number(result, parameters.down).is_some() && number(result, parameters.across).is_some()
    };
    let members = results.iter().filter(is_in);
    let mut kinds = grouped(members.map(|result| ((result.benchmark.as_str(), rest(result, parameters)), result)));
    kinds.retain(|(_, members)| members.iter().any(|result| result.outcome.estimate().is_some()));
    kinds.into_iter().map(|(_, members)| (members.clone(), matrix(&members, parameters))).collect()
}

fn matrix(members: &[&BenchmarkResult], parameters: &MatrixAxes) -> HeatMap {
    let numbers = |of: &[&str]| {
        let all = members.iter().flat_map(|result| of.iter().filter_map(|parameter| number(result, parameter)));
        let mut numbers: Vec<usize> = all.collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    };
    let (down, across) = if parameters.symmetric {
        let both = numbers(&[parameters.down, parameters.across]);
        (both.clone(), both)
    } else {
        (numbers(&[parameters.down]), numbers(&[parameters.across]))
    };
    let mut cells: Vec<Vec<Option<PrintedQuantity>>> = vec![vec![None; across.len()]; down.len()];
    for result in members {
        let place = |list: &[usize], parameter: &str| list.binary_search(&number(result, parameter)?).ok();
        let (Some(row), Some(column)) = (place(&down, parameters.down), place(&across, parameters.across)) else {
            continue;
        };
        let quantity = result
            .outcome
            .estimate()
            .map(|estimate| PrintedQuantity::of(estimate, result.metric.unit).in_metric(&result.metric));
        cells[row][column] = quantity;
        if parameters.symmetric {
            cells[column][row] = quantity;
        }
    }
    let words: Vec<String> =
        rest(members[0], parameters).iter().map(|(parameter, value)| parameter_value(parameter, value)).collect();
    let words = if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) };
    HeatMap {
        about: format!("{}{words}: {}", members[0].title, parameters.about),
        down: String::new(),
        columns: across.iter().map(|number| format!("{}{number}", parameters.names.1)).collect(),
        rows: down.iter().map(|number| format!("{}{number}", parameters.names.0)).zip(cells).collect(),
        better: members[0].metric.better,
    }
}

/// Pairs of cores by how they stand to each other: how many, their median, the nearest and the farthest.
fn by_relation(members: &[&BenchmarkResult]) -> Option<Table> {
    let unit = members.first()?.metric.unit;
    let row = |relation: &&str| {
        let of = members.iter().filter(|result| result.parameters.get("relation") == Some(relation));
        let mut values: Vec<f64> = of.filter_map(|result| Some(result.outcome.estimate()?.value)).collect();
        values.sort_by(f64::total_cmp);
        let cell = |value: f64| Cell::Value(PrintedQuantity::bare(value, unit));
        let (low, high) = (*values.first()?, *values.last()?);
        let cells = vec![
            Cell::text(parameter_value("placement", relation)),
            Cell::Count(values.len() as u64),
            cell((values[(values.len() - 1) / 2] + values[values.len() / 2]) / 2.0),
            cell(low),
            cell(high),
        ];
        Some(TableRow::of(cells))
    };
    let rows: Vec<TableRow> = CROSSINGS.iter().chain(&[ANY_CROSSING]).filter_map(row).collect();
    let columns = Column::list("|#pairs|#median|#lowest|#highest");
    (!rows.is_empty()).then(|| Table::plain(columns, rows))
}

#[cfg(test)]
mod tests {
    use model::{Class, Estimate, EstimateMethod, Metric, Outcome, ResultKey, Unit};

    use super::*;

    #[test]
    fn pairs_of_nodes_make_a_matrix() {
        let result = |cpu: usize, memory: usize, value: f64| {
            let parameters = format!("cpu_node={cpu},memory_node={memory},working_set=64MiB").parse().unwrap();
            let key = ResultKey::new("memory.node_latency", parameters);
            let metric = Metric::lower(Unit::Seconds, "load");
            let mut result =
                BenchmarkResult::unmeasured(key, "load latency between nodes", metric, Class::MemoryLatency);
            let (low, high) = (value * 0.99, value * 1.01);
            let method = EstimateMethod::OrderStatistic;
            result.outcome =
                Outcome::Measured(Estimate { value, low, high, level: 0.95, samples: 14, batches: 280, method });
            result
        };
        let results = vec![result(0, 0, 80e-9), result(0, 8, 160e-9), result(8, 0, 160e-9)];
        let found: Vec<HeatMap> = matrices(&results, &NODES).into_iter().map(|(_, heat)| heat).collect();
        assert_eq!((found.len(), found[0].columns.clone()), (1, vec!["node 0".to_owned(), "node 8".to_owned()]));
        assert!(found[0].rows[1].1[1].is_none(), "what was not measured stays empty");
        assert!(found[0].shade(80e-9) < 1e-9 && (found[0].shade(160e-9) - 1.0).abs() < 1e-9);
        assert_eq!(found[0].table().groups[0].rows.len(), 2);
        assert!(matrices(&results[..0], &NODES).is_empty() && matrices(&results, &CORES).is_empty());
        let other = BenchmarkResult {
            parameters: results[0].parameters.clone().with("working_set", "1GiB"),
            ..results[0].clone()
        };
        assert_eq!(matrices(&[results[0].clone(), other], &NODES).len(), 2, "sizes are not mixed");
        let not_measured =
            BenchmarkResult { outcome: Outcome::NotMeasured("one node".to_owned()), ..results[0].clone() };
        assert!(matrices(&[not_measured], &NODES).is_empty(), "nothing to draw");
    }

    #[test]
    fn pairs_of_cores_fill_both_halves_and_are_summed_up_by_relation() {
        let results: Vec<BenchmarkResult> = (0..12)
            .flat_map(|cpu| (cpu + 1..12).map(move |other| (cpu, other)))
            .map(|(cpu, other)| {
                let near = cpu / 6 == other / 6;
                let relation = if near { "same_cache" } else { "other_package" };
                let parameters = format!("cpu={cpu},other={other},relation={relation}").parse().unwrap();
                let key = ResultKey::new("memory.core_pair", parameters);
                let metric = Metric::lower(Unit::Seconds, "hand-over");
                let mut result =
                    BenchmarkResult::unmeasured(key, "transfer between two cores", metric, Class::MemoryLatency);
                let value = if near { 50e-9 } else { 200e-9 };
                let (low, high, method) = (value, value, EstimateMethod::OrderStatistic);
                result.outcome =
                    Outcome::Measured(Estimate { value, low, high, level: 0.95, samples: 14, batches: 280, method });
                result
            })
            .collect();
        let found = matrices(&results, &CORES);
        let heat = &found[0].1;
        assert!((0..12).all(|cpu| heat.rows[cpu].1[cpu].is_none()));
        assert_eq!(heat.rows[2].1[9], heat.rows[9].1[2]);
        let drawn = heat.shaded();
        assert_eq!(drawn[1], " 0 ·░░░░░██████");
        assert!(drawn.last().unwrap().contains("50.0"), "{drawn:?}");
        let table = by_relation(&found[0].0).unwrap();
        assert_eq!(table.groups[0].rows.len(), 2);
        assert_eq!(table.groups[0].rows[0].cells[1], Cell::Count(30));
        let mut run = model::parse_run(
            r#"{"schema":1,"id":"r","machine":{"name":"m"},"session":{"started":"2026-11-21T00:00:00Z"},
            "plan":{"suite":"cores","seed":1,"level":0.95,"target":0.02,"checkpoints":[10],"batches":20,"batch_nanos":1000000,"band":0.02,"entries":[]},"results":[]}"#,
        )
        .unwrap();
        run.results = results;
        assert_eq!(keys(&run).len(), 66);
    }
}
