//! stress-ng: its metrics on the terminal (--metrics) and as YAML (--yaml).

use std::collections::HashMap;

use model::{Metric, Unit};

use super::{CodeFormat, Parsed, SourceText, sure};
use crate::date::unix;
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, number as fact, rate, text};
use crate::text::{SourceFault, after, lines, name_value, need, number, parameter_value, snake};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "stress-ng",
    tool: "stress-ng",
    about: "bogo operations a second and the stressors' own metrics; no spread is stated, and bogo operations mean \
            something else in every version",
    by_lines: true,
    detect: |head| sure(head, &["stress-ng-version:"]).max(sure(head, &["stress-ng: ", "bogo ops"])),
    parse,
};

const BOGO: &str = "bogo operations of different versions of stress-ng must not be compared";

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let sheet = if source.text.contains("stress-ng-version:") { yaml(source)? } else { terminal(source)? };
    Ok(Parsed::Sheets(vec![sheet]))
}

fn bogo(stressor: &str, value: f64, version: Option<&str>) -> SourceReading {
    let reading = SourceReading::new("stress_ng.bogo_ops", "Bogo operations", value, rate("bogo operations"));
    let reading = reading.at("stressor", parameter_value(stressor)).note(BOGO);
    // As part of the name, the version separates results of different versions.
    match version {
        Some(version) => reading.at("version", parameter_value(version)),
        None => reading,
    }
}

/// The counts and times behind the rate, and the rest of the system's description.
const NEEDLESS: &[&str] = &[
    "bogo-ops",
    "bogo-ops-per-second-usr-sys-time",
    "wall-clock-time",
    "user-time",
    "system-time",
    "cpu-usage-per-instance",
    "max-rss",
    "version",
    "date-yyyy-mm-dd",
    "time-hh-mm-ss",
    "freeram",
    "sharedram",
    "bufferram",
    "totalswap",
    "freeswap",
    "pagesize",
    "cpus",
    "uptime",
    "ticks-per-second",
    "page-size",
    "sysname",
];

/// `key: value` lines, one group for each stressor; the subset of YAML that it writes.
fn yaml(source: &SourceText<'_>) -> Result<SourceSheet, SourceFault> {
    let mut sheet = SourceSheet::default();
    let (mut stressor, mut open) = (String::new(), None);
    for (at, line) in lines(source.text) {
        let Some((key, value)) = line.trim().trim_start_matches("- ").split_once(':') else { continue };
        let (key, value) = (key.trim(), value.trim().trim_matches('\''));
        match key {
            "stress-ng-version" => sheet.version = Some(value.to_owned()),
            "nodename" => sheet.machine = name_value(value),
            "release" => sheet.facts.extend(text("kernel.release", value, "stress-ng", &[])),
            "machine" => sheet.facts.extend(text("cpu.architecture", value, "stress-ng", &[])),
            "compiler" => sheet.facts.extend(text("compiler", value, "stress-ng", &[])),
            "totalram" => sheet.facts.push(fact("memory.total", need(value, at)?, "B", "stress-ng", &[])),
            "cpus-online" => sheet.facts.push(fact("cpu.count", need(value, at)?, "1", "stress-ng", &[])),
            "epoch-secs" => sheet.started = unix(need(value, at)?),
            "stressor" => {
                value.clone_into(&mut stressor);
                if let Some((place, last)) = open.replace((at, value.to_owned())) {
                    return Err(SourceFault::new(format!("stressor '{}' has no rate", parameter_value(&last)), place));
                }
            }
            _ if NEEDLESS.contains(&key) => {}
            _ if stressor.is_empty() => continue,
            "bogo-ops-per-second-real-time" => {
                let reading = bogo(&stressor, need(value, at)?, sheet.version.as_deref());
                sheet.readings.push(reading);
                open = None;
            }
            _ => match own(&stressor, key, value) {
                Some(reading) => sheet.readings.push(reading),
                None => continue,
            },
        }
        source.took(at);
    }
    match open {
        Some((place, last)) => {
            Err(SourceFault::new(format!("stressor '{}' has no rate", parameter_value(&last)), place))
        }
        None => Ok(sheet),
    }
}

/// Metrics of single stressors: rates that name what they count. The counts and times behind the bogo rate are left
/// out.
fn own(stressor: &str, key: &str, value: &str) -> Option<SourceReading> {
    let value = number(value)?;
    if !(key.contains("per-sec") || key.contains("nanosec") || key.contains("microsec")) || key.starts_with("bogo-") {
        return None;
    }
    let words = key.replace('-', " ");
    let (scale, metric) = match () {
        () if key.contains("per-sec") => match bytes_of(key) {
            Some(scale) => (scale, bytes_per_second("")),
            None => (1.0, rate("")),
        },
        () if key.contains("nanosec") => (1e-9, Metric::lower(Unit::Seconds, "")),
        () => (1e-6, Metric::lower(Unit::Seconds, "")),
    };
    let metric = Metric { per: words.clone().into(), ..metric };
    Some(
        SourceReading::new(format!("stress_ng.{}", snake(key)), words, value * scale, metric)
            .at("stressor", parameter_value(stressor)),
    )
}

/// Bytes in one of what a metric counts: `write128nt-MB-per-sec`. Its megabyte has 2^20 bytes.
fn bytes_of(key: &str) -> Option<f64> {
    let (counted, _) = key.split_once("-per-sec")?;
    let unit = counted.rsplit('-').next()?;
    let units = [("bytes", 0), ("KB", 10), ("KiB", 10), ("MB", 20), ("MiB", 20), ("GB", 30), ("GiB", 30)];
    // On the terminal as it is written here, in YAML in lower case.
    units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)).map(|(_, shift)| f64::from(1_u32 << shift))
}

/// Words of the table's heading, without those of newer versions after them.
const HEADING: [&str; 13] =
    ["stressor", "bogo", "ops", "real", "time", "usr", "time", "sys", "time", "bogo", "ops/s", "bogo", "ops/s"];

fn terminal(source: &SourceText<'_>) -> Result<SourceSheet, SourceFault> {
    let mut sheet = SourceSheet::default();
    // Number of the table's columns, and whether the metrics of single stressors follow.
    let (mut columns, mut own_metrics) = (0, false);
    // How many instances of each stressor run at once.
    let mut instances: HashMap<String, String> = HashMap::new();
    for (at, line) in lines(source.text) {
        let Some(line) = after(line, "stress-ng: ").and_then(|line| after(line, "]")) else { continue };
        if line.contains("metrics corrupted") {
            return Err(SourceFault::new("stress-ng says itself that its metrics are corrupted", at));
        }
        if let Some(version) = line.strip_prefix("stress-ng ").and_then(|rest| rest.split_whitespace().next()) {
            sheet.states_version(version.to_owned());
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let numbers = words.iter().skip(1).filter(|word| number(word).is_some()).count();
        let placed = |reading: SourceReading| match words.first().and_then(|name| instances.get(*name)) {
            Some(count) => reading.at("instances", count.clone()),
            None => reading,
        };
        if let Some(hogs) = after(line, "dispatching hogs:") {
            instances = dispatched(hogs);
        } else if line.contains("bogo ops") && words.first() == Some(&"stressor") {
            columns = heading(&words, at)?;
            own_metrics = false;
            sheet.begin_process();
        } else if line.starts_with("miscellaneous metrics") {
            (columns, own_metrics) = (0, true);
        } else if columns > 0 && words.len() == columns && numbers + 1 == columns {
            let value = need(words[5], at)?;
            let reading = bogo(words[0], value, sheet.version.as_deref()).printed_in(words[5], 1.0);
            sheet.readings.push(placed(reading));
        } else if columns > 0 && (3..columns).contains(&words.len()) && numbers + 1 == words.len() {
            return Err(SourceFault::new("the row of the table ends early", at));
        } else if NOTHING.iter().any(|words| line.trim_start().starts_with(words)) || is_time(line) {
            // It states nothing to keep.
        } else if own_metrics && words.len() >= 3 {
            let name = words[2..].join(" ");
            let name = name.split(" (").next().unwrap_or_default();
            let Some(reading) = own(words[0], &name.replace(' ', "-"), words[1]) else { continue };
            sheet.readings.push(placed(reading));
        } else {
            continue;
        }
        source.took(at);
    }
    Ok(sheet)
}

/// `4 cpu, 2 vm`: how many of each; `cpu 4, vm 2` before 0.03.
fn dispatched(hogs: &str) -> HashMap<String, String> {
    let count = |word: &str| word.parse::<u32>().is_ok();
    let pair = |part: &str| match part.split_whitespace().collect::<Vec<_>>()[..] {
        [number, name] if count(number) => Some((name.to_owned(), number.to_owned())),
        [name, number] if count(number) => Some((name.to_owned(), number.to_owned())),
        _ => None,
    };
    hogs.split(',').filter_map(pair).collect()
}

/// Times of the whole run: `for a 60.30s run time:`, `361.79s available CPU time`.
fn is_time(line: &str) -> bool {
    ["run time:", "available CPU time", "user time ", "system time ", "total time "]
        .iter()
        .any(|words| line.contains(words))
}

/// Beginnings of messages that state nothing to keep.
const NOTHING: [&str; 10] = [
    "(secs)",
    "setting to a",
    "defaulting to a",
    "successful run completed",
    "unsuccessful run completed",
    "skipped:",
    "passed:",
    "failed:",
    "metrics untrustworthy:",
    "load average:",
];

/// Number of columns that the heading names.
fn heading(words: &[&str], at: usize) -> Result<usize, SourceFault> {
    let rest = words.strip_prefix(&HEADING[..]).unwrap_or(&["?"]);
    match rest {
        [] => Ok(7),
        ["CPU", "used", "per"] => Ok(8),
        ["CPU", "used", "per", "RSS", "Max"] => Ok(9),
        _ => Err(SourceFault::new(
            format!("the table's heading '{}' is not known", parameter_value(&words.join(" "))),
            at,
        )),
    }
}
