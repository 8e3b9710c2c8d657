//! ioping: latency of single requests to a disk, and its rates where requests follow each other.

use serde::Deserialize;

use super::{CodeFormat, Confidence, Parsed, SourceText, sure};
use crate::json::{self, Scalar};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, bytes_per_second, rate, seconds};
use crate::text::{SourceFault, after, between, lines, need, parameter_value, shown};
use crate::units::TIMES;

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "ioping",
    tool: "ioping",
    about: "average latency by direction and size, with the range of one process; operations and data a second if \
            requests follow each other; text or JSON",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    let text = sure(head, &["ioping statistics ---", "min/avg/max/mdev = "]);
    text.max(sure(head, &["\"stat\"", "\"mdev\"", "\"bps\"", "\"iops\""]))
}

/// What one process states.
#[derive(Default)]
struct IopingRun {
    target: String,
    /// The direction of its requests, and the bytes of one.
    direction: Option<&'static str>,
    size: Option<String>,
    /// How many requests, how long it took in all, and operations and bytes a second, with their text.
    count: f64,
    wall: f64,
    operations: Option<(f64, String)>,
    data: Option<(f64, f64, String)>,
    first: usize,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    if source.text.trim_start().starts_with(['[', '{']) {
        return document(source);
    }
    let mut sheet = SourceSheet::default();
    let (mut runs, mut run): (Vec<IopingRun>, IopingRun) = (Vec::new(), IopingRun::default());
    for (at, line) in lines(source.text) {
        let line = line.trim();
        if line.contains(": request=") || line.contains(" request=") {
            request(&mut run, line);
        } else if let Some(target) = between(line, "--- ", " ioping statistics ---") {
            run.target = parameter_value(target);
        } else if let Some((count, rest)) = line.split_once(" requests completed in ") {
            completed(&mut run, count, rest, at)?;
        } else if let Some((_, rest)) = line.split_once(" requests in ").filter(|_| line.starts_with("generated ")) {
            run.wall = time(rest.split(',').next().unwrap_or_default(), at)?;
        } else if let Some(times) = after(line, "min/avg/max/mdev =").filter(|_| run.count > 0.0) {
            let [least, average, greatest] = latencies(times, at)?;
            end(&mut sheet, &mut run, least, average, greatest);
            runs.push(std::mem::take(&mut run));
        } else if !(line.contains(" too fast, ") || line.contains(" too slow, ")) {
            continue;
        }
        source.took(at);
    }
    settle(&mut sheet, &runs);
    Ok(Parsed::Sheets(vec![sheet]))
}

/// `4 KiB <<< . (ext4 /dev/vda 252.0 GiB): request=2 time=179.3 us`; before 1.0 `4096 bytes from . (...)`.
fn request(run: &mut IopingRun, line: &str) {
    let (size, direction) =
        [(" <<< ", Some("read")), (" >>> ", Some("write")), (" from ", Some("read")), (" to ", Some("write"))]
            .iter()
            .find_map(|(sign, direction)| Some((line.split_once(sign)?.0, *direction)))
            .unwrap_or(("", None));
    // Requests of both directions are those of neither.
    run.direction = if run.size.is_some() && run.direction != direction { None } else { direction };
    run.size = bytes(size).or_else(|| run.size.take());
}

/// `4 KiB`, `4096 bytes`
fn bytes(words: &str) -> Option<String> {
    let (digits, unit) = words.split_once(' ')?;
    let scale = ["B", "KiB", "MiB", "GiB"].iter().position(|name| *name == unit);
    let scale = scale.or_else(|| (unit == "bytes").then_some(0))?;
    Some(model::format_size(digits.parse::<u64>().ok()?.checked_mul(1 << (10 * scale))?))
}

/// `4 requests completed in 708.9 us, 16 KiB read, 5.64 k iops, 22.0 MiB/s`; before 1.0 without the amount.
fn completed(run: &mut IopingRun, count: &str, rest: &str, at: usize) -> Result<(), SourceFault> {
    run.count = counted(count, at)?;
    for (place, part) in rest.split(", ").enumerate() {
        if place == 0 {
            run.wall = time(part, at)?;
        } else if let Some(operations) = part.strip_suffix(" iops") {
            run.operations = Some((counted(operations, at)?, operations.to_owned()));
        } else if let Some(data) = part.strip_suffix("/s") {
            let (digits, unit) = data.split_once(' ').unwrap_or((data, ""));
            let scale = ["B", "KiB", "MiB", "GiB", "TiB"].iter().position(|name| *name == unit);
            let scale =
                scale.ok_or_else(|| SourceFault::new(format!("the unit '{}/s' is not known", shown(unit)), at))?;
            let scale = 1024.0_f64.powi(i32::try_from(scale).unwrap_or(0));
            run.data = Some((need(digits, at)? * scale, scale, digits.to_owned()));
        } else if part.ends_with(" read") {
            run.direction = Some("read");
        } else if part.ends_with(" written") {
            run.direction = Some("write");
        }
    }
    Ok(())
}

/// `4`, `16.2 k`, `1.05 M`
fn counted(words: &str, at: usize) -> Result<f64, SourceFault> {
    let (digits, unit) = words.trim().split_once(' ').unwrap_or((words.trim(), ""));
    let scale = match unit {
        "" => 1.0,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        _ => return Err(SourceFault::new(format!("the unit '{}' is not known", shown(unit)), at)),
    };
    Ok(need(digits, at)? * scale)
}

/// `708.9 us`
fn time(words: &str, at: usize) -> Result<f64, SourceFault> {
    let (digits, unit) = words.trim().split_once(' ').unwrap_or((words.trim(), ""));
    let scale = TIMES.iter().find(|(name, _)| *name == unit).map(|(_, scale)| *scale);
    let scale = scale.or_else(|| (unit == "hour").then_some(3600.0));
    let scale = scale.ok_or_else(|| SourceFault::new(format!("the unit '{}' is not known", shown(unit)), at))?;
    Ok(need(digits, at)? * scale)
}

/// Least, average and greatest, each with its unit: `152.9 us / 177.2 us / 219.9 us / 26.6 us`; before 1.0
/// `0.2/2.8/12.7/5.0 ms`.
fn latencies(times: &str, at: usize) -> Result<[Printed; 3], SourceFault> {
    let parts: Vec<&str> = times.split('/').map(str::trim).collect();
    let [least, average, greatest, deviation] = parts[..] else {
        return Err(SourceFault::new("its times are not four", at));
    };
    let common = deviation.split_once(' ').map_or("", |(_, unit)| unit);
    let printed = |part: &str| {
        let words = if part.contains(' ') { part.to_owned() } else { format!("{part} {common}") };
        let digits = words.split(' ').next().unwrap_or_default().to_owned();
        Ok::<_, SourceFault>((time(&words, at)?, digits))
    };
    Ok([printed(least)?, printed(average)?, printed(greatest)?])
}

/// A value in base units, and its digits.
type Printed = (f64, String);

/// Share of the whole time that requests take from which they follow each other.
const BUSY: f64 = 0.5;

/// Adds the results of a process.
fn end(sheet: &mut SourceSheet, run: &mut IopingRun, least: Printed, average: Printed, greatest: Printed) {
    sheet.begin_process();
    run.first = sheet.readings.len();
    // With a pause behind each request a disk answers otherwise than without.
    let busy = run.wall > 0.0 && run.count * average.0 / run.wall > BUSY;
    let latency = SourceReading::new("ioping.latency", "Latency of a request", average.0, seconds("request"));
    let scale = average.1.parse::<f64>().ok().filter(|digits| *digits != 0.0).map_or(1.0, |digits| average.0 / digits);
    let latency = latency.printed_in(&average.1, scale).spread(SourceSpread::Range(least.0, greatest.0));
    let mut readings = vec![latency.counts(1, run.count.min(f64::from(u32::MAX)) as u32)];
    if let Some((value, words)) = run.operations.as_ref().filter(|(value, _)| busy && *value > 0.0) {
        let operations = SourceReading::new("ioping.operations", "Requests", *value, rate("requests"));
        readings.push(operations.printed(words.split(' ').next().unwrap_or_default()));
    }
    if let Some((value, scale, digits)) = run.data.as_ref().filter(|(value, ..)| busy && *value > 0.0) {
        let data = SourceReading::new("ioping.data", "Data", *value, bytes_per_second("bytes"));
        readings.push(data.printed_in(digits, *scale));
    }
    let parameters = [
        ("direction", run.direction.map(str::to_owned)),
        ("size", run.size.clone()),
        ("pace", Some(if busy { "one after the other" } else { "with pauses" }.to_owned())),
    ];
    for reading in readings {
        let placed = parameters.iter().fold(reading, |reading, (parameter, value)| match value {
            Some(value) => reading.at(parameter, value.clone()),
            None => reading,
        });
        sheet.readings.push(placed);
    }
}

/// What processes read is a parameter where they differ in it, else a fact.
fn settle(sheet: &mut SourceSheet, runs: &[IopingRun]) {
    let targets: Vec<(usize, String)> = runs.iter().map(|run| (run.first, run.target.clone())).collect();
    if !targets.is_empty() && !sheet.tell_apart("target", &targets) {
        sheet.fact(crate::sheet::text("device.target", &targets[0].1, "output", &[]));
    }
    sheet.notes.push("whether requests were cached, direct or sequential is not printed".to_owned());
}

/// An entry of its JSON: a request, or the sums of them.
#[derive(Deserialize)]
struct IopingEntry {
    #[serde(default)]
    target: IopingTarget,
    io: Option<IopingRequest>,
    stat: Option<IopingSums>,
    load: Option<IopingSums>,
    #[serde(default, rename = "timestamp")]
    _timestamp: Scalar,
    #[serde(default)]
    localtime: String,
}

#[derive(Deserialize, Default)]
struct IopingTarget {
    #[serde(default)]
    path: String,
    #[serde(default)]
    fstype: String,
    #[serde(default)]
    device: String,
    #[serde(default, rename = "device_size")]
    _device_size: Scalar,
}

#[derive(Deserialize)]
struct IopingRequest {
    operation: String,
    size: u64,
    #[serde(default, rename = "request")]
    _request: Scalar,
    #[serde(default, rename = "time")]
    _time: Scalar,
}

/// Times in nanoseconds; `bps` is bytes a second.
#[derive(Deserialize)]
struct IopingSums {
    count: f64,
    time: f64,
    iops: f64,
    bps: f64,
    min: Option<f64>,
    avg: Option<f64>,
    max: Option<f64>,
    #[serde(default, rename = "mdev")]
    _mdev: Scalar,
    #[serde(default, rename = "size")]
    _size: Scalar,
}

fn document(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let entries: Vec<IopingEntry> = json::read_noting(source.text, &source.ledger)?;
    let mut sheet = SourceSheet::default();
    let (mut runs, mut run): (Vec<IopingRun>, IopingRun) = (Vec::new(), IopingRun::default());
    for entry in &entries {
        if let Some(request) = &entry.io {
            let direction = ["read", "write"].into_iter().find(|known| *known == request.operation);
            run.direction = if run.size.is_some() && run.direction != direction { None } else { direction };
            run.size = Some(model::format_size(request.size));
        }
        let Some(sums) = &entry.stat else { continue };
        let target = [&entry.target.path, &entry.target.fstype, &entry.target.device].map(String::as_str).join(" ");
        run.target = parameter_value(&target);
        sheet.started = crate::date::iso(&entry.localtime);
        run.count = sums.count;
        run.wall = entry.load.as_ref().map_or(sums.time, |load| load.time) * 1e-9;
        run.operations = Some((sums.iops, sums.iops.to_string()));
        run.data = Some((sums.bps, 1.0, sums.bps.to_string()));
        let printed = |nanoseconds: Option<f64>| nanoseconds.map(|value| (value * 1e-9, value.to_string()));
        let (Some(least), Some(average), Some(greatest)) = (printed(sums.min), printed(sums.avg), printed(sums.max))
        else {
            return Err(SourceFault::new("its sums lack a latency", 1));
        };
        end(&mut sheet, &mut run, least, average, greatest);
        runs.push(std::mem::take(&mut run));
    }
    settle(&mut sheet, &runs);
    Ok(Parsed::Sheets(vec![sheet]))
}
