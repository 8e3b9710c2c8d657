//! The key figures: the few by which machines are usually told apart, in the order in which they are read.

use std::collections::HashSet;

use model::{Catalogue, Figure, KeyFigure, Outcome, Run};

use crate::words::figure_label;

/// Fewest lines that stand for a run; of one with fewer, the first figures of each benchmark are shown.
const LEAST: usize = 4;

/// Most lines.
const MOST: usize = 10;

const fn valued(figure: &Figure) -> bool {
    matches!(figure.outcome, Outcome::Measured(_) | Outcome::Below { .. } | Outcome::Modes(_))
}

/// The key figures of a run with their titles: of each line the first candidate that has a value, else the first that was
/// requested, which says why it has none. A title never claims more than the figure is: 64 MiB may lie in a cache, so its
/// latency keeps its label.
pub(super) fn key_figures<'a>(run: &'a Run, catalogue: &Catalogue) -> Vec<(String, &'a Figure)> {
    let requested: Vec<&Figure> = run.figures.iter().filter(|figure| !figure.is_condition()).collect();
    let keys = |benchmark: &str| catalogue.get(benchmark).map_or(&[][..], |benchmark| &benchmark.key);
    let meets = |figure: &Figure, key: &KeyFigure| key.at.iter().all(|(axis, at)| figure.point.get(axis) == Some(at));
    let mut found: Vec<(&KeyFigure, &Figure)> = Vec::new();
    for figure in &requested {
        found.extend(keys(&figure.benchmark).iter().filter(|key| meets(figure, key)).map(|key| (key, *figure)));
    }
    found.sort_by_key(|(key, figure)| (key.rank / 10, !valued(figure), key.rank));
    found.dedup_by_key(|(key, _)| key.rank / 10);
    if found.len() >= LEAST {
        let title =
            |key: &KeyFigure, figure| if key.title.is_empty() { figure_label(figure) } else { key.title.clone() };
        return found.into_iter().map(|(key, figure)| (title(key, figure), figure)).collect();
    }
    let mut seen: HashSet<&str> = HashSet::new();
    let first = requested.into_iter().filter(|figure| seen.insert(&figure.benchmark));
    first.take(MOST).map(|figure| (figure_label(figure), figure)).collect()
}
