//! stress-ng: its metrics on the terminal (--metrics) and as YAML (--yaml).

use model::{Metric, Unit};

use super::{ImportFormat, Parsed, SourceText, sure};
use crate::date::unix;
use crate::sheet::{SourceReading, SourceSheet, number as fact, rate, text};
use crate::text::{SourceFault, after, axis_value, lines, need, number, snake};

pub(super) static FORMAT: ImportFormat = ImportFormat {
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
    let sheet = if source.text.contains("stress-ng-version:") { yaml(source.text)? } else { terminal(source.text)? };
    Ok(Parsed::Sheets(vec![sheet]))
}

fn bogo(stressor: &str, value: f64, version: Option<&str>) -> SourceReading {
    let reading = SourceReading::new("stress_ng.bogo_ops", "Bogo operations", value, rate("bogo operations"));
    let reading = reading.at("stressor", axis_value(stressor)).note(BOGO);
    // As part of the name, the version separates figures of different versions.
    match version {
        Some(version) => reading.at("version", axis_value(version)),
        None => reading,
    }
}

/// `key: value` lines, one group for each stressor; the subset of YAML that it writes.
fn yaml(source: &str) -> Result<SourceSheet, SourceFault> {
    let mut sheet = SourceSheet::default();
    let (mut stressor, mut open) = (String::new(), None);
    for (at, line) in lines(source) {
        let Some((key, value)) = line.trim().trim_start_matches("- ").split_once(':') else { continue };
        let (key, value) = (key.trim(), value.trim().trim_matches('\''));
        match key {
            "stress-ng-version" => sheet.version = Some(value.to_owned()),
            "nodename" => sheet.machine = axis_value(value),
            "release" => sheet.facts.extend(text("kernel.release", value, "stress-ng", &[])),
            "machine" => sheet.facts.extend(text("cpu.architecture", value, "stress-ng", &[])),
            "compiler" => sheet.facts.extend(text("compiler", value, "stress-ng", &[])),
            "totalram" => sheet.facts.push(fact("memory.total", need(value, at)?, "B", "stress-ng", &[])),
            "cpus-online" => sheet.facts.push(fact("cpu.count", need(value, at)?, "1", "stress-ng", &[])),
            "epoch-secs" => sheet.started = unix(need(value, at)?),
            "stressor" => {
                value.clone_into(&mut stressor);
                if let Some((place, last)) = open.replace((at, value.to_owned())) {
                    return Err(SourceFault::new(format!("stressor '{}' has no rate", axis_value(&last)), place));
                }
            }
            _ if stressor.is_empty() => {}
            "bogo-ops-per-second-real-time" => {
                let reading = bogo(&stressor, need(value, at)?, sheet.version.as_deref());
                sheet.readings.push(reading);
                open = None;
            }
            _ => sheet.readings.extend(own(&stressor, key, value)),
        }
    }
    match open {
        Some((place, last)) => Err(SourceFault::new(format!("stressor '{}' has no rate", axis_value(&last)), place)),
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
    let metric = if key.contains("per-sec") {
        Metric { per: words.clone().into(), ..rate("") }
    } else {
        Metric { per: words.clone().into(), ..Metric::lower(Unit::Count, "") }
    };
    Some(
        SourceReading::new(format!("stress_ng.{}", snake(key)), words, value, metric)
            .at("stressor", axis_value(stressor)),
    )
}

fn terminal(source: &str) -> Result<SourceSheet, SourceFault> {
    let mut sheet = SourceSheet::default();
    let (mut table, mut own_metrics) = (false, false);
    for (at, line) in lines(source) {
        let Some(line) = after(line, "] ").filter(|_| line.contains("stress-ng: ")) else { continue };
        if let Some(version) = line.strip_prefix("stress-ng ").and_then(|rest| rest.split_whitespace().next()) {
            sheet.version = Some(version.to_owned());
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        if line.contains("bogo ops") {
            (table, own_metrics) = (true, false);
        } else if line.starts_with("miscellaneous metrics") {
            (table, own_metrics) = (false, true);
        } else if table && words.first().is_some_and(|word| word.starts_with('(')) {
            // The second line of the heading.
        } else if table && words.len() >= 7 && words[1].starts_with(|c: char| c.is_ascii_digit()) {
            let value = need(words[5], at)?;
            sheet.readings.push(bogo(words[0], value, sheet.version.as_deref()));
        } else if table && words.len() >= 2 && number(words[1]).is_some() {
            return Err(SourceFault::new("the row of the table ends early", at));
        } else if own_metrics && words.len() >= 3 {
            let name = words[2..].join(" ");
            let name = name.split(" (").next().unwrap_or_default();
            sheet.readings.extend(own(words[0], &name.replace(' ', "-"), words[1]));
        }
    }
    Ok(sheet)
}
