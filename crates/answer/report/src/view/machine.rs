//! Descriptions of a run's machine.

use model::{Fact, FactValue, Run, Unit, format_size, percent};

use crate::PrintedQuantity;
use crate::words::{day, exact_words};

/// One line that names a run and its machine: `Run 3 "2026-11-21 vm": Intel Xeon, 2 CPUs, 24 GB, Linux 6.18`.
#[must_use]
pub fn heading(run: &Run, handle: Option<&str>) -> String {
    let handle = handle.unwrap_or(&run.id);
    let label =
        run.label.as_deref().filter(|label| *label != handle).map(|label| format!(" \"{label}\"")).unwrap_or_default();
    let machine = if run.machine.summary.is_empty() { &run.machine.name } else { &run.machine.summary };
    let when = day(&run.session.started);
    let about: Vec<String> = [machine.clone(), when].into_iter().filter(|words| !words.is_empty()).collect();
    let about = if about.is_empty() { "a machine that is not named".to_owned() } else { about.join(", ") };
    format!("Run {handle}{label}: {about}")
}

/// Notes on a session that precede its results.
pub(super) fn notes(run: &Run) -> Vec<String> {
    let mut notes = run.session.notes.clone();
    if let Some(origin) = &run.origin {
        let version = origin.version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
        let document = origin.document.as_deref().map(|document| format!(", {document}")).unwrap_or_default();
        notes.push(format!("not measured by Prony: taken from {}{version}{document}", origin.tool));
        notes.extend(origin.attribution.clone());
    }
    notes.extend(changed(run));
    notes.extend(sensors(run));
    notes.extend(moved(run));
    notes.extend(incomplete(run));
    notes
}

/// What casts doubt on the whole run.
pub(super) fn warnings(run: &Run) -> Vec<String> {
    changed(run).into_iter().chain(incomplete(run)).collect()
}

/// Share of alike readings of a distance from which the others are not worth a note.
const HARDLY_MOVED: f64 = 0.995;

/// Whether the machine was another one, or restarted.
fn changed(run: &Run) -> Option<String> {
    let (start, end) = (&run.session.began_on, run.session.ended_on.as_ref()?);
    if start.fingerprint != end.fingerprint {
        return Some("the machine was another one at the end of the run than at its start".to_owned());
    }
    (start.boot != end.boot).then(|| "the machine restarted during the run".to_owned())
}

fn incomplete(run: &Run) -> Option<String> {
    let how = match run.interrupted() {
        true => "the run ended before everything planned was done",
        false if run.origin.is_none() && run.ended_by_limit() => {
            "the time limit ended the run before every result was finished"
        }
        false => return None,
    };
    Some(how.to_owned())
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
        return Some(format!("clock and neighbours on the core were not seen: {why}"));
    }
    let clock = sensors.clock.map(clock_words)?;
    let Some(shared) = sensors.core_shared else {
        return Some(format!(
            "median clock {clock}; whether another thread was on the core is not known: no reading is of an exclusive core"
        ));
    };
    let shared = format!("the core was shared {} of the time", percent(shared.get()));
    let printed = run.results.iter().find_map(|result| result.sensors.as_ref()?.clock);
    Some(match printed {
        Some(at) if Some(at) != sensors.clock => {
            format!("core results at {}; the median clock of the run was {clock}, {shared}", clock_words(at))
        }
        Some(_) => format!("core results at {clock}, the median clock of the run; {shared}"),
        None => format!("median clock {clock}; {shared}"),
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
