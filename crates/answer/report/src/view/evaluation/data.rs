//! The tables as data for programs.

use model::{Definition, ResultKey, Run};
use serde_json::{Map, Value, json};

use super::super::compare::definitions::words as definition_words;
use super::resolve::{Unread, found, machine};
use super::{EvaluationTable, EvaluationView, PrintedUnit, Slot, told};
use crate::{PrintedQuantity, Records};

/// A table with its rows in their final order.
type OrderedTable<'a> = (&'a EvaluationTable, Vec<Vec<Slot>>);

/// Every table: its columns, its order, and its rows cell by cell; numbers of the run are in the column's unit.
pub(super) fn document(evaluation: &EvaluationView, tables: &[OrderedTable<'_>], run: &Run) -> Value {
    let table = |(table, rows): &OrderedTable<'_>| {
        let columns: Vec<&str> = table.columns.iter().map(|column| column.heading.as_str()).collect();
        let sort = table.sort.map(
            |sort| json!({ "column": columns.get(sort.column), "descending": sort.descending, "rows": sort.rows }),
        );
        let rows: Vec<Vec<Value>> =
            rows.iter().map(|row| row.iter().map(|slot| cell(slot, run, &evaluation.definitions)).collect()).collect();
        json!({ "title": table.title, "note": table.note, "columns": columns, "sort": sort, "rows": rows })
    };
    json!({
        "evaluation": evaluation.title,
        "attribution": evaluation.attribution,
        "run": run.id,
        "machine": run.machine.name,
        "tables": tables.iter().map(table).collect::<Vec<_>>(),
    })
}

fn cell(slot: &Slot, run: &Run, definitions: &[(ResultKey, Definition)]) -> Value {
    match slot {
        Slot::Words(words) => json!(words),
        Slot::Machine => json!(run.machine.name),
        Slot::Fact(name) => json!(run.machine.text(name)),
        Slot::Number(name, factor) => json!(run.machine.number(name).map(|number| number / factor)),
        Slot::Printed(text) => text.parse::<serde_json::Number>().map_or(Value::Null, Value::Number),
        Slot::Result(key, unit) | Slot::Interval(key, unit) => result(key, *unit, run, told(definitions, key)),
        Slot::Absent(reason) => json!({ "reason": reason }),
    }
}

fn result(key: &ResultKey, unit: PrintedUnit, run: &Run, definition: Option<&Definition>) -> Value {
    let mut object = Map::new();
    object.insert("result".to_owned(), json!(key.to_string()));
    object.insert("unit".to_owned(), json!(unit.name));
    object.extend(definition.map(|definition| ("definition".to_owned(), json!(definition))));
    match found(run, key, unit) {
        Some(Ok(quantity)) => {
            object.insert("value".to_owned(), json!(quantity.value));
            if quantity.has_interval() {
                object.insert("low".to_owned(), json!(quantity.low));
                object.insert("high".to_owned(), json!(quantity.high));
            }
        }
        Some(Err(Unread::Below(bound))) => {
            object.insert("below".to_owned(), json!(bound.value));
        }
        Some(Err(Unread::Modes(values, _))) => {
            object.insert("modes".to_owned(), json!(values));
        }
        Some(Err(Unread::Reason(reason))) => {
            object.insert("reason".to_owned(), json!(reason));
        }
        None => {
            object.insert("reason".to_owned(), json!("this run did not measure it"));
        }
    }
    Value::Object(object)
}

/// One record for each number: table, row, column, and the value of the run.
pub(super) fn records(tables: &[OrderedTable<'_>], run: &Run, definitions: &[(ResultKey, Definition)]) -> Records {
    let header =
        vec!["table", "row", "column", "printed", "result", "unit", "value", "low", "high", "reason", "differs"];
    let mut records = Vec::new();
    for (table, rows) in tables {
        for row in rows {
            for (column, slot) in table.columns.iter().zip(row) {
                let start = [table.title.clone(), name(row, run), column.heading.clone()];
                if let Some(rest) = record(slot, run) {
                    let key = if let Slot::Result(key, _) = slot { told(definitions, key) } else { None };
                    let differs = key.and_then(definition_words).unwrap_or_default();
                    records.push(start.into_iter().chain(rest).chain([differs]).collect());
                }
            }
        }
    }
    Records { header, rows: records }
}

fn name(row: &[Slot], run: &Run) -> String {
    match row.first() {
        Some(Slot::Words(words) | Slot::Printed(words)) => words.clone(),
        Some(Slot::Machine) => machine(run),
        _ => String::new(),
    }
}

fn record(slot: &Slot, run: &Run) -> Option<[String; 7]> {
    let empty = String::new;
    match slot {
        Slot::Printed(text) => Some([text.clone(), empty(), empty(), empty(), empty(), empty(), empty()]),
        Slot::Result(key, unit) => {
            let end =
                |quantity: &PrintedQuantity, end: f64| if quantity.has_interval() { end.to_string() } else { empty() };
            let [value, low, high, reason] = match found(run, key, *unit) {
                Some(Ok(q)) => [q.value.to_string(), end(&q, q.low), end(&q, q.high), empty()],
                Some(Err(Unread::Below(bound))) => {
                    [empty(), empty(), bound.value.to_string(), "upper bound".to_owned()]
                }
                Some(Err(Unread::Modes(_, told))) => [empty(), empty(), empty(), told],
                Some(Err(Unread::Reason(reason))) => [empty(), empty(), empty(), reason],
                None => [empty(), empty(), empty(), "this run did not measure it".to_owned()],
            };
            Some([empty(), key.to_string(), unit.name.to_owned(), value, low, high, reason])
        }
        Slot::Absent(reason) => Some([empty(), empty(), empty(), empty(), empty(), empty(), reason.clone()]),
        _ => None,
    }
}
