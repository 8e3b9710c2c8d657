//! Matches the figures of several runs.

use std::collections::{BTreeSet, HashMap};

use model::{Figure, FigureKey, Point, Run};

use super::glob::matches;
use super::options::CompareOptions;
use crate::Error;

/// One figure in every run, in the order of the runs.
pub(crate) struct Aligned<'a> {
    pub(crate) key: FigureKey,
    pub(crate) figures: Vec<Option<&'a Figure>>,
}

impl<'a> Aligned<'a> {
    /// The figure that gives title and metric: the reference's, else the first.
    pub(crate) fn model(&self, reference: usize) -> &'a Figure {
        let first = self.figures[reference].or_else(|| self.figures.iter().flatten().copied().next());
        #[expect(clippy::expect_used, reason = "a row is made for a figure that a run has")]
        first.expect("a row holds at least one figure")
    }
}

/// Figures that at least two runs have, and those that only one run has.
pub(crate) struct Alignment<'a> {
    pub(crate) rows: Vec<Aligned<'a>>,
    pub(crate) unmatched: Vec<(usize, FigureKey)>,
}

/// Aligns figures with the same name, in the reference's order first. For a single run, every figure is a row.
pub(crate) fn align<'a>(runs: &[&'a Run], reference: usize, options: &CompareOptions) -> Result<Alignment<'a>, Error> {
    let mut order: Vec<usize> = vec![reference];
    order.extend((0..runs.len()).filter(|&run| run != reference));
    known_axes(runs, &options.across)?;
    let keys = row_keys(runs, &options.across);
    let mut rows: Vec<Aligned<'a>> = Vec::new();
    let mut place: HashMap<&FigureKey, usize> = HashMap::new();
    for &run in &order {
        for (figure, key) in runs[run].figures.iter().zip(&keys[run]) {
            if options.figures.as_ref().is_some_and(|patterns| !selected(patterns, figure, key)) {
                continue;
            }
            let row = *place.entry(key).or_insert_with(|| {
                rows.push(Aligned { key: key.clone(), figures: vec![None; runs.len()] });
                rows.len() - 1
            });
            rows[row].figures[run] = Some(figure);
        }
    }
    if rows.is_empty() {
        return Err(nothing(runs, options));
    }
    let alone = |row: &Aligned| runs.len() > 1 && row.figures.iter().flatten().count() < 2;
    let (single, rows): (Vec<_>, Vec<_>) = rows.into_iter().partition(alone);
    if rows.is_empty() {
        return Err(Error::NothingInCommon { hint: hint(&single) });
    }
    let unmatched = single
        .into_iter()
        .filter_map(|row| row.figures.iter().position(Option::is_some).map(|run| (run, row.key)))
        .collect();
    Ok(Alignment { rows, unmatched })
}

fn selected(patterns: &str, figure: &Figure, key: &FigureKey) -> bool {
    matches(patterns, key) || matches(patterns, &figure.key())
}

/// Refuses an axis to compare across that is in no figure, which would silently have no effect.
fn known_axes(runs: &[&Run], across: &[String]) -> Result<(), Error> {
    if across.is_empty() {
        return Ok(());
    }
    let figures = runs.iter().flat_map(|run| &run.figures);
    let known: BTreeSet<&str> = figures.flat_map(|figure| figure.point.iter().map(|(axis, _)| axis)).collect();
    match across.iter().find(|axis| !known.contains(axis.as_str())) {
        Some(axis) => {
            Err(Error::Across { axis: axis.clone(), known: known.into_iter().collect::<Vec<_>>().join(", ") })
        }
        None => Ok(()),
    }
}

/// The name under which each figure is matched. Axes of `across` are left out unless two figures of a run would then
/// have the same name.
fn row_keys(runs: &[&Run], across: &[String]) -> Vec<Vec<FigureKey>> {
    let stripped = |figure: &Figure| {
        let point = across.iter().fold(figure.point.clone(), |point: Point, axis| point.without(axis));
        FigureKey::new(figure.probe.clone(), point)
    };
    if across.is_empty() {
        return runs.iter().map(|run| run.figures.iter().map(Figure::key).collect()).collect();
    }
    let mut most: HashMap<FigureKey, usize> = HashMap::new();
    for run in runs {
        let mut here: HashMap<FigureKey, usize> = HashMap::new();
        for figure in &run.figures {
            *here.entry(stripped(figure)).or_default() += 1;
        }
        for (key, count) in here {
            let most = most.entry(key).or_default();
            *most = count.max(*most);
        }
    }
    let name = |figure: &Figure| {
        let key = stripped(figure);
        if most[&key] > 1 { figure.key() } else { key }
    };
    runs.iter().map(|run| run.figures.iter().map(name).collect()).collect()
}

/// Names that an error message lists.
const LISTED: usize = 6;

fn nothing(runs: &[&Run], options: &CompareOptions) -> Error {
    match &options.figures {
        Some(pattern) => Error::NoMatch { pattern: pattern.clone(), known: known(runs) },
        None => Error::NothingInCommon { hint: "; they hold no figure at all".to_owned() },
    }
}

fn known(runs: &[&Run]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for figure in runs.iter().flat_map(|run| &run.figures) {
        if !names.contains(&figure.probe.as_str()) {
            names.push(&figure.probe);
        }
        if names.len() == LISTED {
            break;
        }
    }
    names.join(", ")
}

/// Names the axis that would make figures match, if there is a single one.
fn hint(single: &[Aligned]) -> String {
    let run = |row: &Aligned| row.figures.iter().position(Option::is_some);
    for (index, row) in single.iter().enumerate() {
        for other in &single[index + 1..] {
            if other.key.probe == row.key.probe
                && run(other) != run(row)
                && let [axis] = differing_axes(&row.key.point, &other.key.point).as_slice()
            {
                return format!(": {} differs in {axis} alone, so compare across {axis}", row.key.probe);
            }
        }
    }
    String::new()
}

/// Axes on which two points differ, including those that only one of them has.
pub(crate) fn differing_axes(a: &Point, b: &Point) -> Vec<String> {
    let mut axes: Vec<String> =
        a.iter().filter(|(axis, value)| b.get(axis) != Some(value)).map(|(axis, _)| axis.to_owned()).collect();
    axes.extend(b.iter().filter(|(axis, _)| a.get(axis).is_none()).map(|(axis, _)| axis.to_owned()));
    axes
}
