//! BabelStream and its predecessor GPU-STREAM: STREAM's kernels in other programming models, repeated in one process.

use super::{Confidence, ImportFormat, Parsed, SourceText, likely, sure};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, bytes_per_second, text};
use crate::text::{SourceFault, after, axis_value, column, first_number, lines, need, shown, snake};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "babelstream",
    tool: "BabelStream",
    about: "its table; the value is the average over the repetitions of one process, their least and greatest the range",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    let csv = head.starts_with(b"function,num_times,n_elements,sizeof,");
    let csv = if csv { Confidence::Sure } else { Confidence::No };
    let table = likely(head, &["MBytes/sec", "Triad"]).max(likely(head, &["MiBytes/sec", "Triad"]));
    sure(head, &["BabelStream"]).max(sure(head, &["GPU-STREAM"])).max(table).max(csv)
}

const KERNELS: [&str; 6] = ["Copy", "Mul", "Add", "Triad", "Dot", "Nstream"];

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let (mut precision, mut model, mut array) = (String::new(), String::new(), String::new());
    let (mut repetitions, mut in_table, mut megabyte) = (1.0, false, 1e6);
    let mut heading: Vec<&str> = Vec::new();
    for (at, line) in lines(source.text) {
        let name = line.split_whitespace().next().unwrap_or_default();
        if let Some(rest) = line.strip_prefix("Version:") {
            sheet.version = Some(rest.trim().to_owned());
        } else if let Some(rest) = line.strip_prefix("Implementation:") {
            rest.trim().clone_into(&mut model);
        } else if let Some(rest) = line.strip_prefix("Precision:") {
            rest.trim().clone_into(&mut precision);
        } else if let Some(rest) = after(line, "Running kernels") {
            repetitions = first_number(rest).unwrap_or(repetitions);
        } else if let Some(rest) = after(line, "device") {
            sheet.facts.extend(text("device.model", rest, "output", &[]));
        } else if let Some(words) = line.strip_prefix("Array size:") {
            array = axis_value(words.split(" (").next().unwrap_or(words)).replace(' ', "");
        } else if line.starts_with("function,num_times,") {
            heading = line.trim().split(',').collect();
            sheet.begin_process();
        } else if !heading.is_empty() && line.contains(',') {
            sheet.readings.push(comma_separated(&heading, line.trim(), at)?);
        } else if (line.starts_with("Init:") || line.starts_with("Read:")) && line.contains("Bytes/sec") {
            // Since 5.0: filling the arrays and reading them back, each once and in times that overlap.
        } else if line.contains("Bytes/sec") {
            megabyte = if name == "Function" && line.contains("MiBytes/sec") { 1_048_576.0 } else { 1e6 };
            let unit = if megabyte > 1e6 { "MiBytes/sec" } else { "MBytes/sec" };
            if line.split_whitespace().ne(["Function", unit, "Min", "(sec)", "Max", "Average"]) {
                return Err(SourceFault::new(format!("the heading '{}' is not known", shown(line)), at));
            }
            in_table = true;
            sheet.begin_process();
        } else if in_table && KERNELS.contains(&name) {
            let [best, least, greatest, average] =
                [column(line, 1, at)?, column(line, 2, at)?, column(line, 3, at)?, column(line, 4, at)?];
            let mut reading = reading(name, best * megabyte, [least, greatest, average], repetitions);
            // Its times have five decimals, of which short ones use two.
            reading = reading.rounded(0.5e-5 / average);
            for (axis, value) in [("model", &model), ("precision", &precision), ("array", &array)] {
                if !value.is_empty() {
                    reading = reading.at(axis, axis_value(value));
                }
            }
            sheet.readings.push(reading);
        } else if !line.starts_with("Total size:") {
            continue;
        }
        source.took(at);
    }
    Ok(Parsed::Sheets(vec![sheet]))
}

/// A kernel by its best rate, and the least, greatest and average time of its repetitions.
fn reading(name: &str, best: f64, times: [f64; 3], repetitions: f64) -> SourceReading {
    let [least, greatest, average] = times;
    let bytes = best * least;
    let id = format!("babelstream.{}", snake(name));
    if bytes <= 0.0 || average <= 0.0 {
        return SourceReading::new(format!("{id}_best"), name, best, bytes_per_second("bytes read + written"))
            .note("the best of one process: its times are too short for their digits");
    }
    SourceReading::new(id, name, bytes / average, bytes_per_second("bytes read + written"))
        .spread(SourceSpread::Range(bytes / greatest, bytes / least))
        .counts(1, repetitions as u32)
        .note(format!("average over one process; its own figure is the best, {} MB/s", best / 1e6))
}

/// A row of --csv, whose heading names the columns.
fn comma_separated(heading: &[&str], line: &str, at: usize) -> Result<SourceReading, SourceFault> {
    let cells: Vec<&str> = line.split(',').collect();
    if cells.len() != heading.len() {
        let (has, names) = (cells.len(), heading.len());
        return Err(SourceFault::new(format!("the row has {has} values and its heading {names}"), at));
    }
    let cell = |name: &str| heading.iter().position(|known| *known == name).map(|at| cells[at]);
    let number = |name: &str| need(cell(name).unwrap_or_default(), at);
    let best = match cell("max_mibytes_per_sec") {
        Some(value) => need(value, at)? * 1_048_576.0,
        None => number("max_mbytes_per_sec")? * 1e6,
    };
    let times = [number("min_runtime")?, number("max_runtime")?, number("avg_runtime")?];
    let name = cell("function").unwrap_or_default();
    let reading = reading(&shown(name), best, times, number("num_times")?);
    let precision = match number("sizeof")? {
        4.0 => "float",
        8.0 => "double",
        _ => return Err(SourceFault::new("its elements have neither 4 nor 8 bytes", at)),
    };
    let elements = axis_value(cell("n_elements").unwrap_or_default());
    Ok(reading.at("precision", precision).at("elements", elements))
}
