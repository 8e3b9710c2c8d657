//! The tables of an evaluation with their printed cells: its folder describes them, the catalogue completes the sets of
//! parameters.

mod comparable;

use std::path::Path;

pub(crate) use self::comparable::published;
use anyhow::{Context, Result, bail, ensure};
use import::published::{
    DifferenceDescription, PrintedUnitName, PublishedEvaluation, PublishedTable, SuiteCell, SuiteChart, SuiteColumn,
    SuiteDescription, SuiteResult, SuiteRows, SuiteSort, SuiteTable,
};
use model::{Definition, Parameters, PlanEntry, ResultKey, glob};
use report::view::{EvaluationChart, EvaluationColumn, EvaluationTable, EvaluationView, PrintedUnit, Slot, TableSort};

/// The tables of the evaluation that a suite continues; `None` for other suites.
///
/// # Errors
/// When a file of the evaluation is damaged.
pub(crate) fn of_suite(suite: &str) -> Result<Option<EvaluationView>> {
    for evaluation in PublishedEvaluation::all()? {
        if let Some(described) = evaluation.description.suites.iter().find(|described| described.name == suite) {
            return Ok(Some(filled(described, &evaluation)?));
        }
    }
    // The suite of a run of a user's own evaluation is its folder.
    if Path::new(suite).is_absolute() && Path::new(suite).is_dir() {
        return of_folder(Path::new(suite)).map(Some);
    }
    Ok(None)
}

/// The tables of an evaluation that the user named: a suite, or a folder.
///
/// # Errors
/// When there is no such evaluation; the text lists the existing ones.
pub(crate) fn named(name: &str) -> Result<EvaluationView> {
    if let Some(found) = of_suite(name)? {
        return Ok(found);
    }
    if Path::new(name).is_dir() {
        return of_folder(Path::new(name));
    }
    let all = PublishedEvaluation::all()?;
    let suites = all.iter().flat_map(|one| &one.description.suites);
    let mut known: Vec<&str> = suites.map(|suite| suite.name.as_str()).collect();
    known.sort_unstable();
    bail!("no evaluation is named {name}; there are {}, and any folder with an evaluation.toml", known.join(", "))
}

/// The tables of a user's own folder, all its suites together.
///
/// # Errors
/// When the folder holds no usable evaluation.
pub(crate) fn of_folder(folder: &Path) -> Result<EvaluationView> {
    let evaluation = PublishedEvaluation::open(folder).with_context(|| format!("{}", folder.display()))?;
    let suites = &evaluation.description.suites;
    ensure!(!suites.is_empty(), "{}: evaluation.toml has no [[suite]], so nothing can be measured", folder.display());
    let mut whole = filled(&suites[0], &evaluation)?;
    for suite in &suites[1..] {
        let more = filled(suite, &evaluation)?;
        whole.tables.extend(more.tables);
        whole.definitions.extend(more.definitions);
        whole.charts.extend(more.charts);
    }
    Ok(whole)
}

/// Results to measure for the tables of an evaluation.
///
/// # Errors
/// When a result is not in the catalogue.
pub(crate) fn entries(evaluation: &EvaluationView, target: f64) -> Result<Vec<PlanEntry>> {
    let key = |slot: &Slot| match slot {
        Slot::Result(key, _) | Slot::Interval(key, _) => Some(key.to_string()),
        _ => None,
    };
    let wanted = report::words::distinct(slots(&evaluation.tables).filter_map(key));
    ensure!(!wanted.is_empty(), "the tables of the evaluation hold no result that can be measured");
    Ok(measure::select(None, &wanted, target)?)
}

/// The cells of tables.
fn slots(tables: &[EvaluationTable]) -> impl Iterator<Item = &Slot> {
    tables.iter().flat_map(|table| table.rows.iter().chain(&table.today)).flatten()
}

fn filled(suite: &SuiteDescription, evaluation: &PublishedEvaluation) -> Result<EvaluationView> {
    let tables = suite.tables.iter().map(|table| table_of(table, evaluation));
    let tables = tables.collect::<Result<Vec<_>>>().with_context(|| format!("suite {}", suite.name))?;
    let attribution = evaluation.description.attribution.clone();
    let definitions = definitions(&tables, evaluation)?;
    let charts = suite.charts.iter().map(|chart| drawn(chart, suite)).collect::<Result<_>>()?;
    Ok(EvaluationView { title: suite.title.clone(), attribution, tables, definitions, charts })
}

fn drawn(chart: &SuiteChart, suite: &SuiteDescription) -> Result<EvaluationChart> {
    ensure!(
        suite.tables.iter().any(|table| table.title == chart.below),
        "chart '{}': there is no table '{}' to place it below",
        chart.title,
        chart.below
    );
    let SuiteChart { title, result, parameter, below } = chart.clone();
    Ok(EvaluationChart { title, benchmark: result, parameter, below })
}

/// An evaluation's own statement on a result's definition.
fn stated(differs: &[(DifferenceDescription, Parameters)], key: &ResultKey) -> Definition {
    let concerns = |(one, parameters): &&(DifferenceDescription, Parameters)| {
        glob(&one.id, &key.benchmark)
            && parameters.iter().all(|(parameter, value)| key.parameters.get(parameter) == Some(value))
    };
    differs.iter().find(concerns).map_or(Definition::Same, |(one, _)| Definition::Other(one.says.clone()))
}

/// Results of the tables whose definition differs from that of the evaluation, as the catalogue or the evaluation says.
fn definitions(tables: &[EvaluationTable], evaluation: &PublishedEvaluation) -> Result<Vec<(ResultKey, Definition)>> {
    let read = |one: &DifferenceDescription| {
        let parameters = one
            .parameters
            .parse()
            .with_context(|| format!("{}: '{}' is not a set of parameters", one.id, one.parameters))?;
        Ok((one.clone(), parameters))
    };
    let differs = evaluation.description.differs.iter().map(read).collect::<Result<Vec<_>>>()?;
    let source = evaluation.description.source.as_str();
    let mut found: Vec<(ResultKey, Definition)> = Vec::new();
    for slot in slots(tables) {
        let Slot::Result(key, _) = slot else { continue };
        let catalogued =
            benchmarks::describe(&key.benchmark).map(|benchmark| benchmark.definition(source, &key.parameters));
        let told = catalogued.filter(|told| !told.is_same()).unwrap_or_else(|| stated(&differs, key));
        if !told.is_same() && found.iter().all(|(known, _)| known != key) {
            found.push((key.clone(), told));
        }
    }
    Ok(found)
}

fn table_of(table: &SuiteTable, evaluation: &PublishedEvaluation) -> Result<EvaluationTable> {
    let missing = |name: &str| format!("table '{}': there is no table {name}", table.title);
    let source = match &table.source {
        None => None,
        Some(name) => Some(evaluation.table(name).with_context(|| missing(name))?),
    };
    if let Some(source) = source {
        for name in table.columns.iter().filter_map(|column| column.source.as_ref()) {
            ensure!(source.columns.contains(name), "table '{}': its source has no column {name}", table.title);
        }
    }
    let (rows, today) = match &table.rows {
        SuiteRows::Machines(keys) => {
            let today = keys.iter().map(|key| table.columns.iter().map(|column| ours(column, key)).collect());
            (machines(table, source), today.collect::<Result<_>>()?)
        }
        SuiteRows::Tests(columns) => {
            let key = |source: &PublishedTable, row: usize| {
                let cells: Vec<&str> = columns.iter().filter_map(|column| source.cell(row, column)).collect();
                cells.join(" ")
            };
            let rows = source.into_iter().flat_map(|source| (0..source.rows.len()).map(move |row| (source, row)));
            let rows = rows.map(|(from, row)| test(table, source, row, &key(from, row)));
            (rows.collect::<Result<_>>()?, Vec::new())
        }
        SuiteRows::Given(keys) => {
            (keys.iter().map(|key| test(table, None, 0, key)).collect::<Result<_>>()?, Vec::new())
        }
    };
    let sort = table.sort.as_ref().map(|sort| sorted(sort, table, source, rows.len())).transpose()?;
    let column = |column: &SuiteColumn| EvaluationColumn { heading: column.heading.clone(), numbers: !column.words };
    Ok(EvaluationTable {
        title: table.title.clone(),
        note: table.note.clone(),
        columns: table.columns.iter().map(column).collect(),
        rows,
        today,
        sort,
    })
}

/// The column by which a table is sorted, and the number of its sorted rows.
fn sorted(sort: &SuiteSort, table: &SuiteTable, source: Option<&PublishedTable>, rows: usize) -> Result<TableSort> {
    let at = table.columns.iter().position(|column| column.heading == sort.by);
    let column = at.with_context(|| format!("table '{}': no column is headed {}", table.title, sort.by))?;
    let held = |source: &PublishedTable, row: usize| {
        sort.while_rows.iter().all(|(column, value)| source.cell(row, column) == Some(value.as_str()))
    };
    let rows = source.map_or(rows, |source| (0..rows).take_while(|row| held(source, *row)).count());
    Ok(TableSort { column, descending: sort.descending, rows })
}

/// The printed rows of a table whose rows are machines.
fn machines(table: &SuiteTable, source: Option<&PublishedTable>) -> Vec<Vec<Slot>> {
    let Some(source) = source else { return Vec::new() };
    let row = |row: usize| table.columns.iter().map(|column| theirs(column, source, row)).collect();
    (0..source.rows.len()).map(row).collect()
}

/// A row with the printed cells of its source, whose other cells are from the run.
fn test(table: &SuiteTable, source: Option<&PublishedTable>, row: usize, key: &str) -> Result<Vec<Slot>> {
    let slot = |column: &SuiteColumn| match source {
        Some(source) if column.source.is_some() => Ok(theirs(column, source, row)),
        _ => ours(column, key),
    };
    table.columns.iter().map(slot).collect()
}

fn theirs(column: &SuiteColumn, source: &PublishedTable, row: usize) -> Slot {
    let name = column.source.as_deref().unwrap_or_default();
    let text = source.cell(row, name).unwrap_or_default().to_owned();
    if column.words { Slot::Words(text) } else { Slot::Printed(text) }
}

/// The value of the run in a column; `{}` in a set of parameters is replaced by the key of the row.
fn ours(column: &SuiteColumn, key: &str) -> Result<Slot> {
    let keyed = column.by_key.iter().find(|cell| glob(&cell.key, key));
    Ok(match keyed.map_or(&column.today, |cell| &cell.today) {
        SuiteCell::Empty => Slot::Words(String::new()),
        SuiteCell::Machine => Slot::Machine,
        SuiteCell::Fact(name) => Slot::Fact(name.clone()),
        SuiteCell::Number { fact, scale } => Slot::Number(fact.clone(), *scale),
        SuiteCell::Key if column.words => Slot::Words(key.to_owned()),
        SuiteCell::Key => Slot::Printed(key.to_owned()),
        SuiteCell::Words(words) => Slot::Words(words.clone()),
        SuiteCell::Absent(reason) => Slot::Absent(reason.clone()),
        SuiteCell::Result(result) => Slot::Result(self::key(result, key)?, unit(result)?),
        SuiteCell::Interval(result) => Slot::Interval(self::key(result, key)?, unit(result)?),
    })
}

fn unit(result: &SuiteResult) -> Result<PrintedUnit> {
    let unit = PrintedUnitName::named(&result.unit).with_context(|| {
        let known: Vec<&str> = import::published::UNITS.iter().map(|unit| unit.name).collect();
        format!("{} names the unit '{}', and known are {}", result.id, result.unit, known.join(", "))
    })?;
    Ok(PrintedUnit::new(unit.name, unit.unit, unit.scale))
}

/// The result of a benchmark at a set of parameters, completed with default values as in suites.
fn key(result: &SuiteResult, key: &str) -> Result<ResultKey> {
    let parameters = result.parameters.replace("{}", key);
    let part: Parameters =
        parameters.parse().with_context(|| format!("{}: '{parameters}' is not a set of parameters", result.id))?;
    // Blocks of 1024 KiB equal those of 1 MiB.
    let size = |value: &str| model::parse_size(value).ok().filter(|_| value.ends_with('B')).map(model::format_size);
    let part = part.iter().fold(Parameters::none(), |parameters, (parameter, value)| {
        parameters.with(parameter, size(value).unwrap_or_else(|| value.to_owned()))
    });
    // Applications and their sessions are no benchmarks: their sets of parameters are as stated.
    if result.id.starts_with("application.") {
        return Ok(ResultKey::new(&*result.id, part));
    }
    let benchmark = benchmarks::find(&result.id).with_context(|| format!("no benchmark is called {}", result.id))?;
    let complete = benchmark.complete(&part).ok().and_then(|points| points.into_iter().next());
    Ok(ResultKey::new(&*result.id, complete.unwrap_or(part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suites() -> Vec<(String, EvaluationView)> {
        let all = PublishedEvaluation::all().unwrap();
        let suites = all.iter().flat_map(|one| &one.description.suites);
        suites.map(|suite| (suite.name.clone(), of_suite(&suite.name).unwrap().unwrap())).collect()
    }

    #[test]
    fn a_suite_measures_what_its_tables_show_and_nothing_else() {
        assert_eq!(suites().len(), 7);
        // The suite of applications and sessions is not of the catalogue.
        for (name, evaluation) in suites().into_iter().filter(|(name, _)| name != crate::cmd::app::ams::SUITE) {
            let shown: Vec<ResultKey> = entries(&evaluation, 0.02)
                .unwrap()
                .into_iter()
                .map(|entry| ResultKey::new(entry.benchmark, entry.parameters))
                .collect();
            let suite = benchmarks::suite(&name).unwrap_or_else(|| panic!("{name} is no suite"));
            let measured: Vec<ResultKey> =
                suite.selections().into_iter().map(|one| ResultKey::new(one.benchmark.id, one.parameters)).collect();
            for key in &shown {
                assert!(measured.contains(key), "suite {name} does not measure {key}");
            }
            for key in &measured {
                assert!(shown.contains(key), "no table of {name} shows {key}");
            }
        }
    }

    #[test]
    fn printed_rows_are_in_the_order_that_their_table_claims() {
        for (_, evaluation) in suites() {
            for table in evaluation.tables {
                let Some(sort) = table.sort else { continue };
                let of = |row: &Vec<Slot>| match &row[sort.column] {
                    Slot::Printed(text) => text.parse::<f64>().ok(),
                    other => panic!("{}: {other:?}", table.title),
                };
                let values: Vec<f64> = table.rows[..sort.rows].iter().filter_map(of).collect();
                let ordered = |pair: &[f64]| if sort.descending { pair[0] >= pair[1] } else { pair[0] <= pair[1] };
                assert!(values.windows(2).all(ordered), "{}: {values:?}", table.title);
            }
        }
    }

    #[test]
    fn every_printed_column_of_a_source_is_shown() {
        for evaluation in PublishedEvaluation::all().unwrap() {
            for table in evaluation.description.suites.iter().flat_map(|suite| &suite.tables) {
                let Some(source) = table.source.as_ref().and_then(|name| evaluation.table(name)) else { continue };
                let shown: Vec<&str> = table.columns.iter().filter_map(|column| column.source.as_deref()).collect();
                assert_eq!(shown, source.columns, "{}", table.title);
            }
        }
    }
}
