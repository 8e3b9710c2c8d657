//! Evaluation of the launches of a figure: their undisturbed batches, and the basis of its value.

use model::{
    CpuDistance, Figure, FigureReferences, Invalid, Launch, LaunchReferences, ObservedReason, SessionReferences, Share,
    UndisturbedBatches, ValueBasis,
};

use super::classify::{BatchPlace, UndisturbedRule};
use super::distance::moved;
use super::domain::{declared_domain, follows};
use super::{FEWEST, LONGEST_NANOS, MOST_PARTIES};
use crate::pairs;

/// Launches before the rule that excludes contended ones may be suspended.
const LEAST_LAUNCHES: usize = 20;
/// Fraction of launches, as 1/n, that must have an unshared core; with fewer, contention is a property of the machine.
/// Far below the four fifths of other reasons: a core that is shared half of the time excludes half of the launches,
/// and the others are undisturbed.
const ONE_OF: usize = 10;
/// Ratio to the share of undisturbed null batches below which the work itself is assumed to disturb the readings.
const OWN_WORK: f64 = 0.5;
/// Fewest null batches for that judgement, and the smallest share of them that must be undisturbed.
const FEWEST_NULL: usize = 60;
const LEAST_NULL: f64 = 0.2;

/// A batch of a launch that is undisturbed: its value at its own clock in the unit of the figure, in cycles, and that
/// clock.
struct WeighedBatch {
    value: f64,
    cycles: f64,
    clock: f64,
}

/// Recomputes the evaluation of the launches of a figure, from raw readings and batch times and the ratio of the
/// unshared core in the session: which launches are contended, and the basis of the figure's value.
pub(crate) fn weigh(figure: &mut Figure, session: &SessionReferences) {
    let Some(read) = figure.launches.iter().find_map(|launch| launch.references.as_ref()) else {
        figure.references = None;
        return;
    };
    let unshared = unshared_on(read, session);
    let obstacle = obstacle(figure, read, unshared.is_empty());
    let before = figure.references.take().unwrap_or_default();
    let domain = declared_domain(figure);
    figure.references = Some(FigureReferences { domain, unshared, clock: session.clock, ..before });
    weigh_launches(figure, obstacle.is_none(), &session.distances);
    let follows = follows(figure);
    let basis = match obstacle.or_else(|| contended(figure)).or_else(|| own_work(figure)) {
        Some(reason) => ValueBasis::Observed(reason),
        None if follows.domain == model::Domain::Core && session.clock.is_some() => ValueBasis::Cycles,
        None => ValueBasis::Undisturbed,
    };
    let kept = kept_share(figure);
    if let Some(references) = &mut figure.references {
        (references.domain, references.slope, references.basis, references.kept) =
            (follows.domain, follows.slope, basis, kept);
        references.clock = session.clock.filter(|_| references.basis == ValueBasis::Cycles);
    }
}

/// Ratio of the unshared core on each track; empty if it is not known on all.
fn unshared_on(read: &LaunchReferences, session: &SessionReferences) -> Vec<f64> {
    let of = |cpu: u32| session.unshared.iter().find(|core| core.cpus.contains(&cpu)).and_then(|core| core.ratio);
    read.tracks.iter().map(|track| of(track.cpu)).collect::<Option<_>>().unwrap_or_default()
}

/// Why batches of this figure are not filtered, whatever the readings are.
fn obstacle(figure: &Figure, read: &LaunchReferences, unknown: bool) -> Option<ObservedReason> {
    let placed =
        figure.launches.iter().find(|launch| launch.references.is_some()).map(|launch| &launch.placement.asked);
    let mut cpus = placed.cloned().unwrap_or_default();
    cpus.sort_unstable();
    cpus.dedup();
    if figure.launches.iter().any(|launch| !launch.readings.is_empty()) {
        Some(ObservedReason::OwnReadings)
    } else if is_long(figure) {
        Some(ObservedReason::LongOperation)
    } else if cpus.len() > read.tracks.len().min(MOST_PARTIES) {
        Some(ObservedReason::ManyCpus)
    } else {
        unknown.then_some(ObservedReason::UnsharedNeverSeen)
    }
}

/// Whether batches are longer than those that are filtered: by the shortest batch of each launch, which contention does
/// not lengthen.
fn is_long(figure: &Figure) -> bool {
    let shortest: Vec<f64> =
        figure.launches.iter().filter_map(|launch| launch.nanos.iter().min()).map(|nanos| *nanos as f64).collect();
    stats::median(&shortest).is_some_and(|nanos| nanos > LONGEST_NANOS as f64)
}

fn weigh_launches(figure: &mut Figure, filtered: bool, usual: &[CpuDistance]) {
    let weighed: Vec<_> = figure.launches.iter().map(|launch| undisturbed(figure, launch)).collect();
    for (launch, undisturbed) in figure.launches.iter_mut().zip(weighed) {
        launch.undisturbed = undisturbed;
        if !matches!(launch.invalid, None | Some(Invalid::Contended { .. } | Invalid::Moved { .. })) {
            continue;
        }
        let few = undisturbed.filter(|found| filtered && found.batches < FEWEST);
        let contended = few.map(|found| Invalid::Contended { batches: found.batches, of: found.of });
        launch.invalid = launch.references.as_ref().and_then(|read| moved(read, usual)).or(contended);
    }
}

fn is_contended(launch: &Launch) -> bool {
    matches!(launch.invalid, Some(Invalid::Contended { .. }))
}

/// Why contention is a property of the machine: hardly any launch has an unshared core.
fn contended(figure: &Figure) -> Option<ObservedReason> {
    let (undisturbed, contended) = undisturbed_launches(figure);
    let all = contended + undisturbed;
    (all >= LEAST_LAUNCHES && undisturbed * ONE_OF < all).then(|| few_undisturbed(undisturbed, all))
}

/// The reason that too few launches are undisturbed.
pub(super) fn few_undisturbed(launches: usize, of: usize) -> ObservedReason {
    let count = |launches| u32::try_from(launches).unwrap_or(u32::MAX);
    ObservedReason::FewUndisturbed { launches: count(launches), of: count(of) }
}

/// Number of valid launches, and of contended ones.
pub(super) fn undisturbed_launches(figure: &Figure) -> (usize, usize) {
    let contended = figure.launches.iter().filter(|launch| is_contended(launch)).count();
    let undisturbed = figure.launches.iter().filter(|launch| launch.invalid.is_none()).count();
    (undisturbed, contended)
}

/// Why the readings are affected by the work itself: far fewer of its batches are undisturbed than of the null batches.
fn own_work(figure: &Figure) -> Option<ObservedReason> {
    let rule = rule(figure)?;
    let (mut null, mut kept) = (0, 0);
    // Launches that refine a value have none, and may be of other minutes.
    let (mut own, mut of) = (0, 0);
    for launch in &figure.launches {
        let Some(references) = launch.references.as_ref().filter(|references| !references.null.is_empty()) else {
            continue;
        };
        let undisturbed = launch.undisturbed.unwrap_or_default();
        (own, of) = (own + undisturbed.batches, of + undisturbed.of);
        let beside = LaunchReferences {
            lengths: references.lengths,
            tracks: references.null.clone(),
            ..LaunchReferences::default()
        };
        let batches = references.null[0].clock.0.len().saturating_sub(1);
        let place = |at: usize| BatchPlace { at, of: batches, like: None, nanos: 0 };
        null += batches;
        kept += (0..batches).filter(|at| rule.clock_of(&beside, place(*at)).is_some()).count();
    }
    let beside = kept as f64 / null.max(1) as f64;
    let own = Share::of(f64::from(own), f64::from(of))?.get();
    (null >= FEWEST_NULL && beside >= LEAST_NULL && own < OWN_WORK * beside).then_some(ObservedReason::OwnWork)
}

/// Share of the batches that are undisturbed, of launches that did not wait for it.
fn kept_share(figure: &Figure) -> Option<Share> {
    let counts = figure.launches.iter().filter(|launch| !launch.awaited).filter_map(|launch| launch.undisturbed);
    let (kept, of) = counts.fold((0, 0), |(kept, of), one| (kept + one.batches, of + one.of));
    Share::of(f64::from(kept), f64::from(of))
}

pub(super) fn rule(figure: &Figure) -> Option<UndisturbedRule> {
    let unshared = &figure.references.as_ref()?.unshared;
    (!unshared.is_empty()).then(|| UndisturbedRule::new(unshared.clone()))
}

fn is_paired(figure: &Figure) -> bool {
    probes::find(&figure.probe).is_some_and(|probe| probe.paired)
}

/// The undisturbed batches of a launch; `None` without readings.
fn undisturbed(figure: &Figure, launch: &Launch) -> Option<UndisturbedBatches> {
    undisturbed_by(&rule(figure)?, figure, launch)
}

pub(super) fn undisturbed_by(rule: &UndisturbedRule, figure: &Figure, launch: &Launch) -> Option<UndisturbedBatches> {
    let batches = weighed(rule, figure, launch)?;
    let clocks: Vec<f64> = batches.iter().flatten().map(|batch| batch.clock).collect();
    let clock = stats::median(&clocks);
    if is_paired(figure) {
        let each = |of: fn(&WeighedBatch) -> f64| -> Vec<Option<f64>> {
            batches.iter().map(|batch| batch.as_ref().map(of)).collect()
        };
        let values = each(|batch| batch.value);
        let (pairs, of) = pairs::complete(&values);
        let cycles = pairs::difference_of(&each(|batch| batch.cycles));
        return Some(UndisturbedBatches { batches: pairs, of, value: pairs::difference_of(&values), cycles, clock });
    }
    let median = |of: fn(&WeighedBatch) -> f64| stats::median(&batches.iter().flatten().map(of).collect::<Vec<_>>());
    Some(UndisturbedBatches {
        batches: u32::try_from(clocks.len()).unwrap_or(u32::MAX),
        of: u32::try_from(batches.len()).unwrap_or(u32::MAX),
        value: median(|batch| batch.value),
        cycles: median(|batch| batch.cycles),
        clock,
    })
}

/// All batches of a launch in the order of time, `None` for those that are disturbed.
fn weighed(rule: &UndisturbedRule, figure: &Figure, launch: &Launch) -> Option<Vec<Option<WeighedBatch>>> {
    let references = launch.references.as_ref()?;
    let batches = launch.batches(figure.ops);
    let side = |at: usize| is_paired(figure) && model::work_first(at / 2) != at.is_multiple_of(2);
    let mut last = [None, None];
    let mut all = Vec::with_capacity(batches.len());
    for (at, (ops, nanos)) in batches.iter().enumerate() {
        let like = last[usize::from(side(at))].replace(at);
        let place = BatchPlace { at, of: batches.len(), like, nanos: *nanos };
        let amount = *ops as f64 * figure.amount;
        all.push(rule.clock_of(references, place).map(|clock| WeighedBatch {
            value: figure.metric.value(amount, *nanos as f64),
            // In nanoseconds of a CPU of 1 Hz a cycle is a second.
            cycles: figure.metric.value(amount, *nanos as f64 * clock),
            clock,
        }));
    }
    Some(all)
}

/// Values of the batches of a launch (of a difference: its pairs) in the unit of the figure, of those on which its
/// value is based.
pub(crate) fn batch_values(figure: &Figure, launch: &Launch) -> Vec<f64> {
    if !launch.readings.is_empty() {
        return launch.readings.clone();
    }
    let values = flat_values(figure, launch);
    if is_paired(figure) {
        let (work, overhead) = model::split_pairs(&values);
        return work.iter().zip(&overhead).filter_map(|(work, overhead)| Some((*work)? - (*overhead)?)).collect();
    }
    values.into_iter().flatten().collect()
}

/// Nanoseconds of every batch in the order of time, `None` for those on which the value of the figure is not based.
pub(crate) fn kept_nanos(figure: &Figure, launch: &Launch) -> Vec<Option<f64>> {
    let counts = flat_values(figure, launch);
    launch.nanos.iter().zip(counts).map(|(nanos, value)| value.map(|_| *nanos as f64)).collect()
}

/// The difference of a null pair of a launch, on the basis of the figure's value.
pub(crate) fn null_difference(figure: &Figure, launch: &Launch) -> Option<f64> {
    pairs::null_difference_of(&flat_values(figure, launch))
}

/// Every batch in the order of time in the unit of the figure, on the basis of its value: `None` for excluded batches.
pub(crate) fn flat_values(figure: &Figure, launch: &Launch) -> Vec<Option<f64>> {
    let clock = figure.references.as_ref().and_then(|references| references.clock);
    let weighed = |launch: &Launch| weighed(&rule(figure)?, figure, launch);
    match figure.basis() {
        ValueBasis::Cycles => {
            let at = |batch: WeighedBatch| Some(figure.metric.at_clock(batch.cycles, clock?));
            weighed(launch).unwrap_or_default().into_iter().map(|batch| batch.and_then(at)).collect()
        }
        ValueBasis::Undisturbed => {
            weighed(launch).unwrap_or_default().into_iter().map(|batch| batch.map(|batch| batch.value)).collect()
        }
        ValueBasis::Observed(_) | ValueBasis::All => launch
            .batches(figure.ops)
            .iter()
            .map(|(ops, nanos)| Some(figure.metric.value(*ops as f64 * figure.amount, *nanos as f64)))
            .collect(),
    }
}

#[cfg(test)]
#[path = "weigh_tests.rs"]
pub(super) mod tests;
