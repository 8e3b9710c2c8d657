//! Cells of YABS' tables, and what it says of the machine.

use model::{Fact, Metric, Primitive, Unit};

use super::{SourceFault, SourceReading, bytes_per_second, number as fact, parameter_value, seconds, shown, text};
use crate::sheet::rate;
use crate::text::{need, number};

/// Bytes of the kilobyte in which fio hands it rates, of which it makes megabytes and gigabytes by thousands.
pub(super) const FIO_KILOBYTE: f64 = 1024.0;

/// A value and its unit: `1.80 GB/s` is 1.8 million times `kilobyte`, or 1.8e9 bytes where that is 1. The value comes
/// with what the last printed digit is worth, relative to it.
pub(super) fn data_rate(words: &str, kilobyte: f64, at: usize) -> Result<(f64, f64), SourceFault> {
    let (value, unit) = words.split_once(' ').unwrap_or((words, ""));
    let thousand = if kilobyte > 1.0 { kilobyte } else { 1e3 };
    let scale = match unit.trim() {
        "kB/s" | "KB/s" => thousand,
        "MB/s" => thousand * 1e3,
        "GB/s" => thousand * 1e6,
        "TB/s" => thousand * 1e9,
        other => return Err(SourceFault::new(format!("the unit '{}' is not known", shown(other)), at)),
    };
    let stated = need(value, at)?;
    Ok((stated * scale, last_digit(value) / stated.abs()))
}

/// What the last printed digit is worth.
fn last_digit(word: &str) -> f64 {
    let decimals = word.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    10.0_f64.powi(-i32::try_from(decimals).unwrap_or(0))
}

/// `4k`, `64kb`, `1m`, which fio counts in 1024.
pub(super) fn block(size: &str) -> Option<String> {
    let digits = size.trim_end_matches("iB").trim_end_matches('b');
    let (count, scale) = match digits.strip_suffix(['k', 'K']) {
        Some(count) => (count, 10),
        None => (digits.strip_suffix(['m', 'M'])?, 20),
    };
    let bytes = count.parse::<u64>().ok().filter(|count| (1..1 << 20).contains(count))? << scale;
    Some(model::format_size(bytes))
}

/// Reads, writes and both together of fio's mixed test, whose rates it cuts off behind the last digit: the value may
/// be a whole digit higher. `416.79 MB/s (104.1k)`; nothing if the test stated none.
pub(super) fn disk(name: &str, size: &str, cell: &str, at: usize) -> Result<Vec<SourceReading>, SourceFault> {
    let what =
        direction(name).ok_or_else(|| SourceFault::new(format!("the test '{}' is not known", shown(name)), at))?;
    let (speed, operations) = cell.split_once('(').unwrap_or((cell, ""));
    let operations = operations.trim_end_matches(')').trim();
    if speed.trim().is_empty() && operations.is_empty() {
        return Ok(Vec::new());
    }
    let (bytes, rounding) = data_rate(speed.trim(), FIO_KILOBYTE, at)?;
    let (digits, scale) = operations.strip_suffix('k').map_or((operations, 1.0), |digits| (digits, 1e3));
    let count = need(digits, at)?;
    Ok(of_fio(what, size, bytes, count * scale, [rounding, last_digit(digits) / count.abs()]))
}

fn direction(name: &str) -> Option<&'static str> {
    Some(match name {
        "Read" => "read",
        "Write" => "write",
        "Total" => "total",
        _ => return None,
    })
}

/// Bytes and operations a second of one direction; a test that did nothing has none.
pub(super) fn of_fio(what: &str, size: &str, bytes: f64, operations: f64, rounding: [f64; 2]) -> Vec<SourceReading> {
    let id = format!("yabs.disk_{what}");
    let data = SourceReading::new(id.clone(), format!("Mixed test, {what}"), bytes, bytes_per_second("bytes"));
    let title = format!("Mixed test, operations, {what}");
    let count = SourceReading::new(format!("{id}_operations"), title, operations, rate("operations"));
    let both = [data.rounded(rounding[0]), count.rounded(rounding[1])];
    both.into_iter().filter(|reading| reading.value > 0.0).map(|reading| reading.at("block", size)).collect()
}

/// `1.80 Gbits/sec`, or `busy`; `76.8 ms`, or `--`.
pub(super) fn network(
    column: &str,
    words: &str,
    place: [&str; 2],
    protocol: &str,
    at: usize,
) -> Result<Option<SourceReading>, SourceFault> {
    let words = words.trim();
    if ["", "busy", "-", "--"].contains(&words) {
        return Ok(None);
    }
    let (value, unit) = words.split_once(' ').unwrap_or((words, ""));
    let (id, title, scale, metric) = match (column, unit.trim()) {
        ("Ping", "ms") => ("yabs.ping", "Round trip", 1e-3, seconds("round trip")),
        ("Send Speed", unit) => ("yabs.send", "Sent by iperf3", bits(unit, at)?, bytes_per_second("bytes")),
        ("Recv Speed", unit) => ("yabs.receive", "Received by iperf3", bits(unit, at)?, bytes_per_second("bytes")),
        (_, unit) => return Err(SourceFault::new(format!("the unit '{}' is not known", shown(unit)), at)),
    };
    let reading = SourceReading::new(id, title, need(value, at)? * scale, metric).printed_in(value, scale);
    let [provider, location] = place.map(parameter_value);
    Ok(Some(reading.at("provider", provider).at("location", location).at("protocol", parameter_value(protocol))))
}

/// Bytes of iperf3's units, whose prefixes count thousands.
fn bits(unit: &str, at: usize) -> Result<f64, SourceFault> {
    Ok(match unit {
        "bits/sec" => 0.125,
        "Kbits/sec" => 125.0,
        "Mbits/sec" => 125e3,
        "Gbits/sec" => 125e6,
        "Tbits/sec" => 125e9,
        _ => return Err(SourceFault::new(format!("the unit '{}' is not known", shown(unit)), at)),
    })
}

/// The score that Geekbench itself states; none if there is no number.
pub(super) fn score(name: &str, value: &str, version: &str, at: usize) -> Result<Option<SourceReading>, SourceFault> {
    let cores = match name {
        "Single Core" => "single",
        "Multi Core" => "multi",
        other => return Err(SourceFault::new(format!("the score '{}' is not known", shown(other)), at)),
    };
    let reading = |value| SourceReading::new("geekbench.score", "Score", value, Metric::higher(Unit::Ratio, "points"));
    Ok(number(value).map(|value| reading(value).at("cores", cores).at("version", parameter_value(version))))
}

/// Facts that a line states; none if it is not known. The clock is the one of that moment on some machines and the
/// greatest on others, and is not kept.
pub(super) fn system(name: &str, value: &str, at: usize) -> Result<Option<Vec<Fact>>, SourceFault> {
    let facts = match name {
        "CPU cores" => {
            let count = value.split(" @").next().and_then(number);
            count.map(|count| fact("cpu.count", count, "1", "output", &[])).into_iter().collect()
        }
        "RAM" => vec![fact("memory.total", memory(value, at)?, "B", "output", &[])],
        "Processor" | "Distro" | "Kernel" | "VM Type" => fact_of(name, value).into_iter().collect(),
        "Uptime" | "AES-NI" | "VM-x/AMD-V" | "Swap" | "Disk" | "IPv4/IPv6" => Vec::new(),
        _ => return Ok(None),
    };
    Ok(Some(facts))
}

/// A fact in words, by the name that the text has for it.
pub(super) fn fact_of(name: &str, value: &str) -> Option<Fact> {
    match name {
        "Processor" => text("cpu.model", value, "output", &[Primitive::CoreClock]),
        "Distro" => text("os.name", value, "output", &[]),
        "Kernel" => text("kernel.release", value, "output", &[]),
        _ if value == "NONE" => text("virtual.hypervisor", "none", "output", &[]),
        _ if ["DOCKER", "LXC", "LXC-LIBVIRT", "OPENVZ", "PODMAN", "SYSTEMD-NSPAWN"].contains(&value) => {
            text("virtual.container", value, "output", &[])
        }
        _ => text("virtual.hypervisor", value, "output", &[]),
    }
}

/// `15.5 GiB`, `964.4 MiB`; before 2021 `31G`, which counts in 1024 too.
fn memory(value: &str, at: usize) -> Result<f64, SourceFault> {
    let end = value.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(value.len());
    let scale = match value[end..].trim() {
        "KiB" | "K" | "Ki" => 10,
        "MiB" | "M" | "Mi" => 20,
        "GiB" | "G" | "Gi" => 30,
        "TiB" | "T" | "Ti" => 40,
        other => return Err(SourceFault::new(format!("the unit '{}' is not known", shown(other)), at)),
    };
    Ok(need(&value[..end], at)? * 2.0_f64.powi(scale))
}
