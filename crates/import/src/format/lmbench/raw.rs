//! Raw results: lines of `name: value unit`, and sections of pairs under a heading.

use model::{GIB, KIB, Primitive, format_size};

use crate::date::ctime;
use crate::format::SourceText;
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, number, rate, seconds, text};
use crate::text::{SourceFault, axis_value, between, first_number, lines, need, snake};

/// Lines whose definition is that of a probe: name, id and point.
const LINES: &[(&str, &str, &str)] = &[
    ("Simple syscall", "os.syscall_getppid", ""),
    ("Simple write", "os.syscall_write", ""),
    ("Signal handler installation", "os.signal_install", ""),
    ("Signal handler overhead", "os.signal_handle", ""),
    ("Protection fault", "os.protection_trap", ""),
    ("Pipe latency", "ipc.pipe_latency", "placement=free"),
    ("AF_UNIX sock stream latency", "ipc.unix_latency", "placement=free"),
    ("UDP latency using localhost", "ipc.udp_latency", "placement=free"),
    ("TCP latency using localhost", "ipc.tcp_latency", "placement=free"),
    ("RPC/udp latency using localhost", "ipc.rpc_udp_latency", "messages=library,placement=free"),
    ("RPC/tcp latency using localhost", "ipc.rpc_tcp_latency", "messages=library,placement=free"),
    ("TCP/IP connection cost to localhost", "ipc.tcp_connect", ""),
    ("Process fork+exit", "os.fork_exit", ""),
    ("Process fork+execve", "os.fork_exec", "linking=dynamic,program=hello"),
    ("Process fork+/bin/sh -c", "os.fork_shell", "linking=dynamic"),
    ("Pipe bandwidth", "ipc.pipe_bandwidth", "block=64KiB"),
    ("AF_UNIX sock stream bandwidth", "ipc.unix_bandwidth", ""),
];

/// Sections of sizes and bandwidths whose definition is that of a probe: heading, id, axis of the size, and the rest of
/// the point.
const SECTIONS: &[(&str, &str, &str, &str)] = &[
    ("read bandwidth", "file.read_cached", "size", "data=touched"),
    ("Mmap read bandwidth", "file.mmap_read", "size", "mapping=once"),
    ("Mmap read open2close bandwidth", "file.mmap_read", "size", "mapping=open_to_close"),
    ("libc bcopy unaligned", "memory.memcpy", "working_set", "piece=whole"),
    ("unrolled bcopy unaligned", "memory.memcpy_unrolled", "working_set", ""),
    ("Memory read bandwidth", "memory.read", "working_set", ""),
    ("Memory write bandwidth", "memory.write", "working_set", ""),
    ("Socket bandwidth using localhost", "ipc.tcp_bandwidth", "message", ""),
];

/// Kind of the pairs under a heading.
enum LmbenchSection {
    None,
    Bandwidth(String),
    Latency { stride: u64, random: bool },
    Switch { size: u64 },
    Mappings,
    Files,
}

pub(super) fn parse(source: &SourceText<'_>) -> Result<SourceSheet, SourceFault> {
    let mut sheet = SourceSheet::default();
    let mut section = LmbenchSection::None;
    let mut random = false;
    for (at, line) in lines(source.text) {
        let line = line.trim();
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some(inside) = line.strip_prefix('[') {
            if inside.starts_with("lmbench") {
                sheet.begin_process();
            }
            header(&mut sheet, inside.trim_end_matches(']'));
        } else if words.is_empty() {
            if !matches!(section, LmbenchSection::Latency { .. }) {
                section = LmbenchSection::None;
            }
        } else if words.iter().take(2).all(|word| word.starts_with(|c: char| c.is_ascii_digit())) && words.len() >= 2 {
            let readings = pair(&section, &words, at)?;
            if readings.is_empty() {
                continue;
            }
            sheet.readings.extend(readings);
        } else if let Some((name, value)) = line.rsplit_once(": ") {
            let Some(reading) = single(name, value, at)? else { continue };
            sheet.readings.push(reading);
        } else {
            random = match line.trim_matches('"') {
                "Random load latency" => true,
                "Memory load latency" => false,
                _ => random,
            };
            section = heading(line.trim_matches('"'), random);
        }
        source.took(at);
    }
    Ok(sheet)
}

fn header(sheet: &mut SourceSheet, line: &str) {
    let date = ctime(line);
    if !date.is_empty() && !line.contains('#') && !line.contains(": ") {
        sheet.started = date;
        return;
    }
    let Some((name, value)) = line.split_once(": ") else { return };
    let value = value.trim();
    match name {
        "HOSTNAME" => sheet.machine = axis_value(value),
        "LMBENCH VERSION" => sheet.version = Some(value.to_owned()),
        "MHZ" => {
            if let Some(megahertz) = first_number(value).filter(|megahertz| *megahertz > 0.0) {
                sheet.facts.push(number("cpu.clock", megahertz * 1e6, "Hz", "lmbench", &[Primitive::CoreClock]));
            }
        }
        "SYSNAME" => sheet.facts.extend(text("os.name", value, "lmbench", &[])),
        "RELEASE" => sheet.facts.extend(text("kernel.release", value, "lmbench", &[Primitive::SyscallEntry])),
        "MACHINE" => sheet.facts.extend(text("cpu.architecture", value, "lmbench", &[])),
        _ => {}
    }
}

fn heading(line: &str, random: bool) -> LmbenchSection {
    if let Some(stride) = line.strip_prefix("stride=").and_then(|stride| stride.trim().parse().ok()) {
        return LmbenchSection::Latency { stride, random };
    }
    if let Some(size) = between(line, "size=", "ovr=") {
        let kilobytes: Option<u64> = size.trim_end_matches(['k', 'K']).parse().ok();
        return kilobytes
            .map_or(LmbenchSection::None, |size| LmbenchSection::Switch { size: size.saturating_mul(KIB) });
    }
    match line {
        "mappings" => LmbenchSection::Mappings,
        "File system latency" => LmbenchSection::Files,
        line if ["bandwidth", "bcopy", "bzero"].iter().any(|word| line.contains(word)) => {
            LmbenchSection::Bandwidth(line.to_owned())
        }
        _ => LmbenchSection::None,
    }
}

fn single(name: &str, value: &str, at: usize) -> Result<Option<SourceReading>, SourceFault> {
    let mut words = value.split_whitespace();
    let (Some(value), Some(unit)) = (words.next(), words.next()) else { return Ok(None) };
    let (scale, metric) = match unit {
        "microseconds" => (1e-6, seconds("operation")),
        "nanoseconds" => (1e-9, seconds("operation")),
        "milliseconds" => (1e-3, seconds("operation")),
        "MB/sec" => (1e6, bytes_per_second("bytes")),
        "KB/sec" => (1e3, bytes_per_second("bytes")),
        _ => return Ok(None),
    };
    let value = need(value, at)? * scale;
    if let Some((_, id, point)) = LINES.iter().find(|(known, ..)| *known == name) {
        let reading = SourceReading::new(*id, name, value, metric);
        return Ok(Some(SourceReading { point: point.parse().unwrap_or_default(), ..reading }));
    }
    if name.starts_with("Pagefaults on ") {
        return Ok(Some(SourceReading::new("os.page_fault", name, value, metric).at("kind", "file")));
    }
    if let Some(count) = name.strip_prefix("Select on ").and_then(|rest| rest.strip_suffix(" fd's")) {
        let kind = if count.ends_with("tcp") { "tcp" } else { "file" };
        let count = count.trim_end_matches("tcp").trim();
        return Ok(Some(
            SourceReading::new("os.select", name, value, metric).at("descriptors", axis_value(count)).at("kind", kind),
        ));
    }
    Ok(Some(SourceReading::new(format!("lmbench.{}", snake(name)), name, value, metric)))
}

fn pair(section: &LmbenchSection, words: &[&str], at: usize) -> Result<Vec<SourceReading>, SourceFault> {
    let first = || need(words[0], at);
    let second = || need(words[1], at);
    Ok(match section {
        LmbenchSection::None => Vec::new(),
        LmbenchSection::Bandwidth(title) => {
            let size = megabytes(first()?);
            let (id, axis, rest) = match SECTIONS.iter().find(|(known, ..)| known == title) {
                Some((_, id, axis, rest)) => ((*id).to_owned(), *axis, *rest),
                None => (format!("lmbench.{}", snake(title)), "size", ""),
            };
            let reading = SourceReading::new(id, title.clone(), second()? * 1e6, bytes_per_second("bytes"));
            vec![SourceReading { point: rest.parse().unwrap_or_default(), ..reading }.at(axis, size)]
        }
        LmbenchSection::Latency { stride, random } => {
            let bytes = ((first()? * 1_048_576.0) / 512.0).round().clamp(1.0, (1_u64 << 40) as f64) as u64 * 512;
            let id = if *random { "memory.load_latency" } else { "memory.load_latency_strided" };
            let reading = SourceReading::new(id, "lat_mem_rd", second()? * 1e-9, seconds("load"));
            let reading = reading.at("working_set", format_size(bytes));
            vec![if *random { reading } else { reading.at("stride", format_size(*stride)) }]
        }
        LmbenchSection::Switch { size } => {
            let reading = SourceReading::new("os.context_switch", "lat_ctx", second()? * 1e-6, seconds("switch"));
            vec![
                reading
                    .at("processes", axis_value(words[0]))
                    .at("working_set", format_size(*size))
                    .at("placement", "free"),
            ]
        }
        LmbenchSection::Mappings => {
            vec![
                SourceReading::new("os.mmap", "lat_mmap", second()? * 1e-6, seconds("mapping"))
                    .at("size", megabytes(first()?)),
            ]
        }
        LmbenchSection::Files => files(words, at)?,
    })
}

/// `0k 18774 171147 234949`: size, files, created a second, deleted a second.
fn files(words: &[&str], at: usize) -> Result<Vec<SourceReading>, SourceFault> {
    let [size, _, created, deleted] = words else { return Err(SourceFault::new("the line ends early", at)) };
    let kilobytes: u64 =
        size.trim_end_matches('k').parse().map_err(|_| SourceFault::new("the size is not a whole number", at))?;
    let size = format_size(kilobytes.saturating_mul(KIB));
    let reading = |id: &str, value: &str| {
        Ok(SourceReading::new(id, id, need(value, at)?, rate("files")).at("size", size.clone()))
    };
    Ok(vec![reading("file.create", created)?, reading("file.delete", deleted)?])
}

/// Sizes are printed in units of 10^6 bytes, with two decimals from 1 on: 8.39 is 8 MiB.
fn megabytes(size: f64) -> String {
    let bytes = (size * 1e6).round().clamp(0.0, (1024 * GIB) as f64);
    let power = if bytes >= 1.0 { bytes.log2().round().exp2() } else { 0.0 };
    let near = (bytes / power - 1.0).abs() < 0.005;
    format_size(if near { power as u64 } else { bytes as u64 })
}

#[cfg(test)]
mod tests {
    #[test]
    fn sizes_find_their_power_of_two() {
        for (printed, size) in [
            (0.000_512, "512B"),
            (1.05, "1MiB"),
            (2.10, "2MiB"),
            (8.39, "8MiB"),
            (10.485_76, "10MiB"),
            (0.001_437, "1437B"),
        ] {
            assert_eq!(super::megabytes(printed), size);
        }
        assert_eq!(super::megabytes(0.0), "0B");
    }
}
