//! Undecided results, and what would decide them.

use compare::Comparison;

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
    Some(DocumentSection::of("not decided, and why", Block::list(items)))
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
    let results = answer.results.iter().map(|index| rows::name(&comparison.rows[*index])).collect();
    if others.len() == 1 {
        return format!("{}: {}", joined(results, usize::MAX, "result", "; "), answer.why);
    }
    let results = match answer.results.len() {
        all if all > 1 && all == comparison.rows.len() => "every result".to_owned(),
        _ => joined(results, NAMED, "result", "; "),
    };
    let machines = answer.machines.iter().map(|index| comparison.machines[*index].name.clone()).collect();
    let machines = match answer.machines.len() {
        all if all > 1 && all == others.len() => "every machine".to_owned(),
        _ => joined(machines, NAMED, "machine", ", "),
    };
    format!("{results}: {machines}: {}", answer.why)
}

/// The first names and the number of further ones; a single further one is named as well.
fn joined(mut names: Vec<String>, most: usize, what: &str, between: &str) -> String {
    if names.len() <= most.saturating_add(1) {
        return names.join(between);
    }
    let rest = names.split_off(most).len();
    format!("{} and {}", names.join(between), plural(rest, &format!("more {what}")))
}
