//! STREAM (McCalpin): best rate, and average, least and greatest time of each kernel's repetitions in one process.

use model::format_size;

use super::{ImportFormat, Parsed, SourceText, likely, sure};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, bytes_per_second};
use crate::text::{SourceFault, after, between, column, first_number, lines};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "stream",
    tool: "STREAM",
    about: "STREAM's table; the value is the average over the repetitions of one process, their least and greatest the range",
    by_lines: true,
    detect: |head| sure(head, &["STREAM version"]).max(likely(head, &["Best Rate MB/s", "Triad:"])),
    parse,
};

/// Kernel, our id, words moved for each element.
const KERNELS: [(&str, &str, f64); 4] = [
    ("Copy:", "memory.copy", 2.0),
    ("Scale:", "memory.scale", 2.0),
    ("Add:", "memory.add", 3.0),
    ("Triad:", "memory.triad", 3.0),
];

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let (mut elements, mut word, mut threads, mut repetitions) = (None, 8.0, None, 1.0);
    let mut last = 0;
    for (at, line) in lines(source.text) {
        last = at;
        if let Some(version) = between(line, "$Revision:", "$") {
            sheet.version = Some(version.to_owned());
        } else if let Some(rest) = after(line, "Array size =") {
            elements = first_number(rest);
        } else if line.contains("bytes per array element") || line.contains("bytes per DOUBLE PRECISION word") {
            word = first_number(line).unwrap_or(word);
        } else if let Some(rest) =
            after(line, "Number of Threads counted =").or(after(line, "Number of Threads requested ="))
        {
            threads = first_number(rest);
        } else if let Some(rest) = after(line, "Each kernel will be executed") {
            repetitions = first_number(rest).unwrap_or(repetitions);
        } else if let Some(kernel) = KERNELS.iter().find(|(name, ..)| line.starts_with(name)) {
            sheet.readings.push(reading(kernel, elements.map(|count| count * word), repetitions, line, at)?);
        }
    }
    if sheet.readings.len() % KERNELS.len() != 0 {
        return Err(SourceFault::new("its table lacks some of the four kernels", last));
    }
    for (reading, (_, _, words)) in sheet.readings.iter_mut().zip(KERNELS.iter().cycle()) {
        // The working set is that of the arrays that the kernel uses, as in all probes.
        if let Some(bytes) = elements.map(|count| count * word * words).filter(|bytes| *bytes < 1e18) {
            reading.point = std::mem::take(&mut reading.point).with("working_set", format_size(bytes as u64));
        }
        if let Some(threads) = threads {
            reading.point = std::mem::take(&mut reading.point).with("threads", threads.to_string());
        }
    }
    Ok(Parsed::Sheets(vec![sheet]))
}

fn reading(
    &(_, id, words): &(&str, &'static str, f64),
    array: Option<f64>,
    repetitions: f64,
    line: &str,
    at: usize,
) -> Result<SourceReading, SourceFault> {
    let best = column(line, 1, at)? * 1e6;
    let [average, least, greatest] = [column(line, 2, at)?, column(line, 3, at)?, column(line, 4, at)?];
    let bytes = array.map_or(best * least, |array| array * words);
    let reading = SourceReading::new(id, id, bytes / average, bytes_per_second("bytes read + written"))
        .spread(SourceSpread::Range(bytes / greatest, bytes / least))
        .counts(1, repetitions as u32);
    Ok(reading.note(format!("average over one process; STREAM's own figure is the best, {} MB/s", best / 1e6)))
}
