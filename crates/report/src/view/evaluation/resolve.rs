//! Fills the cells of a table from a run.

use model::{Definition, Estimate, Figure, FigureKey, Mode, Outcome, Run, Unit, percent};

use super::super::compare::definitions;
use super::{PrintedUnit, Slot, told};
use crate::words::{Told, figure_label, modes, remarks};
use crate::{Cell, PrintedQuantity, Tone};

/// Cell without a figure.
const NONE: &str = "—";

/// Reads a run cell by cell, and collects remarks for the end of the table.
pub(super) struct CellReader<'a> {
    run: &'a Run,
    definitions: &'a [(FigureKey, Definition)],
    /// A remark, and the figures that it concerns.
    remarks: Vec<(String, Vec<String>)>,
}

impl<'a> CellReader<'a> {
    pub(super) const fn new(run: &'a Run, definitions: &'a [(FigureKey, Definition)]) -> Self {
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
            Slot::Figure(key, unit) => self.value(key, *unit),
            Slot::Interval(key, unit) => self.interval(key, *unit),
            Slot::Absent(reason) => {
                self.remark(format!("{NONE} {reason}"), None);
                Cell::Printed(NONE.to_owned())
            }
        }
    }

    /// The interval of a figure; empty if it has none.
    pub(super) fn interval(&self, key: &FigureKey, unit: PrintedUnit) -> Cell {
        let quantity = found(self.run, key, unit).and_then(Result::ok);
        quantity.filter(PrintedQuantity::has_interval).map_or(Cell::Empty, Cell::Interval)
    }

    /// Label of the rows of intervals.
    pub(super) fn level_words(&self) -> String {
        format!("  {} interval", percent(self.run.plan.level))
    }

    fn value(&mut self, key: &FigureKey, unit: PrintedUnit) -> Cell {
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
                let name = self.run.figure(key).map_or_else(|| key.to_string(), figure_label);
                self.remark(told, Some(name));
                self.caution(key);
                let mark = self.differing(key).map_or_else(String::new, String::from);
                Cell::Text(format!("{values}{mark}"), Tone::Caution)
            }
            Some(Err(Unread::Reason(reason))) => self.missing(key, &reason),
            None => self.missing(key, "this run did not measure it"),
        }
    }

    /// Remarks for the end of the table: each once, with the figures that it concerns.
    pub(super) fn remarks(self) -> Vec<String> {
        let sentence = |(remark, figures): (String, Vec<String>)| match figures.as_slice() {
            [] => remark,
            figures => format!("{remark}: {}", figures.join("; ")),
        };
        self.remarks.into_iter().map(sentence).collect()
    }

    /// Remarks how a figure's definition differs from the printed one, and the mark at its cell.
    fn differing(&mut self, key: &FigureKey) -> Option<char> {
        let definition = told(self.definitions, key)?;
        let figure = self.run.figure(key).map_or_else(|| key.to_string(), figure_label);
        self.remark(definitions::words(definition)?, Some(figure));
        definitions::mark(definition)
    }

    fn missing(&mut self, key: &FigureKey, reason: &str) -> Cell {
        let name = self.run.figure(key).map_or_else(|| key.to_string(), figure_label);
        self.remark(format!("{NONE} {reason}"), Some(name));
        Cell::Printed(NONE.to_owned())
    }

    /// Adds flags and notes of a figure, which a table of numbers would hide. The variant of a kernel is shown with the
    /// run.
    fn caution(&mut self, key: &FigureKey) {
        let Some(figure) = self.run.figure(key) else { return };
        let entry =
            self.run.plan.entries.iter().find(|entry| entry.benchmark == key.benchmark && entry.point == key.point);
        for words in remarks(figure, entry.map_or(self.run.plan.target, |entry| entry.target), &Told::default()) {
            if figure.variant.as_ref() != Some(&words) {
                self.remark(words, Some(figure_label(figure)));
            }
        }
    }

    fn remark(&mut self, remark: String, figure: Option<String>) {
        let at = self.remarks.iter().position(|(known, _)| *known == remark).unwrap_or_else(|| {
            self.remarks.push((remark, Vec::new()));
            self.remarks.len() - 1
        });
        let figures = &mut self.remarks[at].1;
        figures.extend(figure.filter(|figure| !figures.contains(figure)));
    }
}

/// Why a figure has no value.
pub(super) enum Unread {
    /// It is below the resolution.
    Below(PrintedQuantity),
    /// It has several values: these, and what is said of them.
    Modes(String, String),
    /// Another reason.
    Reason(String),
}

/// A figure of the run in a table's unit; `None` if the run lacks it.
pub(super) fn found(run: &Run, key: &FigureKey, unit: PrintedUnit) -> Option<Result<PrintedQuantity, Unread>> {
    let figure = run.figure(key)?;
    Some(read(figure, unit))
}

fn read(figure: &Figure, unit: PrintedUnit) -> Result<PrintedQuantity, Unread> {
    let base = figure.metric.unit;
    let foreign = || Unread::Reason(format!("its unit is not that of the column ({})", unit.name));
    match &figure.outcome {
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
            Err(Unread::Modes(values.join("|"), modes(groups, base)))
        }
        Outcome::Unfit(reason) => Err(Unread::Reason(format!("not measured: {reason}"))),
        Outcome::Failed(reason) => Err(Unread::Reason(format!("failed: {reason}"))),
    }
}

pub(super) fn machine(run: &Run) -> String {
    match run.machine.text("cpu.model") {
        Some(model) => format!("► {} ({model})", run.machine.name),
        None => format!("► {}", run.machine.name),
    }
}
