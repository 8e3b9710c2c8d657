//! The steps of explaining, in order.

use std::collections::BTreeMap;

use compare::conditions::{disturbances, is_beside_a_crowd, sentence};
use compare::{
    CompareRow, Comparison, Error, GeometricMean, Normalise, Relation, SessionRecord, compare_results, relation,
};
use model::{BenchmarkResult, Catalogue, Metric, Parameters, Primitive, Run, Unit};
use stats::distribution::normal_quantile;

use super::bound::bounds;
use super::budget::{CauseCost, costs, slowest};
use super::cause::{attach, cause, line};
use super::clock::clock_evidence;
use super::common::{CommonFactorFit, common_factor};
use super::cpu::cpus;
use super::decided::decided;
use super::evidence::{Evidence, disturbed};
use super::facts::differences;
use super::group::{CauseGroup, groups};
use super::limit::limit_evidence;
use super::matching::{of_one_definition, parameters_that_differ, restricted};
use super::next::next_experiment;
use super::residual::{WITHOUT_SPREAD, by_primitive, set_residuals};
use super::result::{
    Cause, CommonFactor, Explanation, LeftOpen, ResultName, RunDifference, UNTOLD, Unmeasured, WouldNeed,
};
use super::rules::{CPU_LIMIT, PLACEMENT, RULES};
use super::shared::{Judging, describe_common};
use super::stall::stall;
use super::stream_line::{StreamLine, lines, stands_for};
use super::test::{ExplainedResult, Sides, tests};
use super::text;
use model::words;

/// Options of an explanation.
#[derive(Debug, Clone)]
pub struct ExplainOptions<'a> {
    /// The benchmarks.
    pub catalogue: &'a Catalogue,
    /// Patterns of results, separated by commas; all when absent.
    pub results: Option<String>,
    /// Takes A's results at one set of parameters and B's at another, such as `placement=same_cpu` and
    /// `placement=cross_cpu`. Also explains one run alone.
    pub at: Option<(Parameters, Parameters)>,
    /// Half-width of the margin that counts as no change.
    pub band: f64,
    /// Confidence level.
    pub level: f64,
    /// Earlier runs, for session noise.
    pub history: &'a [SessionRecord],
    /// Whether to compute the geometric mean of all results, which takes longer than everything else.
    pub mean: bool,
    /// A title with the parameters in words.
    pub label: fn(&str, &Metric, &Parameters) -> String,
    /// What A and B were called by who asked, for [`compare::naming::names`]; empty when no names were given.
    pub handles: Vec<String>,
}

impl Default for ExplainOptions<'_> {
    fn default() -> Self {
        let catalogue = <&Catalogue>::default();
        Self {
            catalogue,
            results: None,
            at: None,
            band: stats::BAND,
            level: 0.95,
            history: &[],
            mean: false,
            label,
            handles: Vec::new(),
        }
    }
}

/// The title, with the values of the parameters.
fn label(title: &str, _: &Metric, parameters: &Parameters) -> String {
    std::iter::once(title).chain(parameters.iter().map(|(_, value)| value)).collect::<Vec<_>>().join(", ")
}

/// Explains why B differs from A.
///
/// # Errors
/// When the runs have no result in common, or a pattern or a set of parameters matches none.
pub fn explain(a: &Run, b: &Run, options: &ExplainOptions) -> Result<Explanation, Error> {
    // Disturbances concern the whole run, as in a comparison.
    let whole = [a, b];
    let (a, b) = match &options.at {
        Some((at_a, at_b)) => (restricted(a, at_a)?, restricted(b, at_b)?),
        None => (a.clone(), b.clone()),
    };
    let (a, b) = of_one_definition(a, b);
    let catalogue = options.catalogue;
    let [a, b] = [a, b].map(|run| with_primitives(run, catalogue));
    let z = normal_quantile(0.5 + options.level / 2.0);
    let comparison = set_side_by_side(&a, &b, options)?;
    let names = (comparison.machines[0].name.clone(), comparison.machines[1].name.clone());
    let recorded = differences(&a, &b);
    let placement = |d: &RunDifference| RULES.iter().any(|rule| rule.title == PLACEMENT && rule.names(d));
    let sides = Sides { a: &a, b: &b, catalogue, placed_differently: recorded.iter().any(placement) };
    let related = relation(&a, &b);
    let one_session = related == Relation::SameSession;
    let lines = lines(&a, &b, one_session, options.level);
    let (mut tests, mut passed) = tests(&comparison, &sides, z);
    // A line replaces all of its streams.
    tests.retain(|test| lines.is_empty() || !stands_for(&test.key.benchmark));
    passed.retain(|passed| lines.is_empty() || !stands_for(&passed.key.benchmark));
    let common = common_factor(&tests, clock_evidence(&a, &b).as_ref(), one_session, options.band, options.level);
    set_residuals(&mut tests, &common, options.band, options.level, z);
    let differences = with_parameters(recorded, &tests);
    let costs = costs(&tests);
    let limit = limit_evidence(&a, &b, &differences);
    let disturbed = disturbed(&a, &b, (&names.0, &names.1), limit.is_some());
    let (limit, disturbed) = (limit.as_ref(), disturbed.as_ref());
    let evidence = Evidence { catalogue, differences: &differences, limit, disturbed };
    let judging = Judging { runs: (&a, &b), evidence: &evidence, band: options.band, z };
    let Weighed { causes, common_factor, untold } = weigh(&tests, &costs, &common, &judging, options.level);
    let unmeasured = unmeasured(&tests, &costs, &causes);
    let (ruled_out, not_ruled_out) = bounds(&tests, common.log != 0.0, &causes, &unmeasured);
    let mut left_open = left_open(&tests, &costs);
    left_open.extend(untold);
    left_open.extend(passed.into_iter().map(|passed| LeftOpen { test: passed.key, factor: None, why: passed.why }));
    let told = common.log != 0.0 || !left_open.is_empty() || !causes.is_empty();
    let difference = told || lines.iter().any(StreamLine::differs) || tests.iter().any(|test| test.significant);
    let curve_points = tests.iter().filter(|test| test.on_curve).count();
    let mut found = Explanation {
        cpus: cpus(&a, &b),
        same_machine: related != Relation::AnotherMachine,
        slowdown: slowdown(&comparison),
        names: result_names(&comparison, options),
        disturbed: said_of(&whole, &[&names.0, &names.1]),
        interference: first_of(&whole, &[&names.0, &names.1]),
        a: names.0,
        b: names.1,
        tests: tests.len() - curve_points,
        curve_points,
        difference,
        decided: decided(&comparison, !lines.is_empty()),
        residuals: by_primitive(&tests, &common, z),
        next_experiment: None,
        assumed: assumed(&tests, &a, &b, difference),
        common_factor,
        lines,
        causes,
        unmeasured,
        ruled_out,
        not_ruled_out,
        left_open,
        facts: differences,
    };
    found.next_experiment = next_experiment(&found, catalogue).filter(|_| difference);
    Ok(found)
}

/// The run with the primitives of the catalogue for results that state none.
fn with_primitives(mut run: Run, catalogue: &Catalogue) -> Run {
    for result in run.results.iter_mut().filter(|result| result.stresses.is_empty()) {
        result.stresses =
            catalogue.get(&result.benchmark).map(|benchmark| benchmark.stresses.clone()).unwrap_or_default();
    }
    run
}

/// What the evidence says.
struct Weighed {
    causes: Vec<Cause>,
    common_factor: CommonFactor,
    /// Tests that differ, for which what disturbed the runs is the only reason known.
    untold: Vec<LeftOpen>,
}

/// The causes by the evidence, first a limit on CPU time that shows in everything, and the common factor.
fn weigh(
    tests: &[ExplainedResult],
    costs: &[Option<CauseCost>],
    common: &CommonFactorFit,
    judging: &Judging<'_>,
    level: f64,
) -> Weighed {
    let joined = attach(groups(tests, costs), tests, costs, judging.evidence);
    let crowded = is_beside_a_crowd(judging.runs.0) || is_beside_a_crowd(judging.runs.1);
    let (disturbed, joined): (Vec<CauseGroup>, Vec<CauseGroup>) =
        joined.into_iter().partition(|group| group.is_of_disturbances(tests, crowded));
    let untold = |index: usize| LeftOpen {
        test: tests[index].key.clone(),
        factor: Some(tests[index].residual.exp()),
        why: UNTOLD.to_owned(),
    };
    let untold = disturbed.into_iter().flat_map(|group| group.tests).map(untold).collect();
    let mut causes: Vec<Cause> = joined.iter().map(|group| cause(group, tests, costs, judging.z)).collect();
    let (common_cause, common_factor) = describe_common(tests, common, judging);
    let limited = causes.iter().any(|cause| cause.title == CPU_LIMIT);
    let stalled = || if limited { None } else { stall(tests, judging.runs, judging.evidence, level) };
    if let Some(first) = common_cause.or_else(stalled) {
        causes.insert(0, first);
    }
    Weighed { causes, common_factor, untold }
}

/// One sentence on each disturbed run, or one for a run that is explained alone. Equal sentences of the second run are
/// not repeated.
fn said_of(runs: &[&Run], names: &[&String]) -> Vec<String> {
    let (mut said, mut before): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for (run, name) in runs.iter().zip(names) {
        let known = runs.iter().take_while(|other| !std::ptr::eq(**other, *run)).any(|other| other.id == run.id);
        let Some(of_it) = sentence("it", &disturbances(run)).filter(|_| !known) else { continue };
        let likewise = before.contains(&of_it);
        said.push(if likewise { format!("{name} likewise") } else { of_it.replacen("it", name, 1) });
        before.push(of_it);
    }
    said
}

/// The strongest interference of each run, as `web-3: steal time was 4%`; once if both are one run.
fn first_of(runs: &[&Run], names: &[&String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (place, (run, name)) in runs.iter().zip(names).enumerate() {
        let known = runs[..place].iter().any(|other| other.id == run.id);
        let disturbances = disturbances(run);
        let first = disturbances.first().filter(|_| !known).map(|first| format!("{name}: {}", first.says));
        found.extend(first);
    }
    found
}

/// Geometric mean of B's times over A's over all results that the comparison has a mean of; `None` if its interval holds
/// no change.
fn slowdown(comparison: &Comparison) -> Option<f64> {
    let of_all = |mean: &&GeometricMean| mean.family.is_none() && mean.machine != comparison.reference;
    let mean = comparison.geometric_means.iter().find(of_all)?;
    let unclear = mean.low.zip(mean.high).is_some_and(|(low, high)| low <= 1.0 && high >= 1.0);
    (!unclear && mean.value > 0.0).then(|| 1.0 / mean.value)
}

/// What the results are called, by their ids.
fn result_names(comparison: &Comparison, options: &ExplainOptions) -> BTreeMap<String, ResultName> {
    let name = |row: &CompareRow| ResultName {
        title: row.title.clone(),
        label: (options.label)(&row.title, &row.metric, &row.parameters),
    };
    comparison.rows.iter().map(|row| (row.key().to_string(), name(row))).collect()
}

/// Compares with A as the reference, as gains, across the parameters that differ or were requested. For a run against
/// itself B gets another name, and both have the samples of one session.
fn set_side_by_side(a: &Run, b: &Run, options: &ExplainOptions) -> Result<Comparison, Error> {
    let mut across: Vec<String> = parameters_that_differ(a, b);
    if let Some((at_a, at_b)) = &options.at {
        across.extend(at_a.iter().chain(at_b.iter()).map(|(parameter, _)| parameter.to_owned()));
    }
    let compare_options = compare::CompareOptions {
        results: options.results.clone(),
        across,
        normalise: Normalise::Gain,
        band: options.band,
        level: options.level,
        history: options.history,
        handles: options.handles.clone(),
        ..compare::CompareOptions::default()
    };
    let of = if options.mean { compare::compare } else { compare_results };
    of(&[a, b], &compare_options)
}

/// Facts, settings and notes, and the parameters on which matched sets of parameters differ.
fn with_parameters(mut found: Vec<RunDifference>, tests: &[ExplainedResult]) -> Vec<RunDifference> {
    for (parameter, x, y) in tests.iter().flat_map(|test| &test.parameters) {
        let difference = RunDifference {
            kind: super::DifferenceKind::Parameter,
            name: parameter.clone(),
            a: x.clone(),
            b: y.clone(),
            affects: Vec::new(),
            unit: None,
        };
        if !found.contains(&difference) {
            found.push(difference);
        }
    }
    found
}

/// Excesses within this factor of each other form one group.
const SIMILAR: f64 = 2.0;

fn unmeasured(tests: &[ExplainedResult], costs: &[Option<CauseCost>], causes: &[Cause]) -> Vec<Unmeasured> {
    let mut rest: Vec<usize> = (0..tests.len()).filter(|&index| costs[index] == Some(CauseCost::Unmeasured)).collect();
    rest.sort_by(|&a, &b| tests[a].excess().total_cmp(&tests[b].excess()));
    let mut groups = Vec::new();
    while let Some(&first) = rest.first() {
        let limit = SIMILAR * tests[first].excess();
        let size = rest.iter().take_while(|&&index| tests[index].excess() <= limit).count();
        let mut group: Vec<usize> = rest.drain(..size.max(1)).collect();
        group.sort_unstable();
        groups.push(describe_unmeasured(&group, tests, causes));
    }
    groups
}

fn describe_unmeasured(group: &[usize], tests: &[ExplainedResult], causes: &[Cause]) -> Unmeasured {
    let ends = |value: &dyn Fn(&ExplainedResult) -> f64| {
        let values = group.iter().map(|&index| value(&tests[index]));
        (values.clone().fold(f64::INFINITY, f64::min), values.fold(f64::NEG_INFINITY, f64::max))
    };
    let excess = ends(&|test| test.excess());
    let mut would_need = Vec::new();
    let mut arithmetic: Vec<String> = group.iter().map(|&index| line(&tests[index])).collect();
    let countable = [Primitive::ContextSwitch, Primitive::Exec, Primitive::Fork];
    for found in causes.iter().filter(|cause| cause.excess > 0.0) {
        let Some(primitive) = found.primitives.iter().copied().find(|p| countable.contains(p)) else { continue };
        let uses = group.iter().filter_map(|&index| tests[index].uses.count(primitive)).fold(0.0, f64::max);
        let need = WouldNeed {
            primitive,
            per: found.per.clone(),
            least: excess.0 / found.excess,
            most: excess.1 / found.excess,
            uses,
        };
        arithmetic.push(format!(
            "{} / {} = {} {} by {}; at most {} are used",
            text::range(excess.0, excess.1, words::seconds),
            words::seconds(found.excess),
            text::range(need.least, need.most, text::count),
            text::plural(&found.per),
            found.unit,
            text::count(uses)
        ));
        would_need.push(need);
    }
    let mut candidates: Vec<Primitive> = Vec::new();
    for &primitive in group.iter().flat_map(|&index| &tests[index].touches) {
        let itself = group.iter().any(|&index| tests[index].primitive == primitive);
        let measured = itself || tests.iter().any(|test| test.primitive == primitive && !test.composite);
        if !measured && !candidates.contains(&primitive) {
            candidates.push(primitive);
        }
    }
    Unmeasured {
        tests: group.iter().map(|&index| tests[index].key.clone()).collect(),
        excess,
        slowdown: ends(&|test| test.log.exp()),
        slowest_measured: slowest(tests),
        would_need,
        candidates,
        arithmetic,
    }
}

fn left_open(tests: &[ExplainedResult], costs: &[Option<CauseCost>]) -> Vec<LeftOpen> {
    let why = |bill: &Option<CauseCost>| match bill {
        Some(CauseCost::Doubtful(why) | CauseCost::Open(why)) => Some(why.clone()),
        _ => None,
    };
    let open = tests.iter().zip(costs).filter_map(|(test, bill)| why(bill).map(|why| (test, why)));
    open.map(|(test, why)| LeftOpen { test: test.key.clone(), factor: Some(test.residual.exp()), why }).collect()
}

/// Assumptions of the arithmetic that were neither measured nor printed.
fn assumed(tests: &[ExplainedResult], a: &Run, b: &Run, difference: bool) -> Vec<String> {
    let mut said = Vec::new();
    if !difference {
        return said;
    }
    if tests.iter().any(|test| test.error.is_none()) {
        let limit = (WITHOUT_SPREAD - 1.0) * 100.0;
        said.push(format!("no spread is known, so that a residual counts as a difference beyond {limit:.0}%"));
    }
    if let Some(rounding) = clock_evidence(a, b).and_then(|clock| clock.assumed) {
        said.push(rounding);
    }
    let published = [a, b].iter().any(|run| run.origin.is_some() || run.results.iter().all(|f| f.samples.is_empty()));
    if published {
        said.push(
            "units: a rate counts loops a second; scripts, compilations and calculations are counted a minute"
                .to_owned(),
        );
    }
    let kilobytes = |result: &BenchmarkResult| result.family() == "file" && result.metric.unit == Unit::BytesPerSecond;
    if published && b.results.iter().any(kilobytes) {
        said.push("units: a kilobyte of a printed rate is taken as 1000 bytes".to_owned());
    }
    let mut units: Vec<String> = Vec::new();
    let declared = tests
        .iter()
        .filter(|test| test.significant || test.composite)
        .filter_map(|test| Some((test, test.declared.as_ref()?)));
    for (test, declared) in declared {
        let uses: Vec<String> =
            declared.uses.iter().map(|(primitive, count)| format!("{} × {primitive}", text::count(*count))).collect();
        let uses = if uses.is_empty() { String::new() } else { format!(" and uses at most {}", words::list(&uses)) };
        let unit = format!("operation counts: one {} of {} counts as one{uses}", declared.name, test.key.benchmark);
        if !units.contains(&unit) {
            units.push(unit);
        }
    }
    said.extend(units);
    said
}
