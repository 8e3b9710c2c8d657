//! Computes the comparison: align, assess every result, adjust over the report, decide, average, rank, sort.

use std::collections::{BTreeMap, BTreeSet};

use model::{BenchmarkResult, Run};
use stats::distribution::normal_quantile;

use super::align::{Aligned, align};
use super::assumed::assumed;
use super::basis::{
    CYCLES_BAND, ComparedResult, PairFinding, basis_of, clock_shift, floor_of, incomparable, pair_finding,
};
use super::elsewhere::elsewhere;
use super::family::{Rows, geometric_means};
use super::modes::mode_pairs;
use super::options::CompareOptions;
use super::ratio_basis::{ComparedClock, FloorUsed, RatioBasis, RatioEnds};
use super::relation::Relation;
use super::result::{CompareRow, Compared, Comparison, OtherRule, Ratio, Unmatched, VerdictCounts};
use super::result_view::ResultView;
use super::session::{History, relation, same_run};
use super::shift::{CompareShift, CoreShifts, WIDEST};
use super::verdict::{Judge, ResultFinding};
use crate::Error;
use crate::shown_clock::ShownClock;

/// One cell before verdicts.
pub(super) struct Assessed {
    finding: Option<ResultFinding>,
    floor: Option<FloorUsed>,
    pub(super) basis: RatioBasis,
    core: Option<Box<CoreShifts>>,
}

impl Assessed {
    /// The ratio that means are made of, where there is a single one: of core results that of time.
    fn single(&self) -> Option<&CompareShift> {
        match (&self.core, &self.finding) {
            (Some(core), _) => Some(&core.time),
            (None, Some(ResultFinding::Single(shift))) => Some(shift),
            _ => None,
        }
    }

    /// The single ratio that the verdict is about.
    pub(super) fn known(&self) -> Option<&stats::RatioEstimate> {
        match &self.finding {
            Some(ResultFinding::Single(shift)) => shift.known.as_ref(),
            _ => None,
        }
    }

    /// The time of a result that is decided in cycles, which is tested as well.
    fn time(&self) -> Option<&CompareShift> {
        self.core.as_ref().filter(|_| self.basis == RatioBasis::Cycles).map(|core| &core.time)
    }

    /// Every p-value of the cell, that of the time last.
    pub(super) fn p_values(&self) -> Vec<f64> {
        let mut all = self.finding.as_ref().map(ResultFinding::p_values).unwrap_or_default();
        all.extend(self.time().map(|time| time.known.as_ref().map_or(f64::NAN, |known| known.p_value)));
        all
    }
}

/// Everything that the steps share.
pub(super) struct ComparisonInput<'a> {
    pub(super) runs: &'a [&'a Run],
    names: Vec<String>,
    pub(super) reference: usize,
    pub(super) options: &'a CompareOptions<'a>,
    pub(super) history: History,
    /// Runs that are the reference itself.
    itself: Vec<bool>,
    pub(super) clocks: Vec<Option<ShownClock>>,
}

/// Compares runs. For a single run the result has only ratios of 1.
///
/// # Errors
/// When there is no run, the reference or a pattern matches nothing, the runs share no result, or the column to sort by
/// does not exist.
pub fn compare(runs: &[&Run], options: &CompareOptions) -> Result<Comparison, Error> {
    compared(runs, options, true)
}

/// The same without geometric means, whose Monte Carlo takes most of the time.
///
/// # Errors
/// As for [`compare`].
pub fn compare_results(runs: &[&Run], options: &CompareOptions) -> Result<Comparison, Error> {
    compared(runs, options, false)
}

fn compared(runs: &[&Run], options: &CompareOptions, means: bool) -> Result<Comparison, Error> {
    let desk = ComparisonInput::new(runs, options)?;
    let reference = desk.reference;
    let alignment = align(runs, reference, options)?;
    let assess = |rows: &[Aligned]| rows.iter().map(|row| desk.assess(row)).collect::<Vec<_>>();
    let assessed = assess(&alignment.rows);
    let geometric_means = if means { desk.means(&alignment.rows, &assessed) } else { Vec::new() };
    let (rows, tests) = desk.judge(&alignment.rows, assessed);
    let (conditions, _) = desk.judge(&alignment.conditions, assess(&alignment.conditions));
    let machines = desk.machines(&rows);
    let unmatched = alignment
        .unmatched
        .into_iter()
        .map(|(run, result)| Unmatched { machine: desk.names[run].clone(), result })
        .collect();
    let mut comparison = Comparison {
        reference: desk.names[reference].clone(),
        normalise: options.normalise,
        band: options.band,
        cycles_band: in_cycles(&rows).then_some(options.band * CYCLES_BAND),
        level: options.level,
        tests,
        machines,
        rows,
        conditions,
        unmatched,
        geometric_means,
        per_price: Vec::new(),
        gate: None,
    };
    if let Some(name) = &options.sort_by {
        comparison.sort_by(name)?;
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

impl<'a> ComparisonInput<'a> {
    pub(super) fn new(runs: &'a [&'a Run], options: &'a CompareOptions<'a>) -> Result<Self, Error> {
        let names = crate::naming::names(runs, &options.handles);
        let reference = find_reference(runs, &names, options.reference.as_deref())?;
        let itself = runs.iter().map(|run| same_run(runs[reference], run)).collect();
        let clocks = runs.iter().map(|run| ShownClock::of(run)).collect();
        Ok(Self { runs, names, reference, options, history: History::new(options.history, runs), itself, clocks })
    }
}

impl ComparisonInput<'_> {
    pub(super) fn assess(&self, row: &Aligned) -> Vec<Assessed> {
        let reference = row.results[self.reference];
        (0..self.runs.len())
            .map(|run| match (reference, row.results[run]) {
                _ if run == self.reference => found(None),
                (_, None) => nothing("this run has no such result"),
                (None, Some(_)) => nothing("the baseline has no such result"),
                (Some(reference), Some(other)) => self.assess_pair(reference, run, other),
            })
            .collect()
    }

    fn compared<'f>(&'f self, run: usize, result: &'f BenchmarkResult) -> ComparedResult<'f> {
        ComparedResult { run: self.runs[run], result, clock: self.clocks[run] }
    }

    /// A result of the other run against the reference's, its samples times `factor`.
    pub(super) fn planted(
        &self,
        reference: &BenchmarkResult,
        run: usize,
        other: &BenchmarkResult,
        factor: f64,
    ) -> Option<Assessed> {
        let (from, to) = (self.compared(self.reference, reference), self.compared(run, other));
        let PairFinding { finding, floor, basis, core } =
            pair_finding((&from, &to), factor, &self.history, self.options).ok()?;
        Some(Assessed { finding: Some(finding), floor, basis, core })
    }

    fn assess_pair(&self, reference: &BenchmarkResult, run: usize, other: &BenchmarkResult) -> Assessed {
        let level = self.options.level;
        if self.itself[run] {
            return found(Some(ResultFinding::Itself));
        }
        let (from, to) = (self.compared(self.reference, reference), self.compared(run, other));
        if let Some(reason) = incomparable(&from, &to) {
            return nothing(&reason);
        }
        let basis = basis_of(&from, &to);
        let (floor, used) = floor_of(&from, &to, basis, &self.history);
        let (a, b) = (self.view(reference, basis), self.view(other, basis));
        let one_session = relation(from.run, to.run) == Relation::SameSession;
        if let Some(pairs) = mode_pairs(&a, &b, floor, level, one_session) {
            return Assessed { floor: used, basis, ..found(Some(ResultFinding::Modes(pairs))) };
        }
        match pair_finding((&from, &to), 1.0, &self.history, self.options) {
            Ok(PairFinding { mut finding, floor, basis, core }) => {
                if let ResultFinding::Single(shift) = &mut finding
                    && shift.known.is_none()
                {
                    shift.assumed = assumed((from.run, reference), (to.run, other), level);
                }
                Assessed { finding: Some(finding), floor, basis, core }
            }
            Err(reason) => nothing(&reason),
        }
    }

    /// A result of a run on a basis; cycles are time at the clock of the reference.
    fn view<'a>(&self, result: &'a BenchmarkResult, basis: RatioBasis) -> ResultView<'a> {
        match (basis, self.clocks[self.reference]) {
            (RatioBasis::Raw, _) => ResultView::raw(result),
            (RatioBasis::Cycles, Some(clock)) => ResultView::at(result, clock.hertz),
            _ => ResultView::stated(result),
        }
    }

    /// Verdicts over the whole report, and the number of tests in it.
    fn judge(&self, aligned: &[Aligned], assessed: Vec<Vec<Assessed>>) -> (Vec<CompareRow>, usize) {
        let p_values: Vec<f64> = assessed.iter().flatten().flat_map(Assessed::p_values).collect();
        let adjusted = stats::holm(&p_values);
        let tests = p_values.iter().filter(|p| !p.is_nan()).count();
        let mut next = 0;
        let rows = aligned.iter().zip(assessed).map(|(row, cells)| {
            let model = row.model(self.reference);
            let judge = Judge {
                metric: &model.metric,
                normalise: self.options.normalise,
                band: self.options.band,
                cycles_band: self.options.band * CYCLES_BAND,
                level: self.options.level,
                tests,
            };
            let mut ratios = Vec::with_capacity(cells.len());
            let mut others = cells.iter().filter(|cell| cell.finding.is_some()).map(|cell| cell.basis).peekable();
            let raw = others.peek().is_some() && others.all(|basis| basis == RatioBasis::Raw);
            for (run, cell) in cells.into_iter().enumerate() {
                let basis = if run == self.reference && raw { RatioBasis::Raw } else { cell.basis };
                let mut ratio = self.ratio(run, row, basis);
                (ratio.floor, ratio.basis) = (cell.floor, cell.basis);
                let (timed, count) = (cell.time().is_some(), cell.p_values().len());
                let adjusted = &adjusted[next..next + count];
                next += count;
                if let Some(finding) = cell.finding {
                    judge.fill(&mut ratio, finding, adjusted);
                }
                if let Some(core) = cell.core {
                    ratio.state_time(judge.core(&ratio, &core, adjusted.last().copied().filter(|_| timed)));
                }
                ratios.push(ratio);
            }
            self.rank(row, &mut ratios);
            CompareRow {
                benchmark: row.key.benchmark.clone(),
                parameters: row.key.parameters.clone(),
                title: model.title.clone(),
                metric: model.metric.clone(),
                class: model.class,
                ratios,
            }
        });
        (rows.collect(), tests)
    }

    /// A cell with what does not depend on verdicts.
    fn ratio(&self, run: usize, row: &Aligned, basis: RatioBasis) -> Ratio {
        let result = row.results[run];
        let outcome = |result: &BenchmarkResult| match basis {
            RatioBasis::Raw => ResultView::raw(result).outcome.into_owned(),
            _ => result.outcome.clone(),
        };
        Ratio {
            machine: self.names[run].clone(),
            parameters: result
                .filter(|result| result.parameters != row.key.parameters)
                .map(|result| result.parameters.clone()),
            outcome: result.map(outcome),
            flags: result.map(|result| result.flags.clone()).unwrap_or_default(),
            definition: result
                .map(|one| row.model(self.reference).definition.between(&one.definition))
                .unwrap_or_default(),
            elsewhere: elsewhere((self.runs[self.reference], row.results[self.reference]), (self.runs[run], result)),
            value: one(run, self.reference, row),
            ..Ratio::default()
        }
    }

    fn means(&self, rows: &[Aligned], assessed: &[Vec<Assessed>]) -> Vec<super::GeometricMean> {
        let shifts = assessed.iter().map(|cells| cells.iter().map(Assessed::single).collect()).collect();
        let results = rows.iter().map(|row| row.model(self.reference)).collect();
        let launched = rows.iter().map(|row| row.results.as_slice()).collect();
        let rows = Rows { names: &self.names, reference: self.reference, results, shifts, launched };
        geometric_means(rows, self.options)
    }

    fn clock(&self, run: usize) -> Option<ComparedClock> {
        let (own, reference) = (self.clocks[run]?, self.clocks[self.reference].filter(|_| run != self.reference));
        let ratio = reference.map(|reference| {
            let (log, error) = clock_shift(reference, own);
            let half = normal_quantile(0.5 + self.options.level / 2.0) * error;
            // A clock known only within a factor of hundreds has no useful interval.
            let ends = (half < WIDEST).then(|| ((log - half).exp(), (log + half).exp()));
            RatioEnds { value: log.exp(), low: ends.map(|ends| ends.0), high: ends.map(|ends| ends.1), verdict: None }
        });
        Some(ComparedClock { shown: own, ratio })
    }

    fn machines(&self, rows: &[CompareRow]) -> Vec<Compared> {
        (0..self.runs.len())
            .map(|run| {
                let (reference, other) = (self.runs[self.reference], self.runs[run]);
                let mut tally = VerdictCounts::default();
                for row in rows.iter().filter(|_| run != self.reference) {
                    tally.count(row.ratios[run].verdict);
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
                    clock: self.clock(run),
                    distances: other.session.sensors.iter().flat_map(|read| read.distances.clone()).collect(),
                    environment: other.machine.variables().map(|(name, value)| format!("{name}={value}")).collect(),
                    rules: other_rules(&other.rules, &reference.rules),
                    started: other.session.started.clone(),
                    attribution: other.origin.as_ref().and_then(|origin| origin.attribution.clone()),
                    tally,
                }
            })
            .collect()
    }
}

/// The rules that differ. Imported runs have none.
fn other_rules(own: &BTreeMap<String, f64>, reference: &BTreeMap<String, f64>) -> Vec<OtherRule> {
    if own.is_empty() || reference.is_empty() {
        return Vec::new();
    }
    let names: BTreeSet<&String> = own.keys().chain(reference.keys()).collect();
    let of = |name: &String| (own.get(name).copied(), reference.get(name).copied());
    let other = |name: &String| {
        let (own, reference) = of(name);
        OtherRule { name: name.clone(), own, reference }
    };
    names.into_iter().map(other).filter(|rule| rule.own != rule.reference).collect()
}

/// The reference's ratio to itself, which is 1 if it has a value.
fn one(run: usize, reference: usize, row: &Aligned) -> Option<f64> {
    row.results[run].filter(|_| run == reference)?.outcome.estimate().map(|_| 1.0)
}

fn in_cycles(rows: &[CompareRow]) -> bool {
    rows.iter().flat_map(|row| &row.ratios).any(|ratio| ratio.basis == RatioBasis::Cycles)
}

const fn found(finding: Option<ResultFinding>) -> Assessed {
    Assessed { finding, floor: None, basis: RatioBasis::Value, core: None }
}

fn nothing(reason: &str) -> Assessed {
    found(Some(ResultFinding::Nothing(reason.to_owned())))
}
