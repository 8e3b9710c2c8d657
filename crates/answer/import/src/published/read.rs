//! Makes machines of tables, by their description.

use std::collections::HashMap;

use model::{Definition, Parameters, format_size, parse_size};

use super::description::{
    EvaluationDescription, FactDescription, MachineDescription, ResultDescription, TableDescription,
};
use super::machines::{Machines, PublishedMachine};
use super::table::{PublishedRow, PublishedTable};
use super::template::Cells;
use super::unit::{PrintedUnitName, UNITS};
use crate::Error;
use crate::sheet::{SourceReading, SourceSpread};

/// Every machine of an evaluation, with the data of its tables.
pub(super) fn machines(
    description: &EvaluationDescription,
    tables: &[PublishedTable],
) -> Result<Vec<PublishedMachine>, Error> {
    let mut reader = Reader { known: &description.machines, machines: Machines::default() };
    for machine in &description.machines {
        let entry = reader.machines.of(&machine.label);
        entry.sheet.summary.clone_from(&machine.summary);
        machine.notes.iter().for_each(|note| entry.note(note));
    }
    for (described, table) in description.tables.iter().zip(tables) {
        let rows = described.results.iter().map(|result| ResultRows::of(described, result, table)).collect();
        reader.table(&DescribedTable { described, table, rows })?;
    }
    for machine in &description.machines {
        let entry = reader.machines.of(&machine.label);
        for fact in &machine.facts {
            add(entry, fact, &fact.name, &fact.value, fact.unit.clone());
        }
    }
    let mut entries = reader.machines.entries;
    entries.retain(|entry| !entry.sheet.readings.is_empty() || !entry.sheet.facts.is_empty());
    Ok(entries)
}

struct Reader<'a> {
    known: &'a [MachineDescription],
    machines: Machines,
}

/// A table with its description.
struct DescribedTable<'a> {
    described: &'a TableDescription,
    table: &'a PublishedTable,
    /// Of each result of the description, in its order.
    rows: Vec<ResultRows>,
}

/// What all rows of a table say of a result: asked once, since a table may have many thousand rows.
struct ResultRows {
    /// Rows of each machine, where their number matters.
    of_machines: HashMap<String, usize>,
    /// The upper end of its range.
    upper_end: Option<f64>,
}

impl ResultRows {
    fn of(described: &TableDescription, result: &ResultDescription, table: &PublishedTable) -> Self {
        let mut of_machines = HashMap::new();
        let rows = table.rows().filter(|_| !result.parameters_if_repeated.is_empty());
        for machine in rows.filter_map(|row| machine_with(described, result, row)) {
            *of_machines.entry(machine).or_default() += 1;
        }
        Self { of_machines, upper_end: upper_end(result, table) }
    }
}

impl Reader<'_> {
    fn table(&mut self, of: &DescribedTable<'_>) -> Result<(), Error> {
        for row in of.table.rows() {
            if of.described.machine_columns.is_empty() {
                let cells = Cells { row, value: "" };
                let named = named(of.described, cells);
                self.row(of, cells, named.as_ref().map(|(label, _)| label.as_str()))?;
                if let Some((label, summary)) = named.filter(|(_, summary)| !summary.is_empty()) {
                    let entry = self.machine(&label);
                    if entry.sheet.summary.is_empty() {
                        entry.sheet.summary = summary;
                    }
                }
            }
            for (label, column) in &of.described.machine_columns {
                self.row(of, Cells { row, value: row.text(column) }, Some(label))?;
            }
        }
        Ok(())
    }

    /// The machine with this printed name.
    fn machine(&mut self, printed: &str) -> &mut PublishedMachine {
        let known = self.known.iter().find(|machine| machine.printed.iter().any(|name| name == printed));
        self.machines.of(known.map_or(printed, |machine| machine.label.as_str()))
    }

    fn row(&mut self, of: &DescribedTable<'_>, cells: Cells<'_>, named: Option<&str>) -> Result<(), Error> {
        for fact in of.described.facts.iter().filter(|fact| cells.fits(&fact.when)) {
            let Some(machine) = fact.machine.as_deref().or(named) else { continue };
            let unit = fact.unit.as_ref().map(|unit| cells.fill(unit));
            add(self.machine(&cells.fill(machine)), fact, &cells.fill(&fact.name), &cells.fill(&fact.value), unit);
        }
        let results = of.described.results.iter().zip(&of.rows);
        for (result, rows) in results.filter(|(result, _)| cells.fits(&result.when)) {
            let Some(machine) = result.machine.as_deref().or(named) else { continue };
            let label = cells.fill(machine);
            let repeated = rows.of_machines.get(&label).is_some_and(|rows| *rows > 1);
            if let Some(reading) = reading(result, rows.upper_end, cells, repeated)? {
                self.machine(&label).add(reading);
            }
        }
        Ok(())
    }
}

/// The machine of a row that has a result.
fn machine_with(described: &TableDescription, result: &ResultDescription, row: PublishedRow<'_>) -> Option<String> {
    let cells = Cells { row, value: "" };
    row.number(result.column.as_deref()?).filter(|_| cells.fits(&result.when))?;
    named(described, cells).map(|(name, _)| name)
}

/// Name and summary of a row's machine, by the first rule that matches.
fn named(described: &TableDescription, cells: Cells<'_>) -> Option<(String, String)> {
    let rule = described.machine.iter().find(|rule| cells.fits(&rule.when))?;
    Some((cells.fill(&rule.label), cells.fill(&rule.summary)))
}

fn add(entry: &mut PublishedMachine, fact: &FactDescription, name: &str, value: &str, unit: Option<String>) {
    match unit {
        None => entry.says(name, value, &fact.source, &fact.affects),
        Some(unit) => {
            if let Ok(number) = value.parse::<f64>() {
                entry.counts(name, number * fact.scale, &unit, &fact.source, &fact.affects);
            }
        }
    }
}

/// The result of a row; `None` where its cell is empty.
fn reading(
    result: &ResultDescription,
    upper_end: Option<f64>,
    cells: Cells<'_>,
    repeated: bool,
) -> Result<Option<SourceReading>, Error> {
    let text = result.column.as_deref().map_or(cells.value, |column| cells.row.text(column));
    let Ok(value) = text.parse::<f64>() else { return Ok(None) };
    let unit = PrintedUnitName::named(&result.unit).ok_or_else(|| Error::EvaluationUnit {
        unit: result.unit.clone(),
        known: UNITS.iter().map(|unit| unit.name).collect::<Vec<_>>().join(", "),
    })?;
    // Division by a whole number rounds once, multiplication by its inverse twice.
    let base = |value: f64| if unit.scale < 1.0 { value / (1.0 / unit.scale) } else { value * unit.scale };
    let scaled = |value: f64| base(value) / result.divide;
    let title = result.title.as_ref().or(result.column.as_ref()).map_or_else(String::new, |title| cells.fill(title));
    let metric = unit.metric(result.per.as_deref(), result.better);
    let mut reading = SourceReading::new(cells.fill(&result.id), title, scaled(value), metric).printed(text);
    if let Some(high) = upper_end {
        reading.value = scaled((value + high) / 2.0);
        reading = reading.spread(SourceSpread::Range(scaled(value), scaled(high)));
    }
    reading.parameters = parameters(&cells.fill(&result.parameters));
    if repeated {
        for (parameter, value) in parameters(&cells.fill(&result.parameters_if_repeated)).iter() {
            reading.parameters = reading.parameters.with(parameter, value);
        }
    }
    reading.definition = match (&result.near, &result.other) {
        (_, Some(text)) => Some(Definition::Other(cells.fill(text))),
        (Some(text), None) => Some(Definition::Near(cells.fill(text))),
        (None, None) => None,
    };
    reading.stresses.clone_from(&result.stresses);
    reading.notes = result.notes.iter().map(|note| cells.fill(note)).collect();
    Ok(Some(reading))
}

fn upper_end(result: &ResultDescription, table: &PublishedTable) -> Option<f64> {
    if result.up_to.is_empty() {
        return None;
    }
    let row = table.rows().find(|row| Cells { row: *row, value: "" }.fits(&result.up_to))?;
    row.number(result.column.as_deref()?)
}

/// A set of parameters in which 1024 KiB become 1 MiB.
fn parameters(text: &str) -> Parameters {
    let size = |value: &str| parse_size(value).ok().filter(|_| value.ends_with("iB")).map(format_size);
    let given: Parameters = text.parse().unwrap_or_default();
    given.iter().fold(Parameters::none(), |parameters, (parameter, value)| {
        parameters.with(parameter, size(value).unwrap_or_else(|| value.to_owned()))
    })
}
