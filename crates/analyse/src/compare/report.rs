//! Computes the comparison: align, assess every figure, adjust over the report, judge, average, rank, sort.

use model::{Figure, Outcome, Run};

use super::align::{Aligned, align};
use super::assumed::assumed;
use super::assumed::standard_error;
use super::family::{Rows, geometric_means};
use super::modes::mode_pairs;
use super::options::CompareOptions;
use super::rank::{RankEntry, RankRules, ranks};
use super::result::{
    CompareRow, CompareVerdict, Compared, Comparison, FloorUsed, Ratio, Relation, Unmatched, VerdictCounts,
};
use super::session::{History, relation, same_run};
use super::shift::{CompareShift, shift};
use super::verdict::{FigureFinding, Judge};
use crate::Error;

/// One cell before verdicts.
struct Assessed {
    finding: Option<FigureFinding>,
    floor: Option<FloorUsed>,
}

impl Assessed {
    /// The ratio, if there is a single one.
    const fn single(&self) -> Option<&CompareShift> {
        match &self.finding {
            Some(FigureFinding::Single(shift)) => Some(shift),
            _ => None,
        }
    }
}

/// State shared by the steps.
struct ComparisonInput<'a> {
    runs: &'a [&'a Run],
    names: Vec<String>,
    reference: usize,
    options: &'a CompareOptions<'a>,
    history: History,
    /// Runs that are the reference itself.
    itself: Vec<bool>,
}

/// Compares runs. For a single run the result has only ratios of 1.
///
/// # Errors
/// When there is no run, the reference or a pattern matches nothing, the runs share no figure, or the column to sort by
/// does not exist.
pub fn compare(runs: &[&Run], options: &CompareOptions) -> Result<Comparison, Error> {
    compared(runs, options, true)
}

/// The same without geometric means, whose Monte Carlo takes most of the time.
///
/// # Errors
/// As for [`compare`].
pub(crate) fn compare_figures(runs: &[&Run], options: &CompareOptions) -> Result<Comparison, Error> {
    compared(runs, options, false)
}

fn compared(runs: &[&Run], options: &CompareOptions, means: bool) -> Result<Comparison, Error> {
    let names = crate::naming::names(runs, &options.handles);
    let reference = find_reference(runs, &names, options.reference.as_deref())?;
    let alignment = align(runs, reference, options)?;
    let itself = runs.iter().map(|run| same_run(runs[reference], run)).collect();
    let desk =
        ComparisonInput { runs, names, reference, options, history: History::new(options.history, runs), itself };
    let assessed: Vec<Vec<Assessed>> = alignment.rows.iter().map(|row| desk.assess(row)).collect();
    let geometric_means = if means { desk.means(&alignment.rows, &assessed) } else { Vec::new() };
    let (rows, tests) = desk.judge(&alignment.rows, assessed);
    let machines = desk.machines(&rows);
    let unmatched = alignment
        .unmatched
        .into_iter()
        .map(|(run, figure)| Unmatched { machine: desk.names[run].clone(), figure })
        .collect();
    let mut comparison = Comparison {
        reference: desk.names[reference].clone(),
        normalise: options.normalise,
        band: options.band,
        level: options.level,
        tests,
        machines,
        rows,
        unmatched,
        geometric_means,
        gate: None,
    };
    if let Some(name) = &options.sort_by {
        comparison.sort_by(name)?;
    }
    if options.changed_first {
        comparison.changed_first();
    }
    Ok(comparison)
}

/// The run with this name, machine or id.
fn find_reference(runs: &[&Run], names: &[String], wanted: Option<&str>) -> Result<usize, Error> {
    if runs.is_empty() {
        return Err(Error::NoRuns);
    }
    let Some(wanted) = wanted else { return Ok(0) };
    let by = |matches: &dyn Fn(usize) -> bool| (0..runs.len()).find(|&run| matches(run));
    by(&|run| names[run] == wanted)
        .or_else(|| by(&|run| runs[run].id == wanted))
        .or_else(|| by(&|run| runs[run].label.as_deref() == Some(wanted)))
        .or_else(|| by(&|run| runs[run].machine.name == wanted))
        .ok_or_else(|| Error::Reference { name: wanted.to_owned(), known: names.join(", ") })
}

impl ComparisonInput<'_> {
    fn assess(&self, row: &Aligned) -> Vec<Assessed> {
        let reference = row.figures[self.reference];
        (0..self.runs.len())
            .map(|run| match (reference, row.figures[run]) {
                _ if run == self.reference => Assessed { finding: None, floor: None },
                (_, None) => nothing("this run lacks it"),
                (None, Some(_)) => nothing("the reference lacks it"),
                (Some(reference), Some(other)) => self.assess_pair(reference, run, other),
            })
            .collect()
    }

    fn assess_pair(&self, reference: &Figure, run: usize, other: &Figure) -> Assessed {
        let level = self.options.level;
        let (from, to) = (self.runs[self.reference], self.runs[run]);
        if self.itself[run] {
            return Assessed { finding: Some(FigureFinding::Itself), floor: None };
        }
        let (floor, used) = self.history.floor((from, reference), (to, other));
        if let Some(pairs) = mode_pairs(reference, other, floor, level, used.is_none()) {
            return Assessed { finding: Some(FigureFinding::Modes(pairs)), floor: used };
        }
        match shift(reference, other, floor, level) {
            Ok(mut shift) => {
                let floor = used.filter(|_| shift.known.is_some());
                if shift.known.is_none() {
                    shift.assumed = assumed((from, reference), (to, other), level);
                }
                Assessed { finding: Some(FigureFinding::Single(shift)), floor }
            }
            Err(reason) => nothing(&reason),
        }
    }

    /// Verdicts over the whole report, and the number of tests.
    fn judge(&self, aligned: &[Aligned], assessed: Vec<Vec<Assessed>>) -> (Vec<CompareRow>, usize) {
        let p_values: Vec<f64> = assessed
            .iter()
            .flatten()
            .filter_map(|cell| cell.finding.as_ref())
            .flat_map(FigureFinding::p_values)
            .collect();
        let adjusted = stats::holm(&p_values);
        let tests = p_values.iter().filter(|p| !p.is_nan()).count();
        let mut next = 0;
        let rows = aligned.iter().zip(assessed).map(|(row, cells)| {
            let model = row.model(self.reference);
            let judge = Judge {
                metric: &model.metric,
                normalise: self.options.normalise,
                band: self.options.band,
                level: self.options.level,
                tests,
            };
            let mut ratios = Vec::with_capacity(cells.len());
            for (run, cell) in cells.into_iter().enumerate() {
                let mut ratio = self.ratio(run, row);
                ratio.floor = cell.floor;
                if let Some(finding) = cell.finding {
                    let count = finding.p_values().len();
                    judge.fill(&mut ratio, finding, &adjusted[next..next + count]);
                    next += count;
                }
                ratios.push(ratio);
            }
            self.rank(row, &mut ratios);
            CompareRow {
                probe: row.key.probe.clone(),
                point: row.key.point.clone(),
                title: model.title.clone(),
                metric: model.metric.clone(),
                class: model.class,
                ratios,
            }
        });
        (rows.collect(), tests)
    }

    /// The parts of a cell that do not depend on verdicts.
    fn ratio(&self, run: usize, row: &Aligned) -> Ratio {
        let figure = row.figures[run];
        Ratio {
            machine: self.names[run].clone(),
            point: figure.filter(|figure| figure.point != row.key.point).map(|figure| figure.point.clone()),
            outcome: figure.map(|figure| figure.outcome.clone()),
            flags: figure.map(|figure| figure.flags.clone()).unwrap_or_default(),
            value: one(run, self.reference, row),
            ..Ratio::default()
        }
    }

    fn rank(&self, row: &Aligned, ratios: &mut [Ratio]) {
        let entries: Vec<RankEntry> = (0..ratios.len())
            .filter_map(|run| {
                let figure = row.figures[run]?;
                let Outcome::Measured(estimate) = &figure.outcome else { return None };
                (estimate.value > 0.0 && estimate.value.is_finite()).then(|| RankEntry {
                    run,
                    log: estimate.value.ln(),
                    error: standard_error(estimate),
                    floor: self.history.own_deviation(self.runs[run], figure, self.options.level),
                    against_reference: ratios[run].verdict,
                })
            })
            .collect();
        let one_session = |a: usize, b: usize| relation(self.runs[a], self.runs[b]) == Relation::SameSession;
        let rules = RankRules {
            better: row.model(self.reference).metric.better,
            reference: self.reference,
            level: self.options.level,
            band: self.options.band,
            one_session: &one_session,
        };
        if entries.len() > 1 {
            for (entry, rank) in entries.iter().zip(ranks(&entries, &rules)) {
                ratios[entry.run].rank = Some(rank);
            }
        }
    }

    fn means(&self, rows: &[Aligned], assessed: &[Vec<Assessed>]) -> Vec<super::GeometricMean> {
        let shifts = assessed.iter().map(|cells| cells.iter().map(Assessed::single).collect()).collect();
        let figures = rows.iter().map(|row| row.model(self.reference)).collect();
        geometric_means(&Rows { names: &self.names, reference: self.reference, figures, shifts }, self.options)
    }

    fn machines(&self, rows: &[CompareRow]) -> Vec<Compared> {
        (0..self.runs.len())
            .map(|run| {
                let (reference, other) = (self.runs[self.reference], self.runs[run]);
                let mut tally = VerdictCounts::default();
                for ratio in rows.iter().map(|row| &row.ratios[run]).filter(|_| run != self.reference) {
                    match ratio.verdict {
                        Some(CompareVerdict::Different) => tally.different += 1,
                        Some(CompareVerdict::Same) => tally.same += 1,
                        Some(CompareVerdict::Undecided) => tally.undecided += 1,
                        Some(CompareVerdict::DifferentSpreadAssumed) => tally.assumed += 1,
                        None => tally.without += 1,
                    }
                }
                Compared {
                    name: self.names[run].clone(),
                    run: other.id.clone(),
                    summary: other.machine.summary.clone(),
                    relation: match () {
                        () if run == self.reference => Relation::Reference,
                        () if self.itself[run] => Relation::SameRun,
                        () => relation(reference, other),
                    },
                    disturbances: crate::conditions::disturbances(other),
                    started: other.session.started.clone(),
                    attribution: other.origin.as_ref().and_then(|origin| origin.attribution.clone()),
                    tally,
                }
            })
            .collect()
    }
}

/// The reference's ratio to itself, which is 1 if it has a value.
fn one(run: usize, reference: usize, row: &Aligned) -> Option<f64> {
    row.figures[run].filter(|_| run == reference)?.outcome.estimate().map(|_| 1.0)
}

fn nothing(reason: &str) -> Assessed {
    Assessed { finding: Some(FigureFinding::Nothing(reason.to_owned())), floor: None }
}
