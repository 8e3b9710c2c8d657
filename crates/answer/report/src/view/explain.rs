//! Why two machines differ: the answer, the findings, what to measure next, and on request everything behind them.

use explain::{Explanation, RunDifference};

use crate::words::plural;
use crate::{Block, Cell, Column, Document, DocumentSection, EmbeddedJson, Table, TableRow};

/// Options of the view.
#[derive(Debug, Clone, Default)]
pub struct ExplainContext {
    /// Whether to show the evidence, the facts that differ, the assumptions and the arithmetic.
    pub details: bool,
    /// The command that shows them.
    pub command: Option<String>,
}

/// The report of `prony explain`; its JSON is the [`Explanation`].
#[must_use]
pub fn explain(explanation: &Explanation, context: &ExplainContext) -> Document {
    let title = format!(
        "{} vs {} (baseline), {}",
        explanation.b,
        explanation.a,
        plural(explanation.tests + explanation.curve_points, "result")
    );
    let mut document = Document::new(title);
    document.sections.push(DocumentSection { title: String::new(), blocks: sentences(explanation) });
    if context.details {
        document.sections.extend(details(explanation));
    }
    if let Some(next) = &explanation.next_experiment {
        let command = |benchmark: &String| format!("prony run --benchmark {}", crate::words::quoted(benchmark));
        document.next = next.benchmarks.iter().take(2).map(command).collect();
    }
    if explanation.difference && !context.details {
        document.next.extend(context.command.clone());
    }
    document.data = EmbeddedJson::of(explanation).ok();
    document
}

/// The answer comes first, then numbered findings, then what is left open and what to measure next.
pub(super) fn sentences(explanation: &Explanation) -> Vec<Block> {
    let mut blocks: Vec<Block> = explanation.answer().into_iter().map(Block::Text).collect();
    let mut findings = explanation.findings();
    match findings.len() {
        0 => {}
        1 => blocks.extend(findings.pop().map(Block::Text)),
        _ => blocks.push(Block::List { numbered: true, items: findings }),
    }
    blocks.extend(explanation.remarks().into_iter().map(Block::Text));
    blocks
}

/// Everything behind the sentences, where there is any.
pub(super) fn details(explanation: &Explanation) -> Vec<DocumentSection> {
    let mut sections = Vec::new();
    for (title, items) in [
        ("evidence", explanation.evidence()),
        ("assumed, not measured", explanation.assumed.clone()),
        ("arithmetic", explanation.arithmetic()),
    ] {
        if !items.is_empty() {
            sections.push(DocumentSection::of(title, Block::list(items)));
        }
    }
    if !explanation.facts.is_empty() {
        sections.push(DocumentSection::of("what differs between them", Block::Table(facts(explanation))));
    }
    sections
}

fn facts(explanation: &Explanation) -> Table {
    let columns = vec![
        Column::label(""),
        Column::words(&explanation.a),
        Column::words(&explanation.b),
        Column::words("may change"),
    ];
    let row = |fact: &RunDifference| {
        let (a, b) = fact.in_words();
        let affects = fact.affects.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        TableRow::of([fact.name.clone(), a, b, affects].map(Cell::text).into())
    };
    Table::plain(columns, explanation.facts.iter().map(row).collect())
}
