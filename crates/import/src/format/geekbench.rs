//! Geekbench 4 to 6: the terminal's table.

use model::{Metric, Primitive, Unit};

use super::{CodeFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, number as fact, rate, seconds, text};
use crate::text::{SourceFault, axis_value, lines, need, number, snake};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "geekbench",
    tool: "Geekbench",
    about: "scores of all workloads, single-core and multi-core, from the terminal; no spread is stated",
    by_lines: true,
    detect: |head| sure(head, &["Geekbench ", "Single-Core"]).max(sure(head, &["Geekbench ", "Multi-Core Score"])),
    parse,
};

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheets: Vec<SourceSheet> = Vec::new();
    let mut sheet = SourceSheet::default();
    let (mut section, mut version) = ("", String::new());
    for (at, line) in lines(source.text) {
        let trimmed = line.trim();
        let cells = cells(trimmed);
        let first = cells.first().copied().unwrap_or_default();
        if let Some(rest) =
            trimmed.strip_prefix("Geekbench ").filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        {
            // Several results in one file: each says which machine it is of.
            if !sheet.readings.is_empty() {
                sheets.push(std::mem::take(&mut sheet));
            }
            version = rest.split_whitespace().next().unwrap_or_default().to_owned();
            sheet.version = Some(version.clone());
            section = "";
        } else if let Some(new) = heading(first).filter(|_| cells.len() == 1) {
            section = new;
        } else if let Some(core) =
            first.strip_suffix(" Score").filter(|_| cells.len() == 2 && number(cells[1]).is_some())
        {
            // Integer and floating-point scores stand under the one that they are part of.
            let part = match core {
                "Single-Core" | "Multi-Core" => {
                    section = if core == "Single-Core" { "single" } else { "multi" };
                    ""
                }
                other => other,
            };
            sheet.readings.push(score(part, section, cells[1], &version, at)?);
        } else if describe(&mut sheet, &cells) {
        } else if !section.is_empty() && cells.len() == 3 && number(cells[1]).is_some() {
            sheet.readings.push(score(first, section, cells[1], &version, at)?);
            let Some(reading) = own(first, section, cells[2], &version) else { continue };
            sheet.readings.push(reading);
        } else {
            continue;
        }
        source.took(at);
    }
    sheets.push(sheet);
    Ok(Parsed::Sheets(sheets))
}

/// Cells between tabs, or two spaces and more.
fn cells(line: &str) -> Vec<&str> {
    let parts = line.split('\t').flat_map(|part| part.split("  "));
    parts.map(str::trim).filter(|cell| !cell.is_empty()).collect()
}

/// The part of the output that a line begins.
fn heading(line: &str) -> Option<&'static str> {
    Some(match line {
        "Single-Core" | "Single-Core Performance" => "single",
        "Multi-Core" | "Multi-Core Performance" => "multi",
        "OpenCL Performance" | "OpenCL" => "opencl",
        "Vulkan Performance" | "Vulkan" => "vulkan",
        "CUDA Performance" | "CUDA" => "cuda",
        "Metal Performance" | "Metal" => "metal",
        "Benchmark Summary" | "System Information" | "CPU Information" | "Memory Information" => "",
        _ => return None,
    })
}

/// A score in points; those of other versions are other figures.
fn score(name: &str, section: &str, value: &str, version: &str, at: usize) -> Result<SourceReading, SourceFault> {
    let id = if name.is_empty() { "geekbench.score".to_owned() } else { format!("geekbench.{}", snake(name)) };
    let metric = Metric::higher(Unit::Ratio, "points");
    let title = if name.is_empty() { "Score" } else { name };
    Ok(placed(SourceReading::new(id, title, need(value, at)?, metric), section, version))
}

/// What a workload did, in its own unit: `249.1 MB/sec`, `10.9 routes/sec`, `16.6 Mpixels/sec`, `7.96 Gflops`,
/// `2617.4 FPS`, and `154.8 ns` for a load from memory.
fn own(name: &str, section: &str, cell: &str, version: &str) -> Option<SourceReading> {
    let (value, unit) = cell.split_once(' ')?;
    let (end, scale, metric) = match unit {
        "ns" => ("time", 1e-9, seconds("load")),
        "FPS" => ("rate", 1.0, rate("frames")),
        _ => {
            let what = unit.strip_suffix("/sec").or_else(|| unit.strip_suffix("/s"));
            let what = what.or_else(|| Some(unit).filter(|unit| unit.ends_with("flops")))?;
            let prefixes = [("K", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)];
            let found = prefixes.iter().find_map(|(prefix, scale)| Some((*scale, what.strip_prefix(prefix)?)));
            let (scale, what) = found.filter(|(_, rest)| !rest.is_empty()).unwrap_or((1.0, what));
            let metric = match what {
                "B" => bytes_per_second("bytes"),
                "flops" => rate("floating-point operations"),
                _ => Metric { per: what.to_owned().into(), ..rate("") },
            };
            ("rate", scale, metric)
        }
    };
    let reading = SourceReading::new(format!("geekbench.{}_{end}", snake(name)), name, number(value)? * scale, metric);
    Some(placed(reading.printed_in(value, scale), section, version))
}

fn placed(reading: SourceReading, section: &str, version: &str) -> SourceReading {
    let reading = if section.is_empty() { reading } else { reading.at("cores", section) };
    let major = version.split('.').next().unwrap_or_default();
    if major.is_empty() { reading } else { reading.at("version", axis_value(major)) }
}

/// What it says of the machine.
fn describe(sheet: &mut SourceSheet, cells: &[&str]) -> bool {
    let [name, value] = cells else { return false };
    let clock = &[Primitive::CoreClock][..];
    match *name {
        "Name" => sheet.fact(text("cpu.model", value, "output", clock)),
        "Operating System" => sheet.fact(text("os.name", value, "output", &[])),
        "Kernel" => {
            let release = value.split_whitespace().nth(1).unwrap_or(value);
            sheet.fact(text("kernel.release", release, "output", &[]));
        }
        "Governor" => sheet.fact(text("cpu.governor", value, "output", clock)),
        "Model" => sheet.fact(text("system.model", value, "output", &[])),
        "Topology" => {
            let cores = value.split(',').find(|part| part.contains("Core")).and_then(crate::text::first_number);
            sheet.fact(cores.map(|cores| fact("cpu.cores", cores, "1", "output", &[])));
        }
        "Base Frequency" => {
            let (digits, unit) = value.split_once(' ').unwrap_or((value, ""));
            let scale = if unit == "GHz" { 1e9 } else { 1e6 };
            sheet.fact(number(digits).map(|base| fact("cpu.clock", base * scale, "Hz", "output", clock)));
        }
        "L1 Data Cache" => sheet.fact(text("cache.l1d", value, "output", &[Primitive::CacheLatency])),
        "L2 Cache" => sheet.fact(text("cache.l2", value, "output", &[Primitive::CacheLatency])),
        "L3 Cache" => sheet.fact(text("cache.l3", value, "output", &[Primitive::CacheLatency])),
        "Size" | "Memory" => sheet.fact(text("memory.kind", value, "output", &[])),
        "Motherboard"
        | "BIOS"
        | "Identifier"
        | "Maximum Frequency"
        | "L1 Instruction Cache"
        | "Processor ID"
        | "Cluster 1"
        | "Cluster 2" => {}
        _ => return false,
    }
    true
}
