//! `perf bench` in its default output.

use super::{ImportFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, bytes_per_second, rate, seconds};
use crate::text::{SourceFault, after, axis_value, between, lines, need, number, shown, snake};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "perf-bench",
    tool: "perf bench",
    about: "time an operation, rates, copies; where threads are averaged their stated deviation is a note, for they are \
            not independent runs",
    by_lines: true,
    detect: |head| sure(head, &["# Running '", "' benchmark:"]).max(sure(head, &["# Running ", "/", " benchmark..."])),
    parse,
};

/// Units of data rates, in powers of 1024.
const RATES: [(&str, f64); 4] =
    [("GB/sec", 1_073_741_824.0), ("MB/sec", 1_048_576.0), ("KB/sec", 1024.0), ("B/sec", 1.0)];

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let (mut name, mut case, mut open) = (String::new(), Vec::new(), None);
    let mut without = Vec::new();
    for (at, line) in lines(source.text) {
        let title =
            between(line, "# Running '", "' benchmark:").or_else(|| between(line, "# Running ", " benchmark..."));
        if let Some(words) = title {
            without.extend(open.replace((at, words.to_owned())));
            (name, case) = (snake(words), Vec::new());
            sheet.begin_process();
            source.took(at);
            continue;
        }
        if name.is_empty() {
            continue;
        }
        if let Some(axes) = case_of(line).or_else(|| run_summary(line.trim())) {
            case.retain(|(known, _)| axes.iter().all(|(axis, _)| axis != known));
            case.extend(axes);
            source.took(at);
            continue;
        }
        let found = if name == "numa_mem" { numa(line, at)? } else { figure(&name, line.trim(), at)? };
        if let Some(reading) = found {
            sheet.readings.push(case.iter().fold(reading, |reading, (axis, value)| reading.at(axis, value)));
            open = None;
            source.took(at);
        } else if is_progress(line.trim()) {
            source.took(at);
        }
    }
    without.extend(open);
    // One of several may have failed, or have been stopped: that is told, and the others are kept.
    if let (Some((place, last)), true) = (without.first(), sheet.readings.is_empty()) {
        return Err(SourceFault::new(format!("benchmark '{last}' has no result"), *place));
    }
    let told = without.iter().map(|(place, last)| shown(&format!("benchmark '{last}' (line {place}) has no result")));
    sheet.notes.extend(told);
    Ok(Parsed::Sheets(vec![sheet]))
}

/// What a line says of the results that follow: `# function 'default' (...)`, `100000 operations 1 bits set of 4 bits`,
/// `# 10 groups == 400 processes run`, `# Copying 1MB bytes ...`,
/// `# Executed 1000000 pipe operations between two threads`.
fn case_of(line: &str) -> Option<Vec<(&'static str, String)>> {
    if let Some((groups, parties)) = line.strip_prefix("# ").and_then(|rest| rest.split_once(" groups == ")) {
        let (count, kind) = parties.trim().strip_suffix(" run")?.split_once(' ')?;
        let size = vec![("groups", axis_value(groups)), ("parties", axis_value(count))];
        return Some(size.into_iter().chain(kind_of(kind)).collect());
    }
    if let Some(size) = between(line, "# Copying ", " bytes") {
        return Some(vec![("size", axis_value(size))]);
    }
    if let Some((_, kind)) = line.split_once(" pipe operations between two ") {
        return Some(kind_of(kind).into_iter().collect());
    }
    if let Some(function) = between(line, "# function '", "'") {
        return Some(vec![("function", axis_value(function))]);
    }
    let (_, bits) = line.strip_suffix(" bits")?.split_once(" operations ")?;
    let (set, all) = bits.split_once(" bits set of ")?;
    Some(vec![("bits", axis_value(all)), ("set", axis_value(set))])
}

/// What the line before the results of a benchmark of futexes or of epoll says:
/// `Run summary [PID 7]: 8 threads, each operating on 1024 [private] futexes for 10 secs.`,
/// `Run summary [PID 7]: blocking on 4 threads (at [shared] futex 0x55), 2 threads waking up 1 at a time.`,
/// `Run summary [PID 7]: Requeuing 4 threads (from [private] 0x7f to 0x80), 1 at a time.`,
/// `Run summary [PID 7]: 4 threads monitoring on 64 file-descriptors for 8 secs.`
fn run_summary(line: &str) -> Option<Vec<(&'static str, String)>> {
    let said = line.strip_prefix("Run summary ")?;
    let said = said.split_once("]: ").map_or(said, |(_, said)| said);
    let words: Vec<&str> = said.split([' ', ',', '[', ']', '(', ')']).filter(|word| !word.is_empty()).collect();
    // The number before a word.
    let count = |word: &str| {
        let at = words.iter().position(|known| *known == word)?.checked_sub(1)?;
        words[at].parse::<u64>().ok().map(|count| count.to_string())
    };
    let wakes = words.windows(3).find(|three| three[1..] == ["threads", "waking"]).map(|three| axis_value(three[0]));
    let each = between(said, "waking up ", " at a time").or_else(|| between(said, "), ", " at a time"));
    // What it does unless told otherwise is no axis: 1024 private futexes, of which one is woken at a time.
    let shared = words.contains(&"shared").then(|| "shared".to_owned());
    let futexes = words.windows(3).find(|three| three[0].parse::<u64>().is_ok() && three[2] == "futexes");
    let axes = [
        ("threads", count("threads")),
        ("futexes", futexes.map(|three| axis_value(three[0])).filter(|count| count != "1024")),
        ("descriptors", count("file-descriptors")),
        ("wakers", wakes),
        ("at_a_time", each.map(axis_value).filter(|count| count != "1")),
        ("futex", shared),
    ];
    Some(axes.into_iter().filter_map(|(axis, value)| Some((axis, value?))).collect())
}

/// Parties are processes unless threads were asked for.
fn kind_of(kind: &str) -> Option<(&'static str, String)> {
    (kind.trim() != "processes").then(|| ("of", axis_value(kind)))
}

/// Comments, single threads and runs of which an average follows, and the inverse of a time.
fn is_progress(line: &str) -> bool {
    // The amount of work of a case of numa/mem, and the spread over its threads.
    let amount = [", GB,", ", %,", "GB data processed, ", "% difference between max/avg runtime"]
        .iter()
        .any(|unit| line.contains(unit));
    amount || line.starts_with('#') || line.starts_with('[') || line.ends_with(" ops/sec")
}

fn figure(name: &str, line: &str, at: usize) -> Result<Option<SourceReading>, SourceFault> {
    if line.starts_with('#') || line.starts_with('[') {
        return Ok(None);
    }
    if let Some(value) = between(line, "Total time:", "[") {
        if !line.ends_with("[sec]") {
            return Err(SourceFault::new("the unit of this time is not known", at));
        }
        let id = format!("perf_bench.{name}_time");
        let reading = SourceReading::new(id, format!("{name}: total time"), need(value, at)?, seconds("run"));
        return Ok(Some(reading.printed_in(value, 1.0)));
    }
    if let Some(rest) = after(line, "Averaged") {
        let (value, deviation) = rest
            .split_once("operations/sec")
            .ok_or_else(|| SourceFault::new("the unit of this average is not known", at))?;
        let reading = SourceReading::new(format!("perf_bench.{name}"), name, need(value, at)?, rate("operations"));
        let note = format!("mean over threads; stated deviation {}", deviation.trim());
        return Ok(Some(reading.note(shown(&note))));
    }
    if let Some(reading) = futex(name, line, at)? {
        return Ok(Some(reading));
    }
    if let Some(value) = line.strip_suffix("usecs/op") {
        let id = format!("perf_bench.{name}");
        let reading = SourceReading::new(id, name, need(value, at)? * 1e-6, seconds("operation"));
        return Ok(Some(reading.printed_in(value, 1e-6)));
    }
    for (unit, scale) in RATES {
        if let Some(value) = line.strip_suffix(unit) {
            let value = need(value, at)? * scale;
            return Ok(Some(SourceReading::new(format!("perf_bench.{name}"), name, value, bytes_per_second("bytes"))));
        }
    }
    // "Average x took: 1.2 usec (+- 0.3 usec)": internals benchmarks repeat in one process.
    let took = [("usec", 1e-6), ("msec", 1e-3), ("ms", 1e-3)]
        .iter()
        .find_map(|(unit, scale)| Some((between(line, "took:", &format!(" {unit} "))?, *scale)));
    if let Some(((value, scale), rest)) = took.zip(after(line, "(+-")) {
        let label = line.split("took:").next().unwrap_or_default();
        let value = need(value, at)? * scale;
        let id = format!("perf_bench.{name}_{}", snake(label));
        let mut reading = SourceReading::new(id, label.trim(), value, seconds("operation"));
        if let Some(error) = rest.split_whitespace().next().and_then(number) {
            let width = error.abs() * scale;
            reading = reading.spread(SourceSpread::Range(value - width, value + width));
        }
        return Ok(Some(reading.note("the stated standard error is of repetitions in one process")));
    }
    Ok(None)
}

/// `Wokeup 4 of 4 threads in 0.0360 ms (+-5.27%)`, `Requeued 4 of 4 threads in 0.0138 ms (+-8.16%)`,
/// `Avg per-thread latency (waking 1/4 threads) in 0.0270 ms (+-4.12%)`: means over ten runs in one process.
fn futex(name: &str, line: &str, at: usize) -> Result<Option<SourceReading>, SourceFault> {
    let known = ["Wokeup ", "Requeued ", "Avg per-thread latency "].iter().any(|begin| line.starts_with(begin));
    let Some((head, rest)) = line.split_once(" threads").filter(|_| known) else { return Ok(None) };
    let Some(value) = between(rest, " in ", " ms") else {
        return Err(SourceFault::new("the unit of this time is not known", at));
    };
    let threads = head.rsplit([' ', '/']).next().unwrap_or_default();
    let reading = SourceReading::new(format!("perf_bench.{name}"), name, need(value, at)? * 1e-3, seconds("wakeup"));
    let mut reading = reading.printed_in(value, 1e-3).at("threads", axis_value(threads));
    if let Some(deviation) = between(line, "(+-", "%") {
        reading = reading.note(shown(&format!("mean over runs in one process, deviation {deviation}%")));
    }
    Ok(Some(reading))
}

/// What `perf bench numa mem -q` prints for the quantities of its usual lines: value and words.
const QUIET: [(&str, &str, f64); 6] = [
    ("secs slowest (max) thread-runtime", "runtime-max/thread", 1.0),
    ("secs fastest (min) thread-runtime", "runtime-min/thread", 1.0),
    ("secs average thread-runtime", "runtime-avg/thread", 1.0),
    ("nsecs/byte/thread runtime", "runtime/byte/thread", 1e-9),
    ("GB/sec/thread speed", "thread-speed", 1e9),
    ("GB/sec total speed", "total-speed", 1e9),
];

/// `    8.831 GB/sec/thread speed`: of the one case that was asked for.
fn quiet_numa(line: &str, at: usize) -> Result<Option<SourceReading>, SourceFault> {
    let Some((value, words)) = line.trim().split_once(' ') else { return Ok(None) };
    let Some((_, quantity, scale)) = QUIET.iter().find(|(known, ..)| *known == words.trim()) else { return Ok(None) };
    let metric = match *quantity {
        "runtime/byte/thread" => seconds("byte"),
        "thread-speed" | "total-speed" => bytes_per_second("bytes"),
        _ => seconds("run"),
    };
    let id = format!("perf_bench.numa_mem_{}", snake(quantity));
    Ok(Some(SourceReading::new(id, *quantity, need(value, at)? * scale, metric).at("case", axis_value("main"))))
}

/// ` RAM-bw-local,    20.111, secs,  runtime-max/thread`: case, value, unit, quantity.
fn numa(line: &str, at: usize) -> Result<Option<SourceReading>, SourceFault> {
    let cells: Vec<&str> = line.split(',').map(str::trim).collect();
    let [case, value, unit, quantity] = cells[..] else { return quiet_numa(line, at) };
    let Some(value) = number(value) else { return Ok(None) };
    let (scale, metric) = match unit {
        "secs" | "sec" => (1.0, seconds("run")),
        "nsecs" => (1e-9, seconds("byte")),
        "GB/sec" => (1e9, bytes_per_second("bytes")),
        // The amount of work and the spread over threads are no figures.
        "GB" | "%" => return Ok(None),
        other => return Err(SourceFault::new(format!("its unit '{}' is not known", shown(other)), at)),
    };
    let id = format!("perf_bench.numa_mem_{}", snake(quantity));
    Ok(Some(SourceReading::new(id, quantity, value * scale, metric).at("case", axis_value(case))))
}
