//! The machines side by side, differences first.

use std::collections::BTreeSet;

use model::Run;

use super::words_table;
use crate::view::machine::fact_words;
use crate::{Block, Column, DocumentSection, Table};

/// Text for a fact that a machine lacks.
const NOT_RECORDED: &str = "not recorded";

/// Most machines that are drawn; of more only the facts are shown.
const DRAWN: usize = 4;

pub(super) fn section(runs: &[&Run], names: &[String]) -> Option<DocumentSection> {
    let mut facts: Vec<&str> = Vec::new();
    let mut seen = BTreeSet::new();
    for fact in runs.iter().flat_map(|run| &run.machine.facts) {
        if seen.insert(fact.name.as_str()) {
            facts.push(&fact.name);
        }
    }
    let said = |run: &&Run, name: &str| run.machine.fact(name).map_or_else(|| NOT_RECORDED.to_owned(), fact_words);
    let row = |name: &&str| {
        let mut row = vec![(*name).to_owned()];
        row.extend(runs.iter().map(|run| said(run, name)));
        row
    };
    let (differ, same): (Vec<Vec<String>>, Vec<Vec<String>>) = facts.iter().map(row).partition(|row| {
        // A machine that lacks a fact does not count as different.
        let mut said = row[1..].iter().filter(|text| *text != NOT_RECORDED);
        said.next().is_some_and(|first| said.any(|text| text != first))
    });
    let heads = |first: &str| {
        let mut heads = vec![Column::label(first)];
        heads.extend(names.iter().map(Column::words));
        heads
    };
    let mut blocks = Vec::new();
    if runs.len() > 1 {
        let mut rows: Vec<Vec<String>> = vec![
            line("machine", runs, |run| run.machine.name.clone()),
            line("summary", runs, |run| run.machine.summary.clone()),
            line("started", runs, |run| crate::words::day(&run.session.started)),
        ];
        rows.extend(differ);
        let table = if runs.len() > rows.len() { turned(&rows, names) } else { words_table(heads("difference"), rows) };
        blocks.push(Block::Table(table));
    }
    if runs.len() == 1 && !same.is_empty() {
        blocks.push(Block::Table(words_table(heads(""), same)));
    } else if !same.is_empty() {
        let spoken =
            |row: &Vec<String>| row[1..].iter().find(|text| *text != NOT_RECORDED).cloned().unwrap_or_default();
        let short = same.into_iter().map(|row| vec![row[0].clone(), spoken(&row)]).collect();
        let heads = Column::list("|all machines that record it");
        let table = Block::Table(words_table(heads, short));
        blocks.push(Block::folded("identical facts", vec![table]));
    }
    for (run, name) in runs.iter().zip(names).filter(|_| runs.len() <= DRAWN) {
        let drawn = run.machine.topology.as_ref().map(crate::view::topology).unwrap_or_default();
        if runs.len() > 1 && !drawn.is_empty() {
            blocks.push(Block::folded(format!("hardware of {name}"), drawn));
        } else {
            // The picture of one machine comes before its facts.
            blocks.splice(0..0, drawn);
        }
    }
    let title = if runs.len() > 1 { "Machines" } else { "Machine" };
    (!blocks.is_empty()).then(|| DocumentSection { title: title.to_owned(), blocks })
}

/// A row for each machine instead of a column, if there are more machines than differing facts.
fn turned(rows: &[Vec<String>], names: &[String]) -> Table {
    let told: Vec<&Vec<String>> = rows.iter().filter(|row| row[1..] != *names).collect();
    let mut heads = vec![Column::label("difference")];
    heads.extend(told.iter().map(|row| Column::words(&row[0])));
    let line = |(place, name): (usize, &String)| {
        std::iter::once(name.clone()).chain(told.iter().map(|row| row[place + 1].clone())).collect()
    };
    words_table(heads, names.iter().enumerate().map(line).collect())
}

fn line(name: &str, runs: &[&Run], say: impl Fn(&Run) -> String) -> Vec<String> {
    std::iter::once(name.to_owned()).chain(runs.iter().map(|run| say(run))).collect()
}
