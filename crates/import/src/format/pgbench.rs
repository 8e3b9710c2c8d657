//! pgbench: transactions a second and their latency.

use super::{CodeFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, rate, seconds};
use crate::text::{SourceFault, axis_value, lines, need, shown};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "pgbench",
    tool: "pgbench",
    about: "transactions a second without the time to connect, and mean latency; its deviation is of single transactions \
            and so a note",
    by_lines: true,
    detect: |head| sure(head, &["number of transactions actually processed", "tps = "]),
    parse,
};

/// Settings that define the figure.
const SETTINGS: [(&str, &str); 6] = [
    ("transaction type:", "type"),
    ("scaling factor:", "scale"),
    ("query mode:", "mode"),
    ("number of clients:", "clients"),
    ("number of threads:", "threads"),
    ("maximum number of tries:", "tries"),
];

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let mut axes: Vec<(&str, String)> = Vec::new();
    let mut open = None;
    let mut mix = PgbenchMix::default();
    for (at, line) in lines(source.text) {
        let line = line.trim();
        if let Some(version) = line.strip_prefix("pgbench (") {
            sheet.states_version(version.split([' ', ')']).next().unwrap_or_default().to_owned());
        } else if let Some((name, axis, value)) =
            SETTINGS.iter().find_map(|(name, axis)| Some((*name, *axis, line.strip_prefix(name)?)))
        {
            if name == "transaction type:" {
                mix.end(&mut sheet);
                sheet.begin_process();
                axes.clear();
                if let Some(place) = open.replace(at) {
                    return Err(SourceFault::new("the run that begins here has no rate", place));
                }
            }
            if axis != "tries" {
                axes.push((axis, axis_value(value)));
            }
        } else if let Some(rest) = line.strip_prefix("latency average").or_else(|| line.strip_prefix("latency stddev"))
        {
            latency(&mut sheet, &axes, line.starts_with("latency stddev"), rest, at)?;
        } else if let Some(rest) = line.strip_prefix("tps =") {
            let (value, which) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
            // The rate that includes connecting is printed besides by older versions.
            if !which.starts_with("(including conn") {
                let reading =
                    SourceReading::new("pgbench.transactions", "Transactions", need(value, at)?, rate("transactions"));
                sheet.readings.push(placed(reading.printed_in(value, 1.0), &axes));
                mix.connecting |= which.starts_with("(including reconnection");
                open = None;
            }
        } else if !mix.took(line) && !is_detail(line) {
            continue;
        }
        source.took(at);
    }
    mix.end(&mut sheet);
    match open {
        Some(place) => Err(SourceFault::new("the run that begins here has no rate", place)),
        None => Ok(Parsed::Sheets(vec![sheet])),
    }
}

/// The mean latency, `= 1.234 ms`, or the deviation of what was read last.
fn latency(
    sheet: &mut SourceSheet,
    axes: &[(&str, String)],
    deviation: bool,
    rest: &str,
    at: usize,
) -> Result<(), SourceFault> {
    let (word, unit) = rest.trim_start_matches([' ', '=', ':']).split_once(' ').unwrap_or((rest, ""));
    if !unit.starts_with("ms") {
        return Err(SourceFault::new(format!("the unit '{}' of the latency is not known", shown(unit)), at));
    }
    let value = need(word, at)?;
    if !deviation {
        let reading = SourceReading::new("pgbench.latency", "Mean latency", value * 1e-3, seconds("transaction"));
        sheet.readings.push(placed(reading.printed_in(word, 1e-3), axes));
    } else if let Some(last) = sheet.readings.last_mut() {
        last.notes.push(format!("standard deviation of single transactions {value} ms"));
    }
    Ok(())
}

/// What a run says of its scripts, below its rate, and of -R above it.
#[derive(Default)]
struct PgbenchMix {
    /// Each script and its weight.
    scripts: Vec<String>,
    /// Statements follow, each with its latency.
    statements: bool,
    /// Transactions came at a rate that was asked for.
    limited: bool,
    /// With -C every transaction has a connection of its own, and its time counts.
    connecting: bool,
}

impl PgbenchMix {
    /// Whether the line belongs to the scripts, or to the schedule.
    fn took(&mut self, line: &str) -> bool {
        if line.starts_with("rate limit schedule lag") {
            self.limited = true;
        } else if let Some((_, name)) = line.strip_prefix("SQL script ").and_then(|rest| rest.split_once(": ")) {
            self.scripts.push(name.trim_matches(['<', '>']).trim_start_matches("builtin: ").to_owned());
            self.statements = false;
        } else if let (Some(rest), Some(script)) = (line.strip_prefix("- weight:"), self.scripts.last_mut()) {
            script.push_str(&format!("@{}", rest.split_whitespace().next().unwrap_or_default()));
        } else if line.contains("statement latencies in milliseconds") {
            self.statements = true;
        } else {
            let counts = line.starts_with("- ") && !self.scripts.is_empty();
            return counts || self.statements && line.starts_with(|c: char| c.is_ascii_digit());
        }
        true
    }

    /// The run ends: another mix of scripts, and rates of other kinds, are other figures.
    fn end(&mut self, sheet: &mut SourceSheet) {
        if self.connecting {
            sheet.process_at("connect", "each");
        }
        if self.limited {
            sheet.process_at("rate", "limited");
        }
        if self.scripts.len() > 1 {
            sheet.process_at("scripts", &axis_value(&self.scripts.join("+")));
        }
        *self = Self::default();
    }
}

/// Counts behind the rate, progress during the run, and the scripts' statements.
fn is_detail(line: &str) -> bool {
    let begins = [
        "progress:",
        "duration:",
        "number of transactions",
        "number of failed",
        "initial connection time",
        "average connection time",
        "starting vacuum",
        "statement latencies",
        "SQL script",
        " - ",
    ];
    begins.iter().any(|begin| line.starts_with(begin))
}

fn placed(reading: SourceReading, axes: &[(&str, String)]) -> SourceReading {
    axes.iter().fold(reading, |reading, (axis, value)| reading.at(axis, value.clone()))
}
