//! One machine: every row with its expectation, its verdict and its causes.

use compare::conditions::{DisturbanceKind, disturbances};
use model::{
    BenchmarkResult, Better, CLOCK, Catalogue, Estimate, FactValue, Flag, Machine, Metric, Parameters, Primitive, Run,
};
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::cause::{self, Scene};
use crate::expectation::{self, MachineKind};
use crate::limit;
use crate::part;
use crate::reference::PublicTable;
use crate::result::{Basis, CheckRow, CheckVerdict, ExpectedRange, MachineCheck};
use crate::symmetry::{self, Symmetric};

/// Chance of any false LOW in one check.
const LEVEL: f64 = 0.05;

/// What a machine is compared with.
#[derive(Clone, Copy)]
pub struct CheckContext<'a> {
    /// The benchmarks.
    pub catalogue: &'a Catalogue,
    /// One run of each machine elsewhere; those of another kind are left out.
    pub elsewhere: &'a [&'a Run],
    /// Earlier runs of the machine.
    pub past: &'a [&'a Run],
    /// A public table of machines.
    pub public: &'a PublicTable,
    /// The label of a result.
    pub label: fn(&str, &Metric, &Parameters) -> String,
}

/// What one row needs until all are judged together.
struct Draft {
    row: CheckRow,
    primitives: Vec<Primitive>,
    p: f64,
    disturbed: Option<String>,
}

/// Checks the machine of a run.
#[must_use]
pub fn check(run: &Run, context: &CheckContext<'_>) -> MachineCheck {
    let kind = MachineKind::of(&run.machine);
    let is_peer = |other: &&Run| kind.as_ref().zip(MachineKind::of(&other.machine)).is_some_and(|(a, b)| a.is(&b));
    let peers: Vec<&Run> = context.elsewhere.iter().copied().filter(is_peer).collect();
    check_among(run, &peers, context)
}

/// Checks the machine of a run among these of its kind.
pub(crate) fn check_among(run: &Run, peers: &[&Run], context: &CheckContext<'_>) -> MachineCheck {
    let machines: Vec<&Machine> = peers.iter().map(|peer| &peer.machine).collect();
    let mut drafts = drafts(run, peers, context);
    decide(&mut drafts);
    let shown: Vec<(Primitive, CheckVerdict)> =
        drafts.iter().filter_map(|draft| Some((*draft.primitives.first()?, draft.row.verdict))).collect();
    let scene = Scene { machine: &run.machine, peers: &machines, shown: &shown };
    for draft in drafts.iter_mut().filter(|draft| draft.row.verdict == CheckVerdict::Low) {
        draft.row.causes = scene.causes(&draft.primitives);
        if draft.row.causes.is_empty() {
            draft.row.note = without_cause(run, &draft.row);
        }
    }
    let mut rows = part::rows(&run.machine, &machines);
    let at = rows.len().min(1);
    rows.splice(at..at, drafts.into_iter().map(|draft| draft.row));
    let look = cause::worth_a_look(&run.machine, &rows);
    MachineCheck {
        machine: run.machine.name.clone(),
        summary: run.machine.summary.clone(),
        seconds: run.session.seconds,
        look,
        hints: hints(&run.machine),
        rows,
    }
}

fn drafts(run: &Run, peers: &[&Run], context: &CheckContext<'_>) -> Vec<Draft> {
    let busy = busy(run);
    let clock = run.results.iter().filter(|result| result.benchmark == CLOCK);
    let under_load = |result| draft(result, limit::clock(&run.machine), "clock under load".to_owned(), busy.as_ref());
    let mut drafts: Vec<Draft> = clock.filter_map(under_load).collect();
    drafts.extend(symmetry::groups(run).iter().filter_map(|group| alike(group, busy.as_ref())));
    let others = run.results.iter().filter(|result| !result.is_condition() && !symmetry::is_of_a_part(result));
    drafts.extend(others.filter_map(|result| {
        let expected = expectation::of(run, result, peers, context);
        let title = title(result, context);
        draft(result, expected, title, busy.as_ref())
    }));
    drafts
}

/// The title of a key result, else the label.
fn title(result: &BenchmarkResult, context: &CheckContext<'_>) -> String {
    let meets = |at: &Parameters| at.iter().all(|(name, value)| result.parameters.get(name) == Some(value));
    let key = context.catalogue.get(&result.benchmark).and_then(|one| one.key.iter().find(|key| meets(&key.at)));
    key.map_or_else(|| (context.label)(&result.title, &result.metric, &result.parameters), |key| key.title.clone())
}

fn draft(
    result: &BenchmarkResult,
    expected: Option<ExpectedRange>,
    title: String,
    busy: Option<&String>,
) -> Option<Draft> {
    let estimate = *result.outcome.estimate()?;
    let p = expected.as_ref().map_or(f64::NAN, |range| chance(&estimate, range, result.metric.better));
    let impossible = expected
        .as_ref()
        .is_some_and(|range| range.basis == Basis::Parts && is_beyond(&estimate, range, result.metric.better));
    let verdict = match (&expected, impossible) {
        (_, true) => CheckVerdict::Impossible,
        (None, _) => CheckVerdict::NoExpectation,
        _ => CheckVerdict::Ok,
    };
    let row = CheckRow {
        id: result.key().to_string(),
        title,
        value: Some(estimate),
        metric: Some(result.metric.clone()),
        expected,
        verdict,
        ..CheckRow::default()
    };
    let disturbed = own_disturbance(result).or_else(|| busy.cloned()).or_else(|| {
        (estimate.samples < model::FEWEST_SAMPLES || !estimate.is_sure())
            .then(|| format!("{} samples are too few", estimate.samples))
    });
    let primitives = if result.benchmark == CLOCK { vec![Primitive::CoreClock] } else { cause::primitives(result) };
    Some(Draft { row, primitives, p, disturbed })
}

/// The slowest of equal parts, for all of them.
fn alike(group: &Symmetric<'_>, busy: Option<&String>) -> Option<Draft> {
    let mut draft = draft(group.slowest, group.expected.clone(), group.parts.to_owned(), busy)?;
    let slowest = format!(
        "slowest: {} {}, {} below the median",
        &group.parts[..group.parts.len() - 1],
        group.number,
        model::percent(group.loss.max(0.0))
    );
    draft.row.note = if group.expected.is_some() { slowest } else { String::new() };
    draft.row.found = format!("{} {}", group.count, group.parts);
    // The slowest of many is chosen among them.
    draft.p = (draft.p * group.count as f64).min(1.0);
    Some(draft)
}

/// The chance of such a low value if the true one is at the end of the range: Student's t over the logarithm, whose
/// deviation the interval tells. 1 if the interval reaches the range.
fn chance(estimate: &Estimate, range: &ExpectedRange, better: Better) -> f64 {
    let (distance, reach) = match better {
        Better::Higher => ((range.low / estimate.value).ln(), (estimate.high / estimate.value).ln()),
        Better::Lower => ((estimate.value / range.high).ln(), (estimate.value / estimate.low).ln()),
    };
    let freedom = f64::from(estimate.samples.max(2) - 1);
    let Ok(student) = StudentsT::new(0.0, 1.0, freedom) else { return 1.0 };
    if distance.is_nan() || reach.is_nan() || distance <= reach {
        return 1.0;
    }
    let level = if estimate.level > 0.5 { estimate.level } else { 0.95 };
    let scale = (reach / student.inverse_cdf(0.5 + level / 2.0)).max(f64::MIN_POSITIVE);
    1.0 - student.cdf(distance / scale)
}

/// Whether the whole interval is better than the range.
fn is_beyond(estimate: &Estimate, range: &ExpectedRange, better: Better) -> bool {
    match better {
        Better::Higher => estimate.low > range.high,
        Better::Lower => estimate.high < range.low,
    }
}

/// Adjusts all rows together and calls the low ones.
fn decide(drafts: &mut [Draft]) {
    let adjusted = stats::holm(&drafts.iter().map(|draft| draft.p).collect::<Vec<f64>>());
    for (draft, p) in drafts.iter_mut().zip(adjusted) {
        if p.is_nan() || draft.row.verdict == CheckVerdict::Impossible {
            continue;
        }
        draft.row.p = Some(p);
        if p < LEVEL {
            (draft.row.verdict, draft.row.note) = match draft.disturbed.take() {
                Some(why) => (CheckVerdict::Busy, why),
                None => (CheckVerdict::Low, std::mem::take(&mut draft.row.note)),
            };
        }
    }
}

/// Why nothing in a run can be called low: others had the machine too.
fn busy(run: &Run) -> Option<String> {
    use DisturbanceKind::{CoreShared, Load, OtherRun, Steal, Throttling};
    let counts = [Load, Steal, OtherRun, CoreShared, Throttling];
    disturbances(run).into_iter().find(|one| counts.contains(&one.kind)).map(|one| one.says)
}

/// Why one result cannot be called low.
fn own_disturbance(result: &BenchmarkResult) -> Option<String> {
    let counts = [Flag::Steal, Flag::Throttled, Flag::Noisy, Flag::Drift, Flag::SharedCore];
    result.flags.iter().find(|flag| counts.contains(flag)).map(|flag| flag.about().to_owned())
}

/// What to measure next where no fact explains a low row.
fn without_cause(run: &Run, row: &CheckRow) -> String {
    let kept = if row.note.is_empty() { String::new() } else { format!("{}; ", row.note) };
    let host = if run.machine.is_guest() { ", and the host of this guest is not seen" } else { "" };
    format!("{kept}no known cause{host}; next: prony run --benchmark '{}'", row.id)
}

/// Facts that were not seen, once each.
fn hints(machine: &Machine) -> Vec<String> {
    let refused = |name: &str| matches!(machine.fact(name).map(|fact| &fact.value), Some(FactValue::Unknown(why)) if why.contains("root only"));
    let mut hints = Vec::new();
    if refused("memory.modules") {
        hints.push("Run it with sudo to see memory channels and speeds.".to_owned());
    }
    if machine.is_guest() {
        hints.push(
            "A guest sees no memory channels: its basis is symmetry, the same model elsewhere, and its own past."
                .to_owned(),
        );
    }
    hints
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_fault_is_in_the_list_of_causes() {
        for defect in crate::defect::DEFECTS {
            assert!(explain::known_causes().any(|cause| cause.title == defect.cause), "{}", defect.cause);
        }
    }
}
