//! Raw results: lines of `name: value unit`, and sections of pairs under a heading.

use model::{GIB, KIB, Metric, Primitive, Unit, format_size};

use crate::date::ctime;
use crate::format::SourceText;
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, number, rate, seconds, text};
use crate::text::{
    MOST_NAMES, SourceFault, between, first_number, lines, name_value, need, parameter_value, shown, snake,
};

/// Lines whose definition is that of a benchmark: name, id and parameters.
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

/// Sections of sizes and bandwidths whose definition is that of a benchmark: heading, id, parameter of the size, and
/// the rest of the parameters.
const SECTIONS: &[(&str, &str, &str, &str)] = &[
    ("read bandwidth", "file.read_cached", "size", "data=touched"),
    ("Mmap read bandwidth", "file.mmap_read", "size", "mapping=once"),
    ("Mmap read open2close bandwidth", "file.mmap_read", "size", "mapping=open_to_close"),
    ("libc bcopy unaligned", "memory.memcpy", "working_set", "piece=whole"),
    ("unrolled bcopy unaligned", "memory.memcpy_unrolled", "working_set", ""),
    ("Memory read bandwidth", "memory.read", "working_set", ""),
    ("Memory write bandwidth", "memory.write", "working_set", ""),
    ("Socket bandwidth using localhost", "ipc.tcp_bandwidth", "message", "congestion=system"),
];

/// Kind of the pairs under a heading.
enum LmbenchSection {
    None,
    Bandwidth(String),
    Latency { stride: u64, random: bool },
    Switch { size: u64 },
    Mappings,
    Files,
    Parallelism,
}

/// Results of one machine with one kernel.
#[derive(Default)]
struct LmbenchSystem<'a> {
    /// The first line of its results.
    name: &'a str,
    sheet: SourceSheet,
    /// Copies of each test that run at once, if there are several.
    copies: Option<&'a str>,
}

impl<'a> LmbenchSystem<'a> {
    fn begin(&mut self) {
        self.sheet.begin_process();
        self.copies = None;
    }

    fn header(&mut self, line: &'a str) {
        match line.strip_prefix("SYNC_MAX: ").map(str::trim) {
            Some(copies) => self.copies = Some(copies).filter(|copies| *copies != "1" && !copies.is_empty()),
            None => header(&mut self.sheet, line),
        }
    }

    fn add(&mut self, readings: Vec<SourceReading>) {
        for reading in readings {
            let placed = self.copies.map(|copies| reading.clone().at("copies", parameter_value(copies)));
            self.sheet.readings.push(placed.unwrap_or(reading));
        }
    }
}

pub(super) fn parse(source: &SourceText<'_>) -> Result<Vec<SourceSheet>, SourceFault> {
    let mut systems = vec![LmbenchSystem::default()];
    let (mut present, mut section, mut random) = (0, LmbenchSection::None, false);
    for (at, line) in lines(source.text) {
        let line = line.trim();
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some(inside) = line.strip_prefix('[') {
            if inside.starts_with("lmbench") {
                present = system(&mut systems, line, at)?;
                systems[present].begin();
            }
            systems[present].header(inside.trim_end_matches(']'));
        } else if words.is_empty() {
            if !matches!(section, LmbenchSection::Latency { .. }) {
                section = LmbenchSection::None;
            }
        } else if words.iter().take(2).all(|word| word.starts_with(|c: char| c.is_ascii_digit())) && words.len() >= 2 {
            let readings = pair(&section, &words, at)?;
            if readings.is_empty() {
                continue;
            }
            systems[present].add(readings);
        } else if let Some((name, value)) = line.rsplit_once(':') {
            // What follows a line with a result of its own is of another test.
            section = LmbenchSection::None;
            let Some(reading) = single(name, value.trim(), at)? else { continue };
            systems[present].add(vec![reading]);
        } else {
            random = match line.trim_matches('"') {
                "Random load latency" => true,
                "Memory load latency" => false,
                _ => random,
            };
            section = heading(line.trim_matches('"'), random);
            if matches!(section, LmbenchSection::None) {
                continue;
            }
        }
        source.took(at);
    }
    let several = systems.len() > 1;
    let sheets = systems.into_iter().map(|system| system.sheet);
    Ok(sheets.filter(|sheet| !(several && sheet.readings.is_empty())).collect())
}

/// The system whose results begin with this line, which states its host and its kernel: further results of it are
/// samples.
fn system<'a>(systems: &mut Vec<LmbenchSystem<'a>>, name: &'a str, at: usize) -> Result<usize, SourceFault> {
    if let Some(found) = systems.iter().position(|system| system.name == name) {
        return Ok(found);
    }
    if systems.len() > MOST_NAMES {
        return Err(SourceFault::new(format!("it has more than {MOST_NAMES} systems"), at));
    }
    systems.push(LmbenchSystem { name, ..LmbenchSystem::default() });
    Ok(systems.len() - 1)
}

fn header(sheet: &mut SourceSheet, line: &str) {
    let date = ctime(line);
    if !date.is_empty() && !line.contains('#') && !line.contains(": ") {
        if sheet.started.is_empty() {
            sheet.started = date;
        }
        return;
    }
    let Some((name, value)) = line.split_once(": ") else { return };
    let value = value.trim();
    match name {
        "HOSTNAME" => sheet.machine = name_value(value),
        "LMBENCH VERSION" => sheet.version = Some(value.to_owned()),
        "MHZ" => {
            let clock = first_number(value).filter(|megahertz| *megahertz > 0.0);
            sheet.fact(clock.map(|clock| number("cpu.clock", clock * 1e6, "Hz", "lmbench", &[Primitive::CoreClock])));
        }
        "PROCESSORS" => {
            let count = first_number(value).filter(|count| *count > 0.0);
            sheet.fact(count.map(|count| number("cpu.count", count, "1", "lmbench", &[])));
        }
        "SYSNAME" => sheet.fact(text("os.name", value, "lmbench", &[])),
        "RELEASE" => sheet.fact(text("kernel.release", value, "lmbench", &[Primitive::SyscallEntry])),
        "MACHINE" => sheet.fact(text("cpu.architecture", value, "lmbench", &[])),
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
        "Memory load parallelism" => LmbenchSection::Parallelism,
        "File system latency" | "file system latency" => LmbenchSection::Files,
        line if ["bandwidth", "bcopy", "bzero"].iter().any(|word| line.contains(word)) => {
            LmbenchSection::Bandwidth(line.to_owned())
        }
        _ => LmbenchSection::None,
    }
}

fn single(name: &str, value: &str, at: usize) -> Result<Option<SourceReading>, SourceFault> {
    let mut words = value.split_whitespace();
    let (Some(word), unit) = (words.next(), words.next().unwrap_or_default()) else { return Ok(None) };
    let (scale, metric) = match unit {
        "" if name.ends_with(" parallelism") => (1.0, Metric::higher(Unit::Ratio, "operations at once")),
        "microseconds" => (1e-6, seconds("operation")),
        "nanoseconds" => (1e-9, seconds("operation")),
        "milliseconds" => (1e-3, seconds("operation")),
        "MB/sec" => (1e6, bytes_per_second("bytes")),
        "KB/sec" => (1e3, bytes_per_second("bytes")),
        _ => return Ok(None),
    };
    let value = need(word, at)? * scale;
    let reading = |id: &str| SourceReading::new(id, name, value, metric).printed_in(word, scale);
    if let Some((_, id, parameters)) = LINES.iter().find(|(known, ..)| *known == name) {
        return Ok(Some(SourceReading { parameters: parameters.parse().unwrap_or_default(), ..reading(id) }));
    }
    if name.starts_with("Pagefaults on ") {
        return Ok(Some(reading("os.page_fault").at("kind", "file")));
    }
    // The test is the same wherever its file is.
    if let Some(file) = name.strip_prefix("File ").and_then(|rest| rest.strip_suffix(" write bandwidth")) {
        let note = format!("of {}", parameter_value(file));
        return Ok(Some(
            SourceReading { title: "File write bandwidth".to_owned(), ..reading("lmbench.file_write_bandwidth") }
                .note(note),
        ));
    }
    if let Some(count) = name.strip_prefix("Select on ").and_then(|rest| rest.strip_suffix(" fd's")) {
        let kind = if count.ends_with("tcp") { "tcp" } else { "file" };
        let count = count.trim_end_matches("tcp").trim();
        return Ok(Some(reading("os.select").at("descriptors", parameter_value(count)).at("kind", kind)));
    }
    Ok(Some(reading(&format!("lmbench.{}", snake(name)))))
}

fn pair(section: &LmbenchSection, words: &[&str], at: usize) -> Result<Vec<SourceReading>, SourceFault> {
    let first = || need(words[0], at);
    let reading = |id: &str, title: &str, scale: f64, metric: Metric| {
        let reading = SourceReading::new(id, title, need(words[1], at)? * scale, metric);
        Ok::<SourceReading, SourceFault>(reading.printed_in(words[1], scale))
    };
    Ok(match section {
        LmbenchSection::None => Vec::new(),
        LmbenchSection::Bandwidth(title) => {
            let size = megabytes(first()?);
            let scale = match words.get(2) {
                None | Some(&"MB/sec") => 1e6,
                Some(&"KB/sec") => 1e3,
                Some(unit) => return Err(SourceFault::new(format!("the unit '{}' is not known", shown(unit)), at)),
            };
            let (id, parameter, rest) = match SECTIONS.iter().find(|(known, ..)| known == title) {
                Some((_, id, parameter, rest)) => ((*id).to_owned(), *parameter, *rest),
                None => (format!("lmbench.{}", snake(title)), "size", ""),
            };
            let reading = reading(&id, title, scale, bytes_per_second("bytes"))?;
            vec![SourceReading { parameters: rest.parse().unwrap_or_default(), ..reading }.at(parameter, size)]
        }
        LmbenchSection::Latency { stride, random } => {
            let bytes = ((first()? * 1_048_576.0) / 512.0).round().clamp(1.0, (1_u64 << 40) as f64) as u64 * 512;
            let id = if *random { "memory.load_latency" } else { "memory.load_latency_strided" };
            let reading = reading(id, "lat_mem_rd", 1e-9, seconds("load"))?.at("working_set", format_size(bytes));
            vec![if *random { reading } else { reading.at("stride", format_size(*stride)) }]
        }
        LmbenchSection::Switch { size } => {
            vec![
                reading("os.context_switch", "lat_ctx", 1e-6, seconds("switch"))?
                    .at("processes", parameter_value(words[0]))
                    .at("working_set", format_size(*size))
                    .at("placement", "free"),
            ]
        }
        LmbenchSection::Mappings => {
            vec![reading("os.mmap", "lat_mmap", 1e-6, seconds("mapping"))?.at("size", megabytes(first()?))]
        }
        LmbenchSection::Parallelism => {
            let metric = Metric::higher(Unit::Ratio, "loads at once");
            vec![reading("lmbench.memory_load_parallelism", "par_mem", 1.0, metric)?.at("size", megabytes(first()?))]
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
