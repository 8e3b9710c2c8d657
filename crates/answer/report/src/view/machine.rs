//! Descriptions of a run's machine.

use model::{Fact, FactValue, Run, Unit, format_size, percent};

use crate::PrintedQuantity;
use crate::words::{day, exact_words};

/// One line that names a run and its machine: `Run 3 "2026-11-21 vm": Intel Xeon, 2 CPUs, 24 GB, Linux 6.18`.
#[must_use]
pub fn heading(run: &Run, handle: Option<&str>) -> String {
    let numbered = numbered(run, handle);
    let machine = if run.machine.summary.is_empty() { &run.machine.name } else { &run.machine.summary };
    let when = day(&run.session.started);
    let about: Vec<String> = [machine.clone(), when].into_iter().filter(|words| !words.is_empty()).collect();
    let about = if about.is_empty() { "a machine that is not named".to_owned() } else { about.join(", ") };
    format!("{numbered}: {about}")
}

/// A short title: `Run 3 "2026-11-21 vm"`, or `Run 3: web-7` for a run without a label. Cards have the rest.
pub(super) fn title(run: &Run, handle: Option<&str>) -> String {
    let numbered = numbered(run, handle);
    let machine = &run.machine.name;
    if numbered.ends_with('"') || machine.is_empty() { numbered } else { format!("{numbered}: {machine}") }
}

/// How the user names the run, and its label.
fn numbered(run: &Run, handle: Option<&str>) -> String {
    let handle = handle.unwrap_or(&run.id);
    let label =
        run.label.as_deref().filter(|label| *label != handle).map(|label| format!(" \"{label}\"")).unwrap_or_default();
    format!("Run {handle}{label}")
}

/// Further notes on a session.
pub(super) fn notes(run: &Run) -> Vec<String> {
    let mut notes = run.session.notes.clone();
    notes.extend(sensors(run));
    notes.extend(moved(run));
    let limited = run.origin.is_none() && run.ended_by_limit();
    notes.extend(limited.then(|| "stopped at the time limit".to_owned()));
    notes
}

/// What a reader must know before the results: where they come from, and what casts doubt on the whole run.
pub(super) fn warnings(run: &Run) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(origin) = &run.origin {
        let version = origin.version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
        let document = origin.document.as_deref().map(|document| format!(", {document}")).unwrap_or_default();
        notes.push(format!("imported from {}{version}{document}", origin.tool));
        notes.extend(origin.attribution.clone());
    }
    notes.extend(changed(run));
    notes.extend(run.interrupted().then(|| "the run was stopped before all results were finished".to_owned()));
    notes
}

/// Share of alike readings of a distance from which the others are not worth a note.
const HARDLY_MOVED: f64 = 0.995;

/// Whether the machine was another one, or restarted.
fn changed(run: &Run) -> Option<String> {
    let (start, end) = (&run.session.began_on, run.session.ended_on.as_ref()?);
    if start.fingerprint != end.fingerprint {
        return Some("the run ended on another machine than it began on".to_owned());
    }
    (start.boot != end.boot).then(|| "the machine restarted during the run".to_owned())
}

/// Pairs of CPUs that the host moved during the run.
fn moved(run: &Run) -> impl Iterator<Item = String> {
    let distances = run.session.sensors.iter().flat_map(|sensors| &sensors.distances);
    distances.filter(|one| one.elsewhere.is_some() && one.share.get() < HARDLY_MOVED).map(ToString::to_string)
}

/// The clock of core results, and the contention during the run.
fn sensors(run: &Run) -> Option<String> {
    let sensors = run.session.sensors.as_ref()?;
    if let Some(why) = &sensors.refused {
        return Some(format!("CPU clock and sibling hyperthread were not watched: {why}"));
    }
    let clock = sensors.clock.map(clock_words)?;
    let Some(shared) = sensors.core_shared else {
        return Some(format!("median CPU clock {clock}; it is not known whether the sibling hyperthread was busy"));
    };
    let shared = format!("sibling hyperthread busy {} of the time", percent(shared.get()));
    let printed = run.results.iter().find_map(|result| result.sensors.as_ref()?.clock);
    Some(match printed {
        Some(at) if Some(at) != sensors.clock => {
            format!("CPU-bound results are shown at {} (median clock of the run {clock}); {shared}", clock_words(at))
        }
        Some(_) => format!("CPU-bound results are shown at {clock}, the median clock; {shared}"),
        None => format!("median CPU clock {clock}; {shared}"),
    })
}

fn clock_words(hertz: f64) -> String {
    PrintedQuantity::bare(hertz, Unit::Hertz).short()
}

/// A fact's value with its unit, for readers.
pub(crate) fn fact_words(fact: &Fact) -> String {
    let FactValue::Number(number) = fact.value else { return fact.value.text() };
    match fact.unit.as_deref() {
        Some("B") => bytes(number),
        Some("s") => PrintedQuantity::bare(number, Unit::Seconds).text(),
        Some("Hz") => hertz(number),
        Some("1") | None => PrintedQuantity::bare(number, Unit::Count).text(),
        Some("%") => percent(number / 100.0),
        Some(unit) => format!("{}\u{a0}{unit}", PrintedQuantity::bare(number, Unit::Count).text()),
    }
}

fn bytes(number: f64) -> String {
    let whole = (0.0..1e18).contains(&number) && number.fract() == 0.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be a whole positive number"
    )]
    let exact = whole.then(|| format_size(number as u64)).filter(|text| text.len() <= 7);
    match exact {
        Some(text) => exact_words(&text),
        None => PrintedQuantity::bare(number, Unit::Bytes).short(),
    }
}

fn hertz(number: f64) -> String {
    let (factor, unit) = match number {
        n if n >= 1e9 => (1e9, "GHz"),
        n if n >= 1e6 => (1e6, "MHz"),
        n if n >= 1e3 => (1e3, "kHz"),
        _ => (1.0, "Hz"),
    };
    format!("{}\u{a0}{unit}", PrintedQuantity::bare(number / factor, Unit::Count).text())
}
