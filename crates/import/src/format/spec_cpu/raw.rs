//! The raw file (`.rsf`): `spec.cpu2017.results.500_perlbench_r.base.000.ratio: 12.3`, a line for each member of each
//! iteration.

use std::collections::BTreeMap;

use super::{SpecCpuGroups, SpecCpuIteration, describe};
use crate::format::SourceText;
use crate::sheet::SourceSheet;
use crate::text::{MOST_NAMES, SourceFault, lines, number};

/// Members of one iteration of one benchmark.
#[derive(Default)]
struct SpecCpuMembers {
    place: usize,
    ratio: String,
    status: String,
    copies: String,
    threads: String,
}

pub(super) fn read(source: &SourceText<'_>) -> Result<SourceSheet, SourceFault> {
    let mut sheet = SourceSheet::default();
    let mut all: BTreeMap<(String, &'static str, String), SpecCpuMembers> = BTreeMap::new();
    let mut rate = true;
    for (at, line) in lines(source.text) {
        let Some((path, value)) = line.trim().split_once(": ") else { continue };
        let Some((_, member)) = path.strip_prefix("spec.cpu20").and_then(|rest| rest.split_once('.')) else { continue };
        let value = value.trim();
        let parts: Vec<&str> = member.split('.').collect();
        match parts[..] {
            ["results", benchmark, tuning @ ("base" | "peak"), iteration, name] => {
                let tuning = if tuning == "base" { "base" } else { "peak" };
                if all.len() > 20 * MOST_NAMES {
                    return Err(SourceFault::new("it has too many iterations", at));
                }
                let known = all.entry((benchmark.to_owned(), tuning, iteration.to_owned())).or_default();
                known.place = at;
                let kept = match name {
                    "ratio" => &mut known.ratio,
                    "valid" => &mut known.status,
                    "copies" => &mut known.copies,
                    "threads" => &mut known.threads,
                    _ => continue,
                };
                value.clone_into(kept);
            }
            ["runmode"] => rate = value == "rate",
            _ => {
                let Some(known) = description(member) else { continue };
                describe(&mut sheet, known, value);
            }
        }
        source.took(at);
    }
    let mut groups = SpecCpuGroups::default();
    for ((benchmark, tuning, _), members) in &all {
        if number(&members.ratio).is_none() {
            continue;
        }
        // `500_perlbench_r` is the benchmark 500.perlbench_r.
        let benchmark = benchmark.replacen('_', ".", 1);
        let width = if rate { ("copies", members.copies.as_str()) } else { ("threads", members.threads.as_str()) };
        let succeeded = members.status.is_empty() || members.status == "S" || members.status == "1";
        let iteration = SpecCpuIteration { benchmark: &benchmark, tuning, width, value: &members.ratio, succeeded };
        groups.add(&iteration, members.place)?;
    }
    if groups.groups.is_empty() {
        return Err(SourceFault::new("it has no ratio of any iteration", source.text.lines().count()));
    }
    sheet.readings.extend(groups.readings());
    Ok(sheet)
}

/// The report's name of a member that describes the system: `hw_cpu_name`, numbered where it takes several lines.
fn description(member: &str) -> Option<&'static str> {
    Some(match member.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "hw_cpu_name" => "CPU Name",
        "hw_model" => "Hardware Model",
        "hw_vendor" => "Hardware Vendor",
        "hw_memory" => "Memory",
        "hw_cpu_nominal_mhz" => "Nominal",
        "hw_cpu_max_mhz" => "Max MHz",
        "sw_os" => "OS",
        "sw_compiler" => "Compiler",
        "test_date" => "Test date",
        _ => return None,
    })
}
