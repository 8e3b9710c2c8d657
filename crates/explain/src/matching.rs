//! Matches figures of two runs whose points differ.

use std::collections::BTreeSet;

use model::{Definition, Figure, FigureKey, Point, Run};

use compare::{Error, differing_axes};

/// Axes on which figures of the two runs differ while nothing else does: a figure that B lacks has exactly one partner
/// of the same benchmark there, which A lacks, and which differs on that one axis.
pub(crate) fn axes_that_differ(a: &Run, b: &Run) -> Vec<String> {
    let alone = |x: &Run, y: &Run| -> Vec<Figure> {
        let has =
            |figure: &Figure| y.figures.iter().any(|f| f.benchmark == figure.benchmark && f.point == figure.point);
        x.figures.iter().filter(|figure| !has(figure)).cloned().collect()
    };
    let (only_a, only_b) = (alone(a, b), alone(b, a));
    let mut axes: Vec<String> = Vec::new();
    for figure in &only_a {
        let partners: Vec<String> = only_b
            .iter()
            .filter(|other| other.benchmark == figure.benchmark)
            .filter_map(|other| match differing_axes(&figure.point, &other.point).as_slice() {
                [axis] => Some(axis.clone()),
                _ => None,
            })
            .collect();
        if let [axis] = partners.as_slice()
            && !axes.contains(axis)
        {
            axes.push(axis.clone());
        }
    }
    axes
}

/// The run with only those figures that have the values of `at` on the axes that they share with it.
///
/// # Errors
/// When no figure has one of the values: nothing would be restricted, or everything.
pub(crate) fn restricted(run: &Run, at: &Point) -> Result<Run, Error> {
    let values = |axis: &str| run.figures.iter().filter_map(|figure| figure.point.get(axis)).collect::<BTreeSet<_>>();
    for (axis, asked) in at.iter() {
        let there = values(axis);
        if !there.iter().any(|value| Point::means(axis, asked, value)) {
            let list = |words: Vec<&str>| words.join(", ");
            let axes: BTreeSet<&str> = run.figures.iter().flat_map(|figure| figure.point.iter().map(|p| p.0)).collect();
            let known = match there.is_empty() {
                true => format!("its figures have the axes {}", list(axes.into_iter().collect())),
                false => format!("{axis} is {} there", list(there.into_iter().collect())),
            };
            return Err(Error::At { asked: format!("{axis}={asked}"), known });
        }
    }
    let stands = |figure: &Figure| {
        at.iter().all(|(axis, asked)| figure.point.get(axis).is_none_or(|v| Point::means(axis, asked, v)))
    };
    let figures = run.figures.iter().filter(|figure| stands(figure)).cloned().collect();
    Ok(Run { figures, ..run.clone() })
}

/// The runs without figures that are another quantity than the one of that name in the other run: nothing of one
/// explains the other.
pub(crate) fn of_one_definition(mut a: Run, mut b: Run) -> (Run, Run) {
    let other = |figure: &Figure, run: &Run| {
        let partner = run.figures.iter().find(|one| one.benchmark == figure.benchmark && one.point == figure.point);
        partner.is_some_and(|one| matches!(figure.definition.between(&one.definition), Definition::Other(_)))
    };
    let others: BTreeSet<FigureKey> = a.figures.iter().filter(|figure| other(figure, &b)).map(Figure::key).collect();
    for run in [&mut a, &mut b] {
        run.figures.retain(|figure| !others.contains(&figure.key()));
    }
    (a, b)
}
