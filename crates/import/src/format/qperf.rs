//! qperf: bandwidth and latency between two nodes, by TCP, UDP, SCTP, RDS and RDMA.

use std::collections::HashSet;

use super::{CodeFormat, Confidence, Parsed, SourceText, sure};
use crate::differing::{Settings, differing};
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, number as fact, rate, seconds, text};
use crate::text::{SourceFault, between, called, lines, name_value, need, shown};
use crate::units::TIMES;

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "qperf",
    tool: "qperf",
    about: "bandwidths, latencies and message rates by test, size of messages and MTU; its costs and CPU use are not \
            read, and no spread is stated",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    let bandwidth = sure(head, &["_bw:\n", " bw ", "=", "B/sec"]).max(sure(head, &["_bw:\n", "recv_bw", "="]));
    let latency =
        sure(head, &["_lat:\n", " latency ", "=", " us"]).max(sure(head, &["_lat:\n", " latency ", "= ", " ms"]));
    let bits = sure(head, &["_bw:\n", " bw ", "=", "b/sec"]);
    bandwidth.max(latency).max(bits).max(sure(head, &["loc_qperf", "rem_qperf"]))
}

/// One test.
#[derive(Default)]
struct QperfTest {
    name: String,
    readings: Vec<SourceReading>,
    size: Option<String>,
    mtu: Option<String>,
    /// How long it ran, seconds.
    time: Option<f64>,
    at: usize,
}

/// The hosts whose prompts called it, and where their figures begin.
type QperfCalls = Vec<(usize, Settings)>;

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let mut test = QperfTest::default();
    let mut calls: QperfCalls = vec![(0, Settings::new())];
    let mut nodes: HashSet<String> = HashSet::new();
    for (at, line) in lines(source.text) {
        let line = line.trim();
        if let Some((host, _)) = called(line, "qperf").filter(|(_, options)| options.iter().any(|word| is_option(word)))
        {
            end(&mut sheet, &mut test);
            sheet.begin_process();
            let host = host.map(|host| ("host".to_owned(), host));
            calls.push((sheet.readings.len(), host.into_iter().collect()));
        } else if let Some(name) = line.strip_suffix(':').filter(|name| is_test(name)) {
            end(&mut sheet, &mut test);
            test = QperfTest { name: name.to_owned(), at, ..QperfTest::default() };
        } else if let Some((name, value)) = line.split_once('=').filter(|_| !test.name.is_empty()) {
            let known = if test.name == "conf" {
                configuration(&mut sheet, &mut nodes, name.trim(), value.trim())
            } else {
                stated(&mut test, name.trim(), value.trim(), at)?
            };
            if !known {
                continue;
            }
        } else {
            continue;
        }
        source.took(at);
    }
    end(&mut sheet, &mut test);
    // Results of several nodes are not of the first one.
    if nodes.len() > 1 {
        sheet.machine = String::new();
        sheet.facts.retain(|known| !known.name.starts_with("cpu.") && known.name != "kernel.release");
    }
    settle(&mut sheet, &calls);
    Ok(Parsed::Sheets(vec![sheet]))
}

/// Sentences name it too: a command has options or tests.
fn is_option(word: &str) -> bool {
    word.starts_with('-') || is_test(word)
}

fn is_test(name: &str) -> bool {
    let plain = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    plain && (name == "conf" || ["_bw", "_lat", "_mr"].iter().any(|end| name.ends_with(end)))
}

/// Adds the figures of a test. What stands again is of a further run of it.
fn end(sheet: &mut SourceSheet, test: &mut QperfTest) {
    let test = std::mem::take(test);
    let quiet = test.size.is_none();
    for reading in test.readings {
        // An exchange that took as long as the test did not come back.
        if reading.metric.unit == model::Unit::Seconds && test.time.is_some_and(|time| reading.value >= time) {
            sheet.notes.push(format!("{} at line {} had no answer", name_value(&test.name), test.at));
            continue;
        }
        let axes = [("size", &test.size), ("mtu", &test.mtu)];
        let reading = axes.into_iter().fold(reading, |reading, (axis, value)| match value {
            Some(value) => reading.at(axis, value.clone()),
            None => reading,
        });
        let first = sheet.processes.last().copied().unwrap_or_default();
        let again = |known: &SourceReading| known.id == reading.id && known.point == reading.point;
        if sheet.readings[first..].iter().any(again) {
            sheet.begin_process();
        }
        sheet.readings.push(if quiet { reading.note("the size of its messages is not printed") } else { reading });
    }
}

/// Whether a line of a test is known.
fn stated(test: &mut QperfTest, name: &str, value: &str, at: usize) -> Result<bool, SourceFault> {
    let (digits, unit) = value.split_once(' ').unwrap_or((value, ""));
    let (digits, unit) = (digits.replace(',', ""), unit.trim());
    let number = |scale: f64| need(&digits, at).map(|value| value * scale);
    let unknown = || SourceFault::new(format!("the unit '{}' is not known", shown(unit)), at);
    let id = |end: &str| format!("qperf.{}{end}", test.name);
    let title = test.name.replace('_', " ");
    let time =
        || TIMES.iter().find(|(name, _)| *name == unit || (*name == "s" && unit == "sec")).map(|(_, scale)| *scale);
    match name {
        "bw" | "send_bw" | "recv_bw" => {
            let (scale, end) = (
                data(unit).ok_or_else(unknown)?,
                name.strip_suffix("_bw").map_or("", |end| if end == "send" { "_sent" } else { "_received" }),
            );
            let title = format!("{title}{}", end.replace('_', ", "));
            let reading = SourceReading::new(id(end), title, number(scale)?, bytes_per_second("bytes"));
            test.readings.push(reading.printed_in(&digits, scale));
        }
        "latency" => {
            let scale = time().ok_or_else(unknown)?;
            let reading = SourceReading::new(id(""), title, number(scale)?, seconds("message"));
            test.readings.push(reading.printed_in(&digits, scale));
        }
        "msg_rate" => {
            let scale = match unit {
                "/sec" => 1.0,
                "K/sec" => 1e3,
                "M/sec" => 1e6,
                "G/sec" => 1e9,
                _ => return Err(unknown()),
            };
            let reading =
                SourceReading::new(id("_messages"), format!("{title}, messages"), number(scale)?, rate("messages"));
            test.readings.push(reading.printed_in(&digits, scale));
        }
        "msg_size" => test.size = Some(bytes(&digits, unit).ok_or_else(unknown)?),
        "mtu_size" => test.mtu = Some(bytes(&digits, unit).ok_or_else(unknown)?),
        "time" => test.time = Some(number(time().ok_or_else(unknown)?)?),
        "timeout" => {}
        _ => return Ok(name.ends_with("_cost") || name.ends_with("_cpus_used") || name.ends_with("_cpus_user")),
    }
    Ok(true)
}

/// Bytes of its rates, whose prefixes count thousands.
fn data(unit: &str) -> Option<f64> {
    Some(match unit {
        "bytes/sec" => 1.0,
        "KB/sec" => 1e3,
        "MB/sec" => 1e6,
        "GB/sec" => 1e9,
        "TB/sec" => 1e12,
        "bits/sec" => 0.125,
        "Kb/sec" => 125.0,
        "Mb/sec" => 125e3,
        "Gb/sec" => 125e6,
        "Tb/sec" => 125e9,
        _ => return None,
    })
}

/// `1 bytes`, `64 KiB (65,536)`
fn bytes(digits: &str, unit: &str) -> Option<String> {
    let whole = match (between(unit, "(", ")"), unit) {
        (Some(exact), _) => exact.replace(',', "").parse::<u64>().ok()?,
        (None, "bytes" | "byte" | "") => digits.parse::<u64>().ok()?,
        (None, _) => {
            let scale = ["KiB", "MiB", "GiB"].iter().position(|name| *name == unit)?;
            digits.parse::<u64>().ok()?.checked_mul(1 << (10 * (scale + 1)))?
        }
    };
    Some(model::format_size(whole))
}

/// What the test `conf` says of this end: `8 Cores: Example CPU @ 2.20GHz`.
fn configuration(sheet: &mut SourceSheet, nodes: &mut HashSet<String>, name: &str, value: &str) -> bool {
    match name {
        "loc_node" => {
            sheet.machine = name_value(value);
            nodes.insert(value.to_owned());
        }
        "loc_cpu" => {
            let (count, cpu) = value.split_once(" Cores: ").unwrap_or(("", value));
            sheet.fact(count.parse::<u32>().ok().map(|count| fact("cpu.count", f64::from(count), "1", "output", &[])));
            let model = Some(cpu).filter(|cpu| !cpu.contains("Mixed CPUs"));
            sheet.fact(model.and_then(|cpu| text("cpu.model", cpu, "output", &[model::Primitive::CoreClock])));
        }
        "loc_os" => {
            let release = value.strip_prefix("Linux ").unwrap_or(value);
            sheet.fact(text("kernel.release", release, "output", &[]));
        }
        "loc_qperf" => sheet.version = Some(name_value(value)),
        "rem_node" | "rem_cpu" | "rem_os" | "rem_qperf" => {}
        _ => return false,
    }
    true
}

/// Makes an axis of the host where the prompts have several.
fn settle(sheet: &mut SourceSheet, calls: &QperfCalls) {
    let ends = calls.iter().skip(1).map(|(next, _)| *next).chain([sheet.readings.len()]);
    let stated: Vec<_> = calls.iter().zip(ends).filter(|((first, _), end)| first < end).collect();
    if differing(stated.iter().map(|((_, settings), _)| (String::new(), settings))).is_empty() {
        return;
    }
    for ((first, settings), end) in stated {
        let Some(host) = settings.get("host") else { continue };
        for reading in &mut sheet.readings[*first..end] {
            reading.point = std::mem::take(&mut reading.point).with("host", host);
        }
    }
}
