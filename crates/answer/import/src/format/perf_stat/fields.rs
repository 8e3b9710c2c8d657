//! `perf stat -x` and `-j`: a line for each event, without a heading and without the command.

use model::{Better, Metric, Unit};

use crate::json::{self, BoundedMap, Scalar};
use crate::sheet::{SourceReading, SourceSheet, seconds};
use crate::text::{SourceFault, lines, need, number, parameter_value, shown, snake};

use super::{Confidence, SourceText, sure};

/// Separators that people give to -x.
const SEPARATORS: [char; 4] = [',', ';', '\t', '|'];

/// One event as a line states it.
struct PerfEvent<'a> {
    /// A number, or why there is none in angle brackets.
    value: &'a str,
    unit: &'a str,
    name: &'a str,
    /// Of -r: the deviation of the mean, percent.
    variance: Option<f64>,
    /// The share of the time that it was counted, percent; none in old versions.
    running: Option<f64>,
    /// Which part of the machine it is of, with -A and --per-socket and the like.
    part: Option<(&'static str, String)>,
    /// With -I: the values are of parts of the time.
    interval: bool,
}

/// Whether lines look like those of -x or -j: with a run time and a share of it, which no other table has there.
pub(super) fn detect(head: &[u8]) -> Confidence {
    let json = sure(head, &["\"counter-value\"", "\"event\"", "\"event-runtime\""]);
    let text = String::from_utf8_lossy(head);
    let mut data = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')).take(200);
    let timed = |line: &str| event(line).is_some_and(|event| event.running.is_some());
    let first = data.next().is_some_and(timed);
    // The command may have printed something before.
    match (first, data.filter(|line| timed(line)).count()) {
        (true, _) => Confidence::Sure,
        (false, 2..) => Confidence::Likely.max(json),
        _ => json,
    }
}

/// Whether the text is in one of these forms.
pub(super) fn is_fields(text: &str) -> bool {
    lines(text).any(|(_, line)| line.trim_start().starts_with("{\"") || event(line).is_some())
}

pub(super) fn parse(source: &SourceText<'_>) -> Result<SourceSheet, SourceFault> {
    let mut sheet = SourceSheet::default();
    for (at, line) in lines(source.text) {
        let object: BoundedMap<Scalar>;
        let found = if line.trim_start().starts_with('{') && line.contains("\"counter-value\"") {
            object = json::read(line).map_err(|fault| SourceFault::new(fault.reason, at))?;
            member(&object)
        } else if line.trim_start().starts_with("{\"") || line.starts_with('#') {
            // Ratios of events that another line states, and when it was started.
            source.took(at);
            continue;
        } else {
            event(line)
        };
        let Some(event) = found else { continue };
        if event.interval {
            return Err(SourceFault::new("its lines are of intervals (-I), not of a whole execution", at));
        }
        if !event.value.starts_with('<') {
            sheet.readings.push(reading(&event, at)?);
        }
        source.took(at);
    }
    Ok(sheet)
}

/// An object of -j.
fn member(object: &BoundedMap<Scalar>) -> Option<PerfEvent<'_>> {
    let words = |name: &str| match object.0.get(name) {
        Some(Scalar::Text(text)) => Some(text.as_str()),
        _ => None,
    };
    let parts = ["cpu", "thread", "core", "die", "socket", "node", "cgroup"];
    let part = parts.iter().find_map(|name| Some((*name, parameter_value(&object.0.get(*name)?.words()))));
    Some(PerfEvent {
        value: words("counter-value")?,
        unit: words("unit").unwrap_or_default(),
        name: words("event")?,
        variance: object.0.get("variance").and_then(Scalar::number),
        running: object.0.get("pcnt-running").and_then(Scalar::number),
        part,
        interval: object.0.contains_key("interval"),
    })
}

/// `0.47,msec,task-clock,466566,100.00,0.446,CPUs utilized`; with -r a share of deviation stands behind the name, with
/// -A `CPU0` in front, and with --per-socket and the like `S0` and the number of CPUs.
fn event(line: &str) -> Option<PerfEvent<'_>> {
    let separator = SEPARATORS.iter().find(|separator| line.matches(**separator).nth(1).is_some())?;
    let fields: Vec<&str> = line.trim_end_matches('\r').split(*separator).map(str::trim).collect();
    if let Some(event) = placed(&fields) {
        return Some(event);
    }
    let interval = number(fields[0]).is_some() && fields[0].contains('.');
    let rest = fields.get(1..).filter(|_| interval)?;
    placed(rest).map(|event| PerfEvent { interval, ..event })
}

/// The fields behind the time of an interval.
fn placed<'a>(fields: &[&'a str]) -> Option<PerfEvent<'a>> {
    if let Some(event) = plain(fields) {
        return Some(event);
    }
    let first = *fields.first()?;
    if let Some(cpu) = first.strip_prefix("CPU").filter(|cpu| cpu.parse::<u32>().is_ok()) {
        let part = Some(("cpu", cpu.to_owned()));
        return plain(fields.get(1..)?).map(|event| PerfEvent { part, ..event });
    }
    // `S0-D0-C1`: socket, die and core.
    let pieces: Vec<char> = first
        .split('-')
        .map(|piece| piece.chars().next().filter(|_| piece.get(1..).is_some_and(|rest| rest.parse::<u32>().is_ok())))
        .collect::<Option<_>>()?;
    let parameter = match pieces.last()? {
        'S' => "socket",
        'D' => "die",
        'C' => "core",
        'N' => "node",
        _ => return None,
    };
    fields.get(1)?.parse::<u32>().ok()?;
    plain(fields.get(2..)?).map(|event| PerfEvent { part: Some((parameter, parameter_value(first))), ..event })
}

fn plain<'a>(fields: &[&'a str]) -> Option<PerfEvent<'a>> {
    let [value, unit, name, rest @ ..] = fields else { return None };
    let counted = number(value).is_some() || ["<not counted>", "<not supported>"].contains(value);
    let named = name.starts_with(|c: char| c.is_ascii_alphabetic());
    if !counted || !named || !unit.chars().all(|c| c.is_ascii_alphabetic()) {
        return None;
    }
    let variance = rest.first().and_then(|field| field.strip_suffix('%')).and_then(number);
    let rest = if variance.is_some() { &rest[1..] } else { rest };
    let running = match rest {
        [time, share, ..] => {
            let share = share.split_once('.').filter(|(_, decimals)| decimals.len() == 2).and_then(|_| number(share));
            Some(share.filter(|_| time.parse::<u64>().is_ok())?)
        }
        [] => None,
        [_] => return None,
    };
    Some(PerfEvent { value, unit, name, variance, running, part: None, interval: false })
}

fn reading(event: &PerfEvent<'_>, at: usize) -> Result<SourceReading, SourceFault> {
    let name = event.name;
    let clock = ["task-clock", "cpu-clock"].iter().any(|clock| name.split(':').next() == Some(clock));
    let (scale, metric) = match event.unit {
        // Until Linux 4.18 these were milliseconds without saying so.
        "" if clock => (1e-3, seconds("execution")),
        "" => (1.0, Metric { unit: Unit::Count, per: "execution".into(), better: Better::Lower }),
        "msec" => (1e-3, seconds("execution")),
        "ns" => (1e-9, seconds("execution")),
        "Joules" => (1.0, Metric::lower(Unit::Joules, "execution")),
        unit => return Err(SourceFault::new(format!("the unit '{}' is not known", shown(unit)), at)),
    };
    let time = metric.unit == Unit::Seconds;
    let value = need(event.value, at)?;
    let reading = SourceReading::new(format!("perf_stat.{}", snake(name)), shown(name), value * scale, metric);
    let mut reading = if time { reading.printed_in(event.value, scale) } else { reading.printed(event.value) };
    if let Some((parameter, part)) = &event.part {
        reading = reading.at(parameter, part.clone());
    }
    if let Some(variance) = event.variance {
        reading = reading.note(format!(
            "the mean over executions, whose number is not stated; stated deviation of the mean {variance}%"
        ));
    }
    if let Some(share) = event.running.filter(|share| *share < 100.0) {
        reading = reading.note(format!("counted {share}% of the time and scaled"));
    }
    Ok(reading)
}
