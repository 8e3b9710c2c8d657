//! cyclictest of rt-tests: how late a thread wakes up behind its timer; lines, histograms and JSON.

mod document;
mod run;

use super::{CodeFormat, Confidence, Parsed, SourceText, sure};
use crate::sheet::SourceSheet;
use crate::text::{MOST_COLUMNS, SourceFault, lines, need, parameter_value, plain, shown};
use run::{CyclicRun, CyclicThread, LatencyUnit, settle};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "cyclictest",
    tool: "cyclictest",
    about: "average and longest delay of each thread, from lines, histogram or JSON; the range is that of one \
            process, quantiles come from the histogram",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    let rows = sure(head, &["T: 0 (", " Min:", " Avg:", " Max:"]);
    let histogram = sure(head, &["# Min Latencies:", "# Max Latencies:"]);
    let long = sure(head, &["# Histogram\n00000"]).max(sure(head, &["# Histogram\r\n00000"]));
    rows.max(histogram).max(long).max(sure(head, &["\"rt_test_version", "cyclictest", "\"thread\""]))
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    if source.text.trim_start().starts_with('{') {
        return document::parse(source);
    }
    let mut sheet = SourceSheet::default();
    let mut runs: Vec<CyclicRun> = Vec::new();
    let mut run = CyclicRun::default();
    for (at, line) in lines(source.text) {
        let line = plain(line);
        let line = line.rsplit('\r').next().unwrap_or_default();
        let line = line.trim();
        if line.starts_with("# /dev/cpu_dma_latency") {
            if run.stated() {
                next(&mut sheet, &mut runs, &mut run)?;
            }
        } else if let Some(rest) = line.strip_prefix("policy: ") {
            let policy = rest.split(':').next().unwrap_or_default();
            run.settings.insert("policy".to_owned(), parameter_value(policy));
        } else if let Some((number, pid, thread)) = thread(line, at)? {
            // The display is written again and again, of the same threads.
            if run.threads.get(&number).is_some_and(|known| known.pid != pid) {
                next(&mut sheet, &mut runs, &mut run)?;
            }
            run.threads.insert(number, CyclicThread { pid, at, ..thread });
        } else if line.starts_with("# Histogram") && !line.contains("Overflow") {
            if run.stated() {
                next(&mut sheet, &mut runs, &mut run)?;
            }
            run.open = true;
        } else if let Some((name, values)) = list(line, at)? {
            let again = name == "Min Latencies" && !run.lists[0].is_empty();
            if again {
                next(&mut sheet, &mut runs, &mut run)?;
            }
            run.take(name, values, at);
        } else if let Some(row) = run.open.then(|| buckets(line, at)).transpose()?.flatten() {
            run.buckets.push(row);
        } else if let Some(release) = kernel(line) {
            if run.stated() {
                next(&mut sheet, &mut runs, &mut run)?;
            }
            run.settings.insert("kernel".to_owned(), release);
        } else if !(line.starts_with("# Thread ") || line.starts_with("# Histogram Overflow at")) {
            continue;
        }
        source.took(at);
    }
    next(&mut sheet, &mut runs, &mut run)?;
    settle(&mut sheet, &runs);
    Ok(Parsed::Sheets(vec![sheet]))
}

/// Ends a process. The kernel that a line above it named is that of the next one too.
fn next(sheet: &mut SourceSheet, runs: &mut Vec<CyclicRun>, run: &mut CyclicRun) -> Result<(), SourceFault> {
    if !run.stated() {
        return Ok(());
    }
    let settings = run.settings.iter().filter(|(name, _)| *name == "kernel");
    let settings = settings.map(|(name, value)| (name.clone(), value.clone())).collect();
    let mut ended = std::mem::replace(run, CyclicRun { settings, ..CyclicRun::default() });
    ended.end(sheet)?;
    runs.push(ended);
    Ok(())
}

/// `T: 0 ( 2013) P:80 I:200 C:1546988 Min:      6 Act:   18 Avg:   16 Max:     306`
fn thread(line: &str, at: usize) -> Result<Option<(u32, String, CyclicThread)>, SourceFault> {
    let Some((number, rest)) = line.strip_prefix("T:").and_then(|rest| rest.split_once('(')) else { return Ok(None) };
    let Ok(number) = number.trim().parse::<u32>() else { return Ok(None) };
    let Some((pid, rest)) = rest.split_once(')') else { return Ok(None) };
    let cell = |name: &str| {
        let from = rest.find(&format!(" {name}:")).map(|from| from + name.len() + 2);
        let word = &rest[from.ok_or_else(|| SourceFault::new(format!("the line has no {name}"), at))?..];
        let start = word.len() - word.trim_start().len();
        let end = word[start..].find(char::is_whitespace).map_or(word.len(), |end| start + end);
        Ok::<_, SourceFault>((&word[start..end], end))
    };
    let value = |name: &str| cell(name).and_then(|(word, _)| need(word, at));
    let (actual, width) = cell("Act")?;
    let unit = match (width, actual.len()) {
        // In nanoseconds it has a wider column.
        (8, digits) if digits < 8 => LatencyUnit::Nanoseconds,
        (5, _) => LatencyUnit::Microseconds,
        (6.., digits) if digits == width && digits < 8 => LatencyUnit::Microseconds,
        _ => LatencyUnit::Unknown,
    };
    let thread = CyclicThread {
        priority: parameter_value(cell("P")?.0),
        interval: parameter_value(cell("I")?.0),
        cycles: value("C")?,
        least: value("Min")?,
        average: value("Avg")?,
        greatest: value("Max")?,
        unit,
        ..CyclicThread::default()
    };
    Ok(Some((number, pid.trim().to_owned(), thread)))
}

/// `# Min Latencies: 00004 00004`
fn list(line: &str, at: usize) -> Result<Option<(&str, Vec<f64>)>, SourceFault> {
    let Some((name, values)) = line.strip_prefix("# ").and_then(|rest| rest.split_once(':')) else { return Ok(None) };
    if !["Total", "Min Latencies", "Avg Latencies", "Max Latencies", "Histogram Overflows"].contains(&name) {
        return Ok(None);
    }
    let words: Vec<&str> = values.split_whitespace().take(MOST_COLUMNS + 1).collect();
    if words.len() > MOST_COLUMNS {
        return Err(SourceFault::new(format!("it has more than {MOST_COLUMNS} threads"), at));
    }
    let values = words.into_iter().map(|word| need(word, at)).collect::<Result<Vec<f64>, _>>()?;
    Ok(Some((name, values)))
}

/// `000014 000000 000056`: a delay, and how many of each thread had it.
fn buckets(line: &str, at: usize) -> Result<Option<Vec<u64>>, SourceFault> {
    if !line.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(None);
    }
    let words = line.split_whitespace().take(MOST_COLUMNS + 2).map(|word| {
        word.parse::<u64>().map_err(|_| SourceFault::new(format!("'{}' is no count of its histogram", shown(word)), at))
    });
    let row = words.collect::<Result<Vec<u64>, _>>()?;
    Ok(Some(row).filter(|row| row.len() > 1))
}

/// `Linux host 6.1.0-rt7 #1 SMP PREEMPT_RT ...`, as `uname -a` prints it.
fn kernel(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let ["Linux", _, release, build, ..] = words[..] else { return None };
    let numbered = release.starts_with(|c: char| c.is_ascii_digit()) && build.starts_with('#');
    numbered.then(|| parameter_value(release))
}
