//! BabelStream and its predecessor GPU-STREAM: STREAM's kernels in other programming models, repeated in one process.

use super::{Confidence, ImportFormat, Parsed, SourceText, likely, sure};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, bytes_per_second, text};
use crate::text::{SourceFault, after, axis_value, column, first_number, lines, shown, snake};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "babelstream",
    tool: "BabelStream",
    about: "its table; the value is the average over the repetitions of one process, their least and greatest the range",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    sure(head, &["BabelStream"]).max(sure(head, &["GPU-STREAM"])).max(likely(head, &["MBytes/sec", "Triad"]))
}

const KERNELS: [&str; 6] = ["Copy", "Mul", "Add", "Triad", "Dot", "Nstream"];

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let (mut precision, mut model, mut array) = (String::new(), String::new(), String::new());
    let (mut repetitions, mut in_table) = (1.0, false);
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
        } else if line.contains("MBytes/sec") {
            let known = ["Function", "MBytes/sec", "Min", "(sec)", "Max", "Average"];
            if line.split_whitespace().ne(known) {
                return Err(SourceFault::new(format!("the heading '{}' is not known", shown(line)), at));
            }
            in_table = true;
            sheet.begin_process();
        } else if in_table && KERNELS.contains(&name) {
            let [best, least, greatest, average] =
                [column(line, 1, at)?, column(line, 2, at)?, column(line, 3, at)?, column(line, 4, at)?];
            let bytes = best * 1e6 * least;
            let mut reading = SourceReading::new(
                format!("babelstream.{}", snake(name)),
                name,
                bytes / average,
                bytes_per_second("bytes read + written"),
            );
            for (axis, value) in [("model", &model), ("precision", &precision), ("array", &array)] {
                if !value.is_empty() {
                    reading = reading.at(axis, axis_value(value));
                }
            }
            let reading =
                reading.spread(SourceSpread::Range(bytes / greatest, bytes / least)).counts(1, repetitions as u32);
            sheet
                .readings
                .push(reading.note(format!("average over one process; its own figure is the best, {best} MB/s")));
        } else if !line.starts_with("Total size:") {
            continue;
        }
        source.took(at);
    }
    Ok(Parsed::Sheets(vec![sheet]))
}
