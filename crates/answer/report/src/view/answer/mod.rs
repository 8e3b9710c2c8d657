//! The answer after measuring: how far the run may be trusted, its key results, and what to do next, on one screen.

mod key;

use compare::standing::{LEAST_MACHINES, MachineStanding, standing};
use model::{BenchmarkResult, Outcome, Run, percent};

use super::RunContext;
use super::machine::{heading, warnings};
use super::run::{cells, next, run, summary};
use super::trusted::{told, trusted};
use crate::words::Told;
use crate::{Block, Cell, Column, Document, Table, TableRow, Tone};

/// A run with at most this many results is shown whole: its table is no longer than the answer.
const WHOLE: usize = 12;

/// Doubts with a line of their own.
const DOUBTS: usize = 3;

/// The report of a run that was just measured, at most 24 lines of 80 columns.
#[must_use]
pub fn answer(run_: &Run, context: &RunContext) -> Document {
    let requested = run_.results.iter().filter(|result| !result.is_condition()).count();
    let mut document = run(run_, context);
    if requested <= WHOLE {
        return document;
    }
    let keys = key::key_results(run_, context.catalogue);
    document.title = heading(run_, context.handle.as_deref());
    document.notes = warnings(run_);
    let facts = trusted(run_, DOUBTS);
    document.sections.clear();
    if !facts.is_empty() {
        document.add("", Block::Facts(facts));
    }
    let table = table(run_, &keys, context);
    let placed = table.columns.len() > 3;
    document.add("", Block::Table(table));
    document.summary = vec![summary(run_, context)];
    document.summary.extend((!placed && run_.origin.is_none()).then(no_reference));
    document.next = context.handle.iter().map(|handle| format!("prony show {handle}")).collect();
    document.next.extend(next(run_, context).into_iter().filter(|command| !command.starts_with("prony benchmarks")));
    document
}

/// The key results of a run.
pub(super) fn key_table(run: &Run, context: &RunContext) -> Table {
    table(run, &key::key_results(run, context.catalogue), context)
}

/// Key results, with a column of standings where there is one.
fn table(run: &Run, keys: &[(String, &BenchmarkResult)], context: &RunContext) -> Table {
    let standings: Vec<Option<MachineStanding>> = keys.iter().map(|(_, result)| stands(result, context)).collect();
    let known = standings.iter().any(Option::is_some);
    let place = if known { "better than, of other machines" } else { "" };
    let columns = vec![
        Column::label(""),
        Column::number("value"),
        Column::number(format!("{} interval", percent(run.plan.level))),
        Column::words(place),
    ];
    let told = Told { brief: true, flags: told(run), ..Told::default() };
    let row = |((title, result), standing): (&(String, &BenchmarkResult), Option<MachineStanding>)| {
        let target = compare::trust::target(run, result);
        let mut cells = cells(result, title.clone(), target, &told);
        if cells.len() > 3 {
            cells.truncate(3);
            cells.push(standing.map_or(Cell::Empty, |standing| Cell::Text(standing_words(&standing), Tone::Plain)));
        }
        TableRow::of(cells)
    };
    let mut table = Table::plain(columns, keys.iter().zip(standings).map(row).collect());
    if !known {
        table.columns.pop();
        table.groups.iter_mut().flat_map(|group| &mut group.rows).for_each(|row| row.cells.truncate(3));
    }
    table
}

fn stands(result: &BenchmarkResult, context: &RunContext) -> Option<MachineStanding> {
    let Outcome::Measured(estimate) = &result.outcome else { return None };
    standing(estimate, result.metric.better, context.others.get(&result.key())?)
}

/// `▁▂▅█▃▁ 41 of 64`; `▁▂▅█▃▁ 41 to 44 of 64` where some lie within the interval.
fn standing_words(standing: &MachineStanding) -> String {
    const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = standing.histogram.iter().copied().max().unwrap_or(0).max(1);
    let bar = |count: &usize| if *count == 0 { ' ' } else { LEVELS[(count * 7).div_ceil(most).min(7)] };
    let bars: String = standing.histogram.iter().map(bar).collect();
    let most = standing.of - standing.better;
    let rank = if most == standing.worse { most.to_string() } else { format!("{} to {most}", standing.worse) };
    format!("{bars} {rank} of {}", standing.of)
}

/// What is said once where no result has a standing.
fn no_reference() -> String {
    format!("No reference yet: fewer than {LEAST_MACHINES} other machines have these results.")
}
