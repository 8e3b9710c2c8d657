//! fio's terminal output, versions 2 and 3: bandwidth, operations and completion latency of each job and direction.

use std::collections::HashSet;

use super::{CodeFormat, Confidence, Parsed, SourceText, sure};
use crate::date::ctime;
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, rate, seconds};
use crate::text::{SourceFault, between, half_digit, lines, need, number, parameter_value, shown, split_unit};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "fio-text",
    tool: "fio",
    about: "bandwidth, operations a second and mean completion latency with percentiles, from the terminal; fio's \
            deviations within one run are notes",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    let job = sure(head, &["(groupid=", "jobs=", "err="]);
    if memchr::memmem::find(head, b"\"fio version\"").is_some() { Confidence::No } else { job }
}

/// The job whose lines are read.
#[derive(Default)]
struct FioTextJob {
    name: String,
    /// `read`, `write`, `trim` or `sync`; empty before the first.
    direction: String,
    /// Readings of this direction begin here.
    first: usize,
    /// Seconds of one unit of the percentiles that follow, if they are of the latency that was read last.
    percentiles: Option<f64>,
    /// How many jobs the line sums, with group_reporting.
    jobs: Option<String>,
    /// Where it ran, if several hosts did.
    host: String,
    /// Operations of its directions whose last digit may be wrong.
    doubtful: Vec<FioDoubt>,
}

/// A rate that a version before 3.26 may print too low: it loses a carry, and 19.97k becomes `19.0k` (axboe/fio#1117).
struct FioDoubt {
    /// Place of the direction in what the job issued.
    place: usize,
    /// Number of the reading.
    reading: usize,
    /// Operations a second of one unit.
    scale: f64,
    seconds: f64,
}

impl FioDoubt {
    /// None unless the rate has decimals that are zero.
    fn of(direction: &str, rest: &str, reading: usize) -> Option<Self> {
        let place = ["read", "write", "trim"].iter().position(|name| *name == direction)?;
        let printed = rest.split("IOPS=").nth(1)?.split(',').next()?;
        let (digits, unit) = printed.split_at_checked(printed.len().checked_sub(1)?)?;
        let scale = [("k", 1e3), ("M", 1e6)].iter().find(|(name, _)| *name == unit)?.1;
        digits.split_once('.').filter(|(_, decimals)| decimals.bytes().all(|digit| digit == b'0'))?;
        let (_, time) = rest.rsplit_once('/')?;
        let seconds = number(time.trim_end().strip_suffix("msec)")?)? / 1e3;
        Some(Self { place, reading, scale, seconds })
    }

    /// Corrects the reading by what the job issued: `issued rwt: total=0,1048576,0, short=0,0,0`.
    fn settle(&self, readings: &mut [SourceReading], issued: &str) {
        let total = issued.split("total=").nth(1).and_then(|counts| number(counts.split(',').nth(self.place)?));
        let Some(reading) = readings.get_mut(self.reading) else { return };
        let Some(rate) = total.map(|total| total / self.seconds) else { return };
        if (0.9..1.001).contains(&((rate - reading.value) / self.scale)) {
            let note = format!("fio states {} a second, which its own counts contradict", reading.value);
            reading.value = rate;
            reading.notes.push(note);
        }
    }
}

impl FioTextJob {
    /// The name of the latency that is read of the direction.
    fn latency(&self) -> Option<&'static str> {
        match self.direction.as_str() {
            "" => None,
            "sync" => Some("sync"),
            _ => Some("clat"),
        }
    }

    /// Seconds of one unit of the percentiles that a line begins. Those of submission, or of all of it, are none of the
    /// latency that is read.
    fn unit_of_percentiles(&self, name: &str, rest: &str, at: usize) -> Result<Option<f64>, SourceFault> {
        let unit = rest.split(')').next().unwrap_or_default();
        (self.latency() == Some(name)).then(|| unit_of_time(unit, at)).transpose()
    }

    /// The job that this line begins: `a: (groupid=0, jobs=4): err= 0: pid=7: Tue Nov 24 23:00:00 2026`.
    fn next(self, name: &str, rest: &str) -> Self {
        let jobs = between(rest, "jobs=", ")").filter(|count| *count != "1").map(parameter_value);
        // The sum over all of them stands below the last host.
        let host = if name == "All clients" { String::new() } else { self.host };
        Self { name: parameter_value(name), jobs, host, ..Self::default() }
    }
}

/// The jobs of a process that were stated already.
#[derive(Default)]
struct FioTextJobs {
    /// Readings of the process begin here.
    begin: usize,
    /// Names and numbers of processes.
    seen: HashSet<(String, String)>,
}

impl FioTextJobs {
    /// Whether the job was stated before: with --status-interval all are, again and again, the last time their results.
    fn again(&mut self, name: &str, process: String) -> bool {
        let job = (name.to_owned(), process);
        let again = !job.1.is_empty() && job.1 != "0" && self.seen.contains(&job);
        if again {
            self.seen.clear();
        }
        self.seen.insert(job);
        again
    }
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let mut job = FioTextJob::default();
    let mut stated = FioTextJobs::default();
    // Settings by job, from the lines above the results.
    let mut settings: Vec<(String, Vec<(&'static str, String)>)> = Vec::new();
    for (at, whole) in lines(source.text) {
        let line = whole.rsplit('\r').find(|part| !part.trim().is_empty()).unwrap_or_default();
        let trimmed = line.trim();
        if trimmed.starts_with("fio-") && !trimmed.contains(' ') {
            sheet.states_version(trimmed.trim_start_matches("fio-").to_owned());
            sheet.begin_process();
            job = FioTextJob::default();
            stated = FioTextJobs { begin: sheet.readings.len(), ..FioTextJobs::default() };
        } else if trimmed.starts_with('<') && trimmed.ends_with('>') && !trimmed.contains(' ') {
            // A client with several servers names the host before its jobs.
            job = FioTextJob { host: parameter_value(trimmed.trim_matches(['<', '>'])), ..FioTextJob::default() };
        } else if let Some((name, rest)) = trimmed.split_once(": (g=") {
            let name = name.strip_prefix('<').and_then(|rest| rest.split_once("> ")).map_or(name, |(_, name)| name);
            settings.retain(|(known, _)| known != name);
            settings.push((name.to_owned(), parameters(rest)));
        } else if let Some((name, rest)) = trimmed.split_once(": (groupid=") {
            job = job.next(name, rest);
            if stated.again(&job.name, between(rest, "pid=", ":").unwrap_or_default().to_owned()) {
                sheet.readings.truncate(stated.begin);
            }
            if sheet.started.is_empty() {
                sheet.started = ctime(rest);
            }
            if let Some(error) = between(rest, "err=", ":").map(str::trim).filter(|error| *error != "0") {
                sheet.notes.push(format!("job {} ended with error {}", job.name, shown(error)));
            }
        } else if let Some((direction, rest)) = of_direction(trimmed).filter(|_| !job.name.is_empty()) {
            job = FioTextJob { direction: direction.to_owned(), first: sheet.readings.len(), ..job };
            job.doubtful.extend(FioDoubt::of(direction, rest, job.first + 1));
            for reading in rates(direction, rest, at)? {
                sheet.readings.push(placed(reading, &job, of_job(&settings, &job)));
            }
        } else if trimmed.starts_with("fsync/") && trimmed.ends_with(':') && !job.name.is_empty() {
            job = FioTextJob { direction: "sync".to_owned(), first: sheet.readings.len(), percentiles: None, ..job };
        } else if let Some(rest) = job.latency().and_then(|name| trimmed.strip_prefix(name)?.strip_prefix(" (")) {
            let reading = latency(&job.direction, rest, at)?;
            sheet.readings.push(placed(reading, &job, of_job(&settings, &job)));
        } else if let Some((name, rest)) = trimmed.split_once(" percentiles (") {
            job.percentiles = job.unit_of_percentiles(name, rest, at)?;
        } else if trimmed.starts_with("Run status") {
            // It ends the output; what stands below may be said of another one.
            job = FioTextJob::default();
        } else if let Some(scale) = job.percentiles.filter(|_| trimmed.starts_with('|')) {
            let latency = sheet.readings[job.first..].iter_mut().find(|reading| reading.id.ends_with("_latency"));
            if let Some(latency) = latency {
                latency.quantiles.extend(quantiles(trimmed, scale));
            }
        } else if trimmed.starts_with("issued") {
            std::mem::take(&mut job.doubtful).iter().for_each(|doubt| doubt.settle(&mut sheet.readings, trimmed));
        } else if !is_detail(trimmed) {
            continue;
        }
        source.took(at);
    }
    for reading in &mut sheet.readings {
        reading.quantiles.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    Ok(Parsed::Sheets(vec![sheet]))
}

/// The settings that the lines above the results state for a job.
fn of_job<'a>(settings: &'a [(String, Vec<(&'static str, String)>)], job: &FioTextJob) -> &'a [(&'static str, String)] {
    settings
        .iter()
        .find(|(name, _)| parameter_value(name) == job.name)
        .map_or(&[], |(_, parameters)| parameters.as_slice())
}

/// Distributions of samples, depths and latencies, the machine's load, and the sums over groups, which repeat the jobs.
fn is_detail(line: &str) -> bool {
    let begins = [
        "slat (",
        "lat (",
        "bw (",
        "iops ",
        "cpu ",
        "IO depths",
        "submit",
        "complete",
        "latency ",
        "READ:",
        "WRITE:",
        "TRIM:",
        "MIXED:",
        "Jobs:",
        "Starting ",
        "Disk stats",
        "...",
        "|",
    ];
    begins.iter().any(|begin| line.starts_with(begin)) || line.contains(": ios=") || line.contains("Laying out IO file")
}

/// `0): rw=write, bs=(R) 8192B-8192B, (W) 8192B-8192B, ..., ioengine=libaio, iodepth=4`
fn parameters(rest: &str) -> Vec<(&'static str, String)> {
    let value = |name: &str| between(&format!("{rest},"), &format!("{name}="), ",").map(parameter_value);
    // Blocks of reading, writing and trimming, each with its least and greatest size; `4K-4K/8K-8K/4K-4K` in version 2.
    let least = |words: &str| words.trim().split('-').next().map(parameter_value);
    let named = ["(R)", "(W)", "(T)"].map(|name| between(&format!("{rest},"), name, ",").and_then(least));
    let old = value("bs").unwrap_or_default();
    let mut old = old.split('/').map(least);
    let blocks = named.map(|block| block.or(old.next().flatten()));
    let [read, write, trim] = blocks;
    let found = [
        ("rw", value("rw")),
        (BLOCKS[0], read),
        (BLOCKS[1], write),
        (BLOCKS[2], trim),
        ("ioengine", value("ioengine")),
        ("iodepth", value("iodepth")),
    ];
    found.into_iter().filter_map(|(parameter, value)| Some((parameter, value?))).collect()
}

/// Sizes of blocks by direction: a result has that of its own as the parameter `bs`.
const BLOCKS: [&str; 3] = ["bs of read", "bs of write", "bs of trim"];

fn of_direction(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.split_once(':')?;
    let name = name.trim();
    // A result states its duration, which a summary in words does not.
    let rates = (rest.contains("IOPS=") || rest.contains("iops=")) && rest.contains("msec");
    (["read", "write", "trim", "mixed"].contains(&name) && rates).then_some((name, rest))
}

/// `IOPS=65.5k, BW=512MiB/s (537MB/s)(150GiB/300001msec)`, or in version 2 `io=1024.0MB, bw=66889KB/s, iops=16722`.
fn rates(direction: &str, rest: &str, at: usize) -> Result<Vec<SourceReading>, SourceFault> {
    let value = |names: [&str; 2]| {
        let found = names.iter().find_map(|name| rest.split(name).nth(1));
        found.and_then(|rest| rest.split([',', ' ', '(']).find(|word| !word.is_empty()))
    };
    let (Some(bandwidth), Some(operations)) = (value(["BW=", "bw="]), value(["IOPS=", "iops="])) else {
        return Err(SourceFault::new("the line does not state a bandwidth and operations", at));
    };
    // Version 2 writes KB for 1024 bytes; version 3 writes KiB, and decimal units in brackets.
    let units = [
        ("B/s", 1.0),
        ("KiB/s", 1024.0),
        ("KB/s", 1024.0),
        ("MiB/s", 1_048_576.0),
        ("MB/s", 1_048_576.0),
        ("GiB/s", 1_073_741_824.0),
        ("GB/s", 1_073_741_824.0),
    ];
    let found = split_unit(bandwidth)
        .and_then(|(value, unit)| units.iter().find(|(name, _)| *name == unit).map(|(_, scale)| value * scale));
    let bytes =
        found.ok_or_else(|| SourceFault::new(format!("'{}' is not a rate with a known unit", shown(bandwidth)), at))?;
    let thousands = [("", 1.0), ("k", 1e3), ("K", 1e3), ("M", 1e6)];
    let found = split_unit(operations)
        .and_then(|(value, unit)| thousands.iter().find(|(name, _)| *name == unit).map(|(_, scale)| value * scale));
    let count = found.ok_or_else(|| SourceFault::new(format!("'{}' is not a usable number", shown(operations)), at))?;
    let (bytes, doubt) = undoubted(bytes, bandwidth, rest);
    let title = format!("{direction} bandwidth");
    let mut stated = SourceReading::new(format!("fio.{direction}_bandwidth"), title, bytes, bytes_per_second("bytes"));
    stated.notes.extend(doubt);
    Ok(vec![
        stated,
        SourceReading::new(
            format!("fio.{direction}_operations"),
            format!("{direction} operations"),
            count,
            rate("operations"),
        ),
    ])
}

/// The bandwidth, `11.0MiB/s (12.6MB/s)`, and a note where the two contradict each other: versions before 3.26 lose a
/// carry, so that either may be too low, and the greater is right.
fn undoubted(bytes: f64, printed: &str, rest: &str) -> (f64, Option<String>) {
    let units = [("B/s", 1.0), ("kB/s", 1e3), ("MB/s", 1e6), ("GB/s", 1e9)];
    let decimal = rest.split(printed).nth(1).and_then(|rest| rest.trim_start().strip_prefix('(')?.split(')').next());
    let found = decimal.and_then(|word| {
        let (value, unit) = split_unit(word)?;
        let (_, scale) = units.iter().find(|(name, _)| *name == unit)?;
        let digits = &word[..word.len() - unit.len()];
        Some((word, value * scale, half_digit(digits) * scale))
    });
    let Some((word, decimal, half)) = found else { return (bytes, None) };
    let digits = printed.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '/');
    let own = split_unit(digits).map_or(0.0, |(value, _)| half_digit(digits) * bytes / value.max(f64::MIN_POSITIVE));
    if (bytes - decimal).abs() <= 1.01 * (own + half) {
        return (bytes, None);
    }
    let note =
        format!("fio states {} and {}, which contradict each other: the greater is kept", shown(printed), shown(word));
    (bytes.max(decimal), Some(note))
}

fn placed(reading: SourceReading, job: &FioTextJob, parameters: &[(&'static str, String)]) -> SourceReading {
    let reading = reading.at("job", job.name.clone());
    let reading = if job.host.is_empty() { reading } else { reading.at("host", job.host.clone()) };
    let reading = parameters.iter().fold(reading, |reading, (parameter, value)| {
        match parameter.strip_prefix("bs of ") {
            // All directions together have the size of reading, where they do not differ.
            Some("read") if job.direction == "mixed" => reading.at("bs", value.clone()),
            // What is synchronised was written.
            Some("write") if job.direction == "sync" => reading.at("bs", value.clone()),
            Some(direction) if direction == job.direction => reading.at("bs", value.clone()),
            Some(_) => reading,
            None => reading.at(parameter, value.clone()),
        }
    });
    match &job.jobs {
        Some(jobs) => reading.at("numjobs", jobs.clone()),
        None => reading,
    }
}

fn unit_of_time(unit: &str, at: usize) -> Result<f64, SourceFault> {
    match unit {
        "nsec" => Ok(1e-9),
        "usec" => Ok(1e-6),
        "msec" => Ok(1e-3),
        "sec" => Ok(1.0),
        other => Err(SourceFault::new(format!("the unit '{}' of a latency is not known", shown(other)), at)),
    }
}

/// `usec): min=2, max=300, avg=4.50, stdev= 1.10`
fn latency(direction: &str, rest: &str, at: usize) -> Result<SourceReading, SourceFault> {
    let (unit, rest) = rest.split_once(')').ok_or_else(|| SourceFault::new("the line ends early", at))?;
    let scale = unit_of_time(unit.trim(), at)?;
    let field = |name: &str| rest.split(name).nth(1).and_then(|rest| rest.split(',').next()).map(str::trim);
    // Large values are printed with a k.
    let thousands = |word: &str| match word.strip_suffix(['k', 'K']) {
        Some(word) => Ok(need(word, at)? * 1e3),
        None => need(word, at),
    };
    let mean = field("avg=").ok_or_else(|| SourceFault::new("the line ends early", at))?;
    let value = thousands(mean)? * scale;
    let title = format!("{direction}{} latency", if direction == "sync" { "" } else { " completion" });
    let reading = SourceReading::new(format!("fio.{direction}_latency"), title, value, seconds("operation"));
    let mut reading = reading.printed_in(mean, scale);
    for (name, quantile) in [("min=", 0.0), ("max=", 1.0)] {
        if let Some(word) = field(name) {
            reading.quantiles.push((quantile, thousands(word)? * scale));
        }
    }
    let deviation = field("stdev=").unwrap_or_default();
    Ok(reading.note(format!(
        "standard deviation {} {} over single operations of one run",
        shown(deviation),
        shown(unit)
    )))
}

/// `|  1.00th=[  330],  5.00th=[  343],`
fn quantiles(line: &str, scale: f64) -> Vec<(f64, f64)> {
    let found = line.split("],").filter_map(|part| {
        let (name, value) = part.trim_start_matches(['|', ' ']).split_once("th=[")?;
        Some((number(name)? / 100.0, number(value.trim_end_matches(']'))? * scale))
    });
    found.filter(|(quantile, _)| *quantile > 0.0 && *quantile < 1.0).collect()
}
