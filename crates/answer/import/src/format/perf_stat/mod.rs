//! `perf stat`: counts and times of a command, over several executions with -r.

mod fields;

use model::{Better, Metric, Unit};

use super::{CodeFormat, Confidence, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, seconds};
use crate::text::{SourceFault, between, grouped, lines, number, parameter_value, snake};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "perf-stat",
    tool: "perf stat",
    about: "events and times of a command, from the terminal, -x or -j (neither names the command); with -r the mean \
            over executions, its deviation as a note",
    by_lines: true,
    detect: |head| if is_other(head) { Confidence::No } else { sure(head, &[TITLE]).max(fields::detect(head)) },
    parse,
};

const TITLE: &str = "Performance counter stats for";

/// Whether it is the table of WindowsPerf, which has the same title and counts other events.
fn is_other(head: &[u8]) -> bool {
    sure(head, &[TITLE, "counter value", "event idx"]) != Confidence::No
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    if is_other(source.text.as_bytes()) {
        return Err(SourceFault::new("it is the output of WindowsPerf (wperf), which is not read", 1));
    }
    if !source.text.contains(TITLE) && fields::is_fields(source.text) {
        return Ok(Parsed::Sheets(vec![fields::parse(source)?]));
    }
    let mut sheet = SourceSheet::default();
    let (mut command, mut runs, mut open) = (String::new(), 1, None);
    let comma = decimal_comma(source.text);
    for (at, line) in lines(source.text) {
        let trimmed = line.trim();
        if let Some(rest) = trimmed.strip_prefix(TITLE) {
            // What ran is not named by what was watched: two such outputs are no executions of one thing.
            if !["system wide", "process id", "thread id", "CPU(s)"].iter().any(|watched| rest.contains(watched)) {
                sheet.begin_process();
            }
            command = parameter_value(quoted(rest).unwrap_or(rest.trim_end_matches(':')));
            runs = between(rest, "(", "runs)").and_then(|count| count.trim().parse().ok()).unwrap_or(1);
            if let Some(place) = open.replace(at) {
                return Err(SourceFault::new("the command that begins here has no time", place));
            }
        } else if command.is_empty() {
            continue;
        } else if let Some(reading) = if comma { row(&with_points(trimmed)) } else { row(trimmed) } {
            if trimmed.contains("time elapsed") {
                open = None;
            }
            sheet.readings.push(reading.at("command", command.clone()).counts(runs, 1));
        } else if !trimmed.starts_with('<') && !trimmed.contains("<not ") {
            continue;
        }
        source.took(at);
    }
    match open {
        Some(place) => Err(SourceFault::new("the command that begins here has no time", place)),
        None => Ok(Parsed::Sheets(vec![sheet])),
    }
}

/// The command, which may hold quotes of its own.
fn quoted(rest: &str) -> Option<&str> {
    rest.split_once('\'').and_then(|(_, rest)| rest.rsplit_once('\'')).map(|(command, _)| command)
}

/// Whether numbers have a decimal comma, as in many languages: times of the whole command are printed without grouping.
fn decimal_comma(text: &str) -> bool {
    lines(text).any(|(_, line)| {
        line.contains("seconds time elapsed") && line.split_whitespace().next().is_some_and(|word| word.contains(','))
    })
}

/// `1.912.025   cycles` with a decimal comma as `1912025   cycles`: numbers alone, for names have sets of parameters
/// too. Some languages group thousands by spaces that do not break.
fn with_points(line: &str) -> String {
    let numeric = |c: char| c.is_ascii_digit() || ".,%()+-[]".contains(c);
    let ungrouped = line.replace(['\u{a0}', '\u{202f}'], "");
    let points = |word: &str| {
        if word.chars().all(numeric) { word.replace('.', "").replace(',', ".") } else { word.to_owned() }
    };
    ungrouped.split(' ').map(points).collect::<Vec<_>>().join(" ")
}

/// The name of a time in milliseconds that does not say so in front of it: `459.49 task-clock (msec)` until Linux 4.18,
/// `459.49 task-clock` before 3.17, `956.47 task-clock-msecs` before 3.0.
fn in_milliseconds<'a>(name: &'a str, line: &str) -> Option<&'a str> {
    let clock = || ["task-clock", "cpu-clock"].iter().any(|clock| name.split(':').next() == Some(clock));
    let told = || clock() || line.contains(&format!("{name} (msec)"));
    name.strip_suffix("-msecs").or_else(|| told().then_some(name))
}

/// `1,234,567   cycles:u   #  3.1 GHz   ( +-  0.12% )  (83.3%)`, `0.52 msec task-clock`, `1.0025 seconds time elapsed`,
/// `1.0025 +- 0.0004 seconds time elapsed  ( +-  0.04% )`; with -A `CPU0` stands in front.
fn row(line: &str) -> Option<SourceReading> {
    let part = line.split_once(char::is_whitespace).and_then(|(first, rest)| Some((first.strip_prefix("CPU")?, rest)));
    if let Some((cpu, rest)) = part.filter(|(cpu, _)| cpu.parse::<u32>().is_ok()) {
        return row(rest.trim_start()).map(|reading| reading.at("cpu", cpu));
    }
    let front = line.split(['#', '(', '[']).next().unwrap_or_default();
    let words: Vec<&str> = front.split_whitespace().collect();
    let digits = grouped(words.first()?)?;
    let value = number(&digits)?;
    // Times of the whole command are printed without grouping: a comma there is the decimal sign of another language.
    if words.contains(&"seconds") && words[0].contains(',') {
        return None;
    }
    let rest: Vec<&str> = match words.get(1) {
        Some(&("+-" | "\u{b1}")) => words.get(3..)?.to_vec(),
        _ => words[1..].to_vec(),
    };
    let reading = match rest[..] {
        ["seconds", "time", "elapsed"] => {
            SourceReading::new("perf_stat.elapsed", "Time elapsed", value, seconds("execution"))
        }
        ["seconds", mode @ ("user" | "sys")] => {
            SourceReading::new(format!("perf_stat.{mode}"), mode, value, seconds("execution"))
        }
        [unit @ ("msec" | "ns"), name] => {
            let scale = if unit == "msec" { 1e-3 } else { 1e-9 };
            SourceReading::new(format!("perf_stat.{}", snake(name)), name, value * scale, seconds("execution"))
        }
        ["Joules", name] => SourceReading::new(
            format!("perf_stat.{}", snake(name)),
            name,
            value,
            Metric::lower(Unit::Joules, "execution"),
        ),
        [name] if in_milliseconds(name, line).is_some() => {
            let name = in_milliseconds(name, line).unwrap_or(name);
            SourceReading::new(format!("perf_stat.{}", snake(name)), name, value * 1e-3, seconds("execution"))
        }
        [name] if name.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            let metric = Metric { unit: Unit::Count, per: "execution".into(), better: Better::Lower };
            SourceReading::new(format!("perf_stat.{}", snake(name)), name, value, metric)
        }
        _ => return None,
    };
    let mut reading = reading.printed(&digits);
    if let Some(deviation) = line.split("( +-").nth(1).and_then(|rest| rest.split('%').next()).and_then(number) {
        reading = reading.note(format!("stated deviation of the mean {deviation}%"));
    }
    // Counters that shared the hardware were measured for a part of the time only; until Linux 3.17 in other brackets.
    let share = line.rsplit(['(', '[']).next().and_then(|rest| rest.strip_suffix([')', ']'])?.strip_suffix('%'));
    if let Some(share) = share.and_then(number).filter(|share| *share < 100.0) {
        reading = reading.note(format!("counted {share}% of the time and scaled"));
    }
    Some(reading)
}
