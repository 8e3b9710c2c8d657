//! The raw file (`.rsf`): `spec.cpu2017.results.500_perlbench_r.base.000.ratio: 12.3`, a line for each member of each
//! iteration. Between them stand configurations and notes, compressed and coded as text.

use std::collections::BTreeMap;

use super::machine::SpecCpuSystem;
use super::{ANOTHER, INVALID, SpecCpuGroups, SpecCpuIteration, inputs, note, overall};
use crate::date;
use crate::format::SourceText;
use crate::sheet::SourceSheet;
use crate::text::{MOST_NAMES, SourceFault, lines, number};

/// Members of one iteration of one benchmark.
#[derive(Default)]
struct SpecCpuMembers {
    place: usize,
    ratio: String,
    time: String,
    status: String,
    copies: String,
    threads: String,
}

/// What was read so far.
#[derive(Default)]
struct SpecCpuRawFile {
    sheet: SourceSheet,
    system: SpecCpuSystem,
    iterations: BTreeMap<(String, &'static str, String), SpecCpuMembers>,
    edition: String,
    speed: bool,
    size: String,
    metric: String,
    /// Tuning, value and line of the overall values.
    means: Vec<(&'static str, String, usize)>,
    /// Name of the coded text whose lines are being read.
    coded: String,
}

/// Members of an iteration that its ratio implies, or that say how it was run: not its energy and power.
const OF_ITERATION: &[&str] = &[
    "basepeak",
    "benchmark",
    "copytime",
    "dp",
    "env",
    "errors",
    "exehash",
    "iteration",
    "label",
    "ranks",
    "rc",
    "reference",
    "reference_power",
    "reported_nsec",
    "reported_sec",
    "runmode",
    "selected",
    "submit",
];

/// Members of the whole run that say nothing of the results.
const OF_RUN: &[&str] = &[
    "base_copies",
    "base_ranks",
    "base_threads",
    "basepeak",
    "errors",
    "fw_bios",
    "hw_avail",
    "hw_disk",
    "hw_nchips",
    "hw_ncpuorder",
    "hw_nthreadspercore",
    "hw_ocache",
    "hw_other",
    "license_num",
    "lognum",
    "max_copies",
    "max_peak_threads",
    "max_threads",
    "mean_anyway",
    "min_peak_threads",
    "power",
    "rawhash",
    "runcpuver",
    "submit",
    "suitehash",
    "sw_other",
    "sw_state",
    "sysinfo_program_hash",
    "table",
    "toolshash",
];

pub(super) fn read(source: &SourceText<'_>) -> Result<SourceSheet, SourceFault> {
    let mut file = SpecCpuRawFile::default();
    for (at, line) in lines(source.text) {
        if line.starts_with('#') || file.take(line, at)? {
            source.took(at);
        }
    }
    for at in file.tell_means()? {
        source.took(at);
    }
    let mut groups = SpecCpuGroups::default();
    for ((benchmark, tuning, _), members) in &file.iterations {
        // `500_perlbench_r` is the benchmark 500.perlbench_r.
        let benchmark = benchmark.replacen('_', ".", 1);
        let width =
            if file.speed { ("threads", members.threads.as_str()) } else { ("copies", members.copies.as_str()) };
        let status = if members.status.is_empty() { "S" } else { members.status.as_str() };
        if status == "NR" {
            continue;
        }
        let (value, time, input) = (members.ratio.as_str(), members.time.as_str(), inputs(&file.size));
        let iteration = SpecCpuIteration { benchmark: &benchmark, tuning, width, value, time, input, table: 0, status };
        groups.add(&iteration, members.place)?;
    }
    if !groups.has_result() {
        return Err(SourceFault::new("it has no ratio and no time of any iteration", source.text.lines().count()));
    }
    file.system.tell(&mut file.sheet);
    groups.tell(&mut file.sheet);
    Ok(file.sheet)
}

impl SpecCpuRawFile {
    /// Takes a line; whether it was understood.
    fn take(&mut self, line: &str, at: usize) -> Result<bool, SourceFault> {
        let Some((path, value)) = line.trim().split_once(':') else { return Ok(false) };
        let Some((edition, member)) = path.strip_prefix("spec.cpu").and_then(|rest| rest.split_once('.')) else {
            return Ok(false);
        };
        let value = value.trim();
        if self.is_coded(member, value) {
            return Ok(true);
        }
        if edition != self.edition {
            edition.clone_into(&mut self.edition);
        }
        let parts: Vec<&str> = member.split('.').collect();
        match parts[..] {
            ["results", benchmark, tuning @ ("base" | "peak"), iteration, name] => {
                let tuning = if tuning == "base" { "base" } else { "peak" };
                if self.iterations.len() > 20 * MOST_NAMES {
                    return Err(SourceFault::new("it has too many iterations", at));
                }
                let key = (benchmark.to_owned(), tuning, iteration.to_owned());
                of_iteration(self.iterations.entry(key).or_default(), name, value, at)
            }
            [name] => Ok(self.take_whole(name, value, at)),
            _ => Ok(false),
        }
    }

    /// Whether the line belongs to a text that is compressed and coded: the first of its lines begins with a mark.
    fn is_coded(&mut self, member: &str, value: &str) -> bool {
        let (first, rest) = member.split_once('.').unwrap_or((member, ""));
        let name = unnumbered(first);
        if first.ends_with("000") && value.starts_with(['&', '@']) {
            self.coded = format!("{name}.{rest}");
            return true;
        }
        name != first && self.coded.split_once('.') == Some((name, rest))
    }

    /// Takes a member of the whole run.
    fn take_whole(&mut self, name: &str, value: &str, at: usize) -> bool {
        let plain = unnumbered(name);
        if let Some(known) = description(plain) {
            // Further lines of a value are numbered.
            let first = name == plain || name[plain.len()..].bytes().all(|digit| digit == b'0');
            return if first { self.system.state(known, value) } else { self.system.more(value) };
        }
        match plain {
            "size" => value.clone_into(&mut self.size),
            "runmode" => self.speed = value == "speed",
            "metric" => value.clone_into(&mut self.metric),
            "basemean" => self.means.push(("base", value.to_owned(), at)),
            "peakmean" => self.means.push(("peak", value.to_owned(), at)),
            "invalid" if value == "1" => note(&mut self.sheet, INVALID),
            "invalid" => {}
            "suitever" => self.system.version(value),
            "time" => self.system.at(number(value).map(date::unix).unwrap_or_default()),
            other => return OF_RUN.contains(&other) || other.starts_with("notes"),
        }
        // Without its name a mean is not understood yet.
        !plain.ends_with("mean")
    }

    /// Adds the overall values under the names that the reports give them; the lines that are understood by that.
    fn tell_means(&mut self) -> Result<Vec<usize>, SourceFault> {
        let edition = self.edition.as_str();
        let kind = match self.metric.strip_suffix(edition) {
            Some("CINT") => "int",
            Some("CFP") => "fp",
            _ => return Ok(Vec::new()),
        };
        let mut taken = Vec::new();
        for (tuning, value, at) in &self.means {
            taken.push(*at);
            if number(value).is_none() {
                // `Not Run`, or `--` where a benchmark failed.
                continue;
            }
            let name = match (edition, self.speed) {
                // The edition of 2006 has no word for peak.
                ("2006", _) => {
                    let rate = if self.speed { "" } else { "_rate" };
                    let base = if *tuning == "base" { "_base" } else { "" };
                    format!("SPEC{kind}{rate}{base}2006")
                }
                (_, true) => format!("SPECspeed{edition}_{kind}_{tuning}"),
                (_, false) => format!("SPECrate{edition}_{kind}_{tuning}"),
            };
            self.sheet.readings.push(overall(&name, value, *at)?);
        }
        Ok(taken)
    }
}

/// Takes a member of an iteration; whether it is a known one.
fn of_iteration(members: &mut SpecCpuMembers, name: &str, value: &str, at: usize) -> Result<bool, SourceFault> {
    members.place = at;
    let kept = match name {
        "ratio" => &mut members.ratio,
        "reported_time" => &mut members.time,
        "valid" => &mut members.status,
        "copies" => &mut members.copies,
        "threads" => &mut members.threads,
        other => return Ok(OF_ITERATION.contains(&unnumbered(other))),
    };
    if !kept.is_empty() {
        return Err(SourceFault::new(ANOTHER, at));
    }
    value.clone_into(kept);
    Ok(true)
}

/// A member's name without the number of its line.
fn unnumbered(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit())
}

/// The report's name of a member that describes the system.
fn description(member: &str) -> Option<&'static str> {
    Some(match member {
        "hw_cpu_name" => "CPU Name",
        "hw_model" => "Hardware Model",
        "hw_vendor" => "Hardware Vendor",
        "hw_memory" => "Memory",
        "hw_ncores" => "Cores",
        "hw_cpu_nominal_mhz" => "Nominal",
        "hw_cpu_mhz" => "CPU MHz",
        "hw_cpu_max_mhz" => "Max MHz",
        "hw_pcache" => "Cache L1",
        "hw_scache" => "L2",
        "hw_tcache" => "L3",
        "sw_os" => "OS",
        "sw_compiler" => "Compiler",
        "sw_file" => "File System",
        "sw_base_ptrsize" => "Base Pointers",
        "sw_peak_ptrsize" => "Peak Pointers",
        "test_date" => "Test date",
        _ => return None,
    })
}
