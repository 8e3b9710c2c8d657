//! fio's JSON, versions 2 and 3: bandwidth, operations and completion latency of each job and direction.

use model::format_size;
use serde::Deserialize;

use super::{CodeFormat, Parsed, SourceText, sure};
use crate::date::unix;
use crate::json::{self, BoundedMap, List, Scalar};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, bytes_per_second, rate, seconds};
use crate::text::{SourceFault, axis_value, name_value, number};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "fio",
    tool: "fio",
    about: "bandwidth, operations a second and completion latency with its quantiles; fio's standard deviations are of \
            successive samples and single operations of one run, so they are notes and the samples' extremes a range",
    by_lines: false,
    detect: |head| sure(head, &["\"fio version\""]),
    parse,
};

#[derive(Deserialize)]
struct FioDocument {
    #[serde(rename = "fio version")]
    version: String,
    #[serde(default)]
    timestamp: f64,
    #[serde(default, rename = "global options")]
    global: BoundedMap<Scalar>,
    /// Of a client with several servers they have another name, and each job says where it ran.
    #[serde(alias = "client_stats")]
    jobs: List<FioJob>,
}

#[derive(Deserialize)]
struct FioJob {
    jobname: String,
    #[serde(default)]
    hostname: String,
    #[serde(default)]
    error: f64,
    /// When the job began, milliseconds since 1970; since 3.36.
    #[serde(default)]
    job_start: f64,
    /// Seconds since it began.
    #[serde(default)]
    elapsed: f64,
    #[serde(default, rename = "job options")]
    options: BoundedMap<Scalar>,
    read: Option<FioDirection>,
    write: Option<FioDirection>,
    trim: Option<FioDirection>,
    /// All directions together, with unified_rw_reporting.
    mixed: Option<FioDirection>,
    /// Synchronising, where the job asked for it; else it states zeros.
    sync: Option<FioSync>,
}

#[derive(Deserialize)]
struct FioSync {
    lat_ns: Option<FioLatency>,
}

#[derive(Deserialize)]
struct FioDirection {
    #[serde(default)]
    io_bytes: f64,
    bw: f64,
    bw_bytes: Option<f64>,
    iops: f64,
    #[serde(default)]
    bw_min: f64,
    #[serde(default)]
    bw_max: f64,
    #[serde(default)]
    bw_dev: f64,
    #[serde(default)]
    bw_samples: f64,
    clat: Option<FioLatency>,
    clat_ns: Option<FioLatency>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct FioLatency {
    min: f64,
    max: f64,
    mean: f64,
    stddev: f64,
    #[serde(rename = "N")]
    count: Option<f64>,
    percentile: BoundedMap<f64>,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let documents: Vec<FioDocument> = json::documents(source.text)
        .into_iter()
        .map(|text| json::read_document(text, &source.ledger))
        .collect::<Result<_, _>>()?;
    for (at, document) in documents.iter().enumerate() {
        // With --status-interval a run writes how far it is, again and again: the last document states the result.
        if documents.get(at + 1).is_some_and(|next| document.is_before(next)) {
            continue;
        }
        sheet.states_version(document.version.trim_start_matches("fio-").to_owned());
        if document.timestamp > 0.0 && sheet.started.is_empty() {
            sheet.started = unix(document.timestamp);
        }
        sheet.begin_process();
        for job in &document.jobs.0 {
            add(&mut sheet, job, &document.global);
        }
    }
    Ok(Parsed::Sheets(vec![sheet]))
}

impl FioDocument {
    /// Whether another document is a later state of the same run: of the same beginning, as far as it is stated.
    fn is_before(&self, next: &Self) -> bool {
        let (Some(first), Some(later)) = (self.jobs.0.first(), next.jobs.0.first()) else { return false };
        if first.jobname != later.jobname || self.jobs.0.len() != next.jobs.0.len() {
            return false;
        }
        if first.job_start > 0.0 && later.job_start > 0.0 {
            return first.job_start == later.job_start;
        }
        let began = |document: &Self, job: &FioJob| document.timestamp - job.elapsed;
        later.elapsed > first.elapsed && (began(self, first) - began(next, later)).abs() <= 1.0
    }
}

fn add(sheet: &mut SourceSheet, job: &FioJob, global: &BoundedMap<Scalar>) {
    if job.error != 0.0 {
        sheet.notes.push(format!("job {} ended with error {}", name_value(&job.jobname), job.error));
    }
    let directions = [("read", &job.read), ("write", &job.write), ("trim", &job.trim), ("mixed", &job.mixed)];
    for (name, direction) in directions {
        if let Some(direction) = direction.as_ref().filter(|direction| direction.io_bytes > 0.0) {
            readings(sheet, name, direction, |reading| placed(reading, job, global));
        }
    }
    let synchronised = job.sync.as_ref().and_then(|sync| sync.lat_ns.as_ref()).filter(|latency| latency.mean > 0.0);
    sheet
        .readings
        .extend(synchronised.map(|latency| placed(of_latency("sync", "sync latency", latency, 1e-9), job, global)));
}

/// Options that define a figure.
const OPTIONS: [&str; 13] = [
    "rw",
    "bs",
    "iodepth",
    "numjobs",
    "ioengine",
    "direct",
    "sync",
    "fsync",
    "fdatasync",
    "rwmixread",
    "bssplit",
    "rate",
    "rate_iops",
];

/// The options that define the figure, of the job or global.
fn placed(reading: SourceReading, job: &FioJob, global: &BoundedMap<Scalar>) -> SourceReading {
    let reading = reading.at("job", axis_value(&job.jobname));
    let reading = if job.hostname.is_empty() { reading } else { reading.at("host", axis_value(&job.hostname)) };
    OPTIONS.iter().fold(reading, |reading, name| match job.options.0.get(*name).or_else(|| global.0.get(*name)) {
        Some(value) => reading.at(name, axis_value(&value.words())),
        None => reading,
    })
}

fn readings(
    sheet: &mut SourceSheet,
    name: &str,
    direction: &FioDirection,
    place: impl Fn(SourceReading) -> SourceReading,
) {
    // Rates in `bw` count 1024 bytes in both versions; version 3 adds the rate in bytes.
    let bandwidth = direction.bw_bytes.unwrap_or(direction.bw * 1024.0);
    let metric = bytes_per_second("bytes");
    let mut reading =
        SourceReading::new(format!("fio.{name}_bandwidth"), format!("{name} bandwidth"), bandwidth, metric);
    if direction.bw_max > direction.bw_min {
        reading = reading.spread(SourceSpread::Range(direction.bw_min * 1024.0, direction.bw_max * 1024.0));
        reading = reading.counts(1, direction.bw_samples as u32).note(format!(
            "the range is of samples taken during one run; their standard deviation {} KiB/s",
            direction.bw_dev
        ));
    }
    sheet.readings.push(place(reading));
    let iops = SourceReading::new(
        format!("fio.{name}_operations"),
        format!("{name} operations"),
        direction.iops,
        rate("operations"),
    );
    sheet.readings.push(place(iops));
    let latency = direction.clat_ns.as_ref().map(|latency| (latency, 1e-9));
    let Some((latency, scale)) = latency.or_else(|| direction.clat.as_ref().map(|latency| (latency, 1e-6))) else {
        return;
    };
    sheet.readings.push(place(of_latency(name, &format!("{name} completion latency"), latency, scale)));
    let bytes = direction.io_bytes * if direction.bw_bytes.is_some() { 1.0 } else { 1024.0 };
    if let Some(last) = sheet.readings.last_mut().filter(|_| bytes < 1e18) {
        last.notes.push(format!("{} moved", format_size(bytes as u64)));
    }
}

fn of_latency(name: &str, title: &str, latency: &FioLatency, scale: f64) -> SourceReading {
    let mut reading =
        SourceReading::new(format!("fio.{name}_latency"), title, latency.mean * scale, seconds("operation"));
    reading.quantiles = vec![(0.0, latency.min * scale), (1.0, latency.max * scale)];
    let percentile = |(percent, value): (&String, &f64)| Some((number(percent)? / 100.0, value * scale));
    reading
        .quantiles
        .extend(latency.percentile.0.iter().filter_map(percentile).filter(|(quantile, _)| *quantile > 0.0));
    reading.quantiles.sort_by(|a, b| a.0.total_cmp(&b.0));
    let of = latency.count.map_or(String::new(), |count| format!(" {count}"));
    reading.note(format!("standard deviation {} s over{of} single operations of one run", latency.stddev * scale))
}
