//! Fills the cells of a table from a run.

use model::{BenchmarkResult, Definition, Estimate, Mode, Outcome, ResultKey, Run, Unit, percent};

use super::super::compare::definitions;
use super::{PrintedUnit, Slot, told};
use crate::words::{Told, modes, remarks, result_label};
use crate::{Cell, PrintedQuantity, Tone};

/// Cell without a result.
const NONE: &str = "—";

/// Reads a run cell by cell, and collects remarks for the end of the table.
pub(super) struct CellReader<'a> {
    run: &'a Run,
    definitions: &'a [(ResultKey, Definition)],
    /// A remark, and the results that it concerns.
    remarks: Vec<(String, Vec<String>)>,
}

impl<'a> CellReader<'a> {
    pub(super) const fn new(run: &'a Run, definitions: &'a [(ResultKey, Definition)]) -> Self {
        Self { run, definitions, remarks: Vec::new() }
    }

    pub(super) fn cell(&mut self, slot: &Slot) -> Cell {
        match slot {
            Slot::Words(words) => Cell::text(words),
            Slot::Machine => Cell::Text(machine(self.run), Tone::Strong),
            Slot::Fact(name) => Cell::text(
                self.run.machine.fact(name).map_or_else(|| NONE.to_owned(), super::super::machine::fact_words),
            ),
            Slot::Number(name, factor) => match self.run.machine.number(name) {
                Some(number) => Cell::Value(PrintedQuantity::bare(number / factor, Unit::Count)),
                None => Cell::Printed(NONE.to_owned()),
            },
            Slot::Printed(text) if text.is_empty() => Cell::Printed(NONE.to_owned()),
            Slot::Printed(text) => Cell::Printed(text.clone()),
            Slot::Result(key, unit) => self.value(key, *unit),
            Slot::Interval(key, unit) => self.interval(key, *unit),
            Slot::Absent(reason) => {
                self.remark(format!("{NONE} {reason}"), None);
                Cell::Printed(NONE.to_owned())
            }
        }
    }

    /// The interval of a result; empty if it has none.
    pub(super) fn interval(&self, key: &ResultKey, unit: PrintedUnit) -> Cell {
        let quantity = found(self.run, key, unit).and_then(Result::ok);
        quantity.filter(PrintedQuantity::has_interval).map_or(Cell::Empty, Cell::Interval)
    }

    /// Label of the rows of intervals.
    pub(super) fn level_words(&self) -> String {
        format!("  {} interval", percent(self.run.plan.level))
    }

    fn value(&mut self, key: &ResultKey, unit: PrintedUnit) -> Cell {
        match found(self.run, key, unit) {
            Some(Ok(quantity)) => {
                self.caution(key);
                match self.differing(key) {
                    Some(mark) => Cell::Marked(quantity, mark),
                    None => Cell::Value(quantity),
                }
            }
            Some(Err(Unread::Below(bound))) => {
                self.caution(key);
                Cell::Below(bound)
            }
            Some(Err(Unread::Modes(values, told))) => {
                let name = self.run.result(key).map_or_else(|| key.to_string(), result_label);
                self.remark(told, Some(name));
                self.caution(key);
                let mark = self.differing(key).map_or_else(String::new, String::from);
                Cell::Text(format!("{values}{mark}"), Tone::Caution)
            }
            Some(Err(Unread::Reason(reason))) => self.missing(key, &reason),
            None => self.missing(key, "this run did not measure it"),
        }
    }

    /// Remarks for the end of the table: each once, with the results that it concerns.
    pub(super) fn remarks(self) -> Vec<String> {
        let sentence = |(remark, results): (String, Vec<String>)| match results.as_slice() {
            [] => remark,
            results => format!("{remark}: {}", results.join("; ")),
        };
        self.remarks.into_iter().map(sentence).collect()
    }

    /// Remarks how a result's definition differs from the printed one, and the mark at its cell.
    fn differing(&mut self, key: &ResultKey) -> Option<char> {
        let definition = told(self.definitions, key)?;
        let result = self.run.result(key).map_or_else(|| key.to_string(), result_label);
        self.remark(definitions::words(definition)?, Some(result));
        definitions::mark(definition)
    }

    fn missing(&mut self, key: &ResultKey, reason: &str) -> Cell {
        let name = self.run.result(key).map_or_else(|| key.to_string(), result_label);
        self.remark(format!("{NONE} {reason}"), Some(name));
        Cell::Printed(NONE.to_owned())
    }

    /// Adds flags and notes of a result, which a table of numbers would hide. The variant of a kernel is shown with the
    /// run.
    fn caution(&mut self, key: &ResultKey) {
        let Some(result) = self.run.result(key) else { return };
        let entry = self
            .run
            .plan
            .entries
            .iter()
            .find(|entry| entry.benchmark == key.benchmark && entry.parameters == key.parameters);
        for words in remarks(result, entry.map_or(self.run.plan.target, |entry| entry.target), &Told::default()) {
            if result.variant.as_ref() != Some(&words) {
                self.remark(words, Some(result_label(result)));
            }
        }
    }

    fn remark(&mut self, remark: String, result: Option<String>) {
        let at = self.remarks.iter().position(|(known, _)| *known == remark).unwrap_or_else(|| {
            self.remarks.push((remark, Vec::new()));
            self.remarks.len() - 1
        });
        let results = &mut self.remarks[at].1;
        results.extend(result.filter(|result| !results.contains(result)));
    }
}

/// Why a result has no value.
pub(super) enum Unread {
    /// It is below the resolution.
    Below(PrintedQuantity),
    /// It has several values: these, and what is said of them.
    Modes(String, String),
    /// Another reason.
    Reason(String),
}

/// A result of the run in a table's unit; `None` if the run lacks it.
pub(super) fn found(run: &Run, key: &ResultKey, unit: PrintedUnit) -> Option<Result<PrintedQuantity, Unread>> {
    let result = run.result(key)?;
    Some(read(result, unit))
}

fn read(result: &BenchmarkResult, unit: PrintedUnit) -> Result<PrintedQuantity, Unread> {
    let base = result.metric.unit;
    let foreign = || Unread::Reason(format!("its unit is not that of the column ({})", unit.name));
    match &result.outcome {
        Outcome::Measured(estimate) => unit.quantity(estimate, base).ok_or_else(foreign),
        Outcome::Below { bound } => {
            let bound = unit.quantity(&Estimate::without_spread(*bound), base).ok_or_else(foreign)?;
            Err(Unread::Below(bound))
        }
        Outcome::Modes(groups) => {
            let one = |mode: &Mode| {
                let quantity = unit.quantity(&Estimate::without_spread(mode.estimate.value), base)?;
                Some(quantity.short())
            };
            let values: Option<Vec<String>> = groups.iter().map(one).collect();
            let values = values.filter(|values| !values.is_empty()).ok_or_else(foreign)?;
            Err(Unread::Modes(values.join("|"), modes(groups, &result.metric)))
        }
        Outcome::NotMeasured(reason) => Err(Unread::Reason(format!("not measured: {reason}"))),
        Outcome::Failed(reason) => Err(Unread::Reason(format!("failed: {reason}"))),
    }
}

pub(super) fn machine(run: &Run) -> String {
    match run.machine.text("cpu.model") {
        Some(model) => format!("► {} ({model})", run.machine.name),
        None => format!("► {}", run.machine.name),
    }
}
