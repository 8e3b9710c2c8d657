//! Why two machines differ, in sentences, with the arithmetic for verification.

use explain::{Explanation, RunDifference};

use crate::words::plural;
use crate::{Block, Cell, Column, Document, DocumentSection, EmbeddedJson, Table, TableRow};

/// Options of the view.
#[derive(Debug, Clone, Default)]
pub struct ExplainContext {
    /// Whether to show every line of the arithmetic.
    pub verbose: bool,
}

/// The report of `prony explain`; its JSON is the [`Explanation`].
#[must_use]
pub fn explain(explanation: &Explanation, context: &ExplainContext) -> Document {
    let mut title = format!("{} against {}, {}", explanation.b, explanation.a, plural(explanation.tests, "test"));
    if explanation.curve_points > 0 {
        title.push_str(&format!(" and {} of curves", plural(explanation.curve_points, "parameters")));
    }
    let mut document = Document::new(title);
    document.sections.push(DocumentSection { title: String::new(), blocks: sentences(explanation) });
    if !explanation.assumed.is_empty() {
        let items = explanation.assumed.clone();
        document.add("assumed, not measured", Block::list(items));
    }
    if explanation.difference && !explanation.facts.is_empty() {
        document.add("what differs between them", Block::Table(facts(explanation)));
    }
    let arithmetic = explanation.arithmetic();
    if context.verbose && !arithmetic.is_empty() {
        document.add("the arithmetic", Block::list(arithmetic));
    }
    if let Some(next) = &explanation.next_experiment {
        document.next =
            next.benchmarks.iter().take(2).map(|benchmark| format!("prony run --benchmark {benchmark}")).collect();
    }
    document.data = EmbeddedJson::of(explanation).ok();
    document
}

/// What the runs are comes first, then numbered causes, then what is ruled out, left open or to be measured next.
pub(super) fn sentences(explanation: &Explanation) -> Vec<Block> {
    let after = |text: &String| ["Ruled out", "Left open", "Next experiment"].iter().any(|head| text.starts_with(head));
    let mut said = explanation.sentences();
    let first: Vec<String> = said.drain(..explanation.runs().len()).collect();
    let (rest, causes): (Vec<String>, Vec<String>) = said.into_iter().partition(after);
    let numbered = explanation.difference && causes.len() > 1;
    let mut blocks: Vec<Block> = first.into_iter().map(Block::Text).collect();
    match causes.as_slice() {
        [] => {}
        [only] => blocks.push(Block::Text(only.clone())),
        _ => blocks.push(Block::List { numbered, items: causes }),
    }
    blocks.extend(rest.into_iter().map(Block::Text));
    blocks
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
