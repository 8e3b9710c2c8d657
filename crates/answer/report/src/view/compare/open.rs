//! Inconclusive results, what would decide them, and the smallest changes that would have been seen.

use compare::Comparison;
use model::percent;

use super::rows;
use crate::words::{grouped, plural};
use crate::{Block, DocumentSection};

/// Names that one entry lists before it counts the rest.
const NAMED: usize = 6;

/// Results and machines with the same answer.
struct OpenQuestion {
    why: String,
    results: Vec<usize>,
    machines: Vec<usize>,
}

/// One line for each answer; `None` if everything is decided.
pub(crate) fn section(comparison: &Comparison, others: &[usize]) -> Option<DocumentSection> {
    let answers = answers(comparison, others);
    if answers.is_empty() {
        return None;
    }
    let items = answers.iter().map(|answer| say(comparison, others, answer)).collect();
    Some(DocumentSection::of(
        "why inconclusive (in brackets: the smallest change that would have been seen)",
        Block::list(items),
    ))
}

/// Collects results with one answer for each machine, then machines with the same results.
fn answers(comparison: &Comparison, others: &[usize]) -> Vec<OpenQuestion> {
    let mut answers: Vec<((String, Vec<usize>), usize)> = Vec::new();
    for other in others {
        let rows = comparison.rows.iter().enumerate();
        let open = rows.filter_map(|(result, row)| Some((row.ratios.get(*other).and_then(rows::open)?, result)));
        answers.extend(grouped(open).into_iter().map(|answer| (answer, *other)));
    }
    let question = |((why, results), machines)| OpenQuestion { why, results, machines };
    grouped(answers).into_iter().map(question).collect()
}

fn say(comparison: &Comparison, others: &[usize], answer: &OpenQuestion) -> String {
    let name = |index: &usize| rows::name(&comparison.rows[*index]);
    if let [other] = others {
        let detectable = |index: &usize| comparison.rows[*index].ratios.get(*other)?.detectable;
        let named = |index: &usize| match detectable(index) {
            Some(size) => format!("{} ({})", name(index), percent(size)),
            None => name(index),
        };
        let results: Vec<String> = answer.results.iter().map(named).collect();
        return format!("{}: {}", answer.why, results.join("; "));
    }
    let results = answer.results.iter().map(name).collect();
    let results = match answer.results.len() {
        all if all > 1 && all == comparison.rows.len() => "every result".to_owned(),
        _ => joined(results, NAMED, "result", "; "),
    };
    let machines = answer.machines.iter().map(|index| comparison.machines[*index].name.clone()).collect();
    let machines = match answer.machines.len() {
        all if all > 1 && all == others.len() => "every machine".to_owned(),
        _ => joined(machines, NAMED, "machine", ", "),
    };
    format!("{}: {results}: {machines}", answer.why)
}

/// The first names and the number of further ones; a single further one is named as well.
fn joined(mut names: Vec<String>, most: usize, what: &str, between: &str) -> String {
    if names.len() <= most.saturating_add(1) {
        return names.join(between);
    }
    let rest = names.split_off(most).len();
    format!("{} and {}", names.join(between), plural(rest, &format!("more {what}")))
}
